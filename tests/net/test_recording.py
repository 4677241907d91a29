"""A recording is a capture: readers, judges and tshark find in it what went over the sockets."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import tshark
from dialogues import CONSISTENT, PINGED, events, shown

from conformance.capture import Closed, Frame, Opened
from conformance.captures import replay
from conformance.net.proxy import Recording
from conformance.spec.catalogue import assignment


def played(source: Path, target: Path, **options: int) -> Recording:
    """A capture, played into a recording."""
    now = [0]
    recording = Recording(target, comment="the port of the server is 21801", clock=lambda: now[0], **options)
    for event in events(source):
        now[0] = getattr(event, "time_ns", now[0])
        if isinstance(event, Opened):
            recording.opened(event.connection, astuple(event.initiator), (event.acceptor.address, 21801))
        elif isinstance(event, Frame) and event.transport == "udp":
            answer = event.source.port == 3527
            ends = [astuple(event.source), astuple(event.destination)]
            recording.datagram(*ends, event.data, answer=answer)
        elif isinstance(event, Frame):
            assert event.connection is not None and event.side is not None
            recording.data(event.connection, event.side, event.data)
        elif isinstance(event, Closed) and event.by is not None:
            recording.ended(event.connection, "initiator", "fin")
            recording.ended(event.connection, "acceptor", "fin")
    recording.close()
    return recording


def astuple(end: object) -> tuple[str, int]:
    return end.address, end.port  # type: ignore[attr-defined]


@pytest.mark.parametrize("source", [CONSISTENT, PINGED], ids=("session", "ping"))
def test_what_was_written_is_read_again(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "again.pcapng"
    recording = played(source, target)
    assert shown(target) == shown(source)
    assert recording.records == records_of(target)
    assert {port for frame in events(target) if isinstance(frame, Frame) for port in ends_of(frame)} & {1801, 3527}


def ends_of(frame: Frame) -> set[int]:
    return {frame.source.port, frame.destination.port}


def records_of(path: Path) -> int:
    ended = events(path)[-1]
    return ended.records  # type: ignore[union-attr]


def test_the_judge_says_the_same_of_it(tmp_path: Path) -> None:
    target = tmp_path / "again.pcapng"
    played(CONSISTENT, target)
    said = [
        replay([path], profile="msmq-4.0", readings=assignment("windows")).outcomes for path in (CONSISTENT, target)
    ]
    assert said[0] == said[1] and said[0]


def test_tshark_finds_the_streams_and_right_checksums(tmp_path: Path) -> None:
    target = tmp_path / "again.pcapng"
    recording = played(CONSISTENT, target)
    tcp = sum(frame.transport == "tcp" for frame in (each for each in events(target) if isinstance(each, Frame)))
    fields = ("tcp.checksum.status", "ip.checksum.status", "tcp.analysis.flags")
    line = [tshark.program(), "-r", str(target), "-T", "fields", *(word for name in fields for word in ("-e", name))]
    line += ["-Y", "tcp", "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    done = subprocess.run(line, capture_output=True, text=True, check=True, timeout=120)
    rows = done.stdout.splitlines()
    assert recording.records > len(rows) > tcp
    assert set(rows) == {"1\t1\t"}  # 1: good; and nothing about the sequence numbers is odd.


def test_both_versions_of_ip_and_a_reset(tmp_path: Path) -> None:
    target = tmp_path / "six.pcapng"
    recording = Recording(target)
    recording.opened(1, ("::1", 50000), ("::1", 1801))
    recording.opened(2, ("::1", 50001), ("127.0.0.1", 1801))
    recording.data(1, "initiator", b"no packet")
    recording.ended(1, "acceptor", "rst")
    recording.ended(1, "initiator", "fin")
    recording.close()
    found = events(target)
    assert [str(one.initiator) for one in found if isinstance(one, Opened)] == ["[::1]:50000", "[::1]:50001"]
    assert [one.how for one in found if isinstance(one, Closed)] == ["rst", "end"]


def test_a_full_recording_ends_with_a_whole_record(tmp_path: Path) -> None:
    target = tmp_path / "full.pcapng"
    recording = played(CONSISTENT, target, limit=2_000)
    assert recording.lost and "full" in recording.problem
    assert target.stat().st_size <= 2_000 and records_of(target) == recording.records - recording.lost


def test_large_pieces_become_segments(tmp_path: Path) -> None:
    target = tmp_path / "large.pcapng"
    recording = Recording(target)
    recording.opened(1, ("127.0.0.1", 50000), ("127.0.0.1", 1801))
    data = b"\x10\x00\x0b\x00LIOR" + (200_000).to_bytes(4, "little") + bytes(199_988)
    recording.data(1, "acceptor", data)
    recording.ended(1, "acceptor", "fin")
    recording.ended(1, "initiator", "fin")
    recording.close()
    assert shown(target) == [("tcp", "acceptor", data)]
