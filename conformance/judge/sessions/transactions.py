"""Judges transactional messages between two hosts: marks of a transaction, numbers, acknowledgments."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.judge.sessions import order_steps
from conformance.judge.sessions.context import MAX_HOSTS, MAX_REMEMBERED, NOTICED_NS, Notes, Path, Seen
from conformance.judge.sessions.flow_steps import NOTE
from conformance.judge.sessions.keys import group_words, guid_words, host_words
from conformance.judge.sessions.order_steps import DIRECT, advance, judge_form
from conformance.judge.sessions.registers import (
    DECIDED,
    NONE,
    Connection,
    Registers,
    TransactionalPath,
    signed,
    unsigned,
)
from conformance.judge.sessions.reports import READING_SEQUENCE, UNSEEN, report, results
from conformance.judge.sessions.sequences import RESENT, Hosts, Resends, Sendings, Sent, Sequences, Way
from conformance.judge.sessions.tables import DATA, NEXT, Key, Recent, touch
from conformance.spec.catalogue import requirement_id

if TYPE_CHECKING:
    from conformance.judge.sessions.message_memory import Memory

_FIRST = requirement_id("MQMQ-2.2.20.5.first-in-transaction")
_LAST = requirement_id("MQMQ-2.2.20.5.last-in-transaction")
_IDENTIFIER = requirement_id("MQMQ-2.2.20.5.transaction-identifier")
_UNIQUE = requirement_id("MQMQ-2.2.20.5.transaction-identifier-unique")
_FLAGS = ("TransactionHeader.Flags.ID", "TransactionHeader.Flags.FM", "TransactionHeader.Flags.LM")
_LOST = "messages of the transaction may not be in the capture"
_ELSEWHERE = "the transaction may have begun or ended in another queue"
_UNMARKED = "the queue manager marks no messages"
WHOLE: Final = 1 << 24
"""Set in the key of a transaction in any queue; an identifier has 20 bits."""
_MOST = 1_024  # Transactions whose mark is missed.


class Group(NamedTuple):
    """A transaction. frame: that of its last message. ended: LM was seen. sequence, connection: of that message.

    Of one in any queue: the first message of it in one queue; ended: it has FM.
    """

    frame: int
    ended: bool
    sequence: int
    connection: int


class GroupTable(Recent):
    """Transactions in the order of their last messages; a packet belongs to two, see `Groups`."""

    most, width = 2 * MAX_REMEMBERED, 4

    def get(self, key: Key) -> Group | None:
        """Return a transaction."""
        row = self.find(key)
        return None if row < 0 else self._group(row)

    def put(self, key: Key, group: Group) -> None:
        """Remember the last message of a transaction."""
        row = self.row(key)
        touch(self.words, row)
        self.fill(row, (group.frame, group.ended, signed(group.sequence), group.connection))

    def items(self) -> Iterator[tuple[Key, Group]]:
        """Yield all transactions."""
        for row in self.rows():
            k0, k1, k2 = self.words[row : row + NEXT]
            yield (k0, k1, k2), self._group(row)

    def _group(self, row: int) -> Group:
        frame, ended, sequence, connection = self.words[row + DATA : row + DATA + self.width]
        return Group(frame, bool(ended), unsigned(sequence), connection)


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a message in the capture. follows: the message just before it is in the capture.

    session: sequences are known to be those of a session, not of a queue. open: a transaction of the sequence has not
    ended.
    """

    sequence: int
    follows: bool
    session: bool
    open: bool


@dataclass(frozen=True, slots=True)
class Unended:
    """A sequence with a transaction that has no last message. seen: the first message of the next sequence.

    following: that sequence. sure: both are of one queue, or of a session.
    """

    seen: Seen
    sequence: int
    following: int
    sure: bool


@dataclass(frozen=True, slots=True)
class Within:
    """A message with FM while an earlier transaction of its sequence is open. part: the key of its own transaction."""

    seen: Seen
    hosts: Hosts
    part: Key
    sequence: int


