"""Sessions whose packets are correct, connections and packets that cross."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest
from cases import all_of
from session_peer import Peer
from session_peer_state import ACK_WAIT_MS
from walk_peers import WalkPeer

from conformance.adapter.client import Result
from conformance.adapter.connectors import connect
from conformance.adapter.errors import NotAccepted
from conformance.judge.dialogues import packets
from conformance.judge.dialogues.cases_sessions import FORMS, KINDS, PING_BITS, WAYS, WAYS_IN
from conformance.judge.dialogues.conversation import Conversation
from conformance.judge.dialogues.machine import Says
from conformance.judge.dialogues.steps import Establish, Parameters, Ping
from conformance.judge.dialogues.walk_plans import plans
from conformance.spec.catalogue import assignment, requirement
from conformance.suites.sessions.links import Allowance, Link, Timing
from conformance.suites.sessions.playing import Player
from conformance.suites.sessions.rejudge import CASES
from conformance.suites.sessions.walking import Walker
from conformance.verdict import Outcome

RECOMMENDED: Final = {
    "MQQB-3.1.3.2.window-size": "windows of another size are allowed, and tried",
    "MQQB-3.1.5.2.3.server-guid": "a session that names nobody carries messages with private names",
    "MQQB-3.1.6.5.resend-interval": "a message comes a second time sooner than the product sends it again",
    "MQQB-3.1.1.6.2.discarded": "a message comes a second time although its OrderAck has come",
}
"""Deviations of ours from what is recommended, each with its reason; there are none from what is demanded."""
CORRECT: Final = [name for name, case in CASES.items() if case.packets == "correct"]


def broken(case: str, state: Path) -> dict[str, str]:
    """The requirements that this end breaks when a case is played, with the packet of each."""
    with connect("python:session_peer:Peer", state_dir=state, in_process=True) as client:
        assert isinstance(client.in_process_driver, Peer)
        client.in_process_driver.unread = CASES[case].unread
        player = Player(client, CASES[case], now_s=0, tell=lambda *_: None)
        list(player.play(assignment("windows"), "msmq-4.0"))
        found = player.conversation.verdicts(assignment("windows"), "msmq-4.0", of_ours=True)
        of_the_case = player.broken_on_purpose if case in CORRECT else ()
        return {
            one.requirement: f"{one.subject}: {one.actual}"
            for one in found
            if one.outcome is Outcome.FAIL and one.requirement not in of_the_case
        }


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
def test_what_comes_in_a_long_stream_is_acknowledged_in_time(case: str, tmp_path: Path) -> None:
    """The other end would close a connection on which its Session Ack Wait Timer expires, however slow this end is."""
    with connect("python:session_peer:Peer", state_dir=tmp_path, in_process=True) as client:
        player = Player(client, CASES[case], now_s=0, tell=lambda *_: None)
        list(player.play(assignment("windows"), "msmq-4.0"))
    waits: list[int] = []
    since: int | None = None
    for said in player.conversation.said:
        if said.ours and said.kind == "SessionAck" and since is not None:
            waits.append(said.at_ms - since)
            since = None
        elif not said.ours and said.kind == "UserMessage":
            since = said.at_ms if since is None else since
    assert waits and max(waits) < ACK_WAIT_MS


def test_a_word_is_acknowledged_when_its_timer_expires_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MS-MQQB 3.1.2.5, 3.1.5.8.7: RecoverableAckTimeout behind the first recoverable message."""
    plain = Peer.sessions_about
    monkeypatch.setattr(Peer, "sessions_about", lambda self, params: {**plain(self, params), "timers_ms": {}})
    with connect("python:session_peer:Peer", state_dir=tmp_path, in_process=True) as client:
        player = Player(client, CASES["the-same-again"], now_s=0, tell=lambda *_: None)
        list(player.play(assignment("windows"), "msmq-4.0"))
    said = player.conversation.said
    word = next(one for one in said if not one.ours and one.kind == "UserMessage")
    thanks = next(one for one in said if one.ours and one.kind == "SessionAck")
    assert thanks.frame.connection == word.frame.connection and 500 <= thanks.at_ms - word.at_ms < 1_000


def test_most_cases_are_correct() -> None:
    assert len(CORRECT) > 90


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


_SYSTEM = "EstablishConnectionHeader.OperatingSystem."
_PROPOSED = "ConnectionParametersHeader."


def test_each_way_into_a_state_meets_each_packet_but_the_open_one() -> None:
    pairs = {f"{way}/{says.value}" for way, says in product(WAYS, Says)}
    assert pairs - {case.name for case in WAYS_IN} == {"refused/parameters"}
    assert len(WAYS_IN) == len(pairs) - 1


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_session_meets_each_value_of_a_request(kind: str) -> None:
    steps = [step for case in FORMS if case.name.startswith(f"{kind}/") for step in case.steps]
    asked = [step for step in steps if isinstance(step, Establish) and step.link == "a"]
    bits = {tuple(step.values[_SYSTEM + bit] for bit in ("SE", "OS", "QS")) for step in asked}
    assert bits == set(product((0, 1), repeat=3))
    assert {step.server for step in asked} == {"null", "own", "stranger"}
    stamps = {step.values["EstablishConnectionHeader.TimeStamp"] for step in asked}
    assert len(stamps) == len(asked) and {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF} <= stamps
    assert {"EstablishConnectionHeader.Reserved" in step.values for step in asked} == {False, True}
    proposed = [step.values for step in steps if isinstance(step, Parameters) and step.link == "a"]
    assert len({one[_PROPOSED + "RecoverableAckTimeout"] for one in proposed}) >= 3
    assert len({one[_PROPOSED + "WindowSize"] for one in proposed}) >= 2


def test_the_pings_have_all_bits_together_and_each_kind_has_a_type_beside_unused_ones() -> None:
    each = {
        case.name: [
            (step.values["Ping.Flags.RC"], step.values["Ping.Flags.RF"], step.values["Ping.Flags.X"])
            for step in case.steps
            if isinstance(step, Ping) and not step.control
        ]
        for case in PING_BITS
    }
    found = [bits for some in each.values() for bits in some]
    unused = {bits[2] for bits in found}
    assert sorted(found) == sorted(product((0, 1), (0, 1), unused)) and {0, 1, 0x2000, 0x3FFF} <= unused
    for some in each.values():
        assert {(rc, bool(x)) for rc, _, x in some} >= {(0, True), (1, True)}


@pytest.mark.parametrize(("made_ms", "unattended"), [(40_000, True), (1_500, False), (0, False)])
def test_a_message_that_came_before_its_connection_was_taken_over_is_not_acknowledged_late(
    made_ms: int, unattended: bool
) -> None:
    data = packets.user_message(packets.Message("a word"), packets.Ends("", 0, "192.0.2.1", "192.0.2.2"), 1)
    came = {"bytes": base64.b64encode(data).decode("ascii"), "at_ms": 1_000}
    answer = Result(0, {"packets": [came], "ended": None}, None)
    waiting = SimpleNamespace(call=lambda *_, **__: answer)
    talk = Conversation(0)
    number = talk.opened("acceptor", "127.0.0.2:1801", "127.0.0.1:50000")
    link = Link(waiting, talk, "S1", number, "acceptor", Allowance(), Timing(time), made_ms=made_ms)
    assert [one.kind for one in link.read(0)] == ["UserMessage"] and link.unattended == unattended
