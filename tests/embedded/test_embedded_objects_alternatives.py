"""Alternatives of readings of MC-MQAC: what an implementation that follows one answers, and what stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from embedded_objects import EVENTS, LEFT_OUT, Objects, flag, long, text, thing
from embedded_talk import Talk

from conformance.embedded.objects.variants import DISP_E_MEMBERNOTFOUND, E_INVALIDARG, E_NOINTERFACE
from conformance.spec.constants.hresults import (
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_MESSAGE_NOT_FOUND,
    MQ_ERROR_MISSING_CONNECTOR_TYPE,
    MQ_ERROR_NO_DS,
    MQ_ERROR_PROPERTY,
    MQ_ERROR_QUEUE_NOT_ACTIVE,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_TRANSACTION_SEQUENCE,
    MQ_ERROR_UNINITIALIZED_OBJECT,
)

TalkWith = Callable[..., Talk]
PATH = "HOST\\private$\\q"
ELSEWHERE = "DIRECT=TCP:192.0.2.7\\private$\\q"
CONNECTOR = text("{0123ABCD-4567-89AB-CDEF-0123456789AB}")
NULL_GUID = "{00000000-0000-0000-0000-000000000000}"
CONTAINER, POINT = "b196b284-bab4-101a-b69c-00aa00341d07", "b196b286-bab4-101a-b69c-00aa00341d07"


@pytest.mark.parametrize("name", ["MSMQManagement", "MSMQQueueManagement", "MSMQOutgoingQueueManagement"])
def test_every_class_of_management_follows_a_reading(talk_with: TalkWith, name: str) -> None:
    again, types = "R-MQAC-init-again=refused", "R-MQAC-management-number-types=as-stored"
    objects = Objects(talk_with(again, types))
    objects.info()
    target = objects.make(name)
    assert objects.status(target, "Init", LEFT_OUT, text(PATH)) == 0
    assert objects.status(target, "Init", LEFT_OUT, text(PATH)) == MQ_ERROR_INVALID_PARAMETER
    assert objects.typed(target, "BytesInQueue") == {"vt": "UI4", "value": 0}


def test_places_in_a_sequence_have_unsigned_numbers(talk_with: TalkWith) -> None:
    talk = talk_with("R-MQAC-management-number-types=as-stored")
    objects = Objects(talk)
    talk.open(ELSEWHERE, "send")
    target = objects.make("MSMQOutgoingQueueManagement")
    objects.call(target, "Init", LEFT_OUT, LEFT_OUT, text(ELSEWHERE))
    place = objects.call(objects.call(target, "EodGetSendInfo"), "Item", text("EodNextSeq"))
    told = {name: objects.start(place, "Item", text(name))[0]["value"]["vt"] for name in ("SeqID", "SeqNo", "PrevNo")}
    assert told == {"SeqID": "UI8", "SeqNo": "UI4", "PrevNo": "UI4"}


@pytest.mark.parametrize("name", ["MSMQManagement", "MSMQQueueManagement"])
def test_init_refuses_a_queue_that_is_not_active(talk_with: TalkWith, name: str) -> None:
    objects = Objects(talk_with("R-MQAC-init-inactive-queue=refused"))
    info, target = objects.info(), objects.make(name)
    assert objects.status(target, "Init", LEFT_OUT, text(PATH)) == MQ_ERROR_QUEUE_NOT_ACTIVE
    assert objects.typed(target, "FormatName") == MQ_ERROR_UNINITIALIZED_OBJECT
    assert objects.status(target, "Init", LEFT_OUT, text(f"{PATH}none")) == MQ_ERROR_QUEUE_NOT_FOUND
    queue = objects.open(info)
    assert objects.status(target, "Init", LEFT_OUT, text(PATH)) == 0
    objects.call(queue, "Close")
    assert objects.get(target, "MessageCount") == 0


def test_init_refuses_an_outgoing_queue_without_messages(talk_with: TalkWith) -> None:
    talk = talk_with("R-MQAC-init-inactive-queue=refused")
    objects = Objects(talk)
    opened = [talk.open(ELSEWHERE, access) for access in ("send", "receive_admin")]
    talk.send(opened[0], "a")

    def init() -> int:
        return objects.status(objects.make("MSMQOutgoingQueueManagement"), "Init", LEFT_OUT, LEFT_OUT, text(ELSEWHERE))

    talk.ok("queues.close", queue=opened[0])
    assert init() == 0
    talk.ok("queues.purge", queue=opened[1])
    assert init() == 0
    talk.ok("queues.close", queue=opened[1])
    assert init() == MQ_ERROR_QUEUE_NOT_ACTIVE


def test_a_computer_without_a_directory_server_does_not_know_itself(talk_with: TalkWith) -> None:
    talk = talk_with("R-MQAC-directory-of-this-computer=asked")
    objects, guid = Objects(talk), talk.driver.manager.guid
    target = objects.make("MSMQApplication")
    asked = [("MachineIdOfMachineName", each, guid) for each in (None, "HOST", "host")]
    asked += [("MachineNameOfMachineId", each, "HOST") for each in (guid, f"{{{guid.upper()}}}")]
    for member, given, _ in asked:
        assert objects.status(target, member, text(given)) == MQ_ERROR_NO_DS
    other = {"name": "OTHER", "guid": "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"}
    talk.ok("directory", objects=[], computers=[other])
    assert objects.call(target, "MachineIdOfMachineName", text("OTHER")) == other["guid"]
    assert objects.status(target, "MachineIdOfMachineName", text("HOST")) == MQ_ERROR_NO_DS
    talk.ok("directory", objects=[], computers=[other], server="DC1")
    for member, given, told in asked:
        assert objects.call(target, member, text(given)) == told


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"vt": "I2", "value": 0}, 0),
        ({"vt": "I2", "value": 3}, 0),
        ({"vt": "EMPTY"}, 0),
        ({"vt": "I2", "value": 4}, E_INVALIDARG),
        ({"vt": "R8", "value": "0"}, E_INVALIDARG),
        (text("0"), E_INVALIDARG),
    ],
)
def test_send_converts_a_short_number_and_nothing(talk_with: TalkWith, given: Any, status: int) -> None:
    objects = Objects(talk_with("R-MQAC-send-transaction-type=converted"))
    transactional = given.get("value") == 3
    info = objects.info(transactional=transactional)
    sender, queue = objects.open(info, 2), objects.open(info)
    message = objects.message("m")
    assert objects.status(message, "Send", thing(sender), given) == status
    assert objects.read(queue) == (None if status else "m")
    assert objects.typed(message, "TransactionId")["vt"] == ("ARRAY" if transactional else "EMPTY")


def test_active_queues_is_read(talk_with: TalkWith) -> None:
    talk = talk_with("R-MQAC-active-queues-kind=property")
    objects = Objects(talk)
    objects.open(objects.info())
    target = objects.make("MSMQApplication")
    assert [each["value"] for each in objects.get(target, "activequeues")] == [f"DIRECT=OS:{PATH}"]
    assert objects.status(target, "ActiveQueues") == DISP_E_MEMBERNOTFOUND
    through = {"object": target, "member": "ActiveQueues", "arguments": [], "interface": "IMSMQApplication3"}
    assert talk("objects.invoke", kind="get", **through)["status"] == 0
    assert talk("objects.invoke", kind="method", **through)["status"] == DISP_E_MEMBERNOTFOUND
    interfaces = talk.ok("objects.describe", **{"class": "MSMQApplication"})["interfaces"]
    kinds = {each["name"]: each["kind"] for interface in interfaces for each in interface["members"]}
    assert [name for name, kind in kinds.items() if kind == "method"] == [
        "Connect", "Disconnect", "Tidy", "RegisterCertificate", "MachineNameOfMachineId", "MachineIdOfMachineName",
    ]  # fmt: skip
    assert kinds["ActiveQueues"] == "get"


def test_a_connection_point_beside_the_event(talk_with: TalkWith) -> None:
    talk = talk_with("R-MQAC-event-connection-point=beside")
    objects = Objects(talk)
    event = objects.make("MSMQEvent")
    assert talk("objects.query", object=event, iid=POINT)["status"] == E_NOINTERFACE
    assert talk("objects.query", object=event, iid=CONTAINER)["object"] == event
    assert objects.listen(event)["status"] == 0
    objects.call(event, "FireArrivedEvent", thing(None), long(0))
    assert len(objects.events) == 1
    assert talk("objects.unadvise", object=event, cookie=1, iid=EVENTS)["status"] == 0


@pytest.mark.parametrize("member", ["Receive", "Peek_v1", "PeekCurrent"])
def test_a_read_without_a_message_fails(talk_with: TalkWith, member: str) -> None:
    talk = talk_with("R-MQAC-read-timeout=error")
    objects = Objects(talk)
    queue = objects.open(objects.info())
    given = [LEFT_OUT] * (3 if member == "Receive" else 2)
    assert objects.status(queue, member, *given, long(0)) == MQ_ERROR_MESSAGE_NOT_FOUND
    waiting = objects.start(queue, member, *given, long(20))
    talk.ok("clock.advance", by_ms=20)
    assert [each["status"] for each in waiting] == [MQ_ERROR_IO_TIMEOUT]


def test_the_getter_of_what_was_not_wanted_fails(talk_with: TalkWith) -> None:
    objects = Objects(talk_with("R-MQAC-property-not-wanted=fails"))
    info = objects.info()
    sender, queue = objects.open(info, 2), objects.open(info)
    objects.call(objects.message("m", Body=text("b"), ConnectorTypeGuid=CONNECTOR), "Send", thing(sender))
    whole = objects.call(queue, "Peek", flag(True), flag(True), LEFT_OUT, flag(True))
    assert objects.get(whole, "Body") == "b"
    assert objects.get(whole, "ConnectorTypeGuid") == CONNECTOR["value"]
    bare = objects.call(queue, "Peek", flag(False), flag(False), LEFT_OUT, flag(False))
    names = ("Body", "ConnectorTypeGuid", "DestinationQueueInfo")
    assert [objects.typed(bare, name) for name in names] == [MQ_ERROR_PROPERTY] * 3
    assert objects.get(bare, "Label") == "m"
    assert objects.put(bare, "Body", text("c")) == objects.put(bare, "ConnectorTypeGuid", CONNECTOR) == 0
    objects.call(bare, "Send", thing(sender))
    assert objects.get(bare, "Body") == "c"
    assert objects.get(bare, "ConnectorTypeGuid") == CONNECTOR["value"]
    assert objects.typed(bare, "DestinationQueueInfo") != MQ_ERROR_PROPERTY


@pytest.mark.parametrize("dispenser", ["MSMQTransactionDispenser", "MSMQCoordinatedTransactionDispenser"])
def test_an_ended_transaction_takes_what_nobody_gets(talk_with: TalkWith, dispenser: str) -> None:
    objects = Objects(talk_with("R-MQAC-ended-transaction=new"))
    info = objects.info(transactional=True)
    sender, queue = objects.open(info, 2), objects.open(info)
    unit = objects.call(objects.make(dispenser), "BeginTransaction")
    objects.send(sender, "a", transaction=thing(unit))
    objects.call(unit, "Commit")
    objects.send(sender, "b", "c", transaction=thing(unit))
    assert objects.status(unit, "Commit") == objects.status(unit, "Abort") == MQ_ERROR_TRANSACTION_SEQUENCE
    taken = objects.call(queue, "Receive", thing(unit), LEFT_OUT, LEFT_OUT, long(0))
    assert objects.get(taken, "Label") == "a"
    assert objects.read(queue) is None


def test_an_empty_transaction_is_none(talk_with: TalkWith) -> None:
    objects = Objects(talk_with("R-MQAC-empty-transaction=none"))
    info, empty = objects.info(), thing(objects.make("MSMQTransaction"))
    message = objects.message("m")
    assert objects.status(message, "Send", thing(objects.open(info, 2)), empty) == 0
    found = objects.call(objects.open(info), "Receive", empty, LEFT_OUT, LEFT_OUT, long(0))
    assert objects.typed(found, "TransactionId") == objects.typed(message, "TransactionId") == {"vt": "EMPTY"}
    assert objects.status(objects.message("n"), "Send", thing(objects.open(info, 2)), thing(info)) == E_INVALIDARG


def test_a_path_name_alone_has_no_format_name(talk_with: TalkWith) -> None:
    objects = Objects(talk_with("R-MQAC-format-name-of-path-name=null"))
    created, info = objects.info(), objects.make("MSMQQueueInfo")
    assert str(objects.get(created, "FormatName")).startswith("PRIVATE=")
    objects.put(info, "PathName", text(PATH))
    assert objects.typed(info, "FormatName") == text(None)
    message = objects.message("m")
    assert objects.status(message, "ResponseQueueInfo", thing(info), kind="putref") == 0
    assert objects.get(objects.get(message, "ResponseQueueInfo"), "FormatName") is None
    objects.call(info, "Refresh")
    assert str(objects.get(info, "FormatName")).startswith("PRIVATE=")


def test_a_queue_of_the_computer_is_not_refreshed(talk_with: TalkWith) -> None:
    objects = Objects(talk_with("R-MQAC-refresh-machine-queue=refused"))
    info = objects.make("MSMQQueueInfo")
    objects.put(info, "FormatName", text("DIRECT=OS:HOST\\SYSTEM$;JOURNAL"))
    assert objects.status(info, "Refresh") == objects.typed(info, "Label") == MQ_ERROR_QUEUE_NOT_FOUND
    objects.call(objects.info(), "Refresh")


def test_a_message_object_is_sent_once(talk_with: TalkWith) -> None:
    objects = Objects(talk_with("R-MQAC-send-again=every-set"))
    info = objects.info()
    sender, queue = thing(objects.open(info, 2)), objects.open(info)
    message = objects.message("m")
    assert objects.status(message, "Send", sender) == 0
    assert objects.status(message, "Send", sender) == MQ_ERROR_MISSING_CONNECTOR_TYPE
    received = objects.call(queue, "Receive")
    assert objects.status(received, "Send", sender) == 0
    assert objects.put(message, "ConnectorTypeGuid", CONNECTOR) == 0
    assert objects.status(message, "Send", sender) == objects.status(message, "Send", sender) == 0
    assert objects.put(message, "ConnectorTypeGuid", text(NULL_GUID)) == 0
    assert objects.status(message, "Send", sender) == MQ_ERROR_MISSING_CONNECTOR_TYPE