@dataclass(frozen=True, slots=True)
class Unmarked:
    """The first message in the capture of a transaction without FM. part: its key in its queue. open: see `Place`."""

    seen: Seen
    hosts: Hosts
    part: Key
    open: bool


@dataclass(slots=True)
class Groups:
    """The transactions of a capture, by the words of source queue manager, hosts and queue, and by identifier.

    unmarked: the first messages in the capture of transactions without FM. unended: by queue manager and hosts, the
    first sequence that was left with a transaction without LM. within: the first of each queue. spread: queue managers
    with a transaction in several queues. misnamed: between these hosts an identifier was wrong.
    """

    groups: GroupTable = field(default_factory=GroupTable)
    unmarked: OrderedDict[Key, Unmarked] = field(default_factory=OrderedDict)
    unended: OrderedDict[tuple[str, Hosts], Unended] = field(default_factory=OrderedDict)
    within: OrderedDict[tuple[int, int], Within] = field(default_factory=OrderedDict)
    spread: dict[str, None] = field(default_factory=dict)
    misnamed: dict[Hosts, None] = field(default_factory=dict)

    def see(self, seen: Seen, notes: Notes, path: Path, hosts: Hosts, place: Place) -> int:
        """Judge a transactional message that its own queue manager sends for the first time.

        Returns by how much the number of transactions without a last message grows.
        """
        identifier, first, last = map(seen.number, _FLAGS)
        source = seen.text("UserHeader.SourceQueueManager")
        if identifier is None or first is None or last is None or source is None:
            return 0
        key = (*group_words(source, hosts, seen.queue()), identifier)
        group = self.groups.get(key)
        if group is None:
            self._begins(seen, notes, path, hosts, place, key)
        elif first:
            if path.generation:  # It may have been sent before.
                notes.undecided(_FIRST, seen, _LOST)
            elif group.ended:
                notes.judge(
                    _UNIQUE, False, seen, "an identifier of no transaction before", f"as in packet {group.frame}"
                )
            else:
                notes.judge(_FIRST, False, seen, "FM in the first message alone", f"begun before packet {group.frame}")
        elif group.ended:
            if path.generation:
                notes.undecided(_LAST, seen, _LOST)
            elif place.open and place.follows:
                notes.judge(_IDENTIFIER, False, seen, "that of the transaction that has not ended", identifier)
                self.misnamed[hosts] = None
                if len(self.misnamed) > _MOST:
                    del self.misnamed[next(iter(self.misnamed))]
            else:
                notes.judge(_LAST, False, seen, "no message after the last one", f"ended in packet {group.frame}")
        else:
            notes.judge(_IDENTIFIER, True, seen, identifier, identifier)
            if not last:
                notes.judge(_FIRST, True, seen, "FM in the first message alone", "clear")
        if group is not None and group.sequence != place.sequence:
            self.unended.pop((source, hosts), None)
        if last and (group is None or not group.ended):
            notes.judge(_LAST, True, seen, "the last of its transaction", "the last so far")
            if first and group is None:
                notes.judge(_UNIQUE, True, seen, "an identifier of no transaction before", "a new one")
        ended = bool(last) or (group is not None and group.ended and not first)
        self.groups.put(key, Group(seen.frame_number, ended, place.sequence, seen.connection or 0))
        return int(not ended) - int(group is not None and not group.ended)

    def _begins(self, seen: Seen, notes: Notes, path: Path, hosts: Hosts, place: Place, part: Key) -> None:
        """Judge the first message of a transaction in its queue. part: the key of what goes to this queue."""
        source = seen.text("UserHeader.SourceQueueManager") or ""
        key = (*guid_words(source), (seen.number(_FLAGS[0]) or 0) | WHOLE)
        whole, first = self.groups.get(key), bool(seen.number(_FLAGS[1]))
        if first and place.open and part[:2] not in self.within:
            self.within[part[:2]] = Within(seen.kept(), hosts, part, place.sequence)
            if len(self.within) > _MOST:
                self.within.popitem(last=False)
        here = Group(seen.frame_number, first, place.sequence, seen.connection or 0)
        if whole is None:
            self.groups.put(key, here)
            if first:
                notes.judge(_FIRST, True, seen, "the first of its transaction", "the first")
            elif place.follows and not path.generation:
                self.unmarked[key] = Unmarked(seen.kept(), hosts, part, place.open)
                if len(self.unmarked) > _MOST:
                    self.unmarked.popitem(last=False)
            else:
                notes.undecided(_FIRST, seen, _LOST)
            return
        later = whole.connection == here.connection and place.sequence > whole.sequence
        if first and later and place.session and not path.generation and key not in self.unmarked:
            # What was in the sequence before is acknowledged, and a transaction is sent at once.
            expected, actual = "an identifier of no transaction before", f"as in packet {whole.frame}"
            notes.judge(_UNIQUE, False, seen, expected, actual)
            self.groups.put(key, here)
            return
        self.spread[source] = None
        if len(self.spread) > _MOST:
            del self.spread[next(iter(self.spread))]
        if first:
            notes.judge(_FIRST, True, seen, "the first of its transaction", "the first")
            self.unmarked.pop(key, None)
        else:
            notes.undecided(_FIRST, seen, _ELSEWHERE)

    def leaves(self, source: str, hosts: Hosts, unended: Unended) -> None:
        """Record that a sequence is left while a transaction in it has no last message."""
        self.unended.setdefault((source, hosts), unended)
        while len(self.unended) > _MOST:
            self.unended.popitem(last=False)

    def tell_unmarked(self, notes: Notes, is_whole: Callable[[Hosts], bool]) -> None:
        """Judge first messages without FM when the capture ends. is_whole: nothing is missing between two hosts."""
        marking = self._marking() if self.unmarked else set()
        for key, one in self.unmarked.items():
            group = self.groups.get(one.part)
            if key[:2] not in marking and not (group is not None and group.ended):
                notes.undecided(_FIRST, one.seen, _UNMARKED)
            elif not is_whole(one.hosts):
                notes.undecided(_FIRST, one.seen, _LOST)
            elif one.open:
                expected = "that of the transaction that has not ended"
                notes.judge_late(_IDENTIFIER, False, one.seen, expected, one.part[2])
            else:
                notes.judge_late(_FIRST, False, one.seen, "FM in the first message of a transaction", "clear")
        self.unmarked.clear()

    def tell_within(self, notes: Notes, is_told: Callable[[Hosts], bool]) -> None:
        """Judge transactions without LM, after which others of their queue and sequence came whole.

        A transaction is sent at once, so that none begins before another of its queue has ended. is_told: nothing is
        missing between two hosts, and no identifier is wrong.
        """
        waited = {(one.part[:2], one.sequence): one for one in self.within.values()}
        if not waited:
            return
        marking = self._marking()
        for key, group in self.groups.items():
            one = waited.get((key[:2], group.sequence))
            if one is None or key[2] & WHOLE or group.ended or group.frame >= one.seen.frame_number:
                continue
            following, source = self.groups.get(one.part), one.seen.text("UserHeader.SourceQueueManager") or ""
            if following is None or not following.ended or not is_told(one.hosts):
                continue
            if source in self.spread or guid_words(source) not in marking:
                notes.undecided(_LAST, one.seen, _ELSEWHERE if source in self.spread else _UNMARKED)
            else:
                actual = f"none in the transaction {key[2]}, up to packet {group.frame}"
                notes.judge_late(_LAST, False, one.seen, "LM before the next transaction begins", actual)
            del waited[key[:2], group.sequence]
        self.within.clear()

    def tell_unended(self, notes: Notes, one: Unended, source: str) -> None:
        """Judge a sequence with a transaction without LM, after which the next one went on, and was acknowledged."""
        if source in self.spread or guid_words(source) not in self._marking():
            notes.undecided(_LAST, one.seen, _ELSEWHERE if source in self.spread else _UNMARKED)
        else:
            actual = f"none in a transaction of the sequence {one.sequence}"
            notes.judge_late(_LAST, False, one.seen, "LM before the next sequence begins", actual)

    def _marking(self) -> set[tuple[int, int]]:
        """Return the words of the queue managers that mark messages at all, which Windows NT does not."""
        return {key[:2] for key, group in self.groups.items() if key[2] & WHOLE and group.ended}


