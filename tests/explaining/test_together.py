"""Several faults in one story: none explains it alone, and what differs in every answer means nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from conformance.embedded.faults import NotTogether, apply_faults
from conformance.explaining.causes import compared, together
from conformance.explaining.continuation import Asked, heard
from conformance.explaining.playing import MESSAGE, STATUS, Implementation, StoryPlayer, Told, implementation_of
from conformance.harness.connecting import open_client
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.run_session import hello_json
from conformance.harness.tape import Tape
from conformance.model import Call

FOUND = ("create-finds-existing-queue", "ignores-priority", "wrong-timeout-status")
CALLS = (
    Call("queues.create", queue="q1"),
    Call("queues.create", queue="q1"),
    Call("queues.open", name="h1", queue="q1", access="send"),
    Call("queues.open", name="h2", queue="q1", access="receive"),
    Call("messages.send", handle="h1", message="a"),
    Call("messages.send", handle="h1", message="b", priority=7),
    Call("messages.receive", handle="h2"),
    Call("messages.receive", handle="h2"),
    Call("messages.receive", handle="h2"),
)
"""Shows three deviations, one after the other."""


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[GuardedClient]:
    with TemporaryDirectory() as folder:
        opened = open_client(request.param, state_dir=Path(folder), in_process=True, deadline_ms=10_000)
        yield GuardedClient(opened)
        opened.close()


def story(client: GuardedClient, calls: Sequence[Call]) -> tuple[Told, Implementation]:
    told = heard(client, [Asked(call) for call in calls])
    assert told is not None
    return told, implementation_of(hello_json(client), "msmq-4.0", {})


def explained(told: Told, asked: Implementation, known: tuple[str, ...] = (), seconds: float = 60.0) -> set[str]:
    candidates = (*FOUND, "last-gives-first", "peek-never-waits", "receive-keeps-message")
    return set(together(told, known, candidates, asked, frozenset(), until=time.monotonic() + seconds))


@pytest.mark.parametrize("client", [f"embedded+{','.join(FOUND)}"], indirect=True)
def test_faults_that_explain_a_story_only_together_are_found(client: GuardedClient) -> None:
    told, asked = story(client, CALLS)
    for name in FOUND:
        with StoryPlayer((name,), asked) as player:
            assert not player.play(told).agrees
    assert explained(told, asked) == set(FOUND)
    assert explained(told, asked, FOUND[:2]) == {FOUND[2]}
    assert explained(told, asked, FOUND) == set()
    assert explained(told, asked, seconds=-1.0) == set()


@pytest.mark.parametrize("client", ["embedded+cursor-goes-home-after-receive,ignores-priority"], indirect=True)
def test_a_story_that_is_explained_in_part_is_not_explained(client: GuardedClient) -> None:
    reads = [
        Call(f"messages.{how}", handle="h2", cursor="c1")
        for how in ("peek", "peek_next", "receive", "peek", "peek_next")
    ]
    third = Call("messages.send", handle="h1", message="c")
    told, asked = story(client, [CALLS[0], *CALLS[2:6], third, Call("cursors.open", name="c1", handle="h2"), *reads])
    with StoryPlayer(("ignores-priority",), asked) as player:
        assert not player.play(told).agrees
    assert explained(told, asked) == set()


def test_faults_that_one_manager_cannot_have_explain_nothing() -> None:
    pair = ("prepare-of-ended-succeeds", "prepare-of-ended-wrong-status")
    with pytest.raises(NotTogether, match="prepare-of-ended"):
        apply_faults(pair)
    with StoryPlayer(pair, Implementation()) as player:
        assert not player.play(Told("", ())).agrees


IO_TIMEOUT, ERROR = 0xC00E001B, 0xC00E0001


def receiving(client: GuardedClient, method: str) -> Told:
    told, _ = story(client, [*CALLS[:1], *CALLS[2:5], Call(method, handle="h2")])
    return told


@pytest.mark.parametrize("client", ["embedded+default-body-type-is-text"], indirect=True)
def test_a_member_of_messages_that_always_differs_is_how_they_are_made(client: GuardedClient) -> None:
    received, peeked = (receiving(client, f"messages.{how}") for how in ("receive", "peek"))
    asked = implementation_of(hello_json(client), "msmq-4.0", {})
    tolerated, telling = compared([received], asked)
    assert (MESSAGE, "message.body_type") in tolerated and telling == [received]
    with StoryPlayer((), asked) as player:
        assert not player.play(peeked).agrees and player.play(peeked, tolerated).agrees


@pytest.mark.parametrize("client", ["embedded+wrong-timeout-status"], indirect=True)
def test_a_status_that_alone_deviates_is_not_accepted(client: GuardedClient) -> None:
    empty = [*CALLS[:1], *CALLS[2:4], Call("messages.receive", handle="h2")]
    told, asked = story(client, empty)
    status = ("messages.receive", f"{STATUS}{ERROR} for {IO_TIMEOUT}")
    assert status in compared([told], asked)[0]
    assert status not in compared([told], asked, [told])[0]


def test_time_that_passed_on_a_real_clock_passes_for_the_embedded_manager() -> None:
    with TemporaryDirectory() as folder:
        opened = open_client("embedded", state_dir=Path(folder), in_process=True, deadline_ms=10_000)
        sends = [*CALLS[:1], *CALLS[2:4], Call("messages.send", handle="h1", message="a", live_s=1)]
        told, _ = story(GuardedClient(opened), [*sends, Call("messages.receive", handle="h2")])
        opened.close()
    late = Told("", (*told.ops[:-1], {**told.ops[-1], "slept_ms": 2500}))
    for virtual, agrees in ((True, True), (False, False)):
        with StoryPlayer((), Implementation(virtual=virtual)) as player:
            assert player.play(told).agrees
            assert player.play(late).agrees is agrees


def test_a_tape_tells_how_long_a_test_slept_before_a_call() -> None:
    tape = Tape(set(), lambda example: None)
    with TemporaryDirectory() as folder:
        opened = open_client("embedded", state_dir=Path(folder), in_process=True, deadline_ms=10_000)
        client = GuardedClient(opened).taped(tape)
        client.call("reset")
        client.time.sleep(0.02)
        client.time.sleep(0.01)
        client.call("reset")
        client.call("reset")
        opened.close()
    assert [op.to_json().get("slept_ms") for op in tape.example.ops] == [None, 30, None]
