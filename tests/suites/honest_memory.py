"""A queue manager in memory that does what the documents say.

Written for these tests only, as a list of messages and nothing else, so that the model has something to disagree with.
Durable is what `state_dir/kept.json` holds: the recoverable messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

OK = {"status": 0}
NOT_FOUND, EXISTS, SHARING = 0xC00E0003, 0xC00E0005, 0xC00E0009
BAD_HANDLE, DENIED, ILLEGAL, TIMEOUT = 0xC00E0007, 0xC00E0025, 0xC00E001C, 0xC00E001B
RECEIVED, MISSING, SEQUENCE, USAGE, DELETED = 0xC00E001D, 0xC00E0088, 0xC00E0051, 0xC00E0050, 0xC00E005A
CANCELLED, BAD_VALUE = 0xC00E0008, 0xC00E0018
FOREVER = 0xFFFFFFFF
METHODS = {
    "manager": ["hello", "reset", "stop"],
    "clock": ["now", "advance"],
    "queues": ["create", "delete", "open", "close", "purge"],
    "messages": ["send", "receive", "peek", "peek_next", "receive_by_lookup_id", "peek_by_lookup_id"],
    "cursors": ["open", "close"],
    "transactions": ["begin", "commit", "abort"],
}


class Refused(Exception):
    """The call fails with this status."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(hex(status))


