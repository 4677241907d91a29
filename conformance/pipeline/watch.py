"""`pipeline watch`: ingest a folder of rotating captures, each file exactly once, when it is finished.

Spark's structured streaming stores its progress in a checkpoint, with the files that were taken; the lake knows
captures by content. If the command is killed after a batch was committed to the lake but not to the checkpoint, the
batch runs again and adds nothing.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self
from uuid import uuid4

from conformance import cache
from conformance.pipeline.elsewhere import named
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.file_offsets import MAX_FILES
from conformance.pipeline.ingest import Ingested, Options
from conformance.pipeline.inside import UnfitError
from conformance.pipeline.lake import WATCH, Lake, local
from conformance.pipeline.lakes.store import LocalStore
from conformance.pipeline.progress import Lined, Progress
from conformance.pipeline.spark import SparkWorkers, first_line
from conformance.pipeline.watch_batch import There, ingested, results

SETTINGS: Final = {"spark.sql.streaming.minBatchesToRetain": "10", "spark.sql.streaming.numRecentProgressUpdates": "2"}
"""Of the session: an offset has up to some megabytes, and neither the checkpoint nor Java needs a hundred of them."""
_LEDGER: Final = "seen"  # The files that an earlier version has seen, beside its checkpoint.
_STARTS: Final = 4  # Starts that are tried again.
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # Of any store that Spark knows.
_TOLD: Final = "told"  # The results of batches that have run at a server.


def watched(place: Path) -> Path:
    """Return the folder to watch. Raises PipelineError if it does not exist, or is not a folder."""
    folder = local(place, "watch looks at one; ingest a store again and again, which reads no object twice")
    if not os.path.lexists(folder):
        raise PipelineError(f"There is no folder {folder}; watch one that captures are written to.")
    if not folder.is_dir():
        raise PipelineError(f"{folder} is not a folder; watch one that captures are written to.")
    return folder


def _progress(lake: Lake, folder: Path) -> Path:
    """Return the folder for Spark's progress: in the lake, or in the cache folder for a lake in a store.

    Without it every file is looked at again, and those that are in the lake are recognised by content.
    """
    watched_as = str(folder.absolute())
    if isinstance(lake.store, LocalStore):
        return lake.store.root / WATCH / _digest(watched_as)
    return cache.folder() / "watch" / _digest(f"{lake.place}\0{watched_as}")


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def watch(
    spark: Any,
    folder: Path,
    lake: Lake,
    options: Options,
    *,
    settle_s: float,
    every_s: float,
    once: bool,
    max_files: int = MAX_FILES,
    checkpoint: str | None = None,
    on_batch: Callable[[Ingested], None],
    showing: Callable[[Lined], AbstractContextManager[object]] = nullcontext,
    ended: Callable[[], bool] = lambda: False,
) -> None:
    """Ingest the finished files of a folder, now (once) or until interrupted. Raises PipelineError.

    settle_s: seconds for which the newest file of a set must not change. every_s: seconds between looks at the folder.
    max_files: of a batch. checkpoint: where Spark keeps its progress, if not in the lake. on_batch: called with the
    result of each batch. showing: shows the progress of one. ended: asked every second whether to stop.
    """
    from conformance.pipeline.source import NAME, MsmqPcap

    if checkpoint is not None and not checkpoint.strip():
        raise PipelineError("--checkpoint names no folder: give one, or leave it away")
    folder = watched(folder)
    named([str(folder / "any")], lake, SparkWorkers(spark))
    spark.dataSource.register(MsmqPcap)
    place = _progress(lake, folder)
    asked = replace(options, keep=True)
    trigger: dict[str, Any] = {"availableNow": True} if once else {"processingTime": f"{max(every_s, 0.1)} seconds"}
    stream = spark.readStream.format(NAME).option("rows", "files").option("maxFilesPerTrigger", str(max_files))
    if (place / _LEDGER).is_dir():
        stream = stream.option("ledger", str(place / _LEDGER))
    files = stream.option("settle", str(settle_s)).load(str(folder.absolute()))
    progress = _whole(checkpoint) if checkpoint else str(place / "checkpoint")
    with _Batches(lake, asked, spark, place.name, on_batch, showing) as batches:
        _run(spark, files, progress, batches, trigger, folder, once=once, ended=ended)


def _run(
    spark: Any, files: Any, progress: str, batches: _Batches, trigger: dict[str, Any], folder: Path, *, once: bool,
    ended: Callable[[], bool],
) -> None:  # fmt: skip
    """Run the query over the files of a folder, until it has ended or is asked to."""
    from py4j.protocol import Py4JError
    from pyspark.errors import StreamingQueryException

    gone = (Py4JError, ConnectionError)
    starts = 1
    while True:
        before = batches.done
        writer = files.writeStream.foreachBatch(batches.function()).option("checkpointLocation", progress)
        query = _started(writer.trigger(**trigger), progress)
        try:
            while not query.awaitTermination(1) and not ended():
                batches.tell()
            while ended() and query.isActive and query.status["isTriggerActive"]:
                time.sleep(0.1)  # Between two batches.
            batches.tell()
        except (StreamingQueryException, *gone) as problem:
            if ended():  # Java was told to end at the same time, like all processes of a service.
                return
            if isinstance(problem, gone):
                raise
            if _slow(problem) and starts <= _STARTS:
                starts += 1
                continue
            raise PipelineError(f"Watching {folder} ended: {first_line(problem)}") from None
        finally:
            with suppress(*gone if ended() else ()):
                query.stop()
        # A batch that began before a kill is repeated first, by itself: more files may be waiting.
        if ended() or not once or batches.done == before:
            return


def _whole(place: str) -> str:
    """Return the absolute path of a folder, and an address as it is: Spark may have another working directory."""
    return place if _ADDRESS.match(place) else str(Path(place).absolute())


def _started(writer: Any, progress: str) -> Any:
    """Return the query of a writer. Spark waits 10 s for a Python, which may be too short once.

    Raises PipelineError for a checkpoint that cannot be used, which Java tells with an error that PySpark has no class
    for.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    for left in range(_STARTS, -1, -1):
        try:
            return writer.start()
        except PySparkException as problem:
            if not left or not _slow(problem):
                raise
        except Py4JJavaError as problem:
            raise PipelineError(f"the checkpoint {progress} cannot be used ({first_line(problem)})") from None
    raise AssertionError


