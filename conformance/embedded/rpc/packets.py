"""Message packets as remote readers get them (MS-MQRR 2.2.5): the packet of a message, and its sections."""

from __future__ import annotations

import base64
import ipaddress
import struct
import uuid
from typing import TYPE_CHECKING, Any, NamedTuple

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import INFINITE, MqError, Position

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
FULL, BINARY_FIRST, BINARY_SECOND = range(3)
SUBQUEUE_PRESENT, ADDRESS_PRESENT = 0x02, 0x10
IPV4, IPV6 = 1, 6
SUBQUEUE_SIZE, EXTENSION_SIZE, ADDRESS_SIZE = 148, 12, 28
_ALGORITHMS = frozenset({"privacy_level", "hash_algorithm", "encryption_algorithm"})
_NAME_SIZE = 64
_MANAGER_AT = lay.BASE.size + 16  # QueueManagerAddress of the UserHeader
_SENT_AT = lay.BASE.size + 36  # SentTime of the UserHeader
_REACH_AT = 12  # TimeToReachQueue of the BaseHeader


class Section(NamedTuple):
    """A SectionBuffer (2.2.6). whole: SectionSizeAlloc."""

    kind: int
    whole: int
    data: bytes


class MessagePackets:
    """Makes the packets of the messages of a manager."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    def user_message(self, position: Position) -> bytes:
        """Return the UserMessage packet of a message (MS-MQDMPR 3.1.7.1.30). Raises MqError if none can hold it."""
        manager, message = self.manager, position.message
        came = (message.carried or {}).get("came", {})
        queue = position.queue.parent or position.queue
        said = manager.outgoing.said(queue, message)
        if queue.kind == "system":
            said["destination"] = f"DIRECT=OS:{manager.computer}\\private$\\{queue.id.partition(';')[2]}"
        if came:
            said |= came["packet"]
        elif message.fields.get("privacy", "none") == "none":
            manager.sealing.dress(said, message)
        try:
            return base64.b64decode(manager.writer.encode(said))
        except MqError:  # algorithms that mean nothing in an unsigned packet can be any
            return base64.b64decode(manager.writer.encode({k: v for k, v in said.items() if k not in _ALGORITHMS}))

    def sections(self, position: Position, most: int) -> list[Section]:
        """Return the sections of a message of whose body at most so many bytes are wanted (3.1.4.7)."""
        packet = bytearray(self.user_message(position))
        body = len(base64.b64decode(position.message.fields["body"]))
        at = self.body_at(bytes(packet), position)
        self.overlay(packet, position)
        whole = bytes(packet) + self.behind(position)
        if most >= body:
            return [Section(FULL, len(whole), whole)]
        trailers = whole[-(-(at + body) // 4) * 4 :]
        first = Section(BINARY_FIRST, at + body, whole[: at + most])
        return [first, *([Section(BINARY_SECOND, len(trailers), trailers)] if trailers else [])]

    def body_at(self, packet: bytes, position: Position) -> int:
        """Return where the body begins in a packet: it ends its MessagePropertiesHeader but for the padding."""
        fields = position.message.fields
        label = self.manager.sending.label_bytes(fields)
        extension = len(base64.b64decode(fields["extension"]))
        flags = int.from_bytes(packet[_USER_FLAGS_AT : _USER_FLAGS_AT + 4], "little")
        source = lay.Bytes(packet)
        source.at = _USER_FLAGS_AT + 4
        for shift in (lay.USER_DESTINATION_SHIFT, lay.USER_ADMIN_SHIFT, lay.USER_RESPONSE_SHIFT):
            _skip_name(source, flags >> shift & 7)
        source.take(16 if flags & lay.USER_CONNECTOR else 0)
        if flags & lay.USER_TRANSACTION:
            marks = int(source.unpack(lay.TRANSACTION)[0])
            source.take(16 if marks & lay.TX_CONNECTOR else 0)
        if flags & lay.USER_SECURITY:
            sizes = source.unpack(lay.SECURITY)[1:]
            source.take(sum(-(-size // 4) * 4 for size in sizes))
        return source.at + lay.PROPERTIES.size + label + extension

    def overlay(self, packet: bytearray, position: Position) -> None:
        """Put into a packet what remote readers find there: when it expires, and where it came from (2.2.5.1)."""
        sent, reach = struct.unpack_from("<I", packet, _SENT_AT)[0], struct.unpack_from("<I", packet, _REACH_AT)[0]
        struct.pack_into("<I", packet, _REACH_AT, self.expiry(sent, reach))
        flags = struct.unpack_from("<I", packet, _USER_FLAGS_AT)[0]
        direct = flags >> lay.USER_DESTINATION_SHIFT & 7 == lay.DIRECT
        came = (position.message.carried or {}).get("came")
        if came is None:
            own = uuid.UUID(self.manager.guid).bytes_le
            packet[_MANAGER_AT : _MANAGER_AT + 16] = bytes(16) if direct else own
        elif direct:
            size, kind, address = _address(came["address"])
            packet[_MANAGER_AT : _MANAGER_AT + 16] = struct.pack("<HHI8s", size, kind, 0, address)
        else:
            packet[_MANAGER_AT : _MANAGER_AT + 16] = bytes.fromhex(came["remote"])

    def expiry(self, sent: int, reach: int) -> int:
        """TimeToReachQueue: seconds since 1970, as far as 32 bits hold them; all ones for never."""
        return INFINITE if reach == INFINITE else min(sent + reach, INFINITE)

    def behind(self, position: Position) -> bytes:
        """Return the headers behind a UserMessage: ExtensionHeader, SubqueueHeader and ExtendedAddressHeader."""
        rest = self.subqueue_header(position) + self.address_header(position)
        flags = SUBQUEUE_PRESENT | ADDRESS_PRESENT
        return struct.pack("<IIB3x", EXTENSION_SIZE, len(rest), flags) + rest

    def subqueue_header(self, position: Position) -> bytes:
        """SubqueueHeader (2.2.5.3). Moves and aborts are not counted here."""
        queue = position.queue
        name = queue.path.rpartition(";")[2] if queue.kind == "subqueue" else ""
        wide = name.encode("utf-16-le", "surrogatepass")[: _NAME_SIZE - 2]
        return struct.pack("<IIIII64s64s", SUBQUEUE_SIZE, 0, 0, 0, 0, wide, b"")

    def address_header(self, position: Position) -> bytes:
        """ExtendedAddressHeader (2.2.5.5): of type 0 for a message that came over no network."""
        came = (position.message.carried or {}).get("came")
        size, kind, address = _address(came["address"]) if came is not None else (0, 0, b"")
        return struct.pack("<IHHI16s", ADDRESS_SIZE, size, kind, 0, address)


_USER_FLAGS_AT = lay.BASE.size + lay.USER.size - 4


def _skip_name(source: lay.Bytes, kind: int) -> None:
    """Skip the name of a queue in a UserHeader."""
    if kind == lay.DIRECT:
        start = source.at
        size = int.from_bytes(source.take(2), "little")
        source.take(size + -(2 + size) % 4)
        assert (source.at - start) % 4 == 0
    elif kind == lay.PUBLIC:
        source.take(16)
    elif kind == lay.ON_OTHER:
        source.take(20)
    elif kind in (lay.ON_SOURCE, lay.ON_DESTINATION, lay.ON_ADMIN):
        source.take(4)


def _address(text: str) -> tuple[int, int, bytes]:
    """Return length, type and bytes of an address; type 0 for what is none."""
    try:
        packed = ipaddress.ip_address(text.partition("%")[0]).packed
    except ValueError:
        return 0, 0, b""
    return len(packed), IPV4 if len(packed) == 4 else IPV6, packed
