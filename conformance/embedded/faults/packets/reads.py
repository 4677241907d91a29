"""Faults of reading packets: attributes, optional fields, reserved fields and padding (MS-MQMQ 2.2.18 to 2.2.20)."""

from __future__ import annotations

import base64
from collections.abc import Callable

from conformance.embedded import packet_layout as lay
from conformance.embedded.faults.base import fault, row
from conformance.embedded.packet_bytes import Bytes, require
from conformance.embedded.packet_reading import Json, PacketReader
from conformance.embedded.sending import NULL_CORRELATION

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
