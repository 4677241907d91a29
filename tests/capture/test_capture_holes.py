"""Files that a crash or a damaged time leaves behind: what stands behind a hole is found, and quickly."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from record_edits import records_of

from conformance.capture import Passed, read_capture
from conformance.capture.records import RecordWalk, read_records

HOLE = 32 << 20


@pytest.fixture
def capture() -> bytes:
    import build_captures

    made: bytes = build_captures.consistent_session().pcap()
    return made


@pytest.mark.parametrize("swapped", [False, True])
def test_a_hole_is_passed_over(capture: bytes, tmp_path: Path, swapped: bool) -> None:
    """As of a file that was made larger before it was written, and never written."""
    head, records = records_of(capture)
    if swapped:
        head = struct.pack(">IHHiIII", *struct.unpack("<IHHiIII", head))
        records = [struct.pack(">IIII", *struct.unpack_from("<IIII", one)) + one[16:] for one in records]
    path = tmp_path / "hole.pcap"
    before, behind = b"".join(records[:9]), b"".join(records[9:])
    with path.open("wb") as file:
        file.write(head + before)
        file.seek(HOLE, 1)
        file.write(behind)
    walk = RecordWalk()
    found = list(read_records(path, walk))
    assert [one.data for one in found] == [one[16:] for one in records]
    assert walk.damaged == HOLE and walk.cut is None
    (passed,) = (event for event in read_capture(path) if isinstance(event, Passed))
    assert (passed.record, passed.length) == (10, HOLE)


def test_the_time_of_what_was_lost_does_not_matter(capture: bytes, tmp_path: Path) -> None:
    """Neither a record whose time is damage, nor a day without traffic, is the end of a capture."""
    head, records = records_of(capture)
    bad = struct.pack("<IIII", 7, 0, 3, 60) + b"abc"
    damaged = bytearray(records[9])
    struct.pack_into("<I", damaged, 8, 0xFFFF_FFFF)
    path = tmp_path / "times.pcap"
    path.write_bytes(head + b"".join(records[:9]) + bad + damaged + b"".join(records[10:]))
    walk = RecordWalk()
    found = list(read_records(path, walk))
    assert len(found) == len(records)  # One is the bad one.
    assert walk.damaged == len(damaged) and walk.cut is None


def test_a_length_of_the_very_most_is_found_again(capture: bytes, tmp_path: Path) -> None:
    """16 MiB, whose lower three bytes are 0."""
    head, records = records_of(capture)
    most = struct.pack("<IIII", struct.unpack_from("<I", records[0])[0], 0, 1 << 24, 1 << 24)
    path = tmp_path / "large.pcap"
    with path.open("wb") as file:
        file.write(head + b"\xff" * 700 + most)
        file.seek(1 << 24, 1)
        file.write(b"".join(records))
    walk = RecordWalk()
    found = list(read_records(path, walk))
    assert len(found) == len(records) + 1 and len(found[0].data) == 1 << 24
    assert walk.damaged == 700
