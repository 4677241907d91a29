"""The workers of a Spark session: tasks go out and results come back by `mapInArrow`, classic or Connect.

Each job has a partition for each of its tasks. A job is as small as it can be, so that a task which kills its worker
takes few others with it, and results come back while others are at work.
"""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4
from weakref import WeakKeyDictionary

from conformance import __version__
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.workers import Lost, LostWorkError, deed, found
from conformance.report.text import label
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    import pyarrow

T = TypeVar("T")
R = TypeVar("R")

JOBS = 32
"""The most jobs of one `map` that Spark has at once."""
MOST_SENT = 16 << 20
"""Bytes of tasks that one job sends to each of its workers, unless one task has more."""
MOST_TASK = 64 << 20
"""Bytes of one task, at most."""
_GREETING = Lock()
_GREETED: MutableMapping[Any, int] = WeakKeyDictionary()
"""How many tasks run at once, of the sessions whose workers have told their version."""
ANSWER = "number int, result binary"
_PROBES = 4_096
_HERE = r"local(\[[^\]]*\])?"
"""The masters whose workers are processes of this machine."""
_DIED = (
    "Python worker exited unexpectedly",
    "Python worker process terminated",
    "ExecutorLostFailure",
    "EOFException",
    "SIGSEGV",
)
"""Spark's words for a task whose process has ended under it."""


@dataclass(frozen=True, slots=True)
class SparkWorkers:
    """The workers of a Spark session: paths and ranges are sent, lists of written files return."""

    spark: Any

    @property
    def cores(self) -> int:
        """The number of tasks that run at once, as Spark cuts a range that is not told how; asked once a session.

        Raises PipelineError where a worker cannot work.
        """
        return greeted(self.spark)

    @property
    def elsewhere(self) -> bool:
        """True unless the workers are on this machine and have its working directory."""
        remote = type(self.spark).__module__.startswith("pyspark.sql.connect.")
        return remote or re.fullmatch(_HERE, self.spark.conf.get("spark.master")) is None

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Return the results in the order of the tasks; each task is a partition. Raises PipelineError."""
        return found(self.attempt(function, tasks))

    def attempt(
        self, function: Callable[[T], R], tasks: Sequence[T], each: Callable[[R], None] | None = None
    ) -> list[R | Lost]:
        """Return the results in the order of the tasks, and Lost for a task whose worker died, also when it ran alone.

        each: called with every result as it comes. Raises PipelineError for a task that is too large to be sent, and
        what a task raises, as Spark tells it.
        """
        if not tasks:
            return []
        greeted(self.spark)
        packed = _packed(tasks)
        by_value = _pickled(function)
        name = deed(function)
        results_by: dict[int, R | Lost] = {}

        def keep(numbers: Sequence[int], results: Sequence[R]) -> None:
            for number, result in zip(numbers, results, strict=True):
                results_by[number] = result
                if each is not None:
                    each(result)

        again: list[int] = []
        for numbers, results in self._jobs(by_value, name, packed, _shares(packed)):
            if isinstance(results, Lost):
                again += numbers
            else:
                keep(numbers, results)
        for number in sorted(again):  # Alone, so that it takes nobody with it and nobody takes its memory.
            ((numbers, results),) = self._jobs(by_value, name, packed, [[number]])
            if isinstance(results, Lost):
                results_by[number] = results
            else:
                keep(numbers, results)
        return [results_by[number] for number in range(len(tasks))]

    def _jobs(
        self, function: bytes, name: str, tasks: Sequence[bytes], shares: Sequence[Sequence[int]]
    ) -> Iterator[tuple[Sequence[int], list[Any] | Lost]]:
        """Yield the numbers of each job's tasks with their results, as the jobs end."""
        mark = f"mqconform-{uuid4().hex}"
        if len(shares) == 1:
            yield shares[0], self._job(function, name, tasks, shares[0], mark)
            return
        pool = ThreadPoolExecutor(JOBS, "mqconform-job")
        waiting: dict[Future[list[Any] | Lost], Sequence[int]] = {}
        try:
            for share in shares:
                waiting[pool.submit(self._job, function, name, tasks, share, mark)] = share
            while waiting:
                for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield waiting.pop(done), done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            with suppress(Exception):  # Java may have ended, which is what is raised.
                self.spark.interruptTag(mark)
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def _job(
        self, function: bytes, name: str, tasks: Sequence[bytes], numbers: Sequence[int], mark: str
    ) -> list[Any] | Lost:
        """Carry out some tasks, and return their results in order."""
        sent = [tasks[number] for number in numbers]
        frame = self.spark.range(0, len(sent), 1, len(sent)).mapInArrow(_worker(function, sent, name), ANSWER)
        try:
            table = fetched(self.spark, frame, name, mark)
        except LostWorkError as lost:
            return Lost(lost.reason)
        return [pickle.loads(one.as_py()) for one in table.sort_by("number").column("result")]


