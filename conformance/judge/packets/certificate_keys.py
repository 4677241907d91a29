"""Facts about the public key of a sender's certificate, where it has the structure of MS-MQMQ 2.2.20.6.

RFC 3280 lets an RSA key be PKCS #1. The structure, which CryptoAPI exports, is judged where a certificate shows it.
"""

from __future__ import annotations

from conformance.wire.layout import Value
from conformance.wire.security_items import BLOB_VERSION, PUBLIC_BLOB_TYPE, RSA1

KEY = "Packet.Certificate.Key."
START = bytes((PUBLIC_BLOB_TYPE, BLOB_VERSION, 0))
KEY_TYPES = (0x2400, 0xA400)
_MAGIC = RSA1.to_bytes(4, "little")
_LEAST = 20  # bytes: the structure and one byte of a modulus


def key_facts(raw: bytes) -> dict[str, Value]:
    """Return facts about the bits of a key, by KEY; empty for a key of another form.

    `Start`: it begins 06 02 00. `Reserved`: `one` or `two` bytes of zero before `Type`. `Type`, `Magic`: the numbers.
    `Order`: `told`, or `moved` where the length and the exponent have changed places. `Bits`: the length in bits, and
    `Least`, `Most`: what it can be, by the bytes of the modulus. `Zeros`: bits of the modulus beyond the length are 0.
    """
    if len(raw) < _LEAST or (raw[:2] != START[:2] and _MAGIC not in (raw[7:11], raw[8:12])):
        return {}
    one = raw[7:11] == _MAGIC or (raw[8:12] != _MAGIC and _word(raw, 3) in KEY_TYPES)
    at = 3 if one else 4
    modulus = raw[at + 16 :]
    most = 8 * len(modulus)
    told, other = _word(raw, at + 8), _word(raw, at + 12)
    moved = not most - 8 < told <= most and most - 8 < other <= most
    bits = other if moved else told
    return {
        KEY + "Start": raw[:3] == START,
        KEY + "Reserved": "one" if one else "two",
        KEY + "Type": _word(raw, at),
        KEY + "Magic": _word(raw, at + 4),
        KEY + "Order": "moved" if moved else "told",
        KEY + "Bits": bits,
        KEY + "Least": max(0, most - 7),
        KEY + "Most": most,
        KEY + "Zeros": int.from_bytes(modulus, "little").bit_length() <= bits,
    }


def _word(raw: bytes, at: int) -> int:
    return int.from_bytes(raw[at : at + 4], "little")
