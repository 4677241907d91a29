"""What a message shows is compared at every read, and a read-out looks into every queue, the dead-letter queues too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.adapter.client import Client
from conformance.embedded.faults import FAULTS
from conformance.embedded.manager import Manager
from conformance.embedded.transactions import Transactions
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories.history import History
from conformance.histories.situations.book import Planned
from conformance.histories.situations.play import Player
from conformance.histories.situations.situation import space
from conformance.model import Call
from conformance.model.message_properties import ALL, JUDGED, QUEUES_SHOWN
from conformance.spec.catalogue import assignment
from tools import compared_page

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 10, 10, first_only=True)
OPENED = (
    Call("queues.create", queue="q1"),
    Call("queues.open", name="s", queue="q1", access="send"),
    Call("queues.open", name="r", queue="q1", access="receive"),
)


def sent(message: str, **options: Any) -> Call:
    return Call("messages.send", message=message, handle="s", **options)


PEEK = Call("messages.peek", handle="r")
TAKE = Call("messages.receive", handle="r")
ADMIN = Call("queues.create", queue="adm")
PASSES = Call("clock.advance", by_ms=5000)
TRANSACTIONAL = (Call("queues.create", queue="q1", transactional=True), *OPENED[1:])
RETURNS = (
    *TRANSACTIONAL,
    Call("transactions.begin", name="t1"),
    sent("a", transaction="t1"),
    Call("transactions.commit", transaction="t1"),
    PEEK,
    Call("transactions.begin", name="t2"),
    Call("messages.receive", handle="r", transaction="t2"),
    Call("transactions.abort", transaction="t2"),
)
MOVED = (
    *OPENED,
    Call("queues.open", name="m", queue="q1;sub", access="move"),
    sent("a"),
    Call("messages.peek", handle="r"),
    Call("messages.move", handle="r", message="a", destination="m"),
)
SHOWN = {
    "tracing-forgotten": (*OPENED, sent("a"), sent("b"), sent("c"), PEEK),
    "time-to-be-received-of-the-last": (*OPENED, sent("a", live_s=9), sent("b")),
    "administration-queue-of-the-last": (*OPENED, ADMIN, sent("a", acks="positive_receive", admin="adm"), sent("b")),
    "journaling-not-shown": (*OPENED, sent("a", journal=True), PEEK),
    "arrivals-acknowledged-not-shown": (*OPENED, ADMIN, sent("a", acks="positive_arrival", admin="adm"), PEEK),
    "returns-with-another-sent-time": RETURNS,
    "send-tells-another-lookup-identifier": (*OPENED, sent("a"), PEEK),
    "expired-behind-another-not-kept": (*OPENED, sent("a"), sent("b", live_s=3, dead_letter=True), PASSES),
}


def failures(client: Client, calls: tuple[Call, ...], number: int = 1) -> list[str]:
    judge = Recorder(OPTIONS, lambda verdict, count: None)
    player = Player(GuardedClient(client), judge, OPTIONS, space())
    player.play([Planned(number, calls, tuple(() for _ in calls), True, frozenset(), 0)])
    return [failure.verdict.requirement for failure in player.told(2.0)]


@pytest.mark.parametrize("fault", SHOWN)
def test_what_is_wrong_inside_is_seen_in_any_history(opened: Callable[[str], Client], fault: str) -> None:
    found = failures(opened(f"embedded+{fault}"), SHOWN[fault])
    assert found and found[0] in FAULTS[fault].breaks
    assert not failures(opened("embedded"), SHOWN[fault])


def test_a_moved_message_that_is_kept_as_lost_is_seen(
    opened: Callable[[str], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that the model knows of has ever been in the dead-letter queue."""
    relocate = Transactions.relocate

    def keeping(self: Transactions, position: Any, target: Any) -> None:
        self.manager.delivery.copy(self.manager.queues.system("deadletter"), position.message)
        relocate(self, position, target)

    monkeypatch.setattr(Transactions, "relocate", keeping)
    assert failures(opened("embedded"), MOVED) == ["MQDMPR-3.1.1.12.negative-journaling-off"]


