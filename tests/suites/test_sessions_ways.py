"""Ways that the text leaves to a queue manager: none of them is a deviation, and a fault beside one is still found."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, Final

import pytest
from session_peer import Peer
from walk_peers import WalkPeer

from conformance.adapter.connectors import connect
from conformance.harness.recorder import HarnessDefect
from conformance.judge.dialogues import packets
from conformance.judge.dialogues.walk_plans import plans
from conformance.net.ends import Packets
from conformance.spec.catalogue import assignment
from conformance.suites.sessions.dialogue import NO_ROOM, NotPlayed
from conformance.suites.sessions.links import Interleaved, Link, Timing
from conformance.suites.sessions.playing import Player
from conformance.suites.sessions.rejudge import CASES
from conformance.suites.sessions.walking import Walker
from conformance.verdict import Outcome, Verdict

EXISTING: Final = "sends-on-sessions-that-exist"
WAYS: Final = (
    EXISTING,
    f"{EXISTING} counts-duplicates",
    "counts-duplicates answers-no-ping",
    "tidies-soon",
    f"{EXISTING} tidies-soon one-queue",
)
TOLD: Final = [name for name, case in CASES.items() if case.queues]
"""The dialogues in which messages are told."""


def judged(case: str, ways: str, folder: Path) -> list[Verdict]:
    """Return the verdicts on a peer with these ways; none for a case that cannot be played."""
    with connect("python:session_peer:Peer", state_dir=folder, in_process=True) as client:
        peer = client.in_process_driver
        assert isinstance(peer, Peer)
        peer.defects = set(ways.split())
        try:
            player = Player(client, CASES[case], now_s=0, tell=lambda *_: None)
            return list(player.play(assignment("windows"), "msmq-4.0"))
        except NotPlayed:
            return []


def failed(verdicts: list[Verdict]) -> list[Verdict]:
    return [one for one in verdicts if one.outcome is Outcome.FAIL]


@pytest.mark.parametrize("way", WAYS)
def test_a_way_of_the_text_is_no_deviation(way: str, tmp_path: Path) -> None:
    wrong = {case: found for case in TOLD if (found := failed(judged(case, way, tmp_path / case.replace("/", "-"))))}
    assert not wrong


@pytest.mark.parametrize("ways", [EXISTING, f"{EXISTING} counts-duplicates tidies-soon"])
def test_a_walk_accuses_no_way_of_the_text(ways: str, tmp_path: Path) -> None:
    wrong = {}
    for name, plan in plans().items():
        with connect("python:walk_peers:WalkPeer", state_dir=tmp_path / name, in_process=True) as client:
            peer = client.in_process_driver
            assert isinstance(peer, WalkPeer)
            peer.defects = set(ways.split())
            walker = Walker(client, plan.acts, accepts=True, now_s=0, tell=lambda *_: None)
            wrong[name] = failed(list(walker.play(assignment("windows"), "msmq-4.0")))
    assert not any(wrong.values())


@pytest.mark.parametrize("way", ["has-no-room", "refuses-sessions"])
def test_a_server_without_room_for_a_session_is_not_judged(way: str, tmp_path: Path) -> None:
    """It closes, or says so in its answer (MS-MQQB 3.1.5.3.1), and in its answers to pings (2.2.7)."""
    for case in ("plain", "express", "answered", "pings/first"):
        found = judged(case, way, tmp_path / case)
        reasons = {one.reason for one in found if one.outcome is Outcome.INCONCLUSIVE and one.subject == "dialogue"}
        assert not failed(found) and reasons <= {NO_ROOM} and (reasons or case == "plain")


@pytest.mark.parametrize(
    ("case", "defect", "requirement"),
    [
        ("word-of-arrival", "never-acks", "MQMQ-2.2.19.3.flags-pa"),
        ("nothing-is-acknowledged", "waits-for-ever", "MQQB-3.1.6.3.closes"),
        ("carried-first", "carried-marks-stay", "MQQB-3.1.6.4.recoverable-once"),
        ("answers-without-an-order-acknowledgment", "never-resends", "MQQB-3.1.6.5.resent"),
        ("the-same-again", "takes-duplicates", "MQQB-3.1.5.8.1.duplicate"),
        ("waiting-ecr/refused-establish", "goes-on-when-refused", "MQQB-3.1.5.3.2.invalid-closes"),
        ("connects-anew-after-a-cut", "never-connects", ""),
    ],
)
def test_a_fault_is_found_beside_sessions_that_exist(case: str, defect: str, requirement: str, tmp_path: Path) -> None:
    found = failed(judged(case, f"{EXISTING} {defect}", tmp_path))
    assert [one.requirement for one in found][:1] == ([requirement] if requirement else [])


def test_who_sends_on_sessions_that_exist_does_not_show_that_it_connects(tmp_path: Path) -> None:
    found = judged("word-of-arrival", EXISTING, tmp_path)
    assert not any(one.requirement == "MQQB-2.1.1.initiator-port" for one in found)


def test_an_exception_of_a_step_takes_no_verdict_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The harness has a defect, which it tells; what the dialogue has judged before stands."""

    def breaks(player: Player, step: object) -> None:
        raise KeyError("in-1")

    monkeypatch.setattr(Player, "_stored", breaks)
    found: list[Verdict] = []
    with connect("python:session_peer:Peer", state_dir=tmp_path, in_process=True) as client:
        player = Player(client, CASES["recoverable"], now_s=0, tell=lambda *_: None)
        with pytest.raises(HarnessDefect, match="a step of a dialogue broke off: KeyError: 'in-1'"):
            for one in player.play(assignment("windows"), "msmq-4.0"):
                found.append(one)
    open_ones = {one.requirement for one in found if one.outcome is Outcome.INCONCLUSIVE}
    assert "MQQB-3.1.5.8.2.acknowledged-in-time" in {one.requirement for one in found if one.outcome is Outcome.PASS}
    assert open_ones <= {"MQMQ-2.2.20.4.recoverable-ack-flags"}


