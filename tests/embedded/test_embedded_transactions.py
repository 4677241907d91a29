"""Internal transactions across queues, and moves."""

from __future__ import annotations

import pytest
from embedded_talk import Talk

from conformance.spec.constants import hresults as hr


def test_commit_makes_sends_and_receives_final_in_several_queues(talk: Talk) -> None:
    send_a, receive_a = talk.queue("private$\\a", PROPID_Q_TRANSACTION=1)
    send_b, receive_b = talk.queue("private$\\b", PROPID_Q_TRANSACTION=1)
    first = talk.begin()
    for label in "xyz":
        talk.send(send_a, label, first, priority=5, delivery="express")
    assert talk.drain(receive_a) == []
    talk.ok("transactions.commit", transaction=first)
    second = talk.begin()
    assert talk.receive(receive_a, transaction=second) == "x"
    talk.send(send_b, "answer", second)
    assert talk.ok("messages.peek", queue=receive_a, timeout_ms=0)["message"]["label"] == "y"
    talk.ok("transactions.commit", transaction=second)
    message = talk.ok("messages.receive", queue=receive_a, timeout_ms=0)["message"]
    assert (message["priority"], message["delivery"]) == (0, "recoverable")
    assert (message["first_in_transaction"], message["last_in_transaction"]) == (False, False)
    message = talk.ok("messages.receive", queue=receive_a, timeout_ms=0)["message"]
    assert (message["first_in_transaction"], message["last_in_transaction"]) == (False, True)
    assert talk.drain(receive_b) == ["answer"]


def test_abort_puts_messages_back_where_they_stood(talk: Talk) -> None:
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    fill = talk.begin()
    for label in "abc":
        talk.send(send, label, fill)
    talk.ok("transactions.commit", transaction=fill)
    before = talk.ok("queues.counts", format_name="DIRECT=OS:HOST\\private$\\q")
    transaction = talk.begin()
    assert [talk.receive(receive, transaction=transaction) for _ in range(2)] == ["a", "b"]
    talk.send(send, "d", transaction)
    talk.ok("transactions.abort", transaction=transaction)
    assert talk.ok("queues.counts", format_name="DIRECT=OS:HOST\\private$\\q") == before
    assert talk.drain(receive) == ["a", "b", "c"]


def test_commit_and_abort_wake_waiting_readers(talk: Talk) -> None:
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    waiting = talk.start("messages.receive", queue=receive, timeout_ms=0xFFFFFFFF)
    transaction = talk.begin()
    talk.send(send, "a", transaction)
    assert waiting == []
    talk.ok("transactions.commit", transaction=transaction)
    assert waiting[0]["message"]["label"] == "a"
    for end in ("commit", "abort"):
        transaction = talk.begin()
        talk.send(send, end, transaction)
        talk.ok("transactions.commit", transaction=transaction)
        holder = talk.begin()
        talk.receive(receive, transaction=holder)
        waiting = talk.start("messages.receive", queue=receive, timeout_ms=1)
        talk.ok(f"transactions.{end}", transaction=holder)
        assert bool(waiting) == (end == "abort")
        talk.ok("clock.advance", by_ms=1)


def test_a_wait_in_a_transaction_ends_with_it(talk: Talk) -> None:
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    transaction = talk.begin()
    waiting = talk.start("messages.receive", queue=receive, timeout_ms=0xFFFFFFFF, transaction=transaction)
    talk.ok("transactions.abort", transaction=transaction)
    assert waiting == [{"status": hr.MQ_ERROR_OPERATION_CANCELLED}]
    later = talk.begin()
    talk.send(send, "a", later)
    talk.ok("transactions.commit", transaction=later)
    assert talk.drain(receive) == ["a"]


@pytest.mark.parametrize("method", ["prepare", "commit", "abort"])
def test_a_transaction_that_ended_is_a_sequence_error(talk: Talk, method: str) -> None:
    transaction = talk.begin()
    talk.ok("transactions.prepare", transaction=transaction)
    talk.ok("transactions.commit", transaction=transaction)
    assert talk(f"transactions.{method}", transaction=transaction)["status"] == hr.MQ_ERROR_TRANSACTION_SEQUENCE


def test_transactional_and_other_queues_do_not_mix(talk: Talk) -> None:
    send_t, _ = talk.queue("private$\\t", PROPID_Q_TRANSACTION=1)
    send, receive = talk.queue("private$\\n")
    transaction = talk.begin()
    usage = hr.MQ_ERROR_TRANSACTION_USAGE
    assert talk("messages.send", queue=send_t, message={})["status"] == usage
    assert talk("messages.send", queue=send, message={}, transaction=transaction)["status"] == usage
    assert talk("messages.receive", queue=receive, timeout_ms=0, transaction=transaction)["status"] == usage


@pytest.mark.parametrize("end", ["commit", "abort"])
def test_a_purge_takes_what_a_transaction_holds(talk: Talk, end: str) -> None:
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    fill = talk.begin()
    talk.send(send, "held", fill)
    talk.ok("transactions.commit", transaction=fill)
    transaction = talk.begin()
    talk.receive(receive, transaction=transaction)
    talk.send(send, "later", transaction)
    talk.ok("queues.purge", queue=receive)
    talk.ok(f"transactions.{end}", transaction=transaction)
    assert talk.drain(receive) == (["later"] if end == "commit" else [])
    assert talk.ok("queues.counts", format_name="DIRECT=OS:HOST\\private$\\q")["bytes"] == 0


def test_a_message_held_beyond_its_time(talk: Talk) -> None:
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    fill = talk.begin()
    for label in "ab":
        talk.send(send, label, fill, time_to_be_received=10, negative_journaling=True)
    talk.ok("transactions.commit", transaction=fill)
    kept, dropped = talk.begin(), talk.begin()
    talk.receive(receive, transaction=kept)
    talk.receive(receive, transaction=dropped)
    talk.ok("clock.advance", by_ms=10_000)
    talk.ok("transactions.commit", transaction=kept)
    talk.ok("transactions.abort", transaction=dropped)
    assert talk.drain(receive) == []
    assert talk.drain(talk.open("DIRECT=OS:HOST\\SYSTEM$;DEADXACT")) == ["b"]


@pytest.mark.parametrize("end", ["none", "commit", "abort"])
def test_a_message_moves_to_a_subqueue(talk: Talk, end: str) -> None:
    transactional = int(end != "none")
    send, receive = talk.queue(PROPID_Q_TRANSACTION=transactional)
    fill = talk.begin() if transactional else None
    lookup = talk.send(send, "a", fill)["lookup_identifier"]
    if fill:
        talk.ok("transactions.commit", transaction=fill)
    name = "DIRECT=OS:HOST\\private$\\q;later"
    target, read = talk.open(name, "move"), talk.open(name)
    transaction = talk.begin() if transactional else None
    talk.ok("messages.move", queue=receive, lookup_identifier=lookup, destination=target, transaction=transaction)
    if transaction:
        assert talk("messages.peek", queue=receive, timeout_ms=0)["status"] == hr.MQ_ERROR_IO_TIMEOUT
        assert talk("messages.peek", queue=read, timeout_ms=0)["status"] == hr.MQ_ERROR_IO_TIMEOUT
        talk.ok(f"transactions.{end}", transaction=transaction)
    assert (talk.drain(receive), talk.drain(read)) == ((["a"], []) if end == "abort" else ([], ["a"]))
    assert talk("queues.open", format_name=name, access="send")["status"] != 0
