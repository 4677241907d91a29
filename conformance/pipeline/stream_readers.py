"""Readers of a capture that goes on from the state of its stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import FileIO
from typing import Protocol

from conformance.capture import Event, Passed
from conformance.capture.addresses import is_stored
from conformance.capture.columns.reader import Batch, FastCapture
from conformance.capture.files import open_file
from conformance.capture.reader import CaptureReading
from conformance.capture.records import Record, RecordWalk, read_records


@dataclass(slots=True)
class Read:
    """The result of reading a capture. first_ns, last_ns: times of the first record and the last.

    walk: of the records that are read one by one.
    """

    first_ns: int | None = None
    last_ns: int | None = None
    cut: str | None = None
    walk: RecordWalk = field(default_factory=RecordWalk)


class Reading(Protocol):
    """An object that holds the state of reading a stream."""

    reading: CaptureReading


def continued(state: Reading, path: str, version: str | None, read: Read) -> Iterator[Event]:
    """Yield the events of a file, record by record. version: the one that is meant.

    The whole of an object is copied before the first event. Raises UnavailableError, and CaptureError.
    """
    file = open_file(path, version)
    spool = None
    if is_stored(path):
        from conformance.capture.spool import Spool

        spool = Spool(file)
    try:
        yield from _continued(state, path, spool.whole() if spool is not None else None, read)
        if spool is None:
            file.check()
    finally:
        file.close()


def _continued(state: Reading, path: str, raw: FileIO | None, read: Read) -> Iterator[Event]:
    walk, reading = read.walk, state.reading
    before, read.first_ns = reading.records, None
    for record in read_records(path, walk, raw=raw):
        read.first_ns = record.time_ns if read.first_ns is None else read.first_ns
        read.last_ns = record.time_ns
        numbered = Record(before + record.number, record.time_ns, record.link, record.data, record.length)
        yield from reading.record(numbered)
    read.cut = walk.cut
    reading.skipped.update(walk.unused)
    if walk.damaged:
        yield Passed(reading.records, walk.damaged)


def in_place(state: Reading, capture: FastCapture, read: Read) -> Iterator[Batch]:
    """Yield the packets of a file where they are. The state is replaced when all are read."""
    for batch in capture.batches(after=state.reading, before=state.reading.records, finish=False):
        read.last_ns = capture.time_ns or read.last_ns
        yield batch
    assert capture.left is not None
    state.reading = capture.left
    read.last_ns, read.cut = capture.time_ns or None, capture.cut
