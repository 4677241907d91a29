"""What the tests of the .NET driver share: the compiled driver, lines to and from it, and a broker on port 5672."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SOURCES = Path(__file__).parents[2] / "adapters" / "dotnet"
SHARED = SOURCES.parent / "shared"
PORT = 5672  # the only one Mono's library knows
_GAC = Path("/usr/lib/mono/gac")


def need_mono() -> None:
    """Skip where Mono is not installed; in CI it has to be."""
    missing = [program for program in ("mono", "mcs") if shutil.which(program) is None]
    missing += [name for name in ("System.Messaging", "Mono.Messaging.RabbitMQ") if not (_GAC / name).is_dir()]
    if missing:
        _absent(f"{', '.join(missing)} is not installed (apt-get install mono-mcs libmono-messaging-rabbitmq4.0-cil)")


def _absent(text: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(text, pytrace=False)
    pytest.skip(text)


def compiled(folder: Path) -> Path:
    """The driver, compiled as its README says, without a warning."""
    need_mono()
    driver = folder / "driver.exe"
    subprocess.run(
        [
            "mcs",
            "-langversion:5",
            "-warnaserror",
            "-r:System.Messaging.dll",
            f"-out:{driver}",
            *SOURCES.glob("*.cs"),
            *SHARED.glob("*.cs"),
        ],
        check=True,
        timeout=60,
    )
    return driver


class Wire:
    """A driver process, spoken to line by line: what a client would never send can be sent too."""

    def __init__(self, *command: str | Path) -> None:
        self.process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        self._rest = b""
        self._number = 0

    def send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line.encode() + b"\n")

    def request(self, method: str, **params: Any) -> int:
        self._number += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}))
        return self._number

    def receive(self, within: float = 10.0) -> dict[str, Any]:
        """The next line. Raises TimeoutError, and EOFError when the driver has ended."""
        assert self.process.stdout is not None
        until = time.monotonic() + within
        while b"\n" not in self._rest:
            if not select.select([self.process.stdout], [], [], max(until - time.monotonic(), 0))[0]:
                raise TimeoutError
            chunk = os.read(self.process.stdout.fileno(), 1 << 16)
            if not chunk:
                raise EOFError
            self._rest += chunk
        line, self._rest = self._rest.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        return message

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of a request; nothing else may be said meanwhile."""
        number = self.request(method, **params)
        message = self.receive()
        assert message["id"] == number
        result: dict[str, Any] = message["result"]
        return result

    def hello(self, state: Path, *versions: str) -> dict[str, Any]:
        offered = list(versions) or ["1.1", "1.0"]
        return self.call("hello", versions=offered, harness="test", state_dir=str(state), deadline_ms=10_000)

    def ended(self, within: float = 5.0) -> int:
        """Its exit status. Raises TimeoutExpired when it goes on."""
        return self.process.wait(within)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


def listens() -> bool:
    """Whether somebody has the port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", PORT)) == 0


_SHARED = Path(tempfile.gettempdir()) / f"mqconform-tests-{os.getuid()}"


@contextlib.contextmanager
def _lock(kind: int) -> Iterator[int]:
    _SHARED.mkdir(exist_ok=True, mode=0o700)
    with (_SHARED / "lock").open("w") as lock:
        fcntl.flock(lock, kind)
        yield lock.fileno()


@contextlib.contextmanager
def the_port() -> Iterator[None]:
    """The port is ours alone, whichever processes run other tests: none of theirs has a broker on it."""
    with _lock(fcntl.LOCK_EX):
        yield


@contextlib.contextmanager
def a_broker() -> Iterator[None]:
    """A broker is there: one on the machine, or one of our own. Tests share it; the last one stops it."""
    with _lock(fcntl.LOCK_EX) as lock:
        if not listens():
            started = broker("start", _SHARED / "broker")
            assert started.returncode == 0, started.stderr
        fcntl.flock(lock, fcntl.LOCK_SH)
        try:
            yield
        finally:
            with contextlib.suppress(BlockingIOError):  # somebody else still uses it
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                broker("stop", _SHARED / "broker")


def broker(action: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """`broker start|stop FOLDER`."""
    return subprocess.run(
        [str(SOURCES / "broker"), action, str(folder)], capture_output=True, text=True, timeout=90, check=False
    )


def need_rabbitmq() -> None:
    """Skip where RabbitMQ is not installed; in CI it has to be."""
    if not list(Path("/usr/lib/rabbitmq/lib").glob("rabbitmq_server-*")):
        _absent("RabbitMQ is not installed (apt-get install rabbitmq-server)")
