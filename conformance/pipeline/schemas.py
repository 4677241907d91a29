"""The tables of a lake: their columns with a description, also as Arrow schemas and Spark DDL.

Importing this needs neither pyarrow nor pyspark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from conformance.runlog import Incomplete

if TYPE_CHECKING:
    import pyarrow

FORMAT: Final = 5
"""Version of the layout of a lake. One with another is not read."""
BATCH: Final = "batch"
QUERY_TIMEOUT_S: Final = 600.0

Type = Literal["string", "bool", "int32", "int64", "time", "date", "strings", "counts", "texts"]
DDL: Mapping[str, str] = {
    "string": "STRING",
    "bool": "BOOLEAN",
    "int32": "INT",
    "int64": "BIGINT",
    "time": "TIMESTAMP",
    "date": "DATE",
    "strings": "ARRAY<STRING>",
    "counts": "MAP<STRING, BIGINT>",
    "texts": "MAP<STRING, STRING>",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column. says: its content, units included. null: a row may lack it. rises: it increases from row to row."""

    name: str
    type: Type
    says: str
    null: bool = False
    rises: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a lake: Parquet files below a folder of its name, by `date` (`date=2026-01-31/`)."""

    name: str
    says: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns in their order."""
        return tuple(column.name for column in self.columns)

    def arrow(self) -> pyarrow.Schema:
        """Return the schema of its files, without `date`, which is the name of their folder."""
        return _arrow(tuple(column for column in self.columns if column.name != DATE))

    def encodings(self) -> dict[str, Any]:
        """Return Parquet's encodings of the columns: differences for increasing numbers, dictionaries for the rest."""
        rising = {column.name for column in self.columns if column.rises}
        others = [one.name for one in self.columns if one.name not in rising | {DATE}]
        return {"use_dictionary": others, "column_encoding": dict.fromkeys(sorted(rising), "DELTA_BINARY_PACKED")}

    def ddl(self) -> str:
        """Return all columns in the form of Spark's CREATE TABLE, `date` last."""
        ordered = sorted(self.columns, key=lambda column: column.name == DATE)
        return ", ".join(f"{column.name} {DDL[column.type]}" for column in ordered)


DATE: Final = "date"
_CAPTURE = Column("capture_id", "string", "The capture, by its content")
_STREAM = Column("stream_id", "string", "Its stream: the id of the first capture of a rotated set, or its own id")
_BATCH = Column(BATCH, "string", "The batch that wrote the row, which counts if `batches` has it")


def _ns(name: str, says: str, *, rises: bool = False) -> Column:
    """Return a column with a time in full: tables of Delta and Spark keep microseconds."""
    return Column(name, "int64", f"{says}, in nanoseconds since 1970", null=True, rises=rises)


CAPTURES: Final = Table(
    "captures",
    "One row a capture that could be read.",
    (
        _CAPTURE,
        _STREAM,
        Column("position", "int32", "Its place in the stream, from 1"),
        Column("path", "string", "Path at the time of the ingest"),
        Column("bytes", "int64", "Size of the file"),
        Column("format", "string", "pcap or pcapng, with .gz or .zst where compressed"),
        Column(DATE, "date", "Day (UTC) of its first record; 1970-01-01 if it has none"),
        Column("first_time", "time", "Time of its first record", null=True),
        Column("last_time", "time", "Time of its last record", null=True),
        Column("records", "int64", "Captured records"),
        Column("packets", "int64", "MSMQ packets completed in it"),
        Column("lost_bytes", "int64", "Bytes of TCP streams that are part of no packet"),
        Column("damaged_bytes", "int64", "Bytes of the file that were skipped to find the next record"),
        Column("skipped", "counts", "Records without MSMQ, by reason"),
        Column("cut", "string", "Place at which it ends within a record, and how; or how far it was judged", null=True),
        Column("short_records", "int64", "Records with MSMQ that were captured in part", null=True),
        Column("short_bytes", "int64", "Bytes that these records lack", null=True),
        Column("gaps", "int64", "Places in TCP streams at which bytes are missing", null=True),
        Column("gap_bytes", "int64", "Bytes missing at these places", null=True),
        Column("stray_bytes", "int64", "Bytes of TCP streams skipped to find the next packet", null=True),
        Column("unfinished", "int64", "Packets cut off as their connection was closed, reset or replaced", null=True),
        Column("incomplete", "bool", "True if any of these, damage or a cut applies; null: not counted", null=True),
        Column("handed_over", "counts", "Packets judged one by one, by the reason why compiled rules could not"),
        Column("profile", "string", "MSMQ version it was judged for"),
        Column("level", "string", "must, should or may: weaker requirements only warn"),
        Column("reading_set", "string", "windows, strict or permissive"),
        Column("judged_by", "string", "Version of mqconform"),
        Column("ingested_at", "time", "Time of the ingest"),
        _BATCH,
        _ns("first_ns", "Time of its first record"),
        _ns("last_ns", "Time of its last record"),
        Column("object", "string", "Identity of an object in a store, by its address and version", null=True),
    ),
)

