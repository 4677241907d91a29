"""Recordings of which mqconform was an end: the pipeline leaves out what it sent, as `replay` does."""

from __future__ import annotations

import pytest
from lake_helpers import put, replayed, rows, said
from made_captures import SOURCE, recorded, server_of

from conformance.capture.recording_mark import OwnEnd


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
