"""Many clients at once and kills, against managers in memory: honest ones pass, each defect is found and told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.adapter.connectors import connect
from conformance.embedded.faults import FAULTS
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.harness.repro_files import NotRepeatable
from conformance.spec.catalogue import assignment
from conformance.suites.concurrency import test_mqdmpr_3_1_7_at_the_same_time as at_the_same_time
from conformance.suites.concurrency import test_mqdmpr_3_1_7_clients_at_once as at_once
from conformance.suites.concurrency.rejudge import rejudge
from conformance.suites.concurrency.running import concurrently, storm
from conformance.suites.concurrency.workload import BadWorkload, Workload
from conformance.suites.restart import rejudge as restarts
from conformance.suites.restart import test_mqdmpr_3_1_3_kills as kills
from conformance.suites.restart.rejudge import tell_and_judge
from conformance.verdict import Outcome, Verdict

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 3, 10)
SMALL = {
    "plain": replace(at_once.PLAIN, operations=60),
    "transactions": replace(at_once.TRANSACTIONS, operations=60),
    "both": replace(at_once.BOTH, operations=60),
}


def ran(manager: str, workload: Workload, folder: Path) -> list[Verdict]:
    verdicts: list[Verdict] = []
    judge = Recorder(OPTIONS, lambda verdict, count: verdicts.append(verdict))
    with connect(f"python:{manager}", state_dir=folder, in_process=True) as client:
        concurrently(client, judge, OPTIONS, workload, share=1.0)
    judge.flush()
    return verdicts


@pytest.mark.parametrize("name", SMALL)
def test_a_manager_that_works_in_any_order_passes(name: str, tmp_path: Path) -> None:
    verdicts = ran("managers_at_once:AnyOrder", SMALL[name], tmp_path)
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}
    assert len({verdict.requirement for verdict in verdicts}) > 15


@pytest.mark.parametrize(
    ("manager", "name", "blamed"),
    [
        ("GivesOneMessageToTwo", "plain", {"MQDMPR-3.1.7.1.10.removes"}),
        ("LosesASendInACrowd", "plain", {"MQDMPR-3.1.7.1.9.available"}),
        ("CommitsInPieces", "transactions", {"MQDMPR-3.1.4.4.all-together"}),
    ],
)
def test_a_defect_that_races_alone_show_is_found(manager: str, name: str, blamed: set[str], tmp_path: Path) -> None:
    with pytest.raises(ConformanceFailure) as caught:
        ran(f"managers_at_once:{manager}", replace(SMALL[name], operations=150), tmp_path)
    failure = caught.value
    assert failure.verdict.requirement in blamed
    assert len(failure.story) <= 40
    assert failure.verdict.evidence is not None and failure.verdict.evidence.data["history"]
    with connect(f"python:managers_at_once:{manager}", state_dir=tmp_path, in_process=True) as client:
        again = rejudge(failure.repro, client, OPTIONS)
    assert again[-1].outcome is Outcome.FAIL
    with connect("python:managers_at_once:AnyOrder", state_dir=tmp_path, in_process=True) as client:
        assert all(verdict.outcome is Outcome.PASS for verdict in rejudge(failure.repro, client, OPTIONS))


@pytest.mark.parametrize("readers", [1, 2])
def test_an_oldest_waiter_that_starves_is_found_whatever_the_luck(readers: int, tmp_path: Path) -> None:
    def offered(*methods: str) -> None:
        assert methods

    judge = Recorder(OPTIONS, lambda verdict, count: None)
    story = at_the_same_time.test_many_wait_and_the_oldest_is_served_first
    with connect("embedded+oldest-waiter-starves", state_dir=tmp_path, in_process=True) as client:
        with pytest.raises(ConformanceFailure) as caught:
            story(client, judge, offered, readers)
        fault = FAULTS["oldest-waiter-starves"]
        assert caught.value.verdict.requirement in (*fault.breaks, *fault.first_seen_as)
        assert rejudge(caught.value.repro, client, OPTIONS)[-1].outcome is Outcome.FAIL
    with connect("embedded", state_dir=tmp_path / "other", in_process=True) as client:
        story(client, judge, offered, readers)
        assert {verdict.outcome for verdict in rejudge(caught.value.repro, client, OPTIONS)} == {Outcome.PASS}


def test_an_honest_manager_survives_kills(tmp_path: Path) -> None:
    judge = Recorder(OPTIONS, lambda verdict, count: None)
    with connect("python:memory_manager:HonestManager", state_dir=tmp_path, in_process=True) as client:
        storm(client, judge, replace(at_once.BOTH, operations=90, clients=3), 5, kills=3)
    assert judge.steps_taken > 90


@pytest.mark.parametrize(
    ("manager", "blamed"),
    [
        ("ForgetsRecoverable", {"MQDMPR-3.1.1.12.recoverable-survives"}),
        ("RestartRedelivers", {"MQDMPR-3.1.1.12.received-not-redelivered", "MQDMPR-3.1.7.1.10.removes"}),
    ],
)
def test_what_a_kill_must_not_do_is_found(manager: str, blamed: set[str], tmp_path: Path) -> None:
    steps = [*kills.created("q1"), kills.send("a"), kills.send("b"), kills.receive(), kills.send("c", flies=True)]
    judge = Recorder(OPTIONS, lambda verdict, count: None)
    with connect(f"python:memory_manager:{manager}", state_dir=tmp_path, in_process=True) as client:
        with pytest.raises(ConformanceFailure) as caught:
            for story in kills.killed(OPTIONS, steps, "q1"):
                tell_and_judge(client, judge, story)
        assert caught.value.verdict.requirement in blamed
        assert restarts.rejudge(caught.value.repro, client, OPTIONS)[-1].requirement in blamed
    with connect("python:memory_manager:HonestManager", state_dir=tmp_path / "other", in_process=True) as client:
        again = restarts.rejudge(caught.value.repro, client, OPTIONS)
    assert {verdict.outcome for verdict in again} == {Outcome.PASS}


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"format": 1, "seed": "x", "workload": at_once.PLAIN.to_json()},
        {"format": 1, "seed": 1, "workload": {**at_once.PLAIN.to_json(), "clients": 400}},
        {"format": 1, "seed": 1, "workload": {**at_once.PLAIN.to_json(), "weights": [["dance", 3]]}},
        {"format": 1, "seed": 1, "workload": {**at_once.PLAIN.to_json(), "queues": [["../x", True]]}},
        {"format": 1, "seed": 1, "kills": -1, "workload": at_once.PLAIN.to_json()},
        {"kind": "kill", "format": 1, "steps": [3]},
        {"format": 1, "before": [], "waits": 3, "then": []},
        {"kind": "kill", "format": 1, "steps": [{"call": {"method": "restart"}, "after_ms": 1e9}]},
    ],
)
def test_a_repro_file_that_is_none_says_so(wrong: dict[str, object], tmp_path: Path) -> None:
    with (
        connect("python:memory_manager:HonestManager", state_dir=tmp_path, in_process=True) as client,
        pytest.raises(NotRepeatable),
    ):
        restarts.rejudge(wrong, client, OPTIONS)


def test_a_stored_workload_is_the_same_workload() -> None:
    for workload in (at_once.PLAIN, at_once.RIVALS, at_once.SHARED):
        assert Workload.from_json(workload.to_json()) == workload
    with pytest.raises(BadWorkload):
        Workload.from_json(None)
