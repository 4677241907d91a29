"""An honest driver of one small in-memory queue manager; the defective ones are this one with one thing wrong.

Not durable except for the names of its queues, which a restart finds again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

EMPTY, NO_QUEUE, BAD_HANDLE, CANCELLED = 0xC00E001B, 0xC00E0003, 0xC00E0007, 0xC00E0008
FACETS = {
    "manager": ["hello", "reset", "stop"],
    "clock": ["now", "advance"],
    "queues": ["create", "open", "close", "delete"],
    "messages": ["send", "receive", "peek", "cancel"],
}


class Honest:
    def __init__(self) -> None:
        self.queues: dict[str, list] = {}
        self.handles: dict[str, str] = {}
        self.waiting: list[list] = []  # [id, queue, due, takes]
        self.now = 0
        self.state = Path()

    def write(self, line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def answer(self, number, **result) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "id": number, "result": {"status": 0, **result}}))

    def error(self, number, code: int, text: str) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}))

    def run(self) -> None:
        for line in sys.stdin:
            request = json.loads(line)
            number, method, params = request["id"], request["method"], request["params"]
            handler = getattr(self, method.replace(".", "_"), None)
            facet, _, name = method.rpartition(".")
            if handler is None or name not in FACETS.get(facet or "manager", ()):
                self.error(number, -32601, f"no method {method}")
                continue
            handler(number, params)
            if method == "stop":
                return

    def hello(self, number, params) -> None:
        self.state = Path(params["state_dir"]) / "queues.json"
        if self.state.exists():
            self.queues = {name: [] for name in json.loads(self.state.read_text())}
        self.answer(
            number, protocol="1.0", name="honest", version="1", profile="msmq-4.0", computer="HOST", facets=FACETS,
            clock="virtual",
        )  # fmt: skip

    def save(self) -> None:
        self.state.write_text(json.dumps(list(self.queues)))

    def reset(self, number, params) -> None:
        self.queues, self.handles, self.waiting = {}, {}, []
        self.save()
        self.answer(number)

    def stop(self, number, params) -> None:
        self.answer(number)

    def clock_now(self, number, params) -> None:
        self.answer(number, time_ms=self.now)

    def clock_advance(self, number, params) -> None:
        self.now += params["by_ms"]
        for entry in [entry for entry in self.waiting if entry[2] <= self.now]:
            self.waiting.remove(entry)
            self.answer(entry[0], status=EMPTY)
        self.answer(number, time_ms=self.now)

    def queues_create(self, number, params) -> None:
        name = "DIRECT=OS:" + params["path_name"]
        self.queues.setdefault(name, [])
        self.save()
        self.answer(number, format_name=name)

    def queues_delete(self, number, params) -> None:
        found = self.queues.pop(params["format_name"], None)
        self.handles = {handle: name for handle, name in self.handles.items() if name in self.queues}
        self.save()
        self.answer(number, status=NO_QUEUE if found is None else 0)

    def queues_open(self, number, params) -> None:
        if params["format_name"] not in self.queues:
            self.answer(number, status=NO_QUEUE)
            return
        handle = f"h{number}"
        self.handles[handle] = params["format_name"]
        self.answer(number, queue=handle)

    def queues_close(self, number, params) -> None:
        found = self.handles.pop(params["queue"], None)
        self.answer(number, status=BAD_HANDLE if found is None else 0)

    def messages_send(self, number, params) -> None:
        if params["queue"] not in self.handles:
            self.answer(number, status=BAD_HANDLE)
            return
        queue = self.queues[self.handles[params["queue"]]]
        queue.append({"body": "", **params["message"]})
        self.answer(number)
        self.wake(queue)

    def wake(self, queue: list) -> None:
        for entry in [entry for entry in self.waiting if entry[1] is queue]:
            if queue:
                self.waiting.remove(entry)
                self.answer(entry[0], message=queue.pop(0) if entry[3] else queue[0])

    def read(self, number, params, takes: bool) -> None:
        if params["queue"] not in self.handles:
            self.answer(number, status=BAD_HANDLE)
            return
        queue = self.queues[self.handles[params["queue"]]]
        if queue:
            self.answer(number, message=queue.pop(0) if takes else queue[0])
        elif params["timeout_ms"] == 0:
            self.answer(number, status=EMPTY)
        else:
            self.waiting.append([number, queue, self.now + params["timeout_ms"], takes])
            self.write(json.dumps({"jsonrpc": "2.0", "method": "pending", "params": {"id": number}}))

    def messages_receive(self, number, params) -> None:
        self.read(number, params, True)

    def messages_peek(self, number, params) -> None:
        self.read(number, params, False)

    def messages_cancel(self, number, params) -> None:
        for entry in [entry for entry in self.waiting if entry[0] == params["request"]]:
            self.waiting.remove(entry)
            self.answer(entry[0], status=CANCELLED)
        self.answer(number)


if __name__ == "__main__":
    Honest().run()
