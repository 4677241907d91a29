"""What is late, and why nobody is to blame: each reason explains a delay of its own length, and no other one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import session_peer

from conformance.adapter.connectors import connect
from conformance.judge.dialogues.groups import DUE, IN_TIME, SEQUENCED
from conformance.judge.dialogues.packets import encode
from conformance.spec.catalogue import assignment
from conformance.suites.sessions.dialogue import HELD_UP, OWN, SLOW
from conformance.suites.sessions.links import Allowance, Link, Timing
from conformance.suites.sessions.playing import Player
from conformance.suites.sessions.rejudge import CASES
from conformance.verdict import Outcome, Verdict, of_frame

MESSAGE = encode("UserMessage", {})
LAST_MS = 10_000
"""When the packet comes that is late."""


@pytest.fixture
def player(tmp_path: Path) -> Iterator[Player]:
    assert session_peer.Peer
    with connect("python:session_peer:Peer", state_dir=tmp_path, in_process=True) as client:
        player = Player(client, CASES["express"], now_s=0, tell=lambda *_: None)
        player.about = {**player.about, "timers_ms": {"session-retry-connect": 5_000, "session-ack-send": 500}}
        yield player


def reason(player: Player, requirement: str, **actual: int) -> str | None:
    """The reason why the last packet of the conversation is not judged; None where it fails."""
    list(player.conversation.judged(assignment("windows"), "msmq-4.0"))
    number = len(player.conversation.said)
    late = Verdict(requirement, Outcome.FAIL, of_frame(number), actual=actual, frame=number)
    found = player.timely(late)
    assert (found.outcome is Outcome.FAIL) == (found.reason is None)
    return found.reason


@pytest.mark.parametrize(
    ("own_ms", "end_ms", "waited_ms", "why"),
    [
        ([], None, 4_000, HELD_UP),
        ([], None, 7_000, None),  # longer than the timer
        ([9_990], None, 4_000, HELD_UP),  # in the same burst
        ([8_000], None, 4_000, None),  # something else went out in between
        ([5_000], None, 4_000, HELD_UP),  # before it was due
        ([7_000], 7_500, 4_000, HELD_UP),  # the session ended behind it
    ],
)
@pytest.mark.parametrize("requirement", SEQUENCED)
def test_an_order_acknowledgment_that_waits_with_all_else(
    player: Player, own_ms: list[int], end_ms: int | None, waited_ms: int, why: str | None, requirement: str
) -> None:
    talk = player.conversation
    first, second = (talk.opened("initiator", f"127.0.0.2:{port}", "127.0.0.1:1801") for port in (50_000, 50_001))
    for at_ms in own_ms:
        talk.received(first, MESSAGE, at_ms)
    if end_ms is not None:
        talk.sent(second, MESSAGE, end_ms)
        talk.ended(first, ours=True)
    talk.received(second, MESSAGE, LAST_MS)
    assert reason(player, requirement, ms=waited_ms) == why


@pytest.mark.parametrize(
    ("trip_ms", "late_ms", "why"), [(60, 1_500, SLOW), (60, 2_000, None), (1, 1_500, None), (1_000, 5_000, None)]
)
def test_an_implementation_that_is_slow_with_each_packet(
    player: Player, trip_ms: int, late_ms: int, why: str | None
) -> None:
    talk = player.conversation
    number = talk.opened("initiator", "127.0.0.2:50000", "127.0.0.1:1801")
    for _ in range(30):
        talk.sent(number, MESSAGE, 100)
    talk.received(number, MESSAGE, LAST_MS)
    player._trip_ms = trip_ms
    assert reason(player, IN_TIME, **{"late by, ms": late_ms}) == why
    assert reason(player, DUE, **{"late by, ms": late_ms}) is None


@pytest.mark.parametrize(("came_ms", "declared", "why"), [(501, True, OWN), (300, True, None), (501, False, None)])
def test_an_acknowledgment_by_a_declared_timer(player: Player, came_ms: int, declared: bool, why: str | None) -> None:
    talk = player.conversation
    talk.received(talk.opened("initiator", "127.0.0.2:50000", "127.0.0.1:1801"), MESSAGE, LAST_MS)
    if not declared:
        del player.about["timers_ms"]["session-ack-send"]
    assert reason(player, DUE, ms=came_ms) == why


@pytest.mark.parametrize(("ours", "theirs"), [(64, 4), (4, 64)])
def test_the_smaller_window_ends_a_burst(player: Player, ours: int, theirs: int) -> None:
    number = player.conversation.opened("initiator", "127.0.0.2:50000", "127.0.0.1:1801")
    link = Link(player.mq, player.conversation, "s", number, "initiator", Allowance(), Timing(player.mq.time))
    link.window, link.peer_window, link.received = ours, theirs, 3
    assert not link.full
    link.received = 4
    assert link.full
