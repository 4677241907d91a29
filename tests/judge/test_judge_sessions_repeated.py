"""Bytes that TCP sends again: an acknowledgment is as late as after the last copy, in both readers."""

from __future__ import annotations

from pathlib import Path

import build_captures
import build_packets
import build_tcp
import pytest
from both_readers import same, walked
from tests_cli import mqconform

from conformance.capture import Repeated

LATE = "MQQB-3.1.5.8.2.acknowledged-in-time"
EARLY = "MQQB-3.1.6.4.expired"


def captured(folder: Path, *copies_ms: int, answered_ms: int, kept: bool = False) -> Path:
    """An express or recoverable message, copies of it so long behind it, and its acknowledgment."""
    capture = build_tcp.Capture(build_captures.START * build_captures.NS)
    there = build_tcp.Connection.open(capture, (build_captures.ALPHA, 50001), (build_captures.BETA, 1801))
    build_captures.establish(capture, there, build_captures.ALPHA_QM, build_captures.BETA_QM, 86_400_000)
    data = build_captures.message(7001, "orders", "order 17", "two of the blue ones", recoverable=kept).bytes()
    begin = there.next[0]
    there.send(0, data)
    waited = 0
    for at in copies_ms:
        capture.wait(at - waited)
        there.segment(0, data, 0x18, begin)
        waited = at
    capture.wait(answered_ms - waited)
    there.send(1, build_packets.session_ack(1, int(kept), int(kept), 0, 0))
    there.close(0)
    path = folder / "repeated.pcap"
    path.write_bytes(capture.pcap())
    return path


@pytest.mark.parametrize(
    ("copies_ms", "told"), [((), 0), ((100, 400), 0), ((100, 700), 1), ((200, 600, 1400, 3000), 3)]
)
def test_both_readers_tell_what_comes_again_late(copies_ms: tuple[int, ...], told: int, tmp_path: Path) -> None:
    path = captured(tmp_path, *copies_ms, answered_ms=10_000)
    same(path)
    _, events, _ = walked(path)
    assert sum(isinstance(event, Repeated) for _, event in events) == told


@pytest.mark.parametrize(
    ("copies_ms", "answered_ms", "kept", "blamed"),
    [
        ((), 14_000, False, {LATE}),
        ((300,), 14_000, False, {LATE}),
        ((1_000, 3_000, 7_000), 14_000, False, set()),
        ((1_000, 3_000, 7_000), 19_500, False, {LATE}),
        ((1_000,), 3_500, True, {LATE}),
        ((1_000, 3_000), 3_500, True, set()),
        ((1_000, 3_000), 3_100, True, set()),
        ((), 100, True, {EARLY}),
    ],
)
def test_time_counts_from_the_last_copy(
    copies_ms: tuple[int, ...], answered_ms: int, kept: bool, blamed: set[str], tmp_path: Path
) -> None:
    path = captured(tmp_path, *copies_ms, answered_ms=answered_ms, kept=kept)
    for ways in ((), ("--columns",)):
        out = mqconform("replay", str(path), *ways, "--out", str(tmp_path / "out")).stdout
        assert {one for one in (LATE, EARLY) if f"FAIL {one}" in out} == blamed
