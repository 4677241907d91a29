"""The suite `sessions` against a peer of its own: what is right passes, and each demand fails on its fake."""

from __future__ import annotations

import base64
import socket
import threading
from contextlib import suppress
from copy import deepcopy
from itertools import chain, product
from pathlib import Path
from typing import Any, Final

import pytest
from cases import all_of
from dialogue_fakes import BEHIND, FAKES
from session_peer import FLOOD, Peer

from conformance.adapter.connectors import connect
from conformance.adapter.errors import NotAccepted
from conformance.adapter.session import Result
from conformance.judge.dialogues.cases import CASES
from conformance.judge.dialogues.cases_fates import ONWARDS
from conformance.judge.dialogues.conversation import Conversation
from conformance.judge.dialogues.machine import SITUATIONS, Says, State, Then
from conformance.judge.dialogues.packets import NULL, Ends, establish, parameters
from conformance.judge.dialogues.steps import Comes, demanded
from conformance.net.addresses import Permit, target
from conformance.net.ends import refusal
from conformance.report.coverage import known
from conformance.spec.catalogue import assignment, catalogue
from conformance.suites.sessions.dialogue import MOST_PACKETS, NotPlayed
from conformance.suites.sessions.playing import Player
from conformance.verdict import Outcome, Verdict
from conformance.wire import encode

ENDS: Final = Ends("1", 1_800_000_000, "127.0.0.1", "127.0.0.2")
_MAY = {"too-many-hops-transactional", "traced"}
"""Cases that wait for what needs a directory, which the peer has not."""


def played(case: str, tmp_path: Path, defects: str = "", readings: str = "windows") -> list[Verdict]:
    """Play a case against a peer with these defects."""
    with connect("python:session_peer:Peer", state_dir=tmp_path / "state", in_process=True) as client:
        peer = client.in_process_driver
        assert isinstance(peer, Peer)
        peer.defects = set(defects.split())
        player = Player(client, CASES[case], now_s=0, tell=lambda *_: None)
        found = list(player.play(assignment(readings), "msmq-4.0"))
        assert not peer.held, "a driver holds what is not closed, and holds so many"
        return found


def test_the_limit_of_a_driver_is_no_deviation_of_what_it_speaks_to(tmp_path: Path) -> None:
    with pytest.raises(NotAccepted, match="No more sessions are held"):
        played("plain", tmp_path, "driver-holds-no-more-sessions")


def failed(verdicts: list[Verdict]) -> list[str]:
    return [one.requirement for one in verdicts if one.outcome is Outcome.FAIL]


_NAMED = "not named by a direct format name"
_STAYS_HERE = {
    "too-many-hops": _NAMED,
    "too-many-hops-transactional": _NAMED,
    "names-of-two-kinds": _NAMED,
    **{name: _NAMED for name in CASES if name.startswith("passed-on-")},
    "too-late-to-be-passed-on": _NAMED,
    **{case.name: _NAMED for case in ONWARDS},
    **{f"too-many-hops-of-{kind}-messages": _NAMED for kind in ("express", "recoverable")},
    **{name: _NAMED for name in CASES if name.endswith("-too-far-is-counted")},
    "never-too-late": "may stay longer",
}
"""Cases with a packet that goes to no other host, and why: a queue that only a directory finds, an old message."""


