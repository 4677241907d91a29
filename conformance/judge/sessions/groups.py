"""Judges the marks of the first and last message of a transaction (MS-MQMQ 2.2.20.5), per queue.

The documents disagree on whether FM and LM mark the first and last message of a whole transaction or of its part in one
queue. Judged is what both readings forbid. A mark is missing where no message of the transaction in the capture has it,
and the capture shows what came just before, or after: that is told when the capture ends.

A message without FM that comes while another transaction of its sequence is open belongs to that one, and has a wrong
identifier.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from conformance.judge.sessions.context import MAX_REMEMBERED, Notes, Path, Seen
from conformance.judge.sessions.keys import group_words, guid_words
from conformance.judge.sessions.sequences import Hosts
from conformance.spec.catalogue import requirement_id

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
                    _UNIQUE, False, seen, "an identifier of no transaction before", f"as in frame {group.frame}"
                )
            else:
                notes.judge(_FIRST, False, seen, "FM in the first message alone", f"begun before frame {group.frame}")
        elif group.ended:
            if path.generation:
                notes.undecided(_LAST, seen, _LOST)
            elif place.open and place.follows:
                notes.judge(_IDENTIFIER, False, seen, "that of the transaction that has not ended", identifier)
                self.misnamed[hosts] = None
                if len(self.misnamed) > _MOST:
                    del self.misnamed[next(iter(self.misnamed))]
            else:
                notes.judge(_LAST, False, seen, "no message after the last one", f"ended in frame {group.frame}")
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
            expected, actual = "an identifier of no transaction before", f"as in frame {whole.frame}"
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
                actual = f"none in the transaction {key[2]}, up to frame {group.frame}"
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
