"""Faults of writing packets: fields, headers, several destinations (MS-MQMQ 2.2.19, 2.2.20, MS-MQDMPR 3.1.7.1.30)."""

from __future__ import annotations

import struct

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import also, fault
from conformance.embedded.packet_bytes import require
from conformance.embedded.packet_writing import Fields, PacketWriter
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_PROPERTY_VALUE


@fault(
    "writes-no-highest-priority", PacketWriter.priority, "MQDMPR-3.1.7.1.30.constructs",
    "MQDMPR-3.1.7.1.32.base-header-flags-pr",
)  # fmt: skip
def writes_no_highest_priority(plain, self, priority, *, in_transaction):
    """No packet is made of a message with priority 7."""
    if priority == 7 and not in_transaction:
        raise MqError(MQ_ERROR_ILLEGAL_PROPERTY_VALUE)
    return plain(priority, in_transaction=in_transaction)


class _FlagsWithout(PacketWriter):
    """Clears bits in UserHeader.Flags."""

    cleared: int

    def user_header(self, fields: Fields, *, with_transaction: bool, with_security: bool) -> bytes:
        header = super().user_header(fields, with_transaction=with_transaction, with_security=with_security)
        at = lay.USER.size - 4
        flags = int.from_bytes(header[at : at + 4], "little") & ~self.cleared
        return header[:at] + flags.to_bytes(4, "little") + header[at + 4 :]


class _NoMultipleFlag(_FlagsWithout):
    cleared = lay.USER_MULTIPLE


@fault(
    "multiple-header-missing", "writer", "MQDMPR-3.1.7.1.30.multi-queue-format-header",
    "MQDMPR-3.1.7.1.30.multi-queue-header-flag",
)  # fmt: skip
class MultipleHeaderMissing(_NoMultipleFlag):
    """The packet of a message to several queues is that of a message to one."""

    def multiple_header(self, fields: Fields) -> bytes:
        super().multiple_header(fields)
        return b""


fault(
    "multiple-header-unannounced", "writer", "MQDMPR-3.1.7.1.30.multi-queue-header-flag",
    "MQMQ-2.2.19.1.packet-size-headers", says="Flags.MQ is clear although the packet has a MultiQueueFormatHeader.",
)(_NoMultipleFlag)  # fmt: skip


@fault(
    "writes-transaction-marks-swapped", PacketWriter.transaction_header,
    "MQDMPR-3.1.7.1.32.transaction-header-flags-fm", "MQDMPR-3.1.7.1.32.transaction-header-flags-lm",
    "MQMQ-2.2.20.5.first-in-transaction", "MQMQ-2.2.20.5.last-in-transaction", "MQMQ-2.2.20.5.flags-fm-layout",
)  # fmt: skip
def writes_transaction_marks_swapped(plain, self, fields):
    """The first message of a transaction goes out as its last, and the last as its first."""
    header = plain(fields)
    first, last = header[0] & lay.TX_FIRST, header[0] & lay.TX_LAST
    flags = header[0] & ~(lay.TX_FIRST | lay.TX_LAST) | lay.TX_LAST * bool(first) | lay.TX_FIRST * bool(last)
    return bytes([flags]) + header[1:]


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


@fault("response-list-with-administration-id", "writer.address_header", "MQMQ-2.2.20.2.header-id")
def response_list_with_administration_id(plain, self, identifier, names):
    """The list of response queues has the HeaderID of the administration queues."""
    same = lay.MQF_ADMINISTRATION if identifier == lay.MQF_RESPONSE else identifier
    return plain(same, names)


@fault(
    "response-list-first", "writer.multiple_headers", "MQMQ-2.2.20.1.administration-layout",
    "MQMQ-2.2.20.1.response-layout",
)  # fmt: skip
def response_list_first(plain, self, headers, signature):
    """The list of response queues stands in front of that of the administration queues."""
    return plain([headers[0], headers[2], headers[1]], signature)


@fault("element-count-one-too-many", "writer.element_count", "MQMQ-2.2.20.2.element-count")
def element_count_one_too_many(plain, self, count):
    """ElementCount counts an end that is not there."""
    return count + 1


