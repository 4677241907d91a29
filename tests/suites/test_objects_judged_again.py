"""Examples of objects are in the record and are judged again: plans with their answers, and what a class describes."""

from __future__ import annotations

from pathlib import Path

from conformance.rejudge import judge_again
from conformance.report.records import read_run
from conformance.run import run
from conformance.verdict import ExitCode, Outcome

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
