"""The tables of a lake: their columns, what each one holds, and the same as Arrow schemas and Spark DDL.

Importing this needs neither pyarrow nor pyspark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    import pyarrow

FORMAT: Final = 1
"""Version of the layout and of the columns. A lake with a higher one was written by a newer mqconform."""

Type = Literal["string", "bool", "int32", "int64", "time", "date", "strings", "counts", "texts"]
_DDL: Mapping[str, str] = {
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
    """One column. says: what it holds, units included. null: whether a row may lack it. rises: from row to row."""

    name: str
    type: Type
    says: str
    null: bool = False
    rises: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a lake, in Parquet files below a folder of its name, by `date` (`date=2026-01-31/`)."""

    name: str
    says: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns in their order."""
        return tuple(column.name for column in self.columns)

    def arrow(self) -> pyarrow.Schema:
        """The schema of its files: without `date`, which is the name of their folder."""
        return _arrow(tuple(column for column in self.columns if column.name != DATE))

    def encodings(self) -> dict[str, Any]:
        """How Parquet writes the columns: numbers that count up as differences, all others by a dictionary."""
        rising = {column.name for column in self.columns if column.rises}
        ends = {"strings": ".list.element", "counts": ".key_value.key", "texts": ".key_value.key"}
        others = [f"{one.name}{ends.get(one.type, '')}" for one in self.columns if one.name not in rising | {DATE}]
        others += [f"{one.name}.key_value.value" for one in self.columns if one.type in ("counts", "texts")]
        return {"use_dictionary": others, "column_encoding": dict.fromkeys(sorted(rising), "DELTA_BINARY_PACKED")}

    def ddl(self) -> str:
        """All columns as Spark's CREATE TABLE writes them, `date` last."""
        ordered = sorted(self.columns, key=lambda column: column.name == DATE)
        return ", ".join(f"{column.name} {_DDL[column.type]}" for column in ordered)


DATE: Final = "date"
_CAPTURE = Column("capture_id", "string", "The capture, by its content")
_STREAM = Column("stream_id", "string", "What the capture is part of: the first capture of a rotated set, or itself")
_DAY = Column(DATE, "date", "Day (UTC) of the first record of the capture; 1970-01-01 where it has none")
_BATCH = Column("batch", "string", "The ingest that wrote the row")

CAPTURES: Final = Table(
    "captures",
    "One row a capture that could be read.",
    (
        _CAPTURE,
        _STREAM,
        Column("position", "int32", "Its place in the stream, from 1"),
        Column("path", "string", "Where it was when it was ingested"),
        Column("bytes", "int64", "Size of the file"),
        Column("format", "string", "pcap, pcapng, pcap.gz or pcapng.gz"),
        _DAY,
        Column("first_time", "time", "Of its first record", null=True),
        Column("last_time", "time", "Of its last record", null=True),
        Column("records", "int64", "Captured records"),
        Column("packets", "int64", "MSMQ packets that became complete in it"),
        Column("lost_bytes", "int64", "Bytes of TCP streams that are part of no packet"),
        Column("damaged_bytes", "int64", "Bytes of the file that were passed over to find the next record"),
        Column("skipped", "counts", "Records without MSMQ, by reason"),
        Column("cut", "string", "Where and how it ends within a record", null=True),
        Column("ranges", "int32", "Byte ranges it was judged in"),
        Column("handed_over", "counts", "Packets judged one by one, by why the compiled rules did not decide them"),
        Column("profile", "string", "MSMQ version it was judged for"),
        Column("level", "string", "must, should or may: what is weaker only warns"),
        Column("reading_set", "string", "windows, strict or permissive"),
        Column("judged_by", "string", "Version of mqconform"),
        Column("ingested_at", "time", "When"),
        _BATCH,
    ),
)

PACKETS: Final = Table(
    "packets",
    "One row a packet: all of them with `--packets`, else those that something other than pass was said about, in a row"
    " of its own.",
    (
        _CAPTURE,
        _STREAM,
        Column("number", "int64", "From 1 within the stream, as `frame N` in verdicts", rises=True),
        Column("record", "int64", "The record that completed it, from 1 within the stream", rises=True),
        Column("time", "time", "Of that record", rises=True),
        Column("transport", "string", "tcp or udp"),
        Column("connection", "int64", "From 1 within the stream", null=True),
        Column("side", "string", "Who sent it: initiator or acceptor", null=True),
        Column("source", "string", "IP address"),
        Column("source_port", "int32", "Port"),
        Column("destination", "string", "IP address"),
        Column("destination_port", "int32", "Port"),
        Column("kind", "string", "UserMessage, OrderAck, FinalAck, EstablishConnection, ..., Malformed"),
        Column("queue", "string", "Destination queue of a message, as a format name", null=True),
        Column("sender", "string", "Queue manager that sent it (GUID) where that is known, else its address"),
        Column("source_manager", "string", "SourceQueueManager of a message: who made it", null=True),
        Column("message_id", "int64", "MessageID of a message", null=True, rises=True),
        Column("message_class", "int32", "MessageClass of a message", null=True),
        Column("transactional", "bool", "Whether it has a TransactionHeader"),
        Column("length", "int32", "Bytes"),
        Column("trouble", "string", "Why it is no whole packet", null=True),
        Column("worst", "string", "The worst outcome among its verdicts; none when nothing was judged", null=True),
        Column("deviating", "strings", "Requirements whose outcome is not pass"),
        _DAY,
    ),
)

