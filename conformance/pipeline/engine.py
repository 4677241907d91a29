"""Who carries out the tasks of an ingest, and why: processes of this machine, or the workers of a Spark session."""

from __future__ import annotations

import os
import pickle
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeVar
from uuid import uuid4

from conformance import __version__
from conformance.capture.addresses import is_stored
from conformance.pipeline.spark_needs import check_master, require_spark, spark_runs
from conformance.pipeline.untrusted_files import PipelineError, require
from conformance.report.text import label
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    import pyarrow

    from conformance.pipeline.work import Child

T = TypeVar("T")
R = TypeVar("R")
_JOBS: Final = 16
"""The most jobs of Spark at once; each result is told when its job ends."""
_TASKS: Final = 4_096


class Engine(Protocol):
    """Carries out tasks, some of them at once."""

    @property
    def cores(self) -> int:
        """The number of tasks that run at once."""

    def run(self, function: Callable[[T, Child], R], tasks: Sequence[T], each: Callable[[R], None]) -> list[R]:
        """Return the results in the order of the tasks. each: called with every result as it comes."""


@dataclass(slots=True)
class Local:
    """Processes of this machine, one for each core, which stay until the `end`."""

    cores: int = field(default_factory=lambda: _cores())
    _children: list[Child] = field(default_factory=list)

    def run(self, function: Callable[[T, Child], R], tasks: Sequence[T], each: Callable[[R], None]) -> list[R]:
        """Return the results in the order of the tasks."""
        from conformance.pipeline.work import Child

        while len(self._children) < self.cores:
            self._children.append(Child())
            self._children[-1].begin()  # It is ready when the files have been looked at.
        free: SimpleQueue[Child] = SimpleQueue()
        for one in self._children:
            free.put(one)

        def act(task: T) -> R:
            child = free.get()
            try:
                return function(task, child)
            finally:
                free.put(child)

        try:
            return _each(self.cores, act, tasks, each)
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """End the processes."""
        for one in self._children:
            one.end()
        self._children.clear()


