"""Faults of the SecurityHeader, DebugHeader and SessionHeader (MS-MQMQ 2.2.20.4, 2.2.20.6, 2.2.20.8)."""

from __future__ import annotations

import struct

from conformance.embedded import packet_layout as lay
from conformance.embedded.faults.base import Fault
from conformance.embedded.packet_bytes import Bytes, require
from conformance.embedded.packet_fields import Fields
from conformance.embedded.packet_read import Json, PacketReader
from conformance.embedded.packet_write import PacketWriter

_LEVELS = (0, 1, 3, 5)
_LEVEL_NAMES = ("none", "sig10", "sig20", "sig30")


class _SwappedSizes(PacketWriter):
    def security_header(self, fields: Fields) -> bytes:
        header = super().security_header(fields)
        return header[:4] + header[6:8] + header[4:6] + header[8:] if header else header


class SecuritySizesSwapped(Fault):
    """EncryptionKeySize has the size of the signature, SignatureSize that of the key."""

    name = "security-sizes-swapped"
    breaks = (
        "MQMQ-2.2.20.6.encryption-key-size",
        "MQMQ-2.2.20.6.signature-size",
        "MQMQ-2.2.20.6.encryption-key-size-layout",
        "MQMQ-2.2.20.6.signature-size-layout",
    )
    replaces = ("writer", _SwappedSizes)


class _PackedItems(PacketWriter):
    def security_items(self, items: list[bytes]) -> bytes:
        return b"".join(items).ljust(len(super().security_items(items)), b"\0")


class SecurityItemsPacked(Fault):
    """The items of SecurityData follow one another without padding; all of it comes at the end."""

    name = "security-items-packed"
    breaks = ("MQMQ-2.2.20.6.security-data-aligned",)
    replaces = ("writer", _PackedItems)


class _AlwaysDefault(PacketWriter):
    def security_header(self, fields: Fields) -> bytes:
        header = super().security_header(fields)
        return bytes([header[0] | lay.SECURITY_DEFAULT_PROVIDER]) + header[1:] if header else header


class DefaultProviderWithProvider(Fault):
    """Flags.DE says default provider although ProviderInfo names another one."""

    name = "default-provider-with-provider"
    breaks = (
        "MQDMPR-3.1.7.1.32.default-provider-flag-clear",
        "MQMQ-2.2.20.6.provider-absent",
    )
    replaces = ("writer", _AlwaysDefault)


class _NoNull(PacketWriter):
    def provider_info(self, kind: int, name: str) -> bytes:
        return super().provider_info(kind, name)[:-2]


class ProviderNameWithoutNull(Fault):
    """ProviderName ends with its last character."""

    name = "provider-name-without-null"
    breaks = ("MQMQ-2.2.20.6.provider-name",)
    replaces = ("writer", _NoNull)


class _SidAsManager(PacketWriter):
    def security_header(self, fields: Fields) -> bytes:
        header = super().security_header(fields)
        if not header or header[0] & lay.SECURITY_SENDER == 0:
            return header
        return bytes([header[0] ^ 3]) + header[1:]


class SenderTypesSwapped(Fault):
    """Flags.ST says queue manager where SecurityID is a SID, and SID where it is a GUID."""

    name = "sender-types-swapped"
    breaks = (
        "MQMQ-2.2.20.6.sender-id-sid",
        "MQMQ-2.2.20.6.sender-id-guid",
        "MQDMPR-3.1.7.1.32.sender-identifier-type-sid",
        "MQDMPR-3.1.7.1.32.sender-identifier-type-queue-manager-identifier",
    )
    replaces = ("writer", _SidAsManager)


class _NeverEncrypted(PacketWriter):
    def security_header(self, fields: Fields) -> bytes:
        header = super().security_header(fields)
        return bytes([header[0] & ~lay.SECURITY_ENCRYPTED]) + header[1:] if header else header


class EncryptedFlagNeverSet(Fault):
    """Flags.EB is clear whatever the privacy level."""

    name = "encrypted-flag-never-set"
    breaks = ("MQDMPR-3.1.7.1.32.encrypted-flag",)
    replaces = ("writer", _NeverEncrypted)


