"""Extracts the items of any of the documents."""

from __future__ import annotations

from tools.audit import mqac, mqdmpr, mqmp, mqmq, mqqb
from tools.audit.document import Document
from tools.audit.items import Item, finished

_EXTRACTORS = {
    "MQMQ": mqmq.drafts,
    "MQDMPR": mqdmpr.drafts,
    "MQAC": mqac.drafts,
    "MQMP": mqmp.drafts,
    "MQQB": mqqb.drafts,
    "MQRR": mqqb.call_drafts,
    "MQQP": mqqb.call_drafts,
    "MQMR": mqqb.call_drafts,
}


def extract(document: Document) -> tuple[Item, ...]:
    """Return everything that a document demands, in the order of its lines, with unique sources and proposed ids."""
    return finished(document.name, _EXTRACTORS[document.name](document))
