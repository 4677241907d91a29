"""Judges that an identifier denotes one message (MS-MQQB 3.1.7.1.1)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from conformance.judge.sessions.acknowledgments import (
    ORIGINAL,
    Original,
    fits,
    judge_acknowledgment,
    judge_against,
    judge_itself,
    judge_missing,
    judge_reason,
)
from conformance.judge.sessions.context import MAX_REMEMBERED, Notes, Path, Seen, digest_of
from conformance.judge.sessions.misnamed import fitting, judge_misnamed, meant_by
from conformance.judge.sessions.reports import REPORT_CLASS, judge_report
from conformance.spec.catalogue import requirement_id
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.wire import dissect
from conformance.wire.decode import guid_text
from conformance.wire.layout import Value

_IDENTIFIER = requirement_id("MQQB-3.1.7.1.1.identifier")
_PASSED_ON = requirement_id("MQQB-3.1.1.5.passed-on")
_HOPS = "UserHeader.Flags.RC"
# What a second transmission of a transactional message, or a queue manager on the way, does not change.
_MARKS = {
    "TransactionHeader.Flags.ID": requirement_id("MQMQ-2.2.20.5.transaction-identifier"),
    "TransactionHeader.Flags.FM": requirement_id("MQMQ-2.2.20.5.first-in-transaction"),
    "TransactionHeader.Flags.LM": requirement_id("MQMQ-2.2.20.5.last-in-transaction"),
}
# A class that is not listed is application-defined (MS-MQMQ 2.2.18.1.6), with its own times and correlation.
_NO_ADMINISTRATION = ("MQMSG_CLASS_NORMAL", "MQMSG_CLASS_REPORT", "MQMSG_CLASS_ORDER_ACK")
_ACKNOWLEDGMENTS = frozenset(
    value for name, value in ENUMERATIONS["MESSAGE_CLASS_VALUES"].members.items() if name not in _NO_ADMINISTRATION
)
_HEADER = "MessagePropertiesHeader"
# The values that identify a message, without those that a router or a second transmission may change: hop count,
# SessionHeader, previous number, padding, and the times.
_IDENTITY = (
    "UserHeader.QueueManagerAddress",
    "UserHeader.DestinationQueue.PrivateQueueIdentifier",
    "UserHeader.DestinationQueue.PublicQueueIdentifier",
    "UserHeader.DestinationQueue.DirectFormatName",
    "UserHeader.AdminQueue.PrivateQueueIdentifier",
    "UserHeader.AdminQueue.DirectFormatName",
    "UserHeader.ResponseQueue.PrivateQueueIdentifier",
    "UserHeader.ResponseQueue.DirectFormatName",
    "UserHeader.Flags.DM",
    "UserHeader.Flags.TH",
    f"{_HEADER}.MessageClass",
    f"{_HEADER}.CorrelationID",
    f"{_HEADER}.ApplicationTag",
    f"{_HEADER}.BodyType",
    f"{_HEADER}.Label",
    f"{_HEADER}.ExtensionData",
)


_ALSO = (*(key for key in ORIGINAL if key not in _IDENTITY), *_MARKS, _HOPS)
REMEMBERED: Final[tuple[str, ...]] = (*_IDENTITY, *_ALSO)
_AT = {key: at for at, key in enumerate(REMEMBERED)}
_MANY = len(_IDENTITY)
_CLASS, _EXTENSION, _ENCRYPTED = (
    _AT[key] for key in (f"{_HEADER}.MessageClass", f"{_HEADER}.ExtensionData", "SecurityHeader.Flags.EB")
)
_NO_BODY = digest_of(b"")
_SHORT = 64  # Bytes up to this length are remembered as they are, longer ones as a digest.

Back = Callable[[Seen], Path]


@dataclass(frozen=True, slots=True)
class Head:
    """A packet without its body, which is decoded when a value is wanted. at, size: of the body."""

    data: bytes
    at: int
    size: int

    def values(self) -> tuple[Value | None, ...]:
        """Return the values of `REMEMBERED`."""
        packet = dissect(self.data[: self.at] + bytes(self.size) + self.data[self.at :], transport="tcp")
        return _short(tuple(map(packet.fields.get, REMEMBERED)))


@dataclass(slots=True, eq=False)
class Known:
    """A remembered message. kept: its values of `REMEMBERED`, or what they are read from. body: its digest."""

    frame: int
    kept: tuple[Value | None, ...] | Head
    body: bytes

    @property
    def values(self) -> tuple[Value | None, ...]:
        """Its values of `REMEMBERED`."""
        if isinstance(self.kept, Head):
            self.kept = self.kept.values()
        return self.kept

    def is_another(self, other: Known) -> bool:
        """Return True when the messages differ; an encrypted body may be encrypted anew."""
        mine, its = self.values, other.values
        if mine[:_MANY] != its[:_MANY]:
            return True
        return (_NO_BODY if mine[_ENCRYPTED] else self.body) != (_NO_BODY if its[_ENCRYPTED] else other.body)

    @classmethod
    def of(cls, seen: Seen) -> Known:
        """Return a message in the form in which it is remembered."""
        return cls(seen.frame_number, _short(seen.values(REMEMBERED)), seen.body())

    def number(self, key: str) -> int | None:
        """Return a numeric field, as `Seen.number`."""
        value = self.values[_AT[key]] if key in _AT else None
        return int(value) if isinstance(value, int) else None

    def text(self, key: str) -> str | None:
        """Return a text field, as `Seen.text`."""
        value = self.values[_AT[key]] if key in _AT else None
        return value if isinstance(value, str) else None


def _short(values: tuple[Value | None, ...]) -> tuple[Value | None, ...]:
    extension = values[_EXTENSION]
    if isinstance(extension, bytes) and len(extension) > _SHORT:
        return (*values[:_EXTENSION], digest_of(extension), *values[_EXTENSION + 1 :])
    return values


def _same_marks(seen: Seen, notes: Notes, before: Known) -> None:
    """Judge that a message sent again, or passed on, is marked as it was: both belong to one place of a transaction."""
    passed_on = seen.number(_HOPS) != before.number(_HOPS)
    for key, requirement in _MARKS.items():
        wanted, found = before.number(key), seen.number(key)
        if wanted is not None and found is not None:
            name = key.removeprefix("TransactionHeader.Flags.")
            notes.judge(_PASSED_ON if passed_on else requirement, wanted == found, seen, {name: wanted}, {name: found})


@dataclass(slots=True)
class Messages:
    """The messages of a capture by their identifier: source queue manager and number."""

    known: OrderedDict[tuple[str, int], Known] = field(default_factory=OrderedDict)

    def see(self, seen: Seen, notes: Notes, source: str | None, number: int | None, back: Back) -> bool:
        """Judge a message of any kind by its identifier; return True when it is the first with that identifier.

        back: returns the path on which a packet's receiver sends.
        """
        if source is None or number is None or not seen.whole:
            return False
        now = Known.of(seen)
        values = now.values
        known = self.known
        before = known.setdefault((source, number), now)
        if before is now:
            if not notes.passed(_IDENTIFIER):
                notes.judge(_IDENTIFIER, True, seen, f"the same message as in frame {now.frame}", "the same")
            if len(known) > MAX_REMEMBERED:
                known.popitem(last=False)
            if seen.kind == "UserMessage" and values[_CLASS]:
                if values[_CLASS] in _ACKNOWLEDGMENTS:
                    self._acknowledgment(seen, notes, back)
                elif values[_CLASS] == REPORT_CLASS:
                    judge_report(seen, notes, known)
            if seen.kind == "FinalAck":
                self._final(seen, notes)
            return True
        another = before.is_another(now)
        actual = "another message" if another else "the same"
        notes.judge(_IDENTIFIER, not another, seen, f"the same message as in frame {before.frame}", actual)
        if not another:
            _same_marks(seen, notes, before)
        return False

    def _final(self, seen: Seen, notes: Notes) -> None:
        source, number = seen.text("FinalAckBody.SourceGUID"), seen.number("FinalAckBody.MessageID")
        known = None if source is None or number is None else self.known.get((source, number))
        if known is not None:
            judge_reason(seen, notes, Original.of(known.frame, known, known.body))

    def _acknowledgment(self, seen: Seen, notes: Notes, back: Back) -> None:
        judge_acknowledgment(seen, notes)
        correlation = seen.raw(f"{_HEADER}.CorrelationID")
        if correlation is None or len(correlation) != 20:
            return
        known = self.known.get((guid_text(correlation[:16]), int.from_bytes(correlation[16:], "little")))
        if known is None:
            meant = meant_by(seen, correlation, self.known) if any(correlation) else None
            if meant is not None:
                judge_misnamed(seen, notes, meant, back(seen))
            else:
                judge_missing(seen, notes, named=any(correlation))
        elif known.frame == seen.frame_number:
            judge_itself(seen, notes)
        else:
            original = Original.of(known.frame, known, known.body)
            own = known.text("UserHeader.SourceQueueManager") == seen.text("UserHeader.SourceQueueManager")
            if own and not fits(seen, original) and fitting(seen, self.known) is not None:
                judge_itself(seen, notes)
            else:
                judge_against(seen, notes, original)
