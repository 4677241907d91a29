"""Management properties of local queues: MS-MQMQ 2.3.12."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import (
    GET,
    NEEDS,
    abort,
    begin,
    begin_transaction,
    commit,
    creates_public,
    of_machine,
    of_queue,
    opened,
    receive,
    send,
)
from conformance.histories.history import History
from conformance.model import Call
from conformance.model.journals import SYSTEM_JOURNAL
from conformance.model.management_rows import MACHINE, QUEUE, ROWS

SESSIONS = ("EOD_", "CONNECTION_HISTORY", "NEXTHOPS")
TYPES = tuple(
    row.shown
    for row in ROWS.values()
    if row.name.startswith(QUEUE) and not row.name.removeprefix(QUEUE).startswith(SESSIONS)
)
VALUES = tuple(row.among for row in ROWS.values() if row.name.startswith(QUEUE) and row.among is not None)
KIND_OF_QUEUE = tuple(f"{QUEUE}{word}" for word in ("PATHNAME", "FORMATNAME", "TYPE", "LOCATION", "XACT", "FOREIGN"))
COUNT, BYTES = "MQMQ-2.3.12.7.propid-mgmt-queue-message-count", "MQMQ-2.3.12.8.propid-mgmt-queue-bytes-in-queue"
JOURNAL_COUNT = "MQMQ-2.3.12.9.propid-mgmt-queue-journal-message-count"
JOURNAL_BYTES = "MQMQ-2.3.12.10.propid-mgmt-queue-bytes-in-journal"
ENDS = ("transactions.begin", "transactions.commit", "transactions.abort")


@pytest.mark.requirement(
    *TYPES,
    *VALUES,
    "MQMQ-2.3.12.3.mgmt-queue-type-private",
    "MQMQ-2.3.12.4.mgmt-queue-local-location",
    "MQMQ-2.3.12.5.mgmt-queue-not-transactional-type",
    "MQMQ-2.3.12.6.mgmt-queue-not-foreign-type",
    "MQDMPR-3.1.1.1.foreign-system",
    "MQMQ-2.3.12.11.mgmt-queue-state-local",
    "MQDMPR-3.1.7.1.3.no-subqueues",
)
def test_a_queue_shows_its_properties(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, GET)
    history.run(of_queue(judge, "q1"), send("a"), of_queue(judge, "q1"))


@pytest.mark.requirement("MQMQ-2.3.12.24.propid-mgmt-queue-eod-source-info", "MQDMPR-3.1.7.1.3.no-incoming-transfers")
def test_nothing_came_from_other_computers(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, GET, *ENDS, transactional=True)
    source = of_queue(judge, "q1", "EOD_SOURCE_INFO")
    history.run(source, begin_transaction("t1"), send("a", within="t1"), commit("t1"), source)


@pytest.mark.requirement(
    "MQMQ-2.3.12.5.values",
    "MQMQ-2.3.12.5.mgmt-queue-transactional-type",
    "MQMQ-2.3.12.5.mgmt-queue-not-transactional-type",
)
def test_a_queue_tells_whether_it_is_transactional(mq: Any, judge: Any, mq_need: Any) -> None:
    mq_need("queues.create", GET)
    history = History(mq, judge)
    history.run(Call("queues.create", queue="q1", transactional=True), Call("queues.create", queue="q2"))
    history.run(*(of_queue(judge, queue, "XACT", "TYPE", "LOCATION") for queue in ("q1", "q2", "q1")))


@pytest.mark.requirement(*(row.shown for row in ROWS.values() if row.name in KIND_OF_QUEUE))
@pytest.mark.parametrize("journaling", [False, True])
@pytest.mark.parametrize("transactional", [False, True])
def test_every_kind_of_queue_shows_its_properties(
    mq: Any, judge: Any, mq_need: Any, transactional: bool, journaling: bool
) -> None:
    """Nobody has it open, somebody does, and nobody does any more."""
    mq_need("queues.create", "queues.open", "queues.close", GET)
    history, look = History(mq, judge), of_queue(judge, "q1")
    history.run(Call("queues.create", queue="q1", transactional=transactional, journaling=journaling), look)
    for access in ("send", "receive"):
        history.run(Call("queues.open", name=access, queue="q1", access=access), look)
    history.run(Call("queues.close", handle="send"), look, Call("queues.close", handle="receive"), look)


@pytest.mark.requirement("MQMQ-2.3.12.3.mgmt-queue-type-public", "MQMQ-2.3.12.3.mgmt-queue-type-private")
def test_a_public_queue_is_told_from_a_private_one(mq: Any, judge: Any, mq_need: Any) -> None:
    mq_need("queues.create", "queues.delete", "queues.open", GET)
    if not creates_public(mq):
        pytest.skip("the driver creates no public queue")
    history = History(mq, judge)
    history.run(Call("queues.create", queue="q1"), Call("queues.create", queue="public1"))
    history.run(of_queue(judge, "public1"), of_queue(judge, "q1"))
    history.run(Call("queues.open", name="s", queue="public1", access="send"), of_queue(judge, "public1"))


@pytest.mark.requirement("MQMR-3.1.4.1.get")
@pytest.mark.parametrize("backwards", [False, True])
def test_values_have_the_order_of_the_question(mq: Any, judge: Any, mq_need: Any, backwards: bool) -> None:
    """Properties are asked from the last to the first, and each one twice as far from its neighbour."""
    history = begin(mq, judge, mq_need, GET)
    for names in (of_machine(judge).names or (), of_queue(judge, "q1").names or ()):
        asked = names[::-1] if backwards else (*names[1::2], *names[::2])
        history.run(Call(GET, queue=None if names[0].startswith(MACHINE) else "q1", names=asked))


@pytest.mark.requirement("MQMQ-2.3.12.3.mgmt-queue-type-machine", "MQMQ-2.3.12.4.mgmt-queue-local-location")
def test_the_journal_of_the_computer_is_a_queue_of_the_machine(mq: Any, judge: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, GET)
    mq.need("format_names", "dead_letter")
    history = History(mq, judge)
    history.run(Call("queues.create", queue="q1"), *opened())
    history.run(Call("messages.send", message="a", handle="s", journal=True))
    history.run(of_queue(judge, SYSTEM_JOURNAL, "TYPE", "LOCATION", "STATE", "MESSAGE_COUNT"))


@pytest.mark.requirement(COUNT, BYTES, "MQDMPR-3.1.7.2.2.total-bytes", "MQDMPR-3.1.7.2.1.total-bytes")
def test_messages_and_bytes_are_counted(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, GET, "queues.purge")
    look = of_queue(judge, "q1", "MESSAGE_COUNT", "BYTES_IN_QUEUE")
    history.run(look, send("a"), look, send("b"), look, send("c"), look, receive(), look)
    history.run(Call("messages.send", message="d", handle="s", size=5000), look, receive(), look)
    history.run(Call("queues.purge", handle="r"), look, send("e"), look, receive(), look)


@pytest.mark.requirement(COUNT, BYTES, "MQDMPR-3.1.1.2.total-bytes")
def test_what_a_transaction_holds_is_in_the_queue(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, GET, *ENDS, transactional=True)
    look = of_queue(judge, "q1", "MESSAGE_COUNT", "BYTES_IN_QUEUE")
    history.run(begin_transaction("t1"), send("a", within="t1"), look, send("b", within="t1"), look, commit("t1"), look)
    history.run(begin_transaction("t2"), receive(within="t2"), look, abort("t2"), look)
    history.run(begin_transaction("t3"), receive(within="t3"), look, commit("t3"), look)
    history.run(begin_transaction("t4"), send("c", within="t4"), look, abort("t4"), look)


@pytest.mark.requirement(JOURNAL_COUNT, JOURNAL_BYTES)
def test_the_journal_is_counted_apart(mq: Any, judge: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, GET, "reset")
    history = History(mq, judge)
    look = of_queue(judge, "q1", "MESSAGE_COUNT", "BYTES_IN_QUEUE", "JOURNAL_MESSAGE_COUNT", "BYTES_IN_JOURNAL")
    history.run(Call("queues.create", queue="q1", journaling=True), *opened(), look, send("a"), send("b"), look)
    history.run(receive(), look, receive(), look)


@pytest.mark.requirement(JOURNAL_COUNT, JOURNAL_BYTES)
def test_a_queue_without_journaling_has_an_empty_journal(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, GET)
    look = of_queue(judge, "q1", "JOURNAL_MESSAGE_COUNT", "BYTES_IN_JOURNAL")
    history.run(look, send("a"), receive(), look)


@pytest.mark.requirement(
    "MQMQ-2.3.12.26.propid-mgmt-queue-subqueue-count",
    "MQMQ-2.3.12.27.propid-mgmt-queue-subqueue-names",
    "MQDMPR-3.1.1.2.subqueue-collection",
    "MQDMPR-3.1.7.1.3.no-subqueues",
)
def test_subqueues_are_listed(mq: Any, judge: Any, mq_need: Any) -> None:
    mq.need("format_names", "subqueue")
    history = begin(mq, judge, mq_need, GET, "messages.move", "messages.peek")
    look = of_queue(judge, "q1", "SUBQUEUE_COUNT", "SUBQUEUE_NAMES", "MESSAGE_COUNT")
    history.run(look, send("a"), send("b"), Call("messages.peek", handle="r"))
    for number, name in enumerate(("one", "two"), 1):
        history.run(Call("queues.open", name=f"m{number}", queue=f"q1;{name}", access="move"))
        history.run(Call("messages.peek", handle="r"))
        history.run(Call("messages.move", handle="r", destination=f"m{number}", message="ab"[number - 1]), look)


@pytest.mark.requirement("MQMR-3.1.4.1.session", "MQMR-3.1.4.1.machine-properties", "MQMR-3.1.4.1.queue-properties")
def test_what_is_no_property_of_the_target_is_refused(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, GET)
    count, state = f"{QUEUE}MESSAGE_COUNT", f"{QUEUE}STATE"
    history.run(Call(GET, target="session", names=(count,)), Call(GET, names=(state,)), of_queue(judge, "q1", "STATE"))
    history.run(*(Call(GET, target="session", names=(name,)) for name in ROWS), of_machine(judge, "CONNECTED"))
    history.run(Call(GET, queue="q1", names=(count, "property #9999")), Call(GET, names=("property #9999",)))
    history.run(Call(GET, queue="q1", names=("property #0",)), of_queue(judge, "q1", "MESSAGE_COUNT"))


@pytest.mark.requirement("MQMR-3.1.4.1.unknown-queue")
def test_a_queue_that_is_not_there_has_no_properties(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin(mq, judge, mq_need, GET, "queues.delete")
    history.run(Call("queues.create", queue="q2"), of_queue(judge, "q2", "TYPE"))
    history.run(Call("queues.delete", queue="q2"), of_queue(judge, "q2", "TYPE"), of_queue(judge, "q1", "TYPE"))
