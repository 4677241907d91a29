"""The suite of objects: twins, claims, partial implementations and stored runs."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.activex import identity, library, plans_reads, services_plans, underlying_calls
from conformance.activex.plans import Plan
from conformance.activex.plans_events import arrivals
from conformance.activex.plans_queue_info import getters, put
from conformance.activex.plans_reads import READS, base, read
from conformance.activex.plans_send import transactional
from conformance.activex.reference_answers import Objects, answer
from conformance.activex.underlying_calls import Done
from conformance.activex.values import MEMBER_NOT_FOUND, long
from conformance.activex.walk import walk
from conformance.adapter.connectors import connect
from conformance.adapter.session import Result
from conformance.fault_tapes import Port
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.recorder import RunOptions
from conformance.model import Call
from conformance.rejudge import judge_again
from conformance.report.records import read_run
from conformance.run import run
from conformance.runlog.events import StoryStep
from conformance.spec.catalogue import assignment
from conformance.suites.objects import playing, services, staging
from conformance.suites.objects.playing import NotCreated, identify
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


def test_the_claims_are_those_that_the_plans_judge(tmp_path: Path) -> None:
    file = tmp_path / "claims"
    subprocess.run([sys.executable, "-m", "tools.object_claims", str(file)], check=True, timeout=300)
    assert json.loads(zlib.decompress(file.read_bytes())) == json.loads(zlib.decompress(playing.CLAIMS.read_bytes())), (
        "stale: python -m tools.object_claims"
    )


def test_plans_that_are_new_are_played_for_their_claims() -> None:
    assert playing.claimed(("plan", 1), lambda: ("A", "B")) == ("A", "B")


WORDS = "kept-Label or sent-again or commit-then-abort or MSMQTransaction or do_nothing"


def test_what_a_run_has_judged_of_objects_is_judged_again(tmp_path: Path) -> None:
    first = run(suites="objects", out=tmp_path / "first", pytest_args=["-k", WORDS])
    assert first.exit_code == ExitCode.CONFORMS
    again = judge_again(tmp_path / "first", out=tmp_path / "again")
    assert again.exit_code == ExitCode.CONFORMS and not again.changes
    judged = {one.verdict.requirement for one in read_run(tmp_path / "again").verdicts}
    assert judged == {one.verdict.requirement for one in read_run(tmp_path / "first").verdicts}
    for name in (
        "MQAC-3.10.4.1.5.input-ref-queue-label-bstr-label",  # a plan of a scene
        "MQAC-3.9.4.1.1.not-implemented",  # a plan of the tables
        "MQAC-3.9.4.2.1.init-new-method",  # a description
    ):
        assert name in judged


def test_other_readings_are_other_verdicts(tmp_path: Path) -> None:
    run(suites="objects", out=tmp_path / "first", pytest_args=["-k", "sent-again"])
    again = judge_again(tmp_path / "first", out=tmp_path / "again", chosen=["R-MQAC-send-again=every-set"])
    assert again.exit_code == ExitCode.DEVIATES
    failed = {
        one.verdict.requirement for one in read_run(tmp_path / "again").verdicts if one.verdict.outcome is Outcome.FAIL
    }
    assert "MQAC-3.17.4.1.48.either-message-class-message-sender-identifier" in failed


NOT_REGISTERED = 0x80040154
NOT_DESCRIBED, NOT_MADE = "objects.describe", "objects.create"
EVENT, INFO = "MSMQEvent", "MSMQQueueInfo"


class Partial(Port):
    """The embedded manager without some methods, and with classes that it does not describe, or does not make."""

    def __init__(self, *without: str, lacks: Mapping[str, Collection[str]] | None = None) -> None:
        self.without, self.lacks = without, lacks or {}
        super().__init__()

    def offers(self, method: str, /) -> bool:
        return method not in self.without and super().offers(method)

    def call(self, method: str, /, **params: Any) -> Result:
        assert method not in self.without, f"{method} is not offered"
        if params.get("class") in self.lacks.get(method, ()):
            return Result.from_json({"status": NOT_REGISTERED})
        return super().call(method, **params)


class WithProperty(Partial):
    """Has ActiveQueues as a property, as type libraries do: the method is not there."""

    def call(self, method: str, /, **params: Any) -> Result:
        if params.get("member") != "ActiveQueues":
            return super().call(method, **params)
        if params["kind"] == "method":
            return Result.from_json({"status": MEMBER_NOT_FOUND})
        return super().call(method, **{**params, "kind": "method"})


def untold(*_: object) -> None:
    """Drop a step of the story."""


def identified(coclass: str, port: Port) -> list[Verdict]:
    with port:
        return list(identify(coclass, port, {}, untold))


def lacking(*classes: str, without: Collection[str] = (), made: bool = False) -> Partial:
    """Return a driver that does not describe some classes, and makes no objects of them unless `made`."""
    return Partial(*without, lacks={NOT_DESCRIBED: classes} | ({} if made else {NOT_MADE: classes}))


@pytest.mark.parametrize("coclass", [EVENT, INFO, "MSMQQuery", "MSMQManagement"])
def test_a_class_that_a_driver_lacks_among_others_is_missed(coclass: str) -> None:
    (verdict,) = identified(coclass, lacking(coclass))
    assert verdict.outcome is Outcome.FAIL and verdict.requirement.endswith("class-id")
    assert verdict.actual == {"status": NOT_REGISTERED}


@pytest.mark.parametrize("coclass", identity.MEANS)
def test_a_class_about_what_a_driver_does_not_offer_is_left_out(coclass: str) -> None:
    with pytest.raises(NotCreated, match="offers no"):
        identified(coclass, lacking(coclass, without=identity.MEANS[coclass]))
    assert identified(coclass, Partial(*identity.MEANS[coclass])), "it is judged where it is there"


def test_a_driver_that_has_no_class_is_not_judged() -> None:
    with pytest.raises(NotCreated, match="no other class"):
        identified(INFO, lacking(*library.classes()))


def test_a_class_that_is_made_but_not_described_is_not_judged() -> None:
    with pytest.raises(NotCreated, match="does not describe"):
        identified(INFO, lacking(INFO, made=True))


def test_a_class_is_not_missed_where_no_objects_are_made() -> None:
    with pytest.raises(NotCreated, match=f"describes no {INFO}$"):
        identified(INFO, lacking(INFO, without=["objects.create"]))


def played(port: Port, plan: Plan, readings: Mapping[str, tuple[str, ...]], stage: str) -> list[Verdict]:
    with port:
        if stage in services.STAGES:
            each = services.play(plan, port, readings, untold, stage)
        else:
            each = staging.play(plan, port, readings, untold, stage, [])
        return [one for verdicts in each for one in verdicts]


def failures(verdicts: list[Verdict]) -> set[str]:
    return {one.requirement for one in verdicts if one.outcome is Outcome.FAIL}


def applications() -> list[Plan]:
    plans = [plan for some in services_plans.applications().values() for plan in some]
    return [plan for plan in plans if any(act.call is not None and act.call.member == "ActiveQueues" for act in plan)]


def test_active_queues_is_asked_for_in_its_other_form() -> None:
    plan = min(applications(), key=len)
    assert failures(played(WithProperty(), plan, {}, services.SERVICES)) == set()
    as_printed = {identity.KIND: ("method",)}
    assert failures(played(Port(), plan, as_printed, services.SERVICES)) == set()
    wrong = failures(played(WithProperty(), plan, as_printed, services.SERVICES))
    assert wrong and all(name.startswith("MQAC-3.2.") for name in wrong)


@pytest.mark.parametrize("without", [["clock.now"], ["clock.now", "objects.get"]])
def test_events_are_waited_for_without_a_look_at_the_clock(without: list[str]) -> None:
    plan = next(iter(arrivals()))
    wanted = [(one.requirement, one.outcome) for one in played(Port(), plan, {}, services.EVENTS)]
    assert [(one.requirement, one.outcome) for one in played(Partial(*without), plan, {}, services.EVENTS)] == wanted


def test_times_are_judged_without_a_look_at_the_clock() -> None:
    plan = getters()["identifiers"]
    verdicts = played(Partial("clock.now"), plan, {}, staging.CLIENT)
    assert failures(verdicts) == set()
    assert "MQAC-3.10.4.1.19.return-s-ok" in {one.requirement for one in verdicts}
