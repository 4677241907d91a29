"""A followed file that is replaced, or begun anew in its place, is followed on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import build_captures
import pytest
from record_edits import records_of

from conformance.capture import Cut, Ended, Frame, Renewed, read_capture
from conformance.capture.following import Stop

HEAD, RECORDS = records_of(build_captures.consistent_session().pcap())
FIRST = 40
BEFORE, AFTER = HEAD + b"".join(RECORDS[:FIRST]), HEAD + b"".join(RECORDS[FIRST:])


def replaced(path: Path) -> None:
    """Another file takes the place, as tcpdump -G and logrotate do it."""
    path.rename(path.with_suffix(".1"))
    path.write_bytes(AFTER)


def renamed(path: Path) -> None:
    """A file that was written elsewhere takes the place."""
    other = path.with_suffix(".new")
    other.write_bytes(AFTER)
    other.replace(path)


def truncated(path: Path) -> None:
    """The file is begun anew, as logrotate does it with copytruncate."""
    path.write_bytes(AFTER)


@pytest.mark.parametrize("change", [replaced, renamed, truncated])
@pytest.mark.parametrize("part", [b"", RECORDS[FIRST][:20]])
def test_it_is_read_on(change: Callable[[Path], None], part: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(BEFORE + part)
    stop, events, frames = Stop(30), [], 0
    for event in read_capture(path, follow=stop):
        events.append(event)
        frames += isinstance(event, Frame)
        if isinstance(event, Frame) and event.record == 39:
            change(path)
        if frames == 26:
            stop.tell()
    (renewed,) = (one for one in events if isinstance(one, Renewed))
    assert (renewed.record, renewed.cut is not None) == (FIRST + 1, bool(part))
    assert [one.record for one in events if isinstance(one, Frame)][-1] == 49
    assert frames == 26
    assert isinstance(events[-1], Ended)
    assert not [one for one in events if isinstance(one, Cut)]


def test_an_empty_file_in_its_place_is_waited_for_to_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.pcap"
    path.write_bytes(BEFORE)
    stop, events = Stop(30), []
    for event in read_capture(path, follow=stop):
        events.append(event)
        if isinstance(event, Frame) and event.record == 39:
            path.rename(tmp_path / "a.1")
            path.write_bytes(b"")
        if isinstance(event, Renewed):
            stop.tell()
    assert sum(isinstance(one, Renewed) for one in events) == 1
    assert isinstance(events[-1], Ended)
