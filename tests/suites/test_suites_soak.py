"""The soak: the same oracle without hypothesis, its findings short and kept at once, its memory bounded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.adapter.connectors import connect
from conformance.command_options import BadInput
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories.soak import Direct, Odd, Soak
from conformance.histories.walk import offered
from conformance.report.findings import quirks as quirks_of
from conformance.report.transition_pictures import transitions
from conformance.runlog import Run
from conformance.soak import known_plans, soak
from conformance.spec.catalogue import assignment
from conformance.verdict import ExitCode, Outcome


def soaked(
    manager: str, out: Path, histories: int = 60, *, in_process: bool = True, seed: int = 0, plans: tuple[str, ...] = ()
) -> Run:
    result = soak(
        adapter=f"python:{manager}",
        out=out,
        histories=histories,
        steps=40,
        seed=seed,
        plans=plans,
        in_process=in_process,
        deadline_ms=500,
    )
    assert result.record is not None and result.record.complete
    assert (out / "run-main.ndjson").exists()
    assert result.exit_code is (ExitCode.DEVIATES if failing(result.record) else ExitCode.CONFORMS)
    return result.record


def failing(record: Run) -> set[str]:
    wrong = {Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY}
    return {item.verdict.requirement for item in record.verdicts if item.verdict.outcome in wrong}


def counted(record: Run) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for item in record.verdicts:
        key = (item.test, item.verdict.requirement)
        found[key] = found.get(key, 0) + item.count
    return found


def test_an_honest_manager_passes_the_same_way_twice(tmp_path: Path) -> None:
    one = soaked("memory_manager:HonestManager", tmp_path / "one")
    two = soaked("memory_manager:HonestManager", tmp_path / "two")
    other = soaked("memory_manager:HonestManager", tmp_path / "other", seed=1)
    assert not failing(one)
    assert counted(one) == counted(two) != counted(other)
    assert one.footer is not None and one.footer.examples == 60 and one.footer.stateful_steps > 1_000
    assert {table.table for table in transitions(one)} >= {"cursor", "position"}
    untouched = {table.table for table in transitions(one) if not table.followed}
    assert untouched == {"coordinated", "outgoing"}  # it has neither


def test_a_child_process_is_soaked_by_the_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    record = soaked("memory_manager:HonestManager", tmp_path, 6, in_process=False)
    assert not failing(record) and len(counted(record)) > 50


def test_each_of_several_defects_is_kept_with_a_short_story_and_a_repro(tmp_path: Path) -> None:
    record = soaked("faulty_managers:ThreeDefects", tmp_path, 60, plans=("cursors", "transactions"))
    failed = [item for item in record.verdicts if item.verdict.outcome is Outcome.FAIL]
    broken = {item.verdict.requirement for item in failed}
    # The wrong code comes in nearly every history, and before anything is aborted: it is left out, and they go on.
    assert {"MQDMPR-3.1.7.1.2.messages-kept", "MQDMPR-3.1.4.5.receives-return"} < broken
    assert any(name.endswith("no-wait-code") for name in broken)
    assert record.footer is not None and record.footer.stateful_steps > 1_000
    stories = {story.verdict: story for story in record.stories}
    for item in failed:
        story = stories[item.id]
        assert len(story.steps) <= 12
        assert story.repro is not None
        calls = json.loads(Path(story.repro).read_text())["repro"]["calls"]
        assert 0 < len(calls) <= 12


@pytest.mark.parametrize("manager", ["CrashesAtThirdMessage", "AnswersNothing"])
def test_a_driver_that_breaks_is_a_crash_or_a_timeout(manager: str, tmp_path: Path) -> None:
    record = soaked(f"faulty_managers:{manager}", tmp_path, 4, plans=("cursors",))
    wanted = Outcome.CRASH if manager == "CrashesAtThirdMessage" else Outcome.TIMEOUT
    assert wanted in {item.verdict.outcome for item in record.verdicts}


def test_what_fails_now_and_then_is_flaky(tmp_path: Path) -> None:
    record = soaked("faulty_managers:ForgetsLabelNowAndThen", tmp_path, 10)
    assert Outcome.FLAKY in {item.verdict.outcome for item in record.verdicts}


def test_nothing_is_kept_of_histories_that_pass(tmp_path: Path) -> None:
    asked = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 1, 30)
    judge = Recorder(asked, lambda verdict, count: None)

    def unwanted(failure: ConformanceFailure, name: str) -> None:
        raise AssertionError(f"{name}: {failure}")

    with connect("python:memory_manager:HonestManager", state_dir=tmp_path, in_process=True) as client:
        wanted = {name: plan for name, plan in known_plans().items() if offered(client, plan)}
        walker = Soak(client, asked, wanted, judge_of=lambda name: judge, on_finding=unwanted)
        walker.run(until=float("inf"), histories=30, on_progress=lambda soaked: None)
        kept = len(judge.story), len(judge.transitions), len(walker._told)
        walker.run(until=float("inf"), histories=60, on_progress=lambda soaked: None)
    assert kept[0] == 0 == len(judge.story) and kept[2] == 0 == len(walker._told)
    assert len(judge.transitions) <= 60


def test_a_plan_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no plan 'cursor'"):
        soak(plans=["cursor"], out=tmp_path, histories=1)


def test_what_only_a_client_can_judge_is_odd(tmp_path: Path) -> None:
    with connect("python:faulty_managers:AnswersNothing", state_dir=tmp_path, in_process=True) as client:
        direct = Direct(client)
        assert direct.call("queues.create", path_name="HOST\\private$\\q").ok
        opened = direct.call("queues.open", format_name="DIRECT=OS:HOST\\private$\\q", access="peek")
        with pytest.raises(Odd):
            direct.call("messages.peek", queue=opened.values["queue"], timeout_ms=0)


def test_a_soak_blames_a_known_fault_once(tmp_path: Path) -> None:
    def walked(out: Path, *, quirks: bool) -> Run:
        adapter = "embedded+ignores-priority"
        result = soak(adapter=adapter, out=out, histories=60, steps=40, seed=0, in_process=True, quirks=quirks)
        assert result.record is not None and result.exit_code is ExitCode.DEVIATES
        return result.record

    with_quirks, without = walked(tmp_path / "with", quirks=True), walked(tmp_path / "without", quirks=False)
    (quirk,) = quirks_of(with_quirks)
    assert quirk.faults == ("ignores-priority",) and quirk.requirement in failing(with_quirks)
    assert failing(with_quirks) < failing(without) and not quirks_of(without)
    consequences = {
        item.verdict.requirement for item in with_quirks.verdicts if item.verdict.outcome is Outcome.INCONCLUSIVE
    }
    assert consequences == set(quirk.filed) and consequences