_SEQUENCE = requirement_id("MQQB-2.2.4.1.sequence")
_NEXT_SEQUENCE = requirement_id("MQQB-3.1.1.5.next-sequence")
_FINAL = requirement_id("MQQB-2.2.5.1.sequence")
_DISCARDED = requirement_id("MQQB-3.1.1.6.2.discarded")
_FINAL_NUMBER = requirement_id("MQQB-2.2.5.1.sequence-number")
_FINAL_SOURCE = requirement_id("MQQB-2.2.5.1.source-guid")
_FINAL_MESSAGE = requirement_id("MQQB-2.2.5.1.message-id")
_FINAL_PREVIOUS = requirement_id("MQQB-2.2.5.1.previous")
_FINAL_WANTED = requirement_id("MQQB-3.1.7.2.2.wanted")
_PASSED_ON = requirement_id("MQQB-3.1.1.5.passed-on")
_ACK_RECEIVE = 0x4000
LASTING_S: Final = 86_400
"""A message with this time to reach its queue, or more, is not over while a capture lasts."""
_ORDINAL = 0xFFFFFFFF  # The half of a sequence that counts.


class Omission(NamedTuple):
    """A message that was sent again, with its place, while the one with the number `missing` was not before it."""

    seen: Seen
    sequence: int
    number: int
    missing: int


