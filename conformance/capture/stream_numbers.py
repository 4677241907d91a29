"""Numbers TCP streams as Wireshark does in `tcp.stream`: every conversation of a capture, of any port, from 0.

A SYN begins a new stream of the same ends where its sequence number is not the one that its direction began with.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from conformance.capture.network import ACK, SYN, Segment

MAX_STREAMS = 1 << 17
"""Conversations that are remembered at once; the one silent longest is forgotten, and then new numbers are not told."""
_UNSET = -1


@dataclass(slots=True)
class _Stream:
    """number: None when it is not known. first: where the sequence numbers of each direction begin."""

    number: int | None
    first: list[int] = field(default_factory=lambda: [_UNSET, _UNSET])


class StreamNumbers:
    """The numbers of one capture, in the order of its records."""

    def __init__(self) -> None:
        self._streams: OrderedDict[str, _Stream] = OrderedDict()
        self._count = 0
        self._sure = True

    def of(self, segment: Segment, *, quoted: bool = False) -> int | None:
        """Return the number of a segment's stream, None when it is not known.

        quoted: an ICMP error quotes the segment; of those only an answered SYN tells where the numbers begin.
        """
        turned = segment.destination < segment.source
        one, other = (segment.destination, segment.source) if turned else (segment.source, segment.destination)
        key = f"{one[0]} {one[1]} {other[0]} {other[1]}"
        stream, side = self._streams.get(key), int(turned)
        syn = segment.flags & SYN
        if stream is not None and syn and not segment.flags & ACK and segment.sequence != stream.first[side] != _UNSET:
            stream = None
        if stream is None:
            stream = self._streams[key] = self._new()
        self._streams.move_to_end(key)
        first = stream.first
        if quoted:
            if syn and segment.flags & ACK and first[side] != _UNSET:
                first[side] = segment.sequence
        else:
            if syn or first[side] == _UNSET:
                first[side] = segment.sequence if syn else (segment.sequence - 1) & 0xFFFFFFFF
            if segment.flags & ACK and first[1 - side] == _UNSET:
                first[1 - side] = (segment.acknowledged - 1) & 0xFFFFFFFF
        return stream.number

    def lose(self) -> None:
        """Note a stream whose ends cannot be read: the numbers of those that begin later are not known."""
        self._sure = False

    def _new(self) -> _Stream:
        if len(self._streams) >= MAX_STREAMS:
            self._streams.popitem(last=False)
            self._sure = False
        self._count += 1
        return _Stream(self._count - 1 if self._sure else None)
