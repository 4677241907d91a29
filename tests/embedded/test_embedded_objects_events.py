"""MSMQEvent, EnableNotification and MSMQDestination of the embedded driver."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from embedded_objects import EVENTS, LEFT_OUT, NOTHING, Objects, long, text, thing
from embedded_talk import Talk

NAME, OTHER = "DIRECT=OS:HOST\\private$\\q", "DIRECT=OS:HOST\\private$\\r"
E_INVALIDARG, BLANK, CLOSED, DENIED = 0x80070057, 0x80040007, 0xC00E0007, 0xC00E0025
NOT_FOUND, TIMED_OUT = 0xC00E0088, 0xC00E001B


@pytest.fixture
def objects(talk: Talk) -> Objects:
    return Objects(talk)


def _signed(status: int) -> int:
    return status - (1 << 32)


def _told(objects: Objects) -> list[tuple[str, list[Any]]]:
    told = [(each["name"], [one["value"] for one in each["arguments"]]) for each in objects.events]
    objects.events.clear()
    return told


@pytest.mark.parametrize(
    ("target", "event", "cursor", "status"),
    [
        ("blank", False, 7, E_INVALIDARG), ("blank", False, 0, BLANK), ("closed", False, 0, CLOSED),
        ("sender", False, 0, E_INVALIDARG), ("sender", True, 0, DENIED), ("queue", True, 2, 0), ("peeker", True, 1, 0),
    ],
)  # fmt: skip
def test_notification_is_checked_in_order(objects: Objects, target: str, event: bool, cursor: int, status: int) -> None:
    info = objects.info()
    made = {
        "blank": objects.make("MSMQQueue"), "closed": objects.open(info), "sender": objects.open(info, 2),
        "queue": objects.open(info), "peeker": objects.open(info, 0x20),
    }  # fmt: skip
    objects.call(made["closed"], "Close")
    given = thing(objects.make("MSMQEvent")) if event else NOTHING
    assert objects.status(made[target], "EnableNotification", given, long(cursor)) == status


def test_a_notification_is_answered_before_it_is_told_and_told_once(objects: Objects) -> None:
    info = objects.info()
    sender, queue, event = objects.open(info, 2), objects.open(info), objects.make("MSMQEvent")
    assert objects.listen(event) == {"status": 0, "cookie": 1}
    assert objects.listen(event) == {"status": 0, "cookie": 2}
    objects.call(queue, "EnableNotification", thing(event))
    assert _told(objects) == []
    objects.send(sender, "a", "b")
    assert _told(objects) == [("Arrived", [queue, 0])] * 2
    objects.call(queue, "EnableNotification", thing(event), long(1))
    assert _told(objects) == [("Arrived", [queue, 1])] * 2
    assert objects.read(queue, "PeekCurrent") == "a"
    objects.call(queue, "EnableNotification", thing(event), long(2))
    assert objects.read(queue, "PeekCurrent") == "b"
    assert [objects.read(queue) for _ in range(2)] == ["a", "b"]


def test_what_does_not_come_is_told_too(objects: Objects, talk: Talk) -> None:
    queue, event = objects.open(objects.info()), objects.make("MSMQEvent")
    objects.listen(event)
    for option in (0, 1, 2):
        objects.call(queue, "EnableNotification", thing(event), long(option), long(0))
        assert _told(objects) == [("ArrivedError", [queue, _signed(NOT_FOUND), option])]
        objects.call(queue, "EnableNotification", thing(event), long(option), long(20))
        talk.ok("clock.advance", by_ms=19)
        assert _told(objects) == []
        talk.ok("clock.advance", by_ms=1)
        assert _told(objects) == [("ArrivedError", [queue, _signed(TIMED_OUT), option])]


def test_a_sink_is_checked_and_let_go(objects: Objects, talk: Talk) -> None:
    event, queue = objects.make("MSMQEvent"), objects.make("MSMQQueue")
    assert objects.listen(event, "null")["status"] == 0x80004003
    assert objects.listen(event, "other")["status"] == 0x80040202
    assert objects.listen(queue)["status"] == 0x80004002
    other = "d7d6e077-dccd-11d0-aa4b-0060970debae"
    assert talk("objects.advise", object=event, sink="events", iid=other)["status"] == 0x80040200
    cookie = objects.listen(event)["cookie"]
    assert talk.ok("objects.unadvise", object=event, cookie=cookie, iid=EVENTS) == {"status": 0}
    assert talk("objects.unadvise", object=event, cookie=cookie, iid=EVENTS)["status"] == 0x80040200
    objects.call(event, "FireArrivedEvent", thing(queue), long(0))
    assert _told(objects) == []


def test_a_reset_is_silent(objects: Objects, talk: Talk) -> None:
    queue, event = objects.open(objects.info()), objects.make("MSMQEvent")
    objects.listen(event)
    objects.call(queue, "EnableNotification", thing(event))
    talk.ok("reset")
    assert _told(objects) == []


def test_a_destination_is_open_or_closed(objects: Objects) -> None:
    objects.info()
    destination = objects.make("MSMQDestination")
    assert objects.status(destination, "Open") >= 0x80000000
    assert objects.put(destination, "FormatName", text(NAME)) == 0
    assert [objects.status(destination, each) for each in ("Close", "Open", "Open", "Close", "Close")] == [
        1,
        0,
        1,
        0,
        1,
    ]
    assert objects.get(destination, "IsOpen") is False


def test_a_destination_has_one_name_at_a_time(objects: Objects) -> None:
    objects.info(), objects.info("HOST\\private$\\r")
    destination = objects.make("MSMQDestination")
    assert objects.put(destination, "PathName", text("HOST\\private$\\r")) == 0
    assert str(objects.get(destination, "FormatName")).startswith("PRIVATE=")
    assert objects.put(destination, "FormatName", text(NAME)) == 0
    assert objects.typed(destination, "PathName") == text("")
    assert objects.typed(destination, "ADsPath") == text(None)
    assert objects.put(destination, "PathName", text("HOST\\private$\\none")) == 0xC00E0003
    assert objects.get(destination, "FormatName") == NAME
    directory = objects.get(objects.info("HOST\\pub"), "ADsPath")
    assert objects.put(destination, "ADsPath", text(directory)) == 0
    assert str(objects.get(destination, "FormatName")).startswith("PUBLIC=")


def test_a_message_is_sent_to_several_queues(objects: Objects) -> None:
    readers = [objects.open(objects.info(path)) for path in ("HOST\\private$\\q", "HOST\\private$\\r")]
    destination, message = objects.make("MSMQDestination"), objects.message("several")
    assert objects.put(destination, "FormatName", text(f"{NAME},{OTHER}")) == 0
    for opened in (False, True):
        if opened:
            objects.call(destination, "Open")
        objects.call(message, "Send", thing(destination))
        assert objects.get(destination, "IsOpen") is opened
        assert [objects.read(each) for each in readers] == ["several", "several"]
    sent_to = objects.get(objects.get(message, "Destination"), "FormatName")
    assert sent_to == f"{NAME},{OTHER}"


def test_answers_go_to_a_destination(objects: Objects) -> None:
    info = objects.info()
    destination, message = objects.make("MSMQDestination"), objects.message("ask")
    objects.put(destination, "FormatName", text(f"{NAME},{OTHER}"))
    assert objects.status(message, "ResponseDestination", thing(info), kind="putref") == E_INVALIDARG
    objects.call(message, "ResponseDestination", thing(destination), kind="putref")
    objects.call(message, "Send", thing(objects.open(info, 2)))
    found = objects.call(objects.open(info), "Receive", long(0), LEFT_OUT, LEFT_OUT, long(0))
    assert objects.get(objects.get(found, "ResponseDestination"), "FormatName") == f"{NAME},{OTHER}"
    assert objects.typed(objects.get(found, "ResponseQueueInfo"), "FormatName") == text(None)


def test_a_process_sends_events_behind_answers() -> None:
    def invoke(number: int, target: str, member: str, *given: Any, kind: str = "method") -> dict[str, Any]:
        params = {"object": target, "member": member, "kind": kind, "arguments": list(given)}
        return {"jsonrpc": "2.0", "id": number, "method": "objects.invoke", "params": params}

    def create(number: int, name: str) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": number, "method": "objects.create", "params": {"class": name}}

    advise = {"object": "o2", "sink": "events", "iid": EVENTS}
    requests = [
        create(1, "MSMQQueueInfo"), create(2, "MSMQEvent"),
        {"jsonrpc": "2.0", "id": 3, "method": "objects.advise", "params": advise},
        invoke(4, "o1", "PathName", text("HOST\\private$\\q"), kind="put"), invoke(5, "o1", "Create"),
        invoke(6, "o1", "Open", long(1), long(0)),
        invoke(7, "o4", "EnableNotification", thing("o2"), LEFT_OUT, long(0)),
    ]  # fmt: skip
    command = [sys.executable, "-m", "conformance.embedded", "--stdio"]
    lines = "".join(json.dumps(each) + "\n" for each in requests)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each.get("id") for each in answers] == [1, 2, 3, 4, 5, 6, 7, None]
    assert answers[-1]["method"] == "event" and answers[-1]["params"]["name"] == "ArrivedError"
