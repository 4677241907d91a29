"""Judges the numbers that a sender assigns, and what it sends again (MS-MQQB 3.1.1.5, 3.1.6.5)."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from conformance.capture import Side
from conformance.judge.sessions import message_steps as steps
from conformance.judge.sessions import tables as t
from conformance.judge.sessions.acknowledgments import FINAL_WANTED
from conformance.judge.sessions.context import MAX_HOSTS, MAX_REMEMBERED, Notes, Seen
from conformance.judge.sessions.flow_steps import SUSPECT
from conformance.judge.sessions.keys import Name, group_words, guid_of_words, guid_words, host_words
from conformance.judge.sessions.registers import (
    DECIDED,
    NONE,
    READS_SCOPE,
    Registers,
    TransactionalPath,
    signed,
    unsigned,
)
from conformance.judge.sessions.reports import report, results
from conformance.judge.sessions.tables import DATA, OLDEST, Key, Recent, Table, remove, touch
from conformance.spec.catalogue import requirement_id

MAX_CURRENT = 256  # Queues or hosts that one queue manager sends to at once.
_NUMBERS = ("TransactionHeader.TxSequenceID", "TransactionHeader.TxSequenceNumber",
            "TransactionHeader.PreviousTxSequenceNumber")  # fmt: skip

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
        final = any(map(seen.number, FINAL_WANTED))
        again = before is not None
        return cls(sequence, number, previous, seen.connection, seen.frame_number, given, final, again)


class Sendings(Recent):
    """The transactional messages that were sent, by source queue manager and number, in the order of the last time.

    given: by its row, every previous number of a message that was sent again.
    """

    width = 7

    def __init__(self) -> None:
        super().__init__()
        self.given: dict[int, frozenset[int]] = {}

    def get(self, key: Name) -> Sent | None:
        """Return the last transmission of a message."""
        row = self.find((*guid_words(key[0]), key[1]))
        return None if row < 0 else self._sent(row)

    def put(self, key: Name, sent: Sent) -> None:
        """Remember the last transmission of a message."""
        row = self.row((*guid_words(key[0]), key[1]))
        touch(self.words, row)
        numbers = sent.number, sent.previous, sent.connection or 0, sent.final, sent.again
        self.fill(row, (sent.frame, signed(sent.sequence), *numbers))
        if sent.again:
            self.given[row] = sent.given

    def items(self) -> Iterator[tuple[Name, Sent]]:
        """Yield all messages."""
        for row in self.rows():
            high, low, number = self.words[row : row + t.NEXT]
            yield (guid_of_words(high, low), number), self._sent(row)

    def renew(self) -> dict[int, int]:
        """See `Table.renew`."""
        given, moved = self.given, super().renew()
        self.given = {moved[row]: frozenset(numbers) for row, numbers in given.items() if row in moved}
        return moved

    def _sent(self, row: int) -> Sent:
        frame, sequence, number, previous, connection, final, again = self.words[row + DATA : row + DATA + self.width]
        given = self.given[row] if again else frozenset((previous,))
        return Sent(unsigned(sequence), number, previous, connection, frame, given, bool(final), bool(again))


class Views(Table):
    """The queue managers with sequences; the one used longest ago is forgotten first."""

    most, width = 1_024, 2 + 2 * t.CHAIN


class Currents(Table):
    """The current sequences of all queue managers, by the words of the manager, hosts and queue, and by scope."""

    most, width = 2 * Views.most * MAX_CURRENT, 7


@dataclass(slots=True)
class Sequences:
    """The sequences of all queue managers. default: the scope that is followed first."""

    registers: Registers
    default: int
    views: Views = field(default_factory=Views)
    currents: Currents = field(default_factory=Currents)

    def find(self, source: str) -> int:
        """Return the row of a queue manager, -1 for an unknown one."""
        return self.views.find((*guid_words(source), 0))

    def view(self, source: str) -> int:
        """Return the row of a queue manager, which is used now; a new one for an unknown one."""
        row, views = self.find(source), self.views
        if row >= 0:
            return touch(views.words, row)
        if len(views) >= views.most:
            oldest = views.words[OLDEST]
            for scope in range(2):
                while views.words[oldest + t.CHAIN * scope + t.LENGTH]:
                    self._forget(oldest, scope)
        row = views.row((*guid_words(source), 0))
        views.fill(row, (self.default, 0, *(-1, -1, 0) * 2))
        return row

    def of_sessions(self, view: int) -> bool:
        """Tell whether the sequences of a queue manager are known to be those of a session, not of a queue."""
        return not self._alive(view) >> steps.QUEUE & 1

    def is_of_one_queue(self, source: str, hosts: Hosts, queue: str, sequence: int) -> bool:
        """Tell whether the last sequence of a queue is this one, where sequences may be those of queues."""
        row = self.currents.find((*group_words(source, hosts, queue), steps.QUEUE))
        return row >= 0 and self.currents.words[row + t.IDENTIFIER] == signed(sequence)

    def see(
        self, seen: Seen, notes: Notes, path: TransactionalPath, back: TransactionalPath, source: str, sent: Sent,
        before: Sent | None,
    ) -> None:  # fmt: skip
        """Judge a transactional message that its own queue manager, `source`, sends.

        back: the path of its acknowledgments. before: its last transmission, if any.
        """
        registers, view = self.registers, self.view(source)
        reads = registers.shared[READS_SCOPE]
        for scope, out in enumerate(registers.scope_outs):
            if registers.shared[DECIDED] or not reads >> scope & 1:
                continue
            if before is None:
                self._new(seen, source, view, scope, path, back, sent)
                continue
            out[0] = 0
            if before.connection == sent.connection:  # On another one MS-MQQB 3.1.3.2 assigns new numbers.
                steps.again(
                    self.views.words, view, scope, path.block.rows, path.base, out, signed(sent.sequence), sent.number,
                    signed(before.sequence), before.number,
                )  # fmt: skip
        followed = steps.follow(self.views.words, view, reads)
        alive = self._alive(view) or 1 << followed
        for rule, outcome, expected, actual in results(registers.scope_outs[followed]):
            bits = 1 << followed if outcome == SUSPECT else alive
            report(notes, seen, rule, outcome | bits << 3, expected, actual, (path, back))

    def _alive(self, view: int) -> int:
        """Return the bits of the scopes that explain all messages of a queue manager so far."""
        return self.registers.shared[READS_SCOPE] & ~self.views.words[view + t.FAILED]

    def _new(
        self,
        seen: Seen,
        source: str,
        view: int,
        scope: int,
        path: TransactionalPath,
        back: TransactionalPath,
        sent: Sent,
    ) -> None:
        """Judge a message that was not sent before under one scope."""
        sequence, key, shares = signed(sent.sequence), (*_words(seen, source, scope), scope), False
        row = self.currents.find(key)
        if row < 0:
            shares = scope == steps.QUEUE and not path.generation and self._is_shared(view, seen.hosts, sequence)
            row = self._add(view, scope, key, seen.hosts)
        identifier, highest = self.currents.words[row + t.IDENTIFIER], self.currents.words[row + t.HIGHEST]
        progress = path.progress(unsigned(identifier)) if highest != NONE and identifier != sequence else None
        steps.see(
            self.views.words, view, scope, self.currents.words, row, shares, path.block.rows, path.base, back.base,
            self.registers.shared, self.registers.scope_outs[scope], seen.time_ns, sent.connection or 0, sequence,
            sent.number, sent.previous, 0 if progress is None else progress.acknowledged,
        )  # fmt: skip

    def _is_shared(self, view: int, hosts: Hosts, sequence: int) -> bool:
        """Tell whether another queue has a sequence between these hosts."""
        words, row = self.currents.words, self.views.words[view + t.CHAIN * steps.QUEUE + t.FIRST]
        wanted = array("q", host_words(hosts))
        while row >= 0:
            if words[row + t.IDENTIFIER] == sequence and words[row + t.HOSTS_0 : row + t.HOSTS_1 + 1] == wanted:
                return True
            row = words[row + t.FOLLOWING]
        return False

    def _add(self, view: int, scope: int, key: Key, hosts: Hosts) -> int:
        """Add a current sequence of which nothing is known, as the last of its chain."""
        row = self.currents.row(key)
        self.currents.fill(row, (0, NONE, 0, 0, -1, *host_words(hosts)))
        self._append(view + t.CHAIN * scope, row)
        if self.views.words[view + t.CHAIN * scope + t.LENGTH] > MAX_CURRENT:
            self._forget(view, scope)
        return row

    def _append(self, chain: int, row: int) -> None:
        words, last = self.views.words, self.views.words[chain + t.LAST]
        if last < 0:
            words[chain + t.FIRST] = row
        else:
            self.currents.words[last + t.FOLLOWING] = row
        words[chain + t.LAST] = row
        words[chain + t.LENGTH] += 1

    def _forget(self, view: int, scope: int) -> None:
        """Forget the first current sequence of a chain."""
        words, chain = self.views.words, view + t.CHAIN * scope
        first = words[chain + t.FIRST]
        words[chain + t.FIRST] = self.currents.words[first + t.FOLLOWING]
        words[chain + t.LENGTH] -= 1
        if not words[chain + t.LENGTH]:
            words[chain + t.LAST] = -1
        remove(self.currents.words, first)

    def renew(self, registers: Registers) -> None:
        """Go on with other registers, see `Table.renew`; each current sequence is in one chain."""
        self.registers = registers
        old, moved = self.currents.words, self.currents.renew()
        self.views.renew()
        words = self.views.words
        for view in self.views.rows():
            if words[view + t.FOLLOWED] not in range(2) or words[view + t.FAILED] not in range(4):
                raise ValueError("a scope is none")
            for chain in (view, view + t.CHAIN):
                row, count = words[chain + t.FIRST], words[chain + t.LENGTH]
                words[chain + t.FIRST] = words[chain + t.LAST] = -1
                words[chain + t.LENGTH] = 0
                for _ in range(count):
                    self.currents.words[moved[row] + t.FOLLOWING] = -1
                    self._append(chain, moved.pop(row))
                    row = old[row + t.FOLLOWING]
        if moved:
            raise ValueError("a current sequence is in no chain")


def _words(seen: Seen, source: str, scope: int) -> tuple[int, int]:
    """Return the first two words of the key of a current sequence."""
    if scope == steps.QUEUE:
        return group_words(source, seen.hosts, seen.queue())
    (s0, s1), (h0, h1) = guid_words(source), host_words(seen.hosts)
    return s0 ^ h0, s1 ^ h1


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
