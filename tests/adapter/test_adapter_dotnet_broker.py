"""The .NET driver over Mono's System.Messaging and a real RabbitMQ: one on the machine, or one of our own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dotnet import Wire, a_broker, compiled, need_rabbitmq

from conformance.adapter.check import check_adapter
from conformance.run import run
from conformance.runlog import read_run
from conformance.verdict import Outcome

BODY = "aGVsbG8="
WAIT_MS = 2_000  # for a message that is there: a read that is not to wait may miss it


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The compiled driver, with a broker to use."""
    driver = compiled(tmp_path_factory.mktemp("dotnet"))
    need_rabbitmq()
    with a_broker():
        yield driver


class Session:
    """A driver with a queue open for sending and receiving."""

    def __init__(self, driver: Path, state: Path, namespace: str = "", options: tuple[str, ...] = ()) -> None:
        self.wire = Wire("mono", driver, *options)
        self.wire.hello(state)
        if namespace:
            self.wire.call("attach", namespace=namespace)

    def queue(self, *, transactional: bool = False) -> None:
        properties = {"PROPID_Q_TRANSACTION": int(transactional)}
        made = self.call("queues.create", path_name=".\\private$\\q", properties=properties)
        self.open(str(made["format_name"]))

    def open(self, name: str = "DIRECT=OS:.\\private$\\q") -> None:
        self.sender = self.call("queues.open", format_name=name, access="send")["queue"]
        self.reader = self.call("queues.open", format_name=name, access="receive")["queue"]

    def call(self, method: str, **params: object) -> dict[str, object]:
        return self.wire.call(method, **params, deadline_ms=10_000)

    def send(self, label: str, **params: object) -> dict[str, object]:
        return self.call("messages.send", queue=self.sender, message={"body": BODY, "label": label}, **params)

    def receive(self, **params: object) -> str | None:
        """The label of the message, None when there was none in time."""
        self.wire.request("messages.receive", queue=self.reader, timeout_ms=WAIT_MS, **params)
        message = self.wire.receive()
        while message.get("method") == "pending":
            message = self.wire.receive()
        result = message["result"]
        return str(result["message"]["label"]) if result["status"] == 0 else None


@pytest.fixture
def session(driver: Path, tmp_path: Path) -> Iterator[Session]:
    session = Session(driver, tmp_path)
    yield session
    session.wire.close()


def test_it_speaks_the_protocol(driver: Path, tmp_path: Path) -> None:
    steps = check_adapter(f"stdio:mono '{driver}' --no-wait-ms 50", state_dir=tmp_path)
    assert [step for step in steps if step.state == "wrong"] == []
    assert {step.what for step in steps if step.state == "ok"} >= {
        "messages.send",
        "messages.receive",
        "messages.peek",
        "cursors.open",
        "transactions.commit",
        "waiting read",
        "kill and restart",
        "attach",
        "stop",
    }


def test_a_message_keeps_what_it_was_sent_with(session: Session) -> None:
    session.queue()
    message = {
        "body": "AP8=",
        "body_type": 17,
        "label": "a \u00e4\u4e2d\U0001f600",
        "priority": 6,
        "delivery": "recoverable",
        "application_tag": 4_000_000_000,
        "correlation_identifier": "AQIDBAUGBwgJCgsMDQ4PEBESExQ=",
        "extension": "AQI=",
        "time_to_be_received": 600,
        "acknowledgements": ["positive_arrival", "negative_receive"],
    }
    assert session.call("messages.send", queue=session.sender, message=message)["status"] == 0
    session.wire.request("messages.peek", queue=session.reader, timeout_ms=WAIT_MS)
    shown = session.wire.receive()["result"]["message"]
    assert {name: shown[name] for name in message} == message


