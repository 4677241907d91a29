"""A queue manager that is the model itself, reading the documents as `CHOICE` says: what inference must find again.

It tells whether inference works, not whether the model is right; for that there are managers written otherwise.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.histories.inference.probing import Player, defaults
from conformance.model import Answer, Call, State

CHOICE: dict[str, str] = {}
CLAIMS: dict[str, str] = {}
METHODS = {
    "manager": ["hello", "reset", "stop"],
    "clock": ["advance"],
    "queues": ["create", "delete", "open", "close", "purge"],
    "messages": ["send", "receive", "peek", "peek_next", "receive_by_lookup_id", "peek_by_lookup_id"],
    "cursors": ["open", "close"],
    "transactions": ["begin", "commit", "abort"],
}
OPENS = {"queues.open": ("queue", "h"), "cursors.open": ("cursor", "c"), "transactions.begin": ("transaction", "t")}
KEPT: dict[Path, State] = {}  # by state folder: this process outlives the kills of a test


class ReadingManager:
    """Speaks the protocol, and asks the player."""

    def __init__(self, state_dir: Path) -> None:
        self.state_dir = state_dir
        self.player = Player(defaults(CHOICE))
        self.state = KEPT.get(state_dir, State())
        if self.state.queues:
            _, self.state = self.player.play(self.state, Call("restart", kill=True))
        self.waiting: dict[str, Callable[[dict[str, Any]], None]] = {}
        self.number = 0

    def handle(
        self, method: str, params: dict[str, Any], reply: Callable[[dict[str, Any]], None], pending: Callable[[], None]
    ) -> None:
        if method == "hello":
            reply(self.hello())
            return
        if method in ("reset", "stop"):
            self.state = State() if method == "reset" else self.state
            self.waiting.clear()
            reply({"status": 0})
            return
        call, extra = self.call(method, params)
        seen, self.state = self.player.play(self.state, call)
        KEPT[self.state_dir] = self.state
        for name, answer in seen.completed.items():
            self.waiting.pop(name)(result(answer))
        if seen.answer is None:
            assert call.name is not None
            self.waiting[call.name] = reply
            pending()
        else:
            reply(result(seen.answer) | (extra if not seen.answer.failed else {}))

    def hello(self) -> dict[str, Any]:
        return {
            "status": 0,
            "protocol": "1.0",
            "name": "reading",
            "version": "1",
            "profile": "msmq-4.0",
            "computer": "HOST",
            "facets": METHODS,
            "clock": "virtual",
            "readings": CLAIMS,
        }

    def call(self, method: str, params: dict[str, Any]) -> tuple[Call, dict[str, Any]]:
        """The model's call, and what a success gives beside its status."""
        self.number += 1
        if method == "clock.advance":
            return Call(method, by_ms=params["by_ms"]), {"time_ms": self.state.now + params["by_ms"]}
        if method == "queues.create":
            path = params["path_name"]
            transactional = bool(params.get("properties", {}).get("PROPID_Q_TRANSACTION"))
            return Call(method, queue=path, transactional=transactional), {"format_name": f"DIRECT=OS:{path}"}
        member, letter = OPENS.get(method, ("", "w"))
        name = f"{letter}{self.number}"
        call = Call(
            method,
            name=name,
            handle=params.get("queue"),
            cursor=params.get("cursor"),
            transaction=params.get("transaction"),
            timeout_ms=params.get("timeout_ms", 0),
            access=params.get("access"),
            share=params.get("share"),
            action=params.get("action"),
        )
        if "format_name" in params:
            call = replace(call, queue=params["format_name"].removeprefix("DIRECT=OS:"))
        if "message" in params:
            message = params["message"]
            call = replace(
                call, message=message["label"], priority=message.get("priority"), delivery=message.get("delivery")
            )
        if "lookup_identifier" in params:
            names = {str(number): message for message, number in self.state.lookups.items()}
            call = replace(call, message=names.get(params["lookup_identifier"]))
        return call, {member: name} if member else {}


class DiesAtPurge(ReadingManager):
    """Ends in the middle of a history."""

    def call(self, method: str, params: dict[str, Any]) -> tuple[Call, dict[str, Any]]:
        if method == "queues.purge":
            raise RuntimeError("purged too much")
        return super().call(method, params)


class NewStatusEachTest(ReadingManager):
    """Reads R-MQDMPR-zero-timeout-status one way in one history, and another way in the next."""

    turn = 0

    def handle(
        self, method: str, params: dict[str, Any], reply: Callable[[dict[str, Any]], None], pending: Callable[[], None]
    ) -> None:
        if method == "reset":
            faces = ("io-timeout", "message-not-found")
            self.player = Player(defaults({"R-MQDMPR-zero-timeout-status": faces[self.turn % 2]}))
            self.turn += 1
        super().handle(method, params, reply, pending)


def result(answer: Answer) -> dict[str, Any]:
    """The answer as the protocol has it."""
    out: dict[str, Any] = {"status": answer.status}
    if answer.message is not None:
        seen = answer.message
        out["message"] = {
            "body": base64.b64encode(seen.body).decode("ascii"),
            "label": seen.label,
            "priority": seen.priority,
            "delivery": seen.delivery,
            "lookup_identifier": str(seen.lookup_identifier),
        }
    return out
