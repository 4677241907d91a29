"""What a driver may cost: values, depth and digits of a line, bytes of events; and what is left when it has died."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tracemalloc
from itertools import count
from pathlib import Path

import pytest
from fake_drivers import driver, ended

from conformance.adapter import lines, process
from conformance.adapter.errors import DriverCrashed, DriverTimeout, ProtocolViolation
from conformance.run import run
from conformance.verdict import ExitCode

HEAD = b'{"jsonrpc":"2.0","id":5,"result":'
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc, pidfd_open and subreapers")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"[" + b'{"":1},' * 1_000_000 + b"0]", "more than 200000 values"),
        (b"[" + b"[]," * 2_500_000 + b"0]", "more than 200000 values"),
        (b"[" + b"0," * 4_000_000 + b"0]", "more than 200000 values"),
        (b"[" * 900 + b"]" * 900, "more than 64 levels"),
        (b"[" * 1_000_000 + b"]" * 1_000_000, "more than 64 levels"),
        (b"1" * 4_000, "an integer of more than 308 digits"),
        (b"1" * 100_000, "an integer of more than 308 digits"),
        (b"1e400", "number 1e400, which is too large"),
        (b"-1e999", "number -1e999, which is too large"),
        (b"NaN", "NaN, which JSON does not have"),
        (b'{"status":0,"status":1}', "the member 'status' twice"),
        (b'{"label":"' + b"x" * 1_100_000 + b'\\ud834\\udd1e"}', "not all of them ASCII"),
        (b'{"label":"' + "é".encode() * 1_100_000 + b'"}', "not all of them ASCII"),
        (b'"' + b'\\"' * 1_000_000, "not JSON"),
    ],
)
def test_a_line_that_would_cost_too_much_is_refused(line: bytes, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if says.startswith("more than"):
        monkeypatch.setattr(lines, "_decode", lambda text: pytest.fail("it was read all the same"))
    with pytest.raises(lines.BadLine, match=says) as caught:
        lines.message(HEAD + line + b"}")
    assert len(str(caught.value)) < 300


def test_signs_within_texts_are_no_values() -> None:
    for text in ("[," * 1_000_000, '{\\"' * 500_000, "\\\\" * 500_000):
        made = lines.message(HEAD + b'"' + text.encode() + b'"}')
        assert len(made["result"]) in (len(text), len(text) * 2 // 3, len(text) // 2)


def test_large_honest_answers_are_taken() -> None:
    body = b"QUJD" * 2_000_000
    assert len(lines.message(HEAD + b'{"status":0,"message":{"body":"' + body + b'"}}}')["result"]["message"]["body"])
    deep = b"[" * 63 + b"]" * 63
    assert lines.message(HEAD + deep + b"}")
    many = b"[" + b",".join(b"[1.5]" for _ in range(99_000)) + b"]"
    assert len(lines.message(HEAD + many + b"}")["result"]) == 99_000


def test_kept_events_are_bounded_in_bytes(tmp_path: Path) -> None:
    flood = pytest.raises(ProtocolViolation, match="events of more than 4194304 bytes")
    with driver("floods_with_large_events", tmp_path) as client, flood:
        client.call("clock.now")


def test_what_comes_while_a_request_is_written_is_bounded_too(tmp_path: Path) -> None:
    with driver("writes_blank_lines", tmp_path, deadline_ms=3_000) as client:
        tracemalloc.start()
        try:
            with pytest.raises((ProtocolViolation, DriverTimeout)):
                client.call("queues.create", path_name="x" * 1_000_000)
            assert tracemalloc.get_traced_memory()[1] < 64 << 20
        finally:
            tracemalloc.stop()


@linux
def test_a_death_is_seen_though_a_child_holds_the_output(tmp_path: Path) -> None:
    with driver("dies_and_leaves_its_output", tmp_path, deadline_ms=30_000) as client:
        with pytest.raises(DriverCrashed, match=r"ended during clock.now \(exit status 134\)") as caught:
            client.call("clock.now")
        assert caught.value.returncode == 134
    os.kill(int((tmp_path / "state" / "child").read_text()), signal.SIGKILL)


@linux
def test_a_kill_takes_the_whole_session(tmp_path: Path) -> None:
    with driver("moves_a_child_away", tmp_path) as client:
        child = int((tmp_path / "state" / "child").read_text())
        client.restart(kill=True)
        assert ended(child)
        second = int((tmp_path / "state" / "child").read_text())
    assert ended(second)


@linux
def test_what_outlives_a_driver_is_named_once_and_let_live(tmp_path: Path) -> None:
    with driver("leaves_a_daemon", tmp_path):
        daemon = int((tmp_path / "state" / "daemon").read_text())
    try:
        told = process.outliving()
        assert told is not None
        assert f"{daemon} (" in told and "time.sleep(90)" in told
        assert "\n" not in told
        os.kill(daemon, 0)
        assert str(daemon) not in (process.outliving() or "")
    finally:
        os.kill(daemon, signal.SIGKILL)
    assert ended(daemon)
    assert daemon not in [each.pid for each in process.strays(())]  # and no zombie of it is kept


@linux
def test_what_another_library_started_is_not_the_drivers(tmp_path: Path) -> None:
    with driver("leaves_a_daemon", tmp_path):
        daemon = int((tmp_path / "state" / "daemon").read_text())
        alien = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(90)"], start_new_session=True)
    try:
        pids = [each.pid for each in process.strays(())]
        assert daemon in pids and alien.pid not in pids
    finally:
        os.kill(daemon, signal.SIGKILL)
        alien.kill()
        assert alien.wait() == -signal.SIGKILL


def test_an_implementation_that_offers_less_after_a_restart_is_told_so(tmp_path: Path) -> None:
    with driver("offers_less_after_a_restart", tmp_path) as client:
        assert client.offers("messages.receive")
        with pytest.raises(ProtocolViolation, match="changed facets in hello after it was started again"):
            client.restart(kill=True)


def test_daemons_that_fork_on_end_in_a_verdict_and_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever one looks, another process than the one that was named lives on: the record is closed all the same."""
    numbers = count()
    monkeypatch.setattr(process, "outliving", lambda: f"1 process that the driver started lives on: {next(numbers)}")
    done = run(suites="names", out=tmp_path, in_process=True, max_examples=1, pytest_args=["-k", "create_queue"])
    assert done.exit_code is ExitCode.CONFORMS, done.sentence
    assert done.record is not None and done.record.complete and next(numbers) > 1
    assert [event.text for event in done.record.driver if event.what == "outlived"]
