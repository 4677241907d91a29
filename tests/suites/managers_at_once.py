"""The manager in memory on a thread of its own, which takes what is asked at once in any order; and its defects."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from honest_memory import OK, TIMEOUT, HonestManager, Refused

Held = tuple[str, dict[str, Any], Callable[[dict[str, Any]], None], Callable[[], None]]
PATIENCE_S = 1.0  # with clients that are done; the others ask again at once


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
        self.serve_one(self.random.choice(self.held_requests))

    def serve_one(self, held: Held) -> None:
        self.held_requests.remove(held)
        super().handle(*held)


class Gathering(AnyOrder):
    """Does its wrong thing once, as soon as it can, and makes others wait until it can: so it surely happens."""

    def __init__(self, state_dir: Path) -> None:
        self.done = False
        super().__init__(state_dir)

    def gathered(self, wanted: Callable[[Held], bool], number: int) -> list[Held]:
        """Serve other requests until so many of these are held; return none if the other clients ask no more."""
        while True:
            found = [one for one in self.held_requests if wanted(one)]
            if len(found) >= number:
                return found[:number]
            if len(found) < len(self.held_requests):
                self.serve_one(self.random.choice([one for one in self.held_requests if one not in found]))
            elif not found or not self.others_ask():
                return []

    def others_ask(self) -> bool:
        """Wait for another request; none may come when all other clients are done."""
        here = len(self.held_requests)
        return self.changed.wait_for(lambda: len(self.held_requests) > here, PATIENCE_S)


class GivesOneMessageToTwo(Gathering):
    """Two receives at once, and both get the first message."""

    def pick(self) -> None:
        ready = any(m["state"] == "ready" for queue in self.queues.values() for m in queue["list"])
        both = self.gathered(_plain_receive, 2) if ready and not self.done else []
        if not both:
            if self.held_requests:
                super().pick()
            return
        for one in both:
            self.held_requests.remove(one)
        self.done = True
        (method, params, reply, pending), (_, _, other, _) = both

        def give(result: dict[str, Any]) -> None:
            reply(result)
            other(result)

        HonestManager.handle(self, method, params, give, pending)


class LosesASendInACrowd(Gathering):
    """Several sends at once, and one is answered and forgotten."""

    def pick(self) -> None:
        crowd = [] if self.done else self.gathered(lambda one: one[0] == "messages.send", 3)
        if crowd:
            self.done = True
            self.held_requests.remove(crowd[0])
            crowd[0][2](dict(OK))
        elif self.held_requests:
            super().pick()


class CommitsInPieces(Gathering):
    """Between the messages of a commit somebody else may look.

    The rest is held back until it cannot be explained otherwise: a client got the first message, then found the queue
    empty, and asked again, so that it knew this before anybody was given the rest.
    """

    def __init__(self, state_dir: Path) -> None:
        self.torn: dict[str, Any] | None = None
        self.saw: set[str] = set()
        self.missed: set[str] = set()
        super().__init__(state_dir)

    def serve_one(self, held: Held) -> None:
        self.done = self.done or held[1].get("queue") in self.missed
        super().serve_one(held)

    def do_transactions_commit(self, transaction: str) -> dict[str, Any]:
        held = self.held(transaction)
        for number, (queue, m) in enumerate(held):
            sent = m["state"] == "sending"
            m["state"], m["tx"] = ("ready" if sent else "gone"), None
            if sent:
                self.wake(queue, m)
                rest = any(other is queue and n["state"] == "sending" for other, n in held[number + 1 :])
                if rest and self.torn is None and not self.done:
                    self.let_others_look(m)
        return OK

    def let_others_look(self, m: dict[str, Any]) -> None:
        self.torn = m
        while not self.done and (self.held_requests or self.others_ask()):
            self.pick()
        for one in tuple(self.held_requests):
            self.serve_one(one)
        self.torn = None
        self.saw.clear()
        self.missed.clear()

    def read(self, kind: str, queue: str, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        try:
            result = super().read(kind, queue, *args, **kwargs)
        except Refused as refused:
            if queue in self.saw and refused.status == TIMEOUT:
                self.missed.add(queue)
            raise
        if self.torn is not None and result is not None and result["message"] == self.shown(self.torn):
            self.saw.add(queue)
        return result


def _plain_receive(held: Held) -> bool:
    return held[0] == "messages.receive" and "transaction" not in held[1]
