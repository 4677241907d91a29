"""Lines of JSON over a pair of file descriptors, read and written by the calling thread.

There is no reader thread: data that the harness has not read stays in the operating system's pipe, which limits a flood
by itself, and a call needs no hand-over between threads. stderr is drained during every wait, so that a talkative
driver never blocks on it.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from typing import Any, Protocol

from conformance.adapter.texts import BadLine

_CHUNK = 1 << 16  # the size of a Linux pipe: one read empties it
_LONGEST_POLL_S = 3600.0  # poll counts milliseconds in 31 bits


class LinkClosed(Exception):
    """The other end has closed. partial: the bytes after its last whole line."""

    def __init__(self, partial: bytes = b"") -> None:
        super().__init__()
        self.partial = partial


class LinkStalled(Exception):
    """The other end did not read our request in time."""


class Link(Protocol):
    """The connection to a driver for one epoch. Times are `time.monotonic()` seconds."""

    keeps_state: bool  # True if a relaunch finds the durable state again
    stops: bool  # True if we own the process and end it

    @property
    def taken(self) -> int:
        """Bytes of all messages received so far; 0 if they are not counted."""

    def send(self, number: int, method: str, params: dict[str, Any], until: float) -> None:
        """Send a request. Raises LinkClosed or LinkStalled."""

    def receive(self, until: float) -> Any:
        """Return the next message, or None when `until` has passed. Raises LinkClosed or BadLine."""

    def kill(self) -> None:
        """End the driver now, with every process it started. Never raises; may be called twice."""

    def finish(self, within: float) -> bool:
        """Close our end, wait up to `within` seconds for the driver to end, then kill it. Returns True if it ended."""

    def last_words(self) -> tuple[int | None, str]:
        """Return, after the end, the exit status (None if there is none) and the tail of stderr."""


class LineChannel:
    """The line buffering shared by processes and sockets. Data that was not read yet is kept as bytes."""

    def __init__(
        self,
        read_fd: int,
        write_fd: int,
        *,
        max_line_bytes: int,
        side_fd: int | None = None,
        on_side: Callable[[bytes], None] | None = None,
        end_fd: int | None = None,
    ) -> None:
        """side_fd: a second stream (stderr) whose bytes go to `on_side` during waits.

        end_fd: readable once the other end has died. A child of it may still hold its output open.
        """
        self.taken = 0
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._side_fd = side_fd
        self._on_side = on_side
        self._end_fd = end_fd
        self._limit = max_line_bytes
        self._buffer = bytearray()
        self._searched = 0  # leading bytes of the buffer without a line feed
        self._dead = False
        self._ended = False
        for descriptor in {read_fd, write_fd, side_fd} - {None}:
            os.set_blocking(descriptor, False)  # type: ignore[arg-type]
        self._poll = select.poll()
        for descriptor in (read_fd, side_fd, end_fd):
            if descriptor is not None:
                self._poll.register(descriptor, select.POLLIN)

    def write(self, data: bytes, until: float) -> None:
        """Write all of `data` and read meanwhile: two ends that both only write would wait forever."""
        try:
            sent = os.write(self._write_fd, data)
        except BlockingIOError:
            sent = 0
        except OSError:
            raise LinkClosed from None
        if sent == len(data):
            return
        view = memoryview(data)[sent:]
        poll = select.poll()
        poll.register(self._write_fd, select.POLLOUT)
        while view:
            left = until - time.monotonic()
            if left <= 0:
                raise LinkStalled
            # Short waits instead of one poll for both directions: large requests are rare, and this is simple.
            if not poll.poll(min(left * 1000, 5)):
                # The buffer holds at most one line of the largest size; beyond that the driver has to wait.
                if len(self._buffer) <= self._limit:
                    self._take(self._poll.poll(0))
                if self._dead:
                    raise LinkClosed
                continue
            try:
                view = view[os.write(self._write_fd, view[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError:
                raise LinkClosed from None

    def read(self, until: float) -> bytes | None:
        """Return the next line without its end, or None when `until` has passed. Raises LinkClosed or BadLine."""
        while (line := self._line()) is None:
            if self._ended:
                raise LinkClosed(bytes(self._buffer[:_CHUNK]))
            left = until - time.monotonic()
            waits = left > 0 and not self._dead
            self._take(self._poll.poll(min(left, _LONGEST_POLL_S) * 1000 if waits else 0))
            if left <= 0:
                return self._line()
        return line

    def drain_side(self, within: float) -> None:
        """Read the last output of a dead driver's second stream: to its end, or for `within` seconds."""
        until = time.monotonic() + within
        if self._side_fd is None:
            return
        poll = select.poll()
        poll.register(self._side_fd, select.POLLIN)
        while self._side_fd is not None:
            left = until - time.monotonic()
            if not poll.poll(max(left, 0) * 1000):
                return
            self._take_side()
            if left <= 0:
                return

    def _line(self) -> bytes | None:
        """Remove the next whole line from the buffer; None if there is none."""
        end = self._buffer.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._buffer)
            if self._searched > self._limit:
                raise BadLine(f"wrote a line of more than {self._limit} bytes")
            return None
        if end > self._limit:
            raise BadLine(f"wrote a line of more than {self._limit} bytes")
        with memoryview(self._buffer) as whole:
            line = bytes(whole[:end])
        del self._buffer[: end + 1]
        self._searched = 0
        self.taken += end + 1
        return line

    def _take(self, ready: list[tuple[int, int]]) -> None:
        silent = self._dead
        for descriptor, _ in ready:
            if descriptor == self._read_fd:
                silent = False
                self._take_main()
            elif descriptor == self._side_fd:
                self._take_side()
            else:
                self._poll.unregister(descriptor)
                self._dead = True
        if silent:  # Everything that the dead driver wrote has been read; more could only come from its child.
            self._ended = True

    def _take_main(self) -> None:
        try:
            chunk = os.read(self._read_fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if chunk:
            self._buffer += chunk
        else:
            self._ended = True
            self._poll.unregister(self._read_fd)

    def _take_side(self) -> None:
        if self._side_fd is None:
            return
        try:
            chunk = os.read(self._side_fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._poll.unregister(self._side_fd)
            self._side_fd = None
        elif self._on_side is not None:
            self._on_side(chunk)
