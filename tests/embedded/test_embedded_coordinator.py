"""Objects in transactions of a coordinator: their context, what is asked, and what is refused."""

from __future__ import annotations

import base64
import struct
import uuid
from typing import Any

import pytest
from embedded_objects import LEFT_OUT, SEND, Objects, long, thing
from embedded_talk import Talk

from conformance.spec.constants.hresults import (
    MQ_ERROR_DTC_CONNECT,
    MQ_ERROR_TRANSACTION_ENLIST,
    MQ_ERROR_TRANSACTION_IMPORT,
)

FIRST, OTHER = (f"{digit}b6e4d6f-7a1f-4c3b-9a57-6f5b2f3f9a10" for digit in "01")
MTS, XA = long(1), long(2)


class Scene:
    """A transactional queue, open for both, and a dispenser of the coordinator."""

    def __init__(self, talk: Talk) -> None:
        self.talk, self.objects = talk, Objects(talk)
        info = self.objects.info(transactional=True)
        self.out, self.into = self.objects.open(info, SEND), self.objects.open(info)

    def enter(self, identifier: str | None) -> None:
        self.talk.ok("coordinator.context", transaction=identifier)

    def begin(self) -> str:
        return str(self.objects.call(self.objects.make("MSMQCoordinatedTransactionDispenser"), "BeginTransaction"))

    def asked(self) -> list[dict[str, Any]]:
        return list(self.talk.ok("coordinator.requests")["requests"])

    def kinds(self) -> list[str]:
        return [each["what"] for each in self.asked()]

    def refuse(self, what: str, refused: bool = True) -> None:
        self.talk.ok("coordinator.refuse", what=what, refused=refused)

    def send(self, transaction: Any = LEFT_OUT) -> int:
        return self.objects.status(self.objects.message("a"), "Send", thing(self.out), transaction)

    def decide(self, what: str, identifier: str = FIRST) -> str:
        return str(self.talk.ok(f"coordinator.{what}", identifier=identifier)["answer"])


@pytest.fixture
def scene(talk: Talk) -> Scene:
    return Scene(talk)


@pytest.mark.parametrize("transaction", [LEFT_OUT, MTS, XA])
@pytest.mark.parametrize(("end", "left"), [("commit", "a"), ("abort", None)])
def test_a_send_of_a_context_ends_as_the_coordinator_says(
    scene: Scene, transaction: Any, end: str, left: str | None
) -> None:
    scene.enter(FIRST.upper())
    assert scene.send(transaction) == 0
    assert scene.objects.read(scene.into, "Peek") is None
    assert scene.asked() == [{"what": what, "identifier": FIRST} for what in ("import", "enlist")]
    scene.enter(None)
    scene.decide(end)
    assert scene.objects.read(scene.into) == left


def test_calls_of_a_context_work_in_the_transaction_that_the_manager_is_in(scene: Scene) -> None:
    scene.objects.send(scene.out, "b", transaction=long(3))
    handle = scene.talk.ok("coordinator.enlist", transaction=FIRST)["transaction"]
    scene.enter(FIRST)
    assert scene.objects.read(scene.into) == "b"
    assert scene.asked()[2:] == []
    scene.talk.send(scene.talk.open(access="send"), "c", handle)
    assert scene.decide("abort") == "aborted"
    assert scene.objects.status(scene.into, "Receive", long(0), LEFT_OUT, LEFT_OUT, long(0)) == 0


@pytest.mark.parametrize("transaction", [long(0), long(3)])
def test_a_receive_outside_takes_no_part(scene: Scene, transaction: Any) -> None:
    scene.objects.send(scene.out, "b", transaction=long(3))
    scene.enter(FIRST)
    assert scene.objects.call(scene.into, "Receive", transaction, LEFT_OUT, LEFT_OUT, long(0)) is not None
    assert scene.asked() == []


def test_a_context_ends_with_a_reset(scene: Scene) -> None:
    scene.enter(FIRST)
    scene.refuse("begin")
    scene.talk.ok("reset")
    again = Scene(scene.talk)
    assert again.begin()
    assert again.objects.read(again.into) is None
    assert again.kinds() == ["begin"]


