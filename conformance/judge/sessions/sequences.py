"""Judges the numbers that a sender assigns, and what it sends again (MS-MQQB 3.1.1.5, 3.1.6.5)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from conformance.capture import Side
from conformance.judge.sessions.context import MAX_HOSTS, MAX_REMEMBERED, Assumed, Notes, Path, Seen
from conformance.judge.sessions.registers import TransactionalPath
from conformance.spec.catalogue import requirement_id
from conformance.spec.followed_readings import either

READING_SCOPE = "R-MQQB-transactional-sequence-scope"
_OLDER = requirement_id("MQQB-3.1.1.5.older-sequence")
_FIRST = requirement_id("MQQB-3.1.1.5.first-number")
_NEXT = requirement_id("MQQB-3.1.7.1.3.next-number")
_PREVIOUS = requirement_id("MQQB-3.1.7.1.3.previous-number")
_RESENT = requirement_id("MQQB-3.1.7.1.3.resent-number")
_ALL_ACKNOWLEDGED = requirement_id("MQQB-3.1.1.5.all-acknowledged")
_NEXT_SEQUENCE = requirement_id("MQQB-3.1.1.5.next-sequence")

_DELAY_MS, _TICK_MS = 500, 50  # OrderAckTimeout; timers run in ticks.
MAX_CURRENT = 256  # Queues or hosts that one queue manager sends to at once.
_FINAL_WANTED = ("UserHeader.Flags.JN", "UserHeader.Flags.JP", "TransactionHeader.Flags.FA")
_NUMBERS = ("TransactionHeader.TxSequenceID", "TransactionHeader.TxSequenceNumber",
            "TransactionHeader.PreviousTxSequenceNumber")  # fmt: skip
_HOLE = "packets from this host are not in the capture"

Hosts = tuple[str, str]  # From, to.
Way = tuple[int | None, Side | None]  # A connection and the sending side.


class Sent(NamedTuple):
    """The last transmission of a transactional message. `frame` is its number.

    given: every previous number it was sent with. final: JN, JP or FA asks for a final acknowledgment. again: it was
    sent before.
    """

    sequence: int
    number: int
    previous: int
    connection: int | None
    frame: int
    given: frozenset[int]
    final: bool
    again: bool = False

    @classmethod
    def of(cls, seen: Seen, before: Sent | None) -> Sent | None:
        """Return the message in this packet; None when its TransactionHeader was not decoded."""
        sequence, number, previous = map(seen.number, _NUMBERS)
        if sequence is None or number is None or previous is None:
            return None
        given = frozenset((previous,)) if before is None else before.given | {previous}
        final = any(map(seen.number, _FINAL_WANTED))
        again = before is not None
        return cls(sequence, number, previous, seen.connection, seen.frame_number, given, final, again)


@dataclass(slots=True)
class Sequence:
    """The current sequence of a sender. highest: the last number given to a new message."""

    identifier: int
    highest: int
    connection: int | None
    generation: int


@dataclass(slots=True)
class View:
    """The results under one alternative, held back until it is known which alternative is followed.

    timeless: of the notes.
    """

    timeless: Callable[[int, int], str | None]
    _said: list[tuple[str, bool | None, object, object]] = field(default_factory=list)
    _suspected: list[tuple[str, object, object, tuple[Path, ...]]] = field(default_factory=list)

    def judge(self, requirement: str, holds: bool, expected: object, actual: object) -> None:
        """Hold back a result of `Notes.judge`."""
        self._said.append((requirement, holds, expected, actual))

    def undecided(self, requirement: str, reason: str) -> None:
        """Hold back a result of `Notes.undecided`."""
        self._said.append((requirement, None, reason, None))

    def suspect(self, requirement: str, expected: object, actual: object, paths: tuple[Path, ...]) -> None:
        """Hold back a result of `Notes.suspect`."""
        self._suspected.append((requirement, expected, actual, paths))

    def tell(self, seen: Seen, notes: Notes, scope: str, alive: tuple[str, ...]) -> None:
        """Report the results: for all scopes in `alive`, which explain all messages so far, if `scope` is in it."""
        assumed = _assumed(scope, alive)
        for requirement, holds, expected, actual in self._said:
            if holds is None:
                notes.undecided(requirement, seen, str(expected), anywhere=True)
            else:
                notes.judge(requirement, holds, seen, expected, actual, () if requirement == _RESENT else assumed)
        for suspected in self._suspected:
            requirement, expected, actual, paths = suspected
            notes.suspect(requirement, seen, expected, actual, paths, ((READING_SCOPE, scope),))


@lru_cache
def _assumed(scope: str, alive: tuple[str, ...]) -> Assumed:
    return ((READING_SCOPE, either(alive) if scope in alive else scope),)


@dataclass(slots=True)
class Sequences:
    """The sequences of one queue manager under one alternative of the scope reading, `session` or `queue`."""

    scope: str
    failed: bool = False
    current: OrderedDict[tuple[str, ...], Sequence] = field(default_factory=OrderedDict)

    def see(
        self,
        seen: Seen,
        notes: View,
        path: TransactionalPath,
        back: Path,
        hosts: Hosts,
        sent: Sent,
        before: Sent | None,
    ) -> None:
        """Judge a transactional message that its own queue manager sends.

        back: the path of its acknowledgments. before: its last transmission, if any.
        """
        sequence, number, previous = sent.sequence, sent.number, sent.previous
        if before is not None:
            if before.connection == sent.connection:
                expected = {"sequence": before.sequence, "number": before.number}
                self._same(notes, path, _RESENT, expected, {"sequence": sequence, "number": number})
            # On another connection MS-MQQB 3.1.3.2 assigns new numbers: nothing to compare.
            return
        key = (*hosts, *((seen.queue(),) if self.scope == "queue" else ()))
        current = self.current.get(key)
        stale = current is not None and current.generation != path.generation
        moved = current is not None and current.connection != sent.connection and current.identifier == sequence
        if current is None and self._is_shared(path, hosts, sequence):
            self.failed = True
        if current is None or stale or moved:
            self._begin(notes, path, sent, known=False)
        elif sequence == current.identifier:
            self._same(notes, path, _NEXT, (current.highest + 1) & 0xFFFFFFFF, number)
            self._same(notes, path, _PREVIOUS, (number - 1) & 0xFFFFFFFF, previous)
        elif sequence > current.identifier:
            later = sequence >> 32 > current.identifier >> 32
            if later and sequence & 0xFFFFFFFF == 1 and current.connection != sent.connection:
                notes.undecided(_NEXT_SEQUENCE, "the queue manager may have been started or restored in between")
            else:
                self._acknowledged(seen, notes, path, back, current)
                self._same(notes, path, _NEXT_SEQUENCE, current.identifier + 1, sequence)
            self._begin(notes, path, sent, known=True)
        else:
            self._judge(notes, path, _OLDER, False, {"at least": current.identifier}, sequence)
            return
        if current is not None and sequence >= current.identifier:
            self._judge(notes, path, _OLDER, True, {"at least": current.identifier}, sequence)
        self.current[key] = Sequence(sequence, number, sent.connection, path.generation)
        while len(self.current) > MAX_CURRENT:
            self.current.popitem(last=False)

    def _is_shared(self, path: Path, hosts: Hosts, sequence: int) -> bool:
        """Tell whether the sequence is another queue's: an identifier is greater than any before it (3.1.1.3.1)."""
        if self.scope != "queue" or path.generation:
            return False
        return any(key[:2] == hosts and one.identifier == sequence for key, one in self.current.items())

    def _begin(self, notes: View, path: Path, sent: Sent, *, known: bool) -> None:
        if known or sent.number == 1:
            self._same(notes, path, _FIRST, 1, sent.number)
            self._same(notes, path, _PREVIOUS, sent.number - 1, sent.previous)
        else:
            notes.undecided(_FIRST, "messages of this sequence may have been sent before, or were not captured")
            if not path.generation:
                self._same(notes, path, _PREVIOUS, sent.number - 1, sent.previous)

    def _acknowledged(self, seen: Seen, notes: View, path: TransactionalPath, back: Path, current: Sequence) -> None:
        progress = path.progress(current.identifier)
        acknowledged = progress.acknowledged if progress is not None else 0
        expected = {"sequence": current.identifier, "acknowledged": current.highest}
        actual = {"sequence": current.identifier, "acknowledged": acknowledged}
        if acknowledged >= current.highest:
            self._judge(notes, path, _ALL_ACKNOWLEDGED, True, expected, actual)
        elif (
            path.first_ns is not None
            and notes.timeless(path.first_ns, seen.time_ns) is None
            and seen.time_ns - path.first_ns < (_DELAY_MS - _TICK_MS) * 1_000_000
        ):
            # The first message after the last OrderAck came too lately for another one to be made.
            self.failed = True
            notes.suspect(_ALL_ACKNOWLEDGED, expected, actual, (path, back))
        elif path.answers and not back.generation:
            self.failed = True
            notes.suspect(_ALL_ACKNOWLEDGED, expected, actual, (path, back))
        else:
            notes.undecided(_ALL_ACKNOWLEDGED, "not all acknowledgments are in the capture")

    def _same(self, notes: View, path: Path, requirement: str, expected: object, actual: object) -> None:
        self._judge(notes, path, requirement, expected == actual, expected, actual)

    def _judge(self, notes: View, path: Path, requirement: str, holds: bool, expected: object, actual: object) -> None:
        if not holds and path.generation:
            # A message that looks new may have been sent before, where the capture has a hole.
            notes.undecided(requirement, _HOLE)
            return
        notes.judge(requirement, holds, expected, actual)
        self.failed = self.failed or not holds


