"""Lines of JSON over a pair of file descriptors, read and written by the thread that calls.

There is no reader thread: what the harness has not asked for stays in the operating system's pipe, which bounds a flood
by itself, and a call costs no hand-over between threads. stderr is drained whenever we wait for anything, so that a
talkative driver never blocks on it while it is being waited for.
"""

from __future__ import annotations

import json
import os
import select
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

_CHUNK = 1 << 16  # the size of a Linux pipe: one read takes all there is
_LONGEST_POLL_S = 3600.0  # poll counts milliseconds in 31 bits
_SHOWN = 80  # characters of a bad line that are quoted

_encode = json.JSONEncoder(separators=(",", ":")).encode


class LinkClosed(Exception):
    """The other end is gone. partial: what it wrote after its last whole line."""

    def __init__(self, partial: bytes = b"") -> None:
        super().__init__()
        self.partial = partial


class LinkStalled(Exception):
    """The other end did not read our request in time."""


class BadLine(Exception):
    """The other end wrote something that is not a line of JSON within the bound; the text says what."""


class Link(Protocol):
    """One epoch's line to a driver. Times are `time.monotonic()` seconds."""

    keeps_state: bool  # whether a relaunch finds the durable state again
    stops: bool  # whether the process is ours to end

    def send(self, number: int, method: str, params: dict[str, Any], until: float) -> None:
        """Send a request. Raises LinkClosed or LinkStalled."""

    def receive(self, until: float) -> Any:
        """The next message, or None when `until` has passed. Raises LinkClosed or BadLine."""

    def kill(self) -> None:
        """End it now, with everything it started. Never raises; may be called twice."""

    def finish(self, within: float) -> bool:
        """Close our end and wait up to `within` seconds for the other to go; kill what is left. True if it went."""

    def last_words(self) -> tuple[int | None, str]:
        """After the end: exit status where there is one, and the tail of stderr."""


class LineChannel:
    """The line discipline shared by processes and sockets."""

    def __init__(
        self,
        read_fd: int,
        write_fd: int,
        *,
        max_line_bytes: int,
        side_fd: int | None = None,
        on_side: Callable[[bytes], None] | None = None,
    ) -> None:
        """side_fd: a second stream (stderr) whose bytes go to `on_side` while we wait."""
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._side_fd = side_fd
        self._on_side = on_side
        self._limit = max_line_bytes
        self._lines: deque[bytes] = deque()
        self._partial = bytearray()
        self._ended = False
        for descriptor in {read_fd, write_fd, side_fd} - {None}:
            os.set_blocking(descriptor, False)  # type: ignore[arg-type]
        self._poll = select.poll()
        self._poll.register(read_fd, select.POLLIN)
        if side_fd is not None:
            self._poll.register(side_fd, select.POLLIN)

    def write(self, data: bytes, until: float) -> None:
        """All of `data`, reading what comes meanwhile: two ends that both only write would wait for ever."""
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
            # Small naps rather than one poll for both directions: large requests are rare, and this stays simple.
            if not poll.poll(min(left * 1000, 5)):
                self._drain()
                continue
            try:
                view = view[os.write(self._write_fd, view[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError:
                raise LinkClosed from None

    def read(self, until: float) -> bytes | None:
        """The next line without its end, or None when `until` has passed. Raises LinkClosed or BadLine."""
        while not self._lines:
            if self._ended:
                raise LinkClosed(bytes(self._partial))
            left = until - time.monotonic()
            self._take(self._poll.poll(min(left, _LONGEST_POLL_S) * 1000 if left > 0 else 0))
            if left <= 0 and not self._lines:
                return None
        return self._lines.popleft()

    def drain_side(self, within: float) -> None:
        """Read the second stream to its end, or until `within` seconds have passed: a dead driver's last words."""
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

    def _drain(self) -> None:
        # While we write, no more is kept than one line may hold: past that the driver has to wait for us.
        if len(self._partial) + sum(map(len, self._lines)) <= self._limit:
            self._take(self._poll.poll(0))

    def _take(self, ready: list[tuple[int, int]]) -> None:
        for descriptor, _ in ready:
            if descriptor == self._read_fd:
                self._take_main()
            else:
                self._take_side()

    def _take_main(self) -> None:
        try:
            chunk = os.read(self._read_fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._ended = True
            self._poll.unregister(self._read_fd)
            return
        head, *rest = chunk.split(b"\n")
        self._partial += head
        if len(self._partial) > self._limit:
            raise BadLine(f"wrote a line of more than {self._limit} bytes")
        if rest:
            self._lines.append(bytes(self._partial))
            self._lines.extend(rest[:-1])
            self._partial = bytearray(rest[-1])

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


def request_line(number: int, method: str, params: dict[str, Any]) -> bytes:
    """A JSON-RPC 2.0 request as one line."""
    return f'{{"jsonrpc":"2.0","id":{number},"method":{_encode(method)},"params":{_encode(params)}}}\n'.encode("ascii")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode


def message(line: bytes) -> Any:
    """The JSON value of a line. Raises BadLine."""
    try:
        return _decode(str(line, "utf-8"))
    except UnicodeDecodeError:
        raise BadLine(f"wrote a line that is not UTF-8: {quoted(line)}") from None
    except RecursionError:
        raise BadLine(f"wrote JSON nested too deeply: {quoted(line)}") from None
    except ValueError:
        raise BadLine(f"wrote a line that is not JSON: {quoted(line)}") from None


def quoted(data: bytes) -> str:
    """The start of some bytes, as text that is safe to print on one line."""
    shown = ascii(data[:_SHOWN].decode("utf-8", "replace"))
    return shown + (f" (and {len(data) - _SHOWN} bytes more)" if len(data) > _SHOWN else "")
