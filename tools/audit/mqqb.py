"""Extracts the items of MS-MQQB, a sibling document: its messages as in MS-MQMQ, its processing as in MS-MQDMPR."""

from __future__ import annotations

from collections.abc import Iterator

from tools.audit import mqdmpr, mqmq
from tools.audit.document import Document
from tools.audit.items import Draft

MESSAGES, PROCESSING = "2", "3"


def drafts(document: Document) -> Iterator[Draft]:
    """Yield everything that sections 2 and 3 of MS-MQQB demand."""
    yield from (draft for draft in mqmq.drafts(document) if draft.section.split(".")[0] == MESSAGES)
    yield from (draft for draft in mqdmpr.drafts(document) if draft.section.split(".")[0] == PROCESSING)
