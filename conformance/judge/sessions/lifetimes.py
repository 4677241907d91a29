"""Judges messages in time: none is sent after it expired, and each has a higher identifier than the one before it.

The clocks are only assumed to run at the same speed. The smallest time between SentTime and the record, over the
messages of a queue manager, bounds the difference between its clock and the capture's; a message that is in time by the
capture's clock is not accused by that bound, as the sender's clock may have been set, or one SentTime be wrong.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from conformance.judge.sessions.context import MAX_HOSTS, NO_TIMES, Notes, Seen
from conformance.spec.catalogue import requirement_id

SENT_TIME = requirement_id("MQMQ-2.2.19.2.sent-time")
EXPIRED = requirement_id("MQQB-3.1.7.1.2.expired")
_ORDINAL = requirement_id("MQQB-3.1.7.1.1.ordinal")
_INFINITE = 0xFFFFFFFF
# A clock is right that is this close to the capture's; a time is wrong that is so far after it, or before it.
RIGHT, AHEAD, BEHIND = 3_600, 86_400, 10 * 365 * 86_400
_SECONDS = 2  # SentTime is in whole seconds, and so may be the clock it is compared with.


Place = tuple[int | None, str, str, int | None]  # Connection, queue manager, queue and priority.


@dataclass(slots=True)
class Lifetimes:
    """The queue managers of a capture: the smallest age of a message of each, and the last identifiers.

    doubted: of one with a time that cannot be right in its first messages, the last of these, and its age.
    """

    smallest: OrderedDict[str, int] = field(default_factory=OrderedDict)
    last: OrderedDict[Place, int] = field(default_factory=OrderedDict)
    doubted: OrderedDict[str, tuple[Seen, int]] = field(default_factory=OrderedDict)

    def see(self, seen: Seen, notes: Notes, source: str, *, new: bool, original: bool) -> None:
        """Judge a message. new: not seen before. original: sent by the queue manager that made it, `source`."""
        self._expiry(seen, notes, source)
        if new and original and seen.kind == "UserMessage":
            self._identifier(seen, notes, source)

    def forget(self) -> None:
        """Forget the ages by a clock that has been set since."""
        self.doubted.clear()
        while self.smallest:
            self.smallest.popitem(last=False)

    def _expiry(self, seen: Seen, notes: Notes, source: str) -> None:
        sent, allowed = seen.number("UserHeader.SentTime"), seen.number("BaseHeader.TimeToReachQueue")
        if sent is None or allowed is None:
            return
        if seen.time_ns <= 0:
            for requirement in (SENT_TIME, EXPIRED)[: 1 if allowed == _INFINITE else 2]:
                notes.undecided(requirement, seen, NO_TIMES, anywhere=True)
            return
        age = seen.time_ns // 1_000_000_000 - sent
        if not self._is_time(seen, notes, source, age):
            return
        smallest = self.smallest.get(source)
        if smallest is None or age < smallest:
            smallest = self.smallest[source] = age
            if len(self.smallest) > MAX_HOSTS:
                self.smallest.popitem(last=False)
        if allowed == _INFINITE:
            return
        if age - smallest > allowed + _SECONDS and not -_SECONDS <= age <= allowed + _SECONDS:
            notes.judge(EXPIRED, False, seen, {"at most, s": allowed}, {"at least, s": age - smallest})
        elif age - smallest <= allowed + _SECONDS and age <= allowed + _SECONDS:
            if not notes.passed(EXPIRED):
                notes.judge(EXPIRED, True, seen, {"at most, s": allowed}, {"s": age})
        else:
            notes.undecided(EXPIRED, seen, "the clocks of the sender and of the capture may differ")

    def _is_time(self, seen: Seen, notes: Notes, source: str, age: int) -> bool:
        """Judge that SentTime is a time at which the message can have been sent; False leaves the message out.

        It is not when it is far from the time of the capture, while the sender's clock is right by another message.
        """
        smallest, possible = self.smallest.get(source), -AHEAD <= age <= BEHIND
        if smallest is None:
            if not possible:
                self.doubted[source] = seen.kept(), age
                while len(self.doubted) > MAX_HOSTS:
                    self.doubted.popitem(last=False)
        elif -RIGHT <= smallest <= RIGHT:
            if not (possible and notes.passed(SENT_TIME)):
                notes.judge(SENT_TIME, possible, seen, {"age, s": [-AHEAD, BEHIND]}, {"age, s": age})
            return possible
        elif source in self.doubted and -RIGHT <= age <= RIGHT:
            first, wrong = self.doubted.pop(source)
            notes.judge_late(SENT_TIME, False, first, {"age, s": [-AHEAD, BEHIND]}, {"age, s": wrong})
            self.smallest[source] = age
        return True

    def _identifier(self, seen: Seen, notes: Notes, source: str) -> None:
        """Judge identifiers, which are assigned at the first sending; gaps belong to other sessions (3.1.7.1.1)."""
        number, priority = seen.number("UserHeader.MessageID"), seen.number("BaseHeader.Flags.PR")
        if number is None or seen.number("UserHeader.Flags.TH") or seen.number("MessagePropertiesHeader.MessageClass"):
            return
        key = (seen.connection, source, seen.queue(), priority)
        last = self.last.get(key)
        self.last[key] = number
        if last is None:
            if len(self.last) > MAX_HOSTS:
                self.last.popitem(last=False)
            return
        holds = 0 < ((number - last) & 0xFFFFFFFF) < 0x80000000
        if not (holds and notes.passed(_ORDINAL)):
            notes.judge(_ORDINAL, holds, seen, {"above": last}, number)
