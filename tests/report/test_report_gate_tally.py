"""The gate sees a rule or a phase that has fallen silent, though every requirement is still judged."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

import conformance
from conformance.judge.expr import Const
from conformance.judge.packets import judge
from conformance.report.gate import Decision, decide
from conformance.report.standing import standing
from conformance.resources import resource
from conformance.runlog import Run, RunWriter, Tally, read_run
from conformance.verdict import Outcome, Verdict

RULE = "MQMQ-2.2.20.1.destination/offset"
CAPTURE = resource("fixtures/captures/consistent-session.pcapng")


def counted(rules: Iterable[str] = (), phases: Iterable[tuple[str, str]] = ()) -> Callable[[RunWriter], None]:
    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict("MQMQ-2.2.20.1.destination", Outcome.PASS, "s"), suite="packets", test="t.py::t")
        tally = Tally()
        tally.rules.update(rules)
        tally.phases.update(phases)
        writer.tally(tally)

    return fill


def compared(now: Run, before: Run) -> list[tuple[str, str]]:
    return told(decide(standing(now), before=standing(before)))


def told(decision: Decision) -> list[tuple[str, str]]:
    return [(objection.kind, objection.what) for objection in decision.objections]


def test_a_silent_rule_and_a_silent_phase_are_named(make_run: Callable[..., Run]) -> None:
    before = make_run(counted([RULE], [("packets", "control"), ("packets", "encode")]))
    assert compared(before, before) == []
    assert compared(make_run(counted([], [("packets", "encode")])), before) == [
        ("unjudged", "packets: control"),
        ("unjudged", RULE),
    ]


def test_a_lost_suite_is_told_without_its_phases(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        counted(phases=[("packets", "encode"), ("names", "control")])(writer)
        writer.verdict(Verdict("MQMQ-2.1.1.queue-name", Outcome.PASS, "s"), suite="names", test="n.py::t")

    lost = compared(make_run(counted(phases=[("packets", "encode")])), make_run(fill))
    assert lost == [
        ("floor", "embedded"),
        ("unjudged", "names"),
        ("unjudged", "n.py::t"),
        ("unjudged", "MQMQ-2.1.1.queue-name"),
    ]


def test_records_that_do_not_count_are_compared_without_and_said_so(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict("MQMQ-2.2.20.1.destination", Outcome.PASS, "s"), suite="packets", test="t.py::t")

    old, new = make_run(fill, connector="old"), make_run(counted([RULE]), connector="new")
    for now, before in ((old, new), (new, old)):
        decision = decide(standing(now), before=standing(before))
        assert told(decision) == []
        assert decision.remarks == ("rules and phases are not compared: the record of old does not count them",)
    assert decide(standing(new), before=standing(new)).remarks == ()


def replayed(out: Path) -> Run:
    return read_run(conformance.replay(CAPTURE, out=out).folder)


def test_each_rule_of_a_replay_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mutation: the rule never applies. Where it was its requirement's only one, the requirement is missed."""
    before = replayed(tmp_path / "before")
    assert compared(replayed(tmp_path / "control"), before) == []
    assert before.tally is not None
    shared = [rule for rule in sorted(before.tally.rules) if "/" in rule]
    ready, never = judge._READY, Const(False)
    monkeypatch.setattr(judge, "_plan", judge._plan.__wrapped__)  # it keeps the rules it was first asked for
    assert len(before.tally.rules) > 50 and len(shared) > 5
    missed = []
    for number, rule in enumerate(shared):
        silent = [judge._Ready(replace(one.rule, applies=never)) if one.rule.id == rule else one for one in ready]
        monkeypatch.setattr(judge, "_READY", tuple(silent))
        lost = compared(replayed(tmp_path / str(number)), before)
        assert ("unjudged", rule) in lost
        assert {what for _, what in lost} <= {rule, rule.partition("/")[0]}
        missed.append(len(lost))
    assert 1 in missed  # the rule alone: its requirement is judged by another one


def test_each_phase_of_a_replay_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from conformance.captures import engine
    from conformance.captures.packet_rules import PacketRules

    before = replayed(tmp_path / "before")
    silent: dict[str, Callable[..., object]] = {
        "judge": lambda *args: [],
        "levelled": lambda *args: [],
    }
    for (name, instead), phase in zip(silent.items(), ("packet", "session"), strict=True):
        with monkeypatch.context() as patched:
            patched.setattr(PacketRules, name, instead)
            lost = compared(replayed(tmp_path / phase), before)
        assert ("unjudged", f"replay: {phase}") in lost
    with monkeypatch.context() as patched:
        patched.setattr(engine.Replay, "conclude", lambda *args: None)
        assert compared(replayed(tmp_path / "senders"), before) == [("unjudged", "replay: senders")]


SILENCED = """
import sys
import conformance
from conformance.suites.packets import cases

honest, (folder, which, *phases) = cases.in_phase, sys.argv[1:]
for phase in phases:
    cases.in_phase = lambda name, verdicts: iter(()) if name == phase else honest(name, verdicts)
    out = f"{folder}/{phase}"
    conformance.run(suites="packets", in_process=True, max_examples=1, out=out, pytest_args=["-k", which])
"""


def test_a_suite_that_no_longer_probes_is_missed(tmp_path: Path) -> None:
    """Nothing fails and no requirement is missing: a refusal alone is what whoever refuses everything has too."""
    which = "test_malformed_packets_are_refused and signature"
    command = [sys.executable, "-c", SILENCED, str(tmp_path), which, "none", "neither", "control", "liveness"]
    subprocess.run(command, check=True, timeout=300)
    before = read_run(tmp_path / "none")
    assert compared(read_run(tmp_path / "neither"), before) == []
    for phase in ("control", "liveness"):
        assert compared(read_run(tmp_path / phase), before) == [("unjudged", f"packets: {phase}")]
