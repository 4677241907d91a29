"""MSMQQuery, MSMQQueueInfos and the directory that a caller gives (MC-MQAC 3.12.6.1, 3.13, 3.14)."""

from __future__ import annotations

from typing import Any

import pytest
from embedded_objects import LEFT_OUT, Objects, long, text
from embedded_stories_objects_queries import DAY, DIRECTORY, GUIDS, KIND, MIDDLE
from embedded_talk import Talk

from conformance.adapter.protocol import validator
from conformance.embedded.methods import BadParams

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
