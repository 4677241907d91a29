"""Names of values for readers of packets: classes, algorithms, kinds of queues and headers."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.wire.certificates import read_certificate
from conformance.wire.decode import read_section
from conformance.wire.headers import (
    ADMINISTRATION_ID,
    BODY_SECTION_ID,
    DESTINATION_ID,
    DIRECT,
    DISTRIBUTION_LIST,
    HEADER_SECTION_ID,
    INFINITE,
    LISTS,
    PRIVATE,
    PUBLIC,
    RESPONSE_ID,
    SIGNATURE_ID,
)
from conformance.wire.layout import Value, guid_text
from conformance.wire.security_items import SIMPLE_BLOB, D, sid_text

Names = Mapping[int, str]


def _declared(name: str, prefix: str) -> dict[int, str]:
    """Map the values of an enumeration to names; of two names for one value the later."""
    return {value: member.removeprefix(prefix) for member, value in ENUMERATIONS[name].members.items()}


CLASSES: Names = _declared("MESSAGE_CLASS_VALUES", "MQMSG_CLASS_")
# MS-MQMQ 2.2.19.3 has algorithms that MC-MQAC does not declare.
HASHES: Names = {0x8001: "MD2", 0x8002: "MD4", 0x8003: "MD5", 0x8004: "SHA1", 0x800C: "SHA_256", 0x800E: "SHA_512"}
CIPHERS: Names = {0x6602: "RC2", 0x6801: "RC4", 0x660E: "AES_128", 0x660F: "AES_192", 0x6610: "AES_256"}
_VARIANTS = _declared("VARENUM", "")
_VECTOR = 0x1000
BODY_TYPES: Names = _VARIANTS | {
    _VECTOR | value: f"VT_VECTOR | {name}" for value, name in _VARIANTS.items() if value < _VECTOR
}
_QUEUES: Names = {
    0: "none",
    2: "private, on the source",
    3: "private, on the destination",
    4: "private, where the administration queue is",
    5: "public",
    6: "private",
    7: "direct",
}
_LIST_IDS: Names = {DESTINATION_ID: "destination", ADMINISTRATION_ID: "admin", RESPONSE_ID: "response"}
_ADDRESSES: Names = {0: "none", 1: "IPv4", 6: "IPv6"}
FORMAT_TYPES: Names = {
    PUBLIC: "public",
    PRIVATE: "private",
    DIRECT: "direct",
    DISTRIBUTION_LIST: "distribution list",
}
VALUE_NAMES: Mapping[str, Names] = {
    "BaseHeader.TimeToReachQueue": {INFINITE: "infinite"},
    "UserHeader.TimeToBeReceived": {INFINITE: "infinite"},
    "UserHeader.Flags.DM": {0: "express", 1: "recoverable"},
    "UserHeader.Flags.DQ": _QUEUES,
    "UserHeader.Flags.AQ": _QUEUES,
    "UserHeader.Flags.RQ": {**_QUEUES, 1: "as the administration queue"},
    "MessagePropertiesHeader.MessageClass": CLASSES,
    "MessagePropertiesHeader.BodyType": BODY_TYPES,
    "MessagePropertiesHeader.PrivacyLevel": {0: "none", 1: "40 bits", 3: "128 bits", 5: "AES"},
    "MessagePropertiesHeader.HashAlgorithm": HASHES,
    "MessagePropertiesHeader.EncryptionAlgorithm": CIPHERS,
    "SecurityHeader.Flags.ST": {0: "none", 1: "SID", 2: "queue manager"},
    "DebugHeader.Flags.QT": {0: "none", 1: "public"},
    "InternalHeader.Flags.PT": {1: "SessionAck", 2: "EstablishConnection", 3: "ConnectionParameters"},
    "SoapHeader.HeaderSectionID": {HEADER_SECTION_ID: "header"},
    "SoapHeader.BodySectionID": {BODY_SECTION_ID: "body"},
    "MultiQueueFormatHeader.Signature.ID": {SIGNATURE_ID: "signature"},
    **{f"MultiQueueFormatHeader.{name}.HeaderID": _LIST_IDS for name in LISTS},
    "SubqueueHeader.Marks.AcknowledgementClass": CLASSES,
    "ExtendedAddressHeader.AddressType": _ADDRESSES,
    "FormatType": FORMAT_TYPES,
}
# Fields of bytes that hold UTF-16 text with NULs behind.
TEXTS = frozenset(
    {"SubqueueHeader.SubqueueName", "SubqueueHeader.TargetSubqueueName", "DeadLetterHeader.DeadLetterPathName"}
)
_MANY = 48  # the most bytes of a field that are shown


def field_text(key: str, value: Value | None) -> str:
    """Format a field's value for readers: names beside numbers, long bytes cut."""
    if value is None:
        return "None"
    if isinstance(value, bytes):
        if key in TEXTS:
            return repr(value.decode("utf-16-le", "replace").rstrip("\0"))
        return repr(value) if len(value) <= _MANY else f"{value[:_MANY]!r}... ({len(value)} bytes)"
    if isinstance(value, bool | str):
        return repr(value) if key else str(value)
    name = VALUE_NAMES.get(key, {}).get(value)
    number = f"{value:#x}" if value > 9 else str(value)
    return f"{name} ({number})" if name else number


SID_SENDER, MANAGER_SENDER = 1, 2
CIPHER_TEXTS = {0x6602: "RC2", 0x6801: "RC4", 0x660E: "AES 128", 0x660F: "AES 192", 0x6610: "AES 256"}


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
        cipher = CIPHER_TEXTS.get(int(fields.get("SIMPLEBLOB.SessionKeyAlgorithm", 0)))
        return f"SIMPLEBLOB, {cipher}, {len(value) - taken} bytes encrypted" if cipher else None
    if key == D + "SenderCert":
        found = read_certificate(value)
        size = f"RSA {found.modulus.bit_length()} bits" if found.modulus else found.why
        return f"{found.subject or 'certificate'}, {size}, {len(value)} bytes"
    if key == D + "Signature":
        return f"{len(value)} bytes, {value[:16].hex()}{'...' if len(value) > 16 else ''}"
    return None
