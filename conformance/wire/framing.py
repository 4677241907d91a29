"""The length and the kind of the packet at the head of a byte stream (MS-MQMQ 2.2.19.1, MS-MQQB 2.1.1, 3.1.5.1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.wire.headers import (
    CONNECTION_PARAMETERS,
    ESTABLISH_CONNECTION,
    FINAL_ACK,
    INTERNAL_PACKETS,
    MAXIMUM_SIZE,
    ORDER_ACK,
    SESSION_ACK,
    SESSION_HEADER_SIZE,
    SIGNATURE,
    USER_MESSAGE,
    VERSION,
)
from conformance.wire.layout import Value
from conformance.wire.packet import Trouble

BASE_SIZE = 16
INTERNAL, SESSION = 0x08, 0x10  # BaseHeader.Flags
_MARK = SIGNATURE.to_bytes(4, "little")


def u16(data: bytes | bytearray, at: int) -> int:
    """Return the number of two bytes at an offset."""
    return int.from_bytes(data[at : at + 2], "little")


def u32(data: bytes | bytearray, at: int) -> int:
    """Return the number of four bytes at an offset."""
    return int.from_bytes(data[at : at + 4], "little")


@dataclass(frozen=True, slots=True)
class FrameLength:
    """The possible lengths in bytes, the likelier first; empty when the head is not a BaseHeader (see trouble).

    A UserMessage with a SessionHeader has two: by the letter PacketSize excludes the SessionHeader, but Microsoft's own
    SessionAck counts it.
    """

    lengths: tuple[int, ...]
    trouble: Trouble | None = None


def frame_length(first16: bytes) -> FrameLength:
    """Return the length of the packet that begins with these bytes; fewer than 16 are `truncated`. Never raises."""
    head = bytes(first16[:BASE_SIZE])
    if len(head) < BASE_SIZE:
        return FrameLength(
            (), Trouble("truncated", "BaseHeader", len(head), f"a BaseHeader has 16 bytes, {len(head)} are here")
        )
    if head[4:8] != _MARK:
        return FrameLength(
            (), Trouble("signature", "BaseHeader.Signature", 4, "BaseHeader.Signature is not 0x524F494C")
        )
    if head[0] != VERSION:
        return FrameLength(
            (), Trouble("version", "BaseHeader.VersionNumber", 0, f"VersionNumber is {head[0]:#x}, not 0x10")
        )
    size = int.from_bytes(head[8:12], "little")
    if not BASE_SIZE <= size <= MAXIMUM_SIZE:
        says = f"PacketSize {size} is outside 16 to {MAXIMUM_SIZE}"
        return FrameLength((), Trouble("packet-size", "BaseHeader.PacketSize", 8, says))
    flags = int.from_bytes(head[2:4], "little")
    if flags & SESSION and not flags & INTERNAL:
        return FrameLength((size + SESSION_HEADER_SIZE, size))
    return FrameLength((size,))


def is_head(data: bytes, offset: int) -> bool:
    """Return True when the bytes at `offset`, as far as present, can begin a packet: 0x10, and "LIOR" four bytes on."""
    if offset >= len(data):
        return True
    return data[offset] == VERSION and _MARK.startswith(data[offset + 4 : offset + 8])


def settle(lengths: tuple[int, ...], data: bytes, offset: int, *, final: bool) -> int | None:
    """Choose one of `lengths` for the packet at `offset`: the one behind which another packet or the end follows.

    final: no more bytes will come. None: more bytes are needed to decide (or, when final, the packet is cut short).
    """
    if len(lengths) < 2:
        return lengths[0] if lengths and offset + lengths[0] <= len(data) else None
    for length in lengths:
        end = offset + length
        if end + 8 <= len(data) and is_head(data, end):
            return length
        if end == len(data) and final:
            return length
    if not final and len(data) < offset + max(lengths) + 8:
        return None
    return next((length for length in lengths if offset + length <= len(data)), None)


ORDER_QUEUE_ID = 4
ORDER_QUEUE_NAME = "\\private$\\order_queue$"
ORDER_LABEL = "QM Ordering Ack"
ORDER_ACK_CLASS, ACK_RECEIVE_CLASS, NACK_CLASSES = 0x00FF, 0x4000, 0x8000
ACK_BODY_SIZE = 36
ACK_MARKS = 3
"""An acknowledgment has four marks: destination, label, size of the body and class; this many of them show it."""
ACK_TAIL = 16
"""The bytes of the body from here on are reserved in an OrderAck; in a FinalAck they name a message."""
INTERNAL_SIZES: Mapping[int, int] = {SESSION_ACK: 36, ESTABLISH_CONNECTION: 572, CONNECTION_PARAMETERS: 32}
"""The size in bytes of each internal packet by its packet type; all differ, and no user message is as short as two."""
SYSTEM_AT = 56
"""The place of the low byte of OperatingSystem, which is always SYSTEM_MARK, in an EstablishConnection."""
SYSTEM_MARK = 0x10
UNUSED_FLAGS = 0xFFE0  # Of InternalHeader.Flags.
FLAGS_AT = 60
"""The place of UserHeader.Flags."""
MESSAGE_BITS, MESSAGE_FLAGS = 0xEF200080, 1 << 21
"""The bits that are told apart in UserHeader.Flags, and their values: MP is set, and reserved bits are clear."""
DESTINATION_BIT, DESTINATION_TYPES = 10, (3, 5, 7)

_MPH, _DESTINATION = "MessagePropertiesHeader", "UserHeader.DestinationQueue"


def meant_type(packet_type: int, size: int, *, session_header: bool) -> int:
    """Return the packet type that an internal packet of `size` bytes is meant as: its own if that has a meaning.

    A type whose packets have another size is taken for the one whose packets have this size, and this
    BaseHeader.Flags.SH, which only a SessionAck sets.
    """
    if packet_type not in INTERNAL_PACKETS or INTERNAL_SIZES[packet_type] == size:
        return packet_type
    fitting = (other for other, length in INTERNAL_SIZES.items() if length == size)
    return next((other for other in fitting if session_header == (other == SESSION_ACK)), packet_type)


def looks_internal(data: bytes) -> bool:
    """Return True for the bytes of a packet that is an internal one by everything but BaseHeader.Flags.IN."""
    flags = int.from_bytes(data[18:20], "little")
    if len(data) != INTERNAL_SIZES.get(flags & 0x0F) or data[16:18] != b"\0\0" or flags & UNUSED_FLAGS:
        return False
    return flags & 0x0F != ESTABLISH_CONNECTION or data[SYSTEM_AT] == SYSTEM_MARK


def looks_like_message(data: bytes) -> bool:
    """Return True for the bytes of a packet that has a UserHeader where an internal one has its InternalHeader.

    Its length is that of no internal packet, and neither Reserved nor the unused bits of an InternalHeader are clear.
    """
    if len(data) < FLAGS_AT + 4 or len(data) in INTERNAL_SIZES.values():
        return False
    if not int.from_bytes(data[16:18], "little") or not int.from_bytes(data[18:20], "little") & UNUSED_FLAGS:
        return False
    flags = int.from_bytes(data[FLAGS_AT : FLAGS_AT + 4], "little")
    return flags & MESSAGE_BITS == MESSAGE_FLAGS and flags >> DESTINATION_BIT & 7 in DESTINATION_TYPES


def acknowledgment(fields: Mapping[str, Value], tail: bytes) -> str:
    """Return which acknowledgment a message is, `OrderAck` or `FinalAck`, or `UserMessage` for neither.

    tail: the bytes of its body from `ACK_TAIL` on.
    """
    message_class = fields.get(f"{_MPH}.MessageClass")
    if not isinstance(message_class, int):
        return USER_MESSAGE
    order = message_class == ORDER_ACK_CLASS
    known = order or message_class == ACK_RECEIVE_CLASS or message_class >= NACK_CLASSES
    marks = known + (fields.get(f"{_MPH}.Label") == ORDER_LABEL) + (fields.get(f"{_MPH}.MessageSize") == ACK_BODY_SIZE)
    if marks + 1 < ACK_MARKS or marks + _to_order_queue(fields) < ACK_MARKS:
        return USER_MESSAGE
    # A wrong class is the only thing wrong with an express packet whose body names no message.
    return ORDER_ACK if order or (not fields.get("UserHeader.Flags.DM") and not any(tail)) else FINAL_ACK


def _to_order_queue(fields: Mapping[str, Value]) -> bool:
    name = str(fields.get(f"{_DESTINATION}.DirectFormatName", "")).lower()
    return fields.get(f"{_DESTINATION}.PrivateQueueIdentifier") == ORDER_QUEUE_ID or name.endswith(ORDER_QUEUE_NAME)
