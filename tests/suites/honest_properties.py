"""A queue manager in memory with properties of queues and attributes of messages, that does what the documents say.

Written for these tests only. Durable is what `state_dir/kept.json` holds.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

OK = {"status": 0}
NOT_FOUND, EXISTS, TIMEOUT = 0xC00E0003, 0xC00E0005, 0xC00E001B
PROPERTY, VALUE, VT, PROPID, NOT_ALLOWED = 0xC00E0002, 0xC00E0018, 0xC00E0019, 0xC00E0039, 0xC00E003E
MANAGER = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"
NONE = "00000000-0000-0000-0000-000000000000"
BYTE, WORD, TEXT, GUID = "byte", "word", "text", "guid"
DEFAULTS: dict[str, Any] = {
    "TYPE": NONE, "JOURNAL": 0, "QUOTA": 0xFFFFFFFF, "BASEPRIORITY": 0, "JOURNAL_QUOTA": 0xFFFFFFFF, "LABEL": "",
    "AUTHENTICATE": 0, "PRIV_LEVEL": 1, "TRANSACTION": 0, "MULTICAST_ADDRESS": None,
}  # fmt: skip
FIXED = ("INSTANCE", "PATHNAME", "CREATE_TIME", "MODIFY_TIME", "SCOPE", "QMID", "PATHNAME_DNS")
LIMITS = {"JOURNAL": 1, "AUTHENTICATE": 1, "TRANSACTION": 1, "PRIV_LEVEL": 2, "QUOTA": 0xFFFFFFFF,
          "JOURNAL_QUOTA": 0xFFFFFFFF}  # fmt: skip
MESSAGE: dict[str, Any] = {
    "body": "", "body_type": 0, "label": "", "priority": 3, "delivery": "express", "class": 0, "application_tag": 0,
    "correlation_identifier": "A" * 27 + "=", "positive_journaling": False, "negative_journaling": False,
    "acknowledgements": [], "time_to_reach_queue": 345600, "time_to_be_received": 0xFFFFFFFF, "trace": False,
    "extension": "",
}  # fmt: skip
METHODS = {
    "manager": ["hello", "reset", "stop"],
    "clock": ["now", "advance"],
    "queues": ["create", "delete", "open", "close", "get", "set", "counts"],
    "messages": ["send", "receive", "peek"],
    "transactions": ["begin", "commit"],
}


class Refused(Exception):
    """The call fails with this status."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(hex(status))


