"""Judges the identity of messages, and compares administration acknowledgments with what they are about."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from conformance.capture import Side
from conformance.judge.sessions import message_steps as steps
from conformance.judge.sessions.acknowledgments import (
    HEADER,
    LOOKED_AT,
    NO_BODY,
    ORIGINAL,
    Name,
    Original,
    Queue,
    fits,
    fitting,
    judge_acknowledgment,
    judge_against,
    judge_itself,
    judge_misnamed,
    judge_missing,
    meant_by,
    queue,
)
from conformance.judge.sessions.context import (
    BODY,
    MAX_HOSTS,
    Notes,
    Path,
    Seen,
    digest_of,
)
from conformance.judge.sessions.fates import Fates, judge_life
from conformance.judge.sessions.flow_steps import NOTE
from conformance.judge.sessions.keys import guid_words, queue_words
from conformance.judge.sessions.message_steps import OLD_S, SECONDS
from conformance.judge.sessions.opening import NULL_GUID
from conformance.judge.sessions.registers import DECIDED, NONE, Connection
from conformance.judge.sessions.reports import SENT_TIME, possible_age, report, results
from conformance.judge.sessions.tables import NUMBER, Key, Table
from conformance.spec.catalogue import requirement_id
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.wire import dissect
from conformance.wire.layout import Value, guid_text

if TYPE_CHECKING:
    from conformance.judge.sessions.message_memory import Memory

REPORT_CLASS: Final = ENUMERATIONS["MESSAGE_CLASS_VALUES"].members["MQMSG_CLASS_REPORT"]

_REPORT_DELIVERY = requirement_id("MQQB-3.1.7.1.7.delivery")
_REPORT_DESTINATION = requirement_id("MQQB-3.1.7.1.7.destination")
_LABEL = requirement_id("MQQB-3.1.7.1.7.label")
_REPORT_BODY = requirement_id("MQQB-3.1.7.1.7.body")
_MESSAGE = requirement_id("MQQB-3.1.7.1.7.message-id")
_COMPUTER = requirement_id("MQQB-3.1.7.1.7.computer")
_TARGET = requirement_id("MQQB-3.1.7.1.7.target")
_QUEUE = requirement_id("MQQB-3.1.7.1.7.queue")
_NOT_TRACED = requirement_id("MQDMPR-3.1.1.12.tracing-not-requested")
_REPORT_UNDECIDED = "the traced message is not in the capture"
_TO = "UserHeader.DestinationQueue.PublicQueueIdentifier"
_PUBLIC = 5  # UserHeader.Flags.DQ of a public format name.
_MOST = 4_096  # Bytes of a body; the longest format name is shorter.

_HEX = "[0-9A-F]"
_GUID = f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"
_DAY, _MONTH = "Mon|Tue|Wed|Thu|Fri|Sat|Sun", "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_DATE = rf"\d\d:\d\d(?::\d\d)? (?:AM|PM) (?:{_DAY}),(?:{_MONTH}) \d\d \d\d"
_LABELLED = re.compile(
    f"(?P<id>{_HEX}{{4}}):({_HEX}{{8}}):({_HEX}{{2}}) received by (?P<computer>{_GUID}) at {_DATE}",
    re.IGNORECASE | re.ASCII,
)
# The grammar of MS-MQMQ 2.1 by its beginnings.
_FORMAT = f"DIRECT=[^\r\n]+|PRIVATE={_GUID}\\\\{_HEX}+[^\r\n]*|(?:PUBLIC|DL|MACHINE|CONNECTOR)={_GUID}[^\r\n]*"
_TRACED = re.compile(
    f"<MESSAGE ID>({_HEX}{{8}})</MESSAGE ID>\r\n<TARGET QUEUE>(?P<queue>{_FORMAT})</TARGET QUEUE>\r\n"
    f"(?:<NEXT HOP>[0-9A-F:.]+</NEXT HOP>\r\n<HOP COUNT>({_HEX}{{2}}) </HOP COUNT>\r\n)?\0?",
    re.IGNORECASE | re.ASCII,
)


def judge_report(seen: Seen, notes: Notes, known: Memory) -> tuple[Name, int] | None:
    """Judge a message of the class of reports; return the name of what it traces, and its frame.

    known: the messages that were seen, by queue manager and number.
    """
    notes.same(_REPORT_DELIVERY, seen, 0, seen.number("UserHeader.Flags.DM"))
    notes.same(_REPORT_DESTINATION, seen, _PUBLIC, seen.number("UserHeader.Flags.DQ"))
    label = seen.text("MessagePropertiesHeader.Label") or ""
    body = (seen.raw(BODY) or b"")[:_MOST].decode("utf-16-le", "replace")
    labelled, traced = _LABELLED.fullmatch(label), _TRACED.fullmatch(body)
    notes.judge(_LABEL, labelled is not None, seen, "id:message:hops received by computer at time", label)
    notes.judge(_REPORT_BODY, traced is not None, seen, "<MESSAGE ID> and <TARGET QUEUE>, each a line", body[:256])
    if labelled is not None and traced is not None:
        told = [part.upper() for part in (traced[1], traced[3]) if part is not None]
        notes.same(_MESSAGE, seen, [part.upper() for part in (labelled[2], labelled[3])[: len(told)]], told)
        if labelled[2].upper() == traced[1].upper():
            return _message(seen, notes, labelled, traced, known)
    return None


def _message(
    seen: Seen, notes: Notes, label: re.Match[str], body: re.Match[str], known: Memory
) -> tuple[Name, int] | None:
    """Judge a report by the message it traces, which is known by the queue manager and the number in its label."""
    source, number, digits = label["computer"].lower(), int(label[2], 16), label["id"].lower()
    found = known.get((source, number))
    if found is None or (source == seen.text("UserHeader.SourceQueueManager") and digits != source[:4]):
        other = _traced(seen, number, digits, body["queue"], known)
        if other is None:
            notes.undecided(_COMPUTER, seen, _REPORT_UNDECIDED)
        else:
            notes.judge(_COMPUTER, False, seen, other, source)
        return None
    notes.same(_COMPUTER, seen, source[:4], digits)
    destination = queue(found, "DestinationQueue", "DQ")
    debug = found.text("DebugHeader.Queue.QueueIdentifier")
    if destination is not None:
        notes.judge(_TARGET, _is_named(body["queue"], destination), seen, list(destination), body["queue"])
    if debug is not None and seen.number("UserHeader.Flags.DQ") == _PUBLIC:
        notes.same(_QUEUE, seen, debug, seen.text(_TO))
    asked = "tracing" if debug is not None else "none"
    notes.judge(_NOT_TRACED, debug is not None, seen, "no report on a message that asks for no tracing", asked)
    return (source, number), found.frame


def _traced(seen: Seen, number: int, digits: str, name: str, known: Memory) -> str | None:
    """Return the queue manager of the only message that a report can mean in all but its queue manager."""
    if len(known) > LOOKED_AT:
        return None
    found = [
        source
        for (source, its), one in known.items()
        if its == number
        and (source[:4] == digits or one.text("DebugHeader.Queue.QueueIdentifier") == seen.text(_TO))
        and (destination := queue(one, "DestinationQueue", "DQ")) is not None
        and _is_named(name, destination)
    ]
    return found[0] if len(found) == 1 else None


def _is_named(name: str, wanted: Queue) -> bool:
    """Tell whether a format name is that of a queue, whatever its letters' case and leading zeros."""
    kind, _, rest = name.lower().partition("=")
    if kind != wanted[0] or kind != "private":
        return (kind, rest) == wanted
    manager, _, number = rest.partition("\\")
    return (manager, number.lstrip("0")) == (wanted[1], f"{int(wanted[2]):x}".lstrip("0"))


