"""Faults of reading and of writing packets (MS-MQMQ 2.2.18 to 2.2.20, MS-MQDMPR 3.1.7.1.30 to .32)."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable

from conformance.embedded import packet_layout as lay
from conformance.embedded.delivery import NULL_CORRELATION
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import also, fault, row
from conformance.embedded.packet_layout import Bytes, require
from conformance.embedded.packet_reading import Json, PacketReader
from conformance.embedded.packet_writing import Fields, PacketWriter
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_PROPERTY_VALUE

Alter = Callable[[dict[str, Json]], None]


class _Misreading(PacketReader):
    alter: Alter

    def message(self, packet: bytes) -> dict[str, Json]:
        message = super().message(packet)
        type(self).alter(message)
        return message


def _dropped(*names: str) -> Alter:
    def alter(message: dict[str, Json]) -> None:
        for name in names:
            message.pop(name, None)

    return alter


def _changed(name: str, change: Callable[[Json], Json]) -> Alter:
    def alter(message: dict[str, Json]) -> None:
        if name in message:
            message[name] = change(message[name])

    return alter


def _marks(message: dict[str, Json]) -> None:
    transaction = message.get("transaction")
    if transaction:
        transaction["first"], transaction["last"] = transaction["last"], transaction["first"]


def _without_end(text: str) -> str:
    return base64.b64encode(base64.b64decode(text)[:-1]).decode("ascii")


_OF: tuple[tuple[str, str, tuple[str, ...], Alter], ...] = (
    (
        "reads-time-to-reach-queue-short",
        "The time to reach the queue is read from the lower half of its field.",
        (
            "MQDMPR-3.1.7.1.31.time-to-reach-queue-attribute",
            "MQMQ-2.2.19.1.time-to-reach-queue-layout",
        ),
        _changed("time_to_reach_queue", lambda seconds: seconds & 0xFFFF),
    ),
    (
        "reads-no-hop-count",
        "The hop count of a packet is read as 0.",
        ("MQMQ-2.2.19.2.flags-rc-layout",),
        _changed("hop_count", lambda count: 0),
    ),
    (
        "reads-transaction-marks-swapped",
        "The first message of a transaction is read as its last, and the last as its first.",
        (
            "MQDMPR-3.1.7.1.31.first-in-transaction-attribute",
            "MQDMPR-3.1.7.1.31.last-in-transaction-attribute",
        ),
        _marks,
    ),
    (
        "reads-no-certificate",
        "The sender's certificate is passed over.",
        (
            "MQDMPR-3.1.7.1.31.sender-certificate-attribute",
            "MQDMPR-3.1.7.1.31.security-fields",
        ),
        _dropped("sender_certificate"),
    ),
    (
        "reads-no-symmetric-key",
        "The symmetric key of a message is passed over.",
        (
            "MQDMPR-3.1.7.1.31.symmetric-key-attribute",
            "MQDMPR-3.1.7.1.31.security-fields",
        ),
        _dropped("symmetric_key"),
    ),
    (
        "reads-application-tag-short",
        "The application tag is read from the lower half of its field.",
        (
            "MQDMPR-3.1.7.1.31.app-specific-attribute",
            "MQMQ-2.2.19.3.application-tag-ignored",
            "MQMQ-2.2.19.3.application-tag-layout",
        ),
        _changed("application_tag", lambda tag: tag & 0xFFFF),
    ),
    (
        "reads-body-without-its-end",
        "The last byte of a body is not read.",
        (
            "MQDMPR-3.1.7.1.31.body",
            "MQDMPR-3.1.7.1.31.body-attribute",
        ),
        _changed("body", _without_end),
    ),
    (
        "reads-no-destination-list",
        "The destinations of a MultiQueueFormatHeader are passed over.",
        ("MQDMPR-3.1.7.1.31.destination-multi-queue-format-name-attribute",),
        _dropped("destinations"),
    ),
    (
        "reads-no-administration-list",
        "The administration queues of a MultiQueueFormatHeader are passed over.",
        ("MQDMPR-3.1.7.1.31.administration-multi-queue-format-name-attribute",),
        _dropped("administration_queues"),
    ),
    (
        "reads-no-response-list",
        "The response queues of a MultiQueueFormatHeader are passed over.",
        ("MQDMPR-3.1.7.1.31.response-multi-queue-format-name-attribute",),
        _dropped("response_queues"),
    ),
    (
        "reads-no-multiple-signature",
        "The signature of a MultiQueueFormatHeader is passed over.",
        ("MQDMPR-3.1.7.1.31.multiple-destination-signature-attribute",),
        _dropped("multiple_destination_signature"),
    ),
    (
        "reads-none-as-sig10",
        "The authentication level of a message without signature is read as Sig10.",
        ("MQDMPR-3.1.7.1.31.authentication-level-none",),
        _changed("authentication_level", lambda told: "sig10" if told == "none" else told),
    ),
    (
        "reads-no-correlation",
        "The correlation identifier of a message is passed over.",
        (
            "MQDMPR-3.1.7.1.31.correlation-identifier-attribute",
            "MQMQ-2.2.19.3.correlation-id-ignored",
        ),
        _changed("correlation_identifier", lambda told: NULL_CORRELATION),
    ),
)


@fault(
    "refuses-packets-without-body", PacketReader.message, "MQMQ-2.2.19.3.message-body-absent", "MQDMPR-3.1.7.1.31.reads"
)
def refuses_packets_without_body(plain, self, packet):
    """A packet is refused whose message has an empty body."""
    message = plain(packet)
    require(bool(message["body"]))
    return message


@fault("reads-priority-of-transactional", PacketReader.message, "MQDMPR-3.1.7.1.32.base-header-flags-pr-ignored")
def reads_priority_of_transactional(plain, self, packet):
    """A transactional message has the priority its packet tells, not 0."""
    return {**plain(packet), "priority": packet[2] & 7}


for _name, _story, _breaks, _alter in _OF:
    row(__name__, "reader", _name, _story, _breaks, subclass_of=_Misreading, alter=staticmethod(_alter))


@fault(
    "response-queue-on-source",
    PacketReader._queue,
    "MQMQ-2.2.19.2.response-queue-admin-host",
    "MQDMPR-3.1.7.1.31.response-queue-type-private-queue-on-admin",
    "MQDMPR-3.1.7.1.31.response-queue-type-attribute",
)
def response_queue_on_source(plain, self, source, kind, origin, manager, admin):
    """A response queue on the host of the administration queue is read as one on the host of the sender."""
    return plain(source, lay.ON_SOURCE if kind == lay.ON_ADMIN else kind, origin, manager, admin)


@fault(
    "last-destination-left-out",
    "writer.address_header",
    "MQMQ-2.2.20.1.destination-complete",
    "MQDMPR-3.1.7.1.32.multi-queue-format-header-destination",
)
def last_destination_left_out(plain, self, identifier, names):
    """The last of several destinations is not in the list of them."""
    destinations = identifier == lay.MQF_DESTINATION and len(names) > 1
    return plain(identifier, names[:-1] if destinations else names)


@fault("reads-no-connector-type", PacketReader.message, "MQMQ-2.2.19.2.connector-type-ignored")
def reads_no_connector_type(plain, self, packet):
    """The connector type of a message is passed over."""
    message = plain(packet)
    message.pop("connector_type", None)
    return message


@fault(
    "reads-no-connector",
    PacketReader._transaction,
    "MQDMPR-3.1.7.1.31.connector-queue-manager-identifier-attribute",
    "MQMQ-2.2.20.5.connector-ignored",
)
def reads_no_connector(plain, self, source):
    """The connector of a transactional message is passed over."""
    read = plain(source)
    read.pop("connector_queue_manager", None)
    return read


# Name, story, what it breaks of MS-MQMQ and of MS-MQDMPR, the part and its subclass.
BASE_UNUSED = 0xFEC0
USER_UNUSED = 1 << 7 | 1 << 24 | 3 << 26 | 7 << 29
PROPERTIES_UNUSED = 0xF0
SECURITY_UNUSED = 0xF000
USER_FLAGS_AT = lay.BASE.size + lay.USER.size - 4


def _number(source: Bytes, size: int) -> int:
    """The number that comes next, left where it is."""
    return int.from_bytes(source.peek(size), "little")


def _require_zeros(source: Bytes, used: int) -> None:
    """Refuse anything but zeros between the end of what comes next, so many bytes long, and a multiple of four."""
    behind = source.peek(used + -used % 4)[used:]
    require(not any(behind))


@fault("base-flags-checked", PacketReader.message, "MQMQ-2.2.19.1.flags-reserved-ignored")
def base_flags_checked(plain, self, packet):
    """A packet is refused that has a reserved bit set in BaseHeader.Flags."""
    require(not int.from_bytes(packet[2:4], "little") & BASE_UNUSED)
    return plain(packet)


@fault("base-reserved-checked", PacketReader.message, "MQMQ-2.2.19.1.reserved-ignored")
def base_reserved_checked(plain, self, packet):
    """A packet is refused whose BaseHeader.Reserved is not 0."""
    require(packet[1:2] == b"\0")
    return plain(packet)


@fault("user-flags-checked", PacketReader.message, "MQMQ-2.2.19.2.flags-reserved-ignored")
def user_flags_checked(plain, self, packet):
    """A packet is refused that has a reserved bit set in UserHeader.Flags."""
    require(not int.from_bytes(packet[USER_FLAGS_AT : USER_FLAGS_AT + 4], "little") & USER_UNUSED)
    return plain(packet)


@fault("properties-flags-checked", PacketReader._properties, "MQMQ-2.2.19.3.flags-unused-ignored")
def properties_flags_checked(plain, self, source, message, *, encrypted, signed):
    """A packet is refused that has one of the upper four bits set in MessagePropertiesHeader.Flags."""
    require(not _number(source, 1) & PROPERTIES_UNUSED)
    plain(source, message, encrypted=encrypted, signed=signed)


@fault("properties-padding-checked", PacketReader._properties, "MQMQ-2.2.19.3.padding-ignored")
def properties_padding_checked(plain, self, source, message, *, encrypted, signed):
    """A packet is refused whose body is followed by padding that is not 0."""
    header = source.peek(lay.PROPERTIES.size)
    if len(header) == lay.PROPERTIES.size:
        _, label_units, _, _, _, _, size, allocated, _, _, _, extension = lay.PROPERTIES.unpack(header)
        body = allocated if encrypted else size
        _require_zeros(source, lay.PROPERTIES.size + 2 * label_units + extension + body)
    plain(source, message, encrypted=encrypted, signed=signed)


@fault("security-flags-checked", PacketReader._security, "MQMQ-2.2.20.6.flags-reserved-ignored")
def security_flags_checked(plain, self, source, message):
    """A packet is refused that has one of the upper four bits set in SecurityHeader.Flags."""
    require(not _number(source, 2) & SECURITY_UNUSED)
    return plain(source, message)


@fault("session-reserved-checked", "reader.session", "MQMQ-2.2.20.4.reserved-ignored")
def session_reserved_checked(plain, self, source):
    """A packet is refused whose SessionHeader ends with anything but 0."""
    require(source.peek(lay.SESSION.size)[-2:] == bytes(2))
    return plain(source)


@fault("signature-reserved-checked", "reader.signature_header", "MQMQ-2.2.20.3.reserved-ignored")
def signature_reserved_checked(plain, self, source):
    """A packet is refused whose MQFSignatureHeader has anything in its reserved field."""
    require(source.peek(4)[2:] == bytes(2))
    return plain(source)


@fault("direct-padding-checked", PacketReader._direct, "MQMQ-2.2.18.1.5.2.padding-any")
def direct_padding_checked(plain, self, source):
    """A packet is refused where padding that is not 0 follows a direct format name."""
    _require_zeros(source, 2 + _number(source, 2))
    return plain(source)


@fault("element-padding-checked", "reader.element", "MQMQ-2.2.18.1.4.format-name-padding")
def element_padding_checked(plain, self, source, *, public_padded):
    """A packet is refused where padding that is not 0 stands in front of a name in a list."""
    padded = (lay.ELEMENT_TYPES["private"], lay.ELEMENT_TYPES["distribution_list"])
    if _number(source, 2) in padded:
        require(not any(source.peek(2 + -(source.at + 2) % 4)[2:]))
    return plain(source, public_padded=public_padded)


class _ListPadding(PacketReader):
    looked_at: tuple[int, ...] = (lay.MQF_DESTINATION, lay.MQF_ADMINISTRATION, lay.MQF_RESPONSE)

    def address_header(self, source: Bytes, expected: int) -> list[str]:
        if expected in self.looked_at:
            _require_zeros(source, _number(source, 4))
        return super().address_header(source, expected)


@fault("destination-padding-checked", "reader", "MQMQ-2.2.20.1.destination-padding-any")
class DestinationPaddingChecked(_ListPadding):
    """A packet is refused where padding that is not 0 follows the list of destinations."""

    looked_at = (lay.MQF_DESTINATION,)


@fault("administration-padding-checked", "reader", "MQMQ-2.2.20.1.administration-padding-any")
class AdministrationPaddingChecked(_ListPadding):
    """A packet is refused where padding that is not 0 follows the list of administration queues."""

    looked_at = (lay.MQF_ADMINISTRATION,)


@fault("response-padding-checked", "reader", "MQMQ-2.2.20.1.response-padding-any")
class ResponsePaddingChecked(_ListPadding):
    """A packet is refused where padding that is not 0 follows the list of response queues."""

    looked_at = (lay.MQF_RESPONSE,)


@fault(
    "accepts-any-destination-type",
    PacketReader.message,
    "MQMQ-2.2.19.2.destination-type-refused",
    "MQMQ-2.2.19.2.destination-type",
)
def accepts_any_destination_type(plain, self, packet):
    """A packet whose UserHeader.Flags.DQ names no type a destination can have is read as one of a direct name."""
    return plain(_retyped(packet, lay.USER_DESTINATION_SHIFT, (0, 1, 2, 4, 6), lay.DIRECT))


@fault(
    "accepts-any-administration-type",
    PacketReader.message,
    "MQMQ-2.2.19.2.admin-type-refused",
    "MQMQ-2.2.19.2.admin-type",
)
def accepts_any_administration_type(plain, self, packet):
    """A packet whose UserHeader.Flags.AQ names no type of administration queue is read as one without any."""
    return plain(_retyped(packet, lay.USER_ADMIN_SHIFT, (lay.SAME_AS_ADMIN, lay.ON_ADMIN), lay.NONE))


def _retyped(packet: bytes, shift: int, types: tuple[int, ...], taken_for: int) -> bytes:
    """The packet, with a queue type of these in UserHeader.Flags replaced by another one."""
    flags = int.from_bytes(packet[USER_FLAGS_AT : USER_FLAGS_AT + 4], "little")
    if flags >> shift & 7 not in types:
        return packet
    flags = flags & ~(7 << shift) | taken_for << shift
    return packet[:USER_FLAGS_AT] + flags.to_bytes(4, "little") + packet[USER_FLAGS_AT + 4 :]


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