@all_of("case", CASES)
def test_a_peer_that_is_right_passes_and_is_judged_as_claimed(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[bytes] = []
    plain = Peer.sessions_send

    def send(peer: Peer, params: dict[str, Any]) -> dict[str, Any]:
        sent.append(base64.b64decode(params["bytes"]))
        return plain(peer, params)

    monkeypatch.setattr(Peer, "sessions_send", send)
    verdicts = played(case, tmp_path)
    if CASES[case].packets != "malformed":
        far = target("10.1.2.3", Permit(owned="10.1.2.3"))
        refused = [why for why in (refusal(data, far, "odd") for data in sent) if why is not None]
        assert bool(refused) == (case in _STAYS_HERE), refused
        assert all(_STAYS_HERE[case] in why for why in refused)
    assert not failed(verdicts)
    skipped = [one.requirement for one in verdicts if one.outcome is Outcome.SKIP]
    assert bool(skipped) == (case in _MAY)
    demands = {one.requirement for one in verdicts}
    missing = set(CASES[case].claims) - demands
    assert skipped or len(missing) * 4 < len(CASES[case].claims), sorted(missing)


@all_of(("defect", "case", "requirement"), FAKES, ids=lambda value: value)
def test_each_demand_fails_on_its_fake(defect: str, case: str, requirement: str, tmp_path: Path) -> None:
    assert failed(played(case, tmp_path, defect))[:1] == [requirement]


_CONNECTS: Final = [name for name in CASES if name.startswith(("connects", "waiting-ecr/", "waiting-cpr/"))]


@all_of("case", _CONNECTS)
def test_who_pings_before_a_first_try_and_no_other_is_right(case: str, tmp_path: Path) -> None:
    verdicts = played(case, tmp_path, "pings-first")
    assert not failed(verdicts)
    again = "/with-parameters/" not in case and case != "waiting-cpr/parameters"  # the first session delivers there
    shown = any(one.requirement == "MQQB-2.2.3.1.se" and one.outcome is Outcome.PASS for one in verdicts)
    assert shown == again


def test_each_demand_of_a_dialogue_can_fail(tmp_path: Path) -> None:
    pairs = {*((defect, case) for defect, case, _ in FAKES), *BEHIND}
    found = (failed(played(case, tmp_path / str(at), defect)) for at, (defect, case) in enumerate(sorted(pairs)))
    able = set(chain.from_iterable(found))
    demands = {name for case in CASES.values() for name in demanded(case.steps)}
    assert demands - able - known().mutated == set()  # a rule with a mutation judges the others, too


def test_each_state_meets_each_packet_once() -> None:
    assert [(one.state, one.says) for one in SITUATIONS] == list(product(State, Says))
    assert {one.name for one in SITUATIONS} <= set(CASES)


def test_features_tell_apart_what_happens() -> None:
    """Two pairs with the same features differ in what happens only by the state and the packet themselves."""
    in_turn = [one for one in SITUATIONS if one.features["turn"] == "in"]
    assert all(one.then is not Then.CLOSES for one in in_turn)
    assert all(one.then is Then.CLOSES for one in SITUATIONS if one.features["packet"] == "unreadable")


def test_each_case_claims_what_the_catalogue_has() -> None:
    assert all(name in catalogue().requirements for case in CASES.values() for name in case.claims)


@pytest.mark.parametrize(
    ("case", "changed", "told"),
    [
        ("nothing-is-acknowledged", {"timers_ms": {}}, "not declared .*QosCleanupIntervalMultiplier"),
        ("nothing-is-acknowledged", {"timers_ms": {"session-ack-wait": 90_000}}, "takes 90000 ms"),
        ("open/malformed", {"packets": "odd"}, "malformed packets"),
        ("word-of-a-receive", {"consumes_ms": {}}, "consume.mqconform-plain"),
        ("answers-in-a-sequence", {"replies": []}, "reply.mqconform-transactional"),
        ("recoverable", {"queues": []}, "no queue mqconform-plain"),
    ],
)
def test_what_is_not_declared_is_named(
    case: str, changed: dict[str, object], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Peer.sessions_about
    monkeypatch.setattr(Peer, "sessions_about", lambda self, params: {**plain(self, params), **changed})
    with pytest.raises(NotPlayed, match=told):
        played(case, tmp_path)


@pytest.mark.parametrize("defects", ["", "reports-what-is-not-traced"])
def test_who_sends_no_report_fails_where_reports_are_declared(
    defects: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not failed(played("traced", tmp_path / "not", defects))
    plain, queue = Peer.sessions_about, "3f0d2b61-7c58-4a93-8e14-d6b9a0c7e512"
    monkeypatch.setattr(Peer, "sessions_about", lambda self, params: {**plain(self, params), "reports": queue})
    asked = {
        name for step in CASES["traced"].steps if isinstance(step, Comes) and step.unless for name in step.requirements
    }
    assert len(asked) == 5 and set(failed(played("traced", tmp_path, defects))) == asked


def test_a_ping_that_nobody_answers_is_no_deviation(tmp_path: Path) -> None:
    with pytest.raises(NotPlayed, match="EnablePingService"):
        played("answered", tmp_path, "answers-no-ping")


def test_a_word_that_may_be_switched_off_is_no_deviation(tmp_path: Path) -> None:
    verdicts = played("no-such-queue", tmp_path, "no-insecure-nacks")
    told = {one.reason for one in verdicts if one.outcome is Outcome.SKIP}
    assert not failed(verdicts)
    assert any("PermitInsecureNacks" in (reason or "") for reason in told)


def test_a_driver_that_sends_nothing_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Peer, "sessions_send", lambda self, params: {"status": Result(0xC00E001B, {}, None).status})
    assert failed(played("plain", tmp_path)) == ["MQQB-2.1.1.initialization"]


def _flooding(listener: socket.socket, data: bytes) -> None:
    """Send to each connection for as long as it takes anything."""
    while True:
        try:
            made, _ = listener.accept()
        except OSError:
            return
        with made, suppress(OSError):
            while True:
                made.sendall(data)


@pytest.mark.parametrize("case", ["express", "recoverable"])
def test_a_flood_ends_the_dialogue_and_leaves_its_demands_unjudged(case: str, tmp_path: Path) -> None:
    verdicts = played(case, tmp_path, "floods")
    unjudged = {one.reason for one in verdicts if one.outcome is Outcome.INCONCLUSIVE and one.subject == "dialogue"}
    assert len(unjudged) == 1 and "flooded" in str(unjudged)
    assert len(verdicts) < 20 * MOST_PACKETS


@pytest.mark.parametrize("data", [FLOOD * 64, encode("SessionAck", {}) * 64], ids=["headers", "packets"])
def test_a_flood_on_a_socket_ends_the_dialogue(data: bytes, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_flooding, args=(listener, data), daemon=True).start()
        port = listener.getsockname()[1]
        with connect(f"wire:127.0.0.1?qm={port}&peer={port}", state_dir=tmp_path) as client:
            player = Player(client, CASES["plain"], now_s=0, tell=lambda *_: None)
            verdicts = list(player.play(assignment("windows"), "msmq-4.0"))
            assert len(player.conversation.said) <= MOST_PACKETS + 2
            player.links["a"].end("closed")
        listener.shutdown(socket.SHUT_RDWR)
    assert {Outcome.FAIL, Outcome.INCONCLUSIVE} & {one.outcome for one in verdicts}


@pytest.mark.parametrize(
    ("defects", "case", "requirement"),
    [
        ("drips stays-on-an-unknown-type", "open/unknown-type", "MQQB-2.2.1.packet-type-closes"),
        ("drips never-acknowledges", "recoverable", "MQQB-3.1.5.8.2.acknowledged-in-time"),
        ("drips never-acks", "word-of-arrival", "MQMQ-2.2.18.1.6.ack-reach-queue"),
    ],
)
def test_a_peer_that_never_stops_sending_does_not_stop_the_time(
    defects: str, case: str, requirement: str, tmp_path: Path
) -> None:
    verdicts = played(case, tmp_path, defects)
    assert requirement in failed(verdicts)
    assert not any("flooded" in (one.reason or "") for one in verdicts)


_LETTER: Final = {**assignment("windows"), "R-MQQB-null-queue-manager-address": ("letter",)}
_OF_NULL: Final = {"MQQB-3.1.5.8.2.no-such-queue", "MQQB-3.1.6.9.sent"}


def lettered(case: str, tmp_path: Path, defects: str, monkeypatch: pytest.MonkeyPatch) -> list[Verdict]:
    """Play a case by the reading that a null QueueManagerAddress is for nobody."""
    monkeypatch.setattr(f"{__name__}.assignment", lambda name: _LETTER)
    return played(case, tmp_path, defects)


@pytest.mark.parametrize("case", ["no-such-queue", "in-order", "word-of-arrival", "the-same-again"])
def test_by_the_letter_silence_shows_only_what_the_reading_names(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts = lettered(case, tmp_path, "null-is-nobody", monkeypatch)
    assert not failed(verdicts)
    asked = {name for step in CASES[case].steps if isinstance(step, Comes) for name in step.requirements}
    passed = {one.requirement for one in verdicts if one.outcome is Outcome.PASS}
    assert asked & passed == asked & _OF_NULL


@pytest.mark.parametrize("case", ["in-order", "word-of-arrival", "with-debug"])
def test_by_the_letter_a_dead_line_is_no_answer(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = lettered(case, tmp_path, "null-is-nobody never-connects", monkeypatch)
    asked = {name for step in CASES[case].steps if isinstance(step, Comes) for name in step.requirements}
    assert failed(verdicts) and set(failed(verdicts)) <= asked
    assert not asked & {one.requirement for one in verdicts if one.outcome is Outcome.PASS}


def test_by_the_letter_an_answer_to_nobodys_message_is_another_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts = lettered("no-such-queue", tmp_path, "", monkeypatch)
    other = {one.requirement for one in verdicts if one.outcome is Outcome.READING}
    assert other == {"MQQB-3.1.5.8.2.no-such-queue"} and not failed(verdicts)


@pytest.mark.parametrize("clock", ["clock-ahead", "clock-behind"])
@pytest.mark.parametrize("case", ["too-late", "never-too-late"])
def test_a_clock_that_differs_is_no_deviation(case: str, clock: str, tmp_path: Path) -> None:
    verdicts = played(case, tmp_path, clock)
    assert not failed(verdicts)
    asked = {name for step in CASES[case].steps if isinstance(step, Comes) for name in step.requirements}
    assert asked <= {one.requirement for one in verdicts if one.outcome is Outcome.PASS}
    assert failed(played("too-late", tmp_path / "late", f"{clock} takes-late-messages"))


def test_a_clock_that_is_shown_wrongly_judges_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotPlayed, match=r"the clocks differ by -7\d+ s"):
        played("too-late", tmp_path, "wrong-sent-time")


@pytest.mark.parametrize("case", ["open/unknown-type", "open/establish", "open/miscounted-ack", "open/user-message"])
def test_a_connection_that_had_ended_before_shows_nothing(case: str, tmp_path: Path) -> None:
    requirement = next(one.requirement for one in SITUATIONS if one.name == case)
    found = {one.outcome for one in played(case, tmp_path, "closes-when-open") if one.requirement == requirement}
    assert found == {Outcome.INCONCLUSIVE}


def test_what_the_rules_cannot_decide_is_told(tmp_path: Path) -> None:
    verdicts = played("word-of-arrival", tmp_path, "connects-as-after-a-ping hears-no-pings")
    open_ones = {one.requirement: one.reason for one in verdicts if one.outcome is Outcome.INCONCLUSIVE}
    assert open_ones == {"MQQB-2.2.3.1.se": "no ping in the capture is known to be of this session"} and not failed(
        verdicts
    )


def test_a_connection_that_this_end_takes_late_is_no_shorter_round_trip() -> None:
    """The implementation has seen a round trip of 300 ms; this end took its connection when half of it was over."""
    talk = Conversation(0)
    talk.sent(talk.opened("initiator", "127.0.0.2:50000", "127.0.0.1:1801"), establish(ENDS, NULL), 5_000)
    link = talk.opened("acceptor", "127.0.0.2:1801", "127.0.0.1:50001")
    talk.received(link, establish(ENDS, NULL), 5_150)
    talk.sent(link, establish(ENDS, ENDS.client, answer=True), 5_151)
    for timeout, outcome in ((8 * 300, Outcome.PASS), (8 * 3_000, Outcome.FAIL)):
        later = deepcopy(talk)
        later.received(link, parameters({"ConnectionParametersHeader.RecoverableAckTimeout": timeout}), 5_155)
        found = later.verdicts(assignment("windows"), "msmq-4.0")
        assert {one.outcome for one in found if one.requirement == "MQQB-3.1.5.3.2.round-trip"} == {outcome}


def test_no_two_dialogues_of_a_second_share_a_sequence() -> None:
    dialogues = [Ends(f"{began_ns:x}", 1_800_000_000, "a", "b") for began_ns in range(10**15, 10**15 + 10**9, 10**6)]
    found = [one.sequence_ordinal(sequence) for one in dialogues for sequence in (1, 2, 15)]
    assert found == sorted(set(found)) and found[-1] < 1 << 32


@pytest.mark.parametrize(
    ("case", "requirement"),
    [
        ("not-authenticated", "MQDMPR-3.1.1.2.authentication"),
        ("not-traced", "MQDMPR-3.1.1.12.tracing-not-requested"),
    ],
)
def test_the_silence_of_a_peer_that_says_nothing_more_shows_nothing(
    case: str, requirement: str, tmp_path: Path
) -> None:
    verdicts = played(case, tmp_path, "goes-dumb")
    assert {one.outcome for one in verdicts if one.requirement == requirement} == {Outcome.INCONCLUSIVE}
    assert not failed(verdicts)
