"""MSMQQueue of the embedded manager (MC-MQAC 3.11): states, checks in their order, reads, the cursor, waiting."""

from __future__ import annotations

from typing import Any

import pytest
from embedded_objects import LEFT_OUT, NOTHING, PEEK, SEND, Objects, flag, long, text, thing
from embedded_talk import Talk

from conformance.embedded.objects.queue import READS

BLANK, CLOSED, DENIED, NOT_FOUND = 0x80040007, 0xC00E0007, 0xC00E0025, 0xC00E0088
LOOKUP = [text("5")]


@pytest.fixture
def objects(talk: Talk) -> Objects:
    return Objects(talk)


def filled(objects: Objects, *labels: str) -> str:
    info = objects.info()
    objects.send(objects.open(info, SEND), *labels)
    return objects.open(info)


@pytest.mark.parametrize("read", READS, ids=lambda read: read.name)
def test_each_read_refuses_blank_closed_and_access_in_this_order(objects: Objects, read: Any) -> None:
    given = LOOKUP if read.by_identifier else []
    assert objects.status(objects.make("MSMQQueue"), read.name, *given) == BLANK
    info = objects.info()
    sender = objects.open(info, SEND)
    assert objects.status(sender, read.name, *given) == DENIED
    objects.call(sender, "Close")
    assert objects.status(sender, read.name, *given) == CLOSED
    peeker = objects.open(info, PEEK)
    if read.removes:
        assert objects.status(peeker, read.name, *given) == DENIED
    if read.by_identifier:
        for wrong in (text("0"), {"vt": "UI8", "value": "0"}, text("x"), LEFT_OUT):
            found = objects.status(objects.make("MSMQQueue"), read.name, wrong)
            assert found >= 0x80000000 and found != BLANK


@pytest.mark.parametrize("member", ["Access", "ShareMode", "QueueInfo", "Handle", "Handle2", "IsOpen", "IsOpen2"])
def test_each_property_refuses_a_blank_object(objects: Objects, member: str) -> None:
    assert objects.status(objects.make("MSMQQueue"), member, kind="get") == BLANK


@pytest.mark.parametrize("member", ["Close", "Reset", "Purge"])
def test_each_method_refuses_blank_and_closed(objects: Objects, member: str) -> None:
    assert objects.status(objects.make("MSMQQueue"), member) == BLANK
    queue = filled(objects)
    objects.call(queue, "Close")
    assert objects.status(queue, member) == CLOSED


def test_properties_of_an_open_queue(objects: Objects) -> None:
    info = objects.info()
    queue = str(objects.call(info, "Open", long(PEEK), long(1)))
    assert objects.get(queue, "Access") == PEEK and objects.get(queue, "ShareMode") == 1
    assert objects.get(queue, "QueueInfo") == info
    assert objects.typed(queue, "IsOpen") == {"vt": "I2", "value": 1} and objects.typed(queue, "IsOpen2") == flag(True)
    assert str(objects.get(queue, "Handle")) == objects.get(queue, "Handle2")
    objects.call(queue, "Close")
    assert objects.get(queue, "IsOpen") == 0 and objects.typed(queue, "IsOpen2") == flag(False)
    for member in ("Access", "ShareMode", "QueueInfo", "Handle", "Handle2"):
        assert objects.status(queue, member, kind="get") == CLOSED
    assert objects.status(queue, "Properties", kind="get") == 0x80004001


@pytest.mark.parametrize("suffix", ["", "_v1"])
def test_the_cursor_goes_through_the_queue(objects: Objects, suffix: str) -> None:
    queue = filled(objects, "a", "b", "c")
    assert objects.status(queue, f"PeekNext{suffix}", LEFT_OUT, LEFT_OUT, long(0)) == 0xC00E001C
    assert objects.read(queue, f"PeekCurrent{suffix}") == "a" == objects.read(queue, f"PeekCurrent{suffix}")
    assert objects.read(queue, f"PeekNext{suffix}") == "b"
    assert objects.read(queue, f"Receive{suffix}") == "a" and objects.read(queue, f"Peek{suffix}") == "b"
    assert objects.read(queue, f"ReceiveCurrent{suffix}") == "b" and objects.read(queue, f"PeekCurrent{suffix}") == "c"
    objects.call(queue, "Reset")
    assert objects.status(queue, f"PeekNext{suffix}", LEFT_OUT, LEFT_OUT, long(0)) == 0xC00E001C
    assert objects.read(queue, f"PeekCurrent{suffix}") == "c" and objects.read(queue, f"PeekNext{suffix}") is None


def test_a_message_received_under_the_cursor(objects: Objects) -> None:
    queue = filled(objects, "a", "b")
    assert objects.read(queue, "PeekCurrent") == "a" == objects.read(queue, "Receive")
    for member in ("PeekCurrent", "ReceiveCurrent"):
        given = [LEFT_OUT] if member.startswith("Receive") else []
        assert objects.status(queue, member, *given, LEFT_OUT, LEFT_OUT, long(0)) == 0xC00E001D


