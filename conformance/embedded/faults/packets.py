"""Faults of what is written on the wire."""

from __future__ import annotations

from conformance.embedded import packet_layout as lay
from conformance.embedded.faults.base import Fault
from conformance.embedded.names import Name
from conformance.embedded.packet_write import PacketWriter


class _BigEndianSize(PacketWriter):
    def base_header(self, flags: int, packet_size: int, time_to_reach_queue: int) -> bytes:
        header = super().base_header(flags, packet_size, time_to_reach_queue)
        return header[:8] + packet_size.to_bytes(4, "big") + header[12:]


class BigEndianPacketSize(Fault):
    """BaseHeader.PacketSize is written most significant byte first."""

    name = "big-endian-packet-size"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.19.1.packet-size",
        "MQMQ-2.2.19.1.packet-size-maximum",
        "MQMQ-2.2.19.1.packet-size-headers",
        "MQMQ-2.2.19.1.packet-size-session-header",
    )
    replaces = ("writer", _BigEndianSize)


class _ReversedSignature(PacketWriter):
    def base_header(self, flags: int, packet_size: int, time_to_reach_queue: int) -> bytes:
        header = super().base_header(flags, packet_size, time_to_reach_queue)
        return header[:4] + header[4:8][::-1] + header[8:]


class SignatureWrongEndian(Fault):
    """BaseHeader.Signature is written most significant byte first, `ROIL` on the wire."""

    name = "signature-wrong-endian"
    suite = "packets"
    breaks = ("MQMQ-2.2.19.1.signature",)
    replaces = ("writer", _ReversedSignature)


class _ShortLabelLength(PacketWriter):
    def label_length(self, label: bytes) -> int:
        return max(len(label) // 2 - 1, 0)


class LabelLengthWithoutNul(Fault):
    """LabelLength leaves out the terminating null, as MS-MQDMPR 3.1.7.1.32 can be misread; what follows is shifted."""

    name = "label-length-without-nul"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.19.3.label-length",
        "MQMQ-2.2.19.3.label-format",
        "MQMQ-2.2.19.3.padding",
        "MQMQ-2.2.19.1.packet-size",
        "MQMQ-2.2.19.1.packet-size-headers",
        "MQDMPR-3.1.7.1.32.properties-fields",
        "MQDMPR-3.1.7.1.32.body",
    )
    replaces = ("writer", _ShortLabelLength)


class _Unpadded(PacketWriter):
    def pad_properties(self, header: bytes) -> bytes:
        return header


class MessagePropertiesUnpadded(Fault):
    """The MessagePropertiesHeader ends where the body ends, on whatever byte that is."""

    name = "message-properties-unpadded"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.19.3.padding",
        "MQMQ-2.2.19.1.packet-size",
        "MQMQ-2.2.19.1.packet-size-headers",
        "MQMQ-2.2.19.1.debug-header-present",
    )
    replaces = ("writer", _Unpadded)


class _InvertedDelivery(PacketWriter):
    def delivery_mode(self, delivery: int) -> int:
        return 1 - delivery


class ExpressFlagInverted(Fault):
    """UserHeader.Flags.DM says recoverable for an express message and the other way round."""

    name = "express-flag-inverted"
    suite = "packets"
    breaks = (
        "MQMQ-2.2.19.2.flags-dm-layout",
        "MQMQ-2.2.19.2.express",
        "MQMQ-2.2.19.2.recoverable",
        "MQMQ-2.2.19.2.transactional-recoverable",
        "MQDMPR-3.1.7.1.32.user-header-flags-dm",
        "MQDMPR-3.1.7.1.32.user-header-fields",
    )
    replaces = ("writer", _InvertedDelivery)


class _PrefixedNames(PacketWriter):
    def direct_name(self, name: Name) -> bytes:
        text = name.text.encode("utf-16-le", "surrogatepass") + b"\0\0"
        return lay.padded(len(text).to_bytes(2, "little") + text)


class DirectPrefixOnWire(Fault):
    """Direct format names keep their `DIRECT=` on the wire."""

    name = "direct-prefix-on-wire"
    suite = "packets"
    breaks = ("MQMQ-2.2.18.1.5.2.direct-format-name", "MQDMPR-3.1.7.1.32.user-header-fields")
    replaces = ("writer", _PrefixedNames)


class _KeptPriority(PacketWriter):
    def priority(self, priority: int, *, in_transaction: bool) -> int:
        return priority


class TransactionalPriorityKept(Fault):
    """A transactional message goes out with the priority the application asked for; it has to be 0."""

    name = "transactional-priority-kept"
    suite = "packets"
    breaks = ("MQMQ-2.2.19.1.transactional-priority-zero", "MQDMPR-3.1.7.1.32.base-header-fields")
    replaces = ("writer", _KeptPriority)


PACKET_FAULTS: tuple[type[Fault], ...] = (
    BigEndianPacketSize,
    SignatureWrongEndian,
    LabelLengthWithoutNul,
    MessagePropertiesUnpadded,
    ExpressFlagInverted,
    DirectPrefixOnWire,
    TransactionalPriorityKept,
)
