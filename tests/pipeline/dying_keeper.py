"""Run `compact`, `forget` and `vacuum` so that they die at each of their steps, and print what the lake has then."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import made_lake
from dying import DIED, dying, in_child, passed_over, seen, some

from conformance.pipeline import keeping, keeping_compact
from conformance.pipeline.lake import Format, Lake
from conformance.pipeline.lakes import delta, fold

fold.EVERY = 1  # type: ignore[misc]
delta.heaps = lambda files: keeping_compact.heaps(files, 2)  # type: ignore[assignment]
ACTS: dict[str, Callable[[Any], Any]] = {
    "compact": keeping.compact,
    "forget": lambda lake: keeping.forget(lake, made_lake.day(1)),
    "vacuum": lambda lake: keeping.vacuum(lake, 0),
    "shorten": lambda lake: shortened(lake),
}


def shortened(lake: Any) -> None:
    """Merge small files and fold the log, as a writer does after each fiftieth commit."""
    with lake.writing("shorten"):
        lake._shorten(delta.EACH)


def main(folder: Path, command: str, format: Format) -> None:
    """Let the command die at each step on a lake of four batches and two days, which was compacted for `vacuum`."""
    place = folder / "start"

    def start() -> Any:
        lake = Lake.open(place, create=True, format=format)
        for at in range(4):
            when = made_lake.day(at % 2)
            made_lake.fill(lake, [made_lake.verdict(f"r-{at}", "fail", "a", when), made_lake.capture(when)])
        if command == "vacuum":
            keeping.compact(lake)
        for path in place.rglob("*.parquet"):
            os.utime(path, (time.time() - 1e6,) * 2)
        return seen(lake)

    def whole(place: Path, at: int = -1) -> Any:
        steps = dying(at)
        lake = Lake.open(place)
        ACTS[command](lake)
        return [seen(lake), steps]

    def after(place: Path) -> Any:
        found = seen(Lake.open(place))
        ACTS[command](Lake.open(place))
        return {"then": found, "again": seen(Lake.open(place)), "batches": Lake.open(place).snapshot().version}

    import deltalake.transaction  # noqa: F401 - each child would import for itself
    import pyarrow.dataset  # noqa: F401

    if format == "iceberg":
        import conformance.pipeline.lakes.iceberg_files  # noqa: F401
    code, before = in_child(start)
    assert code == 0
    shutil.copytree(place, folder / "whole")
    code, (done, steps) = in_child(lambda: whole(folder / "whole"))
    assert code == 0
    print(json.dumps({"before": before, "done": done, "steps": steps}), flush=True)
    for at in some(steps):
        step = steps[at]
        if command != "vacuum" and passed_over(steps, at):
            continue
        copy = folder / f"at{at}"
        shutil.copytree(place, copy)
        code, _ = in_child(lambda copy=copy, at=at: whole(copy, at))
        assert code == DIED, (at, step, code)
        code, found = in_child(lambda copy=copy: after(copy))
        assert code == 0, (at, step)
        print(json.dumps({"at": at, "step": step, **found}), flush=True)
        shutil.rmtree(copy)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])  # type: ignore[arg-type]
