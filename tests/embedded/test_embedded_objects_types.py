"""Type information of the embedded objects, and what becomes of values that no member expects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from embedded_objects import Objects, text
from embedded_talk import Talk

from conformance.embedded.manager import Parts
from conformance.embedded.objects.type_library import REVISIONS, declared
from conformance.embedded.objects.variants import INTEGERS
from conformance.spec.constants.interfaces import COCLASSES, METHODS

CLASSES = (
    "MSMQQueueInfo", "MSMQQueue", "MSMQMessage", "MSMQTransaction", "MSMQTransactionDispenser",
    "MSMQCoordinatedTransactionDispenser", "MSMQDestination", "MSMQEvent",
    "MSMQManagement", "MSMQQueueManagement", "MSMQOutgoingQueueManagement", "MSMQApplication", "MSMQCollection",
)  # fmt: skip
MISPRINTED = {"3.17.4.1.16", "3.17.4.1.23", "3.17.4.1.72", "3.17.4.1.74"}  # sections whose signature has another kind


def _classes() -> Iterator[type]:
    parts = Parts()
    yield from (
        parts.queue_info, parts.queue_object, parts.message_object, parts.transaction_object,
        parts.transaction_dispenser, parts.coordinated_dispenser, parts.destination, parts.event,
        parts.management_object, parts.queue_management, parts.outgoing_management, parts.application, parts.collection,
    )  # fmt: skip


@pytest.mark.parametrize("made", list(_classes()), ids=lambda made: made.CLASS)
def test_a_class_has_the_members_that_its_interfaces_declare(made: Any) -> None:
    members = [each for name in made.INTERFACES for each in declared(name) if not name[-1].isdigit() or _newest(name)]
    for each in members:
        found = made.MEMBERS[each.kind, each.called.lower()]
        given = [argument for argument in each.arguments if "in" in argument.flags]
        assert [argument.vt or "ERROR" for argument in given] == [kind.vt for kind in found.arguments.values()]
        optional = ["optional" in argument.flags for argument in given]
        assert optional == [kind.optional for kind in found.arguments.values()]
    told = {(each.kind, each.called.lower()) for each in members}
    assert told <= set(made.MEMBERS) if "Management" in made.CLASS else told == set(made.MEMBERS)


def _newest(name: str) -> bool:
    family = name.rstrip("0123456789")
    return family not in REVISIONS or name == f"{family}{len(REVISIONS[family])}"


@pytest.mark.parametrize("interface", [name for name in METHODS if declared(name)])
def test_slots_and_kinds_are_those_of_the_document(interface: str) -> None:
    told = {each.slot: (each.name, each.kind) for each in declared(interface)}
    listed = {each.opnum: (each.name, each.invocation) for each in METHODS[interface] if each.section not in MISPRINTED}
    assert listed.items() <= told.items()


@pytest.mark.parametrize(
    ("interface", "slot", "name"),
    [
        ("IMSMQQueue", 13, "Receive"), ("IMSMQQueue2", 13, "Receive_v1"), ("IMSMQQueue2", 20, "Receive"),
        ("IMSMQMessage", 21, "ResponseQueueInfo"), ("IMSMQMessage2", 77, "ResponseQueueInfo"),
        ("IMSMQMessage3", 77, "ResponseQueueInfo_v2"), ("IMSMQTransaction3", 12, "ITransaction"),
    ],
)  # fmt: skip
def test_older_interfaces_have_their_own_names(interface: str, slot: int, name: str) -> None:
    assert next(each.name for each in declared(interface) if each.slot == slot) == name
    last = max(each.slot for each in declared(interface))
    assert last == {"IMSMQTransaction3": 12, "IMSMQQueue": 19, "IMSMQQueue2": 25, "IMSMQMessage": 55}.get(
        interface, {"IMSMQMessage2": 81, "IMSMQMessage3": 97}.get(interface)
    )


def test_a_member_is_found_through_the_interface_that_has_it(talk: Talk) -> None:
    queue = Objects(talk).make("MSMQQueue")

    def status(interface: str, member: str, kind: str = "method") -> int:
        given = {"object": queue, "member": member, "kind": kind, "arguments": [], "interface": interface}
        return int(talk("objects.invoke", **given)["status"])

    assert status("IMSMQQueue", "Receive") == status("IMSMQQueue4", "Receive") == 0x80040007
    assert status("IMSMQQueue", "Handle2", "get") == 0x80020006
    assert status("IMSMQQueue", "Receive", "get") == 0x80020003
    assert status("IMSMQMessage", "Receive") == 0x80004002


VALUES: list[dict[str, Any]] = [{"vt": vt, "value": "1" if vt.endswith("I8") else 1} for vt in INTEGERS]
NUMBERS = ("1.5", "1e300", "NaN", "-Infinity", "9" * 40, "1e999999", "x")
VALUES += [{"vt": vt, "value": value} for vt in ("R4", "R8", "DATE", "CY", "DECIMAL") for value in NUMBERS]
TEXTS = (None, "", "a\0b", "\ud800", "9" * 300, "HOST\\private$\\q", "DIRECT=OS:HOST\\private$\\q")
VALUES += [text(value) for value in TEXTS]
VALUES += [{"vt": "BOOL", "value": 7}, {"vt": "ERROR", "value": 1}, {"vt": "EMPTY"}, {"vt": "NULL"}]
VALUES += [{"vt": vt, "value": value} for vt in ("DISPATCH", "UNKNOWN") for value in (None, "o99", 5)]
VALUES += [
    {"vt": "ARRAY", "of": of, "value": [{"vt": "BSTR", "value": "x"}, {"vt": "EMPTY"}, {"vt": "I2", "value": 1}]}
    for of in ("I2", "BSTR", "BOOL", "CY", "R8", "VARIANT", "DISPATCH")
]
VALUES += [{"vt": "ARRAY", "of": "UI1", "value": value} for value in ("", "AQ==", "x")]


@pytest.mark.parametrize("name", CLASSES)
def test_every_value_gets_a_result(talk: Talk, name: str) -> None:
    objects = Objects(talk)
    info = objects.info()
    made = {"MSMQQueue": objects.open(info), "MSMQQueueInfo": info}
    for signature in talk.driver.manager.objects.classes()[name].MEMBERS.values():
        for value in VALUES:
            target = made.get(name) or objects.make(name)
            given = [value] * len(signature.arguments)
            answers = objects.start(target, signature.name, *given, kind=signature.kind)
            assert all(0 <= answer["status"] <= 0xFFFFFFFF for answer in answers)


def test_what_is_not_there_is_refused(talk: Talk) -> None:
    assert talk("objects.create", **{"class": "MSMQNothing"})["status"] == 0x80040154
    assert talk("objects.describe", **{"class": "MSMQNothing"})["status"] == 0x80040154
    for handle in ("o99", 5):
        assert talk("objects.describe", object=handle)["status"] == 0x80070006
        assert talk("objects.get", object=handle, members=["Label"])["status"] == 0x80070006
        assert talk("objects.query", object=handle, iid="x")["status"] == 0x80070006
    held = Objects(talk).make("MSMQMessage")
    assert talk("objects.release", objects=[held, held, "o99", None])["status"] == 0x80070006
    assert talk("objects.get", object=held, members=["Label"])["status"] == 0x80070006


def test_a_hundred_thousand_objects_are_let_go(talk: Talk) -> None:
    table = talk.driver.manager.objects
    made = [table.create(CLASSES[number % len(CLASSES)]) for number in range(100_000)]
    assert len(set(made)) == 100_000
    talk.ok("objects.release", objects=made)
    assert not table._held and not table._handles


@pytest.mark.parametrize("name", COCLASSES)
def test_a_class_tells_its_identifier(talk: Talk, name: str) -> None:
    assert talk.ok("objects.describe", **{"class": name})["clsid"] == COCLASSES[name]
    made = talk.ok("objects.create", **{"class": name})["object"]
    assert talk.ok("objects.describe", object=made)["clsid"] == COCLASSES[name]


def test_an_object_without_class_has_no_identifier(talk: Talk) -> None:
    objects = Objects(talk)
    begun = objects.call(objects.make("MSMQTransactionDispenser"), "BeginTransaction")
    assert "clsid" not in talk.ok("objects.describe", object=objects.get(begun, "ITransaction"))
