"""A server between the clients of S3 and that of `s3_server`, which does to their requests what stores do."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

BUSY = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
_HOP = {"connection", "transfer-encoding", "content-length", "server", "date"}


class BadStore(ThreadingHTTPServer):
    """Passes requests on. happened: how often it has happened.

    throttles: every third request is refused. ends-answers: every third answer with a body ends in its middle.
    loses-answers: every third object that is written gets no answer. lists-late: the last object is in no list.
    """

    daemon_threads = True

    def __init__(self, defect: str, behind: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.defect, self.behind = defect, urlsplit(behind).netloc
        self.asked = self.happened = 0
        self.last = ""
        self.lock = threading.Lock()

    def third(self) -> bool:
        """Count a request to which the defect may happen, and tell whether it does."""
        with self.lock:
            self.asked += 1
            found = self.asked % 3 == 0
            self.happened += found
            return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: BadStore

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        bad = self.server
        if bad.defect == "throttles" and bad.third():
            self._answer(503, {"Content-Type": "application/xml"}, BUSY)
            return
        behind = HTTPConnection(bad.behind, timeout=60)
        try:
            behind.request(self.command, self.path, body, dict(self.headers))
            found = behind.getresponse()
            data, headers = found.read(), dict(found.getheaders())
        finally:
            behind.close()
        if self.command == "PUT" and found.status == 200:
            bad.last = unquote(urlsplit(self.path).path).lstrip("/").partition("/")[2]
            if bad.defect == "loses-answers" and bad.third():
                self.close_connection = True
                return
        if bad.defect == "lists-late" and "list-type=2" in self.path:
            data = re.sub(rb"<Contents>.*?</Contents>", self._unless_last, data, flags=re.DOTALL)
        middle = bad.defect == "ends-answers" and self.command == "GET" and len(data) > 1 and bad.third()
        self._answer(found.status, headers, data, len(data) // 2 if middle else None)

    def _unless_last(self, found: re.Match[bytes]) -> bytes:
        last = bool(self.server.last) and f"<Key>{self.server.last}</Key>".encode() in found[0]
        self.server.happened += last
        return b"" if last else found[0]

    def _answer(self, status: int, headers: Mapping[str, str], data: bytes, stop: int | None = None) -> None:
        length = headers.get("Content-Length", "0") if self.command == "HEAD" else str(len(data))
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in _HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", length)
        with suppress(ConnectionError):  # the client has enough
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data[:stop])
        if stop is not None:
            self.close_connection = True

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _pass  # the names of the base class

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def between(server: Mapping[str, str], defect: str) -> Iterator[tuple[BadStore, Mapping[str, str]]]:
    """Run one; gives it, and the environment of its clients."""
    with BadStore(defect, server["AWS_ENDPOINT_URL"]) as bad:
        thread = threading.Thread(target=bad.serve_forever, daemon=True)
        thread.start()
        try:
            yield bad, {**server, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{bad.server_address[1]}"}
        finally:
            bad.shutdown()
            thread.join()
