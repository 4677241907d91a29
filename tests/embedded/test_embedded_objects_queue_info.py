"""MSMQQueueInfo of the embedded manager (MC-MQAC 3.10): references, properties, and the methods that make queues."""

from __future__ import annotations

from typing import Any

import pytest
from embedded_objects import LEFT_OUT, Objects, flag, long, text
from embedded_talk import Talk

PATH = "HOST\\private$\\q"
BLANK_PROPERTIES = ("QueueGuid", "CreateTime", "PathNameDNS", "ADsPath", "Quota", "IsTransactional2")


@pytest.fixture
def objects(talk: Talk) -> Objects:
    return Objects(talk)


def test_a_new_object_refers_to_nothing(objects: Objects) -> None:
    info = objects.make("MSMQQueueInfo")
    assert objects.typed(info, "FormatName") == text(None)
    for member in BLANK_PROPERTIES:
        assert objects.status(info, member, kind="get") >= 0x80000000, member
    for method in ("Create", "Delete", "Refresh", "Update"):
        assert objects.status(info, method) >= 0x80000000, method
    assert objects.status(info, "Open", long(1), long(0)) >= 0x80000000


@pytest.mark.parametrize(
    ("member", "value", "told"),
    [
        ("Label", text("a"), text("a")),
        ("PrivLevel", long(2), long(2)),
        ("Journal", long(7), long(1)),
        ("Journal", long(0), long(0)),
        ("Quota", long(5), long(5)),
        ("Quota", long(-1), long(-1)),
        ("JournalQuota", long(6), long(6)),
        ("Authenticate", long(-4), long(1)),
        ("MulticastAddress", text("234.1.1.1:8001"), text("234.1.1.1:8001")),
        ("ServiceTypeGuid", text("{0123ABCD-4567-89AB-CDEF-0123456789AB}"), None),
    ],
)
def test_what_is_put_is_told_and_created_and_updated(objects: Objects, member: str, value: Any, told: Any) -> None:
    told = told or value
    info = objects.make("MSMQQueueInfo")
    objects.put(info, "PathName", text(PATH))
    assert objects.put(info, member, value) == 0
    assert objects.typed(info, member) == told
    objects.call(info, "Create")
    assert objects.typed(info, member) == told
    other = objects.make("MSMQQueueInfo")
    objects.put(other, "FormatName", text(objects.get(info, "FormatName")))
    assert objects.typed(other, member) == told
    objects.put(other, "Label", text("new"))
    objects.call(other, "Update")
    objects.call(info, "Refresh")
    assert objects.get(info, "Label") == "new" and (member == "Label" or objects.typed(info, member) == told)


def test_a_put_that_is_not_updated_is_lost_by_refresh(objects: Objects) -> None:
    info = objects.info()
    objects.put(info, "Label", text("kept"))
    assert objects.get(info, "CreateTime") and objects.get(info, "Label") == "kept"
    objects.call(info, "Refresh")
    assert objects.get(info, "Label") == ""


def test_a_name_that_is_put_replaces_the_other(objects: Objects) -> None:
    info = objects.info()
    assert objects.get(info, "FormatName").startswith("PRIVATE=db0760c6")
    objects.put(info, "FormatName", text("DIRECT=OS:HOST\\private$\\other"))
    assert objects.typed(info, "PathName") == 0xC00E0003
    objects.put(info, "PathName", text(".\\private$\\other"))
    assert objects.typed(info, "FormatName") == text(None) and objects.get(info, "PathName") == ".\\private$\\other"
    objects.put(info, "FormatName", text(f"DIRECT=OS:{PATH}"))
    assert objects.get(info, "PathName") == PATH


def test_create_refuses_what_it_cannot_make(objects: Objects) -> None:
    info = objects.info()
    assert objects.status(info, "Create") == 0xC00E0005
    for path in ("nothing here", "ELSEWHERE\\private$\\q", "HOST\\private$\\q;sub", ""):
        objects.put(info, "PathName", text(path))
        assert objects.status(info, "Create") >= 0x80000000, path


@pytest.mark.parametrize(("given", "transactional"), [([], 0), ([LEFT_OUT], 0), ([flag(True)], 1), ([flag(False)], 0)])
def test_create_takes_its_arguments(objects: Objects, given: list[Any], transactional: int) -> None:
    info = objects.make("MSMQQueueInfo")
    objects.put(info, "PathName", text(PATH))
    objects.call(info, "Create", *given)
    assert objects.get(info, "IsTransactional") == transactional
    assert objects.typed(info, "IsTransactional2") == flag(bool(transactional))
    assert objects.get(info, "IsWorldReadable") == 0
    objects.call(info, "Delete")
    objects.put(info, "PathName", text(PATH))
    objects.call(info, "Create", LEFT_OUT, flag(True))
    assert objects.get(info, "IsWorldReadable") == 1 and objects.typed(info, "IsWorldReadable2") == flag(True)


def test_delete_forgets_everything(objects: Objects) -> None:
    info = objects.info()
    objects.put(info, "Label", text("gone"))
    objects.call(info, "Delete")
    assert objects.typed(info, "FormatName") == text(None) and objects.status(info, "Delete") >= 0x80000000
    objects.put(info, "PathName", text(PATH))
    assert objects.status(info, "Open", long(1), long(0)) == 0xC00E0003


