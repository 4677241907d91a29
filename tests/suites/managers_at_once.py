"""The manager in memory on a thread of its own, which takes what is asked at once in any order; and its defects."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from honest_memory import OK, HonestManager

Held = tuple[str, dict[str, Any], Callable[[dict[str, Any]], None], Callable[[], None]]


class AnyOrder(HonestManager):
    """Honest. A request waits a moment, so that others catch up with it, and one of those that wait is served."""

    def __init__(self, state_dir: Path) -> None:
        super().__init__(state_dir)
        self.held_requests: list[Held] = []
        self.random = Random(7)
        self.changed = threading.Condition()
        threading.Thread(target=self.serve, daemon=True).start()

    def handle(self, *request: Any) -> None:
        if request[0] in ("hello", "stop"):
            super().handle(*request)
            return
        with self.changed:
            self.held_requests.append(request)  # type: ignore[arg-type]
            self.changed.notify()

    def serve(self) -> None:
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.held_requests)
                self.changed.wait(0.0005)
                self.pick()

    def pick(self) -> None:
        super().handle(*self.held_requests.pop(self.random.randrange(len(self.held_requests))))


class GivesOneMessageToTwo(AnyOrder):
    """Two receives at once, and both get the first message."""

    def pick(self) -> None:
        plain = [one for one in self.held_requests if one[0] == "messages.receive" and "transaction" not in one[1]]
        if len(plain) < 2:
            super().pick()
            return
        first, second = plain[:2]
        self.held_requests.remove(first)
        self.held_requests.remove(second)

        def both(result: dict[str, Any]) -> None:
            first[2](result)
            second[2](result)

        HonestManager.handle(self, first[0], first[1], both, first[3])


class LosesASendInACrowd(AnyOrder):
    """Several sends at once, and one is answered and forgotten."""

    def pick(self) -> None:
        sends = [one for one in self.held_requests if one[0] == "messages.send"]
        if len(sends) < 3:
            super().pick()
            return
        self.held_requests.remove(sends[0])
        sends[0][2](dict(OK))


class CommitsInPieces(AnyOrder):
    """Between the messages of a commit somebody else may look."""

    def do_transactions_commit(self, transaction: str) -> dict[str, Any]:
        for number, (queue, m) in enumerate(self.held(transaction)):
            for _ in range(3 if number else 0):
                self.changed.wait(0.002)
                while self.held_requests:
                    AnyOrder.pick(self)
            sent = m["state"] == "sending"
            m["state"], m["tx"] = ("ready" if sent else "gone"), None
            if sent:
                self.wake(queue, m)
        return OK
