"""Whose fault a wrong answer of an object is: the calls that a history stands for, over the plain facets, tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.activex import plans_reads, underlying_calls
from conformance.activex.plans import Plan
from conformance.activex.plans_queue_info import put
from conformance.activex.plans_reads import READS, base, read
from conformance.activex.plans_send import transactional
from conformance.activex.reference_answers import Objects, answer
from conformance.activex.underlying_calls import Done
from conformance.activex.values import long
from conformance.activex.walk import walk
from conformance.adapter.connectors import connect
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.recorder import RunOptions
from conformance.model import Call
from conformance.rejudge import judge_again
from conformance.report.records import read_run
from conformance.run import run
from conformance.runlog.events import StoryStep
from conformance.spec.catalogue import assignment
from conformance.suites.objects import playing, staging
from conformance.verdict import ExitCode, Outcome, Verdict

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 1, 1)
ORDERED: Plan = (
    *base("a"),
    *plans_reads.message("b"),
    put("b", "Priority", long(7)),
    plans_reads.send("b"),
    read("Receive", "first"),
    read("Receive", "second"),
)
PEEKED: Plan = (*base("a", "b"), read("Peek", "p"), read("Receive", "r"), read("Receive", "r2"))


def judged(adapter: str, plan: Plan, folder: Path, scene: str = "") -> tuple[list[Verdict], list[str], list[Done]]:
    """Return the verdicts on a history's last answer that are no passes, what the story says, and the history."""
    found: list[Verdict] = []
    lines: list[StoryStep] = []
    history: list[Done] = []
    with connect(adapter, state_dir=folder) as opened:
        mq = GuardedClient(opened)
        if scene:
            played = staging.play(plan, mq, OPTIONS.readings, lambda line: None, scene, history)
        else:
            played = playing.play(plan, mq, OPTIONS.readings, lambda line: None, history)
        for verdicts in playing.judged_twin(played, history, mq, OPTIONS, lines.append):
            found += [verdict for verdict in verdicts if verdict.outcome is not Outcome.PASS]
    return found, [line.text for line in lines], history


def layers(found: list[Verdict]) -> set[str]:
    return {str(one.evidence.data["layer"]) for one in found if one.evidence is not None}


@pytest.mark.parametrize(
    ("fault", "plan", "blamed"),
    [
        ("ignores-priority", ORDERED, "MQDMPR-"),
        ("peek-removes-message", PEEKED, "MQDMPR-3.1.7.1.15."),
        ("peek-never-waits", (*base(), read("Peek", "p", timeout=long(-1))), "MQDMPR-3.1.7.1.15."),
    ],
)
def test_a_fault_of_the_queue_manager_is_its_own(fault: str, plan: Plan, blamed: str, tmp_path: Path) -> None:
    found, lines, _ = judged(f"embedded+{fault}", plan, tmp_path)
    *others, failed = found
    assert failed.outcome is Outcome.FAIL and failed.requirement.startswith(("MQMQ-", blamed))
    assert layers(found) == {"queue manager"}
    assert others, "what the object was to show is told as a consequence"
    for one in others:
        assert one.outcome is Outcome.INCONCLUSIVE and one.requirement.startswith("MQAC-")
        assert one.reason is not None and failed.requirement in one.reason
    assert failed.evidence is not None and failed.evidence.data["shows"] == [one.requirement for one in others]
    assert "deviate as well" in lines[-1] and failed.requirement in lines[-1]


ROWS = {member.name: member for member in READS}
AT_CURSOR: Plan = (*base("a", "b"), read("PeekCurrent", "p1"), read("PeekNext", "p2"), read("Receive", "m"))


@pytest.mark.parametrize(
    ("fault", "plan", "scene"),
    [
        ("head-is-the-cursor", AT_CURSOR, ""),
        ("peek-by-lookup-id-seeks-next", next(plans_reads.gives_at_once(ROWS["PeekByLookupId"])), ""),
        ("abort-object-commits", transactional()["abort"], "client"),
    ],
)
def test_a_fault_of_the_objects_is_theirs(fault: str, plan: Plan, scene: str, tmp_path: Path) -> None:
    found, lines, _ = judged(f"embedded+{fault}", plan, tmp_path, scene)
    assert found and all(one.outcome is Outcome.FAIL and one.requirement.startswith("MQAC-") for one in found)
    assert layers(found) == {"objects"}
    assert "conform" in lines[-1]


def test_the_twin_of_a_history_that_conforms_does(tmp_path: Path) -> None:
    for seed in (2, 7):
        found, lines, history = judged("embedded", walk(seed), tmp_path)
        assert not found and not lines
        calls = underlying_calls.calls(history, OPTIONS.readings)
        assert {call.method for call in calls} > {"queues.create", "queues.open", "cursors.open", "messages.send"}


def test_what_an_object_refuses_itself_is_no_call() -> None:
    client, history = Objects({}), list[Done]()
    for act in (*base("a"), read("Receive", "m", queue_object="s")):
        seen, ended = answer(client, act)
        client.do(act, seen, ended)
        history.append(Done(act, seen, ended))
    calls = underlying_calls.calls(history, {})
    assert calls[0] == Call("queues.create", queue="q1")
    assert [call.method for call in calls[1:]] == ["queues.open", "queues.open", "cursors.open", "messages.send"]


def test_a_driver_without_the_plain_facets_is_judged_by_its_objects(tmp_path: Path) -> None:
    class ObjectsAlone(GuardedClient):
        def offers(self, method: str) -> bool:
            return super().offers(method) and not method.startswith(("queues.", "messages."))

    history: list[Done] = []
    with connect("embedded+peek-removes-message", state_dir=tmp_path) as opened:
        mq = ObjectsAlone(opened)
        played = playing.play(PEEKED, mq, OPTIONS.readings, lambda line: None, history)
        told = [one for each in playing.judged_twin(played, history, mq, OPTIONS, lambda line: None) for one in each]
    failed = [one for one in told if one.outcome is Outcome.FAIL]
    assert failed and all(one.requirement.startswith("MQAC-") and one.evidence is None for one in failed)


def test_a_record_tells_the_layer_and_is_judged_again_alike(tmp_path: Path) -> None:
    words = ["-k", "test_a_read_gives_the_message and PeekByLookupId"]
    first = run(adapter="embedded+peek-removes-message", suites="objects", out=tmp_path / "first", pytest_args=words)
    assert first.exit_code == ExitCode.DEVIATES
    wrong = [one.verdict for one in read_run(tmp_path / "first").verdicts if one.verdict.outcome is Outcome.FAIL]
    assert wrong and all(one.requirement.startswith("MQDMPR-") for one in wrong)
    again = judge_again(tmp_path / "first", out=tmp_path / "again")
    assert again.exit_code == ExitCode.DEVIATES and not again.changes
