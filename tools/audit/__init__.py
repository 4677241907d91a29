"""The documents compared with the catalogue: every demand extracted, and what has no entry, has changed or is gone.

`extract` reads a document's items; `audit` compares them with the catalogue.
"""

from __future__ import annotations

from tools.audit.audit import AuditReport, Change, Gone, Total, audit
from tools.audit.document import AuditError, Document, parse_document, read_document
from tools.audit.extract import extract
from tools.audit.items import KINDS, Item

__all__ = [
    "KINDS",
    "AuditError",
    "AuditReport",
    "Change",
    "Document",
    "Gone",
    "Item",
    "Total",
    "audit",
    "extract",
    "parse_document",
    "read_document",
]
