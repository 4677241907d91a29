"""Lines of JSON over a pair of file descriptors: requests as text, and answers as values of bounded size."""

from __future__ import annotations

import json
import os
import re
import select
import time
from collections.abc import Callable
from typing import Any, Protocol

from conformance.adapter.near_misses import about_line

MAX_VALUES = 200_000
"""Values in one line, names of members not counted; the largest valid answers have some thousand."""
MAX_DEPTH = 64
MAX_WIDE = 1 << 20
"""Characters of a text that is not all ASCII, each of which may take four bytes; valid ones are short."""
MAX_DIGITS = 308  # digits of an integer; one with more cannot be converted to a float
_SHOWN = 80  # characters quoted of a bad line

# A string, ended or not, or a character that begins a value. Possessive: no stack and no backtracking for escapes.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[][{},]', re.DOTALL)

_COMMA = ord(",")

_encode = json.JSONEncoder(separators=(",", ":")).encode


class BadLine(Exception):
    """The other end wrote something other than a line of JSON within the bounds; the text says what."""


def request_line(number: int, method: str, params: dict[str, Any]) -> bytes:
    """Return a JSON-RPC 2.0 request as one line."""
    return f'{{"jsonrpc":"2.0","id":{number},"method":{_encode(method)},"params":{_encode(params)}}}\n'.encode("ascii")


def message(line: bytes) -> Any:
    """Parse the JSON value of a line. Raises BadLine."""
    _refuse_bomb(line)
    try:
        value = _decode(str(line, "utf-8"))
        if len(line) > MAX_WIDE:
            _refuse_wide(value)
        return value
    except UnicodeDecodeError:
        raise BadLine(f"wrote a line that is not UTF-8: {quoted(line)}{about_line(line)}") from None
    except RecursionError:
        raise BadLine(f"wrote JSON nested too deeply: {quoted(line)}") from None
    except json.JSONDecodeError:
        raise BadLine(f"wrote a line that is not JSON: {quoted(line)}{about_line(line)}") from None
    except ValueError as wrong:
        raise BadLine(f"wrote JSON {wrong}: {quoted(line)}") from None


def quoted(data: bytes) -> str:
    """Return the start of some bytes as text that is safe to print on one line."""
    shown = ascii(data[:_SHOWN].decode("utf-8", "replace"))
    return shown + (f" (and {len(data) - _SHOWN} bytes more)" if len(data) > _SHOWN else "")


def _refuse_bomb(line: bytes) -> None:
    """Raise BadLine for too many values or levels. Strings are told from structure only if a quick count is high."""
    opened = line.count(b"[") + line.count(b"{")
    if opened <= MAX_DEPTH and opened + line.count(b",") <= MAX_VALUES:
        return
    values = depth = 0
    for sign in _TOKEN.finditer(line):
        which = line[sign.start()]
        if which in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise BadLine(f"wrote JSON nested too deeply (more than {MAX_DEPTH} levels): {quoted(line)}")
        elif which in b"]}":
            depth -= 1
            continue
        elif which != _COMMA:
            continue
        values += 1
        if values > MAX_VALUES:
            raise BadLine(f"wrote a line of JSON with more than {MAX_VALUES} values: {quoted(line)}")


def _refuse_wide(value: Any) -> None:
    if isinstance(value, str) and not value.isascii() and len(value) > MAX_WIDE:
        raise ValueError(f"with a text of more than {MAX_WIDE} characters, not all of them ASCII")
    if isinstance(value, list):
        for item in value:
            _refuse_wide(item)
    elif isinstance(value, dict):
        for name, member in value.items():
            _refuse_wide(name)
            _refuse_wide(member)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"with {name}, which JSON does not have")


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"with an integer of more than {MAX_DIGITS} digits")
    return int(digits)


def _real(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"with the number {text[:20]}, which is too large")
    return number


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"with an object that has the member {twice[:40]!a} twice")
    return members


_decode = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_int=_integer, parse_float=_real, object_pairs_hook=_members
).decode

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
