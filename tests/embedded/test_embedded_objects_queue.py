"""Objects of queues, their descriptions and messages."""

from __future__ import annotations

from typing import Any

import pytest
from embedded_objects import LEFT_OUT, NOTHING, PEEK, SEND, Objects, data, flag, long, text, thing
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


PATH = "HOST\\private$\\q"
BLANK_PROPERTIES = ("QueueGuid", "CreateTime", "PathNameDNS", "ADsPath", "Quota", "IsTransactional2")


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


GUID = "{0123ABCD-4567-89AB-CDEF-0123456789AB}"
REFUSED = 0xC00E0018
INITIAL = {
    "Class": 0, "MsgClass": 0, "PrivLevel": 0, "AuthLevel": 0, "IsAuthenticated": 0, "Delivery": 0, "Trace": 0,
    "Priority": 3, "Journal": 0, "AppSpecific": 0, "BodyLength": 0, "Ack": 0, "Label": "", "MaxTimeToReachQueue": -1,
    "MaxTimeToReceive": -1, "HashAlgorithm": 0x8004, "EncryptAlgorithm": 0x6801, "SenderIdType": 1,
    "SenderVersion": 0x10, "AuthenticationProviderType": 1, "LookupId": "0", "IsFirstInTransaction": 0,
    "AuthenticationProviderName": "Microsoft Base Cryptographic Provider, v1.0", "IsLastInTransaction2": False,
    "SourceMachineGuid": "00000000-0000-0000-0000-000000000000", "ReceivedAuthenticationLevel": 0,
    "ConnectorTypeGuid": "{00000000-0000-0000-0000-000000000000}", "Body": None, "Id": None, "SoapEnvelope": None,
}  # fmt: skip
LIMITS: tuple[tuple[str, tuple[Any, ...], tuple[Any, ...], int], ...] = (
    ("PrivLevel", (0, 1, 3), (-1, 2, 4, 5), REFUSED),
    ("AuthLevel", (0, 1, 2, 4, 8), (-1, 3, 5, 16), REFUSED),
    ("Delivery", (0, 1), (-1, 2), REFUSED),
    ("Trace", (0, 1), (-1, 2), REFUSED),
    ("Priority", (0, 7), (-1, 8), REFUSED),
    ("Journal", (0, 1, 2, 3), (-1, 4), REFUSED),
    ("Ack", (0, 1, 2, 4, 5, 8, 12, 14), (3, 6, 7, 9, 15, 16), REFUSED),
    ("Label", ("", "x" * 249), ("x" * 250, "\U0001f600" * 125), 0xC00E005D),
    ("ConnectorTypeGuid", (GUID,), (GUID.strip("{}"), "{0123}", "", GUID + "x"), REFUSED),
)
BODIES: tuple[Any, ...] = (
    text("text"), text(""), {"vt": "I1", "value": -1}, {"vt": "UI1", "value": 255}, {"vt": "I2", "value": -2},
    {"vt": "UI2", "value": 65535}, long(-3), {"vt": "UI4", "value": 4}, {"vt": "R4", "value": "1.5"},
    {"vt": "R8", "value": "2.25"}, {"vt": "CY", "value": "1.2345"}, {"vt": "DATE", "value": "25569.5"},
    {"vt": "BOOL", "value": True}, data("AAEC"), {"vt": "ARRAY", "of": "I4", "value": [long(1), long(2)]},
    {"vt": "ARRAY", "of": "BSTR", "value": [text("a"), text("")]},
)  # fmt: skip


def value(given: Any) -> dict[str, Any]:
    return text(given) if isinstance(given, str) else long(given)


def sent(objects: Objects, message: str, **options: Any) -> str:
    """The object that a receive gives for a message that is sent."""
    info = objects.info()
    objects.call(message, "Send", thing(objects.open(info, SEND)))
    return str(objects.call(objects.open(info), "Receive"))


def test_initial_values(objects: Objects) -> None:
    message = objects.make("MSMQMessage")
    assert {name: objects.get(message, name) for name in INITIAL} == INITIAL


@pytest.mark.parametrize(("member", "good", "bad", "status"), LIMITS, ids=[each[0] for each in LIMITS])
def test_limits(objects: Objects, member: str, good: Any, bad: Any, status: int) -> None:
    message = objects.make("MSMQMessage")
    for each in good:
        assert objects.put(message, member, value(each)) == 0, each
        assert objects.get(message, member) == each
    for each in bad:
        assert objects.put(message, member, value(each)) == status, each
    assert objects.get(message, member) == good[-1]


@pytest.mark.parametrize(
    ("member", "given"),
    [
        ("AppSpecific", long(-5)), ("CorrelationId", data("AQIDBAUGBwgJCgsMDQ4PEBESExQ=")), ("Extension", data("AQI=")),
        ("MaxTimeToReachQueue", long(9)), ("MaxTimeToReceive", long(99)), ("HashAlgorithm", long(0x8001)),
        ("EncryptAlgorithm", long(0x6602)), ("SenderCertificate", data("Aw==")), ("SenderIdType", long(0)),
        ("AuthenticationProviderType", long(7)), ("PrivLevel", long(3)), ("Delivery", long(1)), ("Trace", long(1)),
        ("Priority", long(6)), ("Journal", long(3)), ("Ack", long(14)), ("Label", text("l")),
    ],
)  # fmt: skip
def test_what_is_put_arrives(objects: Objects, member: str, given: Any) -> None:
    message = objects.message(**{member: given})
    assert objects.typed(message, member) == given
    expected = long(9) if member == "MaxTimeToReachQueue" else given
    assert objects.typed(sent(objects, message), member) == expected