_INTERVAL = requirement_id("MQQB-3.1.6.5.resend-interval")
RESENT_NS: Final = 60_000_000_000
"""Twice the first entries of ResendTimerTable."""
_SHORT_PASSES = 3  # So many entries are 30 s.
_MS = 1_000_000
RESENT: Final[str] = requirement_id("MQQB-3.1.6.5.resent")
_ORDER = requirement_id("MQQB-3.1.6.5.resend-order")
_RESENT_PREVIOUS = requirement_id("MQQB-3.1.7.1.3.resent-previous")
_SHORTEST_NS = 29_000_000_000  # The first entries of ResendTimerTable are 30 s; clocks that count seconds lose one.


@dataclass(slots=True)
class Pass:
    """One pass over all unacknowledged messages. since_ns: when it, or the first transmission before any, began.

    number: how many were before it.
    elsewhere: the place of the last message that was sent on an earlier connection before.
    """

    since_ns: int
    elsewhere: tuple[int, int] = (0, 0)
    number: int = 0
    resent: set[tuple[int, int]] = field(default_factory=set)
    last: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class Resends:
    """The sides of connections from which transactional messages were sent."""

    passes: OrderedDict[Way, Pass] = field(default_factory=OrderedDict)

    def see(
        self, seen: Seen, notes: Notes, before: Sent | None, path: TransactionalPath, *, acknowledged: bool
    ) -> tuple[int, int]:
        """Judge a transactional message; return the place of that which was sent again before it, zeros for none.

        before: its last transmission, if any.

        acknowledged: everything its sender sent before it on this session is acknowledged; unacknowledged messages may
        be resent with any acknowledgment (3.1.5.5.1).
        """
        connection, now = seen.connection, seen.time_ns
        way = connection, seen.side
        running = self.passes.get(way)
        if running is None:
            running = self.passes[way] = Pass(now)
            while len(self.passes) > MAX_HOSTS:
                self.passes.popitem(last=False)
        if before is None:
            return 0, 0
        if before.connection != connection:
            place = (before.sequence, before.number)
            last = running.elsewhere
            if not path.generation:  # They are listed in the order in which they came (MS-MQQB 3.1.5.5.1).
                notes.judge(_ORDER, place > last, seen, {"after number": last[1]}, place[1])
            running.elsewhere = max(last, place)
            return last
        previous = seen.number("TransactionHeader.PreviousTxSequenceNumber")
        numbers = (seen.number("TransactionHeader.TxSequenceID"), seen.number("TransactionHeader.TxSequenceNumber"))
        if numbers == (before.sequence, before.number):  # With another number, that is wrong.
            holds = previous is not None and previous <= before.previous
            notes.judge(_RESENT_PREVIOUS, holds, seen, {"at most": before.previous}, previous)
        place = (before.sequence, before.number)
        begins = not running.resent or place in running.resent
        if not begins:
            notes.judge(_ORDER, place > running.last, seen, {"after number": running.last[1]}, place[1])
        elif path.generation:
            notes.undecided(_INTERVAL, seen, "messages before this one are not in the capture")
        elif acknowledged:
            short = running.number < _SHORT_PASSES and path.answered_ns < running.since_ns
            late = bool(running.resent) and short and now - running.since_ns > RESENT_NS
            expected, actual = {"at most, ms": RESENT_NS // _MS}, {"ms": (now - running.since_ns) // _MS}
            notes.judge(RESENT, not late, seen, expected, actual)
            least = {"at least, ms": 30_000}
            notes.interval(_INTERVAL, seen, running.since_ns, now, lambda waited: waited >= _SHORTEST_NS, least)
        if begins:
            running = self.passes[way] = Pass(now, running.elsewhere, running.number + 1)
        last = running.last
        running.resent.add(place)
        running.last = max(last, place)
        if len(running.resent) > MAX_REMEMBERED:
            running.resent.clear()
        return last
