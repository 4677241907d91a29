"""Rules on the members of structures: enumerated values, NUL-terminated texts, and counts.

Each rule has a value for which it holds, and one change that breaks it and at most two other declared rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.judge.expr import Const, Expr, Field, both, either, eq, one_of
from conformance.spec.catalogue import requirement_id
from conformance.wire.structures import STRUCTURES, decode, encode, patch

_GUID = "11ea26c6-b6e6-4997-9595-9150557358d1"
RSA_KEY = (  # a BLOBHEADER, an RSAPUBKEY and a modulus of 64 bits
    "BgIAAACkAABSU0ExQAAAAAEAAQABAgMEBQYHiQ=="
)
CERTIFICATE = (
    "MIIBWTCCAQCgAwIBAgIBAzAKBggqhkjOPQQDAjAMMQowCAYDVQQDDAFlMB4XDTI2MTEyMjAzMzgwOFoXDTM2MTExOTAzMzgwOFowDDEKMAgGA1UE"
    "AwwBZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABK62GeVDEfDv0vr/LApv+oXYp4XafsYRx6XRU1OKhiP4/lMRHE3GCmnq6owsIp+kdWYQe3mp"
    "yvbSi9vhu8TstxSjUzBRMB0GA1UdDgQWBBSggAwCreRFAgcUej2Kt4bm8BXYNDAfBgNVHSMEGDAWgBSggAwCreRFAgcUej2Kt4bm8BXYNDAPBgNV"
    "HRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCICnrukys7do/aG7dJgZ5biwrTVHJN8UsKTzCwAwxqT0cAiBWVsMS2Q8kEWCzV3hli+jU7FK8"
    "n3xKkscOIbuqalgrHQ=="
)
"""A self-signed X.509 certificate made for tests."""

PLAIN: Mapping[str, Any] = {
    "SECURITY_INFORMATION": 5,
    "MQDSPUBLICKEY": {"ul_provider_type": 1, "s_provider_name": "Base", "a_buf": RSA_KEY},
    "MQDSPUBLICKEYS": {"a_public_keys": [{"ul_provider_type": 24, "s_provider_name": "AES", "a_buf": RSA_KEY}] * 2},
    "TA_ADDRESS": {"address_type": 1, "address": "wKgBAg=="},
    "SEQUENCE_INFO": {"seq_id": "7696581394436", "seq_no": 4, "prev_no": 3},
    "QUEUE_FORMAT": {"m_qft": 3, "m_suffix_and_flags": 0, "m_p_direct_id": "OS:host\\q"},
    "OBJECTID": {"lineage": _GUID, "uniquifier": 5},
    "DL_ID": {"m_dl_guid": _GUID, "m_pwz_domain": "example.org"},
    "MULTICAST_ID": {"m_address": 0x010000E0, "m_port": 1801},
    "PROPVARIANT": {"vt": 19, "value": 7},
    "VARIANT_BOOL": True,
    "BLOB": {"p_blob_data": "AAEC"},
    "ULARGE_INTEGER": {"quad_part": "18446744073709551614"},
    "XACTUOW": {"rgb": _GUID},
    "TxSequenceID": {"ordinal": 1, "time_stamp": 0x5F000000},
    "MessageIdentifier": {"queue_manager_guid": _GUID, "ordinal": 7},
    "MQUSERSIGNCERT": {"identifier": _GUID, "certificate": CERTIFICATE},
    "MQUSERSIGNCERTS": {"certificates": [{"identifier": _GUID, "certificate": CERTIFICATE}]},
    "CAUB": {"p_elems": "AAEC"},
    "CAUI": {"p_elems": [1, 0xFFFE]},
    "CAL": {"p_elems": [1, -2]},
    "CAUL": {"p_elems": [1, 0xFFFFFFFE]},
    "CAUH": {"p_elems": ["1", "18446744073709551614"]},
    "CACLSID": {"p_elems": [_GUID]},
    "CALPWSTR": {"p_elems": ["one", "two"]},
    "CAPROPVARIANT": {"p_elems": [{"vt": 3, "value": -2}, {"vt": 31, "value": "x"}]},
}
"""A value of each structure for which every rule below holds."""


@dataclass(frozen=True, slots=True)
class StructureMutation:
    """A structure for which the rule holds, and one change that breaks the rule.

    value: the structure, where PLAIN does not fit. patch: numbers overwritten in the bytes, by path. given: numbers
    that replace computed ones; the rest is written anew. instead: the value that is written instead. also_breaks: other
    requirements that the change breaks.
    """

    value: Any = None
    patch: Mapping[str, int] = field(default_factory=dict)
    given: Mapping[str, int] = field(default_factory=dict)
    instead: Any = None
    also_breaks: tuple[str, ...] = ()

    def valid(self, name: str) -> bytes:
        """Encode the bytes for which the rule holds."""
        return encode(name, PLAIN[name] if self.value is None else self.value)

    def broken(self, name: str) -> bytes:
        """Encode the bytes that break the rule."""
        if self.patch:
            return patch(decode(name, self.valid(name)), self.patch)
        value = PLAIN[name] if self.value is None else self.value
        return encode(name, value if self.instead is None else self.instead, self.given)


@dataclass(frozen=True, slots=True)
class StructureRule:
    """One check of one structure. id: the requirement's, with `/word` where several rules serve one."""

    id: str
    structure: str
    applies: Expr
    holds: Expr
    breaks: StructureMutation

    @property
    def requirement(self) -> str:
        """The id of the requirement that this rule judges."""
        return self.id.partition("/")[0]


