"""`./mq mono`: what it started is stopped, however it ends; what is wrong is one sentence."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from dotnet import SHARED, SOURCES, listens, need_mono, need_rabbitmq, the_port
from nightly import sample

# As ./mq does it, in a folder where the harness is a program that starts the driver and waits to be interrupted.
# What sleeps on holds no pipe of the script's: the end of its errors is not waited for.
AS_MQ = """
set -euo pipefail
say() { printf 'mq: %s\\n' "$*" >&2; }
die() { say "$*"; exit 3; }
apt_install() { die "would install $*"; }
. adapters/dotnet/mono
mono_main "$@"
"""
HARNESS = """#!/bin/sh
trap 'echo interrupted >harness; exit 130' INT
sleep 60 2>/dev/null | ${5#stdio:} >/dev/null 2>&1 &
echo "$@" >harness
for each in 1 2 3 4 5 6 7 8 9; do sleep 10 2>/dev/null & wait $!; done
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    need_mono()
    need_rabbitmq()
    for sources in (SOURCES, SHARED):
        (tmp_path / "adapters" / sources.name).mkdir(parents=True)
        for file in sources.glob("*"):
            if file.is_file():
                (tmp_path / "adapters" / sources.name / file.name).symlink_to(file)
    harness = tmp_path / ".venv" / "bin" / "python"
    harness.parent.mkdir(parents=True)
    harness.write_text(HARNESS, encoding="utf-8")
    harness.chmod(0o755)
    return tmp_path


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["bash", "-c", AS_MQ, "mq", *arguments],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("sign", sample("mono.signals", [signal.SIGINT, signal.SIGTERM], [signal.SIGINT]))
def test_it_stops_what_it_started(folder: Path, sign: signal.Signals) -> None:
    with the_port():
        if listens():
            pytest.skip("port 5672 is used by something else on this machine")
        script = start(folder, "--suite", "cursors")
        told = folder / "harness"
        until = time.monotonic() + 90
        while not (told.is_file() and listens()) and script.poll() is None and time.monotonic() < until:
            time.sleep(0.1)
        assert told.is_file(), script.communicate()[1]
        begins = ["-m", "conformance", "run", "--adapter", "stdio:adapters/dotnet/broker", "with"]
        assert told.read_text().split()[:6] == begins
        assert listens()
        script.send_signal(sign)
        script.communicate(timeout=60)
        assert script.returncode == 128 + sign
        assert told.read_text() == "interrupted\n"
        assert not listens()
        assert list(folder.glob("mqconform-mono*")) == []


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--broker", "theirs"], 2, "usage: ./mq mono"),
        (["--broker"], 2, "usage: ./mq mono"),
        (["--broker=existing"], 3, "nothing listens on 127.0.0.1:5672"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, arguments: list[str], code: int, says: str) -> None:
    with the_port():
        if listens():
            pytest.skip("port 5672 is used by something else on this machine")
        script = start(folder, *arguments)
        _, errors = script.communicate(timeout=60)
    assert script.returncode == code and says in errors
    assert not (folder / "harness").exists()