_IDENTIFIER = requirement_id("MQQB-3.1.7.1.1.identifier")
_PASSED_ON = requirement_id("MQQB-3.1.1.5.passed-on")
_HOP_COUNT = "UserHeader.Flags.RC"
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
    f"{HEADER}.MessageClass",
    f"{HEADER}.CorrelationID",
    f"{HEADER}.ApplicationTag",
    f"{HEADER}.BodyType",
    f"{HEADER}.Label",
    f"{HEADER}.ExtensionData",
)

_ALSO = (*(key for key in ORIGINAL if key not in _IDENTITY), *_MARKS, _HOP_COUNT)
REMEMBERED: Final[tuple[str, ...]] = (*_IDENTITY, *_ALSO)
_AT = {key: at for at, key in enumerate(REMEMBERED)}
_MANY = len(_IDENTITY)
_CLASS, _EXTENSION, _ENCRYPTED = (
    _AT[key] for key in (f"{HEADER}.MessageClass", f"{HEADER}.ExtensionData", "SecurityHeader.Flags.EB")
)
_TRANSACTION = _AT["UserHeader.Flags.TH"]
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

    def is_another(self, other: Known, beside: int = -1) -> bool:
        """Return True when the messages differ; an encrypted body may be encrypted anew.

        beside: the place of a value that may differ.
        """
        mine, its = self.values, other.values
        if any(mine[at] != its[at] for at in range(_MANY) if at != beside):
            return True
        return (NO_BODY if mine[_ENCRYPTED] else self.body) != (NO_BODY if its[_ENCRYPTED] else other.body)

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
    passed_on = seen.number(_HOP_COUNT) != before.number(_HOP_COUNT)
    for key, requirement in _MARKS.items():
        wanted, found = before.number(key), seen.number(key)
        if wanted is not None and found is not None:
            name = key.removeprefix("TransactionHeader.Flags.")
            notes.judge(_PASSED_ON if passed_on else requirement, wanted == found, seen, {name: wanted}, {name: found})


