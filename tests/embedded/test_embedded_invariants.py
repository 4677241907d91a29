"""Random work: every call is answered once and as the protocol says, books balance, what must survive does."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from embedded_talk import Talk

from conformance.adapter.protocol import validator
from conformance.embedded.entities import State

QUEUES = {"private$\\t": 1, "private$\\n": 0, "public": 0}


class Work:
    """Picks calls at random, among them some that must fail."""

    def __init__(self, talk: Talk, seed: int) -> None:
        self.talk = talk
        self.random = random.Random(seed)
        self.sends: list[str] = []
        self.reads: list[str] = []
        self.cursors: list[tuple[str, str]] = []
        self.transactions: list[str] = []
        self.begun: list[str] = []
        self.calls: list[list[dict[str, Any]]] = []
        self.methods: list[str] = []
        for name, transactional in QUEUES.items():
            send, read = talk.queue(name, PROPID_Q_TRANSACTION=transactional, PROPID_Q_JOURNAL=1)
            self.sends.append(send)
            self.reads.append(read)

    def pick(self, values: list[Any]) -> Any:
        return self.random.choice(values) if values else "nothing"

    def step(self) -> None:
        choice = self.random.random()
        transaction = self.pick([*self.transactions, None, None])
        at = {"queue": self.pick(self.reads), "timeout_ms": self.pick([0, 0, 5, 0xFFFFFFFF])}
        if self.cursors and self.random.random() < 0.5:
            at["queue"], at["cursor"] = self.pick(self.cursors)
        if choice < 0.4:
            message = {
                "label": str(self.random.random()),
                "priority": self.random.randrange(8),
                "delivery": self.pick(["express", "recoverable"]),
                "negative_journaling": True,
                "positive_journaling": self.random.random() < 0.1,
                "time_to_be_received": self.pick([0, 1, 0xFFFFFFFF, 0xFFFFFFFF]),
            }
            self.start("messages.send", queue=self.pick(self.sends), message=message, transaction=transaction)
        elif choice < 0.55:
            self.start("messages.receive", transaction=transaction, **at)
        elif choice < 0.65:
            self.start("messages.peek", **at)
        elif choice < 0.7:
            self.start("messages.peek_next", **{"cursor": None, **at})
        elif choice < 0.75:
            begun = self.start("messages.receive_begin", **at)
            self.begun += [answer["read"] for answer in begun if "read" in answer]
        elif choice < 0.8:
            self.start("messages.receive_end", read=self.pick(self.begun), acknowledge=self.random.random() < 0.5)
        elif choice < 0.85:
            opened = self.start("cursors.open", queue=at["queue"])
            self.cursors += [(str(at["queue"]), answer["cursor"]) for answer in opened if "cursor" in answer]
        elif choice < 0.9:
            self.transactions.append(self.talk.begin())
        elif choice < 0.96:
            self.start(f"transactions.{self.pick(['commit', 'abort'])}", transaction=self.pick(self.transactions))
        elif choice < 0.97:
            self.start("queues.purge", queue=at["queue"])
        else:
            self.start("clock.advance", by_ms=self.random.randrange(1500))

    def start(self, method: str, **params: Any) -> list[dict[str, Any]]:
        for none in [name for name, value in params.items() if value is None and name != "cursor"]:
            del params[none]
        if params.get("cursor", "") is not None:  # a peek-next without cursor is not in the protocol, but is answered
            validator(method, "params")(params)
        self.calls.append(self.talk.start(method, **params))
        self.methods.append(method)
        return self.calls[-1]


def balance(talk: Talk) -> dict[str, list[str]]:
    """Check the books; returns, by queue, the labels that must survive a restart."""
    manager = talk.driver.manager
    total = {True: 0, False: 0}
    kept = {}
    for queue in manager.queues.all():
        positions = list(queue.positions)
        assert queue.bytes == sum(position.message.size for position in positions)
        assert all(position.state is not State.DELETED for position in positions)
        assert [position.key for position in positions] == sorted({position.key for position in positions})
        assert [position.lookup for position in positions] == sorted({position.lookup for position in positions})
        waiting = [waiter for waiter in queue.waiters if waiter.cursor is None]
        assert not (waiting and queue.positions.first_available())
        total[queue.is_journal] += queue.bytes
        kept[queue.id] = [
            position.message.fields["label"]
            for position in positions
            if position.message.recoverable and not position.uncommitted and position.state is not State.PURGE_PENDING
        ]
    assert (manager.journal_bytes, manager.message_bytes) == (total[True], total[False])
    return kept


@pytest.mark.parametrize("seed", range(8))
def test_books_balance_and_a_restart_keeps_what_it_must(tmp_path: Path, seed: int) -> None:
    talk = Talk(tmp_path)
    work = Work(talk, seed)
    for _ in range(400):
        work.step()
        balance(talk)
    assert sum(answer[0]["status"] == 0 for answer in work.calls if answer) > 100
    manager = talk.driver.manager
    for expired in [each for queue in manager.queues.all() for each in queue.positions if each.expired]:
        manager.delivery.make_available(expired)  # it ends with its lock, and the lock ends with the process
    before = balance(talk)
    talk.driver.close()
    again = Talk(tmp_path)
    assert balance(again) == before
    again.ok("reset")
    assert all(len(answers) <= 1 for answers in work.calls)
    again.driver.close()


def test_reset_answers_every_call_that_waits(tmp_path: Path) -> None:
    talk = Talk(tmp_path)
    work = Work(talk, 99)
    for _ in range(300):
        work.step()
    talk.ok("reset")
    assert all(len(answers) == 1 for answers in work.calls)
    for method, [answer] in zip(work.methods, work.calls, strict=True):
        validator(method, "result")(answer)
    talk.driver.close()
