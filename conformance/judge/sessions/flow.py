"""Judges counts, windows and times of acknowledgments on one connection (MS-MQQB 3.1.1.4, 3.1.1.6.1, 3.1.5.8)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from conformance.capture import Side
from conformance.judge.sessions.context import LOST, MESSAGES, NOTICED_NS, Assumed, Notes, Seen
from conformance.judge.sessions.packets import judge_alone
from conformance.spec.catalogue import requirement_id
from conformance.spec.followed_readings import either
from conformance.verdict import Json

WERE_SENT = requirement_id("MQQB-3.1.1.6.1.acknowledged-were-sent")
_NEVER_DECREASES = requirement_id("MQQB-3.1.1.6.1.never-decreases")
RECEIVED = requirement_id("MQMQ-2.2.20.4.ack-sequence-number")
USER_SENT = requirement_id("MQQB-3.1.7.1.3.user-messages-sent")
RECOVERABLE_SENT = requirement_id("MQQB-3.1.7.1.3.recoverable-messages-sent")
_NONE = requirement_id("MQQB-3.1.6.4.recoverable-none")
_LOWEST = requirement_id("MQQB-3.1.6.4.recoverable-lowest")
_ONCE = requirement_id("MQQB-3.1.6.4.recoverable-once")
RECOVERABLE_WERE_SENT = requirement_id("MQQB-3.1.1.6.1.recoverable-were-sent")
_HALF = 0x8000
_MOST_MISSING = 1_024  # Recoverable numbers remembered as not acknowledged.
_SENT = ("UserMsgSequenceNumber", "RecoverableMsgSeqNumber")
_CONSEQUENCE = "the count goes on from one that was wrong before"


def after(later: int, earlier: int) -> int:
    """Return how far one 16-bit count is after another; negative when it is before."""
    return ((later - earlier + _HALF) & 0xFFFF) - _HALF


@dataclass(slots=True)
class Direction:
    """The traffic of one side. sent, recoverable: counts; known: the capture has all of them.

    ahead, recoverable_ahead: by how much the last count that the side stated itself was too high, modulo 2**16.
    """

    known: bool
    sent: int = 0
    recoverable: int = 0
    ahead: int = 0
    recoverable_ahead: int = 0


@dataclass(slots=True)
class Acknowledged:
    """The last acknowledgment of one side: the count, and the highest recoverable number (None when unknown).

    missing: the recoverable numbers below the highest that are not acknowledged; None when too many, or unknown.
    """

    count: int | None
    recoverable: int | None
    missing: set[int] | None = None

    def take(self, lowest: int, flags: int) -> tuple[list[int], bool]:
        """Take over recoverable numbers; return those acknowledged before, and whether all such are known."""
        before, numbers = self.recoverable, [(lowest + at) & 0xFFFF for at in range(32) if flags >> at & 1]
        highest = numbers[-1]
        if before is None:
            self.recoverable = highest
            return [], True
        old = [number for number in numbers if after(number, before) <= 0]
        again = [] if self.missing is None else [number for number in old if number not in self.missing]
        known = self.missing is not None or not old
        if after(highest, before) > 0:
            self.recoverable = highest
        self.skip(before, numbers, old)
        return again, known

    def skip(self, before: int, numbers: list[int], old: list[int]) -> None:
        """Remember what these numbers leave out. old: those of them that are no higher than `before`."""
        if self.missing is None:
            return
        self.missing.difference_update(old)
        between = after(numbers[-1], before)
        if between > len(numbers) - len(old):
            skipped = ((before + 1 + at) & 0xFFFF for at in range(between))
            self.missing.update(number for number in skipped if number not in numbers)
        if len(self.missing) > _MOST_MISSING:
            self.missing = None


@dataclass(slots=True)
class Counts:
    """The counts of one connection. complete: the capture has the connection from its first byte.

    miscounted: the last packet counts otherwise than its side has sent, and not by as much as one before.
    """

    complete: bool
    directions: dict[Side, Direction]
    acknowledged: dict[Side, Acknowledged]
    miscounted: bool = False

    @classmethod
    def begin(cls, *, complete: bool) -> Counts:
        """Make the counts of a connection before its first packet."""
        start = 0 if complete else None
        return cls(
            complete,
            {"initiator": Direction(complete), "acceptor": Direction(complete)},
            {side: Acknowledged(start, start, set() if complete else None) for side in ("initiator", "acceptor")},
        )

    def lose(self, side: Side) -> None:
        """Record that a packet of this side is missing from the capture, or was unintelligible."""
        self.directions[side].known = False

    def idle_before(self, side: Side) -> bool:
        """Return True when everything this side sent before its last message is known to be acknowledged."""
        other: Side = "acceptor" if side == "initiator" else "initiator"
        mine, count = self.directions[side], self.acknowledged[other].count
        return mine.known and count == (mine.sent - 1) & 0xFFFF

    def see(self, seen: Seen, notes: Notes) -> None:
        """Count a packet, and judge its SessionHeader."""
        side = seen.side
        assert side is not None
        self.miscounted = False
        if seen.kind in MESSAGES:
            mine = self.directions[side]
            delivery = seen.number("UserHeader.Flags.DM")
            if delivery is None:
                mine.known = False
            mine.sent += 1
            mine.recoverable += delivery == 1
        elif seen.kind == "Malformed":
            self.lose(side)
        if seen.number("SessionHeader.WindowSize") is not None:
            self._own(seen, notes, self.directions[side])
            other: Side = "acceptor" if side == "initiator" else "initiator"
            self._count(seen, notes, self.acknowledged[side], self.directions[other])
            self._recoverable(seen, notes, self.acknowledged[side], self.directions[other])

    def _own(self, seen: Seen, notes: Notes, mine: Direction) -> None:
        user, recoverable = (seen.number(f"SessionHeader.{key}") for key in _SENT)
        assert user is not None and recoverable is not None
        if not mine.known:
            notes.undecided(USER_SENT, seen, LOST)
            notes.undecided(RECOVERABLE_SENT, seen, LOST)
            return
        mine.ahead = self._stated(USER_SENT, seen, notes, mine.sent, user, mine.ahead)
        mine.recoverable_ahead = self._stated(
            RECOVERABLE_SENT, seen, notes, mine.recoverable, recoverable, mine.recoverable_ahead
        )

    def _stated(self, requirement: str, seen: Seen, notes: Notes, count: int, stated: int, ahead: int) -> int:
        """Judge a count by what was sent, or by the last wrong one; return by how much the last wrong one is wrong."""
        wrong = (stated - count) & 0xFFFF
        if wrong and wrong == ahead:
            notes.undecided(requirement, seen, _CONSEQUENCE)
        else:
            notes.same(requirement, seen, count & 0xFFFF, stated)
            self.miscounted = self.miscounted or bool(wrong)
        return wrong or ahead

    def _count(self, seen: Seen, notes: Notes, last: Acknowledged, theirs: Direction) -> None:
        count = seen.number("SessionHeader.AckSequenceNumber")
        assert count is not None
        most = count
        if theirs.known:
            lag = (theirs.sent - count) & 0xFFFF
            holds = lag < _HALF and lag <= theirs.sent
            notes.judge(WERE_SENT, holds, seen, {"at most": theirs.sent & 0xFFFF}, count)
            most = count if holds else theirs.sent & 0xFFFF
        else:
            notes.undecided(WERE_SENT, seen, LOST)
        if last.count is not None:
            notes.judge(_NEVER_DECREASES, after(count, last.count) >= 0, seen, {"at least": last.count}, count)
            if most != count and after(most, last.count) < 0:
                most = last.count
        last.count = most  # A count that is too high does not make the next one too low.

    def _recoverable(self, seen: Seen, notes: Notes, last: Acknowledged, theirs: Direction) -> None:
        lowest, flags = (
            seen.number(f"SessionHeader.{key}") for key in ("RecoverableMsgAckSeqNumber", "RecoverableMsgAckFlags")
        )
        assert lowest is not None and flags is not None
        if lowest == 0 and flags and theirs.recoverable > 0xFFFF:
            return  # Number 65536 is sent as 0, like none.
        notes.judge(
            _NONE, (lowest == 0) == (flags == 0), seen, "both zero or neither", {"number": lowest, "flags": flags}
        )
        if not lowest or not flags:
            return
        notes.judge(_LOWEST, bool(flags & 1), seen, {"bit 0": 1}, {"flags": flags})
        highest, before = (lowest + flags.bit_length() - 1) & 0xFFFF, last.recoverable
        again, surely = last.take(lowest, flags)
        if before is not None:
            if again or surely:
                notes.judge(_ONCE, not again, seen, {"not again": again[:1]}, {"number": lowest, "flags": flags})
            else:
                notes.undecided(_ONCE, seen, "messages may have been stored in another order than they were sent in")
        if theirs.known:
            lag = (theirs.recoverable - highest) & 0xFFFF
            holds = lag < _HALF and lag <= theirs.recoverable
            if not holds:
                last.recoverable = theirs.recoverable & 0xFFFF
            excess = after(highest, theirs.recoverable & 0xFFFF)
            if not holds and before is not None and after(lowest, before) == 1 + excess:
                # The flags are right from the first message that waits on: their number alone is too high.
                notes.judge(_LOWEST, False, seen, (before + 1) & 0xFFFF, lowest)
            elif notes.judge(RECOVERABLE_WERE_SENT, holds, seen, {"at most": theirs.recoverable & 0xFFFF}, highest):
                # The message of a recoverable number has a number that is no smaller.
                count = seen.number("SessionHeader.AckSequenceNumber") or 0
                notes.judge(RECEIVED, after(count, highest) >= 0, seen, {"at least": highest}, count)
        else:
            notes.undecided(RECOVERABLE_WERE_SENT, seen, LOST)


WINDOW = requirement_id("MQQB-3.1.7.1.window")
ACKNOWLEDGED_IN_TIME: Final[str] = requirement_id("MQQB-3.1.5.8.2.acknowledged-in-time")
_AT_ONCE = requirement_id("MQQB-3.1.5.8.7.recoverable-at-once")
_SOMETHING = requirement_id("MQQB-3.1.6.4.something-to-acknowledge")
_INCLUDED = requirement_id("MQQB-3.1.7.11.header-included")
_ANNOUNCED = requirement_id("MQQB-3.1.6.4.window-size")
_PAUSE = requirement_id("MQQB-3.1.7.13.paused")
_READING_WINDOW = "R-MQQB-window"
_READING_INCLUDED, _ALTERNATIVE_IN_TIME = "R-MQQB-session-header-included", "in-time"
_PARAMETERS = "ConnectionParametersHeader"
_MS = 1_000_000
_SLACK_MS = 1_000  # An acknowledgment may be under way, or wait for its turn, this long.
TICK_MS = 50  # Timers run in ticks.
_PAUSED = 1  # WindowSize of the acknowledgment that is sent when a queue is paused (3.1.7.13).
_MOST_AT_ONCE = 33  # The 33rd recoverable message is counted before it makes the acknowledgment due.
_MAX_PENDING = 64  # Acknowledgments not yet judged.
MAX_UNDER_WAY = 70_000  # Remembered messages under way; more than the counts can distinguish.


class Covered(NamedTuple):
    """The messages that one acknowledgment covers, as far as they are judged. first_ns: the time of the first one.

    recoverable_ns: the time of the first recoverable one, None without any. recoverable: how many there are.
    """

    first_ns: int
    recoverable_ns: int | None
    recoverable: int


class Waiting(NamedTuple):
    """An acknowledgment that is not judged yet. lacks: its count leaves out a recoverable message that it names."""

    seen: Seen
    covered: Covered | None
    lacks: bool


@dataclass(slots=True)
class UnderWay:
    """The messages of one side that are not acknowledged: the time and frame of each, and whether it is recoverable."""

    _messages: deque[tuple[int, int, bool]] | None = None

    def add(self, time_ns: int, frame: int, *, recoverable: bool) -> None:
        """Add a message; too many push out the oldest."""
        if self._messages is None:
            self._messages = deque(maxlen=MAX_UNDER_WAY)
        self._messages.append((time_ns, frame, recoverable))

    def messages(self) -> Iterable[tuple[int, int, bool]]:
        """Return the messages, the oldest first."""
        return self._messages or ()

    @property
    def count(self) -> int:
        """The number of messages."""
        return len(self._messages or ())

    def take(self, count: int) -> Covered | None:
        """Remove up to this many messages, the oldest first; None without any."""
        messages = self._messages
        if not messages or not count:
            return None
        taken = [messages.popleft() for _ in range(min(count, len(messages)))]
        recoverable = [time_ns for time_ns, _, one in taken if one]
        return Covered(taken[0][0], recoverable[0] if recoverable else None, len(recoverable))


@dataclass(slots=True)
class FlowSide:
    """The state of one side of a connection. window: the largest it has announced, None without any.

    named: the window in its ConnectionParameters. before: the count it acknowledged last. latest, latest_ns: the frame
    and the time of its last packet, 0 without any. old: messages that may have been sent before. paused_ns: since
    when it acknowledges nothing, 0 where it does. pending: its acknowledgments that are not judged yet.
    """

    window: int | None = None
    named: int | None = None
    before: int = 0
    latest: int = 0
    latest_ns: int = 0
    old: int = 0
    paused_ns: int = 0
    under_way: UnderWay = field(default_factory=UnderWay)
    pending: deque[Waiting] | None = None


@dataclass(slots=True)
class Timers:
    """The timers that ConnectionParameters packets named last, in milliseconds."""

    recoverable_ms: int | None = None
    express_ms: int | None = None


def acknowledgment_due_ns(covered: Covered, express_ms: int, recoverable_ms: int) -> int:
    """Return when the acknowledgment of these messages is due (MS-MQQB 3.1.5.8.2, 3.1.5.8.7)."""
    due_ns = covered.first_ns + express_ms // 2 * _MS
    first_ns = covered.recoverable_ns
    return due_ns if first_ns is None or first_ns > due_ns else first_ns + recoverable_ms * _MS


@lru_cache
def _any_included(names: tuple[str, ...]) -> Assumed:
    return ((_READING_INCLUDED, either(names)),)


@lru_cache
def _any_window(names: tuple[str, ...]) -> Assumed:
    return ((_READING_WINDOW, either(names)),)


def _both() -> dict[Side, FlowSide]:
    return {"initiator": FlowSide(), "acceptor": FlowSide()}


@dataclass(slots=True)
class Flow:
    """Both directions of one connection."""

    counts: Counts
    timers: Timers = field(default_factory=Timers)
    sides: dict[Side, FlowSide] = field(default_factory=_both)

    def see(self, seen: Seen, notes: Notes) -> None:
        """Judge a packet; to be called after `Counts.see` for the same packet."""
        side, kind = seen.side, seen.kind
        assert side is not None
        other: Side = "acceptor" if side == "initiator" else "initiator"
        self.sides[side].latest, self.sides[side].latest_ns = seen.frame_number, seen.time_ns
        if self.sides[side].paused_ns and kind == "UserMessage":
            self._paused(seen, notes, self.sides[side].paused_ns)
        if kind == "ConnectionParameters":
            self.timers.recoverable_ms = seen.number(f"{_PARAMETERS}.RecoverableAckTimeout")
            self.timers.express_ms = seen.number(f"{_PARAMETERS}.AckTimeout")
            self.sides[side].named = seen.number(f"{_PARAMETERS}.WindowSize")
            self._announced(side, self.sides[side].named)
        window = seen.number("SessionHeader.WindowSize")
        if window is not None:
            named = self.sides[side].named
            fits = not named or notes.judge(_ANNOUNCED, window <= named, seen, {"at most": named}, window)
            if not fits:
                self.sides[side].named = window  # Further ones of this size are no deviations of their own.
            if not fits or not named:
                self._announced(side, window)
            pauses = kind == "SessionAck" and window == _PAUSED < (self.sides[side].named or 0)
            self.sides[side].paused_ns = seen.time_ns if pauses else 0
            self._acknowledgment(seen, notes, side, other)
        if kind in MESSAGES:
            self._message(seen, notes, side, other)

    def _announced(self, side: Side, window: int | None) -> None:
        if window is not None:
            mine = self.sides[side]
            mine.window = max(mine.window or 0, window)

    def _message(self, seen: Seen, notes: Notes, side: Side, other: Side) -> None:
        mine = self.counts.directions[side]
        recoverable = seen.number("UserHeader.Flags.DM") == 1
        self.sides[side].under_way.add(seen.time_ns, seen.frame_number, recoverable=recoverable)
        count = self.counts.acknowledged[other].count
        if not (mine.known and self.counts.directions[other].known and count is not None):
            notes.undecided(WINDOW, seen, LOST)
            return
        own, received = self.sides[side].window, self.sides[other].window
        if own is None or received is None:
            return
        unacknowledged = (mine.sent - count) & 0xFFFF
        accepted = notes.accepted(_READING_WINDOW)
        fitting = tuple([name for name in accepted if unacknowledged <= (own if name == "own" else received)])
        holds = bool(fitting)
        readings = _any_window(fitting or accepted[:1])
        most = max([own if name == "own" else received for name in accepted])
        # A window of 0 would forbid every message; MS-MQMQ 2.2.20.4 excludes it.
        if most and not (holds and notes.passed(WINDOW, readings)):
            notes.judge(WINDOW, holds, seen, {"at most": most}, unacknowledged, readings)

    @staticmethod
    def _paused(seen: Seen, notes: Notes, paused_ns: int) -> None:
        """Judge a message of an application behind the pause of its queue: nobody resumes one so soon."""
        soon = seen.time_ns - paused_ns < NOTICED_NS and notes.timeless(paused_ns, seen.time_ns) is None
        if soon and not seen.number("MessagePropertiesHeader.MessageClass"):
            waited = (seen.time_ns - paused_ns) // _MS
            notes.judge(_PAUSE, False, seen, "nothing before the queue is resumed", {"ms": waited})

    def _acknowledgment(self, seen: Seen, notes: Notes, side: Side, other: Side) -> None:
        theirs = self.counts.directions[other]
        count = self.counts.acknowledged[side].count
        assert count is not None
        mine = self.sides[side]
        backwards = self.counts.complete and after(count, mine.before) < 0
        acknowledged = 0 if backwards else (count - mine.before) & 0xFFFF
        begun = self.counts.complete and mine.named is not None
        if seen.kind == "SessionAck" and begun and seen.number("SessionHeader.WindowSize") != _PAUSED:
            stated = seen.number("SessionHeader.AckSequenceNumber")
            # The 33rd recoverable message was counted in the acknowledgment of those before it (3.1.5.8.7).
            anything = count != mine.before or bool(seen.number("SessionHeader.RecoverableMsgAckFlags"))
            if stated == count:
                notes.judge(_SOMETHING, anything, seen, {"above": mine.before}, count)
        first = mine.before
        mine.before = (mine.before + acknowledged) & 0xFFFF
        covered = self.sides[other].under_way.take(acknowledged)
        if seen.kind != "SessionAck" and begun:
            self._included(seen, notes, covered, first, whole=theirs.known and count == theirs.sent & 0xFFFF)
        if not (self.counts.complete and theirs.known and self.counts.directions[side].known):
            mine.pending = None
            if covered is not None:
                notes.undecided(ACKNOWLEDGED_IN_TIME, seen, LOST)
            return
        # Discarded messages are not counted: equal counts show that the receiver discarded none.
        if count != theirs.sent & 0xFFFF:
            lacks = self._lacks(seen, other, count)
            if covered is not None or lacks:
                if mine.pending is None:
                    mine.pending = deque(maxlen=_MAX_PENDING)
                mine.pending.append(Waiting(seen.kept(), covered, lacks))
            return
        pending, mine.pending = mine.pending, None
        right = True  # The times of what a count has left out are not known.
        if pending:
            if covered is not None and len(pending) == _MAX_PENDING:
                pending.popleft()
            for one in pending:
                if one.covered is not None and right:
                    self._times(notes, notes.judge_late, one.seen, one.covered)
                if one.lacks:
                    right = False
                    stated = one.seen.number("SessionHeader.AckSequenceNumber")
                    notes.judge_late(RECEIVED, False, one.seen, "each recoverable message that is named", stated)
        if covered is not None and right:
            self._times(notes, notes.judge, seen, covered)

    def _lacks(self, seen: Seen, other: Side, count: int) -> bool:
        """Tell whether a packet acknowledges a recoverable message whose place on the session is above its count."""
        lowest, flags = (
            seen.number(f"SessionHeader.{key}") or 0 for key in ("RecoverableMsgAckSeqNumber", "RecoverableMsgAckFlags")
        )
        highest = lowest + flags.bit_length() - 1
        if not lowest or not flags or after(count, highest) < 0:
            return False
        left = sum(recoverable for _, _, recoverable in self.sides[other].under_way.messages())
        counted = self.counts.directions[other].recoverable - left
        return after(highest, counted) > 0 and self.counts.directions[other].recoverable >= highest

    def _included(self, seen: Seen, notes: Notes, covered: Covered | None, before: int, *, whole: bool) -> None:
        """Judge that a message has a SessionHeader only when an acknowledgment is owed, and nearly due.

        before: the count that was acknowledged before. whole: every message that was sent is acknowledged.
        """
        anything = covered is not None or bool(seen.number("SessionHeader.RecoverableMsgAckFlags"))
        early = covered is not None and whole and self._is_early(seen, notes, covered, first=not before)
        if isinstance(early, str):
            notes.undecided(_INCLUDED, seen, early, anywhere=True)
            return
        accepted = notes.accepted(_READING_INCLUDED)
        fitting = (
            accepted if anything and not early else tuple([name for name in accepted if name != _ALTERNATIVE_IN_TIME])
        )
        readings = _any_included(fitting or accepted[:1])
        if not (fitting and notes.passed(_INCLUDED, readings)):
            expected = "three quarters of the time for it are gone" if anything else {"above": before}
            notes.judge(_INCLUDED, bool(fitting), seen, expected, "fewer" if anything else before, readings)

    def _is_early(self, seen: Seen, notes: Notes, covered: Covered, *, first: bool) -> bool | str:
        """Tell whether a message has a SessionHeader before three quarters of the time for an acknowledgment are gone.

        The timer begins anew with the first recoverable message; without one only its first begin is known (3.1.2.5).
        first: nothing was acknowledged before. A text tells why the times do not show it.
        """
        express_ms, recoverable_ms = self.timers.express_ms, self.timers.recoverable_ms
        if express_ms is None or recoverable_ms is None:
            return False
        if covered.recoverable_ns is not None:
            begun_ns, all_ms = covered.recoverable_ns, recoverable_ms
        elif first:
            begun_ns, all_ms = covered.first_ns, express_ms // 2
        else:
            return False
        end_ns = (all_ms * 3 // 4 - TICK_MS) * _MS
        why = notes.timeless(begun_ns, seen.time_ns, lambda taken: taken < end_ns)
        return why if why is not None else seen.time_ns - begun_ns < end_ns

    def _times(
        self, notes: Notes, say: Callable[[str, bool, Seen, Json, Json], object], seen: Seen, covered: Covered
    ) -> None:
        recoverable = covered.recoverable
        if recoverable:
            say(_AT_ONCE, recoverable <= _MOST_AT_ONCE, seen, {"at most": _MOST_AT_ONCE}, recoverable)
        express_ms, recoverable_ms = self.timers.express_ms, self.timers.recoverable_ms
        if express_ms is None or recoverable_ms is None:
            return
        due_ns = acknowledgment_due_ns(covered, express_ms, recoverable_ms)
        latest_ns = due_ns - covered.first_ns + (_SLACK_MS + 1) * _MS
        why = notes.timeless(covered.first_ns, seen.time_ns, lambda taken: taken < latest_ns)
        if why is not None:
            notes.undecided(ACKNOWLEDGED_IN_TIME, seen, why, anywhere=True)
            return
        late_ms = max(0, seen.time_ns - due_ns) // _MS
        say(
            ACKNOWLEDGED_IN_TIME,
            late_ms <= _SLACK_MS,
            seen,
            {"late by at most, ms": _SLACK_MS},
            {"late by, ms": late_ms},
        )


@dataclass(frozen=True, slots=True)
class Counted:
    """A packet as the counts of its connection show it.

    idle: a message, before which everything its side sent is known to be acknowledged. miscounted: it counts otherwise
    than its side has sent, and not by as much as one before.
    """

    idle: bool = False
    miscounted: bool = False


_COUNTED = tuple(tuple(Counted(idle, miscounted) for miscounted in (False, True)) for idle in (False, True))


def judge_connection(seen: Seen, notes: Notes, counts: Counts, flow: Flow) -> Counted:
    """Judge a packet by the state of its connection; nothing is said of one that was unintelligible."""
    side = seen.side
    assert side is not None
    if seen.gap_before:
        counts.lose(side)
    if seen.trouble is not None:
        counts.lose(side)
        return Counted()
    if seen.kind != "UserMessage":
        judge_alone(seen, notes)
    counts.see(seen, notes)
    flow.see(seen, notes)
    idle = seen.kind in MESSAGES and counts.idle_before(side)
    return _COUNTED[idle][counts.miscounted]
