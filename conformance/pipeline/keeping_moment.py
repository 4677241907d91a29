"""A lake as it was: the batch up to which it counts, and the versions of its tables that still have all its rows.

Batches are only added, and a row names its batch, so that an earlier lake is the present one without the later batches.
Only `forget` takes rows away. Its entry names the versions of the tables before it; these are read, until `vacuum`
has removed their files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from typing import Any

from conformance.pipeline.errors import PipelineError
from conformance.report.text import label


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch of a lake. number: the version of the lake with it. at: time of its commit, UTC.

    before, versions: of a `forget`: the day before which it takes rows away, and the tables' versions before it.
    """

    batch: str
    number: int
    at: datetime
    by: str
    kind: str
    before: str | None = None
    versions: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the batch for the command `history`."""
        out: dict[str, Any] = {
            "number": self.number, "batch": self.batch, "at": self.at.isoformat(), "kind": self.kind, "by": self.by,
        }  # fmt: skip
        return out if self.before is None else {**out, "before": self.before}


@dataclass(frozen=True, slots=True)
class Moment:
    """A lake as it was. number: its last batch. versions: of the tables to read; a table without one: the present."""

    number: int
    versions: Mapping[str, int] = field(default_factory=dict)


def as_of(batches: Sequence[Batch], asked: str) -> Moment:
    """Return the moment that a number or name of a batch, or a time, means. batches: all of the lake, by number.

    A day means its end, a time without a zone UTC. Raises PipelineError if there was no batch by then.
    """
    number = _number(batches, asked.strip())
    later = next((one for one in batches if one.number > number and one.kind == "forget"), None)
    return Moment(number, {} if later is None else later.versions)


def _number(batches: Sequence[Batch], asked: str) -> int:
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
        raise PipelineError(f"The lake had no batch yet at {limit.isoformat()} (mqconform pipeline history lists them).")
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