@dataclass(frozen=True, slots=True)
class Spark:
    """The workers of a Spark session, classic or Connect: each task is a partition of a DataFrame."""

    session: Any

    @property
    def cores(self) -> int:
        """The number of tasks that run at once, as Spark cuts a range. Raises PipelineError if a worker cannot work."""
        frame = self.session.range(_TASKS).mapInArrow(_greeting(__version__), "part int")
        return max(1, int(self._fetched(frame).num_rows))

    def run(self, function: Callable[[T, Child], R], tasks: Sequence[T], each: Callable[[R], None]) -> list[R]:
        """Return the results in the order of the tasks. Raises PipelineError, and Spark's errors."""
        if not tasks:
            return []
        each_job = -(-len(tasks) // _JOBS)
        shares = [tasks[at : at + each_job] for at in range(0, len(tasks), each_job)]
        mark = f"mqconform-{uuid4().hex}"

        def job(share: Sequence[T]) -> list[R]:
            sent = pickle.dumps((function, list(share)))
            frame = self.session.range(0, len(share), 1, len(share)).mapInArrow(
                _working(sent), "number int, result binary"
            )
            self.session.addTag(mark)
            table = self._fetched(frame).sort_by("number")
            return [pickle.loads(one.as_py()) for one in table.column("result")]

        try:
            done = _each(_JOBS, job, shares, lambda found: list(map(each, found)))
            return [one for found in done for one in found]
        except BaseException:
            with suppress(Exception):  # Java may have ended, which is what is raised.
                self.session.interruptTag(mark)
            raise

    def _fetched(self, frame: Any) -> pyarrow.Table:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        try:
            return frame.toArrow()
        except (PySparkException, Py4JError) as problem:
            if (sentence := _unfit(str(problem))) is not None:
                raise sentence from None
            raise


def _each(threads: int, function: Callable[[T], R], tasks: Sequence[T], each: Callable[[R], object]) -> list[R]:
    """Return the results in the order of the tasks, carried out in threads; after a failure no other one begins."""
    pool = ThreadPoolExecutor(max(1, threads), "mqconform-task")
    futures: list[Future[R]] = []
    try:
        futures += [pool.submit(function, task) for task in tasks]
        for one in as_completed(futures):
            each(one.result())
        return [one.result() for one in futures]
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    finally:
        pool.shutdown(wait=False)


def _greeting(version: str) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """Return what a worker does that is only asked for its version. It is sent by value: a worker may have none."""

    def greet(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import socket

        import pyarrow as pa

        import conformance

        if conformance.__version__ != version:
            told = f"{socket.gethostname()} has mqconform {conformance.__version__}, and here it is {version}"
            raise RuntimeError(f"Unfit: {told}")
        for _ in batches:
            pass
        yield pa.RecordBatch.from_pydict({"part": pa.array([1], pa.int32())})

    return greet


def _working(sent: bytes) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """Return what a worker does with the numbers of its tasks."""

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pickle

        import pyarrow as pa

        from conformance.pipeline.work import CHILD

        function, tasks = pickle.loads(sent)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                result = pickle.dumps(function(tasks[number], CHILD), protocol=5)
                columns = {"number": pa.array([number], pa.int32()), "result": pa.array([result], pa.binary())}
                yield pa.RecordBatch.from_pydict(columns)

    return work


def _unfit(text: str) -> PipelineError | None:
    """Return why a worker cannot work, if an error of Spark tells that."""
    if match := re.search(r"RuntimeError: Unfit: (.+)", text):
        why = match[1].rstrip()
    elif match := re.search(r"(?:ModuleNotFoundError|ImportError)[:(]* *['\"]?No module named '?([\w.]+)", text):
        package = match[1].partition(".")[0]
        why = f"has no {'mqconform' if package == 'conformance' else package}"
    elif "PYTHON_VERSION_MISMATCH" in text or "different version" in text:
        why = f"has another Python, and here it is {'.'.join(map(str, sys.version_info[:2]))}"
    elif match := re.search(r'Cannot run program "([^"]+)"', text):
        why = f"has no program {match[1]}"
    else:
        return None
    return PipelineError(
        f"A worker of Spark {label(why, 200)}: install mqconform {__version__} with its extra spark in the Python of"
        " every worker.",
        ExitCode.UNUSABLE,
    )


ENGINES: Final = ("auto", "local", "spark")
LARGE: Final = 8 << 30
"""Bytes of captures from which `auto` starts Spark, if it is there."""


@dataclass(frozen=True, slots=True)
class Used:
    """The engine of a command. why: what is said before it begins."""

    name: Literal["local", "spark"]
    why: str
    master: str | None = None


def check(engine: str, master: str | None) -> None:
    """Raise PipelineError for an unknown engine or master, and if a package is missing."""
    if engine not in ENGINES:
        raise PipelineError(f"Invalid --engine {engine}: give {', '.join(ENGINES)}.")
    if engine == "local" and master is not None:
        raise PipelineError("--master is Spark's: give it with --engine spark.")
    check_master(master)
    if engine == "spark" or master is not None:
        require_spark()
    require("columns,lake", "deltalake", "duckdb", "pyarrow", "numpy", "numba")


def ingest_engine(engine: str, master: str | None, files: Sequence[str]) -> Used:
    """Return the engine for these captures. Raises PipelineError."""
    cores = _cores()
    here = f"{cores} process{'' if cores == 1 else 'es'} of this machine"
    if engine == "spark" or master is not None or "SPARK_REMOTE" in os.environ or "PYSPARK_GATEWAY_PORT" in os.environ:
        return Used("spark", f"engine spark ({master or 'the session that is there, or all local cores'})", master)
    if engine == "local":
        return Used("local", f"engine local ({here})")
    size = sum(_size(name) for name in files)
    if size >= LARGE and spark_runs():
        return Used("spark", f"engine spark, for {size / (1 << 30):.0f} GiB of captures (--engine local: {here})")
    return Used("local", f"engine local, {here} (--master or --engine spark: Spark)")


@contextmanager
def engine_of(used: Used) -> Iterator[Engine]:
    """Yield the engine, and end it. Raises PipelineError."""
    if used.name == "local":
        here = Local()
        try:
            yield here
        finally:
            here.end()
        return
    require_spark()
    from conformance.pipeline.spark import session

    with session(used.master) as spark:
        yield Spark(spark)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _size(name: str) -> int:
    try:
        return 0 if is_stored(name) else os.stat(name).st_size  # noqa: PTH116 - many
    except OSError:
        return 0
