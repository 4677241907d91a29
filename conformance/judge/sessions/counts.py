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
USER_SENT = requirement_id("MQQB-3.1.7.1.3.user-messages-sent")
RECOVERABLE_SENT = requirement_id("MQQB-3.1.7.1.3.recoverable-messages-sent")
_NONE = requirement_id("MQQB-3.1.6.4.recoverable-none")
_LOWEST = requirement_id("MQQB-3.1.6.4.recoverable-lowest")
_ONCE = requirement_id("MQQB-3.1.6.4.recoverable-once")
RECOVERABLE_WERE_SENT = requirement_id("MQQB-3.1.1.6.1.recoverable-were-sent")
_HALF = 0x8000


def _after(later: int, earlier: int) -> int:
    """Return how far one 16-bit count is after another; negative when it is before."""
    return ((later - earlier + _HALF) & 0xFFFF) - _HALF


@dataclass(slots=True)
class Direction:
    """The traffic of one side. sent, recoverable: counts; known: the capture has all of them."""

    known: bool
    sent: int = 0
    recoverable: int = 0


@dataclass(slots=True)
class Acknowledged:
    """The last acknowledgment of one side: the count, and the highest recoverable number (None when unknown)."""

    count: int | None
    recoverable: int | None


@dataclass(slots=True)
class Counts:
    """The counts of one connection. complete: the capture has the connection from its first byte."""

    complete: bool
    directions: dict[Side, Direction]
    acknowledged: dict[Side, Acknowledged]

    @classmethod
    def begin(cls, *, complete: bool) -> Counts:
        """Make the counts of a connection before its first packet."""
        start = 0 if complete else None
        return cls(
            complete,
            {"initiator": Direction(complete), "acceptor": Direction(complete)},
            {"initiator": Acknowledged(start, start), "acceptor": Acknowledged(start, start)},
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
        for requirement, key, count in (
            (USER_SENT, "UserMsgSequenceNumber", mine.sent),
            (RECOVERABLE_SENT, "RecoverableMsgSeqNumber", mine.recoverable),
        ):
            if mine.known:
                notes.same(requirement, seen, count & 0xFFFF, seen.number(f"SessionHeader.{key}"))
            else:
                notes.undecided(requirement, seen, LOST)

    def _count(self, seen: Seen, notes: Notes, last: Acknowledged, theirs: Direction) -> None:
        count = seen.number("SessionHeader.AckSequenceNumber")
        assert count is not None
        if theirs.known:
            lag = (theirs.sent - count) & 0xFFFF
            holds = lag < _HALF and lag <= theirs.sent
            notes.judge(WERE_SENT, holds, seen, {"at most": theirs.sent & 0xFFFF}, count)
        else:
            notes.undecided(WERE_SENT, seen, LOST)
        if last.count is not None:
            notes.judge(_NEVER_DECREASES, _after(count, last.count) >= 0, seen, {"at least": last.count}, count)
        last.count = count

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
        if last.recoverable is not None:
            holds = _after(lowest, last.recoverable) > 0
            notes.judge(_ONCE, holds, seen, {"above": last.recoverable}, lowest)
        highest = (lowest + flags.bit_length() - 1) & 0xFFFF
        last.recoverable = highest
        if theirs.known:
            lag = (theirs.recoverable - highest) & 0xFFFF
            holds = lag < _HALF and lag <= theirs.recoverable
            notes.judge(RECOVERABLE_WERE_SENT, holds, seen, {"at most": theirs.recoverable & 0xFFFF}, highest)
        else:
            notes.undecided(RECOVERABLE_WERE_SENT, seen, LOST)
