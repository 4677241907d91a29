"""Bad drivers from end to end: each run ends with a verdict about the driver, never with a failure of the harness."""

from __future__ import annotations

from pathlib import Path

import bad_drivers
import pytest

from conformance.run import run
from conformance.verdict import ExitCode, Outcome

MESSAGES, WAITS = "test_received_as_sent", "waiting_reads"
# What becomes of it: the worst verdict. A driver that cannot be started again often enough is given up, with exit 3.
CASES = [
    ("HandlesNobodyKnows", "properties", MESSAGES, {Outcome.FAIL}),
    ("HandsOutOneHandleTwice", "properties", "test_counts", {Outcome.PASS}),
    ("KnowsNamesAsTheyAreSpelled", "cursors", "every_spelling", {Outcome.FAIL}),  # each time: not a flaky one
    ("HandleIsAnObject", "properties", MESSAGES, {Outcome.CRASH}),
    ("HandleIsAMebibyte", "properties", MESSAGES, {Outcome.PASS}),
    ("MessageIsAList", "properties", MESSAGES, {Outcome.CRASH}),
    ("BodyIsNoBase64", "properties", MESSAGES, {Outcome.FAIL, Outcome.CRASH}),
    ("PropertiesAreNested", "properties", "without_properties", {Outcome.FAIL, Outcome.CRASH}),
    ("PropertiesAreFractions", "properties", "without_properties", {Outcome.FAIL, Outcome.CRASH}),
    ("PropertiesAreHuge", "properties", "without_properties", {Outcome.FAIL}),
    ("TimesOfAnotherAge", "properties", MESSAGES, {Outcome.FAIL}),
    ("NamesWithHalfACharacter", "properties", "without_properties", {Outcome.FAIL}),
    ("StatusIsText", "properties", "several_at_once", {Outcome.CRASH}),
    ("StatusHas40Bits", "properties", "several_at_once", {Outcome.CRASH}),
    ("StatusIsNegative", "properties", "not_there", {Outcome.CRASH}),
    ("FailsWithWhatNobodyListed", "properties", "refused_setting", {Outcome.FAIL}),
    ("AnswersTooLate", "properties", "several_at_once", {Outcome.TIMEOUT}),
    ("ClockRunsBackwards", "properties", "test_times", {Outcome.FAIL}),
    ("ClockIsNegative", "properties", "test_times", {Outcome.FAIL, Outcome.CRASH}),
    ("ClockOfReadsRunsBackwards", "cursors", WAITS, {Outcome.FAIL, Outcome.CRASH}),
    ("GrowsUntilMemoryEnds", "properties", "walk", {Outcome.CRASH}),
    ("EachAnswerIsLonger", "properties", "walk", {Outcome.FAIL, Outcome.CRASH}),
    ("ForgetsAtRandom", "properties", "given_at_creation", {Outcome.FAIL}),
    ("RaisesInTheMiddle", "properties", "several_at_once", {Outcome.CRASH}),
    ("OffersWhatItLacks", "cursors", WAITS, {Outcome.FAIL, Outcome.CRASH}),
]


@pytest.mark.parametrize(("driver", "suite", "only", "worst"), CASES, ids=[case[0] for case in CASES])
def test_a_bad_driver_gets_a_verdict(
    driver: str, suite: str, only: str, worst: set[Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))  # the drivers run in processes of their own
    result = run(
        adapter=f"python:bad_drivers:{driver}",
        suites=suite,
        out=tmp_path,
        max_examples=4,
        steps=12,
        deadline_ms=700 if driver == "AnswersTooLate" else 10_000,
        pytest_args=("-k", only),
    )
    assert result.exit_code in (ExitCode.CONFORMS, ExitCode.DEVIATES, ExitCode.UNUSABLE)
    assert result.record is not None
    assert result.record.complete
    found = {entry.verdict.outcome for entry in result.record.verdicts}
    assert Outcome.ERROR not in found
    ranked = [each for each in Outcome if each in found]
    assert ranked[0] in worst, ranked
    assert (result.exit_code == ExitCode.CONFORMS) == (ranked[0] is Outcome.PASS)


def test_every_bad_driver_is_listed() -> None:
    kinds = {name for name, each in vars(bad_drivers).items() if isinstance(each, type)}
    made_here = {name for name in kinds if vars(bad_drivers)[name].__module__ == "bad_drivers"}
    assert made_here - {"Sound"} == {case[0] for case in CASES}
