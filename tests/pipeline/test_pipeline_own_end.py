"""Recordings of which mqconform was an end: the pipeline leaves out what it sent, as `replay` does."""

from __future__ import annotations

import pytest
from lake_helpers import put, replayed, rows, said

from conformance.capture import Closed, Frame, Opened, read_capture
from conformance.capture.own_end import OwnEnd
from conformance.net.recording import Recording
from conformance.resources import resource

SOURCE = resource("fixtures/captures/resending-session.pcapng")


def recorded(path, own):
    """A session that was seen, as a recording at one of its ends; the third message of each side is wrong."""
    recording = Recording(path, own=own)
    counts = {"initiator": 0, "acceptor": 0}
    for event in read_capture(SOURCE):
        if isinstance(event, Opened):
            recording.opened(event.connection, *((one.address, one.port) for one in (event.initiator, event.acceptor)))
        elif isinstance(event, Frame) and event.side is not None:
            counts[event.side] += 1
            data = event.data if counts[event.side] != 3 else event.data[:4] + b"RIOL" + event.data[8:]
            recording.data(event.connection, event.side, data)
        elif isinstance(event, Closed):
            recording.ended(event.connection, "initiator", "fin")
            recording.ended(event.connection, "acceptor", "fin")
    recording.close()
    return path


def server_of(path):
    return next(event.acceptor.address for event in read_capture(path) if isinstance(event, Opened))


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("role", ["client", "server"])
def test_what_the_program_sent_is_not_judged(tmp_path, role, keep):
    own = OwnEnd(role, server_of(SOURCE))
    path = recorded(tmp_path / "said_00001.pcapng", own)
    (tmp_path / "plain").mkdir()
    plain = recorded(tmp_path / "plain" / "said_00001.pcapng", None)
    lake, _ = put(tmp_path / "lake", [path], keep=keep)
    assert said(lake) == replayed(path) != replayed(plain)
    (row,) = rows(lake, "captures")
    assert row["packets"] > 20 and len(rows(lake, "sessions")) == 2


def test_a_recording_is_no_part_of_a_rotated_set(tmp_path):
    own = OwnEnd("client", server_of(SOURCE))
    names = [recorded(tmp_path / f"said_0000{at}.pcapng", own if at == 1 else None) for at in (1, 2)]
    lake, _ = put(tmp_path / "lake", names)
    for name in names:
        assert said(lake, name) == replayed(name)


def test_packets_alone(tmp_path):
    path = recorded(tmp_path / "said.pcapng", OwnEnd("server", server_of(SOURCE)))
    lake, _ = put(tmp_path / "lake", [path], sessions=False)
    others, passes = said(lake)
    expected = replayed(path)
    assert others <= expected[0] and passes <= expected[1] and passes
