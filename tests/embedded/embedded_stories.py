"""Small scripted stories, by suite: what a driver shows in each. A fault changes one of its suite's."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from embedded_talk import NAME, Talk

Story = Callable[[Talk], list[Any]]
STORIES: dict[str, list[Story]] = {}
SECOND = "DIRECT=OS:HOST\\private$\\second"
FAR = "DIRECT=OS:ELSEWHERE\\private$\\q"
WAIT = 1000
BODY = "AAECAwQFBgcICQ=="  # ten bytes


def of(suite: str) -> Callable[[Story], Story]:
    def register(story: Story) -> Story:
        STORIES.setdefault(suite, []).append(story)
        return story

    return register


@functools.cache
def faultless(story: Callable[[Talk], object], **version: str) -> object:
    """What a driver without faults shows in a story."""
    with tempfile.TemporaryDirectory() as folder:
        talk = Talk(Path(folder), **version)
        try:
            return story(talk)
        finally:
            talk.driver.close()


def started_again(talk: Talk, kill: bool) -> Talk:
    """The driver after a stop and a start, or after a kill."""
    if not kill:
        talk.driver.close()
    return Talk(talk.state_dir, talk.faults, **talk.options)


class Teller:
    """Calls whose answers are all written down, a blocked one's when the story ends."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.seen: list[Any] = []

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        answers = self.talk.start(method, **params)
        self.seen.append(answers)
        self.seen.append([sum(map(len, self.seen))])  # how many are answered by now
        return answers[0] if answers else {}

    def peek(self, queue: str, **more: Any) -> dict[str, Any]:
        return self("messages.peek", **{"queue": queue, "timeout_ms": 0, **more})

    def take(self, queue: str, **more: Any) -> dict[str, Any]:
        return self("messages.receive", **{"queue": queue, "timeout_ms": 0, **more})

    def send(self, queue: str, label: str, transaction: str | None = None, **message: Any) -> dict[str, Any]:
        return self("messages.send", queue=queue, message={"label": label, **message}, transaction=transaction)

    def counts(self, name: str = NAME) -> None:
        self("queues.counts", format_name=name)

    def few(self, queue: str) -> None:
        """The first messages of a queue, taken out: some faults leave them there for ever."""
        for _ in range(4):
            self.take(queue)

    def begin(self) -> str:
        return str(self("transactions.begin").get("transaction"))

    def commit(self, transaction: str) -> None:
        self("transactions.commit", transaction=transaction)

    def abort(self, transaction: str) -> None:
        self("transactions.abort", transaction=transaction)

    def filled(
        self, labels: str = "abc", *, transactional: bool = False, **properties: Any
    ) -> tuple[str, str, list[str]]:
        """A queue with messages: its handles for send and receive, and the lookup identifiers."""
        send, receive = self.talk.queue(PROPID_Q_TRANSACTION=int(transactional), **properties)
        fill = self.begin() if transactional else None
        lookups = [str(self.send(send, label, fill).get("lookup_identifier")) for label in labels]
        if fill is not None:
            self.commit(fill)
        return send, receive, lookups


def _opened(talk: Talk, access: str, share: str = "deny_none", name: str = NAME) -> Any:
    return talk("queues.open", format_name=name, access=access, share=share)


def begun(tell: Teller, queue: str, **more: Any) -> str:
    return str(tell("messages.receive_begin", **{"queue": queue, "timeout_ms": 0, **more}).get("read"))


def subqueue(talk: Talk, name: str = "sub") -> tuple[str, str]:
    """A subqueue, open for move and for receive."""
    return talk.open(f"{NAME};{name}", "move"), talk.open(f"{NAME};{name}")
