"""The append-only run record: NDJSON parts in a run folder, written as things happen and readable after a kill."""

from conformance.runlog.events import (
    FORMAT,
    STOP_REASONS,
    DriverEvent,
    Footer,
    Header,
    Note,
    PacketLine,
    RecordedVerdict,
    RunRecordError,
    Story,
    StoryStep,
    now,
    versions,
)
from conformance.runlog.reader import Run, read_run, schema
from conformance.runlog.tally import Tally
from conformance.runlog.writer import RunWriter

__all__ = [
    "FORMAT",
    "STOP_REASONS",
    "DriverEvent",
    "Footer",
    "Header",
    "Note",
    "PacketLine",
    "RecordedVerdict",
    "Run",
    "RunRecordError",
    "RunWriter",
    "Story",
    "StoryStep",
    "Tally",
    "now",
    "read_run",
    "schema",
    "versions",
]
