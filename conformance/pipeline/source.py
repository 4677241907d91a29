"""`msmq_pcap`: the packets of captures as a Spark data source, judged by the function that ingest uses.

    spark.dataSource.register(MsmqPcap)
    spark.read.format("msmq_pcap").option("columns", "time,kind,queue,worst,deviating").load("captures/")

Options: path (file, folder or pattern), columns (by default all), profile, level, readings, sessions (`true`: judge the
rules of connections too), and onError (`fail`, or `skip` for a capture that cannot be read or judged to its end). Each
stream is a partition; only names of files travel to the workers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from queue import Queue
from threading import Thread
from typing import Any, Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from conformance.pipeline.identity import probe, streams
from conformance.pipeline.ingest import files_of, how
from conformance.pipeline.rows import Rows
from conformance.pipeline.schemas import DDL, SOURCE
from conformance.pipeline.streams import How, StreamWork, judge_stream
from conformance.pipeline.untrusted_files import PipelineError
from conformance.pipeline.work import warm

NAME: Final = "msmq_pcap"
_LOG: Final = logging.getLogger(__name__)
_AHEAD: Final = 4
"""Batches that are judged before Spark asks for them."""


class MsmqPcap(DataSource):  # type: ignore[misc]
    """The data source, configured by its options."""

    @classmethod
    def name(cls) -> str:
        """Return the name for `format`."""
        return NAME

    def schema(self) -> str:
        """Return the columns, as DDL. Raises PipelineError for an option that makes no sense."""
        types = {one.name: DDL[one.type] for one in SOURCE.columns}
        return ", ".join(f"{name} {types[name]}" for name in _chosen(self.options.get("columns")))

    def reader(self, schema: Any) -> DataSourceReader:
        """Return the reader. schema: its columns, which the user may have given. Raises PipelineError."""
        path = self.options.get("path")
        if not path:
            raise PipelineError(f"{NAME} needs a path: load(PATH) or option('path', PATH).")
        level, readings = self.options.get("level", "must"), self.options.get("readings", "windows")
        sessions = self._one_of("sessions", ("true", "false")) == "true"
        asked = how(self.options.get("profile"), level, readings, packets=True, sessions=sessions)
        names = _chosen(",".join(schema.names))
        return Reader(path, names, asked, self._one_of("onError", ("fail", "skip")) == "skip")

    def _one_of(self, option: str, words: Sequence[str]) -> str:
        """Return the value of an option, the first word by default."""
        found = str(self.options.get(option, words[0])).strip().lower()
        if found not in words:
            raise PipelineError(f"The option {option} is {found!r}; give {' or '.join(words)}.")
        return found


def _chosen(text: str | None) -> tuple[str, ...]:
    """Return the columns in a text; all without one. Raises PipelineError."""
    names = SOURCE.names if text is None else tuple(name.strip() for name in text.split(","))
    unknown = [name for name in names if name not in SOURCE.names]
    if unknown or len(set(names)) != len(names):
        wrong = f"{unknown[0]!r}, which is none of {', '.join(SOURCE.names)}" if unknown else "a column twice"
        raise PipelineError(f"The columns have {wrong}.")
    return names


@dataclass
class Reader(DataSourceReader):  # type: ignore[misc]
    """Reads the captures that exist now. skips: what cannot be judged to its end is left out, with a warning."""

    path: str
    names: tuple[str, ...]
    how: How
    skips: bool

    def partitions(self) -> Sequence[InputPartition]:
        """Return a task for each stream. Raises PipelineError."""
        probes = [probe(name) for name in files_of([self.path])]
        for one in probes:
            if one.error is not None:
                self._failed(one.error)
        work = [StreamWork(key, group) for key, group in streams((one for one in probes if one.error is None), "auto")]
        if work:
            warm(self.how)  # So that workers of this machine do not compile the same code at once.
        return [InputPartition(one) for one in work]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the packets of a stream. Spark reads a partition of its own where there is none."""
        work = getattr(partition, "value", None)
        if work is None:
            return
        waiting: Queue[Any] = Queue(_AHEAD)

        def judge() -> None:
            try:
                rows = Rows("", _Packets(self.names, work, waiting))
                done = judge_stream(work, self.how, rows)
                rows.close()
                waiting.put(next((one.error for one in (*done.gone, *done.defects)), None))
            except BaseException as problem:
                waiting.put(problem)

        Thread(target=judge, name="mqconform-source", daemon=True).start()
        while (found := waiting.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            if isinstance(found, str):
                self._failed(found)
                return
            yield from found

    def _failed(self, sentence: str) -> None:
        if not self.skips:
            raise PipelineError(sentence)
        _LOG.warning("%s The rest of it is left out (option onError).", sentence)


@dataclass(frozen=True)
class _Packets:
    """Takes the packets and leaves the other tables."""

    names: tuple[str, ...]
    work: StreamWork
    waiting: Queue[Any]

    def write(self, table: str, day: str, batch: str, found: pa.Table) -> None:
        """Take rows. The path is that of the capture."""
        if table != "packets":
            return
        paths = {one.capture: one.path for one in self.work.captures}
        found = found.append_column("path", pa.array([paths[one] for one in found["capture_id"].to_pylist()]))
        fields = [pa.field(name, _type(found.schema.field(name).type)) for name in self.names]
        self.waiting.put(found.select(self.names).cast(pa.schema(fields)).to_batches())

    def keep(self, name: str, data: bytes) -> str:
        """Keep nothing."""
        return name

    def kept(self, place: str) -> bytes:
        """Return nothing."""
        return b""


def _type(found: Any) -> Any:
    """Return a type as Spark names it."""
    return pa.list_(pa.field("element", pa.string())) if pa.types.is_list(found) else found
