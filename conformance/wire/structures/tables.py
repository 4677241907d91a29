"""The tables of all structures of MS-MQMQ 2.2.1 to 2.2.22 other than packets, by name."""

from __future__ import annotations

import struct
from hashlib import md5

from conformance.wire.structures.words import (
    Arm,
    Array,
    Choice,
    Fields,
    Guid,
    Inner,
    Many,
    Member,
    Number,
    Octets,
    Pointer,
    Structure,
    Text,
    Truth,
    Wide,
    Word,
)

IP, IP_RAS, IPX, FOREIGN = 1, 2, 3, 5
SIZES = {IP: 4, IP_RAS: 4, IPX: 10, FOREIGN: 16}
"""The bytes of Address by AddressType."""

ADDRESSES = (
    Structure(
        "TA_ADDRESS",
        "MS-MQMQ 2.2.4",
        (
            Member("address_length", "AddressLength", Number(2), computed="address"),
            Member("address_type", "AddressType", Number(2)),
            Member("address", "Address", Octets(by="address_length")),
        ),
    ),
)


def is_certificate(data: bytes) -> bool:
    """Return True when these bytes have the outer form of an X.509 certificate in DER.

    That is a SEQUENCE of a SEQUENCE (the signed data), a SEQUENCE (the algorithm) and a BIT STRING (the signature),
    each of its stated length with nothing behind (RFC 3280 4.1).
    """
    outer = _element(data, 0, len(data))
    if outer is None or outer[0] != 0x30 or outer[2] != len(data):
        return False
    at = outer[1]
    tags: list[int] = []
    while at < len(data) and len(tags) < 4:
        found = _element(data, at, len(data))
        if found is None:
            return False
        tags.append(found[0])
        at = found[2]
    return tags == [0x30, 0x30, 0x03]


def _element(data: bytes, at: int, end: int) -> tuple[int, int, int] | None:
    """Return tag, begin of the content and end of the DER element at `at`; None where there is none."""
    if end - at < 2:
        return None
    tag, length = data[at], data[at + 1]
    begin = at + 2
    if length & 0x80:
        more = length & 0x7F
        if not 1 <= more <= 4 or begin + more > end:
            return None
        length = int.from_bytes(data[begin : begin + more], "big")
        begin += more
    return (tag, begin, begin + length) if begin + length <= end else None


def _certificate(fields: Fields) -> None:
    """Add `.Digest.Matches`: the digest is that of the certificate; `.Certificate.IsX509`: it looks like one."""
    data, digest = fields.get("MQUSERSIGNCERT.Certificate"), fields.get("MQUSERSIGNCERT.Digest")
    if isinstance(data, bytes):
        fields["MQUSERSIGNCERT.Digest.Matches"] = md5(data, usedforsecurity=False).digest() == digest
        fields["MQUSERSIGNCERT.Certificate.IsX509"] = is_certificate(data)


CERTIFICATES = (
    Structure(
        "MQUSERSIGNCERT",
        "MS-MQMQ 2.2.22",
        (
            Member("digest", "Digest", Octets(size=16), computed="md5:certificate"),
            Member("identifier", "Identifier", Guid()),
            Member("certificate_length", "CertificateLength", Number(4), computed="certificate"),
            Member("certificate", "Certificate", Octets(by="certificate_length")),
        ),
        facts=_certificate,
    ),
    Structure(
        "MQUSERSIGNCERTS",
        "MS-MQMQ 2.2.21",
        (
            Member("certificate_count", "CertificateCount", Number(4), computed="certificates"),
            Member("certificates", "Certificates", Many("MQUSERSIGNCERT", "certificate_count")),
        ),
    ),
)

_U4 = Number(4)