@dataclass(slots=True)
class Messages:
    """The messages of a capture by their identifier: source queue manager and number.

    fates: what has become of them.
    """

    known: Memory
    fates: Fates = field(default_factory=Fates)

    def see(
        self, seen: Seen, notes: Notes, source: str | None, number: int | None, back: Back, ages: Ages
    ) -> int | None:
        """Judge a message of any kind by its identifier.

        Returns the frame of its first transmission, which may be this one, and None for one that nobody can compare, or
        that has the identifier of another. back: returns the path on which a packet's receiver sends. ages: `smallest`
        of `Lifetimes`.
        """
        if source is None or number is None or not seen.whole:
            return None
        now = Known.of(seen)
        values = now.values
        known = self.known
        before = known.setdefault((source, number), now)
        if before is now:
            if not notes.passed(_IDENTIFIER):
                notes.judge(_IDENTIFIER, True, seen, f"the same message as in packet {now.frame}", "the same")
            if seen.kind == "UserMessage" and values[_CLASS]:
                if values[_CLASS] in _ACKNOWLEDGMENTS:
                    self._acknowledgment(seen, notes, back, ages)
                elif values[_CLASS] == REPORT_CLASS:
                    self.fates.trace(seen, judge_report(seen, notes, known))
            if seen.kind == "FinalAck":
                self._final(seen, notes)
            return now.frame
        another = before.is_another(now)
        passed_on = seen.number(_HOP_COUNT) != before.number(_HOP_COUNT)
        if another and passed_on and not before.is_another(now, beside=_TRANSACTION):
            # Somebody on the way has taken the TransactionHeader out, or put one in.
            notes.judge(_PASSED_ON, False, seen, f"the headers of packet {before.frame}", "others")
            return before.frame
        actual = "another message" if another else "the same"
        notes.judge(_IDENTIFIER, not another, seen, f"the same message as in packet {before.frame}", actual)
        if another:
            return None
        _same_marks(seen, notes, before)
        return before.frame

    def _final(self, seen: Seen, notes: Notes) -> None:
        source, number = seen.text("FinalAckBody.SourceGUID"), seen.number("FinalAckBody.MessageID")
        known = None if source is None or number is None else self.known.get((source, number))
        if known is not None:
            original = Original.of(known.frame, known, known.body)
            self.fates.finish(seen, notes, (source or "", number or 0), original)

    def _acknowledgment(self, seen: Seen, notes: Notes, back: Back, ages: Ages) -> None:
        judge_acknowledgment(seen, notes)
        correlation = seen.raw(f"{HEADER}.CorrelationID")
        if correlation is None or len(correlation) != 20:
            return
        key = guid_text(correlation[:16]), int.from_bytes(correlation[16:], "little")
        known = self.known.get(key)
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
                self.fates.acknowledge(seen, notes, key, original)
                age = ages.get(key[0])
                if age is not None and -SECONDS <= age <= OLD_S:
                    judge_life(seen, notes, original)


