"""The batches of a lake: which of them was the last one at a time, and the versions of the tables with it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError, parsed
from conformance.pipeline.log import Entry, Part, Snapshot
from conformance.pipeline.schemas import TABLES
from conformance.report.text import label

if TYPE_CHECKING:
    from conformance.pipeline.lakes.tables import Listed


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
    """Return the versions of the tables that an entry names; none for one of a lake that was upgraded later.

    Raises UnfitError.
    """
    found = parsed(text.encode("utf-8", "surrogatepass")).get("tables")
    if found == {}:
        return {}
    if not isinstance(found, dict) or set(found) != set(TABLES):
        raise UnfitError("has an entry without the versions of the tables")
    if not all(type(one) is int and 0 <= one < 1 << 63 for one in found.values()):
        raise UnfitError("has an entry with a version that is no number")
    return found


def gaps(entries: Iterable[Entry]) -> list[tuple[int, int]]:
    """Return the batches, first and last, after each of which the lake had rows that a later batch has taken away.

    entries: all of the lake, in order. Rows are taken away with the provisional end of a stream, and by `forget`.
    """
    log, since, found = Snapshot(), dict[str, int](), []
    for entry in entries:
        since |= dict.fromkeys((part.place for part in entry.add), log.version + 1)
        log = log.after(entry)
        first = [since.pop(place) for place in log.dropped if place in since]
        if entry.before is not None:
            first.append(1)
        if first and min(first) < log.version:
            found.append((min(first), log.version - 1))
    return _joined(found)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans in order, those that touch as one."""
    out: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if out and first <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(last, out[-1][1]))
        else:
            out.append((first, last))
    return out


def is_in(spans: Sequence[tuple[int, int]], number: int) -> bool:
    """Tell whether one of these spans has a batch. spans: in order, none of which touches another."""
    at = bisect_right(spans, number, key=lambda one: one[0])
    return at > 0 and number <= spans[at - 1][1]


def up_to(files: Iterable[Listed], known: Mapping[str, int], number: int) -> tuple[dict[str, Part], frozenset[str]]:
    """Return those of the files that have rows of the batches up to one, by place, and the later batches among them.

    known: the batches with their numbers.
    """
    names = sorted(known)
    parts: dict[str, Part] = {}
    later: set[str] = set()
    for one in files:
        if one.first is None or one.last is None:
            continue
        within = names[bisect_left(names, one.first) : bisect_right(names, one.last)]
        newer = {name for name in within if known[name] > number}
        if len(newer) < len(within):
            parts[one.place] = Part(one.place.partition("/")[0], one.date, one.name, one.rows)
            later |= newer
    return parts, frozenset(later)
