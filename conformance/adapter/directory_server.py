"""The harness's directory as a server on the loopback address, for a manager that is told of it by `directory.use`.

One request a line, JSON-RPC 2.0. Each is kept with what it was answered, until somebody takes the list.
"""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, cast

from conformance.adapter import protocol
from conformance.adapter.directory_store import NOT_CONNECTED, Store
from conformance.adapter.protocol import SchemaInvalid, Validate, compiled
from conformance.verdict import Json

MODES: Final = ("answers", "closed", "silent", "drops", "mute")
"""answers: as the objects are. closed: no connection is taken. silent: no answer comes. drops: it hangs up instead.

mute: what is asked is done, and no answer comes.
"""
MOST_BYTES: Final = 1 << 22
MOST_REQUESTS: Final = 100_000
_MOST_CONNECTIONS: Final = 64
_PARSE, _INVALID, _UNKNOWN, _PARAMS = -32700, -32600, -32601, -32602


@cache
def _params(method: str) -> Validate:
    return compiled(protocol.inlined(protocol.document("directory_side")["methods"][method]["params"]))


class _Handler(socketserver.StreamRequestHandler):
    """One connection of the manager."""

    def handle(self) -> None:
        desk = cast("_Listener", self.server).desk
        while desk.mode != "closed":
            line = self.rfile.readline(MOST_BYTES + 1)
            if not line.endswith(b"\n"):
                return
            answer = desk.answer(line)
            if answer is None:
                return
            if answer:
                self.wfile.write(answer)


class _Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = _MOST_CONNECTIONS

    def __init__(self, desk: DirectoryServer, port: int) -> None:
        self.desk = desk
        self.connections: set[Any] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        if len(self.connections) >= _MOST_CONNECTIONS:
            self.shutdown_request(request)
            return
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a manager that hangs up is no event of the harness."""


class DirectoryServer:
    """The directory. mode: one of MODES."""

    def __init__(self) -> None:
        """Begin empty; `listen` opens it."""
        self.store = Store()
        self.mode = "answers"
        self._asked: list[dict[str, Json]] = []
        self._lies: list[dict[str, Json]] = []
        self._turn: tuple[int, str] | None = None
        self._lock = threading.Lock()
        self._listener: _Listener | None = None
        self._port = 0

    def listen(self) -> str:
        """Take connections. Returns HOST:PORT, the same each time."""
        if self._listener is None:
            self._listener = _Listener(self, self._port)
            self._port = self._listener.server_address[1]
            threading.Thread(target=self._listener.serve_forever, args=(0.02,), daemon=True).start()
        return f"127.0.0.1:{self._port}"

    def close(self) -> None:
        """Take no connection any more, and end those that there are."""
        if self._listener is not None:
            self._listener.shutdown()
            self._listener.server_close()
            for each in tuple(self._listener.connections):
                self._listener.shutdown_request(each)
            self._listener = None

    def desk(self, do: str, **params: Json) -> Json:
        """Do what a history asks of the directory.

        open: empty it, and fill it with `objects`; returns `address`. put: enter an object of `kind`. drop: delete it.
        turn: change the mode, after the next `after` requests if that is given.
        lie: answer the next `times` requests of `method` about `kind` with `answer`.
        asked: take the requests since the last time. objects: all of `kind`. Raises ValueError for anything else.
        """
        with self._lock:
            if do == "open":
                self.store, self.mode, self._lies, self._asked, self._turn = Store(), "answers", [], [], None
                self._fill(params.get("objects", ()))
            elif do == "put":
                return {"identifier": self.store.put(params["kind"], params["object"])}
            elif do == "drop":
                return self.store.answer("delete", {"class": params["kind"], "identifier": params["identifier"]})
            elif do == "lie":
                self._lies.append({"times": 1, **params})
                return {}
            elif do == "asked":
                asked, self._asked = self._asked, []
                return {"requests": asked}
            elif do == "objects":
                return {"objects": list(self.store.all(params["kind"]))}
            elif do == "turn" and params["mode"] in MODES:
                self._turn = (params["after"], params["mode"]) if "after" in params else None
                self.mode = params["mode"] if self._turn is None else self.mode
            else:
                raise ValueError(f"the directory cannot {do}")
        if self.mode == "closed":
            self.close()
            return {}
        return {"address": self.listen()}

    def _fill(self, objects: Json) -> None:
        for each in objects:
            self.store.put(each["class"], {name: value for name, value in each.items() if name != "class"})

    def answer(self, line: bytes) -> bytes | None:
        """Answer one request. Returns an empty line for silence, None to hang up."""
        try:
            request = json.loads(line)
            number, method, params = request["id"], request["method"], request.get("params", {})
            _params(method)(params)
        except SchemaInvalid as wrong:
            return _error(number, _PARAMS, str(wrong))
        except (ValueError, RecursionError):
            return _error(None, _PARSE, "this is no JSON")
        except (TypeError, AttributeError):
            return _error(None, _INVALID, "this is no request")
        except KeyError:
            return _error(None, _UNKNOWN, "the directory has no such method, or the request has no id")
        with self._lock:
            return self._answered(number, method, params)

    def _answered(self, number: Json, method: str, params: Mapping[str, Json]) -> bytes | None:
        told: dict[str, Json] = {"method": method, "params": dict(params)}
        if len(self._asked) < MOST_REQUESTS:
            self._asked.append(told)
        if self._turn is not None:
            left, mode = self._turn
            self.mode, self._turn = (mode, None) if left == 0 else (self.mode, (left - 1, mode))
        if self.mode not in ("answers", "mute"):
            told["answer"] = {"result": NOT_CONNECTED}
            return b"" if self.mode == "silent" else None
        lie = next((each for each in self._lies if _fits(each, method, params)), None)
        if lie is None:
            told["answer"] = self.store.answer(method, params)
        else:
            lie["times"] -= 1
            told["answer"] = lie["answer"]
        if self.mode == "mute":
            return b""
        return json.dumps({"jsonrpc": "2.0", "id": number, "result": told["answer"]}).encode() + b"\n"


def _fits(lie: Mapping[str, Json], method: str, params: Mapping[str, Json]) -> bool:
    return lie["times"] > 0 and lie["method"] == method and lie.get("kind") in (None, params.get("class"))


def _error(number: Json, code: int, words: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": words}}).encode() + b"\n"
