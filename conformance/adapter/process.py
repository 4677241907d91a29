"""A driver as a child process with its own process group: stdio carries the protocol, stderr goes to a bounded log."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.adapter import lines, orphans, texts
from conformance.adapter.errors import DriverUnusable
from conformance.adapter.starting import not_startable
from conformance.children import foreign_environment

_RING_BYTES = 1 << 16  # bytes of stderr kept in memory
_LOG_BYTES = 16 << 20  # bytes of stderr kept on disk, for all epochs together
_TAIL_LINES = 20

_living: weakref.WeakSet[ProcessLink] = weakref.WeakSet()
_named: set[int] = set()  # pids of strays that were reported


class StderrLog:
    """Keeps the end of a driver's stderr in memory and its first 16 MiB in a file."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._ring = bytearray()

    def __call__(self, chunk: bytes) -> None:
        self._ring += chunk
        del self._ring[:-_RING_BYTES]
        if self._path is None:
            return
        # A full disk loses the log, not the run.
        with contextlib.suppress(OSError), self._path.open("ab") as file:
            room = _LOG_BYTES - file.tell()
            if room > 0:
                file.write(chunk[:room])

    def new_epoch(self) -> None:
        """Clear the ring: the tail belongs to one process."""
        self._ring.clear()

    def tail(self) -> str:
        """Return the last lines, for an error message."""
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
        """Start the process. Raises DriverUnusable when it cannot be started."""
        log.new_epoch()
        orphans.adopt()
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
                start_new_session=True,  # its own group, so that a kill reaches its children too
                env=foreign_environment() if environment is None else {**os.environ, **environment},
            )
        except FileNotFoundError:
            why = not_startable(command[0])  # None: the file exists, but the interpreter in its first line does not
            raise DriverUnusable(why or f"the interpreter of the driver {command[0]} does not exist") from None
        except PermissionError:
            why = not_startable(command[0])
            raise DriverUnusable(why or f"the driver {command[0]} may not be executed") from None
        except (OSError, ValueError) as wrong:
            raise DriverUnusable(f"the driver {command[0]} could not be started: {wrong}") from None
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None and stdout is not None and stderr is not None
        self._streams = (stdin, stdout, stderr)
        self._end_fd = _end_of(self._process.pid)
        self._channel = lines.LineChannel(
            stdout.fileno(),
            stdin.fileno(),
            max_line_bytes=max_line_bytes,
            side_fd=stderr.fileno(),
            on_side=log,
            end_fd=self._end_fd,
        )
        _living.add(self)

    @property
    def taken(self) -> int:
        return self._channel.taken

    def send(self, number: int, method: str, params: dict[str, Any], until: float) -> None:
        self._channel.write(texts.request_line(number, method, params), until)

    def receive(self, until: float) -> Any:
        line = self._channel.read(until)
        return None if line is None else texts.message(line)

    def kill(self) -> None:
        if self._gone:
            return
        self._gone = True
        self._wait(0)  # Get the status of a process that ended by itself, without reaping it.
        # Kill the group before the leader is reaped: until then its number cannot be reused.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        orphans.end_session(self._process.pid)
        status = self._process.wait()
        self._returncode = status
        self._channel.drain_side(0.2)
        for stream in self._streams:
            with contextlib.suppress(OSError):
                stream.close()
        if self._end_fd is not None:
            os.close(self._end_fd)
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
            # It closed its output: let it end by itself for a moment, so that its own exit status is reported.
            self._wait(1.0)
            self.kill()
        return self._returncode, self._log.tail()

    def _wait(self, within: float) -> bool:
        """Wait for the end of the process without reaping it (see `kill`). Returns False if it did not end in time."""
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


def kill_the_living() -> None:
    """Kill every driver of this process at once, without waiting."""
    for link in list(_living):
        with contextlib.suppress(OSError):
            os.killpg(link._process.pid, signal.SIGKILL)


def outliving() -> str | None:
    """Return one sentence that lists the processes that drivers left running, each process once.

    None if there are none, or on a system where this is unknown.
    """
    left = [each for each in orphans.strays({link._process.pid for link in _living}) if each.pid not in _named]
    _named.update(each.pid for each in left)
    return orphans.told(left) if left else None


def _end_of(pid: int) -> int | None:
    """Return a descriptor that is readable once the process has ended; None if the system has none."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


@atexit.register
def _kill_the_living() -> None:
    for link in list(_living):
        link.kill()
    left = outliving()
    if left is not None:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            print(f"mqconform: {left}", file=sys.stderr, flush=True)