_ALWAYS: Expr = Const(True)


def _rule(word: str, structure: str, holds: Expr, breaks: StructureMutation, applies: Expr = _ALWAYS) -> StructureRule:
    requirement_id(f"MQMQ-{word}".partition("/")[0])
    return StructureRule(f"MQMQ-{word}", structure, applies, holds, breaks)


def _plain(name: str, **changed: Any) -> dict[str, Any]:
    return {**PLAIN[name], **changed}


_KEY, _ADDRESS = "MQDSPUBLICKEY.", "TA_ADDRESS."
_M = StructureMutation


def _buf(at: int, byte: int) -> str:
    """Return the key with one byte changed."""
    import base64

    data = bytearray(base64.b64decode(RSA_KEY))
    data[at] = byte
    return base64.b64encode(bytes(data)).decode("ascii")


_KEYS = (
    _rule(
        "2.2.1.ul-provider-type-values",
        "MQDSPUBLICKEY",
        one_of(_KEY + "ulProviderType", 0x01, 0x18),
        _M(instead=_plain("MQDSPUBLICKEY", ul_provider_type=2)),
    ),
    _rule(
        "2.2.1.s-provider-name",
        "MQDSPUBLICKEY",
        eq(_KEY + "TextsEnd", True),
        _M(patch={"s_provider_name": int.from_bytes("Baseball".encode("utf-16-le")[:10], "little")}),
    ),
    _rule(
        "2.2.1.a-buf-blobheader",
        "MQDSPUBLICKEY",
        both(eq(_KEY + "aBuf.bType", 6), eq(_KEY + "aBuf.bVersion", 2)),
        _M(instead=_plain("MQDSPUBLICKEY", a_buf=_buf(0, 7))),
    ),
    _rule(
        "2.2.1.a-buf-ai-key-alg",
        "MQDSPUBLICKEY",
        eq(_KEY + "aBuf.aiKeyAlg", 0xA400),
        _M(instead=_plain("MQDSPUBLICKEY", a_buf=_buf(5, 0x24))),
    ),
    _rule(
        "2.2.1.a-buf-rsapubkey",
        "MQDSPUBLICKEY",
        both(eq(_KEY + "aBuf.magic", 0x31415352), eq(_KEY + "aBuf.bitlen", Field(_KEY + "aBuf.ModulusBits"))),
        _M(instead=_plain("MQDSPUBLICKEY", a_buf=_buf(8, 0x53))),
    ),
    _rule(
        "2.2.2.ul-len",
        "MQDSPUBLICKEYS",
        eq("MQDSPUBLICKEYS.ulLen", Field("MQDSPUBLICKEYS.Size")),
        _M(patch={"ul_len": 8}),
    ),
)


def _length(word: str, size: int, kinds: tuple[int, ...], value: dict[str, Any], instead: str) -> StructureRule:
    """Make a rule on AddressLength for some address types; its mutation breaks the section's general rule as well."""
    return _rule(
        f"2.2.4.address-length-{word}",
        "TA_ADDRESS",
        eq(_ADDRESS + "AddressLength", size),
        _M(value=value, instead={**value, "address": instead}, also_breaks=("MQMQ-2.2.4.address-length-by-type",)),
        one_of(_ADDRESS + "AddressType", *kinds),
    )


_IPX = {"address_type": 3, "address": "AQIDBAUGBwgJCg=="}
_FOREIGN = {"address_type": 5, "address": "AQIDBAUGBwgJCgsMDQ4PEA=="}
_ADDRESSES = (
    _rule(
        "2.2.4.address-type",
        "TA_ADDRESS",
        one_of(_ADDRESS + "AddressType", 1, 2, 3, 5),
        _M(instead={"address_type": 4, "address": "wKgBAg=="}),
    ),
    _length("ip", 4, (1, 2), dict(PLAIN["TA_ADDRESS"]), "wKgBAgA="),
    _length("ipx", 10, (3,), _IPX, "AQIDBAUGBwgJCgs="),
    _length("foreign", 16, (5,), _FOREIGN, "AQIDBAUGBwgJCgsMDQ4P"),
    _rule(
        "2.2.4.address-length-by-type",
        "TA_ADDRESS",
        either(
            both(one_of(_ADDRESS + "AddressType", 1, 2), eq(_ADDRESS + "AddressLength", 4)),
            both(eq(_ADDRESS + "AddressType", 3), eq(_ADDRESS + "AddressLength", 10)),
            both(eq(_ADDRESS + "AddressType", 5), eq(_ADDRESS + "AddressLength", 16)),
        ),
        _M(instead={"address_type": 1, "address": "AQIDBAUGBwgJCg=="}, also_breaks=("MQMQ-2.2.4.address-length-ip",)),
        one_of(_ADDRESS + "AddressType", 1, 2, 3, 5),
    ),
)

