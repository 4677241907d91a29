"""`msmq_pcap`: captures as a Spark data source, batch and streaming, in Arrow batches.

    spark.dataSource.register(MsmqPcap)
    spark.read.format("msmq_pcap").option("columns", "time,kind,queue,worst,deviating").load("captures/")
    spark.readStream.format("msmq_pcap").option("maxFilesPerTrigger", 100).load("captures/")

Options: path (file, folder or pattern; for a stream a folder), columns (names, by default all; a schema chooses, too),
splitBytes (134217728; 0: no ranges), profile, level, readings, onError (`fail`, or `skip` for the rest of a range that
cannot be read or judged), pushFilters (`true` or `false`; see `Filtering`), timeSlack (seconds that records may be out
of order; then ranges of other times than a filter asks for are not read), and for a stream `maxFilesPerTrigger`
(1000), `settle` (seconds, 60), `rows` (`packets`, or `files` for the finished files alone) and `ledger` (the files
seen, of a checkpoint of an earlier version). Only paths and ranges travel to the workers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from conformance.capture import CaptureError
from conformance.capture.addresses import is_stored
from conformance.capture.files import UnavailableError
from conformance.capture.pcap import FILE_HEADER
from conformance.capture.ranges import layout, size_of, split
from conformance.captures.defects import Defect
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.file_discovery import FILES, require_streams
from conformance.pipeline.ingest import MIN_SPLIT, SPLIT, Options, files_of, how
from conformance.pipeline.ranges import warm
from conformance.pipeline.schemas import DDL, SOURCE
from conformance.pipeline.source_columns import Wanted, packets
from conformance.pipeline.source_filters import Test, test_of
from conformance.pipeline.source_spans import meets, span_of
from conformance.pipeline.streams import How

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql.datasource import Filter  # Since 4.1.

NAME = "msmq_pcap"
_LOG: Final = logging.getLogger(__name__)
_MOST: Final = 1 << 62


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
        """Return the columns, as DDL. Raises PipelineError for an option that makes no sense."""
        if self._files:
            return FILES
        types = {one.name: DDL[one.type] for one in SOURCE.columns}
        return ", ".join(f"{name} {types[name]}" for name in self._chosen() or SOURCE.names)

    def reader(self, schema: Any) -> DataSourceReader:
        """Return the reader of a batch. schema: its columns. Raises PipelineError."""
        if self._files:
            raise PipelineError(f"The option rows is 'files', which {NAME} has for streams alone: leave it out.")
        asked = self._asked(schema)
        return (Filtering if self._one_of("pushFilters", ("false", "true")) == "true" else Batch)(asked)

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        """Return the reader of a stream. schema: its columns. Raises PipelineError, also for an old pyspark."""
        require_streams()
        from conformance.pipeline.source_stream import Stream

        return Stream(self._asked(None if self._files else schema), self.options)

    @property
    def _files(self) -> bool:
        return self._one_of("rows", ("packets", "files")) == "files"

    def _asked(self, schema: Any) -> Asked:
        path = self.options.get("path")
        if not path:
            raise PipelineError(f"{NAME} needs a path: load(PATH) or option('path', PATH).")
        options = Options(
            profile=self.options.get("profile"),
            level=self.options.get("level", "must"),
            readings=self.options.get("readings", "windows"),
        )
        names = SOURCE.names if schema is None else self._names(schema)
        skips = self._one_of("onError", ("fail", "skip")) == "skip"
        at_most = int(_number(self.options.get("splitBytes", SPLIT), "splitBytes"))
        slack = self.options.get("timeSlack")
        slack_s = None if slack is None else _number(slack, "timeSlack")
        return Asked(path, at_most, how(options, ""), Wanted(names), skips, slack_s)

    def _chosen(self) -> tuple[str, ...] | None:
        """Return the columns of the option, None without it."""
        text = self.options.get("columns")
        if text is None:
            return None
        names = tuple(name.strip() for name in text.split(","))
        _check(names, "The option columns")
        return names

    def _names(self, schema: Any) -> tuple[str, ...]:
        """Return the columns of a schema, which the user may have given."""
        names, chosen = tuple(schema.names), self._chosen()
        _check(names, "The schema")
        if chosen is not None and set(chosen) != set(names):
            raise PipelineError("The schema and the option columns choose different columns: give one of them.")
        types = {one.name: DDL[one.type].lower() for one in SOURCE.columns}
        for field in schema.fields:
            if (found := field.dataType.simpleString()) != types[field.name]:
                raise PipelineError(f"The schema has {field.name} as {found}; it is {types[field.name]}.")
        return names

    def _one_of(self, option: str, words: Sequence[str]) -> str:
        """Return the value of an option, the first word by default."""
        found = str(self.options.get(option, words[0]))
        word = next((one for one in words if one.lower() == found.strip().lower()), None)
        if word is None:
            raise PipelineError(f"The option {option} is {found!r}; give {' or '.join(words)}.")
        return word


def _check(names: Sequence[str], whose: str) -> None:
    unknown = [name for name in names if name not in SOURCE.names]
    if unknown:
        raise PipelineError(f"{whose} has {unknown[0]!r}, which is none of {', '.join(SOURCE.names)}.")
    twice = [name for name in names if names.count(name) > 1]
    if twice or not names:
        raise PipelineError(f"{whose} has {twice[0]} twice." if twice else f"{whose} has no columns.")


@dataclass(frozen=True, slots=True)
class Asked:
    """The parsed options. skips: the rest of a range that cannot be read or judged is left out, with a warning.

    slack_s: seconds that records may be out of order, None if nobody knows.
    """

    path: str
    at_most: int
    how: How
    wanted: Wanted
    skips: bool = False
    slack_s: float | None = None

    def ranges(self, paths: Sequence[str]) -> list[Range]:
        """Return the ranges of these files that can have rows. Raises CaptureError and OSError."""
        found = [one for path in paths for one in self._ranges(path)]
        if found:
            warm(None)  # So that workers of this machine do not compile the same code at once.
        return found

    def _ranges(self, path: str) -> list[Range]:
        how, size = layout(path), size_of(path)
        found = [Range(path, FILE_HEADER, size)]
        if how is not None and self.at_most and size > self.at_most:
            found = [Range(path, start, stop) for start, stop in split(size, max(self.at_most, MIN_SPLIT))]
        found = [one for one in found if self.wanted.of_range(path, one.start)]
        span = span_of(self.wanted.tests)
        if how is None or self.slack_s is None or not span.bounded:
            return found
        return [one for one in found if meets(path, one.start, one.stop, size, span, self.slack_s)]

    def batches(self, part: Range) -> Iterator[pyarrow.RecordBatch]:
        """Yield the packets of a range. Raises PipelineError if it cannot be read or judged to its end."""
        try:
            yield from packets(part.path, part.start, part.stop, self.how, self.wanted)
        except Exception as error:
            self.failed(part.path, error)

    def failed(self, path: str, error: Exception) -> None:
        """Log why the rest of a range is left out, or raise PipelineError."""
        if isinstance(error, CaptureError):
            sentence = str(error)
        elif isinstance(error, OSError):
            sentence = f"{path} cannot be read any further: {error.strerror or error}."
        else:
            sentence = Defect.of(error, path).sentence
        if not self.skips or isinstance(error, UnavailableError):  # What is unavailable now is there in another try.
            raise PipelineError(sentence) from error
        _LOG.warning("%s The rest of its range is left out (option onError).", sentence)


class Batch(DataSourceReader):  # type: ignore[misc]
    """Reads all files that exist now."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def partitions(self) -> Sequence[InputPartition]:
        """Return a task for each range."""
        path = self._asked.path
        found = [one for one in files_of([path]) if one == path or is_stored(one) or Path(one).is_file()]
        ranges: list[Range] = []
        for one in found:
            try:
                ranges += self._asked.ranges([one])
            except (CaptureError, OSError) as error:
                self._asked.failed(one, error)
        return ranges

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        """Yield the packets of a range. Spark reads a partition of its own where there is no range."""
        return self._asked.batches(partition) if isinstance(partition, Range) else iter(())


class Filtering(Batch):
    """A reader that also checks filters of Spark.

    A class of its own, because Spark refuses a reader with filters unless `spark.sql.python.filterPushdown.enabled` is
    true, and by default that is false.
    """

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:
        """Take the filters that the source can check; return the others."""
        tests: list[Test] = []
        for one in filters:
            test = test_of(one)
            if test is None:
                yield one
            else:
                tests.append(test)
        wanted = self._asked.wanted
        self._asked = replace(self._asked, wanted=replace(wanted, tests=(*wanted.tests, *tests)))


def _number(text: Any, option: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0 <= value < _MOST:
        raise PipelineError(f"The option {option} is {text!r}; give a number from 0.")
    return value
