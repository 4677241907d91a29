"""A run against a server with a fault, and the replay of what the run recorded: both name the same requirements."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.live import wire_check
from conformance.net.addresses import Permit, place, target
from conformance.net.connector import understood
from conformance.runlog import read_run
from conformance.verdict import ExitCode, Outcome

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("conformance.embedded.network") is None,
    reason="this checkout has no embedded queue manager on the network",
)


@contextmanager
def server(*words: str) -> Iterator[str]:
    """A server with a fault. Yields its connector."""
    line = [sys.executable, "-m", "conformance.embedded.network", "--listen", "127.0.0.1:0", "--ping-port", "0", *words]
    process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    with process.stdout:
        try:
            ready = json.loads(process.stdout.readline())["ready"]
            yield f"wire:127.0.0.1?qm={place(ready['listen']).port}&ping={place(ready['ping']).port}"
        finally:
            process.stdin.close()
            process.wait(20)


def failing(folder: Path) -> set[str]:
    return {one.verdict.requirement for one in read_run(folder).verdicts if one.verdict.outcome is Outcome.FAIL}


@pytest.mark.parametrize(
    ("fault", "only", "expected"),
    [
        ("ping-cookie", "test_pings_are_answered", {"MQQB-2.2.7.response-cookie"}),
        ("time-stamp-changed", "byte-by-byte", {"MQQB-3.1.5.3.1.time-stamp"}),
        (None, "byte-by-byte", set()),
    ],
)
def test_a_replay_says_what_the_run_said(fault: str | None, only: str, expected: set[str], tmp_path: Path) -> None:
    ran, again = tmp_path / "run", tmp_path / "again"
    command = [sys.executable, "-m", "conformance"]
    with server(*([] if fault is None else ["--fault", fault])) as connector:
        words = ["run", "--adapter", connector, "--out", str(ran), "--", "-k", only, "-p", "no:cacheprovider"]
        subprocess.run([*command, *words], capture_output=True, timeout=240, check=False)
    recordings = list(map(str, ran.glob("*.pcapng")))
    assert recordings
    done = subprocess.run(
        [*command, "replay", *recordings, "--out", str(again)], capture_output=True, timeout=240, check=False
    )
    assert b"mqconform itself" in done.stdout
    assert failing(ran) == failing(again) == expected


def test_without_a_connection_back_a_look_does_not_end_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_check, "BACK_S", 1.0)
    with server() as connector, socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
        free.close()
        _, declared = understood(f"{connector.removeprefix('wire')}&peer={port}")
        found = wire_check.wire_check(target("127.0.0.1", Permit()), declared)
    assert {"acknowledgment": "ok", "connection back": "missing"}.items() <= {
        step.what: step.state for step in found.findings
    }.items()
    assert found.exit_code is ExitCode.UNUSABLE and "connection back" in (found.sentence or "")