_CERTIFICATES = (
    _rule(
        "2.2.22.digest",
        "MQUSERSIGNCERT",
        eq("MQUSERSIGNCERT.Digest.Matches", True),
        _M(patch={"digest": 1}),
    ),
    _rule(
        "2.2.22.certificate",
        "MQUSERSIGNCERT",
        eq("MQUSERSIGNCERT.Certificate.IsX509", True),
        _M(instead={"identifier": _GUID, "certificate": "AAEC"}),
    ),
)

_TEXT = {"vt": 31, "value": "text"}
_VARIANT_TYPES = (0, 1, 2, 3, 11, 16, 17, 18, 19, 20, 21, 31, 65, 72, *(0x1000 | vt for vt in (17, 18, 3, 19)))
_VARIANTS = (
    _rule(
        "2.2.13.1.vt",
        "PROPVARIANT",
        one_of("PROPVARIANT.vt", *_VARIANT_TYPES, *(0x1000 | vt for vt in (21, 72, 31, 12))),
        _M(patch={"vt": 4}),
        Const(True),
    ),
    _rule(
        "2.2.12.vt-variant-vector",
        "PROPVARIANT",
        eq("PROPVARIANT.vt", 0x100C),
        _M(
            value={"vt": 0x100C, "value": [{"vt": 0}]},
            patch={"vt": 12, "tag": 12},
            also_breaks=("MQMQ-2.2.13.1.vt",),
        ),
        one_of("PROPVARIANT.vt", 12, 0x100C),
    ),
    _rule(
        "2.2.13.1.var-union",
        "PROPVARIANT",
        eq("PROPVARIANT._varUnion.TagMatches", True),
        _M(patch={"tag": 3}),
        one_of("PROPVARIANT.vt", *_VARIANT_TYPES, *(0x1000 | vt for vt in (21, 72, 31, 12))),
    ),
    _rule(
        "2.2.12.vt-lpwstr-value",
        "PROPVARIANT",
        eq("PROPVARIANT.TextsEnd", True),
        _M(value=_TEXT, patch={"value": int.from_bytes("texts".encode("utf-16-le"), "little")}),
        eq("PROPVARIANT.vt", 31),
    ),
    _rule(
        "2.2.12.vt-bool-value",
        "PROPVARIANT",
        one_of("PROPVARIANT.boolVal", 0, 0xFFFF),
        _M(value={"vt": 11, "value": True}, patch={"value": 1}),
        eq("PROPVARIANT.vt", 11),
    ),
    _rule("2.2.14.variant-true", "VARIANT_BOOL", one_of("VARIANT_BOOL.Value", 0, 0xFFFF), _M(patch={"value": 1})),
)

_COUNTS = tuple(
    _rule(
        f"{STRUCTURES[name].source.split()[1]}.{'cb-size' if name == 'BLOB' else 'c-elems'}",
        name,
        eq(f"{name}.{'pBlobData' if name == 'BLOB' else 'pElems'}.CountMatches", True),
        _M(patch={"cb_size" if name == "BLOB" else "c_elems": 1000}),
        eq(f"{name}.{'pBlobData' if name == 'BLOB' else 'pElems'}.Null", False),
    )
    for name in ("BLOB", "CAUB", "CAUI", "CAL", "CAUL", "CAUH", "CACLSID", "CALPWSTR", "CAPROPVARIANT")
)

_TEXTS = (
    _rule(
        "2.2.9.m-pwz-domain-text",
        "DL_ID",
        eq("DL_ID.TextsEnd", True),
        _M(patch={"m_pwz_domain": int.from_bytes("example.orgs".encode("utf-16-le"), "little")}),
        eq("DL_ID.m_pwzDomain.Null", False),
    ),
    _rule(
        "2.2.16.7.p-elems",
        "CALPWSTR",
        eq("CALPWSTR.TextsEnd", True),
        _M(patch={"p_elems[1]": int.from_bytes("twos".encode("utf-16-le"), "little")}),
    ),
    _rule(
        "2.2.7.m-p-direct-id",
        "QUEUE_FORMAT",
        eq("QUEUE_FORMAT.TextsEnd", True),
        _M(patch={"m_p_direct_id": int.from_bytes("OS:host\\qq".encode("utf-16-le"), "little")}),
        eq("QUEUE_FORMAT.m_qft", 3),
    ),
    _rule(
        "2.2.7.union",
        "QUEUE_FORMAT",
        eq("QUEUE_FORMAT.Union.TagMatches", True),
        _M(patch={"tag": 8}),
        one_of("QUEUE_FORMAT.m_qft", *range(9)),
    ),
)

RULES: tuple[StructureRule, ...] = (*_KEYS, *_ADDRESSES, *_CERTIFICATES, *_VARIANTS, *_COUNTS, *_TEXTS)