def _slow(problem: Exception) -> bool:
    """Tell whether an error says that a Python did not begin in time."""
    return "failed to connect back" in str(problem)


@dataclass(slots=True)
class _Heard:
    """The last line that a server has told."""

    text: str

    def line(self) -> str:
        """Return it."""
        return self.text


@dataclass(slots=True)
class _Batches:
    """The batches of a watch: they run in this process or, over Spark Connect, at the server. name: of the watch.

    told: what the server tells this command, and no other one that watches the same folder.
    """

    lake: Lake
    options: Options
    spark: Any
    name: str
    on_batch: Callable[[Ingested], None]
    showing: Callable[[Lined], AbstractContextManager[object]] = nullcontext
    done: int = 0
    told: str = field(init=False)
    _heard: _Heard | None = None
    _shown: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        self.told = f"{WATCH}/{self.name}/{_TOLD}/{uuid4().hex}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._shown.close()
        if self._remote:
            with suppress(OSError, UnfitError, PipelineError):
                self.lake.store.clear(self.told)

    @property
    def _remote(self) -> bool:
        return type(self.spark).__module__.startswith("pyspark.sql.connect.")

    def function(self) -> Callable[[Any, int], None]:
        """Return what Spark calls with each batch."""
        if self._remote:
            return There(self.lake.place, self.options, self.told)
        workers = SparkWorkers(self.spark)

        def here(frame: Any, number: int) -> None:
            progress = Progress(time.monotonic)
            with self.showing(progress):
                found = ingested(self.lake, frame, self.options, workers, progress)
            self._add(found)

        return here

    def tell(self) -> None:
        """Report the batches that run or have run at the server."""
        for one in results(self.lake, self.told) if self._remote else ():
            if not isinstance(one, str):
                self._shown.close()
                self._heard = None
                self._add(one)
            elif self._heard is not None:
                self._heard.text = one
            else:
                self._heard = _Heard(one)
                self._shown.enter_context(self.showing(self._heard))

    def _add(self, found: Ingested | None) -> None:
        self.done += 1
        if found is not None:
            self.on_batch(found)