PACKETS: Final = Table(
    "packets",
    "One row a packet: all packets with `--packets`, else those that have a verdict other than pass in a row"
    " of its own.",
    (
        _CAPTURE,
        _STREAM,
        Column("number", "int64", "Number within the stream, from 1: `frame N` in verdicts", rises=True),
        Column("record", "int64", "Number of the record that completed it, within the stream, from 1", rises=True),
        Column("time", "time", "Time of that record", rises=True),
        Column("transport", "string", "tcp or udp"),
        Column("connection", "int64", "Number of the connection within the stream, from 1", null=True),
        Column("side", "string", "Its sender: initiator or acceptor", null=True),
        Column("source", "string", "IP address"),
        Column("source_port", "int32", "Port"),
        Column("destination", "string", "IP address"),
        Column("destination_port", "int32", "Port"),
        Column("kind", "string", "UserMessage, OrderAck, FinalAck, EstablishConnection, ..., Malformed"),
        Column("queue", "string", "Destination queue of a message, as a format name", null=True),
        Column("sender", "string", "Queue manager that sent it (GUID) if known, else the address"),
        Column("source_manager", "string", "SourceQueueManager of a message: the manager that made it", null=True),
        Column("message_id", "int64", "MessageID of a message", null=True, rises=True),
        Column("message_class", "int32", "MessageClass of a message", null=True),
        Column("transactional", "bool", "True if it has a TransactionHeader"),
        Column("length", "int32", "Size in bytes"),
        Column("trouble", "string", "Reason why it is not a whole packet", null=True),
        Column("worst", "string", "The worst outcome among its verdicts; null if nothing was judged", null=True),
        Column("deviating", "strings", "Requirements with an outcome other than pass"),
        _ns("time_ns", "Time of that record", rises=True),
        Column(DATE, "date", "Day (UTC) of the packet; the day of the capture if it has no time"),
        _BATCH,
    ),
)

SESSIONS: Final = Table(
    "sessions",
    "One row a TCP connection of port 1801.",
    (
        Column("stream_id", "string", "The stream of the connection"),
        Column("capture_id", "string", "The capture in which it ended, or the last one so far"),
        Column("connection", "int64", "Number within the stream, from 1"),
        Column("initiator", "string", "IP address"),
        Column("initiator_port", "int32", "Port"),
        Column("acceptor", "string", "IP address"),
        Column("acceptor_port", "int32", "Port"),
        Column("complete", "bool", "True if its first segment was captured"),
        Column("opened", "time", "Time of its first record"),
        Column("closed", "time", "Time of its last record", null=True),
        Column("closed_by", "string", "The side that closed it: initiator or acceptor", null=True),
        Column(
            "closed_how",
            "string",
            "fin, rst, reused, evicted (to bound memory, or silent too long) or end (of the stream so far)",
        ),
        Column("initiator_manager", "string", "Its queue manager (GUID)", null=True),
        Column("acceptor_manager", "string", "Its queue manager (GUID)", null=True),
        Column("initiator_packets", "int64", "Packets sent by the initiator"),
        Column("acceptor_packets", "int64", "Packets sent by the acceptor"),
        Column("initiator_bytes", "int64", "Bytes of these packets"),
        Column("acceptor_bytes", "int64", "Bytes of these packets"),
        Column("lost_bytes", "int64", "Bytes of both directions that are part of no packet"),
        _ns("opened_ns", "Time of its first record"),
        _ns("closed_ns", "Time of its last record"),
        Column(DATE, "date", "Day (UTC) of its first record"),
        _BATCH,
    ),
)

