"""Fixed stories by name, for tests and for repro files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.judge.message_attributes import judge_marks
from conformance.suites.properties.messages import EVERYTHING, Mailbox, Unopened
from conformance.suites.properties.refused_sends import wrong_sizes
from conformance.verdict import Json, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

KIND = "story"

BODY = "Ym9keQ=="
COUNTS = {
    "messages": "MQMQ-2.3.12.7.propid-mgmt-queue-message-count",
    "bytes": "MQMQ-2.3.12.8.propid-mgmt-queue-bytes-in-queue",
    "journal_messages": "MQMQ-2.3.12.9.propid-mgmt-queue-journal-message-count",
    "journal_bytes": "MQMQ-2.3.12.10.propid-mgmt-queue-bytes-in-journal",
}
TRANSACTIONAL, NOT_TRANSACTIONAL = "MQMQ-2.3.1.13.mq-transactional", "MQMQ-2.3.1.13.mq-transactional-none"
UNAUTHENTICATED, CLEAR = "MQDMPR-3.1.1.2.authentication-off", "MQDMPR-3.1.1.2.privacy-level-optional"


EMPTY, NO_SUBQUEUES = "MQDMPR-3.1.7.1.3.empty", "MQDMPR-3.1.7.1.3.no-subqueues"


class Traffic:
    """A queue with given properties, and messages through it."""

    def __init__(self, mq: Port, judge: Recorder, name: str, **properties: Json) -> None:
        self.mq = mq
        self.judge = judge
        path = f"{mq.hello.computer}\\private$\\mqconform-{name}"
        given = {f"PROPID_Q_{each}": value for each, value in properties.items()}
        created = mq.call("queues.create", path_name=path, properties=given)
        judge.step(f"create a queue with {given}", {"method": "queues.create"}, {"status": created.status})
        self.format_name = str(created.values.get("format_name", f"DIRECT=OS:{path}"))
        self.handles: dict[str, Any] = {}
        for access in ("send", "receive"):
            opened = mq.call("queues.open", format_name=self.format_name, access=access)
            if not opened.ok:
                raise Unopened("no queue could be created and opened to send messages to")
            self.handles[access] = opened.values["queue"]

    def send(self, **more: Any) -> bool:
        """Send a message with a body; return True if it is accepted."""
        sent = self.mq.call("messages.send", queue=self.handles["send"], message={"body": BODY}, **more)
        self.judge.step("send a message", {"method": "messages.send"}, {"status": sent.status})
        return bool(sent.ok)

    def receive(self) -> bool:
        """Receive a message; return True if there was one."""
        timeout_ms = self.mq.hello.settle_ms
        got = self.mq.call("messages.receive", queue=self.handles["receive"], timeout_ms=timeout_ms)
        self.judge.step("receive", {"method": "messages.receive"}, {"status": got.status})
        return bool(got.ok)

    def counts(self) -> dict[str, int]:
        """Return the answer of queues.counts."""
        result = self.mq.call("queues.counts", format_name=self.format_name)
        told = {name: int(value) for name, value in result.values.items() if name in COUNTS} if result.ok else {}
        self.judge.step("counts", {"method": "queues.counts"}, told)
        return told

    def expect(self, demand: str, holds: bool, expected: Json, actual: Json) -> None:
        """Record a verdict."""
        outcome = Outcome.PASS if holds else Outcome.FAIL
        self.judge.record(Verdict(demand, outcome, demand.rpartition(".")[2], expected, actual))


def counts(mq: Port, judge: Recorder) -> None:
    """A queue and its journal are counted: no messages, no bytes; some messages, some bytes."""
    box = Traffic(mq, judge, "counts", JOURNAL=1)
    kept = taken = 0
    for step in ("", "send", "send", "send", "receive", "receive", "receive"):
        if step == "send":
            kept += box.send()
        elif step == "receive":
            got = box.receive()
            kept, taken = kept - got, taken + got
        numbers = {"messages": kept, "bytes": kept, "journal_messages": taken, "journal_bytes": taken}
        for name, value in box.counts().items():
            wanted = numbers[name]
            if name.endswith("bytes"):
                box.expect(COUNTS[name], (value > 0) == (wanted > 0), "more than 0" if wanted else 0, value)
            else:
                box.expect(COUNTS[name], value == wanted, wanted, value)


def transactional_or_not(mq: Port, judge: Recorder) -> None:
    """Each kind of queue, transactional or not, accepts the messages meant for it."""
    box = Traffic(mq, judge, "plain", TRANSACTION=0)
    there = box.send() and box.receive()
    box.expect(NOT_TRANSACTIONAL, there, {"received": True}, {"received": there})
    box = Traffic(mq, judge, "transactional", TRANSACTION=1)
    begun = mq.call("transactions.begin")
    there = begun.ok and box.send(transaction=begun.values["transaction"])
    there = there and mq.call("transactions.commit", transaction=begun.values["transaction"]).ok and box.receive()
    box.expect(TRANSACTIONAL, there, {"received": True}, {"received": there})


def created_again(mq: Port, judge: Recorder) -> None:
    """A queue with messages is deleted and created again under its name: its messages are gone."""
    box = Traffic(mq, judge, "again")
    box.send()
    box.send()
    mq.call("queues.delete", format_name=box.format_name)
    judge.step("delete the queue", {"method": "queues.delete"})
    box = Traffic(mq, judge, "again")
    there = box.receive()
    box.expect(EMPTY, not there, {"received": False}, {"received": there})


def created_again_without_subqueues(mq: Port, judge: Recorder) -> None:
    """The same with a message in a subqueue."""
    box = Traffic(mq, judge, "again")
    sent = mq.call("messages.send", queue=box.handles["send"], message={"body": BODY})
    lookup = mq.call("messages.peek", queue=box.handles["receive"], timeout_ms=mq.hello.settle_ms)
    subqueue = f"{box.format_name};part"
    into = mq.call("queues.open", format_name=subqueue, access="move")
    identifier = lookup.values["message"].get("lookup_identifier") if sent.ok and lookup.ok else None
    if identifier is None or not into.ok:
        raise Unopened("no message could be moved to a subqueue")
    params = {"lookup_identifier": identifier, "destination": into.values["queue"]}
    moved = mq.call("messages.move", queue=box.handles["receive"], **params)
    judge.step("move the message to a subqueue", {"method": "messages.move"}, {"status": moved.status})
    if not moved.ok:
        raise Unopened("no message could be moved to a subqueue")
    mq.call("queues.delete", format_name=box.format_name)
    judge.step("delete the queue", {"method": "queues.delete"})
    box = Traffic(mq, judge, "again")
    opened = mq.call("queues.open", format_name=subqueue, access="receive")
    there = False
    if opened.ok:
        timeout_ms = mq.hello.settle_ms
        there = mq.call("messages.receive", queue=opened.values["queue"], timeout_ms=timeout_ms).ok
    judge.step("receive from the subqueue", {"method": "messages.receive"}, {"received": there})
    box.expect(NO_SUBQUEUES, not there, {"received": False}, {"received": there})


def neither_signed_nor_encrypted(mq: Port, judge: Recorder) -> None:
    """A queue that demands neither signature nor encryption accepts messages without them."""
    asks: tuple[tuple[str, dict[str, Json]], ...] = ((UNAUTHENTICATED, {"AUTHENTICATE": 0}), (CLEAR, {"PRIV_LEVEL": 1}))
    for demand, properties in asks:
        box = Traffic(mq, judge, next(iter(properties)).lower(), **properties)
        there = box.send() and box.receive()
        box.expect(demand, there, {"received": True}, {"received": there})


def attributes_after_a_restart(mq: Port, judge: Recorder, *, kill: bool) -> None:
    """A recoverable message keeps every attribute over a restart."""
    box = Mailbox(mq, judge)
    alike: tuple[Mapping[str, Any], ...] = (EVERYTHING, {"delivery": "recoverable"})
    before = [box.exchange(message) for message in alike]
    sent = [box.send(message) for message in alike]
    mq.restart(kill=kill)
    judge.step("the manager is killed and started again" if kill else "the manager is restarted")
    box.open()
    for sending, seen in zip(sent, before, strict=True):
        kept = sending is not None and sending.message.get("delivery") == "recoverable"  # where an API can say so
        if sending is not None and seen is not None and kept:
            box.read("messages.receive", sending, before=seen)


def first_and_last(mq: Port, judge: Recorder) -> None:
    """Transactions send one, two and three messages; the first and the last of each are marked."""
    box = Mailbox(mq, judge, transactional=True)
    for count in (1, 2, 3):
        begun = mq.call("transactions.begin")
        if not begun.ok:
            return
        transaction = begun.values["transaction"]
        sent = [box.send({"body": BODY}, transaction=transaction) for _ in range(count)]
        mq.call("transactions.commit", transaction=transaction)
        seen = [box.read("messages.receive", sending) for sending in sent if sending is not None]
        judge.record(*judge_marks([message for message in seen if message is not None], judge.readings))


Story = Callable[["Port", "Recorder"], None]
STORIES: Mapping[str, Story] = {
    "counts": counts,
    "transactional-or-not": transactional_or_not,
    "neither-signed-nor-encrypted": neither_signed_nor_encrypted,
    "attributes-killed": partial(attributes_after_a_restart, kill=True),
    "attributes-stopped": partial(attributes_after_a_restart, kill=False),
    "first-and-last": first_and_last,
    "created-again": created_again,
    "created-again-without-subqueues": created_again_without_subqueues,
    "wrong-sizes": wrong_sizes,
}


def tell(name: str, mq: Port, judge: Recorder) -> None:
    """Run a story. Raises ConformanceFailure, and Unopened if it cannot make its queue."""
    judge.begin_example(KIND, {"story": name})
    STORIES[name](mq, judge)