class Honest:
    """Does what the documents say."""

    settable = tuple(name for name in DEFAULTS if name != "TRANSACTION")
    defaults: ClassVar[dict[str, Any]] = DEFAULTS

    def __init__(self, state_dir: Path) -> None:
        self.kept = Path(state_dir) / "kept.json"
        self.time = 1_000_000_000
        self.number = 0
        self.clear()
        if self.kept.exists():
            stored = json.loads(self.kept.read_text())
            self.queues, self.time, self.number = stored["queues"], stored["time"], stored["number"]
            for queue in self.queues.values():
                queue["messages"] = [self.revived(m) for m in queue["messages"] if m["delivery"] == "recoverable"]

    def revived(self, message: dict[str, Any]) -> dict[str, Any]:
        return message

    def clear(self) -> None:
        self.queues: dict[str, dict[str, Any]] = {}
        self.handles: dict[str, str] = {}
        self.pending: dict[str, list[tuple[str, dict[str, Any]]]] = {}

    def handle(
        self, method: str, params: dict[str, Any], reply: Callable[[dict[str, Any]], None], pending: Callable[[], None]
    ) -> None:
        params.pop("deadline_ms", None)
        try:
            result = getattr(self, "do_" + method.replace(".", "_"))(**params)
        except Refused as refused:
            result = {"status": refused.status}
        self.kept.write_text(json.dumps(self.durable()))
        reply(result)

    def durable(self) -> dict[str, Any]:
        return {"queues": self.queues, "time": self.time, "number": self.number}

    def do_hello(self, **_: Any) -> dict[str, Any]:
        return OK | {
            "protocol": "1.0", "name": "properties", "version": "1", "profile": "msmq-4.0", "computer": "HOST",
            "queue_manager": MANAGER, "facets": METHODS, "clock": "virtual", "settle_ms": 0, "slack_ms": 0,
        }  # fmt: skip

    def do_reset(self) -> dict[str, Any]:
        self.clear()
        return OK

    def do_stop(self) -> dict[str, Any]:
        return OK

    def do_clock_now(self) -> dict[str, Any]:
        return OK | {"time_ms": self.time}

    def do_clock_advance(self, by_ms: int) -> dict[str, Any]:
        self.time += by_ms
        return self.do_clock_now()

    # properties

    def queue(self, format_name: str) -> dict[str, Any]:
        if format_name.startswith("P") and self.queues:
            return next(iter(self.queues.values()))
        if format_name not in self.queues:
            raise Refused(NOT_FOUND)
        return self.queues[format_name]

    def known(self, name: str) -> str:
        short = name.removeprefix("PROPID_Q_")
        if name == short or short not in (*DEFAULTS, *FIXED):
            raise Refused(PROPID)
        return short

    def checked(self, properties: dict[str, Any], writable: tuple[str, ...]) -> dict[str, Any]:
        out = {}
        for name, value in properties.items():
            short = self.known(name)
            if short not in writable:
                raise Refused(NOT_ALLOWED)
            self.check(short, value)
            out[short] = value
        return out

    def check(self, name: str, value: Any) -> None:
        if name in LIMITS and not isinstance(value, int):
            raise Refused(VT)
        if name in LIMITS:
            fine = 0 <= value <= LIMITS[name]
        elif name == "TYPE":
            fine = isinstance(value, str) and len(value) == 36
        elif name == "LABEL":
            fine = isinstance(value, str) and len(value) <= 124
        else:
            fine = name == "BASEPRIORITY" or (
                isinstance(value, str) and value.startswith(("22", "23")) and ":" in value
            )
        if not fine:
            raise Refused(VALUE)

    def stored(self, properties: dict[str, Any]) -> dict[str, Any]:
        return {name: 0 if name == "BASEPRIORITY" else value for name, value in properties.items()}

    def do_queues_create(self, path_name: str, properties: dict[str, Any] | None = None) -> dict[str, Any]:
        name = "DIRECT=OS:" + path_name
        if name in self.queues:
            return self.again(name, properties or {})
        given = self.checked(properties or {}, tuple(DEFAULTS))
        seconds = self.time // 1000
        self.number += 1
        self.queues[name] = {
            "properties": {
                **self.defaults, **self.stored(given), "PATHNAME": path_name, "CREATE_TIME": seconds,
                "MODIFY_TIME": seconds, "SCOPE": 1, "QMID": MANAGER, "INSTANCE": f"{self.number:08x}{NONE[8:]}",
                "PATHNAME_DNS": path_name.replace("HOST", "HOST.example", 1),
            },
            "messages": [], "journal": [],
        }  # fmt: skip
        return OK | {"format_name": name}

    def again(self, name: str, properties: dict[str, Any]) -> dict[str, Any]:
        raise Refused(EXISTS)

    def do_queues_delete(self, format_name: str) -> dict[str, Any]:
        queue = self.queue(format_name)
        self.queues = {name: each for name, each in self.queues.items() if each is not queue}
        return OK

    def do_queues_get(self, format_name: str, properties: list[str]) -> dict[str, Any]:
        queue = self.queue(format_name)
        return OK | {"properties": {name: self.shown(self.known(name), queue["properties"]) for name in properties}}

    def shown(self, name: str, values: dict[str, Any]) -> Any:
        return values[name]

    def do_queues_set(self, format_name: str, properties: dict[str, Any]) -> dict[str, Any]:
        queue = self.queue(format_name)
        values = self.stored(self.checked(properties, self.settable))
        queue["properties"].update(values, MODIFY_TIME=self.time // 1000)
        return OK

    def do_queues_counts(self, format_name: str) -> dict[str, Any]:
        queue = self.queue(format_name)
        sizes = {"bytes": "messages", "journal_bytes": "journal"}
        told = {name: sum(100 for _ in queue[where]) for name, where in sizes.items()}
        return OK | {"messages": len(queue["messages"]), "journal_messages": len(queue["journal"]), **told}

    # messages

    def do_queues_open(self, format_name: str, access: str, share: str = "") -> dict[str, Any]:
        self.queue(format_name)
        handle = f"h{len(self.handles)}"
        self.handles[handle] = format_name
        return OK | {"queue": handle}

    def do_queues_close(self, queue: str) -> dict[str, Any]:
        return OK

    def made(self, message: dict[str, Any]) -> dict[str, Any]:
        return {**MESSAGE, **message}

    def do_messages_send(self, queue: str, message: dict[str, Any], transaction: str | None = None) -> dict[str, Any]:
        if len(base64.b64decode(message.get("correlation_identifier", MESSAGE["correlation_identifier"]))) != 20:
            return {"status": 0xC00E003B}  # MQ_ERROR_ILLEGAL_PROPERTY_SIZE
        self.number += 1
        identifier = {"source": MANAGER, "ordinal": self.number}
        seconds = self.time // 1000
        own = {"identifier": identifier, "sent_time": seconds, "arrival_time": seconds}
        made = {**self.made(message), **own}
        if transaction is None:
            self.queue(self.handles[queue])["messages"].append(made)
        else:
            made.update(priority=0, delivery="recoverable")
            self.pending[transaction].append((queue, made))
        return OK | {"identifier": identifier}

    def do_transactions_begin(self) -> dict[str, Any]:
        self.pending[f"t{len(self.pending)}"] = []
        return OK | {"transaction": f"t{len(self.pending) - 1}"}

    def do_transactions_commit(self, transaction: str) -> dict[str, Any]:
        sent = self.pending[transaction]
        for at, (queue, message) in enumerate(sent):
            message.update(first_in_transaction=at == 0, last_in_transaction=at == len(sent) - 1)
            self.queue(self.handles[queue])["messages"].append(self.marked(message))
        return OK

    def marked(self, message: dict[str, Any]) -> dict[str, Any]:
        return message

    def do_messages_receive(self, queue: str, timeout_ms: int) -> dict[str, Any]:
        result = self.do_messages_peek(queue, timeout_ms)
        taken = self.queue(self.handles[queue])
        message = taken["messages"].pop(0)
        if taken["properties"]["JOURNAL"]:
            taken["journal"].append(message)
        return result

    def do_messages_peek(self, queue: str, timeout_ms: int) -> dict[str, Any]:
        messages = self.queue(self.handles[queue])["messages"]
        if not messages:
            raise Refused(TIMEOUT)
        return OK | {"message": messages[0]}
