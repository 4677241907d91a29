"""The harness's directory as a server on the loopback address, for a manager that is told of it by `directory.use`.

One request a line, JSON-RPC 2.0, or LDAP. Each is kept with what it was answered, until somebody takes the list.
"""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Any, Final, cast

from conformance.adapter import ldap_names, protocol
from conformance.adapter.directory_store import NOT_CONNECTED, Away, Store, attributes_of, completed
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

    def __init__(self, desk: DirectoryServer, port: int, handler: type[socketserver.BaseRequestHandler]) -> None:
        self.desk = desk
        self.connections: set[Any] = set()
        super().__init__(("127.0.0.1", port), handler)

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


Handlers = Mapping[str, Callable[[], type[socketserver.BaseRequestHandler]]]
"""By protocol other than JSON-RPC: loads what answers one connection."""


class DirectoryServer:
    """The directory. mode: one of MODES."""

    def __init__(self, handlers: Handlers = MappingProxyType({})) -> None:
        """Begin empty; `listen` opens it."""
        self._handlers: Handlers = {"json-rpc": lambda: _Handler, **handlers}
        self.store = Store()
        self.mode = "answers"
        self._asked: list[dict[str, Json]] = []
        self._lies: list[dict[str, Json]] = []
        self._turn: tuple[int, str] | None = None
        self.lock = threading.Lock()
        self.protocol = "json-rpc"
        self._listener: _Listener | None = None
        self._ports: dict[str, int] = {}

    def listen(self) -> str:
        """Take connections. Returns HOST:PORT or ldap://HOST:PORT, the same each time."""
        if self._listener is None:
            self._listener = _Listener(self, self._ports.get(self.protocol, 0), self._handlers[self.protocol]())
            self._ports[self.protocol] = self._listener.server_address[1]
            threading.Thread(target=self._listener.serve_forever, args=(0.02,), daemon=True).start()
        return f"{'ldap://' * (self.protocol == 'ldap')}127.0.0.1:{self._ports[self.protocol]}"

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

        open: empty it, and fill it with `objects`; returns `address`. protocol: `json-rpc`, the default, or `ldap`.
        put: enter an object of `kind`. drop: delete it. turn: change the mode, after the next `after` requests if that
        is given. lie: answer the next `times` requests of `method` about `kind` with `answer`. asked: take the requests
        since the last time. objects: all of `kind`. Raises ValueError for anything else.
        What LDAP cannot tell is `refused`, with the reason, by put and lie.
        """
        if params.get("protocol", "json-rpc") not in self._handlers:
            raise ValueError(f"the directory does not speak {params['protocol']} here")
        if do == "open" and params.get("protocol", "json-rpc") != self.protocol:
            self.close()
            self.protocol = params.get("protocol", "json-rpc")
        ldap = self.protocol == "ldap"
        with self.lock:
            if do == "open":
                self.store = Store(ldap_names.completed if ldap else completed)
                self.mode, self._lies, self._asked, self._turn = "answers", [], [], None
                self._fill(params.get("objects", ()))
            elif do == "put":
                reason = ldap_names.refusal(self.store, params["kind"], params["object"]) if ldap else None
                return (
                    {"identifier": self.store.put(params["kind"], params["object"])}
                    if not reason
                    else {"refused": reason}
                )
            elif do == "drop":
                return self.store.answer("delete", {"class": params["kind"], "identifier": params["identifier"]})
            elif do == "lie":
                if ldap and not ldap_names.tells(params["method"], params.get("kind"), params["answer"]):
                    return {"refused": "LDAP has no form for this answer"}
                self._lies.append({"times": 1, **params})
                return {}
            elif do == "asked":
                asked, self._asked = self._asked, []
                return {"requests": asked}
            elif do == "objects":
                known = attributes_of(params["kind"])
                return {
                    "objects": [
                        {name: value for name, value in each.items() if name in known}
                        for each in self.store.all(params["kind"])
                    ]
                }
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
        try:
            with self.lock:
                told = self.serve(method, params, partial(self.store.answer, method, params))
        except Away as away:
            return None if away.hangs_up else b""
        return json.dumps({"jsonrpc": "2.0", "id": number, "result": told["answer"]}).encode() + b"\n"

    def serve(
        self, method: str, params: Mapping[str, Json], act: Callable[[], Json], **more: Json
    ) -> Mapping[str, Json]:
        """Note a request, with the lock held, and do it as the mode says. act: does it, and returns the answer.

        Returns the note: `method`, `params`, `answer`, true as `lie` if nothing was done, and `more`. Raises Away.
        """
        told: dict[str, Json] = {"method": method, "params": dict(params), **more}
        if len(self._asked) < MOST_REQUESTS:
            self._asked.append(told)
        if self._turn is not None:
            left, mode = self._turn
            self.mode, self._turn = (mode, None) if left == 0 else (self.mode, (left - 1, mode))
        if self.mode not in ("answers", "mute"):
            told["answer"] = {"result": NOT_CONNECTED}
            raise Away(hangs_up=self.mode != "silent")
        lie = next((each for each in self._lies if _fits(each, method, params)), None)
        if lie is None:
            told["answer"] = act()
        else:
            lie["times"] -= 1
            told |= {"answer": lie["answer"], "lie": True}
        self.awake()
        return told

    def awake(self) -> None:
        """Raise Away if the mode lets nothing be answered now."""
        if self.mode != "answers":
            raise Away(hangs_up=self.mode == "drops")


def _fits(lie: Mapping[str, Json], method: str, params: Mapping[str, Json]) -> bool:
    return lie["times"] > 0 and lie["method"] == method and lie.get("kind") in (None, params.get("class"))


def _error(number: Json, code: int, words: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": words}}).encode() + b"\n"