_TIMES_OF = ("UserHeader.SentTime", "BaseHeader.TimeToReachQueue")


class Ages(Table):
    """The smallest age of a message of each queue manager."""

    def get(self, source: str) -> int | None:
        """Return that of a queue manager, None without a message of its own."""
        row = self.find((*guid_words(source), 0))
        return None if row < 0 else self.words[row + NUMBER]


@dataclass(slots=True)
class Lifetimes:
    """The queue managers of a capture: the smallest age of a message of each, and the last identifiers.

    last: by the words of the queue manager and queue, and by connection and priority; the connection that was the last
    for a queue, by no connection. doubted: of one with a time that
    cannot be right in its first messages, the last of these, and its age.
    """

    smallest: Ages = field(default_factory=Ages)
    last: Table = field(default_factory=Table)
    doubted: OrderedDict[str, tuple[Seen, int]] = field(default_factory=OrderedDict)

    def see(
        self, seen: Seen, notes: Notes, source: str, connection: Connection, *, new: bool, first: bool, original: bool,
        whole: bool,
    ) -> None:  # fmt: skip
        """Judge a message. new: not seen before. first: the first of its kind on this session.

        original: sent by who made it, `source`. whole: it was never sent before.
        """
        assert seen.side is not None
        registers, base = connection.registers, connection.base
        if not registers.shared[DECIDED]:
            sent, allowed = (_word(seen.number(key)) for key in _TIMES_OF)
            timed = NONE not in (sent, allowed) and seen.time_ns > 0
            row = numbered(self.smallest, (*guid_words(source), 0)) if timed else -1
            steps.age(
                connection.block.rows, base, connection.end(seen.side).base, self.smallest.words, row,
                source in self.doubted, registers.time_out, seen.time_ns, sent, allowed, new,
            )  # fmt: skip
            if first and original and seen.kind == "UserMessage":
                self._identifier(seen, source, registers.time_out, whole=whole)
        for rule, outcome, expected, actual in results(registers.time_out):
            if outcome & 7 != NOTE:
                report(notes, seen, rule, outcome, expected, actual)
            elif outcome >> 3 == steps.DOUBTED:
                self.doubted[source] = seen.kept(), actual
                while len(self.doubted) > MAX_HOSTS:
                    self.doubted.popitem(last=False)
            else:
                one, wrong = self.doubted.pop(source)
                notes.judge_late(SENT_TIME, False, one, *possible_age(wrong))

    def forget(self) -> None:
        """Forget the ages by a clock that has been set since."""
        self.doubted.clear()
        self.smallest = Ages()

    def _identifier(self, seen: Seen, source: str, out: Any, *, whole: bool) -> None:
        number, priority = seen.number("UserHeader.MessageID"), seen.number("BaseHeader.Flags.PR")
        if number is None or seen.number("UserHeader.Flags.TH") or seen.number("MessagePropertiesHeader.MessageClass"):
            return
        (s0, s1), (q0, q1) = guid_words(source), queue_words(seen.queue())
        one, other, kind, here = s0 ^ q0, s1 ^ q1, priority or 0, seen.connection or 0
        before, latest = -1, self.last.find((one, other, kind | steps.ANYWHERE << 3))
        if whole and latest >= 0:
            before = self.last.find((one, other, kind | self.last.words[latest + NUMBER] << 3))
        reached = NONE if before < 0 else self.last.words[before + NUMBER]
        row = numbered(self.last, (one, other, kind | here << 3))
        if self.last.words[row + NUMBER] == NONE:  # The ordinal outlives its connections (3.1.1.3).
            self.last.words[row + NUMBER] = reached
        steps.name(self.last.words, row, out, number)
        self.last.words[numbered(self.last, (one, other, kind | steps.ANYWHERE << 3)) + NUMBER] = here


def _word(number: int | None) -> int:
    return NONE if number is None else number


