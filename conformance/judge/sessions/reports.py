"""Judges report messages, which trace the way of another message (MS-MQQB 3.1.5.8.9, 3.1.7.1.7)."""

from __future__ import annotations

import re
from typing import Final

from conformance.judge.sessions.acknowledgments import Queue, queue
from conformance.judge.sessions.context import BODY, Notes, Seen
from conformance.judge.sessions.misnamed import LOOKED_AT, Remembered
from conformance.spec.catalogue import requirement_id
from conformance.spec.constants.enumerations import ENUMERATIONS

REPORT_CLASS: Final = ENUMERATIONS["MESSAGE_CLASS_VALUES"].members["MQMSG_CLASS_REPORT"]

_DELIVERY = requirement_id("MQQB-3.1.7.1.7.delivery")
_DESTINATION = requirement_id("MQQB-3.1.7.1.7.destination")
_LABEL = requirement_id("MQQB-3.1.7.1.7.label")
_BODY = requirement_id("MQQB-3.1.7.1.7.body")
_MESSAGE = requirement_id("MQQB-3.1.7.1.7.message-id")
_COMPUTER = requirement_id("MQQB-3.1.7.1.7.computer")
_TARGET = requirement_id("MQQB-3.1.7.1.7.target")
_QUEUE = requirement_id("MQQB-3.1.7.1.7.queue")
_NAMES = "the traced message is not in the capture"
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


def judge_report(seen: Seen, notes: Notes, known: Remembered) -> None:
    """Judge a message of the class of reports. known: the messages that were seen, by queue manager and number."""
    notes.same(_DELIVERY, seen, 0, seen.number("UserHeader.Flags.DM"))
    notes.same(_DESTINATION, seen, _PUBLIC, seen.number("UserHeader.Flags.DQ"))
    label = seen.text("MessagePropertiesHeader.Label") or ""
    body = (seen.raw(BODY) or b"")[:_MOST].decode("utf-16-le", "replace")
    labelled, traced = _LABELLED.fullmatch(label), _TRACED.fullmatch(body)
    notes.judge(_LABEL, labelled is not None, seen, "id:message:hops received by computer at time", label)
    notes.judge(_BODY, traced is not None, seen, "<MESSAGE ID> and <TARGET QUEUE>, each a line", body[:256])
    if labelled is not None and traced is not None:
        told = [part.upper() for part in (traced[1], traced[3]) if part is not None]
        notes.same(_MESSAGE, seen, [part.upper() for part in (labelled[2], labelled[3])[: len(told)]], told)
        if labelled[2].upper() == traced[1].upper():
            _message(seen, notes, labelled, traced, known)


def _message(seen: Seen, notes: Notes, label: re.Match[str], body: re.Match[str], known: Remembered) -> None:
    """Judge a report by the message it traces, which is known by the queue manager and the number in its label."""
    source, number, digits = label["computer"].lower(), int(label[2], 16), label["id"].lower()
    found = known.get((source, number))
    if found is None or (source == seen.text("UserHeader.SourceQueueManager") and digits != source[:4]):
        other = _traced(seen, number, digits, body["queue"], known)
        if other is None:
            notes.undecided(_COMPUTER, seen, _NAMES)
        else:
            notes.judge(_COMPUTER, False, seen, other, source)
        return
    notes.same(_COMPUTER, seen, source[:4], digits)
    destination = queue(found, "DestinationQueue", "DQ")
    debug = found.text("DebugHeader.Queue.QueueIdentifier")
    if destination is not None:
        notes.judge(_TARGET, _is_named(body["queue"], destination), seen, list(destination), body["queue"])
    if debug is not None:
        notes.same(_QUEUE, seen, debug, seen.text(_TO))


def _traced(seen: Seen, number: int, digits: str, name: str, known: Remembered) -> str | None:
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