SESSIONS: Final = Table(
    "sessions",
    "One row a TCP connection of port 1801.",
    (
        Column("stream_id", "string", "The stream it was seen in"),
        Column("capture_id", "string", "The capture in which it ended, or the last one so far"),
        Column("connection", "int64", "From 1 within the stream"),
        Column("initiator", "string", "IP address"),
        Column("initiator_port", "int32", "Port"),
        Column("acceptor", "string", "IP address"),
        Column("acceptor_port", "int32", "Port"),
        Column("complete", "bool", "Whether its first segment was captured"),
        Column("opened", "time", "First record"),
        Column("closed", "time", "Last record", null=True),
        Column("closed_by", "string", "initiator or acceptor", null=True),
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
        _DAY,
    ),
)

VERDICTS: Final = Table(
    "verdicts",
    "What was said. A pass is counted with the others of its requirement, readings and sender in its capture; any other"
    " outcome has a row of its own, up to 10,000 a capture (of packets alone: few of a kind), and is counted like"
    " passes beyond that, of packets alone by destination queue, too.",
    (
        _CAPTURE,
        _STREAM,
        Column("requirement", "string", "Id in the catalogue"),
        Column("outcome", "string", "fail, inconclusive, reading, warn, skip or pass"),
        Column("count", "int64", "How many verdicts the row stands for"),
        Column(
            "sender",
            "string",
            "Queue manager (GUID) or address judged; null: all of a range counted together",
            null=True,
        ),
        Column(
            "queue",
            "string",
            "Destination queue of the packet; null in counted rows but those of packets alone that deviate",
            null=True,
        ),
        Column("readings", "texts", "Readings assumed: id to alternative"),
        Column(
            "subject",
            "string",
            "What was judged (`frame 7`); of counted rows the first, with or without a row of its own",
        ),
        Column("packet", "int64", "Number of the packet within the stream; null where it is not about one", null=True),
        Column("first_time", "time", "Of the first packet"),
        Column("last_time", "time", "Of the last packet"),
        Column("expected", "string", "JSON", null=True),
        Column("actual", "string", "JSON", null=True),
        Column("reason", "string", "Why it is inconclusive or skipped", null=True),
        Column("evidence", "string", "JSON: what can be judged again", null=True),
        Column("at_end", "bool", "Said at the end of the stream so far; replaced when the stream goes on"),
        _DAY,
    ),
)

REJECTED: Final = Table(
    "rejected",
    "One row a file that could not be read. It never fails the ingest.",
    (
        Column("path", "string", "The file"),
        Column("reason", "string", "One sentence"),
        Column("bytes", "int64", "Its size, where that is known", null=True),
        Column("capture_id", "string", "By its content, where that could be read", null=True),
        Column("rejected_at", "time", "When"),
        Column(DATE, "date", "Day (UTC) of the ingest"),
        _BATCH,
    ),
)

RUNS: Final = Table(
    "runs",
    "One row a run record.",
    (
        Column("run_id", "string", "The record's own id"),
        Column("path", "string", "Where it was when it was ingested"),
        Column("kind", "string", "run or replay"),
        Column("implementation", "string", "Name the driver gave, else the connector", null=True),
        Column("implementation_version", "string", "Version the driver gave", null=True),
        Column("adapter", "string", "Connector", null=True),
        Column("profile", "string", "MSMQ version it was judged for"),
        Column("level", "string", "must, should or may"),
        Column("reading_set", "string", "windows, strict or permissive"),
        Column("seed", "int64", "Seed of the generated examples", null=True),
        Column("started", "time", "When", null=True),
        Column("complete", "bool", "Whether the record has its footer"),
        Column("ended", "string", "completed, interrupted, ...", null=True),
        Column("judged_by", "string", "Version of mqconform", null=True),
        _DAY,
        _BATCH,
    ),
)

RESULTS: Final = Table(
    "results",
    "What the runs said: one row a requirement, outcome, readings and test of a run.",
    (
        Column("run_id", "string", "The run"),
        Column("implementation", "string", "As in `runs`", null=True),
        Column("requirement", "string", "Id in the catalogue"),
        Column("outcome", "string", "fail, crash, timeout, flaky, error, inconclusive, reading, warn, skip or pass"),
        Column("count", "int64", "How many verdicts the row stands for"),
        Column("suite", "string", "Suite", null=True),
        Column("test", "string", "Test", null=True),
        Column("readings", "texts", "Readings assumed: id to alternative"),
        Column("subject", "string", "What was judged; the first of them", null=True),
        Column("expected", "string", "JSON", null=True),
        Column("actual", "string", "JSON", null=True),
        Column("reason", "string", "Why it is inconclusive, skipped or an error", null=True),
        Column(DATE, "date", "Day (UTC) on which the run started"),
    ),
)

_LAKE_ONLY: Final = frozenset({"capture_id", "stream_id", "sender", DATE})
SOURCE: Final = Table(
    "msmq_pcap",
    "What the data source gives: the columns of `packets` as far as a byte range by itself tells them.",
    (
        Column("path", "string", "The capture"),
        Column("start", "int64", "Offset at which the range begins; numbers, records and connections count within it"),
        *(column for column in PACKETS.columns if column.name not in _LAKE_ONLY),
    ),
)

TABLES: Final[Mapping[str, Table]] = {
    table.name: table for table in (CAPTURES, PACKETS, SESSIONS, VERDICTS, REJECTED, RUNS, RESULTS)
}


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


def columns_page() -> str:
    """The tables as Markdown: the part of docs/pipeline.md between its marks."""
    out: list[str] = []
    for table in TABLES.values():
        out += [f"### `{table.name}`", "", table.says, "", "| column | type | what |", "|---|---|---|"]
        out += [
            f"| `{column.name}` | {_DDL[column.type].lower()}{', or null' if column.null else ''} | {column.says} |"
            for column in table.columns
        ]
        out.append("")
    return "\n".join(out)
