"""What a second reading of MC-MQAC has mended in the embedded objects."""

from __future__ import annotations

import pytest
from embedded_objects import NOTHING, Objects, data, flag, long, text, thing
from embedded_talk import Talk

NONE = "{00000000-0000-0000-0000-000000000000}"
CONNECTOR = "{0123ABCD-4567-89AB-CDEF-0123456789AB}"


@pytest.fixture
def objects(talk: Talk) -> Objects:
    return Objects(talk)


def test_a_message_is_addressed_as_its_sender_named_the_queue(objects: Objects) -> None:
    info, named = objects.info(), objects.make("MSMQQueueInfo")
    objects.put(named, "FormatName", text("DIRECT=OS:HOST\\private$\\q"))
    objects.send(objects.open(named, 2), "a")
    found = objects.call(objects.open(info), "Receive", long(0), flag(True))
    addressed = objects.get(objects.get(found, "DestinationQueueInfo"), "FormatName")
    assert addressed == "DIRECT=OS:HOST\\private$\\q"
    assert str(objects.get(info, "FormatName")).startswith("PRIVATE=")


def test_a_send_outside_a_transaction_forgets_the_last_one(objects: Objects) -> None:
    plain, transacted = objects.info(), objects.info("HOST\\private$\\t", transactional=True)
    message = objects.message("m")
    objects.call(message, "Send", thing(objects.open(transacted, 2)), long(3))
    assert objects.typed(message, "TransactionId")["vt"] == "ARRAY"
    objects.call(message, "Send", thing(objects.open(plain, 2)))
    found = objects.call(objects.open(plain), "Receive")
    assert objects.typed(message, "TransactionId") == objects.typed(found, "TransactionId") == {"vt": "EMPTY"}


def test_a_label_ends_at_its_first_null(objects: Objects) -> None:
    info = objects.info()
    objects.send(objects.open(info, 2), "a\0b")
    assert objects.read(objects.open(info)) == "a"


def test_a_message_without_body_has_none(objects: Objects) -> None:
    info = objects.info()
    objects.send(objects.open(info, 2), "a")
    queue = objects.open(info)
    found = objects.call(queue, "Peek")
    assert objects.typed(found, "Body") == {"vt": "EMPTY"}
    objects.call(objects.message("b", Body=data("")), "Send", thing(objects.open(info, 2)))
    objects.call(queue, "Receive")
    assert objects.typed(objects.call(queue, "Receive"), "Body") == data("")


@pytest.mark.parametrize(("member", "told"), [("Receive_v1", CONNECTOR), ("Receive", NONE)])
def test_a_read_that_does_not_ask_for_the_connector_type_shows_it(objects: Objects, member: str, told: str) -> None:
    info = objects.info()
    message = objects.message("c", ConnectorTypeGuid=text(CONNECTOR))
    objects.call(message, "Send", thing(objects.open(info, 2)))
    assert objects.get(objects.call(objects.open(info), member, long(0)), "ConnectorTypeGuid") == told


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e+300"])
def test_numbers_that_are_none_are_told_by_name(objects: Objects, value: str) -> None:
    message = objects.make("MSMQMessage")
    assert objects.put(message, "Body", {"vt": "R8", "value": value}) == 0
    assert objects.typed(message, "Body") == {"vt": "R8", "value": value}


def test_currency_is_told_without_exponent(objects: Objects) -> None:
    message = objects.make("MSMQMessage")
    for value in ("0.0001", "-922337203685477.5808", "0"):
        assert objects.put(message, "Body", {"vt": "CY", "value": value}) == 0
        assert objects.get(message, "Body") == value
    assert objects.put(message, "Body", {"vt": "CY", "value": "922337203685477.5808"}) == 0x80070057


def test_a_service_type_that_is_empty_stays_empty(objects: Objects) -> None:
    info = objects.make("MSMQQueueInfo")
    assert objects.put(info, "ServiceTypeGuid", text("")) == 0
    assert objects.typed(info, "ServiceTypeGuid") == text("")


def test_an_external_transaction_takes_every_argument(objects: Objects) -> None:
    info = objects.info(transactional=True)
    begun = objects.call(objects.make("MSMQCoordinatedTransactionDispenser"), "BeginTransaction")
    objects.send(objects.open(info, 2), "a", transaction=thing(begun))
    assert objects.status(begun, "Commit", flag(True), long(0), long(7)) == 0
    assert objects.status(begun, "Commit") == 0xC00E0051
    assert objects.get(objects.call(objects.open(info), "Receive", long(3)), "Label") == "a"


def test_a_message_that_was_sent_has_a_destination(objects: Objects) -> None:
    info = objects.info()
    sender, queue = objects.open(info, 2), objects.open(info)
    objects.send(sender, "a")
    found = objects.call(queue, "Receive", long(0))
    assert objects.typed(found, "DestinationQueueInfo") == NOTHING
    objects.call(found, "Send", thing(sender))
    assert str(objects.get(objects.get(found, "DestinationQueueInfo"), "FormatName")).startswith("PRIVATE=")


def test_management_stands_for_a_queue(objects: Objects) -> None:
    info, management = objects.info(), objects.make("MSMQManagement")
    assert objects.status(management, "MessageCount", kind="get") == 0xC00E0094
    assert objects.status(management, "Init") == 0xC00E0006
    path = text("HOST\\private$\\q")
    assert objects.status(management, "Init", {"vt": "EMPTY"}, path, text("DIRECT=OS:x\\q")) == 0xC00E0006
    objects.call(management, "Init", {"vt": "EMPTY"}, path)
    objects.send(objects.open(info, 2), "a", "b")
    names = ("MessageCount", "QueueType", "IsLocal", "TransactionalStatus")
    told = {name: objects.get(management, name) for name in names}
    assert told == {"MessageCount": 2, "QueueType": 1, "IsLocal": True, "TransactionalStatus": 1}
    assert objects.status(management, "State", kind="get") == 0x80020006


def test_an_application_tells_of_its_queue_manager(objects: Objects) -> None:
    objects.info()
    application = objects.make("MSMQApplication")
    assert objects.get(application, "PrivateQueues") == [text("HOST\\private$\\q")]
    assert [objects.get(application, f"MSMQVersion{part}") for part in ("Major", "Minor", "Build")] == [4, 1, 6000]
    objects.call(application, "Disconnect")
    assert objects.get(application, "IsConnected") is False
    assert objects.put(application, "Machine", text("ANOTHER")) == 0
    assert objects.status(application, "MSMQVersionMajor", kind="get") == 0xC00E0006
    assert objects.status(application, "RegisterCertificate") == 0x80004001
    assert objects.status(application, "Connect") >= 0x80000000
