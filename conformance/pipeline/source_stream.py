"""The reader of a stream of `msmq_pcap`: the finished files of a folder, each once, or their packets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from conformance.capture import CaptureError
from conformance.capture.addresses import path_of
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.file_discovery import SETTLE_S, Sighting, Sightings

if TYPE_CHECKING:
    import pyarrow

    from conformance.pipeline.source import Asked

FILES = "path STRING, bytes BIGINT, grown BOOLEAN"


@dataclass
class Finished(InputPartition):  # type: ignore[misc]
    """Finished files of a folder."""

    files: Sequence[Sighting]


class Stream(DataSourceStreamReader):  # type: ignore[misc]
    """Reads the finished files of a folder, each once."""

    def __init__(self, asked: Asked, options: Any) -> None:
        ledger = options.get("ledger")
        if not ledger:
            raise PipelineError(
                "A stream of msmq_pcap needs the option ledger: a folder for the record of files seen."
            )
        settle = _seconds(options.get("settle", SETTLE_S))
        self._asked = asked
        self._files = options.get("rows") == "files"
        self._sightings = Sightings(Path(path_of(asked.path)), Path(ledger), settle)

    def initialOffset(self) -> dict[str, int]:
        """Return the offset before the first sighting."""
        return {"sighting": 0}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, int]:
        """Return the offset after the files that are finished now."""
        return {"sighting": self._sightings.latest()}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Return one task for the files, or one for each range."""
        found = self._sightings.between(start["sighting"], end["sighting"])
        if self._files:
            return [Finished(found)] if found else []
        readable = []
        for one in found:
            try:
                readable += self._asked.ranges([one.path])
            except (CaptureError, OSError):  # The file was rotated away in the meantime, so it has no packets.
                continue
        return readable

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        """Yield the files or packets of a task."""
        if isinstance(partition, Finished):
            import pyarrow as pa

            found = partition.files
            columns = {
                "path": pa.array([one.path for one in found], pa.string()),
                "bytes": pa.array([one.size for one in found], pa.int64()),
                "grown": pa.array([one.grown for one in found], pa.bool_()),
            }
            yield pa.RecordBatch.from_pydict(columns)
            return
        yield from self._asked.batches(partition)


def _seconds(text: Any) -> float:
    try:
        return float(text)
    except ValueError:
        raise PipelineError(f"The option settle is {text!r}; give a number.") from None