class _LevelOnWire(PacketWriter):
    def security_header(self, fields: Fields) -> bytes:
        header = super().security_header(fields)
        level = _LEVELS[fields.choice("authentication_level", _LEVEL_NAMES)]
        return header[:1] + bytes([header[1] | level]) + header[2:] if header else header


class AuthenticationLevelSent(Fault):
    """Flags.AS tells the authentication level, which is for the receiver to find out."""

    name = "authentication-level-sent"
    breaks = (
        "MQMQ-2.2.20.6.signature-type",
        "MQDMPR-3.1.7.1.32.security-header-flags-as-zero",
    )
    replaces = ("writer", _LevelOnWire)


class _SecondType(PacketWriter):
    def debug_header(self, fields: Fields) -> bytes:
        header = super().debug_header(fields)
        return b"\x02" + header[1:] if len(header) > lay.DEBUG.size else header


class DebugQueueTypePrivate(Fault):
    """Flags.QT of a DebugHeader with a queue is 2."""

    name = "debug-queue-type-private"
    breaks = (
        "MQMQ-2.2.20.8.queue-type",
        "MQDMPR-3.1.7.1.32.debug-header-flags-qt-set",
    )
    replaces = ("writer", _SecondType)


class _Unannounced(PacketWriter):
    def trace_flags(self) -> int:
        return lay.BASE_TRACE


class DebugHeaderUnannounced(Fault):
    """A message that is traced has a DebugHeader, and Flags.DH is clear."""

    name = "debug-header-unannounced"
    breaks = (
        "MQDMPR-3.1.7.1.30.debug-header-flag",
        "MQDMPR-3.1.7.1.32.base-header-flags-dh",
        "MQMQ-2.2.19.1.trace-debug-header",
        "MQMQ-2.2.19.1.packet-size-headers",
    )
    replaces = ("writer", _Unannounced)


class _ParticularDebug(PacketReader):
    def debug(self, source: Bytes, message: dict[str, Json]) -> None:
        flags, reserved = struct.unpack("<HH", source.peek(4).ljust(4, b"\0"))
        require(flags < 4 and reserved == 0)
        super().debug(source, message)


class DebugReservedChecked(Fault):
    """A packet is refused whose DebugHeader has anything in its unused bits or its reserved field."""

    name = "debug-reserved-checked"
    breaks = (
        "MQMQ-2.2.20.8.flags-reserved-ignored",
        "MQMQ-2.2.20.8.reserved-ignored",
    )
    replaces = ("reader", _ParticularDebug)


class _NoWindow(PacketWriter):
    def session_header(self, fields: Fields) -> bytes:
        header = super().session_header(fields)
        return header[:12] + bytes(2) + header[14:]


class SessionWindowZero(Fault):
    """WindowSize is 0, whatever the session has."""

    name = "session-window-zero"
    breaks = ("MQMQ-2.2.20.4.window-size-range",)
    replaces = ("writer", _NoWindow)


class _ShiftedBits(PacketWriter):
    def session_header(self, fields: Fields) -> bytes:
        header = bytearray(super().session_header(fields))
        bits = int.from_bytes(header[4:8], "little")
        header[4:8] = (bits >> 1).to_bytes(4, "little")
        return bytes(header)


class RecoverableAckBitsShifted(Fault):
    """Bit 0 of RecoverableMsgAckFlags stands for the message behind RecoverableMsgAckSeqNumber."""

    name = "recoverable-ack-bits-shifted"
    breaks = (
        "MQMQ-2.2.20.4.recoverable-ack-flags-layout",
        "MQMQ-2.2.20.4.recoverable-ack-first-bit",
    )
    replaces = ("writer", _ShiftedBits)


class _SwappedAcknowledgements(PacketWriter):
    def session_header(self, fields: Fields) -> bytes:
        header = super().session_header(fields)
        return header[2:4] + header[:2] + header[4:]


class SessionNumbersSwapped(Fault):
    """RecoverableMsgAckSeqNumber stands in front of AckSequenceNumber."""

    name = "session-numbers-swapped"
    breaks = (
        "MQMQ-2.2.20.4.ack-sequence-number-layout",
        "MQMQ-2.2.20.4.recoverable-ack-number-layout",
    )
    replaces = ("writer", _SwappedAcknowledgements)