def numbered(table: Table, key: Key) -> int:
    """Return the row of a number, which is NONE in a new one."""
    row = table.find(key)
    if row < 0:
        row = table.row(key)
        table.fill(row, (NONE,))
    return row


_HOP_COUNT = requirement_id("MQQB-3.1.5.8.2.hop-count")
# A packet that a queue manager makes itself has no hops; of acknowledgments that is told with their other flags.
_ACKNOWLEDGES = {
    "OrderAck": requirement_id("MQQB-2.2.4.user-flags"),
    "FinalAck": requirement_id("MQQB-2.2.5.user-flags"),
}
_NAMED: dict[Side, str] = {
    "initiator": requirement_id("MQQB-3.1.5.2.3.client-guid"),
    "acceptor": requirement_id("MQQB-3.1.5.3.1.server-guid"),
}

_PRIVATE = 3  # UserHeader.Flags.DQ of a private queue of the addressee.
_ORDER_QUEUE = requirement_id("MQQB-3.1.7.17.private-name")


def judge_order_queue(seen: Seen, notes: Notes, own: str, other: str | None, *, direct: bool) -> None:
    """Judge whose private queue a transactional acknowledgment goes to. own, other: the managers at the two ends.

    direct: it is for a message of the other's own, so that no router passes it on.
    """
    named = seen.text("UserHeader.QueueManagerAddress")
    if named is None or seen.number("UserHeader.Flags.DQ") != _PRIVATE:
        return
    if named in (own, other) or (direct and other not in (None, NULL_GUID)):
        if not (named == other and notes.passed(_ORDER_QUEUE)):
            notes.judge(_ORDER_QUEUE, named == other, seen, other, named)
    else:
        notes.undecided(_ORDER_QUEUE, seen, "a router may pass it on")


@dataclass(slots=True)
class Origins:
    """The queue managers of a capture. hosts: the address each was last named at. doubted: ends already blamed."""

    hosts: OrderedDict[str, str] = field(default_factory=OrderedDict)
    doubted: OrderedDict[tuple[int | None, Side], None] = field(default_factory=OrderedDict)

    def name(self, manager: str, host: str) -> None:
        """Record that the initialization of a session has named the queue manager of a host."""
        self.hosts[manager] = host
        while len(self.hosts) > MAX_HOSTS:
            self.hosts.popitem(last=False)

    def see(self, seen: Seen, notes: Notes, source: str, manager: str, makers: Ages, most: int | None) -> None:
        """Judge a message. source: the queue manager that made it. manager: the one that sends it.

        makers: has the queue managers that have made messages so far. most: the hop count where it is known.
        """
        side, hops = seen.side, seen.number("UserHeader.Flags.RC")
        if hops is None or side is None:
            return
        if most is not None and hops > most and source != manager:
            notes.judge(_HOP_COUNT, False, seen, most, hops)
            return
        if (hops == 0) == (source == manager):
            if not notes.passed(_HOP_COUNT):
                notes.judge(_HOP_COUNT, True, seen, hops, hops)
            if hops == 0 and not notes.passed(_NAMED[side]):
                notes.judge(_NAMED[side], True, seen, source, manager)
            return
        if source == NULL_GUID:
            notes.undecided(_HOP_COUNT, seen, "the message names no queue manager that made it")
            return
        if source == manager and hops == 1:
            # It has come back over another one at the least, so that two have counted.
            notes.judge(_ACKNOWLEDGES.get(seen.kind, _HOP_COUNT), False, seen, {"not": 1}, hops)
            return
        if source == manager:
            notes.undecided(_HOP_COUNT, seen, "the message may have come back to its queue manager on its way")
            return
        at = self.hosts.get(source)
        elsewhere = at is not None and at != seen.hosts[0]
        if elsewhere or makers.get(manager) is not None:
            notes.judge(_HOP_COUNT, False, seen, {"from": 1}, hops)
            return
        key = (seen.connection, side)
        if key in self.doubted:
            notes.undecided(_NAMED[side], seen, "the queue manager at this end was named wrongly before")
            return
        self.doubted[key] = None
        while len(self.doubted) > MAX_HOSTS:
            self.doubted.popitem(last=False)
        notes.judge(_NAMED[side], False, seen, source, manager)