@pytest.mark.parametrize("body", BODIES, ids=lambda body: f"{body['vt']}-{body.get('of')}-{body['value']}")
def test_bodies_keep_their_type(objects: Objects, body: Any) -> None:
    message = objects.message(Body=body)
    assert objects.typed(message, "Body") == body
    received = sent(objects, message)
    assert objects.typed(received, "Body") == body
    assert objects.get(received, "BodyLength") == objects.get(message, "BodyLength")


@pytest.mark.parametrize(
    "body",
    [{"vt": "EMPTY"}, {"vt": "NULL"}, {"vt": "I8", "value": "1"}, {"vt": "UI8", "value": "1"},
     {"vt": "INT", "value": 1}, {"vt": "ERROR", "value": 1}, {"vt": "DECIMAL", "value": "1"},
     {"vt": "ARRAY", "of": "I8", "value": []},
     {"vt": "ARRAY", "of": "VARIANT", "value": []}],
    ids=lambda body: f"{body['vt']}-{body.get('of')}",
)  # fmt: skip
def test_types_that_no_body_has(objects: Objects, body: Any) -> None:
    message = objects.message(Body=text("kept"))
    assert objects.put(message, "Body", body) == 0x80070057 and objects.get(message, "Body") == "kept"


def test_a_body_of_another_sender_is_bytes(objects: Objects, talk: Talk) -> None:
    info = objects.info()
    handle = talk.open("DIRECT=OS:HOST\\private$\\q", "send")
    talk.send(handle, "plain", body="AAEC")
    received = objects.call(objects.open(info), "Receive")
    assert objects.typed(received, "Body") == data("AAEC") and objects.get(received, "Label") == "plain"


def test_send_checks_in_their_order(objects: Objects) -> None:
    info = objects.info()
    sender = thing(objects.open(info, SEND))
    message = objects.message(MsgClass=long(2), AuthenticationProviderName=text(""))
    blank = thing(objects.make("MSMQQueue"))
    assert objects.status(message, "Send", NOTHING) == 0x80070057
    assert objects.status(message, "Send", blank) == 0xC00E0055
    objects.put(message, "ConnectorTypeGuid", text(GUID))
    assert objects.status(message, "Send", blank) == 0xC00E003F
    objects.put(message, "AuthenticationProviderName", text("p"))
    assert objects.status(message, "Send", blank, text("x")) == 0x80070057
    assert objects.status(message, "Send", blank) == 0x80040007
    closed = objects.open(info, SEND)
    objects.call(closed, "Close")
    assert objects.status(message, "Send", thing(closed)) == 0xC00E0007
    assert objects.status(message, "Send", thing(objects.open(info))) == 0xC00E0025
    assert objects.status(message, "Send", sender) == 0
    assert objects.get(objects.call(objects.open(info), "Receive"), "Class") == 2


@pytest.mark.parametrize(
    ("member", "given"),
    [("MsgClass", long(0)), ("SenderId", data("AQ==")), ("DestinationSymmetricKey", data("AQ==")),
     ("Signature", data("AQ==")), ("AuthenticationProviderName", text("p"))],
)  # fmt: skip
def test_what_a_connector_alone_can_put(objects: Objects, member: str, given: Any) -> None:
    sender = objects.open(objects.info(), SEND)
    message = objects.message(**{member: given})
    assert objects.status(message, "Send", thing(sender)) == 0xC00E0055
    objects.put(message, "ConnectorTypeGuid", text(GUID))
    assert objects.status(message, "Send", thing(sender)) == 0 == objects.status(message, "Send", thing(sender))


def test_a_send_completes_the_object(objects: Objects) -> None:
    message = objects.message(MaxTimeToReceive=long(5))
    received = sent(objects, message)
    for member in ("Id", "SenderId", "SourceMachineGuid", "SentTime", "MaxTimeToReachQueue"):
        assert objects.get(received, member) == objects.get(message, member), member
    assert objects.get(message, "MaxTimeToReachQueue") == 5 == objects.get(received, "MaxTimeToReceive")
    first = objects.get(message, "Id")
    objects.call(message, "Send", thing(objects.open(objects.info("HOST\\private$\\other"), SEND)))
    assert objects.get(message, "Id") != first


def test_queues_of_a_message(objects: Objects) -> None:
    answers = objects.info("HOST\\private$\\answers")
    message = objects.message()
    for member in ("ResponseQueueInfo", "AdminQueueInfo", "ResponseQueueInfo_v1", "AdminQueueInfo_v2"):
        assert objects.status(message, member, thing(answers), kind="putref") == 0
        named = objects.get(objects.get(message, member), "FormatName")
        assert named == objects.get(answers, "FormatName")
    received = sent(objects, message)
    assert objects.get(objects.get(received, "AdminQueueInfo"), "PathName") == "HOST\\private$\\answers"
    assert objects.status(message, "ResponseQueueInfo", NOTHING, kind="putref") == 0
    assert objects.typed(objects.get(message, "ResponseQueueInfo"), "FormatName") == text(None)
    assert objects.status(message, "ResponseQueueInfo", thing(message), kind="putref") == 0x80070057


def test_attaching_leaves_the_properties(objects: Objects) -> None:
    message = objects.make("MSMQMessage")
    for method in ("AttachCurrentSecurityContext", "AttachCurrentSecurityContext2"):
        assert objects.status(message, method) == 0 and objects.typed(message, "SenderId") == {"vt": "EMPTY"}
    assert objects.status(message, "Properties", kind="get") == 0x80004001
