"""Facts across the conversations of one capture: clocks that differ, messages that did not arrive, queues that grow.

They are hints, never verdicts: a sentence says what was seen, and what is not known. An absence is told only where the
capture goes on long enough behind it and lacks nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final
from uuid import UUID

from conformance.capture import Closed, Event, Hole, Lost, Opened, Passed, Renewed, SetBack
from conformance.captures.engine import destination
from conformance.judge.sessions.context import MESSAGES, Seen
from conformance.runlog.counts import counted
from conformance.wire.display import CLASSES

MAX_MESSAGES: Final = 32_768
"""Messages of a capture that are remembered; of older ones nothing is told."""
_MAX_WAITING = 1_024  # Messages of one side without an acknowledgment.
_MAX_NAMES = 1_000  # Hosts, and kinds of refusals, of one capture.
_LONGEST = 120  # Characters of a queue's name.
_SHOWN = 4  # Sentences of one kind.
_SURE_NS = 2_000_000_000  # SentTime is in whole seconds, and so may be the clock it is compared with.
_PATIENCE_NS = 60_000_000_000  # So late comes no acknowledgment of a session whose timers are usual.
_STEP = 5  # By so many messages a queue has to grow in each half of the time.
_SECOND = 1_000_000_000
_AHEAD, _BEHIND = "ahead of", "behind"
_MSMQ_NS = 852_076_800 * _SECOND  # 1997: a capture from before has no times.
_FOREVER = 0xFFFFFFFF
_RECEPTION, _REFUSED, _UNREAD = 0x4000, 0x8000, 0xC000  # Bits of a message's class.
_PROPERTIES = "MessagePropertiesHeader"
_USER = ("UserHeader.MessageID", "UserHeader.SentTime", "BaseHeader.TimeToReachQueue")
_PLACE = ("TransactionHeader.TxSequenceID", "TransactionHeader.TxSequenceNumber")

Name = tuple[str, int]
"""A queue manager and the number of one of its messages."""


@dataclass(slots=True)
class Sent:
    """A message as it passed first. since_ns: its SentTime. lasts_ns: its time to reach the queue, None without end.

    asks: for an acknowledgment of its reception. ended_ns: when that passed. settled: something says what became of it,
    or nothing could.
    """

    host: str
    queue: str
    record: int
    time_ns: int
    since_ns: int
    lasts_ns: int | None
    asks: bool
    settled: bool
    ended_ns: int | None = None


@dataclass(slots=True)
class _Direction:
    """The messages of one side that the other has not acknowledged. first: the number of the oldest."""

    waiting: deque[Sent | None] = field(default_factory=deque)
    first: int = 1

    def acknowledge(self, count: int) -> None:
        """Settle the messages up to this 16-bit count."""
        covered = (count - self.first + 1) & 0xFFFF
        for _ in range(covered if covered <= len(self.waiting) else 0):
            one = self.waiting.popleft()
            self.first += 1
            if one is not None:
                one.settled = True


@dataclass(slots=True)
class Facts:
    """Looks at one capture, packet by packet. timed: its clock was not set. whole: it lacks nothing.

    clocks: by how many nanoseconds a host's clock is ahead of that of the recording, or behind it, at least, with the
    record that shows it: the weakest bound of all its packets, so that one wrong field shows nothing; and their number.
    """

    timed: bool = True
    whole: bool = True
    last_ns: int = 0
    clocks: dict[tuple[str, str], tuple[tuple[int, int], int]] = field(default_factory=dict)
    refused: dict[tuple[str, str, int], list[int]] = field(default_factory=dict)
    _sent: OrderedDict[Name, Sent] = field(default_factory=OrderedDict)
    _ordered: OrderedDict[tuple[int, int], Sent] = field(default_factory=OrderedDict)
    _open: dict[int, tuple[_Direction, _Direction]] = field(default_factory=dict)

    def event(self, event: Event) -> None:
        """Look at an event that is no packet."""
        match event:
            case SetBack():
                self.timed = False
            case Hole() | Lost() | Passed() | Renewed() | Closed(how="evicted"):
                self.whole = False
            case Opened(complete=True):
                self._open[event.connection] = _Direction(), _Direction()
            case Closed():
                self._open.pop(event.connection, None)

    def packet(self, seen: Seen) -> None:
        """Look at a packet."""
        self.last_ns = max(self.last_ns, seen.time_ns)
        self.timed = self.timed and seen.time_ns >= _MSMQ_NS
        frame = seen.frame
        if frame.trouble is not None or frame.gap_before:
            self.whole = False
            return
        ways = None if frame.connection is None else self._open.get(frame.connection)
        if ways is not None and frame.side == "acceptor":
            ways = ways[1], ways[0]
        acknowledged = seen.number("SessionHeader.AckSequenceNumber")
        if ways is not None and acknowledged is not None:
            ways[1].acknowledge(acknowledged)
        if seen.kind not in MESSAGES:
            return
        one = None
        if seen.kind == "UserMessage":
            kind = seen.number(f"{_PROPERTIES}.MessageClass") or 0
            one = self._message(seen, ways is not None) if not kind else None
            if kind > 1 and seen.number("UserHeader.Flags.RC") == 0:
                self._acknowledgment(seen, kind)
        elif seen.kind == "OrderAck":
            self._order(seen)
        if ways is not None:
            ways[0].waiting.append(one)
            if len(ways[0].waiting) > _MAX_WAITING:
                ways[0].acknowledge(ways[0].first & 0xFFFF)  # Nothing is told of it.

    def _message(self, seen: Seen, followed: bool) -> Sent | None:
        """Return a message of an application, the same where it passes again. followed: its connection is known."""
        manager = seen.text("UserHeader.SourceQueueManager")
        number, since, lasts = map(seen.number, _USER)
        if manager is None or number is None or since is None:
            return None
        if (before := self._sent.get((manager, number))) is not None:
            before.settled = before.settled or not followed
            return before
        asks = bool(seen.number(f"{_PROPERTIES}.Flags.PR"))
        lasts_ns = None if lasts in (None, _FOREVER) else (lasts or 0) * _SECOND
        host, queue = seen.hosts[0], (destination(seen.packet) or "a queue")[:_LONGEST]
        first = seen.number("UserHeader.Flags.RC") == 0
        one = Sent(
            host if first else "", queue, seen.frame.record, seen.time_ns, since * _SECOND, lasts_ns, asks, not followed
        )
        _remember(self._sent, (manager, number), one)
        _remember(self._ordered, tuple(map(seen.number, _PLACE)), one)
        if first:
            self._clock(_AHEAD, host, one.since_ns, one.since_ns - one.time_ns, one.record)
        return one

    def _acknowledgment(self, seen: Seen, kind: int) -> None:
        """Look at what an administration acknowledgment says of the message that it names."""
        name = seen.raw(f"{_PROPERTIES}.CorrelationID") or b""
        key = str(UUID(bytes_le=name[:16].ljust(16, b"\0"))), int.from_bytes(name[16:], "little")
        about = self._sent.get(key)
        self._answers(seen, about)
        if about is not None and kind & _RECEPTION:
            about.ended_ns = about.ended_ns or seen.time_ns
        if kind & _REFUSED:
            said = seen.hosts[0], about.queue if about is not None else "a queue", kind
            if said in self.refused or len(self.refused) < _MAX_NAMES:
                self.refused.setdefault(said, [0, seen.frame.record])[0] += 1

    def _order(self, seen: Seen) -> None:
        """Look at an order acknowledgment, which is about a message and all before it in its sequence."""
        sequence, place = (seen.number(f"OrderAckBody.{name}") or 0 for name in ("TxSequenceID", "TxSequenceNumber"))
        self._answers(seen, self._ordered.get((sequence, place)))
        while (one := self._ordered.pop((sequence, place), None)) is not None:
            one.settled, place = True, place - 1

    def _answers(self, seen: Seen, about: Sent | None) -> None:
        """Take from an answer to a message that it came to its end, and how late it is there at most."""
        if about is None:
            return
        about.settled = True
        said = (seen.number("UserHeader.SentTime") or 0) * _SECOND
        self._clock(_BEHIND, seen.hosts[0], said, about.time_ns - said - _SECOND, seen.frame.record)

    def _clock(self, way: str, host: str, said_ns: int, by_ns: int, record: int) -> None:
        before = self.clocks.get((way, host))
        if said_ns >= _MSMQ_NS and (before is not None or len(self.clocks) < _MAX_NAMES):
            weakest, count = before or ((by_ns, record), 0)
            self.clocks[way, host] = min(weakest, (by_ns, record)), count + 1

    def sentences(self) -> Iterator[str]:
        """Yield what the capture shows, once it has ended."""
        if self.timed:
            yield from self._clock_sentences()
        for (host, queue, kind), (count, record) in sorted(self.refused.items(), key=lambda one: -one[1][0])[:_SHOWN]:
            what = "arrived and found no reader" if kind & _UNREAD == _UNREAD else "did not arrive"
            said = f"{host} says {CLASSES.get(kind, f'class {kind:#06x}')} (first in Wireshark frame {record})"
            yield f"{counted(count, 'message')} to {queue} {what}: {said}"
        if self.timed and self.whole:
            yield from self._expired()
            yield from self._growing()

    def _clock_sentences(self) -> Iterator[str]:
        most: dict[str, tuple[int, str]] = {}
        for way, what in ((_AHEAD, "messages"), (_BEHIND, "acknowledgments")):
            sure = [(*bound, host) for (one, host), (bound, count) in self.clocks.items() if one == way and count > 1]
            for by, record, host in sorted(sure, reverse=True)[:_SHOWN]:
                most.setdefault(way, (by, host))
                if by > _SURE_NS:
                    yield (
                        f"the clock of {host} is at least {by // _SECOND:,} s {way} that of the recording, by the "
                        f"SentTime of all its {what} (as in Wireshark frame {record}): which is wrong is not known"
                    )
        if len(most) > 1:
            (ahead, one), (behind, other) = most[_AHEAD], most[_BEHIND]
            if one != other and ahead + behind > _SURE_NS:
                yield f"the clock of {one} is at least {(ahead + behind) // _SECOND:,} s ahead of that of {other}"

    def _expired(self) -> Iterator[str]:
        found: dict[tuple[str, str], list[Sent]] = {}
        for one in self._sent.values():
            lasts = one.lasts_ns
            if not one.settled and lasts is not None and self.last_ns > one.time_ns + lasts + _PATIENCE_NS:
                found.setdefault((one.host or "a queue manager", one.queue), []).append(one)
        for (host, queue), lost in sorted(found.items(), key=lambda one: -len(one[1]))[:_SHOWN]:
            yield (
                f"{counted(len(lost), 'message')} of {host} to {queue} passed without an acknowledgment (first in "
                f"Wireshark frame {lost[0].record}), and the time to reach it is over: their arrival is not known"
            )

    def _growing(self) -> Iterator[str]:
        """Tell which queues grow: of messages that wait to be sent, and of those that wait to be received."""
        sending: dict[tuple[str, str], list[Sent]] = {}
        reading: dict[str, list[Sent]] = {}
        fastest: dict[str, int] = {}  # By host, the shortest time in which a message passed: clocks may differ.
        for one in self._sent.values():
            if one.host:
                sending.setdefault((one.host, one.queue), []).append(one)
                fastest[one.host] = min(fastest.get(one.host, 1 << 62), one.time_ns - one.since_ns)
            if one.asks:
                reading.setdefault(one.queue, []).append(one)
        for (host, queue), sent in sending.items():
            spans = [(one.since_ns + fastest[host] + _SURE_NS, one.time_ns) for one in sent]
            waited = [span for span in spans if span[0] < span[1]]
            grew = growth(waited, min(end for _, end in spans), max((start for start, _ in waited), default=0))
            if grew:
                yield f"messages of {host} to {queue} wait to be sent, by SentTime: {grew}; others are not known"
        for queue, sent in reading.items():
            spans = [(one.time_ns, self.last_ns + 1 if one.ended_ns is None else one.ended_ns) for one in sent]
            ends = [one.ended_ns for one in sent if one.ended_ns is not None]
            if ends and (grew := growth(spans, min(ends), self.last_ns)):
                said = f"{grew}; acknowledgments that went another way are not known"
                yield f"messages in {queue} wait for the acknowledgment of their reception: {said}"


def growth(spans: Sequence[tuple[int, int]], first: int, last: int) -> str:
    """Say how many spans are open at the first time, in the middle and at the last; empty unless they grow."""
    starts, ends = sorted(start for start, _ in spans), sorted(end for _, end in spans)
    depths = [bisect_right(starts, at) - bisect_right(ends, at) for at in (first, (first + last) // 2, last)]
    if last <= first or any(late - early < _STEP for early, late in pairwise(depths)):
        return ""
    return f"first {depths[0]:,}, then {depths[1]:,}, at last {depths[2]:,}"


def _remember(table: OrderedDict[Any, Sent], key: Any, one: Sent) -> None:
    table[key] = one
    if len(table) > MAX_MESSAGES:
        table.popitem(last=False)