@dataclass(slots=True)
class Transactions:
    """All transactional traffic of a capture. omissions: what may have been left out of what is sent again."""

    registers: Registers
    sequences: Sequences
    groups: Groups = field(default_factory=Groups)
    resends: Resends = field(default_factory=Resends)
    sent: Sendings = field(default_factory=Sendings)
    paths: OrderedDict[Hosts, TransactionalPath] = field(default_factory=OrderedDict)
    omissions: OrderedDict[Way, Omission] = field(default_factory=OrderedDict)

    def lose(self, hosts: Hosts) -> None:
        """Record that something from one host to the other is missing from the capture, or was unintelligible."""
        self._path(hosts).generation += 1

    def back(self, seen: Seen) -> TransactionalPath:
        """Return the path on which the receiver of a packet sends to its sender."""
        return self._path((seen.hosts[1], seen.hosts[0]))

    def see(
        self,
        seen: Seen,
        notes: Notes,
        known: Memory,
        *,
        new: bool,
        original: bool,
        idle: bool,
        covered: bool,
        connection: Connection,
    ) -> None:
        """Judge a packet of a connection. new: not seen before. original: its sender has made the message.

        known: the messages that were seen. idle: everything its sender sent before it on this session is acknowledged.
        covered: it was sent before, on a session that has acknowledged it.
        """
        if seen.number("UserHeader.Flags.DQ") == DIRECT:
            self._path(seen.hosts).named_direct = 1
        if seen.kind == "OrderAck":
            self._order_ack(seen, notes, seen.hosts, connection, new=new)
        elif seen.kind == "FinalAck":
            self._final_ack(seen, notes)
        elif seen.number("TransactionHeader.TxSequenceID") is not None:
            hosts = seen.hosts
            path = self._path(hosts)
            order_steps.begin(path.block.rows, path.base, seen.time_ns)
            if original:
                self._message(seen, notes, path, hosts, known, connection, idle=idle, covered=covered)
            else:
                self._passed_on(seen, notes)
            order_steps.end(path.block.rows, path.base, seen.time_ns, seen.connection or 0)

    def end(self, notes: Notes) -> None:
        """Judge what was waited for to the end of the capture: marks of transactions."""
        groups = self.groups
        # A message without FM may belong to a transaction whose last one is missed, under a wrong identifier.
        blamed = {*groups.misnamed, *(one.hosts for one in groups.unmarked.values())}

        def is_whole(hosts: Hosts) -> bool:
            return (path := self.paths.get(hosts)) is not None and not path.generation

        groups.tell_unmarked(notes, is_whole)
        groups.tell_within(notes, lambda hosts: hosts not in blamed and is_whole(hosts))
        for (source, hosts), one in groups.unended.items():
            path, view = self.paths.get(hosts), self.sequences.find(source)
            following = None if path is None else path.progress(one.following)
            if hosts in blamed or path is None or path.generation or following is None or not following.acknowledged:
                continue
            if one.sure or (view >= 0 and self.sequences.of_sessions(view)):
                groups.tell_unended(notes, one, source)
        groups.unended.clear()

    def _message(
        self,
        seen: Seen,
        notes: Notes,
        path: TransactionalPath,
        hosts: Hosts,
        known: Memory,
        connection: Connection,
        *,
        idle: bool,
        covered: bool,
    ) -> None:
        source, message = seen.text("UserHeader.SourceQueueManager"), seen.number("UserHeader.MessageID")
        if source is None or message is None:
            return
        before = self.sent.get((source, message))
        sent = Sent.of(seen, before)
        if sent is None:
            return
        self.sent.put((source, message), sent)
        self._omission(seen, notes, before)
        whole = before is not None and not path.generation
        if before is not None and whole:
            self._again(seen, notes, path, source, before, covered=covered)
        last = self.resends.see(seen, notes, before, path, acknowledged=before is not None and idle)
        if before is not None and whole:
            self._skipped(seen, path, source, before, last, known)
        sequences, view = self.sequences, self.sequences.view(source)
        progress, delta = path.progress(sent.sequence), 0
        if before is None and progress is not None and progress.over and not path.generation:
            known_ns = seen.time_ns - path.answered_ns
            if known_ns > NOTICED_NS and notes.timeless(path.answered_ns, seen.time_ns) is None:
                notes.judge(_NEXT_SEQUENCE, False, seen, {"above": sent.sequence}, sent.sequence)
            progress.over = 0
        if before is None:
            session, newest = sequences.of_sessions(view), path.newest
            older = path.progress(newest) if newest is not None and sent.sequence > newest else None
            if older is not None and older.unended and not path.generation:
                same = sequences.is_of_one_queue(source, hosts, seen.queue(), newest or 0)
                self.groups.leaves(source, hosts, Unended(seen.kept(), newest or 0, sent.sequence, session or same))
            if sent.number > 1:
                follows = progress is not None and progress.highest == sent.number - 1
            else:
                follows = (session and older is not None) or known.get((source, message - 1)) is not None
            unended = progress is not None and progress.unended > 0
            delta = self.groups.see(seen, notes, path, hosts, Place(sent.sequence, follows, session, unended))
        sequences.see(seen, notes, path, self._path((hosts[1], hosts[0])), source, sent, before)
        progress = path.begin(sent.sequence, whole=sent.number == 1)
        dq = seen.number("UserHeader.Flags.DQ") or 0
        advance(
            connection.block.rows, connection.base, connection.end(seen.side or "initiator").base, path.block.rows,
            path.base, progress.base, seen.time_ns, sent.number, sent.previous, before is not None, delta, dq,
        )  # fmt: skip
        path.newest = max(path.newest or 0, sent.sequence)
        path.bound(MAX_REMEMBERED)

    def _again(
        self, seen: Seen, notes: Notes, path: TransactionalPath, source: str, before: Sent, *, covered: bool
    ) -> None:
        """Judge that a message that is sent again is not acknowledged. covered: see `see`."""
        done = _acknowledged(path, before)
        lately = seen.time_ns - (path.answered_ns or 0) <= NOTICED_NS
        timely = notes.timeless(path.answered_ns or 1, seen.time_ns) is None
        # A queue manager begins the next sequence when it knows that all of the one before is acknowledged.
        newest, sequences = path.newest or 0, self.sequences
        next_ = newest > before.sequence and newest >> 32 == before.sequence >> 32
        of_sessions = sequences.of_sessions(sequences.view(source))
        knows = covered or (
            next_ and (of_sessions or sequences.is_of_one_queue(source, seen.hosts, seen.queue(), newest))
        )
        acknowledged = knows and before.number <= done
        if not before.final and timely and not (lately and acknowledged):
            notes.judge(_DISCARDED, not acknowledged, seen, {"above": done}, before.number)

    def _skipped(
        self,
        seen: Seen,
        path: TransactionalPath,
        source: str,
        before: Sent,
        last: tuple[int, int],
        known: Memory,
    ) -> None:
        """Find what is left out between the last message that was sent again and this one.

        A message that is refused, or not to be had any more, is not sent again: the next one names that before it
        as previous (MS-MQQB 3.1.7.1.3).
        """
        lowest = max(_acknowledged(path, before), last[1] if last[0] == before.sequence else 0)
        previous = seen.number("TransactionHeader.PreviousTxSequenceNumber") or 0
        if previous <= lowest or path.refusal or (seen.connection, seen.side) in self.omissions:
            return
        numbers = [
            one.number
            for key, one in self.sent.items()
            if key[0] == source
            and one.sequence == before.sequence
            and lowest < one.number <= previous
            and not one.again
            and (message := known.get(key)) is not None
            and (message.number("BaseHeader.TimeToReachQueue") or 0) >= LASTING_S
        ]
        if numbers:
            self.omissions[seen.connection, seen.side] = Omission(
                seen.kept(), before.sequence, before.number, min(numbers)
            )
            while len(self.omissions) > MAX_HOSTS:
                self.omissions.popitem(last=False)

    def _omission(self, seen: Seen, notes: Notes, before: Sent | None) -> None:
        """Judge that a message was left out, where it does not come right behind one that had to follow it."""
        found = self.omissions.get((seen.connection, seen.side))
        if found is None:
            return
        if before is not None and (before.sequence, before.number) == (found.sequence, found.missing):
            del self.omissions[seen.connection, seen.side]
        elif seen.time_ns - found.seen.time_ns > NOTICED_NS:
            self.end_omission((seen.connection, seen.side), seen.time_ns, notes)

    def end_omission(self, way: Way, time_ns: int, notes: Notes) -> None:
        """Judge what was left out on one side of a connection, which nothing can follow any more."""
        found = self.omissions.pop(way, None)
        if found is None or time_ns - found.seen.time_ns <= NOTICED_NS:
            return
        if notes.timeless(found.seen.time_ns, time_ns) is None:
            notes.judge_late(RESENT, False, found.seen, {"number": found.missing}, {"number": found.number})

    def _passed_on(self, seen: Seen, notes: Notes) -> None:
        """Judge a message on its further way by what its own queue manager sent last, on any of its connections."""
        source, message = seen.text("UserHeader.SourceQueueManager"), seen.number("UserHeader.MessageID")
        sent = None if source is None or message is None else self.sent.get((source, message))
        now = Sent.of(seen, None)
        if sent is None or now is None:
            return
        if sent.again:
            notes.undecided(_PASSED_ON, seen, "it is not known which transmission was passed on")
            return
        # A second transmission, of whatever queue manager, may bridge a gap with an earlier number (3.1.7.1.3).
        holds = (now.sequence, now.number) == (sent.sequence, sent.number) and now.previous <= sent.previous
        names = ("sequence", "number", "previous")
        wanted, found = ({name: getattr(one, name) for name in names} for one in (sent, now))
        notes.judge(_PASSED_ON, holds, seen, wanted, found)

    def _order_ack(self, seen: Seen, notes: Notes, hosts: Hosts, connection: Connection, *, new: bool) -> None:
        sequence, number = (seen.number(f"OrderAckBody.{key}") for key in ("TxSequenceID", "TxSequenceNumber"))
        if sequence is None or number is None:
            return
        there, back = self._path((hosts[1], hosts[0])), self._path(hosts)
        progress, own = there.begin(sequence), back.progress(sequence)
        registers = self.registers
        out = registers.order_out
        if not registers.shared[DECIDED]:  # Compiled code has not done it.
            form = seen.number("UserHeader.Flags.DQ")
            order_steps.see(
                connection.block.rows, connection.base, seen.side == "acceptor", registers.paths.rows, there.base,
                progress.base, -1 if own is None else own.base, registers.shared, out, seen.time_ns, signed(sequence),
                number, NONE if form is None else form, new,
            )  # fmt: skip
        for rule, outcome, expected, actual in results(out):
            if outcome & 7 == NOTE:
                only = own is not None and own.highest and not progress.highest
                self._unknown_sequence(seen, notes, there, sequence, own=bool(only))
            else:
                report(notes, seen, rule, outcome, expected, actual, (there,))
        there.bound(MAX_REMEMBERED)

    @staticmethod
    def _unknown_sequence(seen: Seen, notes: Notes, there: TransactionalPath, sequence: int, *, own: bool) -> None:
        """Judge the sequence of an OrderAck that no reading fits. own: its sender alone has sent on it."""
        readings = ((READING_SEQUENCE, "acknowledged"),)
        if own and not there.generation:
            # It names a sequence of its sender's, as which no other queue manager's begins at the same second.
            notes.suspect(_SEQUENCE, seen, "a sequence of the other side", sequence, (there,), readings)
        elif not sequence & _ORDINAL:  # Ordinals begin with 1 (MS-MQQB 3.1.1.3.1).
            notes.judge(_SEQUENCE, False, seen, "a sequence", sequence, readings)
        elif (meant := _exchanged(there, sequence)) is not None:
            notes.judge(_SEQUENCE, False, seen, meant, sequence, readings)
        elif there.newest is not None and sequence > there.newest and not there.generation:
            notes.suspect(_SEQUENCE, seen, {"at most": there.newest}, sequence, (there,), readings)
        else:
            notes.undecided(_SEQUENCE, seen, UNSEEN)

    def _final_ack(self, seen: Seen, notes: Notes) -> None:
        source, message = seen.text("FinalAckBody.SourceGUID"), seen.number("FinalAckBody.MessageID")
        if source is None or message is None or not seen.number("FinalAckBody.TxSequenceNumber"):
            return
        self._form(seen, notes)
        if seen.number("MessagePropertiesHeader.MessageClass") != _ACK_RECEIVE:
            self._path((seen.hosts[1], seen.hosts[0])).refusal = 1
        sent = self.sent.get((source, message))
        if sent is None:
            self._misnamed(seen, notes, source, message)
            return
        if not notes.same(_FINAL, seen, sent.sequence, seen.number("FinalAckBody.TxSequenceID")):
            return
        previous = seen.number("FinalAckBody.TxPreviousSequenceNumber")
        meant = self._at(source, sent, seen.number("FinalAckBody.TxSequenceNumber"), previous)
        if meant is not None:  # The number and the previous one agree about another message.
            notes.judge(_FINAL_MESSAGE, False, seen, meant, message)
            return
        notes.same(_FINAL_NUMBER, seen, sent.number, seen.number("FinalAckBody.TxSequenceNumber"))
        for requirement in (_FINAL_SOURCE, _FINAL_MESSAGE):
            notes.judge(requirement, True, seen, "a message that was sent", "one")
        notes.judge(_FINAL_PREVIOUS, previous in sent.given, seen, {"one of": sorted(sent.given)}, previous)
        message_class = seen.number("MessagePropertiesHeader.MessageClass")
        if message_class == _ACK_RECEIVE:
            requested = "asked for" if sent.final else "not asked for"
            notes.judge(_FINAL_WANTED, sent.final, seen, "a final acknowledgment that JN, JP or FA asks for", requested)

    def _form(self, seen: Seen, notes: Notes) -> None:
        """Judge how a FinalAck names its queue."""
        there, out = self._path((seen.hosts[1], seen.hosts[0])), self.registers.order_out
        out[0] = 0
        judge_form(there.block.rows, there.base, out, seen.number("UserHeader.Flags.DQ") or 0)
        for result in results(out):
            report(notes, seen, *result)

    def _at(self, source: str, named: Sent, number: int | None, previous: int | None) -> int | None:
        """Return the message at this place of a sequence, if what an acknowledgment names has another in both parts."""
        if number == named.number or previous in named.given:
            return None
        found = (
            message
            for (maker, message), sent in self.sent.items()
            if maker == source and (sent.sequence, sent.number) == (named.sequence, number) and previous in sent.given
        )
        return next(found, None)

    def acknowledges(self, seen: Seen, manager: str | None) -> bool:
        """Tell whether a transactional acknowledgment is for a message of the queue manager at its connection's end.

        After messages to direct names alone it may not go to a private name at all, whichever that is.
        """
        there = self._path((seen.hosts[1], seen.hosts[0]))
        if not there.indirect:
            return False
        if seen.kind == "OrderAck":
            progress = there.progress(seen.number("OrderAckBody.TxSequenceID") or 0)
            return progress is not None and bool(progress.highest)
        source, message = seen.text("FinalAckBody.SourceGUID"), seen.number("FinalAckBody.MessageID")
        return source == manager and message is not None and self.sent.get((source or "", message)) is not None

    def _misnamed(self, seen: Seen, notes: Notes, source: str, message: int) -> None:
        """Judge a FinalAck for no known message: one with its sequence and number, and half its name, may be meant."""
        place = seen.number("FinalAckBody.TxSequenceID"), seen.number("FinalAckBody.TxSequenceNumber")
        own = seen.text("UserHeader.SourceQueueManager")  # It acknowledges no message of its sender's.
        meant = [key for key, sent in self.sent.items() if (sent.sequence, sent.number) == place and key[0] != own]
        there = self._path((seen.hosts[1], seen.hosts[0]))
        progress = there.progress(place[0] or 0)
        if not (place[0] or 0) & _ORDINAL:
            notes.judge(_FINAL, False, seen, "a sequence", place[0])
        elif not meant and progress is not None and (place[1] or 0) > progress.highest > 0 and not there.generation:
            notes.suspect(_FINAL, seen, {"at most": progress.highest}, place[1], (there,))
        elif len(meant) == 1 and meant[0][1] == message:
            notes.judge(_FINAL_SOURCE, False, seen, meant[0][0], source)
        elif len(meant) == 1 and meant[0][0] == source:
            notes.judge(_FINAL_MESSAGE, False, seen, meant[0][1], message)
        elif len(meant) == 1:
            notes.judge(_FINAL, False, seen, list(meant[0]), [source, message])
        else:
            notes.undecided(_FINAL, seen, UNSEEN)

    def _path(self, hosts: Hosts) -> TransactionalPath:
        path = self.paths.get(hosts)
        if path is None:
            path = self.paths[hosts] = TransactionalPath(self.registers, host_words(hosts))
            while len(self.paths) > MAX_HOSTS:
                self.paths.popitem(last=False)[1].close()
        return path


def _acknowledged(path: TransactionalPath, sent: Sent) -> int:
    """Return the highest number of a message's sequence that is acknowledged."""
    progress = path.progress(sent.sequence)
    return 0 if progress is None else progress.acknowledged or 0


def _exchanged(there: TransactionalPath, sequence: int) -> int | None:
    """Return the sequence that was sent and has this one's halves in the other places (MS-MQMQ 2.2.18.1.2)."""
    meant = (sequence & 0xFFFFFFFF) << 32 | sequence >> 32
    sent = there.progress(meant)
    return meant if sent is not None and sent.highest else None
