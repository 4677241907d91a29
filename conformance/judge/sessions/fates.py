"""Judges what has become of a message by all that acknowledges it: messages of administration, and FinalAcks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from conformance.capture import Side
from conformance.judge.sessions.acknowledgments import (
    HEADER,
    INFINITE,
    LOOKED_AT,
    NA,
    NR,
    PA,
    PR,
    REACHED,
    RECEIVED,
    Name,
    Original,
    Queue,
    Remembered,
    judge_reason,
    queue,
    wanted_bit,
)
from conformance.judge.sessions.context import MAX_HOSTS, MAX_REMEMBERED, Notes, Seen
from conformance.judge.sessions.message_steps import OLD_S, SECONDS
from conformance.spec.catalogue import requirement_id
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.verdict import Outcome, Verdict, of_frame

_CLASS = f"{HEADER}.MessageClass"
_CODES = ENUMERATIONS["MESSAGE_CLASS_VALUES"].members
_NOBODY = _CODES["MQMSG_CLASS_NACK_RECEIVE_TIMEOUT"]
_NOT_RECEIVED = requirement_id("MQMQ-2.2.18.1.6.nack-receive-timeout")
_CLASSES: Final[Mapping[int, str]] = {
    REACHED: requirement_id("MQMQ-2.2.18.1.6.ack-reach-queue"),
    RECEIVED: requirement_id("MQMQ-2.2.18.1.6.ack-receive"),
}
_WANTED: Final[Mapping[int, str]] = {
    PA: requirement_id("MQMQ-2.2.19.3.flags-pa"),
    PR: requirement_id("MQMQ-2.2.19.3.flags-pr"),
    NA: requirement_id("MQMQ-2.2.19.3.flags-na"),
    NR: requirement_id("MQMQ-2.2.19.3.flags-nr"),
}
"""The requirement of each bit that asks for an acknowledgment."""
_ONCE = requirement_id("MQQB-3.1.7.2.2.wanted")
_FINAL = requirement_id("MQQB-3.1.7.2.2.sent")
_TRACED = requirement_id("MQQB-3.1.5.8.9.sent")
_DUPLICATE = requirement_id("MQQB-3.1.5.8.1.duplicate")
ARRIVAL, RECEIPT, LAST = range(3)
"""The words about a message: of its arrival, of what came then, and the last one, by a FinalAck."""
# What a queue manager does not say to strangers, as long as SendInsecureNacks is FALSE (MS-MQQB 3.1.7.15).
_INSECURE = frozenset(
    _CODES[f"MQMSG_CLASS_NACK_{name}"]
    for name in ("BAD_DST_Q", "BAD_ENCRYPTION", "BAD_SIGNATURE", "ACCESS_DENIED", "UNSUPPORTED_CRYPTO_PROVIDER")
)
# A transactional message that is rejected so gets a FinalAck in any case (MS-MQQB 3.1.5.8.2, 3.1.5.8.8).
_REJECTED = frozenset(
    _CODES[f"MQMSG_CLASS_NACK_{name}"]
    for name in ("BAD_DST_Q", "Q_EXCEED_QUOTA", "HOP_COUNT_EXCEEDED", "NOT_TRANSACTIONAL_Q")
)
_LATE_NS: Final = 60_000_000_000
"""An acknowledgment may wait this long for a session that takes it."""
_SOON_NS: Final = 10_000_000_000
"""One that goes where another one about the same message has gone waits no longer than this."""
_FORGOTTEN_NS: Final = 1_800_000_000_000
"""So long are identifiers of messages remembered (MS-MQQB, product note 47)."""
_MOST_DEBTS = 256

Fate = tuple[str, int, Queue | None]
"""A message, and the queue that it went to: one may go to several."""


class Debt(NamedTuple):
    """An acknowledgment of administration that is owed.

    shown: the acknowledgment that shows it. requirement, expected: of the one that is owed. due_ns: when it must have
    come. home: the host of its queue, as a direct name has it; None for the host of the message's queue manager, to
    which a FinalAck goes.
    """

    shown: Seen
    requirement: str
    expected: str
    due_ns: int
    home: str | None


@dataclass(slots=True)
class Fates:
    """The fates of the messages of a capture.

    classes: the classes and times of the first acknowledgments, by what they are about. finals: the first
    FinalAcks that say that a message has left its queue, by message, place and queue manager. debts: what is owed.
    homes: the addresses to which direct names lead. traces: by the connection and the side of reports, what they trace.
    """

    classes: OrderedDict[Fate, dict[int, tuple[int, int]]] = field(default_factory=OrderedDict)
    finals: OrderedDict[tuple[Name, str, int, int], int] = field(default_factory=OrderedDict)
    debts: OrderedDict[tuple[Fate, int], Debt] = field(default_factory=OrderedDict)
    homes: OrderedDict[str, str] = field(default_factory=OrderedDict)
    traces: OrderedDict[tuple[int | None, Side | None], dict[Name, int]] = field(default_factory=OrderedDict)

    def acknowledge(self, seen: Seen, notes: Notes, name: Name, original: Original) -> None:
        """Judge that a message has one fate: it arrives or does not, and then it is received or is not."""
        home = _host(original.admin_queue)
        if home is not None:  # A direct name is not routed.
            self.homes[home] = seen.hosts[1]
            while len(self.homes) > MAX_HOSTS:
                self.homes.popitem(last=False)
        message_class = seen.number(_CLASS) or 0
        then, key = int(message_class & RECEIVED != 0), (*name, original.destination)
        fate = self._fate(key)
        before, before_ns = fate.setdefault(then, (message_class, 0))
        fate[then] = before, seen.time_ns
        if then and before == message_class:
            before = self._ends(fate, message_class)
        wanted = wanted_bit(message_class)
        if self.debts.pop((key, then), None) is not None or (message_class == REACHED and original.asked & PA):
            notes.judge(_WANTED[wanted], True, seen, "an acknowledgment of this class", "one")
        self._leaves(seen, key, original, message_class)
        requirement = _CLASSES.get(message_class) or _CLASSES.get(before)
        if requirement is None:
            return
        if before != message_class:
            notes.judge(requirement, False, seen, f"one class, as {before:#06x}", f"{message_class:#06x}")
        elif message_class == RECEIVED and (arrived := fate.get(ARRIVAL, (REACHED, 0))[0]) != REACHED:
            notes.judge(requirement, False, seen, f"none after {arrived:#06x}", f"{message_class:#06x}")
        else:
            notes.judge(requirement, True, seen, f"{message_class:#06x}", f"{message_class:#06x}")
            if not original.transactional and before_ns and 0 <= seen.time_ns - before_ns < _FORGOTTEN_NS:
                notes.judge(_DUPLICATE, False, seen, "one acknowledgment of each message", "another one")
            both = original.asked & (PR | NR) == PR | NR and original.lasts not in (None, INFINITE)
            if message_class == RECEIVED and original.asked & PA and ARRIVAL not in fate:  # Nothing orders the two.
                self._owe((key, ARRIVAL), seen, REACHED, _SOON_NS, home)
            elif message_class == REACHED and both and RECEIPT not in fate:
                self._owe((key, RECEIPT), seen, _NOBODY, (original.lasts or 0) * 1_000_000_000 + _SOON_NS, home)

    @staticmethod
    def _ends(fate: Mapping[int, tuple[int, int]], message_class: int, word: int = LAST) -> int:
        """Return the class that another word gives to the end of a message, if one of the two says it was received."""
        other = fate.get(word, (message_class, 0))[0]
        return other if other & RECEIVED and RECEIVED in (other, message_class) else message_class

    def _fate(self, key: Fate) -> dict[int, tuple[int, int]]:
        fate = self.classes.setdefault(key, {})
        while len(self.classes) > MAX_REMEMBERED:  # A word that is forgotten sooner than its message would seem owed.
            self.classes.popitem(last=False)
        return fate

    def _leaves(self, seen: Seen, key: Fate, original: Original, message_class: int) -> None:
        """Take notice that a FinalAck is owed for a transactional message that has left its queue, or was rejected."""
        wanted = original.final if message_class & RECEIVED else message_class in _REJECTED
        admin = original.admin_queue
        if (
            wanted
            and original.transactional
            and LAST not in self._fate(key)
            and admin
            and admin[:2] == ("private", key[0])
        ):
            self._owe((key, LAST), seen, message_class, _SOON_NS, None)

    def finish(self, seen: Seen, notes: Notes, name: Name, original: Original) -> None:
        """Judge a FinalAck: its reason, that there is one for each message, and what it shows to be owed."""
        judge_reason(seen, notes, original)
        message_class = seen.number(_CLASS) or 0
        then, fate = message_class & RECEIVED != 0, (*name, original.destination)
        words = self._fate(fate)
        words[LAST] = message_class, seen.time_ns
        before = self._ends(words, message_class, RECEIPT) if then else message_class
        if before != message_class:
            notes.judge(_CLASSES[RECEIVED], False, seen, f"one class, as {before:#06x}", f"{message_class:#06x}")
        self.debts.pop((fate, LAST), None)
        notes.judge(_FINAL, True, seen, "a FinalAck", "one")
        if then:
            place = [seen.number(f"FinalAckBody.{key}") or 0 for key in ("TxSequenceID", "TxSequenceNumber")]
            maker = seen.text("UserHeader.SourceQueueManager") or ""
            before = self.finals.setdefault((name, maker, place[0], place[1]), seen.frame_number)
            if before != seen.frame_number:
                notes.judge(_ONCE, False, seen, "one for each message", f"another one in packet {before}")
            while len(self.finals) > MAX_HOSTS:
                self.finals.popitem(last=False)
        admin, home = original.admin_queue, _host(original.admin_queue)
        if admin is None or (home is None and admin[:2] != ("private", name[0])):
            return
        for late, its_class in ((int(then), message_class), *(((ARRIVAL, REACHED),) if then else ())):
            asked = original.asked & wanted_bit(its_class)
            if asked and its_class not in _INSECURE and late not in self.classes.get(fate, {}):
                self._owe((fate, late), seen, its_class, _LATE_NS, home)

    def _owe(self, key: tuple[Fate, int], seen: Seen, its_class: int, wait_ns: int, home: str | None) -> None:
        requirement, kind = _WANTED[wanted_bit(its_class)], "an acknowledgment"
        if key[1] == LAST:
            requirement, kind = _FINAL, "a FinalAck"
        expected = f"{kind} of class {its_class:#06x}"
        self.debts[key] = Debt(seen.kept(), requirement, expected, seen.time_ns + wait_ns, home)
        while len(self.debts) > _MOST_DEBTS:
            self.debts.popitem(last=False)

    def trace(self, seen: Seen, traced: tuple[Name, int] | None) -> None:
        """Take notice of what a report traces: its name and frame."""
        if traced is not None:
            told = self.traces.setdefault((seen.connection, seen.side), {})
            told[traced[0]] = traced[1]
            if len(told) > _MOST_DEBTS:
                del told[next(iter(told))]
            while len(self.traces) > MAX_HOSTS:
                self.traces.popitem(last=False)

    def _untraced(self, told: Mapping[Name, int], notes: Notes, known: Remembered, began: int) -> None:
        """Judge that every message to trace between two that were has a report, too. began: see `close`."""
        here = [frame for frame in told.values() if frame > began]
        if len(here) < 2 or len(known) > LOOKED_AT:
            return
        found = [
            (name, one.frame, (name[0], queue(one, "DestinationQueue", "DQ")))
            for name, one in known.items()
            if min(here) <= one.frame <= max(here) and one.text("DebugHeader.Queue.QueueIdentifier") is not None
        ]
        places = {place for name, _, place in found if name in told}
        for name, frame, place in found:
            if name not in told and place in places:
                notes.tell(Verdict(_TRACED, Outcome.FAIL, of_frame(frame), "a report", "none", frame=frame))

    def close(
        self, connection: int, notes: Notes, lives: Mapping[Side, int | None], known: Remembered, began: int
    ) -> None:
        """Judge what is owed when a connection ends.

        lives: when the last packet of each side came, None where something from there to the other is missing. known:
        the messages seen. began: the number of the last packet before the connection.
        """
        for side, latest_ns in lives.items():
            told = self.traces.pop((connection, side), {})
            if latest_ns is not None:
                self._untraced(told, notes, known, began)
        for key, debt in list(self.debts.items()):
            shown = debt.shown
            if shown.connection != connection or shown.side is None:
                continue
            del self.debts[key]
            latest_ns, here = lives[shown.side], shown.hosts[1]
            if latest_ns is None or latest_ns <= debt.due_ns:
                continue
            if debt.home not in (None, f"tcp:{here}") and self.homes.get(debt.home or "") != here:
                continue
            if notes.timeless(shown.time_ns, latest_ns) is None:
                waited = (latest_ns - shown.time_ns) // 1_000_000_000
                notes.judge_late(debt.requirement, False, shown, debt.expected, {"none in, s": waited})


def _host(name: Queue | None) -> str | None:
    """Return the host that a direct name begins with; None for another name."""
    return name[1].partition("\\")[0] if name is not None and name[0] == "direct" else None


def judge_life(seen: Seen, notes: Notes, original: Original) -> None:
    """Judge when a message was received, or was not, by its TimeToBeReceived; the clock of its sender is right."""
    said, message_class = seen.number("UserHeader.SentTime"), seen.number(_CLASS)
    if original.sent is None or original.lasts in (None, INFINITE) or said is None:
        return
    if not -SECONDS <= seen.time_ns // 1_000_000_000 - said <= OLD_S:
        return
    waited, lasts = said - original.sent, original.lasts or 0
    if message_class == _NOBODY:
        notes.judge(_NOT_RECEIVED, waited >= lasts - OLD_S, seen, {"at least, s": lasts}, {"s": waited})
    elif message_class == RECEIVED and waited > lasts + OLD_S:
        notes.judge(_CLASSES[RECEIVED], False, seen, {"at most, s": lasts}, {"s": waited})
