"""A driver as a child process: its own process group, stdio for the protocol, stderr as a bounded log."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.adapter import lines
from conformance.adapter.errors import DriverUnusable

_RING_BYTES = 1 << 16  # of stderr kept in memory
_LOG_BYTES = 16 << 20  # of stderr kept on disk, all epochs together
_TAIL_LINES = 20

_living: weakref.WeakSet[ProcessLink] = weakref.WeakSet()


class StderrLog:
    """The last of a driver's stderr in memory, and the first 16 MiB of it in a file."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._ring = bytearray()

    def __call__(self, chunk: bytes) -> None:
        self._ring += chunk
        del self._ring[:-_RING_BYTES]
        if self._path is None:
            return
        # A full disk costs the log, not the run.
        with contextlib.suppress(OSError), self._path.open("ab") as file:
            room = _LOG_BYTES - file.tell()
            if room > 0:
                file.write(chunk[:room])

    def new_epoch(self) -> None:
        """Forget the ring: a new process's last words are its own."""
        self._ring.clear()

    def tail(self) -> str:
        """The last lines, for an error message."""
        return "\n".join(self._ring.decode("utf-8", "replace").splitlines()[-_TAIL_LINES:])


class ProcessLink:
    """A running child process; see `lines.Link`."""

    keeps_state = True
    stops = True

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: StderrLog,
        max_line_bytes: int,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start it. Raises DriverUnusable when there is nothing to start."""
        log.new_epoch()
        self._log = log
        self._returncode: int | None = None
        self._gone = False
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # a group of its own, so that a kill takes its children too
                env=None if environment is None else {**os.environ, **environment},
            )
        except FileNotFoundError:
            raise DriverUnusable(f"the driver {command[0]} does not exist: check the path in the connector") from None
        except PermissionError:
            raise DriverUnusable(
                f"the driver {command[0]} may not be executed: make it executable (chmod +x) or name its interpreter"
            ) from None
        except (OSError, ValueError) as wrong:
            raise DriverUnusable(f"the driver {command[0]} could not be started: {wrong}") from None
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None and stdout is not None and stderr is not None
        self._streams = (stdin, stdout, stderr)
        self._channel = lines.LineChannel(
            stdout.fileno(), stdin.fileno(), max_line_bytes=max_line_bytes, side_fd=stderr.fileno(), on_side=log
        )
        _living.add(self)

    def send(self, number: int, method: str, params: dict[str, Any], until: float) -> None:
        self._channel.write(lines.request_line(number, method, params), until)

    def receive(self, until: float) -> Any:
        line = self._channel.read(until)
        return None if line is None else lines.message(line)

    def kill(self) -> None:
        if self._gone:
            return
        self._gone = True
        self._wait(0)  # learns the status of one that ended by itself, without reaping it
        # The group is killed before the leader is reaped: until then its number can't have gone to somebody else.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        status = self._process.wait()
        self._returncode = status
        self._channel.drain_side(0.2)
        for stream in self._streams:
            with contextlib.suppress(OSError):
                stream.close()
        _living.discard(self)

    def finish(self, within: float) -> bool:
        if self._gone:
            return True
        with contextlib.suppress(OSError):
            self._streams[0].close()
        went = self._wait(within)
        self.kill()
        return went

    def last_words(self) -> tuple[int | None, str]:
        if not self._gone:
            # It closed its output: give it a moment to end by itself, so that its own exit status is the one told.
            self._wait(1.0)
            self.kill()
        return self._returncode, self._log.tail()

    def _wait(self, within: float) -> bool:
        """Whether the process ends in time, leaving it unreaped (see `kill`)."""
        until = time.monotonic() + within
        nap = 0.0005
        while True:
            if os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return True
            left = until - time.monotonic()
            if left <= 0:
                return False
            self._channel.drain_side(0)
            time.sleep(min(nap, left))
            nap = min(nap * 2, 0.02)


@atexit.register
def _kill_the_living() -> None:
    for link in list(_living):
        link.kill()
