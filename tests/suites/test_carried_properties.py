"""Planned messages carry every property, and a manager that loses one on some way is blamed for that way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_book import small_book

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.embedded.delivery import Delivery
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.recorder import Recorder, RunOptions
from conformance.histories.driver_side import answer_of
from conformance.histories.situations.play import WAYS, Player, filled, offered
from conformance.histories.situations.situation import space
from conformance.model import Call, State, message_properties
from conformance.spec.catalogue import assignment

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 10, 10, first_only=True)
NO_CORRELATION = "A" * 27 + "="
SHOWN = dict.fromkeys((*message_properties.BITS, "label", "body"), "")
Lossy = Callable[[Callable[..., Any]], Callable[..., Any]]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    opened = connect("embedded", state_dir=tmp_path, in_process=True)
    yield opened
    opened.close()


def first_failure(client: Client) -> str | None:
    judge = Recorder(OPTIONS, lambda verdict, count: None)
    player = Player(GuardedClient(client), judge, OPTIONS, space())
    player.play(small_book(2, 30).histories)
    told = player.told(2.0)
    return told[0].verdict.requirement if told else None


def losing(member: str, nothing: Any, when: Callable[[Any, Any], bool]) -> Lossy:
    """Return what makes a method that takes a queue and a message lose a member of the message."""

    def wrapped(old: Callable[..., Any]) -> Callable[..., Any]:
        def lossy(self: Any, queue: Any, message: Any, **more: Any) -> Any:
            if queue is not None and when(queue, message):
                message = replace(message, fields={**message.fields, member: nothing})
            return old(self, queue, message, **more)

        return lossy

    return wrapped


@pytest.mark.parametrize(
    ("method", "lossy", "requirement"),
    [
        ("copy", losing("extension", "", lambda queue, message: not message.fields["body"]), "journal"),
        ("copy", losing("response_queue", "", lambda queue, message: True), "journal"),
        (
            "place",
            losing("application_tag", 0, lambda queue, message: queue.kind == "subqueue"),
            "3.1.7.1.16.unchanged",
        ),
        (
            "place",
            losing("correlation_identifier", NO_CORRELATION, lambda queue, message: message.fields["class"]),
            "MQDMPR-3.1.1.12.correlation-identifier-unchanged",
        ),
    ],
)
def test_a_property_lost_on_some_way_is_blamed_on_that_way(
    client: Client, monkeypatch: pytest.MonkeyPatch, method: str, lossy: Lossy, requirement: str
) -> None:
    monkeypatch.setattr(Delivery, method, lossy(getattr(Delivery, method)))
    assert requirement in (first_failure(client) or "nothing")


def test_ways_are_those_a_driver_takes_and_shows() -> None:
    assert len(offered(None, SHOWN)) == len(WAYS)
    for way in offered(frozenset({"body", "label", "extension"}), SHOWN):
        assert not way & message_properties.ALL & ~message_properties.BITS["extension"]
    shown = {"label", "body", "class"}
    assert not any(way & message_properties.NO_BODY for way in offered(None, dict.fromkeys(shown, ""))), (
        "nothing would name it"
    )
    assert {way & message_properties.ALL for way in offered(frozenset(), {})} == {0}


def test_what_a_message_carries_follows_from_its_name_and_the_history() -> None:
    ways, send = offered(None, SHOWN), Call("messages.send", message="a", handle="h")
    assert filled(send, State(), ways, 3) == filled(send, State(), ways, 3)
    assert {filled(send, State(), ways, number).carries for number in range(len(ways))} == set(ways)
    assert filled(Call("messages.peek", handle="h"), State(), ways, 3).carries == 0
    assert message_properties.values(message_properties.ALL, "a") != message_properties.values(
        message_properties.ALL, "b"
    )


@pytest.mark.parametrize("way", [way for way in offered(None, SHOWN) if way & message_properties.NO_BODY])
def test_a_message_without_body_has_its_name(client: Client, way: int) -> None:
    sent = {"label": "abc", **message_properties.values(way, "abc")}
    path = f"{client.hello.computer}\\private$\\named"
    name = client.call("queues.create", path_name=path).values["format_name"]
    send, receive = (client.call("queues.open", format_name=name, access=each) for each in ("send", "receive"))
    client.call("messages.send", queue=send.values["queue"], message=sent)
    seen = answer_of(client.call("messages.receive", queue=receive.values["queue"], timeout_ms=0)).message
    assert seen is not None and seen.name == "abc" and not seen.body
    assert message_properties.name_without_body({**(seen.shown or {}), "label": ""}) == "abc", (
        "it is known without its label"
    )
