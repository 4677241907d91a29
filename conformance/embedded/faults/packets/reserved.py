"""Faults of a reader that looks at what it has to pass over: reserved fields and padding (MS-MQMQ 2.2.18 to 2.2.20)."""

from __future__ import annotations

from conformance.embedded import packet_layout as lay
from conformance.embedded.faults.base import fault
from conformance.embedded.packet_bytes import Bytes, require
from conformance.embedded.packet_read import Json, PacketReader

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


class _BaseFlags(PacketReader):
    def message(self, packet: bytes) -> dict[str, Json]:
        require(not int.from_bytes(packet[2:4], "little") & BASE_UNUSED)
        return super().message(packet)


class _BaseReserved(PacketReader):
    def message(self, packet: bytes) -> dict[str, Json]:
        require(packet[1:2] == b"\0")
        return super().message(packet)


class _UserFlags(PacketReader):
    def message(self, packet: bytes) -> dict[str, Json]:
        require(not int.from_bytes(packet[USER_FLAGS_AT : USER_FLAGS_AT + 4], "little") & USER_UNUSED)
        return super().message(packet)


class _PropertiesFlags(PacketReader):
    def _properties(self, source: Bytes, message: dict[str, Json], *, encrypted: bool, signed: bool) -> None:
        require(not _number(source, 1) & PROPERTIES_UNUSED)
        super()._properties(source, message, encrypted=encrypted, signed=signed)


class _PropertiesPadding(PacketReader):
    def _properties(self, source: Bytes, message: dict[str, Json], *, encrypted: bool, signed: bool) -> None:
        header = source.peek(lay.PROPERTIES.size)
        if len(header) == lay.PROPERTIES.size:
            _, label_units, _, _, _, _, size, allocated, _, _, _, extension = lay.PROPERTIES.unpack(header)
            body = allocated if encrypted else size
            _require_zeros(source, lay.PROPERTIES.size + 2 * label_units + extension + body)
        super()._properties(source, message, encrypted=encrypted, signed=signed)


class _SecurityFlags(PacketReader):
    def _security(self, source: Bytes, message: dict[str, Json]) -> tuple[bool, bool]:
        require(not _number(source, 2) & SECURITY_UNUSED)
        return super()._security(source, message)


class _SessionReserved(PacketReader):
    def session(self, source: Bytes) -> dict[str, Json]:
        require(source.peek(lay.SESSION.size)[-2:] == bytes(2))
        return super().session(source)


class _SignatureReserved(PacketReader):
    def signature_header(self, source: Bytes) -> bytes:
        require(source.peek(4)[2:] == bytes(2))
        return super().signature_header(source)


class _DirectPadding(PacketReader):
    def _direct(self, source: Bytes) -> str:
        _require_zeros(source, 2 + _number(source, 2))
        return super()._direct(source)


class _ElementPadding(PacketReader):
    def element(self, source: Bytes, *, public_padded: bool) -> str:
        padded = (lay.ELEMENT_TYPES["private"], lay.ELEMENT_TYPES["distribution_list"])
        if _number(source, 2) in padded:
            require(not any(source.peek(2 + -(source.at + 2) % 4)[2:]))
        return super().element(source, public_padded=public_padded)


class _ListPadding(PacketReader):
    looked_at: tuple[int, ...] = (lay.MQF_DESTINATION, lay.MQF_ADMINISTRATION, lay.MQF_RESPONSE)

    def address_header(self, source: Bytes, expected: int) -> list[str]:
        if expected in self.looked_at:
            _require_zeros(source, _number(source, 4))
        return super().address_header(source, expected)


class _DestinationPadding(_ListPadding):
    looked_at = (lay.MQF_DESTINATION,)


class _AdministrationPadding(_ListPadding):
    looked_at = (lay.MQF_ADMINISTRATION,)


class _ResponsePadding(_ListPadding):
    looked_at = (lay.MQF_RESPONSE,)


class _AnyDestination(PacketReader):
    def message(self, packet: bytes) -> dict[str, Json]:
        return super().message(_retyped(packet, lay.USER_DESTINATION_SHIFT, (0, 1, 2, 4, 6), lay.DIRECT))


class _AnyAdministration(PacketReader):
    def message(self, packet: bytes) -> dict[str, Json]:
        return super().message(_retyped(packet, lay.USER_ADMIN_SHIFT, (lay.SAME_AS_ADMIN, lay.ON_ADMIN), lay.NONE))


