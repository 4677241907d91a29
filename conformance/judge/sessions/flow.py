"""Judges counts, windows and times of acknowledgments on one connection (MS-MQQB 3.1.1.4, 3.1.1.6.1, 3.1.5.8).

`flow_steps` decides; here is which requirement each of its rules is of, and in which words a result is reported.
"""

from __future__ import annotations

from array import array
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from conformance.capture import Side
from conformance.judge.sessions import flow_steps as steps
from conformance.judge.sessions import registers as at
from conformance.judge.sessions.context import (
    MESSAGES,
    Notes,
    Seen,
)
from conformance.judge.sessions.packets import Addresses, judge_alone
from conformance.judge.sessions.registers import ENDS, NONE, Connection
from conformance.judge.sessions.reports import RULES, report, results

_PARAMETERS = "ConnectionParametersHeader"
_KIND: Final = {name: number for number, name in enumerate(steps.KINDS)}
KEYS: Final = (
    "UserHeader.Flags.DM", "SessionHeader.WindowSize", "SessionHeader.AckSequenceNumber",
    "SessionHeader.RecoverableMsgAckSeqNumber", "SessionHeader.RecoverableMsgAckFlags",
    "SessionHeader.UserMsgSequenceNumber", "SessionHeader.RecoverableMsgSeqNumber",
    "MessagePropertiesHeader.MessageClass",
)  # fmt: skip
"""The values that `flow_steps.see` takes, in its order."""
_RECEIVED: Final = RULES[steps.RECEIVED].requirement


class Waiting(NamedTuple):
    """An acknowledgment that is not judged yet. covered: of the registers, None for none; lacks: it leaves one out."""

    seen: Seen
    covered: tuple[int, int, int] | None
    lacks: bool


@dataclass(slots=True)
class Flow:
    """Both directions of one connection. pending: by side, the acknowledgments that are not judged yet."""

    connection: Connection
    pending: dict[Side, deque[Waiting]] = field(default_factory=dict)
    addresses: dict[Side, Addresses] = field(default_factory=lambda: {side: Addresses() for side in ENDS})

    def see(self, seen: Seen, notes: Notes) -> None:
        """Judge a packet that was intelligible."""
        self.tell(seen, notes, self.decide(seen))
        if seen.kind == "ConnectionParameters":
            self._parameters(seen)

    def decide(self, seen: Seen) -> Any:
        """Return what `flow_steps.see` finds of a packet."""
        connection = self.connection
        registers = connection.registers
        out, shared = registers.out, registers.shared
        if shared[at.DECIDED]:  # Compiled code has done it.
            return out
        registers.ensure(1)
        numbers: list[Any] = [NONE if value is None else value for value in seen.values(KEYS)]
        numbers += seen.end, seen.heard
        steps.see(
            connection.block.rows, connection.base, seen.side == "acceptor", registers.nodes, shared, out,
            _KIND.get(seen.kind, steps.OTHER), seen.time_ns, seen.frame_number, *numbers,
        )  # fmt: skip
        return out

    def tell(self, seen: Seen, notes: Notes, out: Any) -> None:
        """Report what was found of a packet."""
        assert seen.side is not None
        for rule, outcome, expected, actual in results(out):
            if outcome & 7 != steps.NOTE:
                report(notes, seen, rule, outcome, expected, actual)
            elif outcome >> 3 == steps.WAITS:
                shared = self.connection.registers.shared
                covered = tuple(shared[at.COVERED_NS : at.COVERED_RECOVERABLE + 1]) if expected else None
                waiting = self.pending.setdefault(seen.side, deque(maxlen=steps.MOST_PENDING))
                waiting.append(Waiting(seen.kept(), covered, bool(actual)))  # type: ignore[arg-type]
            else:
                self._settle(notes, self.pending.pop(seen.side, deque()), covered=bool(expected))

    def _settle(self, notes: Notes, pending: deque[Waiting], *, covered: bool) -> None:
        """Judge acknowledgments that have waited. covered: one more is judged now."""
        registers, right, out = self.connection.registers, True, array("q", [0]) * at.MAX_OUT
        if covered and len(pending) == steps.MOST_PENDING:
            pending.popleft()
        for one in pending:
            if one.covered is not None and right:
                places = range(at.COVERED_NS, at.COVERED_RECOVERABLE + 1)
                for place, number in zip(places, one.covered, strict=True):
                    registers.shared[place] = number
                out[0] = 0
                steps.times(self.connection.block.rows, self.connection.base, registers.shared, out, one.seen.time_ns)
                for result in results(out):
                    report(notes, one.seen, *result, late=True)
            if one.lacks:
                right = False
                stated = one.seen.number("SessionHeader.AckSequenceNumber")
                notes.judge_late(_RECEIVED, False, one.seen, "each recoverable message that is named", stated)

    def _parameters(self, seen: Seen) -> None:
        """Take over what a ConnectionParameters packet names."""
        assert seen.side is not None
        connection, end = self.connection, self.connection.end(seen.side)
        connection.recoverable_ms = seen.number(f"{_PARAMETERS}.RecoverableAckTimeout")
        connection.express_ms = seen.number(f"{_PARAMETERS}.AckTimeout")
        end.named = seen.number(f"{_PARAMETERS}.WindowSize")
        if end.named is not None:
            end.window = max(end.window or 0, end.named)


@dataclass(frozen=True, slots=True)
class Counted:
    """A packet as the counts of its connection show it.

    idle: a message, before which everything its side sent is known to be acknowledged. miscounted: it counts otherwise
    than its side has sent, and not by as much as one before.
    """

    idle: bool = False
    miscounted: bool = False


_COUNTED = tuple(tuple(Counted(idle, miscounted) for miscounted in (False, True)) for idle in (False, True))


def judge_connection(seen: Seen, notes: Notes, flow: Flow) -> Counted:
    """Judge a packet by the state of its connection; nothing is said of one that was unintelligible."""
    side = seen.side
    assert side is not None
    connection = flow.connection
    if seen.gap_before:
        connection.lose(side)
    if seen.trouble is not None:
        connection.lose(side)
        return Counted()
    if seen.kind != "UserMessage":
        judge_alone(seen, notes, flow.addresses[side])
    if seen.kind == "Malformed":
        connection.lose(side)
    flow.see(seen, notes)
    mine, other = connection.end(side), connection.end("acceptor" if side == "initiator" else "initiator")
    idle = seen.kind in MESSAGES and mine.known and other.acknowledged == (mine.sent - 1) & 0xFFFF
    return _COUNTED[bool(idle)][bool(mine.miscounted)]
