"""Host process of a driver class: `python -m conformance.adapter.host pkg.mod:Class` speaks the protocol on stdio.

Output that the class prints goes to stderr, so that it cannot break the protocol. An exception of the class ends the
process with a traceback on stderr, which the supervisor reports as a crash.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from conformance.adapter.errors import ConnectorError
from conformance.adapter.in_process import Driver, counted, load_class, tell_events

_PARSE_ERROR, _INVALID_REQUEST, _METHOD_NOT_FOUND, _INVALID_PARAMS = -32700, -32600, -32601, -32602  # JSON-RPC 2.0, 5.1

_encode = json.JSONEncoder(separators=(",", ":")).encode


class Host:
    """Passes requests to the driver and writes its replies. The driver is made at `hello`, which names its folder."""

    def __init__(self, make: Callable[..., Driver], write: Callable[[bytes], None]) -> None:
        self._make = make
        self._write = write
        self._driver: Driver | None = None
        self._offered: set[str] = {"hello"}
        self._first = 0
        self.stopped = False

    def _event(self, event: dict[str, Any]) -> None:
        self._write(f'{{"jsonrpc":"2.0","method":"event","params":{_encode(event)}}}\n'.encode())

    def line(self, line: bytes) -> None:
        """Process one line of input."""
        try:
            request = json.loads(line)
        except ValueError:
            self._error(None, _PARSE_ERROR, "not JSON")
            return
        if (
            not isinstance(request, dict)
            or type(request.get("id")) is not int
            or not isinstance(request.get("method"), str)
        ):
            self._error(None, _INVALID_REQUEST, "not a request")
            return
        number, method, params = request["id"], request["method"], request.get("params", {})
        if method not in self._offered:
            self._first += bool(self._first)  # The driver does not count calls that it does not get.
            self._error(number, _METHOD_NOT_FOUND, f"no method {method}")
            return
        if not isinstance(params, dict):
            self._error(number, _INVALID_PARAMS, "params is not an object")
            return
        if method == "hello":
            if not isinstance(params.get("state_dir"), str):
                self._error(number, _INVALID_PARAMS, "hello names no state_dir")
                return
            if self._driver is None:
                self._driver = self._make(Path(params["state_dir"]))
                tell_events(self._driver, self._event)
        driver = self._driver
        if driver is None:
            self._error(number, _INVALID_REQUEST, "hello comes first")
            return

        def reply(result: dict[str, Any]) -> None:
            if method == "hello":
                self._learn(result)
            elif method == "stop":
                self.stopped = True
            self._write(f'{{"jsonrpc":"2.0","id":{number},"result":{_encode(result)}}}\n'.encode())

        def pending() -> None:
            self._write(f'{{"jsonrpc":"2.0","method":"pending","params":{{"id":{number}}}}}\n'.encode())

        self._first = self._first or number
        driver.handle(method, counted(method, params, self._first), reply, pending)

    def _learn(self, hello: dict[str, Any]) -> None:
        facets = hello.get("facets")
        if isinstance(facets, dict):
            for facet, names in facets.items():
                self._offered.update(name if facet == "manager" else f"{facet}.{name}" for name in names)

    def _error(self, number: int | None, code: int, text: str) -> None:
        self._write(
            _encode({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}).encode() + b"\n"
        )


def serve(make: Callable[..., Driver], source: IO[bytes], write: Callable[[bytes], None]) -> None:
    """Serve requests until `stop` is answered or the input ends."""
    host = Host(make, write)
    while not host.stopped:
        line = source.readline()
        if not line.endswith(b"\n"):
            return  # The end of input, or half a line of a harness that died: nobody waits for an answer.
        host.line(line)


def main(arguments: list[str]) -> int:
    """Host the class. Exit status 2, with one sentence on stderr, if it cannot be loaded."""
    if len(arguments) != 1:
        print("usage: python -m conformance.adapter.host pkg.mod:Class", file=sys.stderr)
        return 2
    protocol_out = os.dup(1)
    os.dup2(2, 1)  # Output of the class goes to the log.
    try:
        make = load_class(arguments[0])
    except ConnectorError as wrong:
        print(wrong.sentence, file=sys.stderr)
        return 2

    def write(data: bytes) -> None:
        while data:
            data = data[os.write(protocol_out, data) :]

    try:
        serve(make, sys.stdin.buffer, write)
    except BrokenPipeError:
        return 0  # the harness is gone
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
