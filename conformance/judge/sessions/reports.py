"""Judges report messages, which trace the way of another message (MS-MQQB 3.1.5.8.9, 3.1.7.1.7)."""

from __future__ import annotations

import re
from typing import Final

from conformance.judge.sessions.context import BODY, Notes, Seen
from conformance.spec.catalogue import requirement_id
from conformance.spec.constants.enumerations import ENUMERATIONS

REPORT_CLASS: Final = ENUMERATIONS["MESSAGE_CLASS_VALUES"].members["MQMSG_CLASS_REPORT"]

_DELIVERY = requirement_id("MQQB-3.1.7.1.7.delivery")
_DESTINATION = requirement_id("MQQB-3.1.7.1.7.destination")
_LABEL = requirement_id("MQQB-3.1.7.1.7.label")
_BODY = requirement_id("MQQB-3.1.7.1.7.body")
_MESSAGE = requirement_id("MQQB-3.1.7.1.7.message-id")
_PUBLIC = 5  # UserHeader.Flags.DQ of a public format name.
_MOST = 4_096  # Bytes of a body; the longest format name is shorter.

_HEX = "[0-9A-F]"
_GUID = f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"
_DAY, _MONTH = "Mon|Tue|Wed|Thu|Fri|Sat|Sun", "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_DATE = rf"\d\d:\d\d(?::\d\d)? (?:AM|PM) (?:{_DAY}),(?:{_MONTH}) \d\d \d\d"
_LABELLED = re.compile(
    f"{_HEX}{{4}}:({_HEX}{{8}}):({_HEX}{{2}}) received by {_GUID} at {_DATE}", re.IGNORECASE | re.ASCII
)
_TRACED = re.compile(
    f"<MESSAGE ID>({_HEX}{{8}})</MESSAGE ID>\r\n<TARGET QUEUE>[^\r\n]+</TARGET QUEUE>\r\n"
    f"(?:<NEXT HOP>[0-9A-F:.]+</NEXT HOP>\r\n<HOP COUNT>({_HEX}{{2}}) </HOP COUNT>\r\n)?\0?",
    re.IGNORECASE | re.ASCII,
)


def judge_report(seen: Seen, notes: Notes) -> None:
    """Judge a message of the class of reports."""
    notes.same(_DELIVERY, seen, 0, seen.number("UserHeader.Flags.DM"))
    notes.same(_DESTINATION, seen, _PUBLIC, seen.number("UserHeader.Flags.DQ"))
    label = seen.text("MessagePropertiesHeader.Label") or ""
    body = (seen.raw(BODY) or b"")[:_MOST].decode("utf-16-le", "replace")
    labelled, traced = _LABELLED.fullmatch(label), _TRACED.fullmatch(body)
    notes.judge(_LABEL, labelled is not None, seen, "id:message:hops received by computer at time", label)
    notes.judge(_BODY, traced is not None, seen, "<MESSAGE ID> and <TARGET QUEUE>, each a line", body[:256])
    if labelled is not None and traced is not None:
        told = [part.upper() for part in traced.groups() if part is not None]
        notes.same(_MESSAGE, seen, [part.upper() for part in labelled.groups()[: len(told)]], told)
