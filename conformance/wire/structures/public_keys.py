"""MS-MQMQ 2.2.1 MQDSPUBLICKEY and 2.2.2 MQDSPUBLICKEYS."""

from __future__ import annotations

import struct

from conformance.wire.structures.words import Fields, Many, Member, Number, Octets, Structure, Wide

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


STRUCTURES = (
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
