"""The reader of a stream of `msmq_pcap`: the finished files of a folder, each once, or their packets.

What was taken is in the offsets (see `file_offsets`), which Spark keeps in the checkpoint of the query. So a checkpoint
that is moved, with or without the folder, means the same files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow

from conformance.capture import CaptureError
from conformance.capture.addresses import is_stored, path_of
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.file_discovery import SETTLE_S, look
from conformance.pipeline.file_ledger import files_of, position_of
from conformance.pipeline.file_offsets import MAX_FILES, Position, Taken, after, position
from conformance.pipeline.rows import plain

if TYPE_CHECKING:
    import pyarrow

    from conformance.pipeline.source import Asked


_SIGHTING: Final = "sighting"  # The one member of the offsets of earlier versions: a number of the ledger.


@dataclass
class Finished(InputPartition):  # type: ignore[misc]
    """Finished files below a folder."""

    folder: str
    files: Sequence[Taken]


class Stream(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]
    """Reads the finished files of a folder, each once, the oldest first."""

    def __init__(self, asked: Asked, options: Any) -> None:
        if is_stored(asked.path):
            raise PipelineError(f"A stream looks at a folder, and {asked.path} is in a store: read it as a batch.")
        ledger = options.get("ledger")
        self._asked = asked
        self._folder = Path(path_of(asked.path))
        self._settle_s = _number(options.get("settle", SETTLE_S), "settle", 0)
        self._most = int(_number(options.get("maxFilesPerTrigger", MAX_FILES), "maxFilesPerTrigger", 1))
        self._files = options.get("rows") == "files"
        self._ledger = Path(ledger) if ledger else None
        self._only: frozenset[bytes] | None = None

    def initialOffset(self) -> dict[str, Any]:
        """Return the offset before the first batch."""
        return Position().to_json()

    def getDefaultReadLimit(self) -> ReadLimit:
        """Return the number of files of a batch."""
        return ReadMaxFiles(self._most)

    def prepareForTriggerAvailableNow(self) -> None:
        """Take the files that are finished now, in as many batches as it needs, and then no more."""
        self._only = frozenset(one.mark for one in look(self._folder, self._settle_s).finished)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """Return the offset after the next batch; `start` if there are no new files. Raises PipelineError."""
        before = self._position(start)
        at_most = None if isinstance(limit, ReadAllAvailable) else self._most
        found = after(before, self._folder, look(self._folder, self._settle_s), at_most, self._only)
        if found is not before:
            return found.to_json()
        # A batch without files makes an offset that needs no ledger any more.
        return replace(before, batch=before.batch + 1).to_json() if _SIGHTING in start else start

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Return one task for the files of a batch, or one for each range. Raises PipelineError."""
        files = self._between(start, end)
        if self._files:
            return [Finished(str(self._folder), files)] if files else []
        readable: list[InputPartition] = []
        for one in files:
            try:
                readable += self._asked.ranges([str(self._folder / one.name)])
            except (CaptureError, OSError):  # The file was rotated away in the meantime, so it has no packets.
                continue
        return readable

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        """Yield the files or packets of a task."""
        if not isinstance(partition, Finished):
            yield from self._asked.batches(partition)
            return
        import pyarrow as pa

        paths = [f"{partition.folder}{os.sep}{one.name}" for one in partition.files]
        columns = {
            "path": pa.array(map(plain, paths), pa.string()),
            "bytes": pa.array([one.size for one in partition.files], pa.int64()),
            "grown": pa.array([one.grown for one in partition.files], pa.bool_()),
            "name": pa.array(map(os.fsencode, paths), pa.binary()),
        }
        yield pa.RecordBatch.from_pydict(columns)

    def _between(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[Taken]:
        """Return the files of the batch between two offsets. Raises PipelineError."""
        if start == end:
            return ()
        if _SIGHTING in end:
            return files_of(self._old(), self._folder, start[_SIGHTING], end[_SIGHTING])
        before, found = self._position(start), self._position(end)
        if found.batch != before.batch + 1:
            raise PipelineError(
                f"The checkpoint has the batch {found.batch:,} after {before.batch:,}: watch with another checkpoint."
            )
        return found.files

    def _position(self, offset: dict[str, Any]) -> Position:
        """Return the position of an offset, also of an earlier version's. Raises PipelineError."""
        if _SIGHTING in offset:
            return position_of(self._old(), self._folder, offset[_SIGHTING])
        return position(offset)

    def _old(self) -> Path:
        """Return the folder in which an earlier version kept the files seen. Raises PipelineError if none was given."""
        if self._ledger is None:
            raise PipelineError(
                "The checkpoint was made by an earlier mqconform, which kept the files seen outside it: name their"
                " folder with the option ledger once more, or use a new checkpoint."
            )
        return self._ledger


def _number(text: Any, option: str, least: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value < 1e9:
        raise PipelineError(f"The option {option} is {text!r}; give a number from {least:,}.")
    return value