VERDICTS: Final = Table(
    "verdicts",
    "The verdicts. A pass is counted with the others of its requirement, readings and sender in its capture. Any other"
    " outcome has a row of its own, up to 10,000 a capture (with packet rules alone: a few of each kind); beyond that"
    " it is counted like passes.",
    (
        _CAPTURE,
        _STREAM,
        Column("requirement", "string", "Id in the catalogue"),
        Column("outcome", "string", "fail, inconclusive, reading, warn, skip or pass"),
        Column("count", "int64", "Number of verdicts in the row"),
        Column("sender", "string", "Queue manager (GUID) or address that was judged, if known", null=True),
        Column("queue", "string", "Destination queue of the packet; null in counts", null=True),
        Column("readings", "texts", "Readings assumed: id to alternative"),
        Column(
            "subject", "string", "What was judged (`frame 7`); in a count the first, also if it has a row of its own"
        ),
        Column("packet", "int64", "Number of the packet within the stream; null if it is not about one", null=True),
        Column("first_time", "time", "Time of the first packet"),
        Column("last_time", "time", "Time of the last packet"),
        Column("expected", "string", "JSON", null=True),
        Column("actual", "string", "JSON", null=True),
        Column("reason", "string", "Reason why it is inconclusive or skipped", null=True),
        Column("evidence", "string", "JSON that can be judged again", null=True),
        Column("at_end", "bool", "Made at the provisional end of the stream; replaced when it continues"),
        _ns("first_ns", "Time of the first packet"),
        _ns("last_ns", "Time of the last packet"),
        Column(DATE, "date", "Day (UTC) of the first packet; the day of the capture if it has no time"),
        _BATCH,
    ),
)

REJECTED: Final = Table(
    "rejected",
    "One row a file that could not be read, or was judged in part due to a defect of mqconform. It fails no ingest.",
    (
        Column("path", "string", "The file"),
        Column("reason", "string", "Reason, in one sentence"),
        Column("bytes", "int64", "Its size, if known", null=True),
        Column("capture_id", "string", "Id of its content, if that could be read", null=True),
        Column("rejected_at", "time", "Time of the ingest"),
        Column(DATE, "date", "Day (UTC) of the ingest"),
        _BATCH,
    ),
)

RUNS: Final = Table(
    "runs",
    "One row a run record.",
    (
        Column("run_id", "string", "The record's own id"),
        Column("path", "string", "Path at the time of the ingest"),
        Column("kind", "string", "run or replay"),
        Column("implementation", "string", "Name that the driver reported, else the connector", null=True),
        Column("implementation_version", "string", "Version that the driver reported", null=True),
        Column("adapter", "string", "Connector", null=True),
        Column("profile", "string", "MSMQ version it was judged for"),
        Column("level", "string", "must, should or may"),
        Column("reading_set", "string", "windows, strict or permissive"),
        Column("seed", "int64", "Seed of the generated examples", null=True),
        Column("started", "time", "Start of the run", null=True),
        Column("complete", "bool", "True if the record has its footer"),
        Column("ended", "string", "Reason why the run ended: completed, interrupted, ...", null=True),
        Column("judged_by", "string", "Version of mqconform", null=True),
        Column(DATE, "date", "Day (UTC) on which it started; 1970-01-01 if that is not known"),
        _BATCH,
    ),
)

