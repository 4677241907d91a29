"""`CaptureJudge`: the one judge of captures, between a reader and a sink.

A reader (`readers`) yields events, or batches of packets that compiled code finds in the file. Packet rules judge each
packet by itself, session rules judge connections, senders tell who sent a packet, and a sink takes what was said. Each
of them can be replaced alone; `replay`, its columns, `pipeline` and the Spark source are such combinations.

A sink is asked for nothing: it is told of every event in its order, and of every packet that was judged by itself.
Packets whose results compiled code has counted come as numbers (`Many`). `Several` combines sinks.

**Session rules.** `SessionRules` holds the judge of connections, which sees packet by packet. With batches it may be a
`ColumnSessions`, which has the same interface: compiled code then judges the packets whose results it has learned from
the rules, and stops at all others. What is said of such a packet is a number of `SessionRules.patterns`; its sender is
found by compiled code, from `Ends.named`, which `BySessions` keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from conformance.capture import CaptureError, Closed, Event, Frame, Opened
from conformance.capture.recording_mark import OwnEnd, from_client
from conformance.capture.records import RecordWalk, read_records
from conformance.captures.defects import Outside, contained
from conformance.captures.packet_rules import PacketRules
from conformance.captures.sender_readings import VerdictKind
from conformance.captures.summary import CaptureSummary
from conformance.judge.sessions.context import DUTIES, NOTICED_NS, TIMELESS, Readings, Said, Seen
from conformance.judge.sessions.judge import SessionJudge
from conformance.judge.sessions.keys import Patterns
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect

if TYPE_CHECKING:
    from conformance.capture.columns.reader import Batch
    from conformance.captures.batch_judge import Counted, Decoded, InPlace
    from conformance.captures.meanings import Meaning
    from conformance.captures.senders import Ends
    from conformance.judge.sessions.columns.judge import ColumnSessions

PACKET, SESSION, IMPLEMENTATION = "packet", "session", "implementation"
"""The parts of a replay that make verdicts."""
Managers = tuple[str | None, str | None]
"""The queue managers at the ends of a connection, initiator first; None where unknown."""
Told = Mapping[str, Sequence[Verdict | VerdictKind]]
"""The verdicts on a packet, by part, in order. A key is one more verdict of a kind that was told before."""


class Sink(Protocol):
    """Takes what was said. keys: the columns of decoded packets that it reads, beside those of the rules."""

    keys: tuple[str, ...]

    def packet(self, seen: Seen, sender: str, told: Told, *, counted: bool = False) -> bool:
        """Take a packet that was judged by itself.

        counted: compiled code counts the results of the packet rules; `told` has those that may need a place of their
        own, and, of the session rules, what is not counted either. Returns whether fewer packets need to be looked at
        than before (see `CountingSink.enough`).
        """

    def event(self, event: Event, verdicts: Sequence[Verdict], managers: Managers, before: int) -> None:
        """Take an event that is no packet.

        managers: of a closed connection, initiator first. before: the number of the packet that it precedes.
        """

    def end(self) -> None:
        """Take notice that nothing more comes."""


class CountingSink(Sink, Protocol):
    """A sink that also takes packets from compiled code."""

    @property
    def full(self) -> bool:
        """Return True once no further verdict gets a place of its own, so that all may be counted."""

    def enough(self, meaning: Meaning) -> bool:
        """Tell whether packets with this meaning need not be looked at, because their verdicts are only counted."""

    def decoded(self, found: Decoded) -> None:
        """Take a batch before anything of it is judged one by one."""

    def judged(self, found: Decoded) -> None:
        """Take a batch after it was judged. It is overwritten by the next one."""

    def many(self, counted: Iterable[Counted]) -> None:
        """Take packets by sender, outcome and pattern."""


class Senders(Protocol):
    """Tells who sent a packet."""

    def of(self, seen: Seen) -> str:
        """Return the sender of a packet, after it was seen."""

    def see(self, seen: Seen) -> None:
        """Take notice of a packet that is judged by itself."""

    def event(self, event: Event) -> None:
        """Take notice of an event that is no packet."""

    def managers(self, connection: int) -> Managers:
        """Return the queue managers at the ends of a connection, initiator first."""


@dataclass(slots=True)
class SessionRules:
    """The rules of connections. speak: False leaves out what they say: the judge is only asked for senders."""

    judge: SessionJudge | ColumnSessions
    speak: bool = True
    patterns: Patterns = field(default_factory=Patterns)

    @classmethod
    def of(cls, readings: Readings, *, counting: bool = False) -> SessionRules:
        """Make the rules of one capture. counting: passes are reported by number after the first of a kind."""
        return cls(SessionJudge(readings, counting=counting))

    @classmethod
    def in_columns(cls, judge: ColumnSessions) -> SessionRules:
        """Make the rules of one capture for packets that compiled code has decoded."""
        return cls(judge, patterns=judge.patterns)


@dataclass(slots=True)
class BySessions:
    """Tells the sender by what the session rules know. ends: where compiled code looks the ends of connections up."""

    judge: SessionJudge | ColumnSessions
    ends: Ends | None = None

    def of(self, seen: Seen) -> str:
        """Return the sender of a packet."""
        return self.judge.sender_of(seen)

    def see(self, seen: Seen) -> None:
        """Note who the ends of the packet's connection are; the session rules have seen it.

        A message may show it, too: which of two names of the acceptor is right.
        """
        if self.ends is not None and seen.connection is not None:
            self.name(seen.connection)

    def name(self, connection: int) -> None:
        """Note who the ends of a connection are."""
        if self.ends is not None:
            for side, manager in enumerate(self.managers(connection)):
                self.ends.manage(connection, side, manager)

    def event(self, event: Event) -> None:
        """Do nothing: the session rules get it."""

    def managers(self, connection: int) -> Managers:
        """Return the queue managers at the ends of a connection."""
        return self.judge.manager(connection, "initiator"), self.judge.manager(connection, "acceptor")


@dataclass(slots=True)
class CaptureJudge:
    """Judges one capture, or a part of it.

    packet_rules: None judges no packet by itself. session_rules: None leaves out connections. summary: gets what the
    file holds. outside: watched calls, whose exceptions are no defects.
    """

    reader: Iterable[Event | Batch]
    packet_rules: PacketRules | None
    session_rules: SessionRules | None
    senders: Senders
    sink: Sink
    summary: CaptureSummary
    outside: Outside = field(default_factory=Outside)
    through: tuple[type[Exception], ...] = ()
    in_place: InPlace | None = None
    """The judge of batches."""

    def run(self) -> None:
        """Judge everything that the reader yields; the summary tells why that ended early."""
        try:
            with contained(self.summary.path, self.summary, outside=self.outside, through=self.through):
                self.read()
        finally:
            with contained(self.summary.path, self.summary, outside=self.outside):
                self.end()

    def read(self) -> None:
        """Judge everything that the reader yields. Raises whatever happens on the way."""
        for one in self.reader:
            if isinstance(one, Event):
                self.event(one)
            else:
                assert self.in_place is not None
                self.in_place.batch(one)

    def end(self) -> None:
        """Hand over what was counted, and end the sink."""
        if self.in_place is not None:
            self.in_place.flush()
        if self.packet_rules is not None:
            self.summary.unsearched = self.packet_rules.search.unsearched
        self.sink.end()

    def event(self, event: Event, before: int | None = None) -> None:
        """Judge one event. before: the number of the packet that it precedes, by default the next one."""
        self.summary.see(event)
        if isinstance(event, Frame):
            self.packet(Seen(event, dissect(event.data, transport=event.transport)))
            return
        managers = self.senders.managers(event.connection) if isinstance(event, Closed) else (None, None)
        self.senders.event(event)
        sessions = self.session_rules
        said = self.levelled(sessions.judge.said(event)) if sessions is not None else []
        verdicts = [one for one in said if isinstance(one, Verdict)]
        self.sink.event(event, verdicts, managers, self.summary.packets + 1 if before is None else before)

    def packet(self, seen: Seen) -> str:
        """Judge a packet by itself; return its sender."""
        sessions = self.session_rules
        more = self.levelled(sessions.judge.see(seen)) if sessions is not None else ()
        alone = self.packet_rules.judge(seen) if self.packet_rules is not None else ()
        self.senders.see(seen)
        sender = self.senders.of(seen)
        self.sink.packet(seen, sender, {PACKET: alone, SESSION: more})
        return sender

    def levelled(self, said: Sequence[Said]) -> list[Verdict | VerdictKind]:
        """Fit what the session rules said to the profile and the level."""
        sessions = self.session_rules
        if not said or sessions is None or not sessions.speak or self.packet_rules is None:
            return []
        for one in said:
            if isinstance(one, Verdict) and one.reason in TIMELESS:
                self.summary.timeless = self.summary.timeless or one.reason
        return self.packet_rules.levelled(said, sessions.judge.kinds)


_REMEMBERED = 1 << 20
"""Packets whose sender is remembered; verdicts on earlier ones are left out."""


def clients_of(server: str) -> Callable[[Frame], bool]:
    """Return what tells whether a client of this server sent a packet."""
    return lambda frame: from_client(frame, server) is True


def is_ours(path: str | Path) -> bool:
    """Tell whether a file begins with the mark of a recording of which the program itself was an end."""
    walk = RecordWalk()
    try:
        next(read_records(path, walk), None)
    except (CaptureError, OSError):
        return False  # Whoever judges the file tells why.
    return OwnEnd.of(walk.comment) is not None


def as_noticed(events: Iterable[Event], walk: RecordWalk) -> Iterator[Event]:
    """Yield events, with the beginnings of connections as early as they may have been.

    A recording of which the program was an end tells when the program noticed a connection, not when it was made.
    walk: of the file that is read.
    """
    for event in events:
        if isinstance(event, Opened) and OwnEnd.of(walk.comment) is not None:
            yield replace(event, time_ns=event.time_ns - NOTICED_NS)
        else:
            yield event


@dataclass(frozen=True, slots=True)
class NotOurs:
    """Tells whether a packet is to be judged: not if the mark of the recording says that the program sent it.

    walk: of the file that is read. summary: gets the mark.
    """

    walk: RecordWalk
    summary: CaptureSummary

    def none(self) -> bool:
        """Tell that no packet of the program has come yet."""
        return self.summary.own is None

    def __call__(self, frame: Frame) -> bool:
        """Return True for a packet of somebody else."""
        own = OwnEnd.of(self.walk.comment)
        if own is None or not own.sent(frame):
            return True
        self.summary.own, self.summary.own_packets = own, self.summary.own_packets + 1
        self.summary.lacking.meant(frame)
        return False


@dataclass(slots=True)
class OneSide:
    """Hands on the verdicts on what one side sent, and all events.

    means: tells whether a packet is of that side; it is asked of each once. others: hand on the packets of the other
    side, too, without verdicts. whole: as long as it tells so, everything is handed on.
    """

    sink: Sink
    means: Callable[[Frame], bool]
    others: bool = False
    whole: Callable[[], bool] = lambda: False
    keys: tuple[str, ...] = ()
    last: int = 0
    senders: bytearray = field(default_factory=lambda: bytearray(_REMEMBERED))

    def packet(self, seen: Seen, sender: str, told: Told, *, counted: bool = False) -> bool:
        """Hand on a packet with the verdicts that are on that side; a packet of the other side has none of its own."""
        meant = self.means(seen.frame)
        self.last = seen.frame_number
        self.senders[self.last % _REMEMBERED] = meant
        if self.whole():
            return self.sink.packet(seen, sender, told, counted=counted)
        said = {part: self._meant(told[part]) for part in told if part != PACKET}
        alone = told[PACKET] if meant else ()
        if not (meant or self.others or said.get(SESSION) or said.get(IMPLEMENTATION)):
            return False
        return self.sink.packet(seen, sender, {**said, PACKET: alone}, counted=counted)

    def event(self, event: Event, verdicts: Sequence[Verdict], managers: Managers, before: int) -> None:
        """Hand on an event."""
        meant = verdicts if self.whole() else [one for one in verdicts if self._is_meant(one)]
        self.sink.event(event, meant, managers, before)

    def end(self) -> None:
        """End the sink."""
        self.sink.end()

    def _meant(self, said: Sequence[Verdict | VerdictKind]) -> list[Verdict | VerdictKind]:
        return [one for one in said if isinstance(one, Verdict) and self._is_meant(one)]

    def _is_meant(self, verdict: Verdict) -> bool:
        number = verdict.frame
        if number is None or not self.last - _REMEMBERED < number <= self.last:
            return False
        other = verdict.requirement.endswith(DUTIES) and verdict.outcome is Outcome.PASS
        return bool(self.senders[number % _REMEMBERED]) != other
