"""Readings on the command line, and runs that must fit one assignment of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests_cli import WholeRun, mqconform, one_sentence

from conformance.embedded.readings import READINGS
from conformance.files import resource
from conformance.harness.failure_verdicts import CONCLUSION
from conformance.runlog import read_run
from conformance.spec.catalogue import catalogue
from conformance.verdict import ExitCode, Outcome

TWO_FACED = f"stdio:{sys.executable} {Path(__file__).parent / 'fakes' / 'follows_both_readings.py'}"
ZERO = "R-MQDMPR-zero-timeout-status"
SOME = ("--suite", "cursors", "--max-examples", "6", "--steps", "15")


def concluded(folder: Path) -> list[tuple[str, str]]:
    return [
        (entry.verdict.requirement, entry.verdict.outcome.value)
        for entry in read_run(folder).verdicts
        if entry.suite == CONCLUSION
    ]


@pytest.mark.parametrize("extra", [[], ["--", "-n", "2"]])
def test_following_both_readings_fails_as_inconsistent(extra: list[str], tmp_path: Path) -> None:
    done = mqconform("run", "--adapter", TWO_FACED, *SOME, "--json", "--out", str(tmp_path), *extra)
    assert done.returncode == ExitCode.DEVIATES, done.stderr
    record = read_run(tmp_path)
    assert record.complete
    # No test fails: each sees one face.
    assert {entry.verdict.outcome for entry in record.verdicts if entry.suite != CONCLUSION} == {Outcome.PASS}
    failed = concluded(tmp_path)
    assert [outcome for _, outcome in failed].count("fail") == 1, "one deviation is one failure"
    assert {outcome for _, outcome in failed} <= {"fail", "inconclusive"}
    assert {name for name, _ in failed} & set(catalogue().readings[ZERO].requirements)
    verdict = next(entry.verdict for entry in record.verdicts if entry.suite == CONCLUSION)
    assert ZERO in (verdict.reason or "")
    assert verdict.evidence is not None
    sights = verdict.evidence.data["followed"]
    assert len(sights) == 2
    assert all(sight["subject"] and sight["where"] for sight in sights.values())
    assert json.loads(done.stdout)["readings_followed"][ZERO] == "both ways"
    assert "Readings followed" in (tmp_path / "report.html").read_text()


def test_one_accepted_alternative_is_all_that_is_taken(tmp_path: Path) -> None:
    done = mqconform("run", "--adapter", TWO_FACED, *SOME, "--reading", f"{ZERO}=by-kind", "--out", str(tmp_path))
    assert done.returncode == ExitCode.DEVIATES
    record = read_run(tmp_path)
    assert record.header.readings[ZERO] == ("by-kind",)
    assert any(entry.verdict.outcome is Outcome.FAIL for entry in record.verdicts if entry.suite != CONCLUSION)
    repros = sorted((tmp_path / "repros").glob("*.json"))
    assert repros
    assert json.loads(repros[0].read_text())["chosen"] == {ZERO: "by-kind"}
    # By the other alternative the honest implementation is the one that deviates.
    turned = ("--adapter", "embedded", "--reading", f"{ZERO}=message-not-found")
    assert mqconform("repro", str(repros[0]), *turned).returncode == ExitCode.DEVIATES
    # With its own readings nothing fails; but it is another implementation that is asked.
    assert mqconform("repro", str(repros[0]), "--adapter", "embedded").returncode == ExitCode.NOTHING_JUDGED


def test_what_a_run_infers_is_what_the_implementation_says(whole_run: WholeRun) -> None:
    done = whole_run.done
    assert done.returncode == ExitCode.CONFORMS
    followed = json.loads(done.stdout)["readings_followed"]
    declared = {name: chosen for name, chosen in followed.items() if name in READINGS}
    assert len(declared) >= 20
    assert {name for name, chosen in declared.items() if READINGS[name] not in chosen.split(" or ")} == set()
    # Where it follows an accepted alternative that is not the first, the run says so, and that is no deviation.
    unlike = [
        entry.verdict for entry in read_run(whole_run.folder).verdicts if entry.verdict.outcome is Outcome.READING
    ]
    said = {pair for verdict in unlike for pair in verdict.readings}
    assert {("R-MQDMPR-moved-lookup-identifier", "new-at-end"), ("R-MQRR-move-status", "local")} <= said
    assert {(name, chosen) for name, chosen in said if READINGS.get(name) != chosen} == set()
    assert {outcome for _, outcome in concluded(whole_run.folder)} == {"reading"}


@pytest.mark.parametrize(
    ("word", "told"),
    [
        (f"{ZERO}=io-timout", "did you mean io-timeout?"),
        (f"{ZERO}=", "There is no alternative"),
        ("R-MQDMPR-zero-timeout=by-kind", f"did you mean {ZERO}?"),
        (ZERO, "write ID=alternative"),
    ],
)
@pytest.mark.parametrize("command", ["run", "replay", "repro"])
def test_a_wrong_choice_is_told(command: str, word: str, told: str, tmp_path: Path) -> None:
    capture = str(resource("fixtures/captures/consistent-session.pcapng"))
    paths = {"run": [], "replay": [capture], "repro": [str(tmp_path)]}[command]
    assert told in one_sentence(mqconform(command, *paths, "--reading", word), ExitCode.BAD_INPUT)


def test_contradicting_choices_are_told(tmp_path: Path) -> None:
    words = ("--reading", f"{ZERO}=by-kind", "--reading", f"{ZERO}=io-timeout")
    assert "both as by-kind and as io-timeout" in one_sentence(mqconform("run", *words), ExitCode.BAD_INPUT)


def test_replay_takes_a_choice(tmp_path: Path) -> None:
    capture = str(resource("fixtures/captures/mqqb-4.1.pcapng"))
    mqconform("replay", capture, "--reading", "R-MQMQ-body-type=any", "--out", str(tmp_path))
    record = read_run(tmp_path)
    assert record.header.readings["R-MQMQ-body-type"] == ("any",)
    about = [entry.verdict for entry in record.verdicts if entry.verdict.requirement == "MQMQ-2.2.19.3.body-type"]
    assert {verdict.outcome for verdict in about} == {Outcome.PASS}


def test_readings_are_listed_and_shown() -> None:
    listed = json.loads(mqconform("readings", "list", "--json").stdout)
    assert {entry["id"] for entry in listed} == set(catalogue().readings)
    shown = json.loads(mqconform("readings", "show", ZERO, "--json").stdout)
    assert shown["id"] == ZERO
    assert set(shown["defaults"]) == {"windows", "strict", "permissive"}
    assert "by-kind" in mqconform("readings", "show", ZERO).stdout
    assert f"did you mean {ZERO}?" in one_sentence(mqconform("readings", "show", ZERO[:-1]), ExitCode.BAD_INPUT)