@fault("address-header-size-of-names", "writer.address_size", "MQMQ-2.2.20.2.header-size")
def address_header_size_of_names(plain, self, size):
    """HeaderSize counts the names and leaves the twelve bytes in front of them out."""
    return size - lay.MQF_ADDRESS.size


@fault("element-direct-with-count", "writer.element_direct", "MQMQ-2.2.18.1.4.1.layout")
def element_direct_with_count(plain, self, name):
    """A direct name in a list has a count in front, as one in the UserHeader has."""
    text = plain(name)
    return len(text).to_bytes(2, "little") + text


@fault("element-direct-with-prefix", "writer.element_direct", "MQMQ-2.2.18.1.4.1.direct-format-name")
def element_direct_with_prefix(plain, self, name):
    """A direct name in a list keeps its `DIRECT=`."""
    return "DIRECT=".encode("utf-16-le") + plain(name)


@fault(
    "distribution-list-as-public", "writer.element_type", "MQMQ-2.2.18.1.4.format-type-distribution-list",
    "MQMQ-2.2.18.1.4.format-type-public",
)  # fmt: skip
def distribution_list_as_public(plain, self, name):
    """A distribution list has the FormatType of a public queue, both being a GUID."""
    return 1 if name.kind == "distribution_list" else plain(name)


@fault(
    "elements-packed", "writer.element_padding", "MQMQ-2.2.18.1.4.format-name", "MQMQ-2.2.18.1.4.2.alignment",
    "MQMQ-2.2.18.1.7.2.source-queue-manager",
)  # fmt: skip
def elements_packed(plain, self, aligned):
    """Private queues and distribution lists follow their FormatType without padding."""
    return b""


@fault(
    "multiple-signature-size-first", "writer.signature_header", "MQMQ-2.2.20.3.id-layout", "MQMQ-2.2.20.3.size-layout",
    "MQMQ-2.2.20.3.reserved-layout", "MQMQ-2.2.20.3.id",
)  # fmt: skip
def multiple_signature_size_first(plain, self, signature):
    """The signature header begins with its size, as the headers of the lists do."""
    header = plain(signature)
    return header[4:8] + header[:4] + header[8:]


@fault(
    "soap-length-in-bytes", "writer.soap_length", "MQMQ-2.2.20.7.header-terminated", "MQMQ-2.2.20.7.body-terminated",
    "MQMQ-2.2.20.7.header-layout", "MQMQ-2.2.20.7.body-layout",
)  # fmt: skip
def soap_length_in_bytes(plain, self, data):
    """HeaderDataLength and BodyDataLength count bytes."""
    return len(data)


@fault("soap-body-with-header-id", "writer.soap_section", "MQMQ-2.2.20.7.body-section-id")
def soap_body_with_header_id(plain, self, identifier, text):
    """BodySectionID is that of the header section."""
    return plain(lay.SOAP_HEADER_SECTION, text)


@fault(
    "soap-behind-multiple", "writer.behind_properties", "MQMQ-2.2.20.soap-header-layout",
    "MQMQ-2.2.20.multi-queue-header-layout",
)  # fmt: skip
def soap_behind_multiple(plain, self, debug, soap, multiple):
    """The SoapHeader follows the MultiQueueFormatHeader."""
    return plain(debug, multiple, soap)


@fault(
    "optional-reserved-checked", "reader.soap_section", "MQMQ-2.2.20.7.reserved-ignored",
    "MQMQ-2.2.20.7.reserved1-ignored", "MQMQ-2.2.20.2.reserved-ignored",
)  # fmt: skip
def optional_reserved_checked(plain, self, source, expected):
    """A packet is refused whose SoapHeader or lists of names have anything in their reserved fields."""
    require(source.peek(4)[2:] == bytes(2))
    return plain(source, expected)


@also("optional-reserved-checked", "reader.address_header")
def optional_reserved_checked_address_header(plain, self, source, expected):
    require(source.peek(8)[6:] == bytes(2))
    return plain(source, expected)


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
