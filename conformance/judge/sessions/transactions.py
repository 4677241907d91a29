"""Judges transactional messages between two hosts: marks of a transaction, numbers, acknowledgments."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final, Protocol

from conformance.judge.sessions.context import MAX_HOSTS, MAX_REMEMBERED, NOTICED_NS, Notes, Path, Seen
from conformance.judge.sessions.keys import group_words, guid_words
from conformance.judge.sessions.sequences import Hosts, Progress, Resends, Sent, Sequences, TransactionalPath, View
from conformance.spec.catalogue import requirement_id
from conformance.spec.followed_readings import either

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

Key = tuple[int, int, int]


@dataclass(slots=True)
class Group:
    """A transaction. frame: that of its last message. ended: LM was seen. sequence, connection: of that message.

    Of one in any queue: the first message of it in one queue; ended: it has FM.
    """

    frame: int
    ended: bool = False
    sequence: int = 0
    connection: int = 0


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

    groups: OrderedDict[Key, Group] = field(default_factory=OrderedDict)
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
        self._keep(key, Group(seen.frame_number, ended, place.sequence, seen.connection or 0))
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
            self._keep(key, here)
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
            self._keep(key, here)
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

    def _keep(self, key: Key, group: Group) -> None:
        self.groups[key] = group
        self.groups.move_to_end(key)
        while len(self.groups) > 2 * MAX_REMEMBERED:  # A packet belongs to two: in its queue, and in all of them.
            self.groups.popitem(last=False)


_SEQUENCE = requirement_id("MQQB-2.2.4.1.sequence")
_IN_ORDER = requirement_id("MQQB-3.1.1.6.2.in-order")
_NEVER_DECREASES = requirement_id("MQQB-3.1.1.6.2.never-decreases")
_NEXT_SEQUENCE = requirement_id("MQQB-3.1.1.5.next-sequence")
_FINAL = requirement_id("MQQB-2.2.5.1.sequence")
_FINAL_NUMBER = requirement_id("MQQB-2.2.5.1.sequence-number")
_FINAL_SOURCE = requirement_id("MQQB-2.2.5.1.source-guid")
_FINAL_MESSAGE = requirement_id("MQQB-2.2.5.1.message-id")
_FORM = requirement_id("MQQB-3.1.7.17.destination-form")
_FINAL_PREVIOUS = requirement_id("MQQB-2.2.5.1.previous")
_FINAL_WANTED = requirement_id("MQQB-3.1.7.2.2.wanted")
_ACCEPTED = requirement_id("MQQB-3.1.5.8.6.accepted")
_PASSED_ON = requirement_id("MQQB-3.1.1.5.passed-on")
_DELAY = requirement_id("MQQB-3.1.3.2.order-ack-delay")
_READING_REJECTED = "R-MQQB-rejected-number"
_ACK_RECEIVE = 0x4000
_DIRECT = 7  # UserHeader.Flags.DQ of a direct format name.
_MAX_SOURCES = 1_024  # Queue managers whose sequences are remembered.
_DELAY_MS, _TICK_MS = 500, 50  # OrderAckTimeout; timers run in ticks.
ORDER_LATE_NS: Final = 13_000_000_000
"""OrderAckTimeout, MaximumOrderAckDelay (10 s), and the time in which an OrderAck gets its turn on a session."""
SCHEDULED_NS: Final = 1_550_000_000
"""The same after the last message: OrderAckTimeout, a tick, and a second."""
GAP_NS: Final = 2_050_000_000
"""The same where no OrderAck shows that it had its turn."""
_SCHEDULED = requirement_id("MQQB-3.1.1.6.2.scheduled")
ORDER_SENT: Final[str] = requirement_id("MQQB-3.1.6.9.sent")
_READING_SEQUENCE = "R-MQQB-order-ack-sequence"
_ORDINAL = 0xFFFFFFFF  # The half of a sequence that counts.
_UNSEEN = "the acknowledged messages may not be in the capture"


class Known(Protocol):
    """See `Messages.known`."""

    def get(self, key: tuple[str, int], /) -> object | None:
        """Return a message by its queue manager and number; None for an unknown one."""


@dataclass(slots=True)
class Transactions:
    """All transactional traffic of a capture. scopes: the accepted scopes of a sequence, the default first.

    views: by source queue manager, one view for each scope, the followed one first.
    """

    scopes: tuple[str, ...]
    views: OrderedDict[str, list[Sequences]] = field(default_factory=OrderedDict)
    groups: Groups = field(default_factory=Groups)
    resends: Resends = field(default_factory=Resends)
    sent: OrderedDict[tuple[str, int], Sent] = field(default_factory=OrderedDict)
    paths: OrderedDict[Hosts, TransactionalPath] = field(default_factory=OrderedDict)

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
        known: Known,
        *,
        new: bool,
        original: bool,
        idle: bool,
        settled: bool,
        begun_ns: int,
    ) -> None:
        """Judge a packet of a connection. new: not seen before. original: its sender has made the message.

        known: the messages that were seen. idle: everything its sender sent before it on this session is acknowledged.
        settled: so is everything the other side sent. begun_ns: since when the session stands, with room for an
        OrderAck.
        """
        if seen.number("UserHeader.Flags.DQ") == _DIRECT:
            self._path(seen.hosts).named_direct = True
        if seen.kind == "OrderAck":
            self._order_ack(seen, notes, seen.hosts, new=new, settled=settled, begun_ns=begun_ns)
        elif seen.kind == "FinalAck":
            self._final_ack(seen, notes)
        elif seen.number("TransactionHeader.TxSequenceID") is not None:
            hosts = seen.hosts
            path = self._path(hosts)
            path.first_ns = path.first_ns or seen.time_ns
            if original:
                self._message(seen, notes, path, hosts, known, idle=idle, begun_ns=begun_ns)
            else:
                self._passed_on(seen, notes)
            path.latest_ns, path.connection = seen.time_ns, seen.connection or 0

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
            path, views = self.paths.get(hosts), self.views.get(source)
            following = None if path is None else path.sequences.get(one.following)
            if hosts in blamed or path is None or path.generation or following is None or not following.acknowledged:
                continue
            if one.sure or (views is not None and _of_sessions(views)):
                groups.tell_unended(notes, one, source)
        groups.unended.clear()

    def _message(
        self,
        seen: Seen,
        notes: Notes,
        path: TransactionalPath,
        hosts: Hosts,
        known: Known,
        *,
        idle: bool,
        begun_ns: int,
    ) -> None:
        source, message = seen.text("UserHeader.SourceQueueManager"), seen.number("UserHeader.MessageID")
        if source is None or message is None:
            return
        before = self.sent.get((source, message))
        sent = Sent.of(seen, before)
        if sent is None:
            return
        self.sent[source, message] = sent
        self.sent.move_to_end((source, message))
        while len(self.sent) > MAX_REMEMBERED:
            self.sent.popitem(last=False)
        self.resends.see(seen, notes, before, path, acknowledged=before is not None and idle)
        views = self._views(source)
        progress, delta = path.sequences.get(sent.sequence), 0
        if before is None and progress is not None and progress.over and not path.generation:
            known_ns = seen.time_ns - path.answered_ns
            if known_ns > NOTICED_NS and notes.timeless(path.answered_ns, seen.time_ns) is None:
                notes.judge(_NEXT_SEQUENCE, False, seen, {"above": sent.sequence}, sent.sequence)
            progress.over = False
        if before is not None:  # Whoever has not acknowledged it may have had no way to.
            path.again_ns, path.gap_ns = seen.time_ns, None
        elif begun_ns <= path.latest_ns > path.answered_ns > 0 and seen.time_ns - path.latest_ns > GAP_NS:
            path.gap_ns = path.gap_ns or seen.time_ns - path.latest_ns
        if before is None:
            session, newest = _of_sessions(views), path.newest
            older = path.sequences.get(newest) if newest is not None and sent.sequence > newest else None
            if older is not None and older.unended and not path.generation:
                same = _is_of_one_queue(views, (*hosts, seen.queue()), newest)
                self.groups.leaves(source, hosts, Unended(seen.kept(), newest or 0, sent.sequence, session or same))
            if sent.number > 1:
                follows = progress is not None and progress.highest == sent.number - 1
            else:
                follows = (session and older is not None) or known.get((source, message - 1)) is not None
            unended = progress is not None and progress.unended > 0
            delta = self.groups.see(seen, notes, path, hosts, Place(sent.sequence, follows, session, unended))
        back = self._path((hosts[1], hosts[0]))
        results: list[View] = []
        for view in views:
            results.append(View(notes.timeless))
            view.see(seen, results[-1], path, back, hosts, sent, before)
        results[_follow(views)].tell(seen, notes, views[0].scope, tuple(one.scope for one in views if not one.failed))
        progress = path.sequences.get(sent.sequence)
        if progress is None:
            progress = path.sequences.setdefault(sent.sequence, Progress())
            progress.whole = sent.number == 1
        progress.highest = max(progress.highest, sent.number)
        progress.unended = max(0, progress.unended + delta)
        progress.first_ns = progress.first_ns or seen.time_ns
        progress.accept(sent.number, sent.previous, path.generation)
        if seen.number("UserHeader.Flags.DQ") == _DIRECT:
            path.direct = True
        else:
            path.indirect = True
        path.newest = max(path.newest or 0, sent.sequence)
        _bound(path)

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

    def _order_ack(self, seen: Seen, notes: Notes, hosts: Hosts, *, new: bool, settled: bool, begun_ns: int) -> None:
        sequence, number = (seen.number(f"OrderAckBody.{key}") for key in ("TxSequenceID", "TxSequenceNumber"))
        if sequence is None or number is None:
            return
        there, back = self._path((hosts[1], hosts[0])), self._path(hosts)
        _form(seen, notes, there)
        progress = there.sequences.setdefault(sequence, Progress())
        there.answers = True
        self._acknowledged_sequence(seen, notes, there, back, sequence, progress)
        if progress.highest:
            if number <= progress.highest:
                notes.judge(_IN_ORDER, True, seen, {"at most": progress.highest}, number)
            elif there.generation:
                notes.undecided(_IN_ORDER, seen, _UNSEEN)
            else:
                notes.suspect(_IN_ORDER, seen, {"at most": progress.highest}, number, (there,))
            self._accepted(seen, notes, there, progress, number)
        if new:  # One that is sent again, on another session, comes at any time.
            self._delay(seen, notes, there, progress, number, begun_ns)
            self._scheduled(seen, notes, there, progress, number, begun_ns)
        there.answered_ns = seen.time_ns
        if progress.acknowledged and new:
            holds = number >= progress.acknowledged
            notes.judge(_NEVER_DECREASES, holds, seen, {"at least": progress.acknowledged}, number)
        progress.acknowledged = max(progress.acknowledged, number)
        here = settled and there.connection == seen.connection
        progress.over = here and number >= progress.highest > 0
        _bound(there)

    def _acknowledged_sequence(
        self,
        seen: Seen,
        notes: Notes,
        there: TransactionalPath,
        back: TransactionalPath,
        sequence: int,
        progress: Progress,
    ) -> None:
        own = back.sequences.get(sequence)
        sent = own is not None and bool(own.highest)
        followed = notes.accepted(_READING_SEQUENCE)
        if sent and not progress.highest and not there.generation and "own-outgoing" not in followed:
            # It names a sequence of its sender's, as which no other queue manager's begins at the same second.
            readings = ((_READING_SEQUENCE, "acknowledged"),)
            notes.suspect(_SEQUENCE, seen, "a sequence of the other side", sequence, (there,), readings)
            return
        fits = {"acknowledged": bool(progress.highest), "own-outgoing": sent}
        fitting = [name for name in followed if fits.get(name)]
        if fitting:
            notes.judge(_SEQUENCE, True, seen, sequence, sequence, ((_READING_SEQUENCE, either(fitting)),))
        elif not sequence & _ORDINAL:  # Ordinals begin with 1 (MS-MQQB 3.1.1.3.1).
            notes.judge(_SEQUENCE, False, seen, "a sequence", sequence, ((_READING_SEQUENCE, "acknowledged"),))
        elif (meant := _exchanged(there, sequence)) is not None:
            notes.judge(_SEQUENCE, False, seen, meant, sequence, ((_READING_SEQUENCE, "acknowledged"),))
        elif there.newest is not None and sequence > there.newest and not there.generation:
            readings = ((_READING_SEQUENCE, "acknowledged"),)
            notes.suspect(_SEQUENCE, seen, {"at most": there.newest}, sequence, (there,), readings)
        else:
            notes.undecided(_SEQUENCE, seen, _UNSEEN)

    def _accepted(self, seen: Seen, notes: Notes, there: TransactionalPath, progress: Progress, number: int) -> None:
        """Judge that an acknowledged number was accepted in order; numbers never sent break `_IN_ORDER`."""
        alternatives = notes.accepted(_READING_REJECTED)
        accepted = progress.accepted or 0
        if number > progress.highest:
            return
        if there.generation:
            notes.undecided(_ACCEPTED, seen, _UNSEEN)
            return
        fits = {"kept": number <= accepted, "replaced": number <= accepted or number == progress.last}
        followed = [name for name in alternatives if fits.get(name)]
        if followed:
            notes.judge(_ACCEPTED, True, seen, {"at most": accepted}, number, ((_READING_REJECTED, either(followed)),))
        else:
            readings = ((_READING_REJECTED, alternatives[0]),)
            notes.suspect(_ACCEPTED, seen, {"at most": accepted}, number, (there,), readings)

    def _delay(
        self, seen: Seen, notes: Notes, there: TransactionalPath, progress: Progress, number: int, begun_ns: int
    ) -> None:
        """Judge the OrderAck timer, which starts with a transactional message, of this sequence or of another one.

        An OrderAck may wait for its turn, and come after messages that the timer of the next one began with.
        """
        started = [one for one in (there.first_ns, progress.first_ns) if one is not None]
        if number >= progress.highest:
            there.first_ns = progress.first_ns = None
        if not started:
            return
        if there.generation:
            notes.undecided(_DELAY, seen, _UNSEEN)
            return
        least_ns = (_DELAY_MS - _TICK_MS) * 1_000_000
        least = {"at least, ms": _DELAY_MS}
        notes.interval(_DELAY, seen, min(started), seen.time_ns, lambda taken: taken >= least_ns, least)
        since_ns = max(min(started), there.answered_ns, there.again_ns)
        if since_ns >= begun_ns or seen.time_ns - since_ns <= ORDER_LATE_NS:
            most = {"at most, ms": ORDER_LATE_NS // 1_000_000}
            notes.interval(ORDER_SENT, seen, since_ns, seen.time_ns, lambda taken: taken <= ORDER_LATE_NS, most)

    def _scheduled(
        self, seen: Seen, notes: Notes, there: TransactionalPath, progress: Progress, number: int, begun_ns: int
    ) -> None:
        """Judge that an OrderAck follows the last message soon, and is for it, on a session that stands since then."""
        gap_ns, there.gap_ns = there.gap_ns, None
        if there.generation or not (progress.highest and number) or number > (progress.accepted or 0):
            return
        if notes.timeless(there.latest_ns, seen.time_ns) is not None:
            return
        waited_ns = seen.time_ns - there.latest_ns
        accepted = progress.accepted or 0
        most = {"at most, ms": _DELAY_MS}
        if gap_ns is not None and not there.refusal:
            notes.judge(_SCHEDULED, False, seen, "an OrderAck before the next message", {"ms": gap_ns // 1_000_000})
        elif begun_ns <= there.latest_ns and waited_ns > SCHEDULED_NS:
            notes.judge(_SCHEDULED, False, seen, most, {"ms": waited_ns // 1_000_000})
        elif (
            progress.whole
            and begun_ns <= there.latest_ns
            and number < accepted
            and waited_ns >= (_DELAY_MS - _TICK_MS) * 1_000_000
        ):
            notes.judge(_ACCEPTED, False, seen, {"number": accepted}, {"number": number})
        elif waited_ns <= SCHEDULED_NS and not notes.passed(_SCHEDULED):
            notes.judge(_SCHEDULED, True, seen, most, {"ms": waited_ns // 1_000_000})

    def _final_ack(self, seen: Seen, notes: Notes) -> None:
        source, message = seen.text("FinalAckBody.SourceGUID"), seen.number("FinalAckBody.MessageID")
        if source is None or message is None or not seen.number("FinalAckBody.TxSequenceNumber"):
            return
        _form(seen, notes, self._path((seen.hosts[1], seen.hosts[0])))
        if seen.number("MessagePropertiesHeader.MessageClass") != _ACK_RECEIVE:
            self._path((seen.hosts[1], seen.hosts[0])).refusal = True
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
            progress = there.sequences.get(seen.number("OrderAckBody.TxSequenceID") or 0)
            return progress is not None and bool(progress.highest)
        source, message = seen.text("FinalAckBody.SourceGUID"), seen.number("FinalAckBody.MessageID")
        return source == manager and message is not None and self.sent.get((source or "", message)) is not None

    def _misnamed(self, seen: Seen, notes: Notes, source: str, message: int) -> None:
        """Judge a FinalAck for no known message: one with its sequence and number, and half its name, may be meant."""
        place = seen.number("FinalAckBody.TxSequenceID"), seen.number("FinalAckBody.TxSequenceNumber")
        own = seen.text("UserHeader.SourceQueueManager")  # It acknowledges no message of its sender's.
        meant = [key for key, sent in self.sent.items() if (sent.sequence, sent.number) == place and key[0] != own]
        there = self._path((seen.hosts[1], seen.hosts[0]))
        progress = there.sequences.get(place[0] or 0)
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
            notes.undecided(_FINAL, seen, _UNSEEN)

    def refute(self, source: str, scopes: Collection[str]) -> None:
        """Record that messages of a queue manager, which others judge, do not fit these scopes of its sequences."""
        views = self._views(source)
        for view in views:
            view.failed = view.failed or view.scope in scopes
        _follow(views)

    def _views(self, source: str) -> list[Sequences]:
        views = self.views.get(source)
        if views is not None:
            self.views.move_to_end(source)
            return views
        views = self.views[source] = [Sequences(scope) for scope in self.scopes]
        while len(self.views) > _MAX_SOURCES:
            self.views.popitem(last=False)
        return views

    def _path(self, hosts: Hosts) -> TransactionalPath:
        path = self.paths.get(hosts)
        if path is None:
            path = self.paths.setdefault(hosts, TransactionalPath())
            while len(self.paths) > MAX_HOSTS:
                self.paths.popitem(last=False)
        return path


def _follow(views: list[Sequences]) -> int:
    """Let another accepted view take over when the followed one is refuted; return the place it had."""
    at = next((at for at, view in enumerate(views) if not view.failed), 0)
    if at:
        views.insert(0, views.pop(at))
    return at


def _of_sessions(views: list[Sequences]) -> bool:
    """Tell whether the sequences of a queue manager are known to be those of a session, not of a queue."""
    return all(view.failed or view.scope == "session" for view in views)


def _is_of_one_queue(views: list[Sequences], queue: tuple[str, ...], sequence: int | None) -> bool:
    """Tell whether the last sequence of a queue is this one, where sequences may be those of queues."""
    found = [view.current.get(queue) for view in views if view.scope == "queue"]
    return any(current is not None and current.identifier == sequence for current in found)


def _exchanged(there: TransactionalPath, sequence: int) -> int | None:
    """Return the sequence that was sent and has this one's halves in the other places (MS-MQMQ 2.2.18.1.2)."""
    meant = (sequence & 0xFFFFFFFF) << 32 | sequence >> 32
    sent = there.sequences.get(meant)
    return meant if sent is not None and sent.highest else None


def _form(seen: Seen, notes: Notes, there: TransactionalPath) -> None:
    """Judge how the order queue is named (MS-MQQB 3.1.7.17), where all that is acknowledged went to direct names.

    A session is one for direct names after any message to one (3.1.5.8.2).
    """
    form = seen.number("UserHeader.Flags.DQ")
    if there.direct and not there.indirect and form in (3, _DIRECT):
        notes.same(_FORM, seen, _DIRECT, form)
    elif there.indirect and not there.named_direct and not there.generation and form in (3, _DIRECT):
        notes.same(_FORM, seen, 3, form)


def _bound(path: TransactionalPath) -> None:
    while len(path.sequences) > MAX_REMEMBERED:
        path.sequences.popitem(last=False)
