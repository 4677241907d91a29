"""Judges what one side sent: the clients of one server, or all but the end that was the program itself.

A verdict belongs to the sender of the packet it names; session rules name earlier packets, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.capture import CaptureError, Event, Frame, Opened
from conformance.capture.own_end import OwnEnd, from_client
from conformance.capture.records import RecordWalk, read_records
from conformance.captures.followed import Key
from conformance.captures.judge import IMPLEMENTATION, PACKET, SESSION, Managers, Sink, Told
from conformance.captures.summary import CaptureSummary
from conformance.judge.sessions.context import DUTIES, NOTICED_NS, Seen
from conformance.verdict import Outcome, Verdict

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

    def _meant(self, said: Sequence[Verdict | Key]) -> list[Verdict | Key]:
        return [one for one in said if isinstance(one, Verdict) and self._is_meant(one)]

    def _is_meant(self, verdict: Verdict) -> bool:
        number = verdict.frame
        if number is None or not self.last - _REMEMBERED < number <= self.last:
            return False
        other = verdict.requirement.endswith(DUTIES) and verdict.outcome is Outcome.PASS
        return bool(self.senders[number % _REMEMBERED]) != other
