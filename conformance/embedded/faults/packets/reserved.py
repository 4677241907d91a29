"""Faults of a reader that looks at what it has to pass over: reserved fields and padding (MS-MQMQ 2.2.18 to 2.2.20)."""

from __future__ import annotations

from conformance.embedded import packet_layout as lay
from conformance.embedded.faults.base import fault
from conformance.embedded.packet_bytes import Bytes, require
from conformance.embedded.packet_read import PacketReader

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
