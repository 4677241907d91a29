"""Formats the items of SecurityData for readers of packets."""

from __future__ import annotations

from conformance.wire.certificates import read_certificate
from conformance.wire.decode import guid_text, read_section
from conformance.wire.security_items import SIMPLE_BLOB, D, sid_text

SID_SENDER, MANAGER_SENDER = 1, 2
CIPHERS = {0x6602: "RC2", 0x6801: "RC4", 0x660E: "AES 128", 0x660F: "AES 192", 0x6610: "AES 256"}


def readable(key: str, value: object, sender_type: object = None) -> str | None:
    """Format a field of SecurityData; None when its bytes are as readable.

    key: full key. sender_type: SecurityHeader.Flags.ST, which determines the type of SecurityID.
    """
    if not isinstance(value, bytes):
        return None
    if key == D + "SecurityID":
        if sender_type == MANAGER_SENDER and len(value) == 16:
            return "{" + guid_text(value) + "}"
        return sid_text(value) if sender_type == SID_SENDER else None
    if key == D + "EncryptionKey":
        fields, taken = read_section(SIMPLE_BLOB, value)
        cipher = CIPHERS.get(int(fields.get("SIMPLEBLOB.SessionKeyAlgorithm", 0)))
        return f"SIMPLEBLOB, {cipher}, {len(value) - taken} bytes encrypted" if cipher else None
    if key == D + "SenderCert":
        found = read_certificate(value)
        size = f"RSA {found.modulus.bit_length()} bits" if found.modulus else found.why
        return f"{found.subject or 'certificate'}, {size}, {len(value)} bytes"
    if key == D + "Signature":
        return f"{len(value)} bytes, {value[:16].hex()}{'...' if len(value) > 16 else ''}"
    return None
