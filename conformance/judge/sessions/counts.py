"""Judges the counts that both sides keep and exchange in SessionHeaders (MS-MQQB 3.1.1.4, 3.1.1.6.1).

Counts have 16 bits on the wire, and the document does not say what follows 65535; they are compared modulo 2**16.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.capture import Side
from conformance.judge.sessions.context import LOST, MESSAGES, Notes, Seen
from conformance.spec.catalogue import requirement_id

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
