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
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from conformance import cache
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.file_offsets import MAX_FILES
from conformance.pipeline.identity import Probe
from conformance.pipeline.ingest import Ingested, Options, ingest
from conformance.pipeline.lake import WATCH, Lake, local
from conformance.pipeline.lakes.store import LocalStore
from conformance.pipeline.spark import SparkWorkers, first_line

SETTINGS: Final = {"spark.sql.streaming.minBatchesToRetain": "10", "spark.sql.streaming.numRecentProgressUpdates": "2"}
"""Of the session: an offset has up to some megabytes, and neither the checkpoint nor Java needs a hundred of them."""
_REMOTE: Final = (
    "A watch needs a Spark of its own (local[N], spark://HOST:PORT, yarn, k8s://...): over Spark Connect the server, not"
    " this command, would write to the lake; run ingest again and again, which adds no capture twice."
)
_LEDGER: Final = "seen"  # The files that an earlier version has seen, beside its checkpoint.


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

    if type(spark).__module__.startswith("pyspark.sql.connect."):
        raise PipelineError(_REMOTE)
    gone = (Py4JError, ConnectionError)
    folder = watched(folder)
    spark.dataSource.register(MsmqPcap)
    place = _progress(lake, folder)
    workers = SparkWorkers(spark)
    asked = replace(options, keep=True)

    trigger: dict[str, Any] = {"availableNow": True} if once else {"processingTime": f"{max(every_s, 0.1)} seconds"}
    done: list[int] = []

    def batch(frame: Any, number: int) -> None:
        rows = frame.collect()
        done.append(number)
        if not rows:  # Files were renamed or packed, or have the same content with another time.
            return
        grown = [
            Probe(os.fsdecode(row.name), row.bytes, error=f"{row.path} changed after it was ingested; raise --settle.")
            for row in rows
            if row.grown
        ]
        paths = [os.fsdecode(row.name) for row in rows if not row.grown]
        on_batch(ingest(lake, paths, asked, workers, refused=grown))

    stream = spark.readStream.format(NAME).option("rows", "files").option("maxFilesPerTrigger", str(max_files))
    if (place / _LEDGER).is_dir():
        stream = stream.option("ledger", str(place / _LEDGER))
    files = stream.option("settle", str(settle_s)).load(str(folder.absolute()))
    progress = checkpoint or str(place / "checkpoint")
    while True:
        before = len(done)
        writer = files.writeStream.foreachBatch(batch).option("checkpointLocation", progress)
        query = writer.trigger(**trigger).start()
        try:
            while not query.awaitTermination(1) and not ended():
                pass
            while ended() and query.isActive and query.status["isTriggerActive"]:
                time.sleep(0.1)  # Between two batches.
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
        if ended() or not once or len(done) == before:
            return
