"""Determines the length of the packet at the head of a byte stream (MS-MQMQ 2.2.19.1, MS-MQQB 2.1.1)."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.wire.base_header import MAXIMUM_SIZE, SIGNATURE, VERSION
from conformance.wire.packet import Trouble
from conformance.wire.session_header import SESSION_HEADER_SIZE

BASE_SIZE = 16
_IN, _SH = 0x08, 0x10
_MARK = SIGNATURE.to_bytes(4, "little")


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
    if flags & _SH and not flags & _IN:
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