class HonestManager:
    """Does what the documents say."""

    clock_kind = "virtual"

    def __init__(self, state_dir: Path, facets: dict[str, list[str]] | None = None) -> None:
        self.kept = Path(state_dir) / "kept.json"
        self.facets = facets or METHODS
        self.number = 0
        self.written = ""
        self.time = 1_000_000
        self.clear()
        if self.kept.exists():
            for name, stored in json.loads(self.kept.read_text()).items():
                self.queues[name] = {
                    "tx": stored["tx"],
                    "list": [m | {"tx": None, "state": "ready"} for m in stored["list"]],
                }
                self.number = max([self.number, *(m["seq"] for m in stored["list"])])

    def clear(self) -> None:
        self.queues: dict[str, dict[str, Any]] = {}
        self.handles: dict[str, dict[str, Any]] = {}
        self.cursors: dict[str, dict[str, Any]] = {}
        self.transactions: set[str] = set()
        self.waiting: list[dict[str, Any]] = []

    def handle(
        self, method: str, params: dict[str, Any], reply: Callable[[dict[str, Any]], None], pending: Callable[[], None]
    ) -> None:
        self.reply, self.pending = reply, pending
        try:
            params.pop("deadline_ms", None)
            result = getattr(self, "do_" + method.replace(".", "_"))(**params)
        except Refused as refused:
            result = {"status": refused.status}
        self.keep()
        if result is not None:
            reply(result)

    def keep(self) -> None:
        kept = {
            name: {"tx": q["tx"], "list": [m for m in q["list"] if m["delivery"] == "recoverable" and self.durable(m)]}
            for name, q in self.queues.items()
        }
        self.write(kept)

    def write(self, kept: dict[str, Any]) -> None:
        text = json.dumps(kept)
        if text != self.written:
            self.kept.with_suffix(".new").write_text(text)
            self.kept.with_suffix(".new").replace(self.kept)  # at once: a kill finds the old or the new
            self.written = text

    def durable(self, m: dict[str, Any]) -> bool:
        return m["state"] in ("ready", "locked")

    # manager and clock

    def do_hello(self, **_: Any) -> dict[str, Any]:
        return OK | {
            "protocol": "1.0",
            "name": "memory",
            "version": "1",
            "profile": "msmq-4.0",
            "computer": "HOST",
            "queue_manager": "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10",
            "facets": self.facets,
            "clock": self.clock_kind,
            "settle_ms": 0,
            "slack_ms": 50,
            "limits": {},
            "readings": {},
        }

    def do_reset(self) -> dict[str, Any]:
        for waiter in self.waiting:
            waiter["reply"]({"status": CANCELLED})
        self.clear()
        return OK

    def do_stop(self) -> dict[str, Any]:
        return OK

    def do_clock_now(self) -> dict[str, Any]:
        return OK | {"time_ms": self.time}

    def do_clock_advance(self, by_ms: int) -> dict[str, Any]:
        self.time += by_ms
        for waiter in list(self.waiting):
            if waiter["until"] is not None and waiter["until"] <= self.time:
                self.waiting.remove(waiter)
                self.at_end(waiter)
                waiter["reply"]({"status": self.timeout_status(waiter)})
        return OK | {"time_ms": self.time}

    def timeout_status(self, waiter: dict[str, Any]) -> int:
        return TIMEOUT

    def at_end(self, waiter: dict[str, Any]) -> None:
        cursor = self.cursors.get(waiter["cursor"] or "")
        if cursor:
            cursor.update(read=False, at=self.number + 0.5, end=True)

    # queues

    def do_queues_create(self, path_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
        name = "DIRECT=OS:" + path_name
        if name in self.queues:
            raise Refused(EXISTS)
        self.queues[name] = {"tx": bool((properties or {}).get("PROPID_Q_TRANSACTION")), "list": []}
        return OK | {"format_name": name}

    def do_queues_delete(self, format_name: str) -> dict[str, Any]:
        if format_name not in self.queues:
            raise Refused(NOT_FOUND)
        gone = self.queues.pop(format_name)
        for h in self.handles.values():
            if h["queue"] is gone:
                h["lost"] = True
        return OK

    def do_queues_open(self, format_name: str, access: str, share: str = "deny_none") -> dict[str, Any]:
        queue = self.queues.get(format_name)
        if queue is None:
            raise Refused(NOT_FOUND)
        if access == "send" and share == "deny_receive":
            raise Refused(0xC00E0045)
        others = [h for h in self.handles.values() if h["queue"] is queue and not h["lost"] and h["access"] != "send"]
        alone = share == "deny_receive" or any(h["share"] == "deny_receive" for h in others)
        if access != "send" and others and alone:
            raise Refused(SHARING)
        self.number += 1
        name = f"h{self.number}"
        self.handles[name] = {"queue": queue, "access": access, "share": share, "lost": False}
        return OK | {"queue": name}

    def of(self, queue: str, *access: str) -> dict[str, Any]:
        if queue not in self.handles:
            raise Refused(BAD_HANDLE)
        handle = self.handles[queue]
        if access and handle["access"] not in access:
            raise Refused(DENIED)
        if handle["lost"]:
            raise Refused(DELETED)
        return handle

    def do_queues_close(self, queue: str) -> dict[str, Any]:
        if queue not in self.handles:
            raise Refused(BAD_HANDLE)
        for waiter in list(self.waiting):
            if waiter["handle"] == queue:
                self.waiting.remove(waiter)
                waiter["reply"]({"status": CANCELLED})
        for name in [n for n, c in self.cursors.items() if c["handle"] == queue]:
            del self.cursors[name]
        del self.handles[queue]
        return OK

    def do_queues_purge(self, queue: str) -> dict[str, Any]:
        for m in self.of(queue, "receive")["queue"]["list"]:
            m["state"] = {"ready": "gone", "locked": "purged"}.get(m["state"], m["state"])
        return OK

    # messages

    def place(self, queue: dict[str, Any], m: dict[str, Any]) -> None:
        queue["list"].append(m)
        queue["list"].sort(key=lambda m: (-m["priority"], m["seq"]))

    def do_messages_send(self, queue: str, message: dict[str, Any], transaction: str | None = None) -> dict[str, Any]:
        target = self.of(queue, "send")["queue"]
        priority = message.get("priority", 3)
        if not 0 <= priority <= 7:
            raise Refused(BAD_VALUE)
        if transaction is not None and transaction not in self.transactions:
            raise Refused(SEQUENCE)
        if (transaction is not None) != target["tx"]:
            raise Refused(USAGE)
        self.number += 1
        m = {
            "body": message.get("body", ""),
            "label": message.get("label", ""),
            "priority": 0 if transaction else priority,
            "delivery": "recoverable" if transaction else message.get("delivery", "express"),
            "seq": self.number,
            "id": self.number,
            "state": "sending" if transaction else "ready",
            "tx": transaction,
            "t": self.time,
        }
        self.place(target, m)
        if not transaction:
            self.wake(target, m)
        return OK

    def wake(self, queue: dict[str, Any], m: dict[str, Any]) -> None:
        for waiter in [w for w in self.waiting if self.handles[w["handle"]]["queue"] is queue]:
            if m["state"] != "ready":
                return
            self.waiting.remove(waiter)
            cursor = self.cursors.get(waiter["cursor"] or "")
            if cursor:
                cursor.update(at=(-m["priority"], m["seq"]), read=not waiter["takes"], end=False, m=m)
            waiter["reply"](self.give(m, waiter["takes"], waiter["tx"]))

    def give(self, m: dict[str, Any], takes: bool, transaction: str | None) -> dict[str, Any]:
        if takes:
            m["state"], m["tx"] = ("locked", transaction) if transaction else ("gone", None)
        return OK | {"message": self.shown(m)}

    def shown(self, m: dict[str, Any]) -> dict[str, Any]:
        return {k: m[k] for k in ("body", "label", "priority", "delivery")} | {"lookup_identifier": str(self.lookup(m))}

    def lookup(self, m: dict[str, Any]) -> int:
        return ((7 - m["priority"]) << 56) | m["id"]

    def first(self, queue: dict[str, Any], after: Any = None) -> dict[str, Any] | None:
        for m in queue["list"]:
            if m["state"] == "ready" and (after is None or (-m["priority"], m["seq"]) > after):
                return m
        return None

    def do_messages_receive(self, **k: Any) -> dict[str, Any] | None:
        return self.read("receive", **k)

    def do_messages_peek(self, **k: Any) -> dict[str, Any] | None:
        return self.read("peek", **k)

    def do_messages_peek_next(self, **k: Any) -> dict[str, Any] | None:
        return self.read("peek_next", **k)

    def read(
        self, kind: str, queue: str, timeout_ms: int, cursor: str | None = None, transaction: str | None = None
    ) -> dict[str, Any] | None:
        takes = kind == "receive"
        handle = self.of(queue, "receive") if takes else self.of(queue, "receive", "peek")
        if transaction is not None and transaction not in self.transactions:
            raise Refused(SEQUENCE)
        m = self.sought(kind, handle["queue"], cursor)
        if m is not None:
            return self.give(m, takes, transaction)
        waiter = {
            "handle": queue,
            "takes": takes,
            "tx": transaction,
            "cursor": cursor,
            "reply": self.reply,
            "kind": kind,
            "until": None if timeout_ms == FOREVER else self.time + timeout_ms,
        }
        if timeout_ms == 0:
            if takes and cursor is not None:
                raise Refused(MISSING)
            self.at_end(waiter)
            raise Refused(self.timeout_status(waiter))
        self.waiting.append(waiter)
        self.pending()
        return None

    def sought(self, kind: str, queue: dict[str, Any], cursor: str | None) -> dict[str, Any] | None:
        if cursor is None:
            return self.first(queue)
        if cursor not in self.cursors:
            raise Refused(BAD_HANDLE)
        c = self.cursors[cursor]
        if kind == "peek_next" and not c["read"]:
            raise Refused(ILLEGAL)
        if kind != "peek_next" and c["read"]:
            if c["m"]["state"] != "ready":
                raise Refused(RECEIVED)
            c["read"] = kind == "peek"
            return c["m"]
        m = None
        if not c["end"]:
            m = self.first(queue, c["at"])
        else:
            m = next((m for m in queue["list"] if m["state"] == "ready" and m["seq"] > c["at"]), None)
        if m is not None:
            c.update(at=(-m["priority"], m["seq"]), m=m, read=kind != "receive", end=False)
        return m

    def by_id(self, queue: str, lookup_identifier: str, action: str, access: tuple[str, ...]) -> dict[str, Any]:
        listed = self.of(queue, *access)["queue"]["list"]
        ready = [m for m in listed if m["state"] == "ready"]
        if action in ("first", "last"):
            if not ready:
                raise Refused(MISSING)
            return ready[0 if action == "first" else -1]
        here = next((m for m in listed if str(self.lookup(m)) == lookup_identifier and m["state"] != "gone"), None)
        if here is None:
            raise Refused(MISSING)
        if action == "current":
            if here["state"] != "ready":
                raise Refused(USAGE)
            return here
        place = listed.index(here)
        part = listed[place + 1 :] if action == "next" else listed[:place]
        side = [m for m in part if m["state"] == "ready"]
        if not side:
            raise Refused(MISSING)
        return side[0 if action == "next" else -1]

    def do_messages_receive_by_lookup_id(
        self, queue: str, lookup_identifier: str, action: str, transaction: str | None = None
    ) -> dict[str, Any]:
        return self.give(self.by_id(queue, lookup_identifier, action, ("receive",)), True, transaction)

    def do_messages_peek_by_lookup_id(self, queue: str, lookup_identifier: str, action: str) -> dict[str, Any]:
        return self.give(self.by_id(queue, lookup_identifier, action, ("receive", "peek")), False, None)

    # cursors

    def do_cursors_open(self, queue: str) -> dict[str, Any]:
        self.of(queue)
        self.number += 1
        self.cursors[f"c{self.number}"] = {"handle": queue, "at": None, "read": False, "m": None, "end": False}
        return OK | {"cursor": f"c{self.number}"}

    def do_cursors_close(self, cursor: str) -> dict[str, Any]:
        if self.cursors.pop(cursor, None) is None:
            raise Refused(BAD_HANDLE)
        return OK

    # transactions

    def do_transactions_begin(self) -> dict[str, Any]:
        self.number += 1
        self.transactions.add(f"t{self.number}")
        return OK | {"transaction": f"t{self.number}"}

    def held(self, transaction: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        if transaction not in self.transactions:
            raise Refused(SEQUENCE)
        self.transactions.remove(transaction)
        held = [(q, m) for q in self.queues.values() for m in q["list"] if m["tx"] == transaction]
        return sorted(held, key=lambda pair: pair[1]["seq"])

    def do_transactions_commit(self, transaction: str) -> dict[str, Any]:
        for queue, m in self.held(transaction):
            sent = m["state"] == "sending"
            m["state"], m["tx"] = ("ready" if sent else "gone"), None
            if sent:
                self.wake(queue, m)
        return OK

    def do_transactions_abort(self, transaction: str) -> dict[str, Any]:
        for queue, m in self.held(transaction):
            m["state"], m["tx"] = ("ready" if m["state"] == "locked" else "gone"), None
            if m["state"] == "ready":
                self.wake(queue, m)
        return OK
