"""`pipeline watch`: ingest a folder of rotating captures, each file exactly once, when it is finished.

Spark's structured streaming stores its progress in a checkpoint, with the files that were taken; the lake knows
captures by content. If the command is killed after a batch was committed to the lake but not to the checkpoint, the
batch runs again and adds nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from conformance import cache
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.file_offsets import MAX_FILES
from conformance.pipeline.ingest import Ingested, Options
from conformance.pipeline.lake import WATCH, Lake, local
from conformance.pipeline.lakes.store import LocalStore
from conformance.pipeline.spark import SparkWorkers, first_line
from conformance.pipeline.watch_batch import There, ingested, results

SETTINGS: Final = {"spark.sql.streaming.minBatchesToRetain": "10", "spark.sql.streaming.numRecentProgressUpdates": "2"}
"""Of the session: an offset has up to some megabytes, and neither the checkpoint nor Java needs a hundred of them."""
_LEDGER: Final = "seen"  # The files that an earlier version has seen, beside its checkpoint.
_STARTS: Final = 4  # Starts that are tried again.
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
    ended: Callable[[], bool] = lambda: False,
) -> None:
    """Ingest the finished files of a folder, now (once) or until interrupted. Raises PipelineError.

    settle_s: seconds for which the newest file of a set must not change. every_s: seconds between looks at the folder.
    max_files: of a batch. checkpoint: where Spark keeps its progress, if not in the lake. on_batch: called with the
    result of each batch. ended: asked every second whether to stop.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import StreamingQueryException

    from conformance.pipeline.source import NAME, MsmqPcap

    gone = (Py4JError, ConnectionError)
    folder = watched(folder)
    spark.dataSource.register(MsmqPcap)
    place = _progress(lake, folder)
    asked = replace(options, keep=True)
    trigger: dict[str, Any] = {"availableNow": True} if once else {"processingTime": f"{max(every_s, 0.1)} seconds"}
    stream = spark.readStream.format(NAME).option("rows", "files").option("maxFilesPerTrigger", str(max_files))
    if (place / _LEDGER).is_dir():
        stream = stream.option("ledger", str(place / _LEDGER))
    files = stream.option("settle", str(settle_s)).load(str(folder.absolute()))
    progress = checkpoint or str(place / "checkpoint")
    batches = _Batches(lake, asked, spark, f"{WATCH}/{place.name}/{_TOLD}", on_batch)
    while True:
        before = batches.done
        writer = files.writeStream.foreachBatch(batches.function()).option("checkpointLocation", progress)
        query = _started(writer.trigger(**trigger))
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
            raise PipelineError(f"Watching {folder} ended: {first_line(problem)}") from None
        finally:
            with suppress(*gone if ended() else ()):
                query.stop()
        # A batch that began before a kill is repeated first, by itself: more files may be waiting.
        if ended() or not once or batches.done == before:
            return


def _started(writer: Any) -> Any:
    """Return the query of a writer. A server of Spark Connect waits 10 s for a Python, which may be too short once."""
    from pyspark.errors import PySparkException

    for _ in range(_STARTS):
        try:
            return writer.start()
        except PySparkException as problem:
            if "failed to connect back" not in str(problem):
                raise
    return writer.start()


@dataclass(slots=True)
class _Batches:
    """The batches of a watch: they run in this process or, over Spark Connect, at the server. told: of the latter."""

    lake: Lake
    options: Options
    spark: Any
    told: str
    on_batch: Callable[[Ingested], None]
    done: int = 0

    def function(self) -> Callable[[Any, int], None]:
        """Return what Spark calls with each batch."""
        if type(self.spark).__module__.startswith("pyspark.sql.connect."):
            return There(self.lake.place, self.options, self.told)
        workers = SparkWorkers(self.spark)
        return lambda frame, number: self._add(ingested(self.lake, frame, self.options, workers))

    def tell(self) -> None:
        """Report the batches that have run at the server."""
        for one in results(self.lake, self.told):
            self._add(one)

    def _add(self, found: Ingested | None) -> None:
        self.done += 1
        if found is not None:
            self.on_batch(found)