@pytest.mark.parametrize(("member", "left"), [("Commit", "a"), ("Abort", None)])
def test_a_transaction_of_the_dispenser_ends_with_its_object(scene: Scene, member: str, left: str | None) -> None:
    transaction = scene.begin()
    [begun] = scene.asked()
    assert scene.send(thing(transaction)) == 0
    scene.refuse(member.lower())
    assert scene.objects.status(transaction, member) >= 0x80000000
    assert scene.objects.read(scene.into, "Peek") is None
    scene.refuse(member.lower(), refused=False)
    assert scene.objects.status(transaction, member) == 0
    assert scene.asked() == [{"what": member.lower(), "identifier": begun["identifier"]}]
    assert scene.objects.read(scene.into) == left
    assert scene.objects.status(transaction, member) >= 0x80000000
    assert scene.asked() == []


@pytest.mark.parametrize("end", ["commit", "abort", "prepare"])
def test_what_the_coordinator_has_ended_no_object_ends(scene: Scene, end: str) -> None:
    transaction = scene.begin()
    [begun] = scene.asked()
    scene.send(thing(transaction))
    scene.decide(end, begun["identifier"])
    ended = end != "prepare"
    assert (scene.objects.status(transaction, "Commit") >= 0x80000000) == ended
    assert (scene.objects.read(scene.into) == "a") == (end != "abort")


def test_an_ended_transaction_takes_nobody_in(scene: Scene) -> None:
    scene.enter(FIRST)
    assert scene.send() == 0
    scene.decide("commit")
    assert scene.send() == MQ_ERROR_TRANSACTION_IMPORT
    assert scene.talk.ok("coordinator.enlist", transaction=FIRST)
    assert scene.send() == 0


@pytest.mark.parametrize(
    ("what", "status"),
    [
        ("import", MQ_ERROR_TRANSACTION_IMPORT),
        ("enlist", MQ_ERROR_TRANSACTION_ENLIST),
        ("connect", MQ_ERROR_DTC_CONNECT),
    ],
)
def test_a_manager_that_is_not_taken_in_does_nothing(scene: Scene, what: str, status: int) -> None:
    begun = scene.begin()
    scene.talk.ok("coordinator.enlist", transaction=OTHER)
    scene.refuse(what)
    scene.enter(FIRST)
    assert scene.send() == status
    assert scene.talk("coordinator.enlist", transaction=FIRST)["status"] == status
    scene.enter(OTHER)
    assert scene.send() == 0
    assert scene.send(thing(begun)) == 0
    assert scene.decide("prepare") == "aborted"
    assert scene.decide("commit", OTHER) == "committed"
    assert scene.objects.read(scene.into, "Peek") == "a"


def test_a_refused_begin_gives_no_object(scene: Scene) -> None:
    dispenser = scene.objects.make("MSMQCoordinatedTransactionDispenser")
    for what in ("begin", "connect"):
        scene.refuse(what)
        assert scene.objects.status(dispenser, "BeginTransaction") >= 0x80000000
        scene.refuse(what, refused=False)
    assert scene.asked() == []


def _told(scene: Scene, transaction: str) -> tuple[str, tuple[int, ...]]:
    inner = scene.objects.get(transaction, "ITransaction")
    value = base64.b64decode(scene.objects.call(inner, "GetTransactionInfo"))
    return str(uuid.UUID(bytes_le=value[:16])), struct.unpack("<iIIIII", value[16:])


def test_information_of_a_transaction_is_that_of_the_coordinator(scene: Scene) -> None:
    transaction = scene.begin()
    identifier, members = _told(scene, transaction)
    begun, told = scene.asked()
    assert [begun["identifier"], told["identifier"]] == [identifier] * 2
    information = told["information"]
    assert members[:3] == (information["isolation_level"], information["isolation_flags"], information["supported"])
    assert members[3:] == (0, 0, 0)
    scene.refuse("info")
    inner = scene.objects.get(transaction, "ITransaction")
    assert scene.objects.status(inner, "GetTransactionInfo") >= 0x80000000
    assert scene.asked() == []


def test_information_of_an_internal_transaction_asks_nobody(scene: Scene) -> None:
    dispenser = scene.objects.make("MSMQTransactionDispenser")
    begun = [scene.objects.call(dispenser, "BeginTransaction") for _ in range(2)]
    told = [_told(scene, each) for each in begun]
    assert told[0] == _told(scene, begun[0])
    assert told[0][0] != told[1][0]
    assert {each[1] for each in told} == {(0,) * 6}
    assert scene.objects.status(begun[0], "Commit") == 0
    assert scene.asked() == []