@pytest.mark.parametrize("options", [(), ("--dead-letters-may-be-lost",)])
def test_a_reset_empties_the_dead_letters_where_their_owner_lets_it(
    driver: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    stranger = Session(driver, tmp_path / "stranger")
    ours = Session(driver, tmp_path / "ours", options=options)
    try:
        stranger.open("DIRECT=OS:.\\SYSTEM$;DEADLETTER")
        assert stranger.send("of another program")["status"] == 0
        assert ours.call("reset") == {"status": 0}
        assert stranger.receive() == (None if options else "of another program")
    finally:
        stranger.wire.close()
        ours.wire.close()


def test_a_read_that_waits_lets_others_through_and_says_so(session: Session) -> None:
    session.queue()
    read = session.wire.request("messages.receive", queue=session.reader, timeout_ms=60_000)
    assert session.wire.receive() == {"jsonrpc": "2.0", "method": "pending", "params": {"id": read}}
    sent = session.wire.request("messages.send", queue=session.sender, message={"body": BODY, "label": "late"})
    answers = {message["id"]: message["result"] for message in (session.wire.receive(), session.wire.receive())}
    assert answers[sent]["status"] == 0 and answers[read]["message"]["label"] == "late"


def test_a_transaction_shows_its_sends_at_commit_only(session: Session) -> None:
    session.queue(transactional=True)
    for end, seen in (("transactions.abort", None), ("transactions.commit", "in it")):
        transaction = session.call("transactions.begin")["transaction"]
        assert session.send("in it", transaction=transaction)["status"] == 0
        assert session.call(end, transaction=transaction)["status"] == 0
        assert session.receive() == seen
        # It is known still: a second end is the library's to refuse, and Mono's does not.
        assert session.call(end, transaction=transaction)["status"] == 0


def test_a_message_outlives_a_kill_and_not_a_reset(driver: Path, session: Session, tmp_path: Path) -> None:
    session.queue()
    session.send("kept")
    session.wire.process.kill()
    again = Session(driver, tmp_path)
    try:
        again.open()
        assert again.receive() == "kept"
        again.send("lost")
        again.call("reset")
        again.queue()
        assert again.receive() is None
    finally:
        again.wire.close()


def test_two_runs_on_one_broker_do_not_meet(driver: Path, session: Session, tmp_path: Path) -> None:
    other, third = Session(driver, tmp_path / "other"), Session(driver, tmp_path, "third")
    try:
        for one, label in ((session, "mine"), (other, "theirs"), (third, "third")):
            one.queue()
            one.send(label)
        other.call("reset")
        assert (session.receive(), third.receive()) == ("mine", "third")
        assert (session.receive(), third.receive()) == (None, None)
    finally:
        other.wire.close()
        third.wire.close()


def test_a_library_that_broke_is_a_fresh_one_after_a_reset(session: Session) -> None:
    """Mono's connections are shared for a process's life, and the commit of an empty transaction closes one of them."""
    session.queue(transactional=True)
    session.send("before")
    empty = session.call("transactions.begin")["transaction"]
    assert session.call("transactions.commit", transaction=empty)["status"] != 0
    process = session.wire.process.pid
    assert session.call("reset") == {"status": 0}
    for label in ("one", "two", "three"):
        session.queue()
        assert session.send(label)["status"] == 0
        assert session.receive() == label
        session.call("reset")
    assert session.wire.process.pid == process and session.wire.process.poll() is None


def test_reads_left_waiting_are_answered_by_a_reset(session: Session) -> None:
    session.queue()
    read = session.wire.request("messages.receive", queue=session.reader, timeout_ms=4294967295)
    assert session.wire.receive()["method"] == "pending"
    done = session.wire.request("reset")
    first, second = session.wire.receive(), session.wire.receive()
    assert first["id"] == read and first["result"]["failure"]["kind"] == "Reset"
    assert second["id"] == done and second["result"] == {"status": 0}


def test_a_reset_does_not_wait_for_a_read_in_a_transaction(session: Session) -> None:
    """The library's transaction is locked while a read in it waits: aborting it would wait for ever."""
    session.queue(transactional=True)
    transaction = session.call("transactions.begin")["transaction"]
    forever = {"queue": session.reader, "timeout_ms": 4294967295, "transaction": transaction}
    session.wire.request("messages.receive", **forever)
    assert session.wire.receive()["method"] == "pending"
    done = session.wire.request("reset", deadline_ms=10_000)
    assert [session.wire.receive()["result"]["status"] for _ in range(2)] == [None, 0]
    assert done and session.wire.process.poll() is None


def test_a_call_that_does_not_come_back_costs_no_later_test(session: Session) -> None:
    """A send in a transaction in which a read waits: the library's lock is held until the read ends."""
    session.queue(transactional=True)
    transaction = session.call("transactions.begin")["transaction"]
    session.wire.request("messages.receive", queue=session.reader, timeout_ms=4294967295, transaction=transaction)
    assert session.wire.receive()["method"] == "pending"
    sent = session.wire.request(
        "messages.send",
        queue=session.sender,
        message={"body": BODY},
        transaction=transaction,
        deadline_ms=1_000,
    )
    answer = session.wire.receive()
    assert answer["id"] == sent and answer["result"]["failure"]["kind"] == "NoAnswer"
    session.wire.request("reset", deadline_ms=10_000)
    assert [session.wire.receive()["result"]["status"] for _ in range(2)] == [None, 0]
    session.queue()
    session.send("next")
    assert session.receive() == "next"


def test_what_an_enumerator_cannot_do_is_not_expressible(session: Session) -> None:
    session.queue(transactional=True)
    for label in ("a", "b"):
        session.send(label)
    cursor = session.call("cursors.open", queue=session.reader)["cursor"]
    where = {"queue": session.reader, "cursor": cursor, "timeout_ms": WAIT_MS}
    for method, transaction in (
        ("messages.peek_next", None),
        ("messages.receive", "begin"),
        ("messages.peek_next", None),
    ):
        given = {"transaction": session.call("transactions.begin")["transaction"]} if transaction else {}
        failure = session.call(method, **where, **given)["failure"]
        assert failure["kind"] == "NotExpressible"  # type: ignore[index]
    labels = [session.call(method, **where)["message"]["label"] for method in ("messages.peek", "messages.peek_next")]  # type: ignore[index]
    assert labels == ["a", "b"]


def test_a_cursor_is_not_moved_by_the_driver(session: Session) -> None:
    """After a removal, Mono's enumerator shows what it has removed; a driver that moved it on would show the next."""
    session.queue()
    for label in ("a", "b"):
        session.send(label)
    cursor = session.call("cursors.open", queue=session.reader)["cursor"]
    where = {"queue": session.reader, "cursor": cursor, "timeout_ms": WAIT_MS}
    methods = ("messages.peek", "messages.receive", "messages.peek", "messages.peek_next")
    shown = [session.call(method, **where)["message"]["label"] for method in methods]  # type: ignore[index]
    assert shown == ["a", "a", "a", "b"]


def test_a_message_without_a_body_is_sent_without_one(session: Session) -> None:
    """The driver fills none in: Mono's library fails then."""
    session.queue()
    failure = session.call("messages.send", queue=session.sender, message={})["failure"]
    assert failure["kind"] == "NullReferenceException"  # type: ignore[index]


def test_suites_judge_it(driver: Path, tmp_path: Path) -> None:
    """A slice of the suites: it deviates, and what it is said to deviate in is what it does."""
    result = run(
        adapter=f"stdio:mono '{driver}' --no-wait-ms 20",
        suites="cursors",
        max_examples=1,
        out=tmp_path,
        pytest_args=["-k", "test_creating_a_queue_twice or test_an_exclusive_receiver or every_spelling"],
    )
    verdicts = {(each.verdict.requirement, each.verdict.outcome) for each in read_run(tmp_path).verdicts}
    assert ("MQMP-3.1.4.5.queue-exists", Outcome.FAIL) in verdicts
    assert ("MQDMPR-3.1.7.1.5.exclusive-then-receive", Outcome.FAIL) in verdicts
    assert any(outcome is Outcome.PASS for _, outcome in verdicts), result
