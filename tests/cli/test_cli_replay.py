"""`mqconform replay` on Microsoft's packets, on a session without fault, and on what is no capture."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests_cli import mqconform, one_sentence

from conformance.resources import resource
from conformance.runlog import read_run
from conformance.verdict import ExitCode

CAPTURES = resource("fixtures/captures")


def test_microsofts_packets_deviate_where_they_must(tmp_path: Path) -> None:
    done = mqconform("replay", str(CAPTURES / "mqqb-4.1.pcapng"), "--out", str(tmp_path))
    assert done.returncode == ExitCode.DEVIATES
    lines = done.stdout.splitlines()[:8]
    assert [line.split()[5] for line in lines] == [
        "Ping",
        "Ping",
        "EstablishConnection",
        "EstablishConnection",
        "ConnectionParameters",
        "ConnectionParameters",
        "UserMessage",
        "SessionAck",
    ]
    assert r"DIRECT=OS:a04bm02\q" in lines[6]
    assert "MQQB-3.1.5.3.1.client-guid" in lines[3]
    record = read_run(tmp_path)
    assert record.complete
    assert len(record.packets) == 8
    assert (tmp_path / "report.html").exists()


def test_a_consistent_session_passes(tmp_path: Path) -> None:
    done = mqconform("replay", str(CAPTURES / "consistent-session.pcapng"), "--json", "--out", str(tmp_path))
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    told = json.loads(done.stdout)
    assert set(told["verdicts"]) == {"pass"}
    assert told["captures"][0]["packets"] == len(told["packets"]) == 26


def test_what_stands_before_a_cut_is_kept(tmp_path: Path) -> None:
    done = mqconform("replay", str(CAPTURES / "cut-record.pcap"), "--out", str(tmp_path))
    assert done.returncode == ExitCode.CONFORMS
    assert "ends within record 33" in done.stdout
    assert len(read_run(tmp_path).packets) == 17


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, ExitCode.BAD_INPUT),
        (b"", ExitCode.BAD_INPUT),
        (b"GET / HTTP/1.1\r\n\r\n" * 9, ExitCode.BAD_INPUT),
        (b"\xd4\xc3\xb2\xa1", ExitCode.NOTHING_JUDGED),
    ],
)
def test_what_is_no_capture(content: bytes | None, code: ExitCode, tmp_path: Path) -> None:
    path = tmp_path / "some.pcap"
    if content is not None:
        path.write_bytes(content)
    done = mqconform("replay", str(path), "--out", str(tmp_path / "out"))
    assert "some.pcap" in one_sentence(done, code)


def test_a_bad_file_beside_a_good_one(tmp_path: Path) -> None:
    """The good one is judged; the bad one still ends the command with an error."""
    done = mqconform(
        "replay",
        str(tmp_path / "none.pcap"),
        str(CAPTURES / "consistent-session.pcapng"),
        "--out",
        str(tmp_path / "out"),
    )
    assert done.returncode == ExitCode.BAD_INPUT
    assert len(read_run(tmp_path / "out").packets) == 26


def test_a_capture_without_msmq_judges_nothing(tmp_path: Path) -> None:
    path = tmp_path / "empty.pcap"
    path.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    done = mqconform("replay", str(path), "--out", str(tmp_path / "out"))
    one_sentence(done, ExitCode.NOTHING_JUDGED)
