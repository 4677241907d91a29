"""Judges counts, windows and times of acknowledgments on one connection (MS-MQQB 3.1.1.4, 3.1.1.6.1, 3.1.5.8).

`flow_steps` decides; here is which requirement each of its rules is of, and in which words a result is reported.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

from conformance.capture import Side
from conformance.judge.sessions import flow_steps as steps
from conformance.judge.sessions import registers as at
from conformance.judge.sessions.context import (
    COARSE,
    LOST,
    MESSAGES,
    NO_TIMES,
    SET_BACK,
    Assumed,
    Notes,
    Seen,
)
from conformance.judge.sessions.packets import judge_alone
from conformance.judge.sessions.registers import NONE, Connection
from conformance.spec.catalogue import requirement_id
from conformance.spec.followed_readings import either
from conformance.verdict import Json

ACKNOWLEDGED_IN_TIME: Final[str] = requirement_id("MQQB-3.1.5.8.2.acknowledged-in-time")
_READING_WINDOW, _READING_INCLUDED = "R-MQQB-window", "R-MQQB-session-header-included"
_BITS: Final = {
    _READING_WINDOW: {"own": steps.OWN, "received": steps.RECEIVED_WINDOW},
    _READING_INCLUDED: {"in-time": steps.TIMELY},
}
_OTHERS: Final = 2  # The bit of an alternative that these do not name.
_PARAMETERS = "ConnectionParametersHeader"
_KIND: Final = {name: number for number, name in enumerate(steps.KINDS)}
KEYS: Final = (
    "UserHeader.Flags.DM", "SessionHeader.WindowSize", "SessionHeader.AckSequenceNumber",
    "SessionHeader.RecoverableMsgAckSeqNumber", "SessionHeader.RecoverableMsgAckFlags",
    "SessionHeader.UserMsgSequenceNumber", "SessionHeader.RecoverableMsgSeqNumber",
    "MessagePropertiesHeader.MessageClass",
)  # fmt: skip
"""The values that `flow_steps.see` takes, in its order."""
_REASONS: Final = (
    LOST,
    "the count goes on from one that was wrong before",
    "messages may have been stored in another order than they were sent in",
    NO_TIMES,
    SET_BACK,
    COARSE,
)

Words = Callable[[Seen, int, int], tuple[Json, Json]]


class Rule(NamedTuple):
    """One rule of `flow_steps`. words: the expected and the actual value. reading: the one that it depends on."""

    requirement: str
    words: Words
    reading: str | None = None


def _numbers(_: Seen, expected: int, actual: int) -> tuple[Json, Json]:
    return expected, actual


def _named(name: str) -> Words:
    return lambda _, expected, actual: ({name: expected}, actual)


def _header(seen: Seen) -> Json:
    lowest, flags = map(seen.number, KEYS[3:5])
    return {"number": lowest, "flags": flags}


def _included(_: Seen, before: int, __: int) -> tuple[Json, Json]:
    if before == NONE:
        return "three quarters of the time for it are gone", "fewer"
    return {"above": before}, before


RULES: Final = (
    Rule(requirement_id("MQQB-3.1.7.1.3.user-messages-sent"), _numbers),
    Rule(requirement_id("MQQB-3.1.7.1.3.recoverable-messages-sent"), _numbers),
    Rule(requirement_id("MQQB-3.1.1.6.1.acknowledged-were-sent"), _named("at most")),
    Rule(requirement_id("MQQB-3.1.1.6.1.never-decreases"), _named("at least")),
    Rule(requirement_id("MQQB-3.1.6.4.recoverable-none"), lambda seen, _, __: ("both zero or neither", _header(seen))),
    Rule(requirement_id("MQQB-3.1.6.4.recoverable-lowest"), lambda _, __, flags: ({"bit 0": 1}, {"flags": flags})),
    Rule(requirement_id("MQQB-3.1.6.4.recoverable-lowest"), _numbers),
    Rule(
        requirement_id("MQQB-3.1.6.4.recoverable-once"),
        lambda seen, again, _: ({"not again": [again] if again >= 0 else []}, _header(seen)),
    ),
    Rule(requirement_id("MQQB-3.1.1.6.1.recoverable-were-sent"), _named("at most")),
    Rule(requirement_id("MQMQ-2.2.20.4.ack-sequence-number"), _named("at least")),
    Rule(requirement_id("MQQB-3.1.7.13.paused"), lambda _, __, ms: ("nothing before the queue is resumed", {"ms": ms})),
    Rule(requirement_id("MQQB-3.1.6.4.window-size"), _named("at most")),
    Rule(requirement_id("MQQB-3.1.6.4.something-to-acknowledge"), _named("above")),
    Rule(requirement_id("MQQB-3.1.7.11.header-included"), _included, _READING_INCLUDED),
    Rule(requirement_id("MQQB-3.1.5.8.7.recoverable-at-once"), _named("at most")),
    Rule(ACKNOWLEDGED_IN_TIME, lambda _, most, late: ({"late by at most, ms": most}, {"late by, ms": late})),
    Rule(requirement_id("MQQB-3.1.7.1.window"), _named("at most"), _READING_WINDOW),
)
"""The rules, by their numbers in `flow_steps`."""
_RECEIVED: Final = RULES[steps.RECEIVED].requirement


READINGS: Final = ((at.READS_WINDOW, _READING_WINDOW), (at.READS_INCLUDED, _READING_INCLUDED))
"""The shared registers with the accepted alternatives of a reading."""


def bits_of(reading: str, accepted: tuple[str, ...]) -> int:
    """Return the bits of alternatives of a reading."""
    return sum({_BITS[reading].get(name, _OTHERS) for name in accepted})


@lru_cache
def _assumed(reading: str, accepted: tuple[str, ...], bits: int) -> Assumed:
    fitting = tuple(name for name in accepted if bits & _BITS[reading].get(name, _OTHERS))
    return ((reading, either(fitting or accepted[:1])),)


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
            shared[at.DECIDED] = 0
            return out
        registers.ensure(1)
        numbers: list[Any] = [NONE if value is None else value for value in seen.values(KEYS)]
        steps.see(
            registers.rows, connection.base, seen.side == "acceptor", registers.nodes, shared, out,
            _KIND.get(seen.kind, steps.OTHER), seen.time_ns, seen.frame_number, *numbers,
        )  # fmt: skip
        return out

    def tell(self, seen: Seen, notes: Notes, out: Any) -> None:
        """Report what was found of a packet."""
        assert seen.side is not None
        for place in range(1, out[0], 4):
            rule, outcome, expected, actual = out[place : place + 4]
            kind = outcome & 3
            if kind == steps.NOTE and outcome >> 2 == steps.WAITS:
                shared = self.connection.registers.shared
                covered = tuple(shared[at.COVERED_NS : at.COVERED_RECOVERABLE + 1]) if expected else None
                waiting = self.pending.setdefault(seen.side, deque(maxlen=steps.MOST_PENDING))
                waiting.append(Waiting(seen.kept(), covered, bool(actual)))  # type: ignore[arg-type]
            elif kind == steps.NOTE:
                self._settle(notes, self.pending.pop(seen.side, deque()), covered=bool(expected))
            elif kind == steps.OPEN:
                notes.undecided(RULES[rule].requirement, seen, _REASONS[expected], anywhere=bool(actual))
            else:
                _report(notes, seen, rule, outcome, expected, actual)

    def _settle(self, notes: Notes, pending: deque[Waiting], *, covered: bool) -> None:
        """Judge acknowledgments that have waited. covered: one more is judged now."""
        registers, right, out = self.connection.registers, True, array("q", [0]) * at.MAX_OUT
        if covered and len(pending) == steps.MOST_PENDING:
            pending.popleft()
        for one in pending:
            if one.covered is not None and right:
                registers.shared[at.COVERED_NS : at.COVERED_RECOVERABLE + 1] = array("q", one.covered)
                out[0] = 0
                steps.times(registers.rows, self.connection.base, registers.shared, out, one.seen.time_ns)
                for place in range(1, out[0], 4):
                    rule, outcome, expected, actual = out[place : place + 4]
                    if outcome == steps.OPEN:
                        notes.undecided(RULES[rule].requirement, one.seen, _REASONS[expected], anywhere=True)
                    else:
                        _report(notes, one.seen, rule, outcome, expected, actual, late=True)
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


def _report(
    notes: Notes, seen: Seen, rule: int, outcome: int, expected: int, actual: int, *, late: bool = False
) -> None:
    requirement, words, reading = RULES[rule]
    holds = outcome & 3 == steps.HOLDS
    readings = () if reading is None else _assumed(reading, notes.accepted(reading), outcome >> 2)
    if not (holds and not late and notes.passed(requirement, readings)):
        say: Callable[..., object] = notes.judge_late if late else notes.judge
        say(requirement, holds, seen, *words(seen, expected, actual), readings)


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
        judge_alone(seen, notes)
    if seen.kind == "Malformed":
        connection.lose(side)
    flow.see(seen, notes)
    mine, other = connection.end(side), connection.end("acceptor" if side == "initiator" else "initiator")
    idle = seen.kind in MESSAGES and mine.known and other.acknowledged == (mine.sent - 1) & 0xFFFF
    return _COUNTED[bool(idle)][bool(mine.miscounted)]
