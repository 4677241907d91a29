"""Faults of packets written to the wire."""

from __future__ import annotations

from conformance.embedded import packet_layout as lay
from conformance.embedded.faults.base import fault
from conformance.embedded.packet_write import PacketWriter


@fault("big-endian-packet-size", PacketWriter.base_header, "MQMQ-2.2.19.1.packet-size", "MQDMPR-3.1.7.1.32.packet-size")
def big_endian_packet_size(plain, self, flags, packet_size, time_to_reach_queue):
    """BaseHeader.PacketSize is written most significant byte first."""
    header = plain(flags, packet_size, time_to_reach_queue)
    return header[:8] + packet_size.to_bytes(4, "big") + header[12:]


@fault("signature-wrong-endian", PacketWriter.base_header, "MQMQ-2.2.19.1.signature")
def signature_wrong_endian(plain, self, flags, packet_size, time_to_reach_queue):
    """BaseHeader.Signature is written most significant byte first, `ROIL` on the wire."""
    header = plain(flags, packet_size, time_to_reach_queue)
    return header[:4] + header[4:8][::-1] + header[8:]


@fault("label-length-without-nul", PacketWriter.label_length, "MQMQ-2.2.19.3.label-length")
def label_length_without_nul(plain, self, label):
    """LabelLength leaves out the terminating null, as MS-MQDMPR 3.1.7.1.32 can be misread; what follows is shifted."""
    return max(len(label) // 2 - 1, 0)


@fault("message-properties-unpadded", PacketWriter.pad_properties, "MQMQ-2.2.19.3.padding")
def message_properties_unpadded(plain, self, header):
    """The MessagePropertiesHeader ends where the body ends, on whatever byte that is."""
    return header


@fault(
    "express-flag-inverted", PacketWriter.delivery_mode, "MQMQ-2.2.19.2.express", "MQMQ-2.2.19.2.recoverable",
    "MQDMPR-3.1.7.1.32.user-header-flags-dm",
)  # fmt: skip
def express_flag_inverted(plain, self, delivery):
    """UserHeader.Flags.DM says recoverable for an express message and the other way round."""
    return 1 - delivery


@fault("direct-prefix-on-wire", PacketWriter.direct_name, "MQMQ-2.2.18.1.5.2.direct-format-name")
def direct_prefix_on_wire(plain, self, name):
    """Direct format names keep their `DIRECT=` on the wire."""
    text = name.text.encode("utf-16-le", "surrogatepass") + b"\0\0"
    return lay.padded(len(text).to_bytes(2, "little") + text)


@fault(
    "transactional-priority-kept", PacketWriter.priority, "MQMQ-2.2.19.1.transactional-priority-zero",
    "MQDMPR-3.1.7.1.32.base-header-flags-pr-transactional",
)  # fmt: skip
def transactional_priority_kept(plain, self, priority, *, in_transaction):
    """A transactional message goes out with the priority the application asked for; it has to be 0."""
    return priority


@fault("label-length-rounded-up", PacketWriter.label_length, "MQMQ-2.2.19.3.label-length")
def label_length_rounded_up(plain, self, label):
    """LabelLength of a label with an even number of characters counts a WCHAR that is not there."""
    return (len(label) + 3) // 4 * 2
