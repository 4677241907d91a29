"""The batches of a lake: which of them was the last one at a time, and the versions of the tables with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError, parsed
from conformance.pipeline.schemas import TABLES
from conformance.report.text import label


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch of a lake. number: the version of the lake with it. at: time of its commit, UTC."""

    number: int
    batch: str
    at: datetime
    by: str
    kind: str

    def to_json(self) -> dict[str, Any]:
        """Return the batch as `pipeline history --json` shows it."""
        return {"number": self.number, "batch": self.batch, "at": self.at.isoformat(), "kind": self.kind, "by": self.by}


def number_of(batches: Sequence[Batch], asked: str) -> int:
    """Return the number of the batch that a number, a name, or a time means. batches: all of the lake, by number.

    A time means the last batch by then; a day its end; a time without a zone is UTC. Raises PipelineError if there was
    no batch by then.
    """
    asked = asked.strip()
    if asked.isascii() and asked.isdigit() and len(asked) < 19:
        if not any(one.number == int(asked) for one in batches):
            last = f"the last one is {batches[-1].number}" if batches else "it has none"
            raise PipelineError(f"The lake has no batch {int(asked)}; {last} (mqconform pipeline history lists them).")
        return int(asked)
    named = next((one.number for one in batches if one.batch == asked), None)
    if named is not None:
        return named
    limit = _time(asked)
    found = max((one.number for one in batches if one.at <= limit), default=None)
    if found is None:
        raise PipelineError(
            f"The lake had no batch yet at {limit.isoformat()} (mqconform pipeline history lists them)."
        )
    return found


def _time(asked: str) -> datetime:
    try:
        if len(asked) == 10:
            return datetime.combine(date.fromisoformat(asked), time.max, UTC)
        found = datetime.fromisoformat(asked)
    except ValueError:
        raise PipelineError(
            f"Invalid --as-of {label(asked, 60)}: give the number or the name of a batch, a day (2026-01-31) or a time "
            "(2026-01-31T12:00)."
        ) from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def versions_of(text: str) -> dict[str, int]:
    """Return the versions of the tables that an entry names. Raises PipelineError and UnfitError."""
    found = parsed(text.encode("utf-8", "surrogatepass")).get("tables")
    if found == {}:
        raise PipelineError(
            "An earlier lake than that of the first batch after its upgrade cannot be read: name a later one."
        )
    if not isinstance(found, dict) or set(found) != set(TABLES):
        raise UnfitError("has an entry without the versions of the tables")
    if not all(type(one) is int and 0 <= one < 1 << 63 for one in found.values()):
        raise UnfitError("has an entry with a version that is no number")
    return found
