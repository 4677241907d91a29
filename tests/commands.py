"""Commands of the project in processes of their own, as users start them; `command_server.py` tells how."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any
from unittest.mock import patch

from typer.testing import CliRunner

from conformance.cli.app import app
from conformance.cli.shared_options import command_of


def command(
    *arguments: str,
    module: str = "conformance",
    stdin: bytes = b"",
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 600,
) -> subprocess.CompletedProcess[str]:
    """Run `python -m MODULE ARGUMENTS` to its end. Raises TimeoutExpired.

    stdin: all it has to read.
    timeout: only ends what hangs; a busy machine is ten times as slow as an idle one.
    """
    line = [sys.executable, "-m", module, *arguments]
    request = {
        "module": module,
        "arguments": arguments,
        "cwd": str(cwd or Path.cwd()),
        "env": dict(os.environ if env is None else env),
    }
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        status = _server().ask(request, (given, out, err), line, timeout)
        return subprocess.CompletedProcess(line, status, _text(out), _text(err))


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode().replace("\r\n", "\n").replace("\r", "\n")


class _Server:
    """The process that has everything loaded; it ends with this one."""

    def __init__(self) -> None:
        self.here, there = socket.socketpair()
        script = Path(__file__).with_name("command_server.py")
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
        with there:
            subprocess.Popen(
                [sys.executable, str(script), str(there.fileno())],
                pass_fds=(there.fileno(),),
                stdin=subprocess.DEVNULL,
                env=environment,
            )

    def ask(self, request: Mapping[str, Any], streams: tuple[IO[bytes], ...], line: list[str], timeout: float) -> int:
        """Have one command run, and return how it ended."""
        body = json.dumps(request).encode()
        socket.send_fds(self.here, [len(body).to_bytes(8, "little")], [one.fileno() for one in streams])
        self.here.sendall(body)
        pid = self._answer("pid", None)
        try:
            return self._answer("status", timeout)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            self._answer("status", None)
            raise subprocess.TimeoutExpired(line, timeout) from None

    def _answer(self, name: str, timeout: float | None) -> int:
        self.here.settimeout(timeout)
        told = b""
        while not told.endswith(b"\n"):
            got = self.here.recv(1)
            assert got, "the server of commands has ended"
            told += got
        self.here.settimeout(None)
        return int(json.loads(told)[name])


@cache
def _server() -> _Server:
    return _Server()


def in_process(*arguments: str | Path) -> Any:
    """The result of the command in this process, where a test has replaced something."""
    with patch("typer.testing._get_command", command_of):  # as the program makes it, with its own help and `--json`
        return CliRunner().invoke(app, list(map(str, arguments)))
