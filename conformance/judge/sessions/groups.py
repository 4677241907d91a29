"""Judges the marks of the first and last message of a transaction (MS-MQMQ 2.2.20.5), per queue.

The documents disagree on whether FM and LM mark the first and last message of a whole transaction or of its part in one
queue. Judged is what both readings forbid; a missing mark is never judged.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from conformance.judge.sessions.context import MAX_REMEMBERED, Notes, Path, Seen
from conformance.judge.sessions.sequences import Hosts
from conformance.judge.sessions.words import group_words
from conformance.spec.catalogue import requirement_id

_FIRST = requirement_id("MQMQ-2.2.20.5.first-in-transaction")
_LAST = requirement_id("MQMQ-2.2.20.5.last-in-transaction")
_UNIQUE = requirement_id("MQMQ-2.2.20.5.transaction-identifier-unique")
_FLAGS = ("TransactionHeader.Flags.ID", "TransactionHeader.Flags.FM", "TransactionHeader.Flags.LM")
_LOST = "messages of the transaction may not be in the capture"


@dataclass(slots=True)
class Group:
    """A transaction. frame: that of its last message. ended: LM was seen."""

    frame: int
    ended: bool = False


@dataclass(slots=True)
class Groups:
    """The transactions of a capture, by the words of source queue manager, hosts and queue, and by identifier."""

    groups: OrderedDict[tuple[int, int, int], Group] = field(default_factory=OrderedDict)

    def see(self, seen: Seen, notes: Notes, path: Path, hosts: Hosts) -> None:
        """Judge a transactional message that its own queue manager sends for the first time."""
        identifier, first, last = map(seen.number, _FLAGS)
        source = seen.text("UserHeader.SourceQueueManager")
        if identifier is None or first is None or last is None or source is None:
            return
        key = (*group_words(source, hosts, seen.queue()), identifier)
        group = self.groups.get(key)
        if group is None:
            if first:
                notes.judge(_FIRST, True, seen, "the first of its transaction", "the first")
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
            else:
                notes.judge(_LAST, False, seen, "no message after the last one", f"ended in frame {group.frame}")
        elif not last:
            notes.judge(_FIRST, True, seen, "FM in the first message alone", "clear")
        if last and (group is None or not group.ended):
            notes.judge(_LAST, True, seen, "the last of its transaction", "the last so far")
            if first and group is None:
                notes.judge(_UNIQUE, True, seen, "an identifier of no transaction before", "a new one")
        ended = bool(last) or (group is not None and group.ended and not first)
        self.groups[key] = Group(seen.frame_number, ended)
        self.groups.move_to_end(key)
        while len(self.groups) > MAX_REMEMBERED:
            self.groups.popitem(last=False)
