"""Judges windows and the times of acknowledgments (MS-MQQB 3.1.5.8.2, 3.1.5.8.7, 3.1.7.1, 3.1.7.11).

Times are those of the capture, which is taken at neither end: a limit is judged only where every place between the ends
would have seen it broken, and where the counts prove that the receiver counted every message.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from conformance.capture import Side
from conformance.judge.sessions.context import LOST, MESSAGES, Assumed, Notes, Seen
from conformance.judge.sessions.counts import Counts
from conformance.spec.assignment import either
from conformance.spec.catalogue import requirement_id
from conformance.verdict import Json

_WINDOW = requirement_id("MQQB-3.1.7.1.window")
_IN_TIME = requirement_id("MQQB-3.1.5.8.2.acknowledged-in-time")
_AT_ONCE = requirement_id("MQQB-3.1.5.8.7.recoverable-at-once")
_SOMETHING = requirement_id("MQQB-3.1.7.11.something-to-acknowledge")
_LATE_ENOUGH = requirement_id("MQQB-3.1.7.11.late-enough")
_READING_WINDOW = "R-MQQB-window"
_PARAMETERS = "ConnectionParametersHeader"
_MS = 1_000_000
_SLACK_MS = 1_000  # An acknowledgment may be under way, or wait for its turn, this long.
_TICK_MS = 50  # Timers run in ticks, and capture timestamps are late.
_MOST_AT_ONCE = 33  # The 33rd recoverable message is counted before it makes the acknowledgment due.
_MAX_PENDING = 64  # Acknowledgments not yet judged.
_KEPT = 70_000  # Remembered messages under way; more than the counts can distinguish.


class UnderWay(NamedTuple):
    """A message not acknowledged yet. number: its count within the session."""

    number: int
    time_ns: int
    recoverable: bool


@lru_cache
def _any_window(names: tuple[str, ...]) -> Assumed:
    return ((_READING_WINDOW, either(names)),)


@dataclass(slots=True)
class Flow:
    """Both directions of one connection. windows: the largest that each side has announced."""

    counts: Counts
    recoverable_ms: int | None = None
    express_ms: int | None = None
    windows: dict[Side, int] = field(default_factory=dict)
    under_way: dict[Side, deque[UnderWay]] = field(default_factory=dict)
    _before: dict[Side, int] = field(default_factory=dict)  # The last count that each side acknowledged.
    _acknowledged: set[Side] = field(default_factory=set)
    _pending: dict[Side, deque[tuple[Seen, list[UnderWay]]]] = field(default_factory=dict)

    def see(self, seen: Seen, notes: Notes) -> None:
        """Judge a packet; to be called after `Counts.see` for the same packet."""
        side, kind = seen.side, seen.kind
        assert side is not None
        other: Side = "acceptor" if side == "initiator" else "initiator"
        if kind == "ConnectionParameters":
            self.recoverable_ms = seen.number(f"{_PARAMETERS}.RecoverableAckTimeout")
            self.express_ms = seen.number(f"{_PARAMETERS}.AckTimeout")
            self._announced(side, seen.number(f"{_PARAMETERS}.WindowSize"))
        window = seen.number("SessionHeader.WindowSize")
        if window is not None:
            self._announced(side, window)
            self._acknowledgment(seen, notes, side, other)
        if kind in MESSAGES:
            self._message(seen, notes, side, other)

    def _announced(self, side: Side, window: int | None) -> None:
        if window is not None:
            self.windows[side] = max(self.windows.get(side, 0), window)

    def _message(self, seen: Seen, notes: Notes, side: Side, other: Side) -> None:
        mine = self.counts.directions[side]
        waiting = self.under_way.get(side)
        if waiting is None:
            waiting = self.under_way[side] = deque(maxlen=_KEPT)
        waiting.append(UnderWay(mine.sent, seen.time_ns, seen.number("UserHeader.Flags.DM") == 1))
        count = self.counts.acknowledged[other].count
        if not (mine.known and self.counts.directions[other].known and count is not None):
            notes.undecided(_WINDOW, seen, LOST)
            return
        own, received = self.windows.get(side), self.windows.get(other)
        if own is None or received is None:
            return
        unacknowledged = (mine.sent - count) & 0xFFFF
        accepted = notes.accepted(_READING_WINDOW)
        fitting = tuple([name for name in accepted if unacknowledged <= (own if name == "own" else received)])
        holds = bool(fitting)
        readings = _any_window(fitting or accepted[:1])
        most = max([own if name == "own" else received for name in accepted])
        # A window of 0 would forbid every message; MS-MQMQ 2.2.20.4 excludes it.
        if most and not (holds and notes.passed(_WINDOW, readings)):
            notes.judge(_WINDOW, holds, seen, {"at most": most}, unacknowledged, readings)

    def _acknowledgment(self, seen: Seen, notes: Notes, side: Side, other: Side) -> None:
        theirs = self.counts.directions[other]
        count = seen.number("SessionHeader.AckSequenceNumber")
        assert count is not None
        waiting = self.under_way.get(other)
        if waiting is None:
            waiting = self.under_way[other] = deque(maxlen=_KEPT)
        before, self._before[side] = self._before.get(side, 0), count
        acknowledged = (count - before) & 0xFFFF
        covered = [waiting.popleft() for _ in range(min(acknowledged, len(waiting)))]
        first = side not in self._acknowledged
        self._acknowledged.add(side)
        if not (self.counts.complete and theirs.known and self.counts.directions[side].known):
            self._pending.pop(side, None)
            if covered:
                notes.undecided(_IN_TIME, seen, LOST)
            return
        if seen.kind in MESSAGES and first:
            if covered or not theirs.sent:
                notes.judge(_SOMETHING, bool(covered), seen, "something to acknowledge", acknowledged)
            if covered:
                self._elapsed(seen, notes, covered)
        pending = self._pending.get(side)
        if pending is None:
            pending = self._pending[side] = deque(maxlen=_MAX_PENDING)
        # Discarded messages are not counted: equal counts show that the receiver discarded none.
        if count != theirs.sent & 0xFFFF:
            if covered:
                pending.append((seen.kept(), covered))
            return
        if covered and len(pending) == _MAX_PENDING:
            pending.popleft()
        while pending:
            self._times(notes.judge_late, *pending.popleft())
        if covered:
            self._times(notes.judge, seen, covered)

    def _times(self, say: Callable[[str, bool, Seen, Json, Json], object], seen: Seen, covered: list[UnderWay]) -> None:
        recoverable = sum(one.recoverable for one in covered)
        if recoverable:
            say(_AT_ONCE, recoverable <= _MOST_AT_ONCE, seen, {"at most": _MOST_AT_ONCE}, recoverable)
        if self.express_ms is None or self.recoverable_ms is None:
            return
        first = next((one for one in covered if one.recoverable), None)
        due_ns = covered[0].time_ns + self.express_ms // 2 * _MS
        if first is not None and first.time_ns <= due_ns:
            due_ns = first.time_ns + self.recoverable_ms * _MS
        late_ms = max(0, seen.time_ns - due_ns) // _MS
        say(_IN_TIME, late_ms <= _SLACK_MS, seen, {"late by at most, ms": _SLACK_MS}, {"late by, ms": late_ms})

    def _elapsed(self, seen: Seen, notes: Notes, covered: list[UnderWay]) -> None:
        """Judge that a side's first SessionHeader goes with a message after three quarters of the timer (3.1.7.11).

        Later headers may be in messages that were made, header included, before the last acknowledgment.
        """
        if self.express_ms is None or self.recoverable_ms is None:
            return
        first = next((one for one in covered if one.recoverable), None)
        waits = [(covered[0].time_ns, self.express_ms // 2)]
        if first is not None:
            waits.append((first.time_ns, self.recoverable_ms))
        short_ms = min(wait * 3 // 4 - (seen.time_ns - since) // _MS for since, wait in waits)
        notes.judge(
            _LATE_ENOUGH, short_ms <= _TICK_MS, seen, "75 % of the timer", {"too early by, ms": max(0, short_ms)}
        )