def test_what_this_end_does_wrong_is_a_defect_of_the_harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = packets.session_ack
    monkeypatch.setattr(packets, "session_ack", lambda count, *rest: plain(count + 1, *rest))
    with pytest.raises(HarnessDefect, match=r"mqconform's own packets break MQQB-3\.1\.1\.6"):
        judged("word-of-arrival", "", tmp_path)


class Ticking:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.at = 0.0

    def monotonic(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.at += seconds


@pytest.mark.parametrize(("over_ms", "calls", "busy"), [(5, 40, False), (30, 40, True), (30, 4, False), (300, 1, True)])
def test_a_machine_is_busy_when_this_end_is_late_itself(over_ms: int, calls: int, busy: bool) -> None:
    clock = Ticking()
    timing = Timing(clock)
    for _ in range(calls):
        began = clock.at
        clock.sleep((50 + over_ms) / 1000)
        timing.waited(50, began, in_vain=True)
    assert timing.busy is busy and round(timing.now_ms) == calls * (50 + over_ms)


@pytest.mark.parametrize(
    ("defect", "idle", "busy"),
    [("acknowledges-late", Outcome.FAIL, Outcome.INCONCLUSIVE), ("never-acknowledges", Outcome.FAIL, Outcome.FAIL)],
)
def test_what_is_late_on_a_busy_machine_is_open_and_what_never_comes_is_not(
    defect: str, idle: Outcome, busy: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(folder: str) -> set[Outcome]:
        verdicts = judged("recoverable", defect, tmp_path / folder)
        return {one.outcome for one in verdicts if one.requirement == "MQQB-3.1.5.8.2.acknowledged-in-time"}

    assert found("idle") == {idle}
    monkeypatch.setattr(Timing, "busy", property(lambda timing: True))
    assert found("busy") == {busy}


def streams(plan: str, folder: Path) -> list[Packets]:
    """Take a walk with a peer that sends its words on the sessions of this end; return what this end has written."""
    with connect("python:walk_peers:WalkPeer", state_dir=folder, in_process=True) as client:
        peer = client.in_process_driver
        assert isinstance(peer, WalkPeer)
        peer.defects = {EXISTING}
        found: dict[str, Packets] = {}
        plain = peer.sessions_send

        def sends(params: dict[str, Any]) -> dict[str, Any]:
            found.setdefault(params["session"], Packets()).feed(base64.b64decode(params["bytes"]))
            return plain(params)

        object.__setattr__(peer, "sessions_send", sends)
        walker = Walker(client, plans()[plan].acts, accepts=True, now_s=0, tell=lambda *_: None)
        list(walker.play(assignment("windows"), "msmq-4.0"))
        return list(found.values())


@pytest.mark.parametrize("plan", [name for name in plans() if name.startswith("delay-")])
def test_nothing_is_written_between_the_halves_of_a_packet(plan: str, tmp_path: Path) -> None:
    assert all(not one.broken and not one.settle() and not one.held for one in streams(plan, tmp_path))


def test_an_end_that_writes_between_the_halves_of_a_packet_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutation: nothing is known to be held back while the rest of the packet waits."""
    plain = Link.acknowledge

    def acknowledges(link: Link, *, now: bool = False, last: bool = False) -> None:
        tail, link.tail = link.tail, b""
        plain(link, now=now or bool(tail), last=last)
        link.tail = tail

    monkeypatch.setattr(Link, "acknowledge", acknowledges)
    assert any(one.broken or one.held for one in streams("delay-recoverable", tmp_path))


def test_a_packet_that_overtakes_another_one_is_a_defect() -> None:
    link = object.__new__(Link)
    link.tail = b"the rest"
    with pytest.raises(Interleaved, match="8 bytes of a packet are held back"):
        link.send(b"another")
