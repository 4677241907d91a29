"""packets.deliver: where a packet that arrived goes, and what its sender is told."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from embedded_talk import NAME, Talk

from conformance.adapter.protocol import validator
from conformance.spec.constants.hresults import (
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_TRANSACTION_USAGE,
)

SOURCE = "909ea0fc-9078-4445-8f11-394c43cd8907"
ADMIN = "DIRECT=OS:HOST\\private$\\admin"
TRANSACTION = {
    "sequence_identifier": {"ordinal": 1, "timestamp": 1},
    "sequence_number": 1,
    "previous_sequence_number": 0,
    "index": 1,
    "first": True,
    "last": False,
}


def deliver(talk: Talk, label: str = "m", **message: Any) -> int:
    asked = {"destination": NAME, "identifier": {"source": SOURCE, "ordinal": 9}, "label": label, **message}
    packet = talk.ok("packets.encode", message=asked)["packet"]
    answer = talk("packets.deliver", packet=packet, source="10.0.0.1")
    validator("packets.deliver", "result")(answer)
    return int(answer["status"])


def test_the_message_arrives_as_it_was_sent(talk: Talk) -> None:
    _, receive = talk.queue()
    sent = {"body": "aGVsbG8=", "class": 2, "application_tag": 7, "priority": 6, "sent_time": 1000, "extension": "AAEC"}
    assert deliver(talk, **sent, destinations=[NAME, ADMIN], soap_body="x") == 0
    answer = talk.ok("messages.receive", queue=receive, timeout_ms=0)
    validator("messages.receive", "result")(answer)
    message = answer["message"]
    assert {name: message[name] for name in sent} == sent
    assert message["identifier"] == {"source": SOURCE, "ordinal": 9}
    assert message["label"] == "m"


def test_order_is_by_priority_and_then_by_arrival(talk: Talk) -> None:
    _, receive = talk.queue()
    for label, priority in (("a", 1), ("b", 5), ("c", 5), ("d", 3)):
        assert deliver(talk, label, priority=priority) == 0
    assert talk.drain(receive) == ["b", "c", "d", "a"]


def test_a_reader_that_waits_gets_it(talk: Talk) -> None:
    _, receive = talk.queue()
    waits = talk.start("messages.receive", queue=receive, timeout_ms=1000)
    assert deliver(talk) == 0
    assert waits[0]["message"]["label"] == "m"


@pytest.mark.parametrize("packet", ["", "AAAA", "====", "\u00e9"])
def test_what_is_no_packet_is_refused(talk: Talk, packet: str) -> None:
    assert talk("packets.deliver", packet=packet)["status"] == MQ_ERROR_INVALID_PARAMETER


def test_a_recoverable_message_survives(talk: Talk) -> None:
    talk.queue()
    assert deliver(talk, "kept", delivery="recoverable") == 0
    assert deliver(talk, "lost") == 0
    talk.driver.close()
    again = Talk(talk.state_dir)
    assert again.drain(again.open()) == ["kept"]
    again.driver.close()


def _told(talk: Talk, admin: str) -> list[int]:
    classes = []
    while (answer := talk("messages.receive", queue=admin, timeout_ms=0))["status"] == 0:
        classes.append(answer["message"]["class"])
        raw = base64.b64decode(answer["message"]["correlation_identifier"])
        assert raw[16:] == b"\x09\0\0\0"
    return classes


def _asking(talk: Talk) -> tuple[str, dict[str, Any]]:
    _, admin = talk.queue("private$\\admin")
    return admin, {"administration_queue": ADMIN, "acknowledgements": ["positive_arrival", "negative_arrival"]}


def test_the_sender_is_told_of_the_arrival(talk: Talk) -> None:
    admin, asking = _asking(talk)
    talk.queue()
    assert deliver(talk, **asking) == 0
    assert _told(talk, admin) == [0x0002]


def test_a_queue_that_is_not_there(talk: Talk) -> None:
    admin, asking = _asking(talk)
    assert deliver(talk, **asking) == MQ_ERROR_QUEUE_NOT_FOUND
    assert _told(talk, admin) == [0x8000]
    assert deliver(talk, destination="DIRECT=OS:elsewhere\\q") == MQ_ERROR_QUEUE_NOT_FOUND
    assert _told(talk, admin) == []


def test_transactional_messages_and_queues_have_to_agree(talk: Talk) -> None:
    admin, asking = _asking(talk)
    talk.queue()
    _, receive = talk.queue("private$\\t", PROPID_Q_TRANSACTION=1)
    there = {"destination": "DIRECT=OS:HOST\\private$\\t"}
    assert deliver(talk, **asking, transaction=TRANSACTION) == MQ_ERROR_TRANSACTION_USAGE
    assert deliver(talk, **there, **asking) == MQ_ERROR_TRANSACTION_USAGE
    assert _told(talk, admin) == [0x8009, 0x800A]
    assert deliver(talk, **there, transaction=TRANSACTION) == 0
    message = talk.ok("messages.receive", queue=receive, timeout_ms=0)["message"]
    assert (message["first_in_transaction"], message["last_in_transaction"]) == (True, False)


def test_a_full_queue(talk: Talk) -> None:
    admin, asking = _asking(talk)
    talk.queue(PROPID_Q_QUOTA=0)
    assert deliver(talk, negative_journaling=True, **asking) == MQ_ERROR_INSUFFICIENT_RESOURCES
    assert _told(talk, admin) == [0x8003]
    assert talk.drain(talk.open("DIRECT=OS:HOST\\system$;DEADLETTER")) == ["m"]


def test_a_message_for_another_manager_goes_on(talk: Talk) -> None:
    admin, asking = _asking(talk)
    away = {"destination": f"PRIVATE={SOURCE}\\00000007"}
    assert deliver(talk, **away) == 0
    assert talk.ok("queues.counts", format_name=away["destination"])["messages"] == 1
    assert deliver(talk, **away, **asking, hop_count=29) == MQ_ERROR_INSUFFICIENT_RESOURCES
    assert _told(talk, admin) == [0x8005]


def test_a_message_that_has_lived_too_long(talk_with: Callable[..., Talk]) -> None:
    talk = talk_with()
    _, receive = talk.queue()
    now = talk.ok("clock.now")["time_ms"] // 1000
    assert deliver(talk, "late", sent_time=now - 20, time_to_be_received=10) == 0
    assert deliver(talk, "soon", sent_time=now - 5, time_to_be_received=10) == 0
    assert talk("messages.peek", queue=receive, timeout_ms=0)["message"]["label"] == "soon"
    talk.ok("clock.advance", by_ms=6000)
    assert talk.drain(receive) == []
