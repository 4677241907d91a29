"""A dialogue and a walk leave no connection with the driver, whoever has closed it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from session_peer import Peer
from walk_peers import WalkPeer

from conformance.adapter.connectors import connect
from conformance.adapter.errors import NotAccepted
from conformance.judge.dialogues.cases import CASES
from conformance.judge.dialogues.walk_plans import plans
from conformance.spec.catalogue import assignment
from conformance.suites.sessions.playing import Player
from conformance.suites.sessions.walking import Walker

FULL = "256 sessions are open, which is the most."


def dialogue(tmp_path: Path, case: str) -> Peer:
    with connect("python:session_peer:Peer", state_dir=tmp_path / "state", in_process=True) as client:
        peer = client.in_process_driver
        assert isinstance(peer, Peer)
        player = Player(client, CASES[case], now_s=0, tell=lambda *_: None)
        list(player.play(assignment("windows"), "msmq-4.0"))
        return peer


def walk(tmp_path: Path, plan: str) -> Peer:
    with connect("python:walk_peers:WalkPeer", state_dir=tmp_path / "state", in_process=True) as client:
        peer = client.in_process_driver
        assert isinstance(peer, WalkPeer)
        walker = Walker(client, plans()[plan].acts, accepts=True, now_s=0, tell=lambda *_: None)
        list(walker.play(assignment("windows"), "msmq-4.0"))
        return peer


@pytest.mark.parametrize("case", ["plain", "open/unknown-type", "waiting-ecr/refused-establish"])
def test_a_dialogue_closes_each_connection(case: str, tmp_path: Path) -> None:
    peer = dialogue(tmp_path, case)
    assert peer.links and all(link.gone for link in peer.links.values())


@pytest.mark.parametrize("plan", ["half-close-transactional", "double-opening", "cut-express"])
def test_a_walk_closes_each_connection(plan: str, tmp_path: Path) -> None:
    peer = walk(tmp_path, plan)
    assert len(peer.links) > 2 and all(link.gone for link in peer.links.values() if not link.outgoing)


@pytest.mark.parametrize(("play", "what"), [(dialogue, "plain"), (walk, "cut-express")])
def test_a_driver_that_has_no_room_for_a_connection_is_not_the_implementation(
    play: Callable[[Path, str], Peer], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = {"status": None, "failure": {"kind": "NotExpressible", "text": FULL}}
    monkeypatch.setattr(Peer, "sessions_open", lambda peer, params: full)
    with pytest.raises(NotAccepted, match=FULL):
        play(tmp_path, what)
