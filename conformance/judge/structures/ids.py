"""Requirement ids for the members of structures: for their place and for their content.

`PLACES` holds the requirements on position and width, `VALUES` those on the content; a member without an entry in
`PLACES` answers its structure's declaration. Keys are structure and member, named as in the adapter protocol.
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.spec.catalogue import requirement_id

Ids = tuple[str, ...]


def _ids(section: str, *words: str) -> Ids:
    return tuple(requirement_id(f"MQMQ-{section}.{word}") for word in words)


DECLARATIONS: Mapping[str, Ids] = {
    "SECURITY_INFORMATION": _ids("2.2.3", "declaration"),
    "TA_ADDRESS": _ids("2.2.4", "declaration"),
    "SEQUENCE_INFO": _ids("2.2.5", "declaration"),
    "QUEUE_FORMAT": _ids("2.2.7", "declaration"),
    "OBJECTID": _ids("2.2.8", "declaration"),
    "DL_ID": _ids("2.2.9", "declaration"),
    "MULTICAST_ID": _ids("2.2.10", "declaration"),
    "PROPVARIANT": _ids("2.2.13.1", "declaration"),
    "VARIANT_BOOL": _ids("2.2.14", "declaration"),
    "BLOB": _ids("2.2.15", "declaration"),
    "CAUB": _ids("2.2.16.1", "declaration"),
    "CAUI": _ids("2.2.16.2", "declaration"),
    "CAL": _ids("2.2.16.3", "declaration"),
    "CAUL": _ids("2.2.16.4", "declaration"),
    "CAUH": _ids("2.2.16.5", "declaration"),
    "CACLSID": _ids("2.2.16.6", "declaration"),
    "CALPWSTR": _ids("2.2.16.7", "declaration"),
    "CAPROPVARIANT": _ids("2.2.16.8", "declaration"),
    "ULARGE_INTEGER": _ids("2.2.17", "declaration"),
    "XACTUOW": (*_ids("2.2.18.1.8", "xactuow"), requirement_id("MQMQ-5.xactuow")),
}
"""The requirements on the form of a structure as a whole: its members in order, and nothing behind."""

ARRAYS = ("CAUB", "CAUI", "CAL", "CAUL", "CAUH", "CACLSID", "CALPWSTR", "CAPROPVARIANT")

PLACES: Mapping[tuple[str, str], Ids] = {
    ("MQDSPUBLICKEY", "ul_key_len"): _ids("2.2.1", "ul-key-len-place"),
    ("MQDSPUBLICKEY", "ul_provider_len"): _ids("2.2.1", "ul-provider-len-place"),
    ("MQDSPUBLICKEY", "ul_provider_type"): _ids("2.2.1", "ul-provider-type-place"),
    ("MQDSPUBLICKEY", "a_buf"): _ids("2.2.1", "a-buf-place"),
    ("MQDSPUBLICKEYS", "ul_len"): _ids("2.2.2", "ul-len-place"),
    ("MQDSPUBLICKEYS", "c_numof_keys"): _ids("2.2.2", "c-numof-keys-place"),
    ("TA_ADDRESS", "address_length"): _ids("2.2.4", "address-length-place"),
    ("TA_ADDRESS", "address_type"): _ids("2.2.4", "address-type-place"),
    ("TA_ADDRESS", "address"): _ids("2.2.4", "address-place"),
    ("QUEUE_FORMAT", "m_qft"): _ids("2.2.7", "m-qft-place"),
    ("QUEUE_FORMAT", "m_reserved"): _ids("2.2.7", "m-reserved-place"),
    ("PROPVARIANT", "vt"): _ids("2.2.13.1", "vt-place"),
    ("PROPVARIANT", "w_reserved1"): _ids("2.2.13.1", "w-reserved1-place"),
    ("PROPVARIANT", "w_reserved2"): _ids("2.2.13.1", "w-reserved2-place"),
    ("PROPVARIANT", "w_reserved3"): _ids("2.2.13.1", "w-reserved3-place"),
    ("PROPVARIANT", "tag"): _ids("2.2.13.1", "var-union-place"),
    **{(name, "c_elems"): _ids(f"2.2.16.{number}", "c-elems-place") for number, name in enumerate(ARRAYS, start=1)},
}

VALUES: Mapping[tuple[str, str], Ids] = {
    ("MQDSPUBLICKEY", "ul_key_len"): _ids("2.2.1", "ul-key-len"),
    ("MQDSPUBLICKEY", "ul_provider_len"): _ids("2.2.1", "ul-provider-len"),
    ("MQDSPUBLICKEY", "ul_provider_type"): _ids("2.2.1", "ul-provider-type"),
    ("MQDSPUBLICKEY", "s_provider_name"): _ids("2.2.1", "s-provider-name"),
    ("MQDSPUBLICKEY", "a_buf"): _ids("2.2.1", "a-buf-place"),
    ("MQDSPUBLICKEYS", "ul_len"): _ids("2.2.2", "ul-len"),
    ("MQDSPUBLICKEYS", "c_numof_keys"): _ids("2.2.2", "c-numof-keys"),
    ("MQDSPUBLICKEYS", "a_public_keys"): _ids("2.2.2", "a-public-keys"),
    ("TA_ADDRESS", "address_length"): _ids("2.2.4", "address-length"),
    ("TA_ADDRESS", "address_type"): _ids("2.2.4", "address-type"),
    ("TA_ADDRESS", "address"): _ids("2.2.4", "address"),
    ("SEQUENCE_INFO", "seq_id"): (*_ids("2.2.5.1", "seq-id"), *_ids("2.2.5", "seq-id")),
    ("SEQUENCE_INFO", "seq_no"): (*_ids("2.2.5.1", "seq-no"), *_ids("2.2.5", "seq-no")),
    ("SEQUENCE_INFO", "prev_no"): (*_ids("2.2.5.1", "prev-no"), *_ids("2.2.5", "prev-no")),
    ("QUEUE_FORMAT", "m_suffix_and_flags"): _ids("2.2.7", "m-suffix-and-flags"),
    ("QUEUE_FORMAT", "tag"): _ids("2.2.7", "union"),
    ("OBJECTID", "lineage"): _ids("2.2.8", "lineage"),
    ("OBJECTID", "uniquifier"): _ids("2.2.8", "uniquifier"),
    ("DL_ID", "m_dl_guid"): _ids("2.2.9", "m-dl-guid"),
    ("DL_ID", "m_pwz_domain"): _ids("2.2.9", "m-pwz-domain", "m-pwz-domain-text"),
    ("MULTICAST_ID", "m_address"): _ids("2.2.10", "m-address"),
    ("MULTICAST_ID", "m_port"): _ids("2.2.10", "m-port"),
    ("PROPVARIANT", "vt"): (*_ids("2.2.13.1", "vt"), *_ids("2.2.12.1", "declaration")),
    ("PROPVARIANT", "tag"): _ids("2.2.13.1", "var-union"),
    ("PROPVARIANT", "value"): _ids("2.2.13.1", "var-union"),
    ("BLOB", "cb_size"): _ids("2.2.15", "cb-size"),
    ("BLOB", "p_blob_data"): _ids("2.2.15", "p-blob-data"),
    ("ULARGE_INTEGER", "quad_part"): _ids("2.2.17", "quad-part"),
    ("XACTUOW", "rgb"): _ids("2.2.18.1.8", "rgb"),
    ("MessageIdentifier", "queue_manager_guid"): _ids("2.2.18.1.3", "queue-manager-guid"),
    ("MessageIdentifier", "ordinal"): _ids("2.2.18.1.3", "ordinal"),
    ("TxSequenceID", "ordinal"): _ids("2.2.18.1.2", "ordinal"),
    ("TxSequenceID", "time_stamp"): _ids("2.2.18.1.2", "time-stamp"),
    ("MQUSERSIGNCERT", "digest"): _ids("2.2.22", "digest"),
    ("MQUSERSIGNCERT", "identifier"): _ids("2.2.22", "identifier"),
    ("MQUSERSIGNCERT", "certificate_length"): _ids("2.2.22", "certificate-length"),
    ("MQUSERSIGNCERT", "certificate"): _ids("2.2.22", "certificate"),
    ("MQUSERSIGNCERTS", "certificate_count"): _ids("2.2.21", "certificate-count"),
    ("MQUSERSIGNCERTS", "certificates"): _ids("2.2.21", "certificates"),
    **{
        (name, word.replace("-", "_")): _ids(f"2.2.16.{number}", word)
        for number, name in enumerate(ARRAYS, start=1)
        for word in ("c-elems", "p-elems")
    },
}

# Requirements that a right selector answers beside the place of its structure, by its value.
QFT: Mapping[int, Ids] = {
    number: (*_ids("2.2.6", f"queue-format-type-{kind}"), *_ids("2.2.7", *members))
    for number, (kind, members) in enumerate(
        (
            ("unknown", ()),
            ("public", ("m-g-public-id",)),
            ("private", ("m-o-private-id", "m-o-private-id-members")),
            ("direct", ("m-p-direct-id",)),
            ("machine", ("m-g-machine-id",)),
            ("connector", ("m-g-connector-id",)),
            ("dl", ("m-dl-id",)),
            ("multicast", ("m-multicast-id",)),
            (
                "subqueue",
                ("m-p-direct-subqueue-id", "m-p-direct-subqueue-id-grammar", "m-p-direct-subqueue-id-subqueue"),
            ),
        )
    )
}
SUFFIX: Mapping[int, Ids] = {
    number: (*_ids("2.2.11", f"queue-suffix-type-{kind}"), *_ids("2.2.7", f"suffix-{kind}"))
    for number, kind in enumerate(("none", "journal", "deadletter", "deadxact", "xactonly", "subqueue"))
}
FLAGS: Mapping[int, Ids] = {
    0x00: _ids("2.2.7", "queue-format-flag-not-system"),
    0x80: _ids("2.2.7", "queue-format-flag-system"),
}

_KINDS = {
    0: "empty",
    1: "null",
    2: "i2",
    3: "i4",
    11: "bool",
    16: "i1",
    17: "ui1",
    18: "ui2",
    19: "ui4",
    20: "i8",
    21: "ui8",
    31: "lpwstr",
    65: "blob",
    72: "clsid",
}
_VECTORS = {17: "caub", 18: "caui", 3: "cal", 19: "caul", 21: "cauh", 72: "cauuid", 31: "calpwstr", 12: "capropvar"}
_VECTOR = _ids("2.2.12", "vt-vector", "vt-vector-combined", "vt-vector-value")
VT_TYPE: Mapping[int, Ids] = {
    **{vt: _ids("2.2.12", f"vt-{word}") for vt, word in _KINDS.items()},
    **{
        0x1000 | vt: (
            *_ids("2.2.13.1", word),
            *_VECTOR[:2],
            *(_ids("2.2.12", "vt-variant", "vt-variant-vector") if vt == 12 else ()),
        )
        for vt, word in _VECTORS.items()
    },
}
"""The requirements that the number in vt answers."""
VT_VALUE: Mapping[int, Ids] = {
    **{vt: _ids("2.2.12", f"vt-{word}-value") for vt, word in _KINDS.items()},
    **{0x1000 | vt: (_VECTOR[2], *(_ids("2.2.12", "vt-variant-value") if vt == 12 else ())) for vt in _VECTORS},
}
"""The requirements that the value selected by vt answers."""
TRUTH: Mapping[bool, Ids] = {
    True: _ids("2.2.14", "variant-true"),
    False: _ids("2.2.14", "variant-false"),
}
TRUTH_MEANING: Mapping[bool, Ids] = {
    True: _ids("2.2.14", "variant-true-meaning"),
    False: _ids("2.2.14", "variant-false-meaning"),
}
ADDRESS_LENGTH: Mapping[int, Ids] = {
    1: _ids("2.2.4", "address-length-by-type", "address-length-ip"),
    2: _ids("2.2.4", "address-length-by-type", "address-length-ip"),
    3: _ids("2.2.4", "address-length-by-type", "address-length-ipx"),
    5: _ids("2.2.4", "address-length-by-type", "address-length-foreign"),
}
ADDRESS: Mapping[int, Ids] = {
    1: (*_ids("2.2.4", "ip-address-type"), *_ids("2.2.4.1", "ip-address")),
    2: (*_ids("2.2.4", "ip-ras-address-type"), *_ids("2.2.4.1", "ip-address")),
    3: (*_ids("2.2.4", "ipx-address-type"), *_ids("2.2.4.2", "netnum", "nodenum")),
    5: _ids("2.2.4", "foreign-address-type"),
}
ENUMERATIONS: Mapping[str, Ids] = {
    "QUEUE_FORMAT": (*_ids("2.2.6", "declaration"), *_ids("2.2.11", "declaration")),
    "PROPVARIANT": _ids("2.2.12", "declaration"),
}
