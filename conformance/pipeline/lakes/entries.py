"""An entry of the log of a lake as a row of `batches` has it: JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import MAX_FILE, UnfitError, parsed
from conformance.pipeline.log import Entry, checked


def entry_text(entry: Entry, version: int, tables: Mapping[str, int], **told_before: str) -> str:
    """Return an entry as `batches` stores it: without its files but for those about provisional ends.

    tables: the versions of the Delta tables. told_before: `at` and `by` of an entry that was made before. Raises
    PipelineError if a reader would not accept it.
    """
    value = entry.to_json(version) | told_before
    value["provisional"] = [part.to_json() for part in entry.add if part.stream is not None]
    del value["add"]
    text = json.dumps({**value, "tables": dict(tables)}, ensure_ascii=False)
    try:
        if len(data := text.encode()) > MAX_FILE:
            raise UnfitError(f"has {len(data):,} bytes, at most {MAX_FILE:,} are read")
        checked_entry(text, version, entry.batch)
    except UnfitError as problem:
        raise PipelineError(
            f"This is too much for one entry of the log of the lake, which {problem}; ingest less at once."
        ) from None
    return text


def checked_entry(text: str, number: int, batch: str) -> Entry:
    """Return a checked entry; `add` has its files about provisional ends. Raises UnfitError."""
    value: Any = parsed(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None
    if not isinstance(value, dict) or not isinstance(value.get("provisional"), list):
        raise UnfitError(f"has an entry {number:,} that names no provisional files")
    value = dict(value)
    value.pop("tables", None)
    value["add"] = value.pop("provisional")
    entry = checked(value, number)
    if entry.batch != batch:
        raise UnfitError(f"has an entry {number:,} of another batch")
    return entry