def test_lookup_identifiers(objects: Objects) -> None:
    queue = filled(objects, "a", "b", "c")
    middle = objects.get(objects.call(queue, "PeekFirstByLookupId"), "LookupId")
    for member, label in (
        ("PeekByLookupId", "a"), ("PeekNextByLookupId", "b"), ("ReceiveNextByLookupId", "b"),
        ("PeekNextByLookupId", "c"), ("ReceiveByLookupId", "a"),
    ):  # fmt: skip
        assert objects.get(objects.call(queue, member, text(middle)), "Label") == label, member
    assert objects.status(queue, "PeekByLookupId", text(middle)) == NOT_FOUND
    last = objects.get(objects.call(queue, "PeekLastByLookupId"), "LookupId")
    assert objects.status(queue, "PeekPreviousByLookupId", {"vt": "UI8", "value": last}) == NOT_FOUND
    assert objects.get(objects.call(queue, "ReceiveLastByLookupId"), "Label") == "c"
    assert objects.status(queue, "ReceiveFirstByLookupId") == NOT_FOUND


@pytest.mark.parametrize("member", ["Receive", "ReceiveCurrent", "Peek", "PeekCurrent"])
def test_a_read_waits_for_a_message_for_its_time(objects: Objects, talk: Talk, member: str) -> None:
    info = objects.info()
    sender, queue = objects.open(info, SEND), objects.open(info)
    given = [LEFT_OUT] if member.startswith("Receive") else []
    read = objects.start(queue, member, *given, LEFT_OUT, LEFT_OUT, long(50))
    talk.ok("clock.advance", by_ms=49)
    assert not read
    talk.ok("clock.advance", by_ms=1)
    assert read == [{"status": 0, "value": NOTHING}]
    read = objects.start(queue, member)
    objects.send(sender, "late")
    assert objects.get(read[0]["value"]["value"], "Label") == "late"


@pytest.mark.parametrize("end", ["Close", "release", "reset"])
def test_a_waiting_read_ends_with_its_queue(objects: Objects, talk: Talk, end: str) -> None:
    queue = filled(objects)
    read = objects.start(queue, "Receive")
    if end == "Close":
        objects.call(queue, "Close")
    else:
        talk.ok(
            *(["objects.release"] if end == "release" else ["reset"]),
            **({"objects": [queue]} if end == "release" else {}),
        )
    assert read == [{"status": 0xC00E0008}]


def test_want_flags(objects: Objects) -> None:
    info = objects.info()
    connector = "{0123ABCD-4567-89AB-CDEF-0123456789AB}"
    message = objects.message("m", Body=text("b"), ConnectorTypeGuid=text(connector))
    for _ in range(3):
        objects.call(message, "Send", thing(objects.open(info, SEND)))
    queue = objects.open(info)
    plain = objects.call(queue, "Receive")
    assert objects.get(plain, "Body") == "b" and objects.typed(plain, "DestinationQueueInfo") == NOTHING
    assert objects.get(plain, "ConnectorTypeGuid") == "{00000000-0000-0000-0000-000000000000}"
    other = objects.call(queue, "Receive", long(0), flag(True), flag(False), LEFT_OUT, flag(True))
    assert objects.typed(other, "Body") == {"vt": "EMPTY"} and objects.get(other, "ConnectorTypeGuid") == connector
    named = objects.get(objects.get(other, "DestinationQueueInfo"), "FormatName")
    assert named == objects.get(info, "FormatName")
    assert objects.status(queue, "Receive", long(0), text("x")) == 0x80020005


def test_purge(objects: Objects) -> None:
    queue = filled(objects, "a", "b")
    assert objects.status(objects.open(objects.get(queue, "QueueInfo"), PEEK), "Purge") == DENIED
    objects.call(queue, "Purge")
    assert objects.read(queue) is None


def test_a_message_received_in_a_transaction_is_shown_where_that_is_allowed(objects: Objects) -> None:
    info = objects.info(transactional=True)
    objects.send(objects.open(info, SEND), "a", "b", transaction=long(3))
    queue = objects.open(info)
    first = objects.get(objects.call(queue, "PeekFirstByLookupId"), "LookupId")
    begun = objects.call(objects.make("MSMQTransactionDispenser"), "BeginTransaction")
    objects.call(queue, "ReceiveByLookupIdAllowPeek", text(first), thing(begun))
    assert objects.read(queue, "Peek") == "a" == objects.read(queue, "PeekCurrent")
    assert objects.get(objects.call(queue, "PeekByLookupId", text(first)), "Label") == "a"
    assert objects.status(queue, "ReceiveByLookupId", text(first)) == NOT_FOUND
    objects.call(begun, "Commit")
    assert objects.read(queue, "Peek") == "b" == objects.read(queue, "Receive")


def test_notification_checks_in_their_order(objects: Objects) -> None:
    blank = objects.make("MSMQQueue")
    assert objects.status(blank, "EnableNotification", NOTHING, long(3)) == 0x80070057
    assert objects.status(blank, "EnableNotification", NOTHING) == BLANK
    queue = filled(objects)
    sender = objects.open(objects.get(queue, "QueueInfo"), SEND)
    assert objects.status(sender, "EnableNotification", NOTHING) == 0x80070057
    assert objects.status(sender, "EnableNotification", thing(blank)) == DENIED