RESULTS: Final = Table(
    "results",
    "The verdicts of the runs: one row a requirement, outcome, readings and test of a run.",
    (
        Column("run_id", "string", "The run"),
        Column("implementation", "string", "As in `runs`", null=True),
        Column("requirement", "string", "Id in the catalogue"),
        Column("outcome", "string", "fail, crash, timeout, flaky, error, inconclusive, reading, warn, skip or pass"),
        Column("count", "int64", "Number of verdicts in the row"),
        Column("suite", "string", "Suite", null=True),
        Column("test", "string", "Test", null=True),
        Column("readings", "texts", "Readings assumed: id to alternative"),
        Column("subject", "string", "What was judged first", null=True),
        Column("expected", "string", "JSON", null=True),
        Column("actual", "string", "JSON", null=True),
        Column("reason", "string", "Reason why it is inconclusive, skipped or an error", null=True),
        Column(DATE, "date", "Day (UTC) on which the run started"),
        _BATCH,
    ),
)

SOURCE: Final = Table(
    "msmq_pcap",
    "The rows of the data source: the columns of `packets`, with the path of the capture.",
    (
        Column("path", "string", "The capture"),
        *(column for column in PACKETS.columns if column.name not in (DATE, BATCH)),
    ),
)

TABLES: Final[Mapping[str, Table]] = {
    table.name: table for table in (CAPTURES, PACKETS, SESSIONS, VERDICTS, REJECTED, RUNS, RESULTS)
}

BATCHES: Final = Table(
    "batches",
    "One row a batch. It is written last: a row of another table counts only if its batch is here, and in no `ends`.",
    (
        _BATCH,
        Column("at", "time", "Time of the commit"),
        Column("by", "string", "Version of mqconform"),
        Column("kind", "string", "ingest, runs, or open: rows about an end that is not final, as of a rotated set"),
        Column("ends", "strings", "Open batches that count no more, as this batch has more of what they are about"),
        Column("key", "string", "What an open batch is about", null=True),
        Column("entry", "string", "JSON with which an open batch goes on", null=True),
    ),
)
"""It is no part of `TABLES`: it has no days."""


def _arrow(columns: tuple[Column, ...]) -> pyarrow.Schema:
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "bool": pa.bool_(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        "time": pa.timestamp("us", tz="UTC"),
        "date": pa.date32(),
        "strings": pa.list_(pa.string()),
        "counts": pa.map_(pa.string(), pa.int64()),
        "texts": pa.map_(pa.string(), pa.string()),
    }
    return pa.schema([pa.field(column.name, types[column.type], nullable=column.null) for column in columns])


COLUMNS = {
    "damaged_bytes": "passed_over",
    "short_records": "short",
    "short_bytes": "short_bytes",
    "gaps": "gaps",
    "gap_bytes": "gap_bytes",
    "stray_bytes": "stray",
    "unfinished": "unfinished",
}
"""Columns of `captures`, and the count in each; the column `cut` tells that a file is cut."""


def columns_of(found: Incomplete) -> dict[str, Any]:
    """Return the columns of a capture that lacks this."""
    counts = found.to_json()
    return {**{column: counts[name] for column, name in COLUMNS.items()}, "incomplete": bool(found)}


def incomplete_of(row: Mapping[str, Any]) -> Incomplete:
    """Return what a capture lacks according to its row. Rows of older lakes have fewer columns."""
    return Incomplete(cut=int(bool(row["cut"])), **{name: row.get(column) or 0 for column, name in COLUMNS.items()})


def add(row: dict[str, Any], more: Incomplete) -> None:
    """Add to the counts of a row, which already tells whether the file is cut."""
    row |= columns_of(incomplete_of(row) + more)
