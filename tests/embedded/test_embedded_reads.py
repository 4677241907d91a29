"""Sending, peeking, receiving and waiting, without cursor and with."""

from __future__ import annotations

import pytest
from embedded_talk import NAME, Talk

from conformance.spec.constants import hresults as hr

FOREVER = 0xFFFFFFFF


def test_messages_leave_by_priority_then_arrival(talk: Talk) -> None:
    send, receive = talk.queue()
    for label, priority in (("a", 3), ("b", 7), ("c", 3), ("d", 0), ("e", 7)):
        talk.send(send, label, priority=priority)
    lookups = []
    for _ in range(5):
        lookups.append(talk.ok("messages.peek", queue=receive, timeout_ms=0)["message"]["lookup_identifier"])
        talk.receive(receive)
    assert [int(one) for one in lookups] == sorted(int(one) for one in lookups)
    for label, priority in (("a", 3), ("b", 7), ("c", 3), ("d", 0), ("e", 7)):
        talk.send(send, label, priority=priority)
    assert talk.drain(receive) == ["b", "e", "a", "c", "d"]


def test_a_message_comes_back_as_it_was_sent(talk: Talk) -> None:
    send, receive = talk.queue()
    sent = {
        "label": "größe 😀",
        "body": "AAH/",
        "body_type": 4113,
        "priority": 6,
        "delivery": "recoverable",
        "class": 0xC004,
        "application_tag": 99,
        "correlation_identifier": "AQIDBAUGBwgJCgsMDQ4PEBESExQ=",
        "extension": "eA==",
        "response_queue": NAME,
        "time_to_be_received": 60,
        "acknowledgements": ["positive_receive"],
    }
    identifier = talk.ok("messages.send", queue=send, message=sent)["identifier"]
    message = talk.ok("messages.receive", queue=receive, timeout_ms=0)["message"]
    assert {name: message[name] for name in sent} == sent
    assert message["identifier"] == identifier


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ({"priority": 8}, hr.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
        ({"priority": -1}, hr.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
        ({"label": "x" * 250}, hr.MQ_ERROR_LABEL_TOO_LONG),
        ({"label": "😀" * 125}, hr.MQ_ERROR_LABEL_TOO_LONG),
        ({"body": "no base64"}, hr.MQ_ERROR_ILLEGAL_PROPERTY_VALUE),
        ({"correlation_identifier": "AAAA"}, hr.MQ_ERROR_ILLEGAL_PROPERTY_SIZE),
        ({"administration_queue": "nothing"}, hr.MQ_ERROR_ILLEGAL_FORMATNAME),
        ({"body": "AAAA" * 1_400_000}, hr.MQ_ERROR_INSUFFICIENT_RESOURCES),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_no_message_can_hold_is_refused(talk: Talk, message: dict[str, object], status: int) -> None:
    send, receive = talk.queue()
    assert talk("messages.send", queue=send, message=message)["status"] == status
    assert talk.drain(receive) == []


def test_a_receive_waits_for_a_message_or_for_its_time(talk: Talk) -> None:
    send, receive = talk.queue()
    waiting = talk.start("messages.receive", queue=receive, timeout_ms=1000)
    talk.ok("clock.advance", by_ms=999)
    assert waiting == []
    talk.ok("clock.advance", by_ms=1)
    assert waiting == [{"status": hr.MQ_ERROR_IO_TIMEOUT}]
    second = talk.start("messages.receive", queue=receive, timeout_ms=FOREVER)
    talk.send(send, "late")
    assert second[0]["message"]["label"] == "late"
    assert talk.drain(receive) == []


def test_a_read_that_timed_out_takes_nothing_later(talk: Talk) -> None:
    send, receive = talk.queue()
    talk.start("messages.receive", queue=receive, timeout_ms=10)
    talk.ok("clock.advance", by_ms=10)
    talk.send(send, "kept")
    assert talk.drain(receive) == ["kept"]


def test_waiting_readers_are_served_first_come_first_served(talk: Talk) -> None:
    send, receive = talk.queue()
    peek = talk.open(access="peek")
    readers = [
        talk.start("messages.peek", queue=peek, timeout_ms=FOREVER),
        talk.start("messages.receive", queue=receive, timeout_ms=FOREVER),
        talk.start("messages.peek", queue=peek, timeout_ms=FOREVER),
        talk.start("messages.receive", queue=receive, timeout_ms=FOREVER),
    ]
    talk.send(send, "one")
    assert [[answer["message"]["label"] for answer in reader] for reader in readers] == [["one"], ["one"], [], []]
    talk.send(send, "two")
    assert [[answer["message"]["label"] for answer in reader] for reader in readers] == [
        ["one"],
        ["one"],
        ["two"],
        ["two"],
    ]


def test_a_waiting_read_is_cancelled_by_the_number_of_its_request(talk: Talk) -> None:
    _, receive = talk.queue()
    answers: list[dict[str, object]] = []
    talk.driver.handle("messages.receive", {"queue": receive, "timeout_ms": FOREVER}, answers.append, request=77)
    assert talk("messages.cancel", request=78)["status"] == 0xC0000225
    talk.ok("messages.cancel", request=77)
    assert answers == [{"status": hr.MQ_ERROR_OPERATION_CANCELLED}]
    assert talk("messages.cancel", request=77)["status"] == 0xC0000225


def test_closing_a_handle_ends_its_reads_and_closes_its_cursors(talk: Talk) -> None:
    _, receive = talk.queue()
    other = talk.open()
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    mine = talk.start("messages.receive", queue=receive, timeout_ms=FOREVER)
    theirs = talk.start("messages.receive", queue=other, timeout_ms=FOREVER)
    talk.ok("queues.close", queue=receive)
    assert mine == [{"status": hr.MQ_ERROR_OPERATION_CANCELLED}]
    assert theirs == []
    assert talk("cursors.close", cursor=cursor)["status"] == hr.MQ_ERROR_INVALID_HANDLE
    assert talk("messages.peek", queue=receive, timeout_ms=0)["status"] == hr.MQ_ERROR_INVALID_HANDLE


def test_reads_by_lookup_identifier(talk: Talk) -> None:
    send, receive = talk.queue()
    ids = [talk.send(send, label)["lookup_identifier"] for label in "abc"]

    def look(action: str, lookup: str = "0", method: str = "peek") -> object:
        answer = talk(f"messages.{method}_by_lookup_id", queue=receive, lookup_identifier=lookup, action=action)
        return answer["message"]["label"] if answer["status"] == 0 else answer["status"]

    assert [look(action) for action in ("first", "last", "next")] == ["a", "c", "a"]
    assert look("previous", str(2**64 - 1)) == "c"
    assert [look(action, ids[1]) for action in ("previous", "current", "next")] == ["a", "b", "c"]
    assert look("previous", ids[0]) == look("next", ids[2]) == hr.MQ_ERROR_MESSAGE_NOT_FOUND
    assert look("current", ids[1], "receive") == "b"
    assert look("current", ids[1]) == hr.MQ_ERROR_MESSAGE_NOT_FOUND
    assert look("next", ids[0]) == "c"


def test_a_read_in_two_phases(talk: Talk) -> None:
    send, receive = talk.queue()
    talk.send(send, "a")
    talk.send(send, "b")
    begun = talk.ok("messages.receive_begin", queue=receive, timeout_ms=0)
    assert begun["message"]["label"] == "a"
    assert talk.ok("messages.peek", queue=receive, timeout_ms=0)["message"]["label"] == "b"
    talk.ok("messages.receive_end", read=begun["read"], acknowledge=False)
    assert talk("messages.receive_end", read=begun["read"], acknowledge=True)["status"] == hr.MQ_ERROR_INVALID_HANDLE
    again = talk.ok("messages.receive_begin", queue=receive, timeout_ms=0)
    assert again["message"]["label"] == "a"
    talk.ok("messages.receive_end", read=again["read"], acknowledge=True)
    assert talk.drain(receive) == ["b"]


def test_a_message_expires_into_the_dead_letter_queue(talk: Talk) -> None:
    send, receive = talk.queue()
    talk.send(send, "short", time_to_be_received=5, negative_journaling=True)
    talk.send(send, "silent", time_to_be_received=5)
    talk.send(send, "never", time_to_be_received=0)
    assert talk.ok("queues.counts", format_name=NAME)["messages"] == 2
    talk.ok("clock.advance", by_ms=4999)
    assert talk.ok("messages.peek", queue=receive, timeout_ms=0)["message"]["label"] == "short"
    talk.ok("clock.advance", by_ms=1)
    assert talk.drain(receive) == []
    dead = talk.open("DIRECT=OS:HOST\\SYSTEM$;DEADLETTER")
    assert talk.drain(dead) == ["short"]


def test_journals_of_target_and_source(talk: Talk) -> None:
    send, receive = talk.queue(PROPID_Q_JOURNAL=1)
    journal = talk.open(NAME + ";JOURNAL")
    source = talk.open("DIRECT=OS:HOST\\SYSTEM$;JOURNAL")
    talk.send(send, "a", positive_journaling=True)
    talk.ok("messages.peek", queue=receive, timeout_ms=0)
    assert talk.drain(journal) == []
    talk.receive(receive)
    assert talk.drain(journal) == ["a"]
    assert talk.drain(source) == ["a"]
    assert talk("queues.open", format_name=NAME + ";JOURNAL", access="send")["status"] != 0


def test_acknowledgements_reach_the_administration_queue(talk: Talk) -> None:
    send, receive = talk.queue()
    _, admin = talk.queue("private$\\admin")
    asked = {"administration_queue": "DIRECT=OS:HOST\\private$\\admin", "label": "m"}
    sent = talk.ok("messages.send", queue=send, message={**asked, "acknowledgements": ["positive_arrival"]})
    arrival = talk.ok("messages.receive", queue=admin, timeout_ms=0)["message"]
    assert arrival["class"] == 0x0002
    assert sent["identifier"]["source"] in str(sent)
    talk.drain(receive)
    everything = ["positive_receive", "negative_receive"]
    for _ in range(2):
        talk.ok("messages.send", queue=send, message={**asked, "acknowledgements": everything})
    talk.receive(receive)
    talk.ok("queues.purge", queue=receive)
    classes = [talk.ok("messages.receive", queue=admin, timeout_ms=0)["message"]["class"] for _ in range(2)]
    assert classes == [0x4000, 0xC001]


# Cursors (3.2, figure 3).


def test_a_cursor_walks_and_a_receive_leaves_it_unread(talk: Talk) -> None:
    send, receive = talk.queue()
    for label in "abcd":
        talk.send(send, label)
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    at = {"queue": receive, "cursor": cursor, "timeout_ms": 0}
    assert talk("messages.peek_next", **at)["status"] == hr.MQ_ERROR_ILLEGAL_CURSOR_ACTION
    assert talk.ok("messages.peek", **at)["message"]["label"] == "a"
    assert talk.ok("messages.peek", **at)["message"]["label"] == "a"
    assert talk.ok("messages.peek_next", **at)["message"]["label"] == "b"
    assert talk.ok("messages.receive", **at)["message"]["label"] == "b"
    assert talk("messages.peek_next", **at)["status"] == hr.MQ_ERROR_ILLEGAL_CURSOR_ACTION
    assert talk.ok("messages.receive", **at)["message"]["label"] == "c"
    assert talk.drain(receive) == ["a", "d"]


def test_a_cursor_on_a_message_that_is_gone(talk: Talk) -> None:
    send, receive = talk.queue()
    for label in "ab":
        talk.send(send, label)
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    at = {"queue": receive, "cursor": cursor, "timeout_ms": 0}
    talk.ok("messages.peek", **at)
    talk.receive(receive)
    assert talk("messages.peek", **at)["status"] == hr.MQ_ERROR_MESSAGE_ALREADY_RECEIVED
    assert talk("messages.receive", **at)["status"] == hr.MQ_ERROR_MESSAGE_ALREADY_RECEIVED
    talk.send(send, "urgent", priority=7)
    assert talk.ok("messages.peek_next", **at)["message"]["label"] == "b"


def test_a_waiting_cursor_goes_to_the_message_that_ends_the_wait(talk: Talk) -> None:
    send, receive = talk.queue()
    talk.send(send, "a")
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    at = {"queue": receive, "cursor": cursor}
    talk.ok("messages.peek", timeout_ms=0, **at)
    waiting = talk.start("messages.peek_next", timeout_ms=FOREVER, **at)
    talk.send(send, "urgent", priority=7)
    assert waiting[0]["message"]["label"] == "urgent"
    assert talk.ok("messages.peek_next", timeout_ms=0, **at)["message"]["label"] == "a"


def test_a_cursor_after_its_wait_timed_out(talk: Talk) -> None:
    send, receive = talk.queue()
    talk.send(send, "a")
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    at = {"queue": receive, "cursor": cursor}
    talk.ok("messages.peek", timeout_ms=0, **at)
    waiting = talk.start("messages.peek_next", timeout_ms=5, **at)
    talk.ok("clock.advance", by_ms=5)
    assert waiting == [{"status": hr.MQ_ERROR_IO_TIMEOUT}]
    assert talk("messages.peek_next", timeout_ms=0, **at)["status"] == hr.MQ_ERROR_ILLEGAL_CURSOR_ACTION
    again = talk.start("messages.receive", timeout_ms=FOREVER, **at)
    talk.send(send, "b")
    assert again[0]["message"]["label"] == "b"


def test_an_empty_poll_with_a_cursor(talk: Talk) -> None:
    send, receive = talk.queue()
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    at = {"queue": receive, "cursor": cursor, "timeout_ms": 0}
    assert talk("messages.receive", **at)["status"] == hr.MQ_ERROR_MESSAGE_NOT_FOUND
    talk.send(send, "a")
    assert talk.ok("messages.receive", **at)["message"]["label"] == "a"
    assert talk("messages.peek", **at)["status"] == hr.MQ_ERROR_IO_TIMEOUT