NUMBERS = (
    Structure("SECURITY_INFORMATION", "MS-MQMQ 2.2.3", (Member("value", "Value", _U4),), bare=True),
    Structure(
        "SEQUENCE_INFO",
        "MS-MQMQ 2.2.5.1",
        (
            Member("seq_id", "SeqID", Number(8, signed=True, decimal=True)),
            Member("seq_no", "SeqNo", _U4),
            Member("prev_no", "PrevNo", _U4),
        ),
    ),
    Structure(
        "OBJECTID", "MS-MQMQ 2.2.8", (Member("lineage", "Lineage", Guid()), Member("uniquifier", "Uniquifier", _U4))
    ),
    Structure(
        "MULTICAST_ID", "MS-MQMQ 2.2.10", (Member("m_address", "m_address", _U4), Member("m_port", "m_port", _U4))
    ),
    Structure("VARIANT_BOOL", "MS-MQMQ 2.2.14", (Member("value", "Value", Truth()),), bare=True),
    Structure("ULARGE_INTEGER", "MS-MQMQ 2.2.17", (Member("quad_part", "QuadPart", Number(8, decimal=True)),)),
    Structure(
        "TxSequenceID",
        "MS-MQMQ 2.2.18.1.2",
        (Member("ordinal", "Ordinal", _U4), Member("time_stamp", "TimeStamp", _U4)),
    ),
    Structure(
        "MessageIdentifier",
        "MS-MQMQ 2.2.18.1.3",
        (Member("queue_manager_guid", "QueueManagerGuid", Guid()), Member("ordinal", "Ordinal", _U4)),
    ),
    Structure("XACTUOW", "MS-MQMQ 2.2.18.1.8", (Member("rgb", "rgb", Guid()),)),
)

VECTOR = 0x1000
ELEMENTS: dict[str, Word] = {
    "CAUB": Number(1),
    "CAUI": Number(2),
    "CAL": Number(4, signed=True),
    "CAUL": Number(4),
    "CAUH": Number(8, decimal=True),
    "CACLSID": Guid(),
    "CALPWSTR": Pointer(Text()),
    "CAPROPVARIANT": Inner("PROPVARIANT"),
}
"""The element of each counted array (2.2.16)."""

_VECTORS = {
    17: ("caub", "CAUB"),
    18: ("caui", "CAUI"),
    3: ("cal", "CAL"),
    19: ("caul", "CAUL"),
    21: ("cauh", "CAUH"),
    72: ("cauuid", "CACLSID"),
    31: ("calpwstr", "CALPWSTR"),
    12: ("capropvar", "CAPROPVARIANT"),
}

UNION: dict[int, Arm] = {
    0: Arm("", ""),
    1: Arm("", ""),
    16: Arm("value", "cVal", Number(1, signed=True)),
    17: Arm("value", "bVal", Number(1)),
    2: Arm("value", "iVal", Number(2, signed=True)),
    18: Arm("value", "uiVal", Number(2)),
    3: Arm("value", "lVal", Number(4, signed=True)),
    19: Arm("value", "ulVal", Number(4)),
    20: Arm("value", "hVal", Number(8, signed=True, decimal=True)),
    21: Arm("value", "uhVal", Number(8, decimal=True)),
    11: Arm("value", "boolVal", Truth()),
    72: Arm("value", "puuid", Pointer(Guid())),
    65: Arm("value", "blob", Inner("BLOB"), only="p_blob_data"),
    31: Arm("value", "pwszVal", Pointer(Text())),
    **{VECTOR | vt: Arm("value", member, Inner(name), only="p_elems") for vt, (member, name) in _VECTORS.items()},
}
"""The members of _varUnion by vt (2.2.13.1)."""

PROPVARIANTS = (
    Structure(
        "BLOB",
        "MS-MQMQ 2.2.15",
        (
            Member("cb_size", "cbSize", Number(4), computed="p_blob_data"),
            Member("p_blob_data", "pBlobData", Pointer(Array(Number(1), "cb_size"))),
        ),
        ndr=True,
    ),
    *(
        Structure(
            name,
            f"MS-MQMQ 2.2.16.{number}",
            (
                Member("c_elems", "cElems", Number(4), computed="p_elems"),
                Member("p_elems", "pElems", Pointer(Array(word, "c_elems"))),
            ),
            ndr=True,
        )
        for number, (name, word) in enumerate(ELEMENTS.items(), start=1)
    ),
    Structure(
        "PROPVARIANT",
        "MS-MQMQ 2.2.13",
        (
            Member("vt", "vt", Number(2)),
            Member("w_reserved1", "wReserved1", Number(1), computed="0", hidden=True),
            Member("w_reserved2", "wReserved2", Number(1), computed="0", hidden=True),
            Member("w_reserved3", "wReserved3", Number(4), computed="0", hidden=True),
            Member("", "_varUnion", Choice("vt", 2, UNION)),
        ),
        ndr=True,
    ),
)

_BLOBHEADER = struct.Struct("<BBHI")
_RSAPUBKEY = struct.Struct("<III")
RSA1 = 0x31415352


