"""Recordings of which mqconform was an end: what it sent is not judged, and the command says so."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from conformance.capture import Frame, read_capture
from conformance.capture.recording_mark import OwnEnd
from conformance.captures import replay_captures
from conformance.files import resource
from conformance.net.proxy import Recording
from conformance.verdict import ExitCode, Outcome

FIXTURE = resource("fixtures/captures/consistent-session.pcapng")
FRAMES = [frame for frame in read_capture(FIXTURE) if isinstance(frame, Frame) and frame.connection == 1]
SERVER, CLIENT = ("127.0.0.1", 1801), ("127.0.0.2", 50_000)
SIGNATURE = "MQMQ-2.2.19.1.signature"
ROUND_TRIP = "MQQB-3.1.5.3.2.round-trip"
COLUMNS = [False, *([True] if importlib.util.find_spec("numba") else [])]


def turned(data: bytes) -> bytes:
    """A packet with its signature backwards."""
    return data[:4] + b"RIOL" + data[8:]


def recorded(path: Path, wrong: Literal["initiator", "acceptor"], own: OwnEnd | None, server: tuple[str, int]) -> Path:
    """The two first packets of a session of a client and a server, one of them wrong; a reverse one is the server's."""
    recording = Recording(path, own=own)
    back = server == CLIENT
    recording.opened(1, SERVER if back else CLIENT, server)
    for frame in FRAMES[:2]:
        assert frame.side is not None
        recording.data(1, frame.side, turned(frame.data) if frame.side == wrong else frame.data)
    recording.close()
    return path


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("wrong", ["initiator", "acceptor"])
@pytest.mark.parametrize("role", ["client", "server", None])
def test_what_the_program_sent_is_not_judged(
    role: Literal["client", "server"] | None,
    wrong: Literal["initiator", "acceptor"],
    back: bool,
    columns: bool,
    tmp_path: Path,
) -> None:
    own = None if role is None else OwnEnd(role, SERVER[0])
    path = recorded(tmp_path / "said.pcapng", wrong, own, CLIENT if back else SERVER)
    said = replay_captures(path, out=tmp_path / "out", columns=columns, allow_incomplete=True)
    failed = {one.verdict.requirement for one in said.replay.counted if one.verdict.outcome is Outcome.FAIL}
    by_server = (wrong == "initiator") == back
    judged = role is None or by_server == (role == "client")
    assert (SIGNATURE in failed) == judged
    (capture,) = said.replay.captures
    assert (capture.own, capture.own_packets, capture.packets) == (own, 0 if own is None else 1, 2)


def test_a_connection_that_was_noticed_late_is_no_shorter_round_trip(tmp_path: Path) -> None:
    """Who is connected to, and busy, notices the connection after its first packet was made."""
    now = [10**18]
    recording = Recording(tmp_path / "said.pcapng", own=OwnEnd("client", SERVER[0]), clock=lambda: now[0])
    recording.opened(1, SERVER, CLIENT)
    for frame in FRAMES[:2]:
        assert frame.side is not None
        recording.data(1, frame.side, frame.data)
    timeout = FRAMES[2].data.index((500).to_bytes(4, "little"))
    data = FRAMES[2].data
    recording.data(1, "initiator", data[:timeout] + (8 * 400).to_bytes(4, "little") + data[timeout + 4 :])
    recording.close()
    said = replay_captures(tmp_path / "said.pcapng", out=tmp_path / "out", allow_incomplete=True)
    found = {one.verdict.outcome for one in said.replay.counted if one.verdict.requirement == ROUND_TRIP}
    assert found == {Outcome.PASS}


def test_the_mark_goes_through_the_file_and_other_comments_are_none(tmp_path: Path) -> None:
    for own in (OwnEnd("client", "10.0.0.1"), OwnEnd("server", "::1")):
        assert OwnEnd.of(own.comment) == own
    for other in (None, "", "mqconform was here", "mqconform was the client: server=1.2.3", "x" + own.comment):
        assert OwnEnd.of(other) is None


def test_other_peoples_packets_in_a_recording_are_judged(tmp_path: Path) -> None:
    path = recorded(tmp_path / "said.pcapng", "initiator", OwnEnd("client", "10.0.0.1"), SERVER)
    said = replay_captures(path, out=tmp_path / "out", allow_incomplete=True)
    assert said.exit_code is ExitCode.DEVIATES and said.replay.captures[0].own is None


def test_the_command_says_whose_packets_are_judged(tmp_path: Path) -> None:
    path = recorded(tmp_path / "said.pcapng", "acceptor", OwnEnd("server", SERVER[0]), SERVER)
    line = [sys.executable, "-m", "conformance", "replay", str(path), "--allow-incomplete", "--out"]
    text = subprocess.run([*line, str(tmp_path / "a")], capture_output=True, text=True, timeout=120, check=True).stdout
    assert "only what the clients of 127.0.0.1 sent is judged" in text and "fail" not in text.split("only what")[0]
    done = subprocess.run(
        [*line, str(tmp_path / "b"), "--json"], capture_output=True, text=True, timeout=120, check=True
    )
    assert "mqconform itself" in json.loads(done.stdout)["captures"][0]["own"]


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize(("role", "side", "complete"), [("client", 0, True), ("client", 1, False), (None, 0, False)])
def test_only_a_packet_that_the_program_itself_cut_leaves_a_recording_complete(
    role: Literal["client", "server"] | None, side: int, complete: bool, columns: bool, tmp_path: Path
) -> None:
    recording = Recording(tmp_path / "cut.pcapng", own=None if role is None else OwnEnd(role, SERVER[0]))
    recording.opened(1, CLIENT, SERVER)
    for frame in FRAMES[:2]:
        assert frame.side is not None
        recording.data(1, frame.side, frame.data)
    ends: tuple[Literal["initiator", "acceptor"], ...] = ("initiator", "acceptor")
    recording.data(1, ends[side], FRAMES[side].data[:100])
    recording.ended(1, ends[side], "fin")
    recording.close()
    said = replay_captures(tmp_path / "cut.pcapng", out=tmp_path / "out", columns=columns)
    assert bool(said.replay.incomplete) != complete
