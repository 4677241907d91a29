"""The queue manager of `honest_memory`, and variants of it that are not honest, each named after its defect."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from honest_memory import METHODS, OK, TIMEOUT, HonestManager, Refused


class AbortLosesMessage(HonestManager):
    def do_transactions_abort(self, transaction: str) -> dict[str, Any]:
        for _, m in self.held(transaction):
            m["state"], m["tx"] = "gone", None
        return OK


class AbortRequeuesAtEnd(HonestManager):
    def do_transactions_abort(self, transaction: str) -> dict[str, Any]:
        for queue, m in self.held(transaction):
            back = m["state"] == "locked"
            m["state"], m["tx"] = ("ready" if back else "gone"), None
            if back:
                self.number += 1
                queue["list"].remove(m)
                self.place(queue, m | {"seq": self.number})
        return OK


class PeekRemovesMessage(HonestManager):
    def give(self, m: dict[str, Any], takes: bool, transaction: str | None) -> dict[str, Any]:
        return super().give(m, True, transaction)


class IgnoresPriority(HonestManager):
    def place(self, queue: dict[str, Any], m: dict[str, Any]) -> None:
        queue["list"].append(m)

    def lookup(self, m: dict[str, Any]) -> int:
        return int(m["seq"])


class CursorMovesOnPeek(HonestManager):
    def sought(self, kind: str, queue: dict[str, Any], cursor: str | None) -> dict[str, Any] | None:
        if kind == "peek" and cursor in self.cursors and self.cursors[cursor]["read"]:
            kind = "peek_next"
        return super().sought(kind, queue, cursor)


class WrongTimeoutStatus(HonestManager):
    def timeout_status(self, waiter: dict[str, Any]) -> int:
        return 0xC00E0001


class ReceiveReturnsSecondMessage(HonestManager):
    def sought(self, kind: str, queue: dict[str, Any], cursor: str | None) -> dict[str, Any] | None:
        first = super().sought(kind, queue, cursor)
        if kind != "receive" or cursor is not None or first is None:
            return first
        return self.first(queue, (-first["priority"], first["seq"])) or first


class UncommittedSendVisible(HonestManager):
    def first(self, queue: dict[str, Any], after: Any = None) -> dict[str, Any] | None:
        for m in queue["list"]:
            if m["state"] in ("ready", "sending") and (after is None or (-m["priority"], m["seq"]) > after):
                return m
        return None


class CommitLosesLastSend(HonestManager):
    def do_transactions_commit(self, transaction: str) -> dict[str, Any]:
        held = self.held(transaction)
        sent = [m for _, m in held if m["state"] == "sending"]
        for _, m in held:
            m["state"], m["tx"] = ("ready" if m in sent[:-1] else "gone"), None
        return OK


class TimedOutReaderTakesNext(HonestManager):
    def do_clock_advance(self, by_ms: int) -> dict[str, Any]:
        late = [w for w in self.waiting if w["until"] is not None and w["until"] <= self.time + by_ms]
        result = super().do_clock_advance(by_ms)
        for waiter in late:
            self.waiting.append(waiter | {"reply": lambda _: None, "until": None, "cursor": None})
        return result


class PeekNextStartsUnread(HonestManager):
    def sought(self, kind: str, queue: dict[str, Any], cursor: str | None) -> dict[str, Any] | None:
        if kind == "peek_next" and cursor in self.cursors and not self.cursors[cursor]["read"]:
            kind = "peek"
        return super().sought(kind, queue, cursor)


class ForgetsRecoverable(HonestManager):
    def durable(self, m: dict[str, Any]) -> bool:
        return False


class RestartRedelivers(HonestManager):
    def durable(self, m: dict[str, Any]) -> bool:
        return m["state"] in ("ready", "locked", "gone")

    def write(self, kept: dict[str, Any]) -> None:
        for queue in kept.values():
            queue["list"] = [m | {"state": "ready"} for m in queue["list"]]
        super().write(kept)


class LookupIdsFall(HonestManager):
    def lookup(self, m: dict[str, Any]) -> int:
        return ((7 - m["priority"]) << 56) | (1_000_000 - m["seq"])


class ForgetsLabel(HonestManager):
    def shown(self, m: dict[str, Any]) -> dict[str, Any]:
        return super().shown(m) | {"label": ""}


class WaitingReaderSleepsOn(HonestManager):
    def wake(self, queue: dict[str, Any], m: dict[str, Any]) -> None:
        return


class NeverReset(HonestManager):
    """No defect: what was created stays."""

    def __init__(self, state_dir: Path) -> None:
        super().__init__(state_dir, {**METHODS, "manager": ["hello", "stop"]})


class RealClock(HonestManager):
    """No defect: time passes by itself, so a read that finds nothing sleeps (and holds everything up)."""

    clock_kind = "real"
    part = 1.0

    def read(
        self, kind: str, queue: str, timeout_ms: int, cursor: str | None = None, transaction: str | None = None
    ) -> dict[str, Any] | None:
        try:
            return super().read(kind, queue, 0, cursor, transaction)
        except Refused as refused:
            if refused.status == TIMEOUT:
                time.sleep(timeout_ms * self.part / 1000)
            raise


class RealClockInAHurry(RealClock):
    part = 0.75


class NoStatusCodes(HonestManager):
    """No defect: an API that fails without status codes."""

    def handle(
        self, method: str, params: dict[str, Any], reply: Callable[[dict[str, Any]], None], pending: Callable[[], None]
    ) -> None:
        def plain(result: dict[str, Any]) -> None:
            failed = method != "hello" and result["status"] >= 0x80000000
            reply({"status": None, "failure": {"kind": "Error", "text": "no"}} if failed else result)

        super().handle(method, params, plain, pending)
