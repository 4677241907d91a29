"""MSMQMessage of the embedded manager (MC-MQAC 3.17): initial values, limits, bodies, sending."""

from __future__ import annotations

from typing import Any

import pytest
from embedded_objects import NOTHING, SEND, Objects, data, long, text, thing
from embedded_talk import Talk

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


@pytest.fixture
def objects(talk: Talk) -> Objects:
    return Objects(talk)


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
