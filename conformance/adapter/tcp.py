"""A driver reached over TCP. Somebody else started it, so we connect and disconnect but never end it."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

from conformance.adapter import lines, texts
from conformance.adapter.errors import DriverUnusable

REFUSED = -32001
"""The JSON-RPC error with which a driver that listens refuses a connection: a wrong token, or too many."""

MIN_REDACTED = 8
"""Characters of the shortest token that is looked for in answers: a shorter one stands in many an innocent text."""
_REDACTED = "***"


class TcpLink:
    """A connection; see `lines.Link`. A new connection gets a new namespace, so it finds no earlier state."""

    keeps_state = False
    stops = False

    def __init__(self, host: str, port: int, *, max_line_bytes: int, within: float, token: str | None = None) -> None:
        """Connect within `within` seconds. token: what hello proves itself with. Raises DriverUnusable."""
        self._at, self._token, self._secret = f"{host}:{port}", token, (token or "").encode()
        try:
            self._socket = socket.create_connection((host, port), timeout=within)
        except OSError as wrong:
            reason = wrong.strerror or str(wrong)
            raise DriverUnusable(
                f"no driver answers at {host}:{port} ({reason}): start it, or correct the connector"
            ) from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        descriptor = self._socket.fileno()
        self._channel = lines.LineChannel(descriptor, descriptor, max_line_bytes=max_line_bytes)

    @property
    def taken(self) -> int:
        return self._channel.taken

    def send(self, number: int, method: str, params: dict[str, Any], until: float) -> None:
        # Added here, where it leaves: no record and no message of an error has seen it.
        if method == "hello" and self._token is not None:
            params = {**params, "token": self._token}
        self._channel.write(texts.request_line(number, method, params), until)

    def receive(self, until: float) -> Any:
        line = self._channel.read(until)
        if line is None:
            return None
        quoted = self._token is not None and len(self._token) >= MIN_REDACTED
        # Before the line is parsed, as a bad line is quoted; and behind it, as letters may be escaped.
        message = texts.message(line.replace(self._secret, _REDACTED.encode()) if quoted else line)
        if quoted and b"\\" in line:
            message = _without(self._token or "", message)
        error = message.get("error") if isinstance(message, dict) else None
        if isinstance(error, dict) and error.get("code") == REFUSED:
            raise DriverUnusable(f"the driver at {self._at} refuses: {str(error.get('message', ''))[:200]}")
        return message

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.close()

    def finish(self, within: float) -> bool:
        self.kill()
        return True

    def last_words(self) -> tuple[int | None, str]:
        self.kill()
        return None, ""


def _without(token: str, value: Any) -> Any:
    """Return a JSON value without the token: a driver that quotes it would put it into records, reports and logs."""
    if isinstance(value, str):
        return value.replace(token, _REDACTED)
    if isinstance(value, list):
        return [_without(token, one) for one in value]
    if isinstance(value, dict):
        return {_without(token, name): _without(token, one) for name, one in value.items()}
    return value
