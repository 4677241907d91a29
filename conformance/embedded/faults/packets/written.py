"""Faults of packets written to the wire."""

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
    breaks = (
        "MQMQ-2.2.19.1.packet-size",
        "MQDMPR-3.1.7.1.32.packet-size",
    )
    replaces = ("writer", _BigEndianSize)


class _ReversedSignature(PacketWriter):
    def base_header(self, flags: int, packet_size: int, time_to_reach_queue: int) -> bytes:
        header = super().base_header(flags, packet_size, time_to_reach_queue)
        return header[:4] + header[4:8][::-1] + header[8:]


class SignatureWrongEndian(Fault):
    """BaseHeader.Signature is written most significant byte first, `ROIL` on the wire."""

    name = "signature-wrong-endian"
    breaks = ("MQMQ-2.2.19.1.signature",)
    replaces = ("writer", _ReversedSignature)


class _ShortLabelLength(PacketWriter):
    def label_length(self, label: bytes) -> int:
        return max(len(label) // 2 - 1, 0)


class LabelLengthWithoutNul(Fault):
    """LabelLength leaves out the terminating null, as MS-MQDMPR 3.1.7.1.32 can be misread; what follows is shifted."""

    name = "label-length-without-nul"
    breaks = ("MQMQ-2.2.19.3.label-length",)
    replaces = ("writer", _ShortLabelLength)


class _Unpadded(PacketWriter):
    def pad_properties(self, header: bytes) -> bytes:
        return header


class MessagePropertiesUnpadded(Fault):
    """The MessagePropertiesHeader ends where the body ends, on whatever byte that is."""

    name = "message-properties-unpadded"
    breaks = ("MQMQ-2.2.19.3.padding",)
    replaces = ("writer", _Unpadded)


class _InvertedDelivery(PacketWriter):
    def delivery_mode(self, delivery: int) -> int:
        return 1 - delivery


class ExpressFlagInverted(Fault):
    """UserHeader.Flags.DM says recoverable for an express message and the other way round."""

    name = "express-flag-inverted"
    breaks = (
        "MQMQ-2.2.19.2.express",
        "MQMQ-2.2.19.2.recoverable",
        "MQDMPR-3.1.7.1.32.user-header-flags-dm",
    )
    replaces = ("writer", _InvertedDelivery)


class _PrefixedNames(PacketWriter):
    def direct_name(self, name: Name) -> bytes:
        text = name.text.encode("utf-16-le", "surrogatepass") + b"\0\0"
        return lay.padded(len(text).to_bytes(2, "little") + text)


class DirectPrefixOnWire(Fault):
    """Direct format names keep their `DIRECT=` on the wire."""

    name = "direct-prefix-on-wire"
    breaks = ("MQMQ-2.2.18.1.5.2.direct-format-name",)
    replaces = ("writer", _PrefixedNames)


class _KeptPriority(PacketWriter):
    def priority(self, priority: int, *, in_transaction: bool) -> int:
        return priority


class TransactionalPriorityKept(Fault):
    """A transactional message goes out with the priority the application asked for; it has to be 0."""

    name = "transactional-priority-kept"
    breaks = (
        "MQMQ-2.2.19.1.transactional-priority-zero",
        "MQDMPR-3.1.7.1.32.base-header-flags-pr-transactional",
    )
    replaces = ("writer", _KeptPriority)


class _CountingPadding(PacketWriter):
    def label_length(self, label: bytes) -> int:
        return (len(label) + 3) // 4 * 2


class LabelLengthRoundedUp(Fault):
    """LabelLength of a label with an even number of characters counts a WCHAR that is not there."""

    name = "label-length-rounded-up"
    breaks = ("MQMQ-2.2.19.3.label-length",)
    replaces = ("writer", _CountingPadding)
