"""Extracts the items of sibling documents: their messages as in MS-MQMQ, their processing as in MS-MQDMPR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tools.audit import mqdmpr, mqmq
from tools.audit.document import Document
from tools.audit.items import Draft

MESSAGES, PROCESSING = "2", "3"
CALLS = ("3.1.3", "3.1.4", "3.1.5", "3.1.6", "3.2.3", "3.2.4", "3.2.5", "3.2.6")
"""Sections of MS-MQRR, MS-MQQP and MS-MQMR whose bullets are steps: those of a server, then those of its client."""


def drafts(document: Document, events: Sequence[str] = mqdmpr.EVENTS) -> Iterator[Draft]:
    """Yield everything that sections 2 and 3 of MS-MQQB demand; of another document with the sections of its events."""
    yield from (draft for draft in mqmq.drafts(document) if draft.section.split(".")[0] == MESSAGES)
    yield from (draft for draft in mqdmpr.drafts(document, events) if draft.section.split(".")[0] == PROCESSING)


def call_drafts(document: Document) -> Iterator[Draft]:
    """Yield everything that sections 2 and 3 of MS-MQRR, MS-MQQP or MS-MQMR demand."""
    return drafts(document, CALLS)
