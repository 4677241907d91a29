"""One session of Spark that ingests what it is asked to: a line of JSON comes in, and one goes out.

`benchmarks.pipeline` starts it, also with the code of another checkout in PYTHONPATH: it uses of the pipeline only what
both have. Every measurement is one ingest into a new lake.
"""

from __future__ import annotations

import inspect
import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from processes import spent, watching

T = TypeVar("T")
R = TypeVar("R")

KINDS: dict[str, dict[str, Any]] = {
    "rules": {"sessions": False, "stream": "file"},
    "packets": {"sessions": False, "packets": True, "stream": "file"},
    "pairs": {"sessions": True},
    "server": {"sessions": True},
    "skewed": {"sessions": True},
}
"""The options of each kind of ingest."""
TOGETHER = "grouped"
"""The stage in which the packets of connections come together and are judged."""


@dataclass(slots=True)
class Timed:
    """Workers that keep of each kind of task how long it was waited for, and its core-seconds, by its name."""

    inner: Any
    seconds: dict[str, float] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)

    @property
    def cores(self) -> int:
        """As those within."""
        return int(self.inner.cores)

    @property
    def spark(self) -> Any:
        """As those within."""
        return getattr(self.inner, "spark", None)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage."""
        began, before = time.perf_counter(), spent()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began
            self.spent[name] = self.spent.get(name, 0.0) + spent() - before

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """As those within."""
        with self.stage(getattr(function, "__name__", "task")):
            found: list[R] = self.inner.map(function, tasks)
            return found

    def attempt(
        self, function: Callable[[T], R], tasks: Sequence[T], each: Callable[[R], None] | None = None
    ) -> Sequence[Any]:
        """As those within."""
        with self.stage(getattr(function, "__name__", "task")):
            found: Sequence[Any] = self.inner.attempt(function, tasks, each)
            return found


class Session:
    """A running session. form: the format of its lakes."""

    def __init__(self, spark: Any, work: Path, form: str) -> None:
        from conformance.pipeline.spark import SparkWorkers

        self.workers, self.work, self.form = SparkWorkers(spark), work, form
        self.number = 0

    def ingested(self, kind: str, files: Sequence[str], **more: Any) -> dict[str, Any]:
        """Ingest files into a new lake, and return the figures."""
        from conformance.pipeline.ingest import Options, ingest
        from conformance.pipeline.lake import Lake

        place = self.work / f"lake-{self.number}"
        self.number += 1
        form: dict[str, Any] = {"format": self.form} if "format" in inspect.signature(Lake.open).parameters else {}
        known = {one.name for one in fields(Options)}
        asked = {"parts": self.workers.cores, **KINDS[kind], **more}  # Two cores are not parted by themselves.
        options = Options(**{name: value for name, value in asked.items() if name in known})
        timed = Timed(self.workers)
        try:
            with watching() as most, timed_together(timed):
                began, before = time.perf_counter(), spent()
                done = ingest(Lake.open(place, create=True, **form), files, options, timed)
                seconds, used = time.perf_counter() - began, spent() - before
            counts = verdicts_of(place)
            lake = sum(path.stat().st_size for path in place.rglob("*.parquet"))
        finally:
            shutil.rmtree(place, ignore_errors=True)
        rest = max(0.0, seconds - sum(timed.seconds.values())), max(0.0, used - sum(timed.spent.values()))
        return {
            "seconds": seconds, "spent": used, "peak": most.python, "own": most.own, "java": most.java,
            "stages": {**timed.seconds, "driver": rest[0]}, "stages_spent": {**timed.spent, "driver": rest[1]},
            "files": done.captures, "packets": done.packets, "bytes": done.bytes, "ranges": done.ranges, "lake": lake,
            "in_order": list(getattr(done, "in_order", {}).values()), "counts": counts,
            "digest": sha256(json.dumps(counts).encode()).hexdigest()[:16],
        }  # fmt: skip


def _shuffling() -> Any:
    """Return the module that shuffles; None in code that shuffles nothing."""
    for name in ("connections_shuffle", "connections"):
        with suppress(ImportError):
            place = import_module(f"conformance.pipeline.{name}")
            if hasattr(place, "grouped"):
                return place
    return None


@contextmanager
def timed_together(timed: Timed) -> Iterator[None]:
    """Time the stage that no task of the workers is, in code that has it."""
    place = _shuffling()
    if place is None:
        yield
        return
    inner = place.grouped

    def outer(*arguments: Any) -> Any:
        with timed.stage(TOGETHER):
            return inner(*arguments)

    place.grouped = outer
    try:
        yield
    finally:
        place.grouped = inner


def verdicts_of(place: Path) -> list[list[Any]]:
    """Return how many verdicts of each requirement and outcome a new lake has."""
    from pyarrow import parquet

    counts: Counter[tuple[str, str]] = Counter()
    for path in (place / "verdicts").rglob("*.parquet"):
        found = parquet.ParquetFile(path).read(columns=["requirement", "outcome", "count"]).to_pydict()
        for requirement, outcome, count in zip(*found.values(), strict=True):
            counts[requirement, outcome] += count
    return [[*key, counts[key]] for key in sorted(counts)]


def read_once(files: Sequence[str]) -> None:
    """Read files, so that no measurement waits for the disk: what was written long ago may no longer be in memory."""
    for file in files:
        with Path(file).open("rb", buffering=0) as opened:
            while opened.read(16 << 20):
                pass


def say(value: dict[str, Any]) -> None:
    """Write a line for the parent."""
    print(json.dumps(value), flush=True)


def main(asked: dict[str, Any]) -> None:
    """Start a session, make it warm with small captures of each kind, and ingest what comes, until nothing comes."""
    import conformance
    from conformance.pipeline.spark import session

    began = time.perf_counter()
    with session(f"local[{asked['cores']}]") as spark:
        started = time.perf_counter() - began
        here = Session(spark, Path(asked["work"]), asked["format"])
        starts = []
        for kind, files in asked["small"].items():
            found = {"kind": kind, "cores": asked["cores"], "session": started}
            for turn, more in (("cold", {"split": 1 << 20}), ("warm", {})):
                found[turn] = here.ingested(kind, files, **more)["seconds"]
            starts.append(found)
        say({"root": str(Path(conformance.__file__).parents[1]), "version": conformance.__version__, "starts": starts})
        for line in sys.stdin:
            task = json.loads(line)
            here.ingested(task["kind"], asked["small"][task["kind"]])  # Workers that had nothing to do have ended.
            read_once(task["files"])
            say(here.ingested(task["kind"], task["files"]))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
