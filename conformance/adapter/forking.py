"""Drivers of our own forked from a process that has imported all it needs: a restart takes a tenth of its time."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from subprocess import DEVNULL

_WITHIN_S = 30.0  # the first fork waits for the imports


class Forked:
    """A driver's process, with as much of `subprocess.Popen` as a link needs. It is a child of this process."""

    def __init__(self, pid: int, stdin: int, stdout: int, stderr: int) -> None:
        """stdin, stdout, stderr: our ends of its pipes."""
        self.pid = pid
        self.stdin = os.fdopen(stdin, "wb", 0)
        self.stdout, self.stderr = os.fdopen(stdout, "rb", 0), os.fdopen(stderr, "rb", 0)

    def wait(self) -> int:
        """Wait for its end. Returns the exit status, negative for a signal."""
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Parent:
    """Forks the processes of one command. The command must know `--fork`, as `conformance.embedded` does.

    The first process is not forked: a command that is started once, or refused, needs no parent. This process must be
    a subreaper (`process.adopt`), which makes the forked processes its children.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command, self._environment = list(command), environment
        self._first, self._able = True, sys.platform.startswith("linux")
        self._socket: socket.socket | None = None
        self._finish: weakref.finalize[[socket.socket, subprocess.Popen[bytes]], Parent] | None = None

    def start(self) -> Forked | None:
        """Fork a process, in a session of its own. None where the caller has to start it."""
        if self._first or not self._able:
            self._first = False
            return None
        pipes = [os.pipe(), os.pipe(), os.pipe()]
        (its_input, stdin), (stdout, its_output), (stderr, its_errors) = pipes
        try:
            pid = self._asked(its_input, its_output, its_errors)
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)  # it is a child of this process
            return Forked(pid, stdin, stdout, stderr)
        except (OSError, ValueError):
            self._able = False
            if self._finish is not None:
                self._finish()
            for end in (stdin, stdout, stderr):
                os.close(end)
            return None
        finally:
            for end in (its_input, its_output, its_errors):
                os.close(end)

    def _asked(self, *ends: int) -> int:
        """Have a process forked with these descriptors, and return its number. Raises OSError or ValueError."""
        if self._socket is None:
            self._socket, other = socket.socketpair()
            self._socket.settimeout(_WITHIN_S)
            with other:
                command = [*self._command, "--fork", str(other.fileno())]
                parent = subprocess.Popen(
                    command,
                    stdin=DEVNULL,
                    stdout=DEVNULL,
                    stderr=DEVNULL,
                    pass_fds=[other.fileno()],
                    env={**os.environ, **self._environment},
                )
            self._finish = weakref.finalize(self, _end, self._socket, parent)
        socket.send_fds(self._socket, [b"\0"], ends)
        return int(self._socket.recv(20))


def _end(ours: socket.socket, parent: subprocess.Popen[bytes]) -> None:
    """Let the parent end, which the end of its socket tells it to."""
    ours.close()
    try:
        parent.wait(1.0)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(OSError):
            parent.kill()
        parent.wait()