def fetched(spark: Any, frame: Any, name: str, *marks: str) -> pyarrow.Table:
    """Return the rows of a frame, whose work Spark's pages show by this name. marks: further tags of its job.

    Spark names a stage by the file of the call, which is therefore called `name`. Raises LostWorkError if a worker died
    each time, and PipelineError if one cannot work.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    def fetch() -> Any:
        return frame.toArrow()

    code = fetch.__code__.replace(co_filename=name)
    tags = [name.replace(",", ";"), *marks]  # A comma separates tags.
    for tag in tags:
        spark.addTag(tag)
    try:
        table: pyarrow.Table = FunctionType(code, globals(), closure=fetch.__closure__)()
        return table
    except (PySparkException, Py4JError) as problem:
        if (sentence := unfit(problem)) is not None:
            raise sentence from None
        if died(problem):
            raise LostWorkError("died: it crashed, was killed, or had too little memory") from None
        raise
    finally:
        for tag in tags:
            spark.removeTag(tag)


def died(problem: BaseException) -> bool:
    """Tell whether an error of Spark says that the process of a task has ended under it."""
    return any(words in str(problem) for words in _DIED)


def unfit(problem: BaseException) -> PipelineError | None:
    """Return why a worker cannot work, if an error of Spark tells that."""
    text = str(problem)
    match = re.search(r"RuntimeError: Unfit: (.+)", text)
    if match is not None:
        why = match[1].rstrip()
    elif match := re.search(r"(?:ModuleNotFoundError|ImportError)[:(]* *['\"]?No module named '?([\w.]+)", text):
        package = match[1].partition(".")[0]
        why = f"has no {'mqconform' if package == 'conformance' else package}"
    elif "PYTHON_VERSION_MISMATCH" in text or "different version" in text:
        here = ".".join(map(str, sys.version_info[:2]))
        why = f"has another Python, and here it is {here}"
    elif match := re.search(r'Cannot run program "([^"]+)"', text):
        why = f"has no program {match[1]}"
    else:
        return None
    return PipelineError(
        f"A worker of Spark {label(why, 200)}: install mqconform {__version__} with its extra spark in the Python of"
        " every worker.",
        ExitCode.UNUSABLE,
    )


def greeted(spark: Any) -> int:
    """Return how many tasks run at once, after workers have told that they have this mqconform. Once a session.

    Raises PipelineError for a worker that has another, or none. Workers that come later are asked with each task.
    """
    with _GREETING:
        if spark not in _GREETED:
            name = "greet the workers"
            frame = spark.range(_PROBES).mapInArrow(_greeting(__version__, name), "part int")
            _GREETED[spark] = max(1, fetched(spark, frame, name).num_rows)
        return _GREETED[spark]


def _greeting(version: str, name: str) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """Return what a worker does that is only asked for its version."""
    same = _same(version)

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow as pa

        same()
        for _ in batches:
            pass
        yield pa.RecordBatch.from_pydict({"part": pa.array([1], pa.int32())})

    work.__name__ = work.__qualname__ = name.replace(" ", "_")
    return work


def _same(version: str) -> Callable[[], None]:
    """Return what raises an error on a worker with another mqconform. It is sent by value: a worker may have none."""

    def same() -> None:
        import socket

        import conformance

        if conformance.__version__ != version:
            told = f"{socket.gethostname()} has mqconform {conformance.__version__}, and here it is {version}"
            raise RuntimeError(f"Unfit: {told}")

    return same


def _worker(
    function: bytes, tasks: Sequence[bytes], name: str
) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """Return what a worker does with the numbers of its tasks. Spark's pages show it by its name."""
    same = _same(__version__)

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        # Sent by value: nothing of this package is needed until the task is unpacked.
        import pickle

        import pyarrow as pa

        same()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                result = pickle.dumps(pickle.loads(function)(pickle.loads(tasks[number])), protocol=5)
                columns = {"number": pa.array([number], pa.int32()), "result": pa.array([result], pa.binary())}
                yield pa.RecordBatch.from_pydict(columns)

    work.__name__ = work.__qualname__ = name.replace(" ", "_")
    return work


def _pickled(value: Any) -> bytes:
    from pyspark.cloudpickle import dumps

    return bytes(dumps(value))


def _packed(tasks: Sequence[Any]) -> list[bytes]:
    """Return the tasks as they are sent. Raises PipelineError for one that is too large."""
    packed = [_pickled(task) for task in tasks]
    largest = max(map(len, packed), default=0)
    if largest > MOST_TASK:
        raise PipelineError(
            f"A task has {largest >> 20:,} MB, and at most {MOST_TASK >> 20} MB are sent to a worker of Spark: name"
            " fewer captures at once."
        )
    return packed


def _shares(tasks: Sequence[bytes]) -> list[list[int]]:
    """Return the numbers of the tasks of each job: equally many, and fewer where tasks are large."""
    many = -(-len(tasks) // JOBS)
    shares: list[list[int]] = []
    size = 0
    for number, task in enumerate(tasks):
        if not shares or len(shares[-1]) == many or size + len(task) > MOST_SENT:
            shares.append([])
            size = 0
        shares[-1].append(number)
        size += len(task)
    return shares
