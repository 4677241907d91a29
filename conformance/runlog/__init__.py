"""The append-only run record: NDJSON files in a run folder, written event by event and readable after a kill."""

from conformance.runlog.counts import Incomplete, Tally
from conformance.runlog.events import (
    FORMAT,
    STOP_REASONS,
    CaptureLine,
    Cut,
    DriverEvent,
    Footer,
    Header,
    Names,
    Note,
    PacketLine,
    RecordedVerdict,
    RunRecordError,
    Story,
    StoryStep,
    now,
    versions,
)
from conformance.runlog.reader import read_run, schema
from conformance.runlog.run import Run, Said
from conformance.runlog.writer import RunWriter

__all__ = [
    "FORMAT",
    "STOP_REASONS",
    "CaptureLine",
    "Cut",
    "DriverEvent",
    "Footer",
    "Header",
    "Incomplete",
    "Names",
    "Note",
    "PacketLine",
    "RecordedVerdict",
    "Run",
    "RunRecordError",
    "RunWriter",
    "Said",
    "Story",
    "StoryStep",
    "Tally",
    "now",
    "read_run",
    "schema",
    "versions",
]
