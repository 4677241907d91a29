"""Walks over a network with faults: complete by construction, right peers pass, and each demand fails on a fake."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest
from cases import all_of
from walk_peers import WalkPeer

from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.harness.repro_files import NotRepeatable
from conformance.judge.dialogues.walk_plans import (
    SITUATIONS,
    Act,
    claims,
    excluded,
    meeting,
    plans,
    situations,
    situations_met,
    steps_of,
)
from conformance.spec.catalogue import assignment
from conformance.suites.sessions.rejudge import rejudge
from conformance.suites.sessions.walking import Walker, check, drawn
from conformance.verdict import Outcome, Verdict
from conformance.walks import examples


def walked(acts: tuple[Act, ...], tmp_path: Path, defects: str = "", *, accepts: bool = True) -> list[Verdict]:
    """Take a walk with a peer that has these defects."""
    with connect("python:walk_peers:WalkPeer", state_dir=tmp_path / "state", in_process=True) as client:
        peer = client.in_process_driver
        assert isinstance(peer, WalkPeer)
        peer.defects = set(defects.split())
        walker = Walker(client, acts, accepts=accepts, now_s=0, tell=lambda *_: None)
        return list(walker.play(assignment("windows"), "msmq-4.0"))


def failed(verdicts: list[Verdict]) -> list[str]:
    return [one.requirement for one in verdicts if one.outcome is Outcome.FAIL]


def test_each_situation_is_met_by_a_planned_walk_or_has_a_reason() -> None:
    found = set(chain.from_iterable(situations_met(plan.acts) for plan in plans().values()))
    assert found == set(situations()) == {one for one in SITUATIONS if excluded(one) is None}
    assert len({one.name for one in SITUATIONS}) == len(SITUATIONS)
    assert all(meeting(one) is not None for one in situations()[:: len(situations()) // 8])


@all_of("plan", plans())
def test_a_peer_that_is_right_passes_and_is_judged_as_claimed(plan: str, tmp_path: Path) -> None:
    acts = plans()[plan].acts
    verdicts = walked(acts, tmp_path)
    assert not failed(verdicts)
    assert set(claims(acts)) <= {one.requirement for one in verdicts if one.outcome is Outcome.PASS}


FAKES = (
    ("does-not-listen", "cut-opening", "MQQB-2.1.1.acceptor-port"),
    ("dies-on-half-a-packet", "cut-express", "MQQB-2.1.1.acceptor-port"),
    ("dies-on-half-a-packet", "reset-opening", "MQQB-2.1.1.acceptor-port"),
    ("mixes-connections", "cut-opening", "MQQB-2.1.1.initialization"),
    ("wants-whole-writes", "split-opening", "MQQB-2.1.1.initialization"),
    ("wants-whole-writes", "delay-express", "MQQB-3.1.5.8.state-closes"),
    ("wants-whole-writes", "delay-acknowledgments", "MQQB-3.1.5.5.state-closes"),
    ("keeps-half-closed-sessions", "half-close-opening", "MQQB-3.1.7.3.disconnect-closes"),
    ("keeps-half-closed-sessions", "half-close-recoverable", "MQQB-3.1.7.3.disconnect-closes"),
    ("keeps-half-closed-sessions", "half-close-of-the-listener-establish", "MQQB-3.1.7.3.disconnect-closes"),
    ("counts-half-a-message", "delay-recoverable", "MQQB-3.1.1.6.1.acknowledged-were-sent"),
    ("counts-half-a-message", "delay-express", "MQQB-3.1.1.6.1.acknowledged-were-sent"),
    ("marks-half-a-message", "delay-recoverable", "MQQB-3.1.1.6.1.recoverable-were-sent"),
    ("goes-on-counting", "again-express", "MQQB-3.1.1.6.1.acknowledged-were-sent"),
    ("takes-half-a-message", "cut-express", "MQMQ-2.2.18.1.6.ack-reach-queue"),
    ("takes-half-a-message", "reset-recoverable", "MQMQ-2.2.18.1.6.ack-reach-queue"),
    ("tells-of-half-a-message", "delay-express", "MQDMPR-3.1.1.12.class-ack-reach-queue"),
    ("loses-what-comes-in-pieces", "split-recoverable", "MQQB-3.1.5.8.2.acknowledged-in-time"),
    ("forgets-identifiers-after-a-cut", "again-express", "MQQB-3.1.5.8.1.duplicate"),
    ("forgets-identifiers-after-a-cut", "cut-recoverable", "MQQB-3.1.5.8.1.duplicate"),
    ("takes-duplicates", "double-recoverable", "MQQB-3.1.5.8.1.duplicate"),
    ("begins-again-after-a-cut", "again-transactional", "MQQB-3.1.5.8.6.accepted"),
    ("takes-any-order", "reorder-transactional", "MQQB-3.1.5.8.6.accepted"),
    ("orders-what-it-rejects", "reorder-transactional", "MQQB-3.1.5.8.6.accepted"),
    ("never-orders", "cut-transactional", "MQQB-3.1.6.9.sent"),
    ("never-acks", "cut-express", "MQMQ-2.2.18.1.6.ack-reach-queue"),
    ("takes-EstablishConnection-early", "double-opening", "MQQB-3.1.5.3.state-closes"),
    ("takes-ConnectionParameters-late", "double-opening", "MQQB-3.1.5.4.state-closes"),
    ("closes-on-a-second-usermessage", "double-express", "MQQB-3.1.5.8.state-closes"),
    ("closes-on-acknowledgments", "split-acknowledgments", "MQQB-3.1.5.5.state-closes"),
    ("closes-on-a-second-orderack", "double-acknowledgments", "MQQB-3.1.5.6.state-closes"),
    ("closes-on-a-second-finalack", "double-acknowledgments", "MQQB-3.1.5.7.state-closes"),
    ("never-connects-again", "cut-of-the-listener-parameters", "MQQB-2.1.1.initiator-port"),
    ("hangs-up", "cut-of-the-listener-parameters", "MQQB-2.1.1.initialization"),
)


@pytest.mark.parametrize(("defect", "plan", "requirement"), FAKES, ids=lambda value: value)
def test_each_defect_is_found_by_its_walk(defect: str, plan: str, requirement: str, tmp_path: Path) -> None:
    assert failed(walked(plans()[plan].acts, tmp_path, defect))[:1] == [requirement]


def test_who_counts_repetitions_follows_a_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    acts = plans()["double-express"].acts
    verdicts = walked(acts, tmp_path / "both", "counts-duplicates")
    assert not failed(verdicts) and any(one.outcome is Outcome.READING for one in verdicts)
    one = {**assignment("windows"), "R-MQQB-repeated-count": ("uncounted",)}
    monkeypatch.setattr(f"{__name__}.assignment", lambda name: one)
    assert failed(walked(acts, tmp_path / "one", "counts-duplicates"))[:1] == ["MQQB-3.1.5.8.1.duplicate"]


def test_walks_of_chance_make_sense_and_find_nothing_wrong_with_what_is_right(tmp_path: Path) -> None:
    for number, random in enumerate(examples(0, 10)):
        acts = drawn(random, accepts=True)
        assert [act for _, act in steps_of(acts)] == list(acts)
        assert tuple(Act.from_json(act.to_json()) for act in acts) == acts
        assert not failed(walked(acts, tmp_path / str(number)))


OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 10, 10)


def test_a_deviation_is_cut_down_to_acts_that_show_it_again(tmp_path: Path) -> None:
    plan = plans()["cut-recoverable"]
    with connect("python:walk_peers:WalkPeer", state_dir=tmp_path / "state", in_process=True) as client:
        peer = client.in_process_driver
        assert isinstance(peer, WalkPeer)
        peer.defects = {"forgets-identifiers-after-a-cut"}
        judge = Recorder(OPTIONS, lambda verdict, count: None)
        with pytest.raises(ConformanceFailure) as found:
            check(plan, client, judge)
        again = list(rejudge(found.value.repro, client, OPTIONS))
        judge = Recorder(OPTIONS, lambda verdict, count: None)
        judge.told_before([found.value.verdict.requirement])
        with pytest.raises(ConformanceFailure) as long:
            check(plan, client, judge)
    assert found.value.verdict.requirement in failed(again)
    assert len(found.value.repro["acts"]) <= 3 < len(plan.acts) == len(long.value.repro["acts"])
    with pytest.raises(NotRepeatable, match="act"):
        list(rejudge({"kind": "walk", "acts": [{"does": "nothing"}]}, client, OPTIONS))


def test_each_claim_of_a_walk_can_fail(tmp_path: Path) -> None:
    every = {name for plan in plans().values() for name in claims(plan.acts)}
    assert every == {requirement for _, _, requirement in FAKES}
