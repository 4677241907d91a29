"""Transactions as objects (MC-MQAC 3.6, 3.8, 3.9), and the argument Transaction of reads and sends."""

from __future__ import annotations

from typing import Any

import pytest
from embedded_objects import LEFT_OUT, NOTHING, SEND, Objects, flag, long, text, thing
from embedded_talk import Talk

UNSUPPORTED, SEQUENCE, USAGE, INVALID = 0x8004D00F, 0xC00E0051, 0xC00E0050, 0x80070057


@pytest.fixture
def objects(talk: Talk) -> Objects:
    return Objects(talk)


def begun(objects: Objects) -> str:
    return str(objects.call(objects.make("MSMQTransactionDispenser"), "BeginTransaction"))


def queues(objects: Objects) -> tuple[str, str]:
    info = objects.info(transactional=True)
    return objects.open(info, SEND), objects.open(info)


def test_an_empty_object_has_nothing_to_end(objects: Objects) -> None:
    empty = objects.make("MSMQTransaction")
    assert objects.status(empty, "Commit") == objects.status(empty, "Abort") == INVALID
    assert objects.status(empty, "Commit", LEFT_OUT, long(0)) == INVALID
    assert objects.typed(empty, "ITransaction") == {"vt": "EMPTY"}
    for member in ("Transaction", "Properties"):
        assert objects.status(empty, member, kind="get") == 0x80004001
    assert objects.status(objects.make("MSMQTransactionDispenser"), "Properties", kind="get") == 0x80004001


@pytest.mark.parametrize(
    ("method", "given"),
    [("Commit", [flag(True)]), ("Commit", [LEFT_OUT, long(0)]), ("Commit", [LEFT_OUT, long(1)]),
     ("Commit", [LEFT_OUT, LEFT_OUT, long(1)]), ("Abort", [flag(True)]), ("Abort", [LEFT_OUT, flag(True)])],
)  # fmt: skip
def test_what_an_internal_transaction_does_not_support(objects: Objects, method: str, given: list[Any]) -> None:
    transaction = begun(objects)
    assert objects.status(transaction, method, *given) == UNSUPPORTED
    assert objects.status(transaction, method) == 0
    assert objects.status(transaction, method, *given) == UNSUPPORTED
    assert objects.status(transaction, "Commit") == objects.status(transaction, "Abort") == SEQUENCE


@pytest.mark.parametrize(("end", "seen"), [("Commit", "a"), ("Abort", None)])
def test_sends_take_effect_at_the_end(objects: Objects, end: str, seen: str | None) -> None:
    sender, queue = queues(objects)
    transaction = begun(objects)
    objects.send(sender, "a", transaction=thing(transaction))
    assert objects.read(queue, "Peek") is None
    objects.call(transaction, end)
    assert objects.read(queue, "Peek") == seen


@pytest.mark.parametrize(("end", "seen"), [("Commit", None), ("Abort", "a")])
@pytest.mark.parametrize("member", ["Receive", "ReceiveCurrent", "Receive_v1", "ReceiveFirstByLookupId"])
def test_receives_take_effect_at_the_end(objects: Objects, member: str, end: str, seen: str | None) -> None:
    sender, queue = queues(objects)
    objects.send(sender, "a", transaction=long(3))
    transaction = begun(objects)
    assert objects.call(queue, member, thing(transaction)) is not None
    assert objects.read(queue, "Peek") is None
    objects.call(transaction, end)
    assert objects.read(queue, "Peek") == seen


@pytest.mark.parametrize("number", [0, 1, 2, LEFT_OUT])
def test_no_transaction(objects: Objects, number: Any) -> None:
    given = number if isinstance(number, dict) else long(number)
    sender, queue = queues(objects)
    assert objects.status(objects.message(), "Send", thing(sender), given) == USAGE
    objects.send(sender, "a", transaction=long(3))
    objects.call(queue, "Receive", given)
    assert objects.read(queue, "Peek") is None


def test_a_single_message_is_a_transaction_of_its_own(objects: Objects, talk: Talk) -> None:
    sender, queue = queues(objects)
    objects.send(sender, "a", transaction=long(3))
    received = objects.call(queue, "Receive", long(3))
    assert objects.get(received, "IsFirstInTransaction") == 1 and objects.get(received, "IsLastInTransaction2") is True
    assert objects.typed(received, "TransactionId")["of"] == "UI1"
    assert objects.read(queue, "Peek") is None
    waiting = objects.start(queue, "Receive", long(3))
    objects.send(sender, "late", transaction=long(3))
    assert objects.get(waiting[0]["value"]["value"], "Label") == "late"
    assert not talk.driver.manager.open_transactions


@pytest.mark.parametrize("wrong", [text("x"), long(4), long(-1), {"vt": "I2", "value": 0}, {"vt": "EMPTY"}], ids=str)
def test_arguments_that_are_no_transaction(objects: Objects, wrong: Any) -> None:
    sender, queue = queues(objects)
    assert objects.status(queue, "Receive", wrong) == INVALID
    assert objects.status(objects.message(), "Send", thing(sender), wrong) == INVALID


def test_objects_that_cannot_take_part(objects: Objects) -> None:
    sender, queue = queues(objects)
    ended = begun(objects)
    objects.call(ended, "Commit")
    for given, status in (
        (thing(objects.make("MSMQTransaction")), INVALID),
        (thing(ended), USAGE),
        (thing(queue), INVALID),
    ):
        assert objects.status(queue, "Receive", given) == status
        assert objects.status(objects.message(), "Send", thing(sender), given) == status


def test_attaching(objects: Objects, talk: Talk) -> None:
    transaction, other = begun(objects), objects.make("MSMQTransaction")
    inner = objects.typed(transaction, "ITransaction")
    assert inner["vt"] == "UNKNOWN"
    for wrong in (
        text("x"),
        NOTHING,
        long(5),
        {"vt": "I8", "value": "5"},
        {"vt": "UI4", "value": 5},
        thing(transaction),
    ):
        assert objects.status(other, "InitNew", wrong) == INVALID
    assert objects.status(other, "InitNew", inner) == 0
    assert objects.status(other, "InitNew", inner) == USAGE == objects.status(transaction, "InitNew", text("x"))
    assert objects.typed(other, "ITransaction") == inner
    objects.call(other, "Commit")
    assert objects.status(transaction, "Commit") == SEQUENCE
    assert objects.status(inner["value"], "Commit") == 0x80004002
    assert talk("objects.query", object=inner["value"], iid="0fb15084-af41-11ce-bd2b-204c4f4f5020")["status"] == 0
