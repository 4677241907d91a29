"""What the suite `sessions` sends as correct packets is correct by its own judge."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from cases import all_of
from session_peer import Peer

from conformance.adapter.connectors import connect
from conformance.judge.dialogues.cases import CASES
from conformance.spec.catalogue import assignment, requirement
from conformance.suites.sessions.playing import Player
from conformance.verdict import Outcome

RECOMMENDED: Final = {
    "MQQB-3.1.3.2.window-size": "windows of another size are allowed, and tried",
    "MQQB-3.1.5.2.3.server-guid": "a session that names nobody carries messages with private names",
    "MQQB-3.1.6.5.resend-interval": "a message comes a second time sooner than the product sends it again",
}
"""Deviations of ours from what is recommended, each with its reason; there are none from what is demanded."""
CORRECT: Final = [name for name, case in CASES.items() if case.packets == "correct"]


def broken(case: str, state: Path) -> dict[str, str]:
    """The requirements that this end breaks when a case is played, with the packet of each."""
    with connect("python:session_peer:Peer", state_dir=state, in_process=True) as client:
        assert isinstance(client.in_process_driver, Peer)
        player = Player(client, CASES[case], now_s=0, tell=lambda *_: None)
        list(player.play(assignment("windows"), "msmq-4.0"))
        found = player.conversation.verdicts(assignment("windows"), "msmq-4.0", of_ours=True)
        return {one.requirement: f"{one.subject}: {one.actual}" for one in found if one.outcome is Outcome.FAIL}


@all_of("case", CORRECT)
def test_correct_packets_are_correct(case: str, tmp_path: Path) -> None:
    assert broken(case, tmp_path).keys() <= RECOMMENDED.keys()


def test_each_reason_is_for_a_recommendation_that_some_dialogue_does_not_follow(tmp_path: Path) -> None:
    for name in RECOMMENDED:
        assert requirement(name).level == "should"
    some = ("largest-window", "the-same-number-again")
    assert {name for case in some for name in broken(case, tmp_path / case)} <= RECOMMENDED.keys()


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("one-missing", "MQQB-3.1.7.1.3.next-number"),
        ("waiting-ec/user-message", "MQQB-2.1.1.initialization"),
        ("too-late", "MQQB-3.1.7.1.2.expired"),
        ("unequal-times", "MQQB-3.1.5.3.2.round-trip"),
    ],
)
def test_what_is_wrong_on_purpose_is_called_odd(case: str, told: str, tmp_path: Path) -> None:
    assert CASES[case].packets == "odd" and told in broken(case, tmp_path)


@pytest.mark.parametrize("case", [name for name in CORRECT if name.startswith("carried-")])
def test_what_comes_in_a_long_stream_is_acknowledged_at_once(case: str, tmp_path: Path) -> None:
    """The other end would close a connection on which its Session Ack Wait Timer expires, however slow this end is."""
    with connect("python:session_peer:Peer", state_dir=tmp_path, in_process=True) as client:
        player = Player(client, CASES[case], now_s=0, tell=lambda *_: None)
        list(player.play(assignment("windows"), "msmq-4.0"))
    came, most = 0, 0
    for said in player.conversation.said:
        came = 0 if said.ours and said.kind == "SessionAck" else came + (not said.ours and said.kind == "UserMessage")
        most = max(most, came)
    assert 0 < most <= 2


def test_most_cases_are_correct() -> None:
    assert len(CORRECT) > 90
