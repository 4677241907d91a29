"""A program that speaks with a session as `libmqrt.so` does, in a few lines, and what programs usually do."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

from conformance.live.mqrt import Session, Told, Wanted


class Program:
    """A connection to a session. Each call waits for its answer, unless `start` began it."""

    def __init__(self, address: str, *, greets: bool = True) -> None:
        host, _, port = address.rpartition(":")
        if "/" in address:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(address)
        else:
            self.socket = socket.create_connection((host, int(port)))
        self.socket.settimeout(30)
        self._lines = self.socket.makefile("rb")
        self._number = 0
        self._early: dict[Any, Any] = {}
        if greets:
            self.hello = self.call("hello", versions=["1.4"], harness="program", state_dir="")

    def start(self, method: str, **params: Any) -> int:
        self._number += 1
        line = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.socket.sendall(json.dumps(line).encode() + b"\n")
        return self._number

    def told(self) -> dict[str, Any]:
        line = self._lines.readline()
        if not line:
            raise EOFError
        found: dict[str, Any] = json.loads(line)
        return found

    def answer(self, number: int) -> dict[str, Any]:
        while number not in self._early:
            told = self.told()
            if "id" in told:
                self._early[told["id"]] = told.get("result", told.get("error"))
        found: dict[str, Any] = self._early.pop(number)
        return found

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self.answer(self.start(method, **params))

    def queue(self, name: str, **properties: int) -> str:
        made = self.call("queues.create", path_name=f".\\private$\\{name}", properties=properties)
        return str(made.get("format_name", f"DIRECT=OS:.\\private$\\{name}"))

    def opened(self, format_name: str, access: str) -> Any:
        return self.call("queues.open", format_name=format_name, access=access).get("queue")

    def send(self, queue: Any, body: bytes, **more: Any) -> dict[str, Any]:
        within = {"transaction": more.pop("transaction")} if "transaction" in more else {}
        message = {"body": base64.b64encode(body).decode(), **more}
        return self.call("messages.send", queue=queue, message=message, **within)

    def receive(self, queue: Any, timeout_ms: int = 0, **more: Any) -> dict[str, Any]:
        return self.call("messages.receive", queue=queue, timeout_ms=timeout_ms, **more)

    def close(self) -> None:
        self._lines.close()
        self.socket.close()


def usual_work(one: Any, other: Any) -> None:
    """What programs usually do: messages with priorities, cursors, transactions, subqueues, journals, lookups."""
    plain, kept = one.queue("orders"), one.queue("jobs", PROPID_Q_TRANSACTION=1)
    to, of = one.opened(plain, "send"), other.opened(plain, "receive")
    for number in range(4):
        one.send(to, b"order %d" % number, label=f"order {number}", priority=number, application_tag=number)
    one.send(to, b"", label="empty", delivery="recoverable")
    cursor = other.call("cursors.open", queue=of).get("cursor")
    seen = other.call("messages.peek", queue=of, cursor=cursor, timeout_ms=0)
    other.call("messages.peek_next", queue=of, cursor=cursor, timeout_ms=0)
    lookup = seen.get("message", {}).get("lookup_identifier", "0")
    other.call("messages.peek_by_lookup_id", queue=of, lookup_identifier=lookup, action="next")
    other.receive(of, cursor=cursor)
    other.call("messages.receive_by_lookup_id", queue=of, lookup_identifier=lookup, action="current")
    other.call("cursors.close", cursor=cursor)
    into, out = one.opened(kept, "send"), other.opened(kept, "receive")
    for ends in ("abort", "commit"):
        within = one.call("transactions.begin").get("transaction")
        for number in range(3):
            one.send(into, b"job %d" % number, label=f"job {number}", transaction=within)
        one.call(f"transactions.{ends}", transaction=within)
    for ends in ("abort", "commit"):
        within = other.call("transactions.begin").get("transaction")
        other.receive(out, transaction=within)
        other.receive(out, transaction=within)
        other.call(f"transactions.{ends}", transaction=within)
    aside = other.opened("DIRECT=OS:.\\private$\\jobs;aside", "move")
    left = other.call("messages.peek", queue=out, timeout_ms=0).get("message", {}).get("lookup_identifier", "0")
    other.call("messages.move", queue=out, destination=aside, lookup_identifier=left)
    other.receive(other.opened("DIRECT=OS:.\\private$\\jobs;aside", "receive"))
    for _ in range(8):  # A manager may give the same message for ever.
        other.receive(of)
    one.send(to, b"gone", label="gone")
    other.call("queues.purge", queue=of)
    other.receive(of)
    one.call("queues.open", format_name="DIRECT=OS:.\\private$\\none", access="receive")
    one.call("queues.create", path_name=".\\private$\\orders")
    one.call("queues.close", queue=to)
    one.send(to, b"late")
    other.call("queues.delete", format_name=plain)
    other.receive(of)


@contextmanager
def session(folder: Path, **wanted: Any) -> Iterator[tuple[str, Told]]:
    """Yield the address of a session that goes on in a thread, and what it tells at the end."""
    stop = Event()
    at = wanted.pop("at", str(folder / "mqrt.sock"))
    with Session(at, Wanted(out=folder / "out", **wanted)) as serving:
        thread = Thread(target=serving.run, args=(stop, 120))
        thread.start()
        try:
            yield serving.address, serving.told
        finally:
            stop.set()
            thread.join()
