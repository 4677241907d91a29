"""Alternatives of readings of MC-MQAC: what an implementation that follows one answers, and what stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from embedded_objects import EVENTS, LEFT_OUT, Objects, long, text, thing
from embedded_talk import Talk

from conformance.embedded.objects.codes import DISP_E_MEMBERNOTFOUND, E_INVALIDARG, E_NOINTERFACE
from conformance.spec.constants.hresults import (
    MQ_ERROR_NO_DS,
    MQ_ERROR_QUEUE_NOT_ACTIVE,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_UNINITIALIZED_OBJECT,
)

TalkWith = Callable[..., Talk]
PATH = "HOST\\private$\\q"
CONTAINER, POINT = "b196b284-bab4-101a-b69c-00aa00341d07", "b196b286-bab4-101a-b69c-00aa00341d07"


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
    objects, name = Objects(talk), "DIRECT=TCP:192.0.2.7\\private$\\q"
    opened = [talk.open(name, access) for access in ("send", "receive_admin")]
    talk.send(opened[0], "a")

    def init() -> int:
        return objects.status(objects.make("MSMQOutgoingQueueManagement"), "Init", LEFT_OUT, LEFT_OUT, text(name))

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
