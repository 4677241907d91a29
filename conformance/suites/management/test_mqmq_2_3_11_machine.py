"""Properties of the machine: MS-MQMQ 2.3.11, MS-MQDMPR 3.1.1.1, 3.1.1.2 (Active) and 3.1.4.12-13."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import (
    ACT,
    GET,
    abort,
    acting,
    begin,
    begin_managed,
    begin_transaction,
    commit,
    connected,
    creates_public,
    of_machine,
    of_queue,
    receive,
    send,
    transfer,
)
from conformance.histories.history import History
from conformance.model import Call
from conformance.model.management_rows import MACHINE, ROWS

TYPES = tuple(row.shown for row in ROWS.values() if row.name.startswith(MACHINE))
MANY = 40
ACTIVE = ("MQDMPR-3.1.1.2.active", "MQDMPR-3.1.1.2.inactive", "MQDMPR-3.1.7.1.3.inactive")
BYTES = "MQMQ-2.3.11.6.propid-mgmt-msmq-bytes-in-all-queues"


@pytest.mark.requirement(*TYPES, "MQMQ-2.3.11.1.format-names", "MQMQ-2.3.11.4.values", "MQMR-3.1.4.1.get")
def test_a_machine_shows_its_properties(mq: Any, judge: Any, mq_need: Any) -> None:
    """Each has its type; a computer with a directory server names it as the section has it."""
    history = begin(mq, judge, mq_need, GET)
    history.run(of_machine(judge), *(of_machine(judge, name.removeprefix(MACHINE)) for name in ROWS if MACHINE in name))


@pytest.mark.requirement(*ACTIVE, "MQMQ-2.3.11.1.format-names")
def test_a_queue_is_active_while_somebody_has_it_open(mq: Any, judge: Any, mq_need: Any) -> None:
    mq_need("queues.create", "queues.open", "queues.close", GET)
    history, active = History(mq, judge), of_machine(judge, "ACTIVEQUEUES")
    history.run(Call("queues.create", queue="q1"), Call("queues.create", queue="q2"), active)
    history.run(Call("queues.open", name="r", queue="q1", access="receive"), active)
    history.run(Call("queues.open", name="s", queue="q1", access="send"), Call("queues.close", handle="r"), active)
    history.run(Call("queues.open", name="p", queue="q2", access="peek"), active, Call("queues.close", handle="s"))
    history.run(active, Call("queues.close", handle="p"), active)


@pytest.mark.requirement("MQDMPR-3.1.1.2.active", "MQDMPR-3.1.1.2.inactive")
def test_a_handle_on_several_queues_is_one_on_each(mq: Any, judge: Any, mq_need: Any) -> None:
    mq_need("queues.create", "queues.open", "queues.close", "queues.delete", GET)
    history, active = History(mq, judge), of_machine(judge, "ACTIVEQUEUES")
    both = Call("queues.open", name="b", queue="q1,q2", access="send")
    history.run(*(Call("queues.create", queue=queue) for queue in ("q1", "q2", "q3")), both, active)
    history.run(Call("queues.close", handle="b"), active, Call("queues.open", name="s", queue="q1", access="send"))
    history.run(Call("queues.open", name="c", queue="q1,q3", access="send"), active, Call("queues.close", handle="s"))
    history.run(active, Call("queues.delete", queue="q3"), active, Call("queues.close", handle="c"), active)


@pytest.mark.requirement("MQMQ-2.3.11.2.propid-mgmt-msmq-privateq", "MQDMPR-3.1.1.2.active")
def test_many_queues_are_listed(mq: Any, judge: Any, mq_need: Any) -> None:
    """Their lists hold all of them, and once each, whatever their order."""
    mq_need("queues.create", "queues.delete", "queues.open", GET)
    history, both = History(mq, judge), of_machine(judge, "ACTIVEQUEUES", "PRIVATEQ")
    queues = [f"q{number}" for number in range(1, MANY + 1)]
    history.run(*(Call("queues.create", queue=queue) for queue in queues), both)
    history.run(*(Call("queues.open", name=f"h{queue}", queue=queue, access="receive") for queue in queues[::-1]), both)
    history.run(*(Call("queues.delete", queue=queue) for queue in queues[::2]), both)


@pytest.mark.requirement("MQDMPR-3.1.1.2.active-outgoing")
def test_an_outgoing_queue_is_active_while_a_message_waits(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_managed(mq, judge, mq_need, "queues.close")
    active = of_machine(judge, "ACTIVEQUEUES")
    history.run(active, Call("messages.send", message="a", handle="s1"), active)
    history.run(Call("queues.close", handle="s1"), active)


@pytest.mark.requirement("MQMQ-2.3.11.2.propid-mgmt-msmq-privateq")
def test_private_queues_are_listed_from_creation_to_deletion(mq: Any, judge: Any, mq_need: Any) -> None:
    mq_need("queues.create", "queues.delete", GET)
    history, private = History(mq, judge), of_machine(judge, "PRIVATEQ")
    history.run(private, Call("queues.create", queue="q1"), private, Call("queues.create", queue="q2"), private)
    history.run(Call("queues.delete", queue="q1"), private, Call("queues.create", queue="q1"), private)
    history.run(Call("queues.delete", queue="q2"), private)


@pytest.mark.requirement("MQMQ-2.3.11.2.propid-mgmt-msmq-privateq")
def test_public_queues_are_not_listed_among_the_private_ones(mq: Any, judge: Any, mq_need: Any) -> None:
    mq_need("queues.create", "queues.delete", "queues.open", GET)
    if not creates_public(mq):
        pytest.skip("the driver creates no public queue")
    history, private = History(mq, judge), of_machine(judge, "PRIVATEQ")
    history.run(Call("queues.create", queue="public1"), private, Call("queues.create", queue="q1"), private)
    history.run(Call("queues.open", name="s", queue="public1", access="send"), private)
    history.run(Call("queues.delete", queue="q1"), private)


@pytest.mark.requirement(
    "MQDMPR-3.1.4.12.disconnected",
    "MQDMPR-3.1.4.13.connected",
    "MQDMPR-3.1.1.1.connection-active",
    "MQMQ-2.3.11.4.values",
    "MQMQ-2.3.11.4.msmq-connected",
    "MQMQ-2.3.11.4.msmq-disconnected",
)
def test_a_machine_is_taken_offline_and_brought_online(mq: Any, judge: Any, mq_need: Any) -> None:
    mq_need(GET, ACT)
    history, state = History(mq, judge), of_machine(judge, "CONNECTED")
    history.run(acting("DISCONNECT"), state, acting("DISCONNECT"), state, acting("CONNECT"), state)
    history.run(acting("CONNECT"), state, acting("DISCONNECT"), state, acting("CONNECT"), state)


@pytest.mark.requirement("MQDMPR-3.1.4.12.disconnected", "MQDMPR-3.1.4.13.connected")
def test_what_is_offline_transfers_nothing(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_managed(mq, judge, mq_need, ACT, "management.connection", "management.transfer")
    history.run(*connected(), Call("messages.send", message="a", handle="s1"), acting("DISCONNECT"), transfer())
    history.run(acting("CONNECT"), transfer())


@pytest.mark.requirement("MQDMPR-3.1.4.12.disconnected")
def test_local_queues_go_on_while_the_machine_is_offline(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, ACT)
    history.run(acting("DISCONNECT"), send("a"))
    history.attempt(receive(), shows="MQDMPR-3.1.4.12.disconnected")
    history.run(acting("CONNECT"), send("b"), receive())


@pytest.mark.requirement(BYTES)
def test_the_bytes_of_all_queues_are_those_of_each(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, GET, "reset")
    every = of_machine(judge, "BYTES_IN_ALL_QUEUES")
    history.run(Call("queues.create", queue="q2"), Call("queues.open", name="s2", queue="q2", access="send"), every)
    for message, handle in (("a", "s"), ("bb", "s2"), ("c", "s")):
        history.run(Call("messages.send", message=message, handle=handle))
        history.run(*(of_queue(judge, queue, "BYTES_IN_QUEUE") for queue in ("q1", "q2")), every)
    history.run(receive(), of_queue(judge, "q1", "BYTES_IN_QUEUE"), every, receive(), every)


@pytest.mark.requirement(BYTES)
def test_bytes_of_an_aborted_receive_are_back(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, GET, "reset", "transactions.begin", "transactions.abort", transactional=True)
    every, one = of_machine(judge, "BYTES_IN_ALL_QUEUES"), of_queue(judge, "q1", "BYTES_IN_QUEUE")
    history.run(every, begin_transaction("t1"), send("a", within="t1"), commit("t1"), one, every)
    history.run(begin_transaction("t2"), receive(within="t2"), abort("t2"), one, every)
    history.run(begin_transaction("t3"), receive(within="t3"), commit("t3"), one, every)