def test_what_others_left_in_a_dead_letter_queue_is_not_judged(
    opened: Callable[[str], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A manager whose dead-letter queue outlives a reset, and is used by other programs too."""
    client, reset = opened("embedded"), Manager.reset

    def shared(self: Manager) -> None:
        reset(self)
        for _ in range(3):
            self.delivery.copy(self.queues.system("deadletter"), self.sending.make({"label": "a"}, transactional=False))

    monkeypatch.setattr(Manager, "reset", shared)
    for calls in (OPENED, SHOWN["expired-behind-another-not-kept"], MOVED):
        assert not failures(client, calls)


CARRIED = ALL | JUDGED | QUEUES_SHOWN
PLACED = (
    *OPENED,
    ADMIN,
    Call("cursors.open", name="c", handle="r"),
    *(
        sent(name, carries=CARRIED, journal=True, dead_letter=True, live_s=9, acks="positive_receive", admin="adm")
        for name in ("a", "b")
    ),
    Call("messages.peek", handle="r", cursor="c"),
    Call("messages.peek_by_lookup_id", handle="r", action="last"),
)
READS = (
    PEEK,
    TAKE,
    Call("messages.peek_next", handle="r", cursor="c"),
    Call("messages.peek_by_lookup_id", handle="r", message="a", action="current"),
    Call("messages.receive_by_lookup_id", handle="r", message="b", action="current"),
    Call("messages.receive_begin", handle="r", name="b1"),
)
OTHERS: dict[str, Callable[[Any], Any]] = {
    "body": lambda body: "eA==",
    "label": lambda label: f"{label}.",
    "delivery": lambda delivery: "recoverable",
    "correlation_identifier": lambda old: f"{'B' * 27}=",
    "extension": lambda old: "",
    "acknowledgements": lambda old: [*old, "negative_arrival"],
    "administration_queue": lambda old: "DIRECT=OS:HOST\\private$\\other",
    "response_queue": lambda old: "DIRECT=OS:HOST\\private$\\other",
    "lookup_identifier": lambda old: str(int(old) + 77),
    "identifier": lambda old: {**old, "ordinal": old["ordinal"] + 77},
    "time_to_be_received": lambda seconds: seconds + 1,
}
ELSEWHERE = {"time_to_reach_queue", "first_in_transaction", "last_in_transaction"}
ELSEWHERE |= {"sender", "authentication", "privacy", "certificate"}  # in the suites security and objects


@pytest.mark.parametrize("read", READS, ids=lambda read: read.method)
def test_each_member_of_a_message_is_compared_by_each_read(
    opened: Callable[[str], Client], monkeypatch: pytest.MonkeyPatch, read: Call
) -> None:
    """Change one member of one answer: the answer is a deviation, and the same answer without the change is none."""
    client, asked = opened("embedded"), Client.call
    changing: list[str] = []

    def call(self: Client, method: str, /, **params: Any) -> Any:
        result = asked(self, method, **params)
        if changing and "message" in result.values:
            (member,), message = changing, dict(result.values["message"])
            old = message[member]
            message[member] = (
                OTHERS[member](old) if member in OTHERS else (not old if old in (True, False) else old + 1)
            )
            result.values["message"] = message
        return result

    monkeypatch.setattr(Client, "call", call)
    missed = []
    for member in compared_page.table()["message"].keys() - ELSEWHERE:
        judge = Recorder(OPTIONS, lambda verdict, count: None)
        history = History(GuardedClient(client), judge)
        history.run(*PLACED)
        changing[:] = [member]
        try:
            history.do(read)
            missed.append(member)
        except ConformanceFailure:
            pass
        changing.clear()
    assert not missed
    history = History(GuardedClient(client), Recorder(OPTIONS, lambda verdict, count: None))
    history.run(*PLACED, read)