def _retyped(packet: bytes, shift: int, types: tuple[int, ...], taken_for: int) -> bytes:
    """The packet, with a queue type of these in UserHeader.Flags replaced by another one."""
    flags = int.from_bytes(packet[USER_FLAGS_AT : USER_FLAGS_AT + 4], "little")
    if flags >> shift & 7 not in types:
        return packet
    flags = flags & ~(7 << shift) | taken_for << shift
    return packet[:USER_FLAGS_AT] + flags.to_bytes(4, "little") + packet[USER_FLAGS_AT + 4 :]


_OF: tuple[tuple[str, str, tuple[str, ...], type], ...] = (
    (
        "base-flags-checked",
        "A packet is refused that has a reserved bit set in BaseHeader.Flags.",
        ("MQMQ-2.2.19.1.flags-reserved-ignored",),
        _BaseFlags,
    ),
    (
        "base-reserved-checked",
        "A packet is refused whose BaseHeader.Reserved is not 0.",
        ("MQMQ-2.2.19.1.reserved-ignored",),
        _BaseReserved,
    ),
    (
        "user-flags-checked",
        "A packet is refused that has a reserved bit set in UserHeader.Flags.",
        ("MQMQ-2.2.19.2.flags-reserved-ignored",),
        _UserFlags,
    ),
    (
        "properties-flags-checked",
        "A packet is refused that has one of the upper four bits set in MessagePropertiesHeader.Flags.",
        ("MQMQ-2.2.19.3.flags-unused-ignored",),
        _PropertiesFlags,
    ),
    (
        "properties-padding-checked",
        "A packet is refused whose body is followed by padding that is not 0.",
        ("MQMQ-2.2.19.3.padding-ignored",),
        _PropertiesPadding,
    ),
    (
        "security-flags-checked",
        "A packet is refused that has one of the upper four bits set in SecurityHeader.Flags.",
        ("MQMQ-2.2.20.6.flags-reserved-ignored",),
        _SecurityFlags,
    ),
    (
        "session-reserved-checked",
        "A packet is refused whose SessionHeader ends with anything but 0.",
        ("MQMQ-2.2.20.4.reserved-ignored",),
        _SessionReserved,
    ),
    (
        "signature-reserved-checked",
        "A packet is refused whose MQFSignatureHeader has anything in its reserved field.",
        ("MQMQ-2.2.20.3.reserved-ignored",),
        _SignatureReserved,
    ),
    (
        "direct-padding-checked",
        "A packet is refused where padding that is not 0 follows a direct format name.",
        ("MQMQ-2.2.18.1.5.2.padding-any",),
        _DirectPadding,
    ),
    (
        "element-padding-checked",
        "A packet is refused where padding that is not 0 stands in front of a name in a list.",
        ("MQMQ-2.2.18.1.4.format-name-padding",),
        _ElementPadding,
    ),
    (
        "destination-padding-checked",
        "A packet is refused where padding that is not 0 follows the list of destinations.",
        ("MQMQ-2.2.20.1.destination-padding-any",),
        _DestinationPadding,
    ),
    (
        "administration-padding-checked",
        "A packet is refused where padding that is not 0 follows the list of administration queues.",
        ("MQMQ-2.2.20.1.administration-padding-any",),
        _AdministrationPadding,
    ),
    (
        "response-padding-checked",
        "A packet is refused where padding that is not 0 follows the list of response queues.",
        ("MQMQ-2.2.20.1.response-padding-any",),
        _ResponsePadding,
    ),
    (
        "accepts-any-destination-type",
        "A packet whose UserHeader.Flags.DQ names no type a destination can have is read as one of a direct name.",
        (
            "MQMQ-2.2.19.2.destination-type-refused",
            "MQMQ-2.2.19.2.destination-type",
        ),
        _AnyDestination,
    ),
    (
        "accepts-any-administration-type",
        "A packet whose UserHeader.Flags.AQ names no type of administration queue is read as one without any.",
        (
            "MQMQ-2.2.19.2.admin-type-refused",
            "MQMQ-2.2.19.2.admin-type",
        ),
        _AnyAdministration,
    ),
)


for _name, _story, _breaks, _reader in _OF:
    fault(__name__, _name, _story, _breaks, ("reader", _reader))
