"""The contents of the items of SecurityData (MS-MQMQ 2.2.20.6): SID, key blobs; and facts about them.

The item itself stays bytes in its section, `SecurityHeader.SecurityData.SecurityID`; its contents are decoded beside
it, as a section of their own (`SID.SubAuthorityCount`). `.Exact` of that section: the item holds nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.wire.layout import Condition, Length, Octets, Section, UInt, Value, guid_text

D = "SecurityHeader.SecurityData."
SID_REVISION, MOST_SUB_AUTHORITIES = 1, 15
SIMPLE_BLOB_TYPE, PUBLIC_BLOB_TYPE, BLOB_VERSION, KEY_EXCHANGE = 1, 6, 2, 0xA400
RSA1 = 0x31415352

SID = Section(
    "SID",
    "MS-DTYP 2.4.2.2",
    (
        UInt("Revision", 1, default=SID_REVISION),
        UInt("SubAuthorityCount", 1),
        Octets("IdentifierAuthority", Length(fixed=6)),
        Octets("SubAuthority", Length("SubAuthorityCount", times=4)),
    ),
)
# The key of the body, encrypted for the receiver; MS-MQMQ only mentions it.
SIMPLE_BLOB = Section(
    "SIMPLEBLOB",
    "MS-MQQB 2.4.2",
    (
        UInt("Type", 1, default=SIMPLE_BLOB_TYPE),
        UInt("Version", 1, default=BLOB_VERSION),
        UInt("Reserved", 2),
        UInt("SessionKeyAlgorithm", 4),
        UInt("EncryptionAlgorithm", 4, default=KEY_EXCHANGE),
    ),
)
# The public key as CryptoAPI exports it. The diagram of MS-MQMQ 2.2.20.6 has one reserved byte less.
PUBLIC_KEY_BLOB = Section(
    "PUBLICKEYBLOB",
    "MS-MQQB 2.4.1",
    (
        UInt("Type", 1, default=PUBLIC_BLOB_TYPE),
        UInt("Version", 1, default=BLOB_VERSION),
        UInt("Reserved", 2),
        UInt("KeyType", 4, default=KEY_EXCHANGE),
        UInt("Magic", 4, default=RSA1),
        UInt("BitLength", 4),
        UInt("PublicExponent", 4),
    ),
)


@dataclass(frozen=True, slots=True)
class Inside:
    """A section inside the bytes of a field. rest: the name of bytes that may follow it there; empty: none may."""

    key: str
    section: Section
    condition: Condition | None = None
    rest: str = ""


INSIDE: tuple[Inside, ...] = (
    Inside(D + "SecurityID", SID, Condition("SecurityHeader.Flags.ST")),
    Inside(D + "EncryptionKey", SIMPLE_BLOB, rest="EncryptedKey"),
)


def sid_text(raw: bytes) -> str:
    """Format a SID as `S-1-5-32-544` (MS-DTYP 2.4.2.1); hexadecimal digits for other bytes."""
    if len(raw) < 8 or len(raw) != 8 + 4 * raw[1]:
        return raw.hex()
    authority = int.from_bytes(raw[2:8], "big")
    shown = str(authority) if authority < 1 << 32 else f"0x{authority:012x}"
    subs = (int.from_bytes(raw[at : at + 4], "little") for at in range(8, len(raw), 4))
    return "-".join(("S", str(raw[0]), shown, *map(str, subs)))


def sid_bytes(text: str) -> bytes:
    """Encode `S-1-5-32-544`. Raises ValueError for another form."""
    letter, *numbers = text.split("-")
    if letter != "S" or len(numbers) < 2 or len(numbers) > 2 + MOST_SUB_AUTHORITIES:
        raise ValueError(f"Invalid SID '{text}' (form: S-1-AUTHORITY-SUB-SUB)")
    revision, authority, *subs = (int(number, 0) for number in numbers)
    head = bytes((revision, len(subs))) + authority.to_bytes(6, "big")
    return head + b"".join(sub.to_bytes(4, "little") for sub in subs)


def simple_blob(algorithm: int, encrypted: bytes) -> bytes:
    """Build a SIMPLEBLOB (MS-MQQB 2.4.2). encrypted: the session key under RSA, little-endian."""
    head = bytes((SIMPLE_BLOB_TYPE, BLOB_VERSION, 0, 0))
    return head + algorithm.to_bytes(4, "little") + KEY_EXCHANGE.to_bytes(4, "little") + encrypted


def public_key_blob(modulus: int, exponent: int, *, key_type: int = KEY_EXCHANGE, reserved: int = 2) -> bytes:
    """Build an RSA public key as CryptoAPI exports it (MS-MQMQ 2.2.20.6, MS-MQQB 2.4.1).

    key_type: 0x2400 for a signing key, 0xA400 for an encrypting key. reserved: the zero bytes before it, two or, by the
    diagram of MS-MQMQ, one.
    """
    size = (modulus.bit_length() + 7) // 8
    head = bytes((PUBLIC_BLOB_TYPE, BLOB_VERSION)) + bytes(reserved) + key_type.to_bytes(4, "little") + b"RSA1"
    numbers = (8 * size).to_bytes(4, "little") + exponent.to_bytes(4, "little")
    return head + numbers + modulus.to_bytes(size, "little")


def key_of_blob(raw: bytes) -> tuple[int, int] | None:
    """Return modulus and exponent of a PUBLICKEYBLOB with one or two reserved bytes; None for other bytes."""
    for reserved in (2, 1):
        at = 2 + reserved
        if raw[:2] != bytes((PUBLIC_BLOB_TYPE, BLOB_VERSION)) or any(raw[2:at]) or raw[at + 4 : at + 8] != b"RSA1":
            continue
        bits = int.from_bytes(raw[at + 8 : at + 12], "little")
        modulus = raw[at + 16 :]
        if bits and (bits + 7) // 8 == len(modulus):
            return int.from_bytes(modulus, "little"), int.from_bytes(raw[at + 12 : at + 16], "little")
    return None


def facts_of(fields: Mapping[str, Value]) -> dict[str, Value]:
    """Return the facts about the items that rules need and that no single field holds.

    `SID.Text`: the SID as text. `SecurityHeader.SecurityData.SecurityID.Guid`: the identifier of a queue manager.
    """
    out: dict[str, Value] = {}
    raw = fields.get(D + "SecurityID")
    if isinstance(raw, bytes):
        if fields.get("SID.Exact"):
            out["SID.Text"] = sid_text(raw)
        if len(raw) == 16 and fields.get("SecurityHeader.Flags.ST") == 2:
            out[D + "SecurityID.Guid"] = guid_text(raw)
    return out