def _key(fields: Fields) -> None:
    """Add the members of the BLOBHEADER and RSAPUBKEY in aBuf, as far as they are present.

    `.Modulus` is the number of bytes behind them, and `.ModulusBits` that in bits, to be compared with `.bitlen`.
    """
    data = fields.get("MQDSPUBLICKEY.aBuf")
    if not isinstance(data, bytes):
        return
    fields["MQDSPUBLICKEY.aBuf.Length"] = len(data)
    if len(data) < _BLOBHEADER.size:
        return
    names = ("bType", "bVersion", "reserved", "aiKeyAlg")
    found = dict(zip(names, _BLOBHEADER.unpack_from(data), strict=True))
    if len(data) >= _BLOBHEADER.size + _RSAPUBKEY.size:
        numbers = _RSAPUBKEY.unpack_from(data, _BLOBHEADER.size)
        found |= dict(zip(("magic", "bitlen", "pubexp"), numbers, strict=True))
        found["ModulusBits"] = 8 * (len(data) - _BLOBHEADER.size - _RSAPUBKEY.size)
    fields.update({f"MQDSPUBLICKEY.aBuf.{name}": value for name, value in found.items()})


PUBLIC_KEYS = (
    Structure(
        "MQDSPUBLICKEY",
        "MS-MQMQ 2.2.1",
        (
            Member("ul_key_len", "ulKeyLen", Number(4), computed="a_buf"),
            Member("ul_provider_len", "ulProviderLen", Number(4), computed="s_provider_name"),
            Member("ul_provider_type", "ulProviderType", Number(4)),
            Member("s_provider_name", "sProviderName", Wide("ul_provider_len")),
            Member("a_buf", "aBuf", Octets(by="ul_key_len")),
        ),
        facts=_key,
    ),
    Structure(
        "MQDSPUBLICKEYS",
        "MS-MQMQ 2.2.2",
        (
            Member("ul_len", "ulLen", Number(4), computed="*"),
            Member("c_numof_keys", "cNumofKeys", Number(4), computed="a_public_keys"),
            Member("a_public_keys", "aPublicKeys", Many("MQDSPUBLICKEY", "c_numof_keys")),
        ),
    ),
)

QUEUE_FORMAT_UNION: dict[int, Arm] = {
    0: Arm("", ""),
    1: Arm("m_g_public_id", "m_gPublicID", Guid()),
    2: Arm("m_o_private_id", "m_oPrivateID", Inner("OBJECTID")),
    3: Arm("m_p_direct_id", "m_pDirectID", Pointer(Text())),
    4: Arm("m_g_machine_id", "m_gMachineID", Guid()),
    5: Arm("m_g_connector_id", "m_GConnectorID", Guid()),
    6: Arm("m_dl_id", "m_DlID", Inner("DL_ID")),
    7: Arm("m_multicast_id", "m_MulticastID", Inner("MULTICAST_ID")),
    8: Arm("m_p_direct_subqueue_id", "m_pDirectSubqueueID", Pointer(Text())),
}
"""The members of the union by QUEUE_FORMAT_TYPE (2.2.6)."""


def _halves(fields: Fields) -> None:
    """Add the two halves of m_SuffixAndFlags: the suffix type, and the flags in place."""
    both = fields.get("QUEUE_FORMAT.m_SuffixAndFlags")
    if isinstance(both, int):
        fields["QUEUE_FORMAT.m_SuffixAndFlags.Suffix"] = both & 0x0F
        fields["QUEUE_FORMAT.m_SuffixAndFlags.Flags"] = both & 0xF0


QUEUE_FORMATS = (
    Structure(
        "DL_ID",
        "MS-MQMQ 2.2.9",
        (Member("m_dl_guid", "m_DlGuid", Guid()), Member("m_pwz_domain", "m_pwzDomain", Pointer(Text()))),
        ndr=True,
    ),
    Structure(
        "QUEUE_FORMAT",
        "MS-MQMQ 2.2.7",
        (
            Member("m_qft", "m_qft", Number(1)),
            Member("m_suffix_and_flags", "m_SuffixAndFlags", Number(1)),
            Member("m_reserved", "m_reserved", Number(2), computed="0"),
            Member("", "Union", Choice("m_qft", 1, QUEUE_FORMAT_UNION)),
        ),
        ndr=True,
        facts=_halves,
    ),
)

_ALL = (*NUMBERS, *PUBLIC_KEYS, *ADDRESSES, *CERTIFICATES, *QUEUE_FORMATS, *PROPVARIANTS)
STRUCTURES: dict[str, Structure] = {each.name: each for each in _ALL}


def structure(name: str) -> Structure:
    """Return the structure of this name. Raises KeyError."""
    return STRUCTURES[name]
