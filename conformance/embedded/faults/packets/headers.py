"""Faults of the SecurityHeader, DebugHeader and SessionHeader (MS-MQMQ 2.2.20.4, 2.2.20.6, 2.2.20.8)."""

from __future__ import annotations

import struct

from conformance.embedded import packet_layout as lay
from conformance.embedded.faults.base import fault
from conformance.embedded.packet_bytes import require
from conformance.embedded.packet_write import PacketWriter

_LEVELS = (0, 1, 3, 5)
_LEVEL_NAMES = ("none", "sig10", "sig20", "sig30")


@fault(
    "security-sizes-swapped", PacketWriter.security_header, "MQMQ-2.2.20.6.encryption-key-size",
    "MQMQ-2.2.20.6.signature-size", "MQMQ-2.2.20.6.encryption-key-size-layout", "MQMQ-2.2.20.6.signature-size-layout",
)  # fmt: skip
def security_sizes_swapped(plain, self, fields):
    """EncryptionKeySize has the size of the signature, SignatureSize that of the key."""
    header = plain(fields)
    return header[:4] + header[6:8] + header[4:6] + header[8:] if header else header


@fault("security-items-packed", PacketWriter.security_items, "MQMQ-2.2.20.6.security-data-aligned")
def security_items_packed(plain, self, items):
    """The items of SecurityData follow one another without padding; all of it comes at the end."""
    return b"".join(items).ljust(len(plain(items)), b"\0")


@fault(
    "default-provider-with-provider", PacketWriter.security_header, "MQDMPR-3.1.7.1.32.default-provider-flag-clear",
    "MQMQ-2.2.20.6.provider-absent",
)  # fmt: skip
def default_provider_with_provider(plain, self, fields):
    """Flags.DE says default provider although ProviderInfo names another one."""
    header = plain(fields)
    return bytes([header[0] | lay.SECURITY_DEFAULT_PROVIDER]) + header[1:] if header else header


@fault("provider-name-without-null", PacketWriter.provider_info, "MQMQ-2.2.20.6.provider-name")
def provider_name_without_null(plain, self, kind, name):
    """ProviderName ends with its last character."""
    return plain(kind, name)[:-2]


@fault(
    "sender-types-swapped", PacketWriter.security_header, "MQMQ-2.2.20.6.sender-id-sid",
    "MQMQ-2.2.20.6.sender-id-guid", "MQDMPR-3.1.7.1.32.sender-identifier-type-sid",
    "MQDMPR-3.1.7.1.32.sender-identifier-type-queue-manager-identifier",
)  # fmt: skip
def sender_types_swapped(plain, self, fields):
    """Flags.ST says queue manager where SecurityID is a SID, and SID where it is a GUID."""
    header = plain(fields)
    if not header or header[0] & lay.SECURITY_SENDER == 0:
        return header
    return bytes([header[0] ^ 3]) + header[1:]


@fault("encrypted-flag-never-set", PacketWriter.security_header, "MQDMPR-3.1.7.1.32.encrypted-flag")
def encrypted_flag_never_set(plain, self, fields):
    """Flags.EB is clear whatever the privacy level."""
    header = plain(fields)
    return bytes([header[0] & ~lay.SECURITY_ENCRYPTED]) + header[1:] if header else header


@fault(
    "authentication-level-sent", PacketWriter.security_header, "MQMQ-2.2.20.6.signature-type",
    "MQDMPR-3.1.7.1.32.security-header-flags-as-zero",
)  # fmt: skip
def authentication_level_sent(plain, self, fields):
    """Flags.AS tells the authentication level, which is for the receiver to find out."""
    header = plain(fields)
    level = _LEVELS[fields.choice("authentication_level", _LEVEL_NAMES)]
    return header[:1] + bytes([header[1] | level]) + header[2:] if header else header


@fault(
    "debug-queue-type-private", "writer.debug_header", "MQMQ-2.2.20.8.queue-type",
    "MQDMPR-3.1.7.1.32.debug-header-flags-qt-set",
)  # fmt: skip
def debug_queue_type_private(plain, self, fields):
    """Flags.QT of a DebugHeader with a queue is 2."""
    header = plain(fields)
    return b"\x02" + header[1:] if len(header) > lay.DEBUG.size else header


@fault(
    "debug-header-unannounced", "writer.trace_flags", "MQDMPR-3.1.7.1.30.debug-header-flag",
    "MQDMPR-3.1.7.1.32.base-header-flags-dh", "MQMQ-2.2.19.1.trace-debug-header", "MQMQ-2.2.19.1.packet-size-headers",
)  # fmt: skip
def debug_header_unannounced(plain, self):
    """A message that is traced has a DebugHeader, and Flags.DH is clear."""
    return lay.BASE_TRACE


@fault(
    "debug-reserved-checked", "reader.debug", "MQMQ-2.2.20.8.flags-reserved-ignored", "MQMQ-2.2.20.8.reserved-ignored"
)
def debug_reserved_checked(plain, self, source, message):
    """A packet is refused whose DebugHeader has anything in its unused bits or its reserved field."""
    flags, reserved = struct.unpack("<HH", source.peek(4).ljust(4, b"\0"))
    require(flags < 4 and reserved == 0)
    plain(source, message)


@fault("session-window-zero", "writer.session_header", "MQMQ-2.2.20.4.window-size-range")
def session_window_zero(plain, self, fields):
    """WindowSize is 0, whatever the session has."""
    header = plain(fields)
    return header[:12] + bytes(2) + header[14:]


@fault(
    "recoverable-ack-bits-shifted", "writer.session_header", "MQMQ-2.2.20.4.recoverable-ack-flags-layout",
    "MQMQ-2.2.20.4.recoverable-ack-first-bit",
)  # fmt: skip
def recoverable_ack_bits_shifted(plain, self, fields):
    """Bit 0 of RecoverableMsgAckFlags stands for the message behind RecoverableMsgAckSeqNumber."""
    header = bytearray(plain(fields))
    bits = int.from_bytes(header[4:8], "little")
    header[4:8] = (bits >> 1).to_bytes(4, "little")
    return bytes(header)


@fault(
    "session-numbers-swapped", "writer.session_header", "MQMQ-2.2.20.4.ack-sequence-number-layout",
    "MQMQ-2.2.20.4.recoverable-ack-number-layout",
)  # fmt: skip
def session_numbers_swapped(plain, self, fields):
    """RecoverableMsgAckSeqNumber stands in front of AckSequenceNumber."""
    header = plain(fields)
    return header[2:4] + header[:2] + header[4:]
