"""Find what the parts of a server must know of openings that others judge (`conformance.judge.sessions.overheard`).

A usual opening is one between the server and another host in which its first two packets name the queue manager of the
server that everything so far has named. All that it changes for connections of other hosts is known from these packets
alone: `Greeted` when the server is named, and `Left` when the connection ends. Other openings are overheard as they
are, with all events of their connections.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from conformance.capture import Closed, Event, Frame, Hole, Lost, Opened
from conformance.judge.sessions.opening import NULL_GUID
from conformance.judge.sessions.overheard import Greeted, Left, Recalled, Refuted
from conformance.pipeline.connections_groups import Buckets
from conformance.wire import dissect
from conformance.wire.decode import guid_text
from conformance.wire.recognition import INTERNAL_SIZES
from conformance.wire.session_packets import ESTABLISH_CONNECTION

_ESTABLISHES = "EstablishConnection"
_CLIENT, _SERVER, _STAMP, _BEHIND = 20, 36, 52, 56  # In EstablishConnection.
_INTERNAL, _FLAGS = 0x08, 2


@dataclass(frozen=True, slots=True)
class Told:
    """Something that precedes a packet, or is one, for all buckets but one; alone: for that one."""

    number: int
    bucket: int
    event: Event | Recalled | Refuted | Greeted | Left
    alone: bool = False


@dataclass(slots=True)
class _Opening:
    """The opening of a connection. request: its first packet, while it is not known whether it is usual.

    usual: it is. answered: its second packet need not be waited for. lost: packets of it are missing. pings: those
    between its hosts before the request.
    """

    opened: Opened
    request: Frame | None = None
    usual: bool = False
    answered: bool = False
    lost: bool = False
    pings: int = 0


class Openings:
    """Follows the openings of a stream in order. why: why its parts would not do; None if they would."""

    def __init__(self, buckets: Buckets) -> None:
        self.buckets, self.server = buckets, buckets.server
        self.why: str | None = None
        self._manager: str | None = None  # That of the server.
        self._plain = True  # Nothing has named another one.
        self._named: bool | None = None  # Whether the server's host has a name in all parts; None: not known.
        self._open: dict[int, _Opening] = {}
        self._raw: set[int] = set()
        self._pings: Counter[frozenset[str]] = Counter()

    def event(self, number: int, event: Event) -> Iterator[Told]:
        """Take an event before the packet of this number, or a packet among the events; yield what is overheard."""
        if isinstance(event, Frame) and event.connection is None:
            self._ping(event)
            yield self._told(number, event)
        elif isinstance(event, Opened):
            if event.complete and self._plain and self.server in (event.initiator.address, event.acceptor.address):
                self._open[event.connection] = _Opening(event)
            else:
                yield from self._all_of(number, _Opening(event), event)
        elif isinstance(event, Frame | Hole | Lost | Closed) and event.connection is not None:
            yield from self._on(number, event, event.connection)

    def packet(self, frame: Frame) -> Iterator[Told]:
        """Take a packet of an opening, or before its end."""
        opening = self._open.get(frame.connection or 0)
        if opening is None:
            if frame.connection in self._raw:
                self._named = None
                yield self._told(frame.number, frame)
        elif opening.usual:
            self._further(frame, opening)
        else:
            yield from self._first(frame, opening)

    def _on(self, number: int, event: Frame | Hole | Lost | Closed, connection: int) -> Iterator[Told]:
        opening = self._open.get(connection)
        if opening is None:
            if connection in self._raw:
                self._named = None
            if isinstance(event, Closed):
                self._raw.discard(connection)
            yield self._told(number, event)
        elif isinstance(event, Closed):
            del self._open[connection]
            if opening.usual and self._named is not False:
                self._named = False
                yield self._told(number, Left(self.server, self._manager or ""), connection)
        elif not opening.usual:
            yield from self._all_of(number, opening, event)
        else:
            opening.lost = True
            if isinstance(event, Frame):
                self._further(event, opening)
                yield self._told(number, event)

    def _first(self, frame: Frame, opening: _Opening) -> Iterator[Told]:
        """Take a packet of an opening of which it is not known yet whether it is usual."""
        ends, request = opening.opened, opening.request
        names = _names(frame.data) if self._plain and not frame.gap_before else None
        if names is None or frame.side != ("initiator" if request is None else "acceptor"):
            yield from self._all_of(frame.number, opening, frame)
        elif request is not None:
            if self._is_server(names[1]):
                opening.usual, opening.request, opening.answered = True, None, True
                yield from self._greeted(frame, None)
            else:
                yield from self._all_of(frame.number, opening, frame)
        elif ends.acceptor.address == self.server:
            if names[0] in self.buckets.crossing or names[0] == NULL_GUID:
                yield from self._all_of(frame.number, opening, frame)
            else:
                opening.request, opening.pings = frame, self._pings[_between(ends)]
        elif self._is_server(names[0]):
            opening.usual = True
            yield from self._greeted(frame, ends)
        else:
            yield from self._all_of(frame.number, opening, frame)

    def _is_server(self, name: str) -> bool:
        """Tell whether the server has this name by everything so far."""
        if self._manager is None and name != NULL_GUID:
            self._manager = name
        return name == self._manager

    def _greeted(self, frame: Frame, opened: Opened | None) -> Iterator[Told]:
        """Yield that the server is named. opened: the connection, if it is the initiator."""
        if opened is not None or self._named is not True:
            stamp = int.from_bytes(frame.data[_STAMP:_BEHIND], "little")
            what = Greeted(self.server, self._manager or "", stamp, frame.time_ns, opened)
            yield self._told(frame.number, what, frame.connection)
        self._named = True

    def _further(self, frame: Frame, opening: _Opening) -> None:
        """See to it that a later packet of a usual opening changes nothing for other hosts."""
        if not opening.lost and not frame.data[_FLAGS] & _INTERNAL and frame.trouble is None:
            return
        if dissect(frame.data, transport=frame.transport).kind != _ESTABLISHES:
            return
        names = (guid_text(frame.data[at : at + 16]) for at in (_CLIENT, _SERVER) if len(frame.data) >= at + 16)
        if opening.lost or (not opening.answered and not self.buckets.crossing.isdisjoint([*names][1:])):
            self.why = "a connection has no usual opening"
        opening.answered = True

    def _all_of(self, number: int, opening: _Opening, event: Event) -> Iterator[Told]:
        """Yield an opening that is not usual as far as it has come, and an event of it."""
        connection = opening.opened.connection
        self._open.pop(connection, None)
        self._raw.add(connection)
        self._named = None
        if opening.request is not None and opening.pings != self._pings[_between(opening.opened)]:
            self.why = "a connection has no usual opening"  # Which ping it follows is not known any more.
        for one in dict.fromkeys(one for one in (opening.opened, opening.request, event) if one is not None):
            yield self._told(number, one, connection)

    def _ping(self, frame: Frame) -> None:
        hosts = frozenset((frame.source.address, frame.destination.address))
        self._pings[hosts] += 1
        name = dissect(frame.data, transport=frame.transport).fields.get("Ping.QMGuid")
        if frame.source.address == self.server:
            self._plain = self._plain and isinstance(name, str) and self._is_server(name)
        elif name in self.buckets.crossing:
            self._plain = False
        if not self._plain and any(one.usual and not one.answered for one in self._open.values()):
            self.why = "a connection has no usual opening"

    def _told(self, number: int, event: Event | Greeted | Left, connection: int | None = None) -> Told:
        if isinstance(event, Greeted | Left):
            return Told(number, self.buckets.at(connection or 0), event)
        return Told(number, self.buckets.of(event), event)


def _between(opened: Opened) -> frozenset[str]:
    return frozenset((opened.initiator.address, opened.acceptor.address))


def _names(data: bytes) -> tuple[str, str] | None:
    """Return the names in a whole EstablishConnection packet, None for any other packet."""
    if len(data) != INTERNAL_SIZES[ESTABLISH_CONNECTION] or not data[_FLAGS] & _INTERNAL:
        return None
    if not _establishes(data[:_CLIENT], data[_BEHIND:]):
        return None
    return guid_text(data[_CLIENT:_SERVER]), guid_text(data[_SERVER:_STAMP])


@lru_cache(maxsize=256)
def _establishes(before: bytes, behind: bytes) -> bool:
    """Tell whether a packet is an EstablishConnection by what stands before and behind its names and its time.

    What an internal packet of its length is does not depend on these.
    """
    packet = dissect(before + bytes(_BEHIND - _CLIENT) + behind, transport="tcp")
    return packet.kind == _ESTABLISHES and packet.whole
