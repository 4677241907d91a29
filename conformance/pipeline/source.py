"""`msmq_pcap`: captures as a Spark data source, batch and streaming, in Arrow batches.

    spark.dataSource.register(MsmqPcap)
    spark.read.format("msmq_pcap").option("splitBytes", 1 << 26).load("captures/")
    spark.readStream.format("msmq_pcap").option("maxFilesPerTrigger", 100).load("captures/")

Options: path (file, folder or pattern; for a stream a folder), splitBytes (134217728; 0: no ranges), profile, level,
readings, and for a stream `maxFilesPerTrigger` (1000), `settle` (seconds, 60), `rows` (`packets`, or `files` for the
finished files alone) and `ledger` (the files seen, of a checkpoint of an earlier version). Only paths and ranges travel
to the workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from conformance.capture.addresses import is_stored
from conformance.capture.ranges import layout, size_of, split
from conformance.captures.packet_rules import PacketRules
from conformance.judge.sessions.context import Seen
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.file_discovery import FILES, require_streams
from conformance.pipeline.ingest import MIN_SPLIT, SPLIT, Options, files_of, how
from conformance.pipeline.parts import frames_of
from conformance.pipeline.rows import Row, plain
from conformance.pipeline.rows_writer import packet_row
from conformance.pipeline.schemas import SOURCE
from conformance.pipeline.streams import How
from conformance.wire import dissect

if TYPE_CHECKING:
    import pyarrow

NAME = "msmq_pcap"
_BATCH = 2_048


@dataclass
class Range(InputPartition):  # type: ignore[misc]
    """The input of one task: bytes [start, stop) of a file."""

    path: str
    start: int
    stop: int


class MsmqPcap(DataSource):  # type: ignore[misc]
    """The data source, configured by its options."""

    @classmethod
    def name(cls) -> str:
        """Return the name for `format`."""
        return NAME

    def schema(self) -> str:
        """Return the columns, as DDL."""
        return FILES if self.options.get("rows") == "files" else SOURCE.ddl()

    def reader(self, schema: Any) -> DataSourceReader:
        """Return the reader of a batch."""
        return Batch(self._asked())

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        """Return the reader of a stream. Raises PipelineError if pyspark is too old for it."""
        require_streams()
        from conformance.pipeline.source_stream import Stream

        return Stream(self._asked(), self.options)

    def _asked(self) -> Asked:
        path = self.options.get("path")
        if not path:
            raise PipelineError(f"{NAME} needs a path: load(PATH) or option('path', PATH).")
        options = Options(
            profile=self.options.get("profile"),
            level=self.options.get("level", "must"),
            readings=self.options.get("readings", "windows"),
        )
        return Asked(path, _number(self.options.get("splitBytes", SPLIT), "splitBytes"), how(options, ""))


@dataclass(frozen=True, slots=True)
class Asked:
    """The parsed options."""

    path: str
    at_most: int
    how: How

    def ranges(self, paths: Sequence[str]) -> list[Range]:
        """Return the ranges of these files."""
        return [one for path in paths for one in self._ranges(path)]

    def _ranges(self, path: str) -> list[Range]:
        how = layout(path)
        size = size_of(path)
        if how is None or not self.at_most or size <= self.at_most:
            return [Range(path, 24, size)]
        return [Range(path, start, stop) for start, stop in split(size, max(self.at_most, MIN_SPLIT))]

    def batches(self, part: Range) -> Iterator[pyarrow.RecordBatch]:
        """Yield the packets of a range."""
        rules, waiting = PacketRules(self.how.profile, self.how.readings, self.how.level), list[Row]()
        for frame in frames_of(part.path, part.start, part.stop):
            packet = dissect(frame.data, transport=frame.transport)
            verdicts = rules.judge(Seen(frame, packet))
            waiting.append({"path": plain(part.path), "start": part.start, **packet_row(frame, packet, verdicts)})
            if len(waiting) == _BATCH:
                yield _batch(waiting)
                waiting = []
        if waiting:
            yield _batch(waiting)


class Batch(DataSourceReader):  # type: ignore[misc]
    """Reads all files that exist now."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def partitions(self) -> Sequence[InputPartition]:
        """Return a task for each range."""
        path = self._asked.path
        found = [one for one in files_of([path]) if one == path or is_stored(one) or Path(one).is_file()]
        return self._asked.ranges(found)

    def read(self, partition: Range) -> Iterator[pyarrow.RecordBatch]:
        """Yield the packets of a range."""
        return self._asked.batches(partition)


def _batch(rows: list[Row]) -> pyarrow.RecordBatch:
    import pyarrow as pa

    # Spark requires its own names, and every column nullable.
    names = {"deviating": pa.list_(pa.field("element", pa.string()))}
    fields = [pa.field(one.name, names.get(one.name, one.type)) for one in SOURCE.arrow()]
    return pa.RecordBatch.from_pylist(rows, schema=pa.schema(fields))


def _number(text: Any, option: str) -> int:
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        raise PipelineError(f"The option {option} is {text!r}; give a number.") from None