def test_a_base_priority_is_for_public_queues(objects: Objects) -> None:
    info = objects.info()
    assert objects.put(info, "BasePriority", long(1)) == 0xC00E0018
    public = objects.info("HOST\\public")
    assert objects.get(public, "FormatName").startswith("PUBLIC=")
    for value, status in ((32767, 0), (-32768, 0), (32768, 0xC00E0018), (-32769, 0xC00E0018)):
        assert objects.put(public, "BasePriority", long(value)) == status
    objects.call(public, "Update")
    objects.call(public, "Refresh")
    assert objects.get(public, "BasePriority") == -32768
    assert objects.get(public, "PathNameDNS") == "HOST.local\\public" and objects.get(public, "ADsPath").startswith(
        "LDAP"
    )
    assert objects.status(info, "PathNameDNS", kind="get") >= 0x80000000
    assert objects.status(info, "ADsPath", kind="get") >= 0x80000000


def test_a_queue_of_the_computer_has_no_properties_of_its_own(objects: Objects) -> None:
    info = objects.make("MSMQQueueInfo")
    objects.put(info, "FormatName", text("DIRECT=OS:HOST\\SYSTEM$;JOURNAL"))
    objects.call(info, "Refresh")
    expected = {"PrivLevel": 1, "Journal": 0, "Quota": -1, "JournalQuota": -1, "Authenticate": 0, "QueueGuid": None}
    assert {name: objects.get(info, name) for name in expected} == expected
    assert objects.get(info, "ModifyTime") == "25569.0"
    assert objects.status(info, "Update") >= 0x80000000 and objects.status(info, "Delete") >= 0x80000000


@pytest.mark.parametrize(
    ("access", "share", "status"),
    [(2, 1, 0xC00E0045), (3, 0, 0xC00E0045), (0x80, 0, 0xC00E0045), (1, 2, 0xC00E0045), (1, 1, 0), (0x20, 0, 0)],
)
def test_open_takes_access_and_share(objects: Objects, access: int, share: int, status: int) -> None:
    info = objects.info()
    assert objects.status(info, "Open", long(access), long(share)) == status


def test_names_of_several_queues_are_for_sending(objects: Objects) -> None:
    objects.info()
    info = objects.make("MSMQQueueInfo")
    objects.put(info, "FormatName", text(f"DIRECT=OS:{PATH},DIRECT=OS:ELSEWHERE\\q"))
    assert objects.status(info, "Open", long(1), long(0)) == 0xC00E0020
    assert objects.open(info, 2)
    for method in ("Refresh", "Update", "Delete"):
        assert objects.status(info, method) == 0xC00E0020


def test_what_is_not_implemented(objects: Objects) -> None:
    info = objects.make("MSMQQueueInfo")
    assert objects.status(info, "Properties", kind="get") == 0x80004001
    assert objects.status(info, "Security", kind="get") == objects.put(info, "Security", text("")) == 0x80004001


def test_late_binding(objects: Objects, talk: Talk) -> None:
    info = objects.make("MSMQQueueInfo")
    assert objects.put(info, "labeL", text("x")) == 0 and objects.get(info, "LABEL") == "x"
    assert objects.status(info, "Nothing") == 0x80020006
    assert objects.status(info, "FormatName") == 0x80020003
    assert objects.status(info, "Open", long(1)) == 0x8002000F
    assert objects.status(info, "Refresh", long(1)) == 0x8002000E
    assert objects.put(info, "Quota", text("many")) == 0x80020005
    assert talk("objects.create", **{"class": "MSMQNothing"})["status"] == 0x80040154
    assert talk("objects.query", object=info, iid="fd174a80-89cf-11d2-b0f2-00e02c074f6b")["object"] == info
    assert talk("objects.query", object=info, iid="d7d6e074-dccd-11d0-aa4b-0060970debae")["status"] == 0x80004002
    talk.ok("objects.release", objects=[info])
    assert talk("objects.get", object=info, members=["Label"])["status"] == 0x80070006
    assert talk("objects.release", objects=[info])["status"] == 0x80070006


@pytest.mark.parametrize(
    ("name", "newest", "slots"),
    [
        ("MSMQQueueInfo", "IMSMQQueueInfo4", (7, 45)),
        ("MSMQQueue", "IMSMQQueue4", (7, 39)),
        ("MSMQMessage", "IMSMQMessage4", (7, 97)),
        ("MSMQTransactionDispenser", "IMSMQTransactionDispenser3", (7, 8)),
        ("MSMQTransaction", "IMSMQTransaction3", (12, 12)),
    ],
)
def test_each_class_is_described(talk: Talk, name: str, newest: str, slots: tuple[int, int]) -> None:
    answer = talk.ok("objects.describe", **{"class": name})
    first = answer["interfaces"][0]
    assert first["name"] == newest and answer["constants"]["MQSHARE"] == {"MQ_DENY_NONE": 0, "MQ_DENY_RECEIVE_SHARE": 1}
    assert [each["slot"] for each in first["members"]] == list(range(slots[0], slots[1] + 1))
    kinds = [(each["name"], each["kind"]) for each in first["members"]]
    assert len(set(kinds)) == len(kinds) and all("arguments" in each for each in first["members"])
