"""A batch of a watch. Over Spark Connect it runs at the server, which tells the command about it through the lake."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from conformance.captures.defects import Defect
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.identity import Probe
from conformance.pipeline.ingest import Ingested, Options, ingest
from conformance.pipeline.inside import MAX_FILE, UnfitError, parsed
from conformance.pipeline.kept_streams import Dropped
from conformance.pipeline.lake import Lake
from conformance.pipeline.progress import Progress, growing, telling
from conformance.pipeline.workers import Workers
from conformance.runlog.incomplete import Incomplete
from conformance.verdict import Outcome

FIRST_S: Final = 0.8
LONGEST_S: Final = 60.0
"""Seconds before the first line of progress, and between two of them, at most."""
_LINE: Final = ".line"
_MOST_LINE: Final = 1 << 12
_COUNTS: Final = ("version", "captures", "known", "streams", "ranges", "records", "packets", "bytes")


def ingested(lake: Lake, frame: Any, options: Options, workers: Workers, progress: Progress) -> Ingested | None:
    """Ingest the files of a batch; return None if it has none. Raises PipelineError."""
    rows = frame.collect()
    if not rows:  # Files were renamed or packed, or have the same content with another time.
        return None
    grown = [
        Probe(os.fsdecode(row.name), row.bytes, error=f"{row.path} changed after it was ingested; raise --settle.")
        for row in rows
        if row.grown
    ]
    files = [os.fsdecode(row.name) for row in rows if not row.grown]
    return ingest(lake, files, options, workers, refused=grown, progress=progress)


@dataclass(frozen=True, slots=True)
class There:
    """What the server does with a batch. place: of the lake. told: a folder in it for the results."""

    place: str
    options: Options
    told: str

    def __call__(self, frame: Any, number: int) -> None:
        """Ingest a batch and tell its result, and before it how far it has come. Raises PipelineError."""
        from conformance.pipeline.spark import SparkWorkers

        lake = Lake.open(self.place)
        progress, said = Progress(time.monotonic), list[str]()

        def say() -> None:
            line = progress.line()
            if line not in said[-1:]:
                said.append(line)
                with suppress(OSError, PipelineError):  # The result tells what matters.
                    lake.store.write(f"{self.told}/{number:012}-{len(said):06}{_LINE}", line.encode())

        with telling(say, growing(FIRST_S, LONGEST_S)):
            done = ingested(lake, frame, self.options, SparkWorkers(frame.sparkSession), progress)
        text = json.dumps(None if done is None else to_json(done))
        lake.store.write(f"{self.told}/{number:012}.json", text.encode())


def results(lake: Lake, told: str) -> Iterator[Ingested | str | None]:
    """Yield what was told since the last time: lines of progress, and results.

    Raises PipelineError for what no server tells.
    """
    for name in sorted(lake.store.names(told)):
        place = f"{told}/{name}"
        try:
            found: Ingested | str | None
            if name.endswith(_LINE):
                found = lake.store.read(place, _MOST_LINE).decode()
            else:
                value = parsed(lake.store.read(place, MAX_FILE))
                found = None if value is None else of_json(value)
        except (UnfitError, OSError, KeyError, TypeError, ValueError) as problem:
            raise PipelineError(f"{lake.store.name(place)} cannot be read ({problem!s:.80}); remove it.") from None
        lake.store.remove(place)
        yield found


def to_json(done: Ingested) -> dict[str, Any]:
    """Return a result as JSON."""
    return {
        **{name: getattr(done, name) for name in _COUNTS},
        "outcomes": {outcome.value: count for outcome, count in done.outcomes.items()},
        "incomplete": done.incomplete.to_json(),
        "rejected": [
            [one.path, one.size, one.error, None if one.defect is None else one.defect.to_json()]
            for one in done.rejected
        ],
        "dropped": [[one.key, one.stream, one.reason] for one in done.dropped],
    }


def of_json(value: dict[str, Any]) -> Ingested:
    """Return the result in a JSON value. Raises KeyError, TypeError and ValueError for anything else."""
    more = dict(value)
    outcomes = {Outcome(name): int(count) for name, count in more.pop("outcomes").items()}
    rejected = [
        Probe(path, size, error=error, defect=_defect(defect)) for path, size, error, defect in more.pop("rejected")
    ]
    counts: dict[str, Any] = {name: int(more.pop(name)) for name in _COUNTS}
    return Ingested(
        **counts,
        rejected=rejected,
        outcomes=outcomes,
        incomplete=Incomplete.from_json(more.pop("incomplete")),
        dropped=[Dropped(*one) for one in more.pop("dropped")],
    )


def _defect(value: dict[str, Any] | None) -> Defect | None:
    if value is None:
        return None
    one = {name: found for name, found in value.items() if name != "version"}
    return Defect(**{**one, "trace": tuple(one["trace"])})
