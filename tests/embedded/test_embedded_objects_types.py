"""Types of objects, queries and transactions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from embedded_objects import LEFT_OUT, NOTHING, SEND, Objects, flag, long, text, thing
from embedded_stories_objects_queries import DAY, DIRECTORY, GUIDS, KIND, MIDDLE
from embedded_talk import Talk

from conformance.adapter.protocol import validator
from conformance.embedded.manager import Parts
from conformance.embedded.methods import BadParams
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


REL_NOP, REL_EQ, REL_NEQ, REL_LT, REL_GT, REL_LE, REL_GE = range(7)
DATE = {"vt": "DATE", "value": repr(25569 + MIDDLE / DAY)}
FIRST, MIDDLE_ONE, LAST = GUIDS[:3]


def fill(talk: Talk) -> None:
    validator("directory", "params")(DIRECTORY)
    talk.ok("directory", **DIRECTORY)


def found(objects: Objects, *arguments: Any, member: str = "LookupQueue") -> list[str]:
    """The identifiers of the queues that a query finds, in their order."""
    infos = objects.call(objects.make("MSMQQuery"), member, *arguments)
    guids = []
    while (info := objects.call(infos, "Next")) is not None:
        guids.append(objects.get(info, "FormatName").removeprefix("PUBLIC="))
    return guids


def at(place: int, given: Any, relation: tuple[int, int] | None = None) -> list[Any]:
    arguments = [LEFT_OUT] * 11
    arguments[place] = given
    if relation is not None:
        arguments[relation[0]] = long(relation[1])
    return arguments


@pytest.mark.parametrize(
    ("relation", "wanted"),
    [
        (REL_NOP, [FIRST, MIDDLE_ONE, LAST]),
        (REL_EQ, [MIDDLE_ONE]),
        (REL_NEQ, [FIRST, LAST]),
        (REL_LT, [FIRST]),
        (REL_GT, [LAST]),
        (REL_LE, [FIRST, MIDDLE_ONE]),
        (REL_GE, [MIDDLE_ONE, LAST]),
    ],
)
def test_every_operator_compares_every_operand(talk: Talk, relation: int, wanted: list[str]) -> None:
    fill(talk)
    objects = Objects(talk)
    for place, given, operator in (
        (1, text(f"{{{KIND[:-1]}1}}"), 5),
        (2, text("B"), 6),
        (3, DATE, 7),
        (9, text("234.1.1.2:80"), 10),
    ):
        assert found(objects, *at(place, given, (operator, relation))) == wanted
    assert found(objects, *at(4, DATE, (8, relation))) == found(objects, *at(3, DATE, (7, _turned(relation))))


def _turned(relation: int) -> int:
    return {REL_LT: REL_GT, REL_GT: REL_LT, REL_LE: REL_GE, REL_GE: REL_LE}.get(relation, relation)


def test_a_query_compares_for_equality_where_it_is_not_told(talk: Talk) -> None:
    fill(talk)
    objects = Objects(talk)
    assert found(objects, *at(0, text(f"{{{LAST}}}"))) == [LAST]
    assert found(objects, *at(2, text("c"))) == [LAST]
    assert found(objects, LEFT_OUT, LEFT_OUT, text("c"), member="LookupQueue_v2") == [LAST]


def test_a_query_finds_the_public_queues_of_the_manager_too(talk: Talk) -> None:
    objects = Objects(talk)
    objects.info("HOST\\own")
    objects.info("HOST\\private$\\q")
    assert len(found(objects)) == 1
    fill(talk)
    assert found(objects)[1:] == [FIRST, MIDDLE_ONE, LAST]
    talk.ok("reset")
    assert found(objects) == []


def test_an_empty_address_finds_the_queues_without_one(talk: Talk) -> None:
    fill(talk)
    assert found(Objects(talk), *at(9, text(""))) == [FIRST]


@pytest.mark.parametrize("given", [at(0, text(LAST)), at(1, long(7)), at(2, long(7)), at(3, text("x"))])
def test_an_operand_of_another_kind_is_refused(talk: Talk, given: list[Any]) -> None:
    objects = Objects(talk)
    assert objects.status(objects.make("MSMQQuery"), "LookupQueue", *given) == 0x80070057
    assert objects.status(objects.make("MSMQQuery"), "LookupQueue", *at(2, text("x"), (6, 7))) == 0x80070057


def test_what_is_found_is_walked_through_and_begun_again(talk: Talk) -> None:
    fill(talk)
    objects = Objects(talk)
    infos = objects.call(objects.make("MSMQQuery"), "LookupQueue", *at(2, text("a")))
    info = objects.call(infos, "Next")
    assert [objects.get(info, name) for name in ("PathName", "Label", "ADsPath", "PathNameDNS")] == [
        "OTHER\\q0",
        "a",
        "LDAP://CN=q0",
        "other.example\\q0",
    ]
    assert objects.get(info, "CreateTime") == repr(25569 + (MIDDLE - DAY) / DAY)
    assert [objects.call(infos, "Next") for _ in range(2)] == [None, None]
    objects.call(infos, "Reset")
    assert objects.call(infos, "Next") not in (None, info)


def test_a_queue_of_another_computer_is_updated_in_the_directory(talk: Talk) -> None:
    fill(talk)
    objects = Objects(talk)
    info = objects.make("MSMQQueueInfo")
    objects.put(info, "FormatName", text(f"PUBLIC={LAST}"))
    objects.call(info, "Refresh")
    objects.put(info, "Label", text("anew"))
    assert found(objects, *at(2, text("anew"))) == []
    objects.call(info, "Update")
    assert found(objects, *at(2, text("anew"))) == [LAST]


@pytest.mark.parametrize("member", ["Reset", "Next"])
def test_an_object_that_a_client_makes_holds_no_result(talk: Talk, member: str) -> None:
    objects = Objects(talk)
    assert objects.status(objects.make("MSMQQueueInfos"), member) == 0xC00E0094


def test_directory_paths_name_queues_aliases_and_lists(talk: Talk) -> None:
    fill(talk)
    objects = Objects(talk)
    destination = objects.make("MSMQDestination")
    names = []
    for path in ("LDAP://CN=q1", "LDAP://CN=alias", "LDAP://CN=list"):
        assert objects.put(destination, "ADsPath", text(path)) == 0
        names.append(objects.get(destination, "FormatName"))
    assert names == [f"PUBLIC={MIDDLE_ONE}", "DIRECT=OS:OTHER\\x", f"DL={GUIDS[5]}"]
    assert objects.put(destination, "ADsPath", text("LDAP://CN=none")) == 0xC00E0003


def test_a_public_queue_of_another_computer_can_be_sent_to_if_the_directory_has_it(talk: Talk) -> None:
    name = f"PUBLIC={FIRST}"
    assert talk("queues.open", format_name=name, access="send")["status"] == 0xC00E0020
    fill(talk)
    assert talk("queues.open", format_name=name, access="send")["status"] == 0


@pytest.mark.parametrize(
    "given",
    [
        {"guid": 7},
        {"guid": "x"},
        {},
        {"guid": FIRST, "class": "user"},
        {"guid": FIRST, "quota": -1},
        {"guid": FIRST, "other": 1},
    ],
)
def test_what_is_no_object_of_the_directory_is_refused(talk: Talk, given: dict[str, Any]) -> None:
    with pytest.raises(BadParams):
        talk("directory", objects=[given])


def test_older_versions_of_the_protocol_have_no_directory(talk: Talk) -> None:
    offered = [
        talk.ok("hello", versions=[version], harness="t", state_dir="")["facets"]["manager"]
        for version in ("1.1", "1.2")
    ]
    assert ["directory" in each for each in offered] == [False, True]


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
