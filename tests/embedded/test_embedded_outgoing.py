"""Outgoing queues: what is transferred out of them, in which order and when, and what a hold changes."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from embedded_talk import NAME, Talk

from conformance.adapter.protocol import validator
from conformance.embedded.transfers import MOST_TEXT
from conformance.spec.constants import hresults as hr

FAR = "DIRECT=TCP:192.0.2.7\\private$\\q"
OTHER = "DIRECT=OS:elsewhere\\orders"
SOURCE = "909ea0fc-9078-4445-8f11-394c43cd8907"
JOURNAL = "DIRECT=OS:HOST\\system$;JOURNAL"
DEAD = "DIRECT=OS:HOST\\system$;DEADLETTER"


def take(talk: Talk, name: str = FAR) -> list[dict[str, Any]]:
    """What the packets say that are transferred now."""
    answer = talk.ok("outgoing.take", format_name=name)
    validator("outgoing.take", "result")(answer)
    return [talk.ok("packets.decode", packet=packet)["message"] for packet in answer["packets"]]


def labels(talk: Talk, name: str = FAR) -> list[str]:
    return [message["label"] for message in take(talk, name)]


def hold(talk: Talk, name: str = FAR, *, on: bool = True) -> None:
    talk.ok("outgoing.pause" if on else "outgoing.resume", format_name=name)


def again(talk: Talk) -> Talk:
    talk.driver.close()
    return Talk(talk.state_dir)


def test_what_is_sent_away_is_transferred_once_and_in_order(talk: Talk) -> None:
    send = talk.open(FAR, "send")
    for label, priority in (("a", 3), ("b", 5), ("c", 3), ("d", 0)):
        talk.send(send, label, priority=priority)
    assert talk.ok("queues.counts", format_name=FAR)["messages"] == 4
    assert labels(talk) == ["b", "a", "c", "d"]
    assert labels(talk) == []
    assert talk.ok("queues.counts", format_name=FAR) == {"status": 0, "messages": 0, "bytes": 0}
    talk.send(send, "e")
    assert labels(talk) == ["e"]


def test_the_packet_says_what_was_sent(talk: Talk) -> None:
    given = {
        "body": "AAEC",
        "body_type": 17,
        "priority": 6,
        "delivery": "recoverable",
        "class": 2,
        "application_tag": 9,
    }
    given |= {"acknowledgements": ["positive_arrival", "negative_receive"], "administration_queue": NAME}
    given |= {"response_queue": OTHER, "positive_journaling": True, "negative_journaling": True, "extension": "AQ=="}
    given |= {
        "time_to_reach_queue": 77,
        "time_to_be_received": 88,
        "correlation_identifier": "AQIDBAUGBwgJCgsMDQ4PEBESExQ=",
    }
    identifier = talk.send(talk.open(FAR, "send"), "hi", **given)["identifier"]
    [message] = take(talk)
    assert {name: message[name] for name in given} == given
    assert (message["label"], message["destination"], message["identifier"]) == ("hi", FAR, identifier)
    assert "transaction" not in message


def test_a_queue_on_hold_keeps_what_it_has_and_gets(talk: Talk) -> None:
    send, other, here = talk.open(FAR, "send"), talk.open(OTHER, "send"), talk.queue()
    talk.send(send, "before")
    hold(talk)
    hold(talk)
    talk.send(send, "behind")
    talk.send(send, "first", priority=7)
    talk.send(other, "elsewhere")
    talk.send(here[0], "local")
    assert labels(talk) == []
    assert talk.ok("queues.counts", format_name=FAR)["messages"] == 3
    assert labels(talk, OTHER) == ["elsewhere"]
    assert talk.receive(here[1]) == "local"
    hold(talk, on=False)
    assert labels(talk) == ["first", "before", "behind"]
    hold(talk, on=False)
    assert labels(talk) == []


def test_what_expires_on_hold_is_not_transferred(talk: Talk) -> None:
    send = talk.open(FAR, "send")
    talk.send(send, "late", time_to_reach_queue=5, negative_journaling=True)
    talk.send(send, "old", time_to_be_received=5)
    talk.send(send, "good")
    hold(talk)
    talk.ok("clock.advance", by_ms=5000)
    hold(talk, on=False)
    assert labels(talk) == ["good"]
    assert talk.drain(talk.open(DEAD)) == ["late"]


def test_only_what_is_committed_is_transferred(talk: Talk) -> None:
    send = talk.open(FAR, "send")
    first, second = talk.begin(), talk.begin()
    for label in "ab":
        talk.send(send, label, first)
    talk.send(send, "x", second)
    talk.send(send, "alone", priority=0)
    assert labels(talk) == ["alone"]
    talk.ok("transactions.commit", transaction=first)
    talk.ok("transactions.abort", transaction=second)
    third = talk.begin()
    talk.send(send, "c", third)
    talk.ok("transactions.commit", transaction=third)
    parts = [message["transaction"] for message in take(talk)]
    assert [(part["sequence_number"], part["previous_sequence_number"]) for part in parts] == [(1, 0), (2, 1), (3, 2)]
    assert [(part["first"], part["last"]) for part in parts] == [(True, False), (False, True), (True, True)]
    assert parts[0]["index"] == parts[1]["index"] != parts[2]["index"]
    assert parts[0]["sequence_identifier"] == parts[2]["sequence_identifier"]


def test_a_sequence_is_greater_than_those_before_it(talk: Talk) -> None:
    numbers = []
    for _ in range(3):
        send, transaction = talk.open(FAR, "send"), talk.begin()
        talk.send(send, "m", transaction)
        talk.ok("transactions.commit", transaction=transaction)
        [message] = take(talk)
        identifier = message["transaction"]["sequence_identifier"]
        numbers.append((identifier["timestamp"], identifier["ordinal"]))
        talk = again(talk)
    talk.driver.close()
    assert numbers == sorted(set(numbers))


def test_a_hold_does_not_outlive_the_process_and_recoverable_messages_do(talk: Talk) -> None:
    send, transaction = talk.open(FAR, "send"), talk.begin()
    hold(talk)
    talk.send(send, "kept", delivery="recoverable", priority=1)
    talk.send(send, "express")
    talk.send(send, "done", transaction)
    talk.ok("transactions.commit", transaction=transaction)
    after = again(talk)
    messages = take(after)
    assert [message["label"] for message in messages] == ["kept", "done"]
    assert messages[1]["transaction"]["index"] > 0
    later = again(after)
    assert labels(later) == []
    later.driver.close()


def test_several_destinations_are_named_in_each_packet(talk: Talk) -> None:
    _, receive = talk.queue()
    several = f"{FAR},{NAME},{OTHER}"
    talk.send(talk.open(several, "send"), "m")
    for name in (FAR, OTHER):
        [message] = take(talk, name)
        assert (message["destination"], message["destinations"]) == (name, [FAR, NAME, OTHER])
    assert talk.receive(receive) == "m"


def test_several_administration_queues(talk: Talk) -> None:
    dead = f"MACHINE={SOURCE};DEADLETTER"
    talk.send(talk.open(FAR, "send"), "m", administration_queue=f"{NAME},{OTHER}", response_queue=dead)
    [message] = take(talk)
    assert message["administration_queues"] == [NAME, OTHER]
    assert message["destinations"] == [FAR]
    assert "response_queue" not in message  # nobody can send to it, and no packet has a word for it


def test_the_source_journal_gets_what_was_transferred(talk: Talk) -> None:
    send = talk.open(FAR, "send")
    hold(talk)
    talk.send(send, "m", positive_journaling=True)
    journal = talk.open(JOURNAL)
    assert labels(talk) == talk.drain(journal) == []
    hold(talk, on=False)
    assert labels(talk) == talk.drain(journal) == ["m"]


@pytest.mark.parametrize("session", [False, True])
def test_what_is_on_its_way_goes_on_as_it_came_one_hop_further(talk: Talk, session: bool) -> None:
    name = f"PRIVATE={SOURCE}\\00000007"
    message = {"destination": name, "identifier": {"source": SOURCE, "ordinal": 9}, "label": "m", "hop_count": 3}
    counts = {"ack_sequence_number": 3, "user_message_sequence_number": 1, "window_size": 64}
    plain = talk.ok("packets.encode", message=message)["packet"]
    came = talk.ok("packets.encode", message={**message, "session": counts if session else None})["packet"]
    assert talk("packets.deliver", packet=came)["status"] == 0
    [packet] = talk.ok("outgoing.take", format_name=name)["packets"]
    assert talk.ok("packets.decode", packet=packet)["message"]["hop_count"] == 4
    went, before = base64.b64decode(packet), base64.b64decode(plain)
    assert [at for at in range(len(before)) if went[at] != before[at]] == [60]


def test_an_answer_holds_what_fits_into_a_line(talk: Talk) -> None:
    send = talk.open(FAR, "send")
    body = base64.b64encode(bytes(3_000_000)).decode()
    for label in "abc":
        talk.send(send, label, body=body)
    assert 4_000_000 < MOST_TEXT < 8_000_000
    assert [labels(talk) for _ in range(4)] == [["a"], ["b"], ["c"], []]


@pytest.mark.parametrize("name", ["MULTICAST=234.1.1.1:8001", "DIRECT=HTTP://example.test/msmq/q"])
def test_what_goes_by_another_protocol_is_not_transferred_here(talk: Talk, name: str) -> None:
    talk.send(talk.open(name, "send"), "m")
    assert take(talk, name) == []
    assert talk.ok("queues.counts", format_name=name)["messages"] == 1


@pytest.mark.parametrize("method", ["outgoing.pause", "outgoing.resume", "outgoing.take"])
def test_what_is_no_outgoing_queue_is_refused(talk: Talk, method: str) -> None:
    talk.queue()
    assert talk(method, format_name=FAR)["status"] == hr.MQ_ERROR_QUEUE_NOT_ACTIVE
    assert talk(method, format_name=NAME)["status"] == hr.MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION
    assert talk(method, format_name="?")["status"] == hr.MQ_ERROR_ILLEGAL_FORMATNAME


def test_a_reset_ends_a_hold(talk: Talk) -> None:
    talk.open(FAR, "send")
    hold(talk)
    talk.ok("reset")
    assert talk("outgoing.take", format_name=FAR)["status"] == hr.MQ_ERROR_QUEUE_NOT_ACTIVE
    talk.send(talk.open(FAR, "send"), "m")
    assert labels(talk) == ["m"]


def test_a_harness_of_the_older_protocol_is_not_offered_the_facet(talk_with: Callable[..., Talk]) -> None:
    for versions, protocol in ((["1.0"], "1.0"), (["1.1", "1.0"], "1.1"), (["1.2", "1.1", "1.0"], "1.2")):
        hello = talk_with().ok("hello", versions=versions, harness="t", state_dir="")
        assert hello["protocol"] == protocol
        assert ("outgoing" in hello["facets"]) == (protocol >= "1.1")
        assert ("management" in hello["facets"]) == (protocol >= "1.2")
        assert ("objects" in hello["facets"]) == (protocol >= "1.2")
