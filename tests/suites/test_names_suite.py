"""The suite `names` passes an honest parser and finds each defective one at the requirement it breaks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import honest_names as parsers
import pytest
from honest_names import InMemoryClient

from conformance.adapter.session import Result
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.spec.catalogue import assignment, catalogue
from conformance.suites.names import rejudge
from conformance.suites.names.checks import check, section
from conformance.verdict import Outcome, Verdict

SECTIONS = [f"2.1.{last}" for last in range(1, 8)]


@dataclass
class Outcomes:
    """What the suite said of a parser: outcomes counted by requirement, and what failed first for each check."""

    counts: Counter[tuple[str, Outcome]] = field(default_factory=Counter)
    failures: dict[str, ConformanceFailure] = field(default_factory=dict)

    def sink(self, verdict: Verdict, times: int) -> None:
        self.counts[verdict.requirement, verdict.outcome] += times


def run(parser: parsers.HonestNames, *, level: str = "must", readings: str = "windows") -> Outcomes:
    options = RunOptions("msmq-4.0", level, assignment(readings), readings, 0, 1, 1)
    found = Outcomes()
    client: Any = InMemoryClient(parser)
    for number in SECTIONS:
        for name in section(number).by_requirement():
            judge = Recorder(options, found.sink)
            try:
                check(number, name, client, judge, lambda *_: None)
            except ConformanceFailure as failure:
                found.failures[name] = failure
            except pytest.skip.Exception:
                continue
            judge.flush()
    return found


def test_honest_parser_passes_everything() -> None:
    found = run(parsers.HonestNames(), level="may")
    assert {name: failure.verdict for name, failure in found.failures.items()} == {}
    assert {outcome for _, outcome in found.counts} == {Outcome.PASS}
    assert len(found.counts) >= 95


@pytest.mark.parametrize(
    ("parser", "breaks"),
    [
        (parsers.AcceptsPlusInQueueName, {"MQMQ-2.1.1.queue-name-plus-reject", "MQMQ-2.1.2.queue-name-reject"}),
        (parsers.RefusesUppercasePrivate, {"MQMQ-2.1.1.keyword-case", "MQMQ-2.1.2.private-queue"}),
        (parsers.TakesPrivateForPublic, {"MQMQ-2.1.1.parts", "MQMQ-2.1.2.parts"}),
        (parsers.ReadsIdentifierAsDecimal, {"MQMQ-2.1.4.parts"}),
        (parsers.TellsMachineAsPublic, {"MQMQ-2.1.6.kind"}),
        (parsers.AcceptsAnyDigit, {"MQMQ-2.1.6.port-range-reject", "MQMQ-2.1.6.octet-zero-reject"}),
        (parsers.StripsSpace, {"MQMQ-2.1.1.computer-alphabet-reject", "MQMQ-2.1.3.trailing-reject"}),
        (parsers.AcceptsEverything, {"MQMQ-2.1.1.separator", "MQMQ-2.1.7.separator-reject", "MQMQ-2.1.1.parts"}),
        (parsers.RefusesEverything, {"MQMQ-2.1.1.public-path", "MQMQ-2.1.7.elements"}),
        (parsers.BreaksAfterHostileName, {"MQMQ-2.1.1.computer-too-long"}),
    ],
)
def test_defect_is_found(parser: type[parsers.HonestNames], breaks: set[str]) -> None:
    found = run(parser())
    broken = {failure.verdict.requirement for failure in found.failures.values()}
    assert breaks <= broken


def test_a_wrong_code_is_a_warning_below_its_level() -> None:
    demand = "MQMQ-2.4.illegal-queue-pathname"
    lax, exact = run(parsers.WrongCode()), run(parsers.WrongCode(), level="should")
    assert not lax.failures
    assert lax.counts[demand, Outcome.WARN] > 0
    assert {failure.verdict.requirement for failure in exact.failures.values()} == {demand}


def test_whoever_refuses_every_name_is_not_praised_for_refusing() -> None:
    counts = run(parsers.RefusesEverything()).counts
    refusals = {name for name in catalogue().requirements if name.startswith("MQMQ-2.1.") and "reject" in name}
    passed = {name for (name, outcome) in counts if outcome is Outcome.PASS} & refusals
    disputed = {name for reading in catalogue().readings.values() for name in reading.requirements}
    assert passed <= disputed


def test_windows_answers_are_readings_under_the_letter() -> None:
    broken = run(parsers.HonestNames(), readings="strict").failures
    assert "MQMQ-2.1.6.port" in broken
    assert "MQMQ-2.1.3.journal" in broken
    assert "MQMQ-2.1.3.public" not in broken


def test_a_failure_can_be_judged_again_from_its_repro() -> None:
    found = run(parsers.AcceptsPlusInQueueName())
    failure = found.failures["MQMQ-2.1.1.queue-name-plus-reject"]
    options = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 1, 1)
    faulty: Any = InMemoryClient(parsers.AcceptsPlusInQueueName())
    honest: Any = InMemoryClient(parsers.HonestNames())
    assert rejudge.rejudge(failure.repro, faulty, options)[0].outcome is Outcome.FAIL
    assert rejudge.rejudge(failure.repro, honest, options)[0].outcome is Outcome.PASS


@pytest.mark.parametrize("repro", [{"kind": "name"}, {"kind": "packet"}, {"kind": "open-name", "access": "send"}])
def test_a_foreign_repro_is_refused(repro: dict[str, str]) -> None:
    options = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 1, 1)
    client: Any = InMemoryClient(parsers.HonestNames())
    client.offers = lambda method: False
    client.hello = type("Hello", (), {"computer": "HOST"})()
    client.call = lambda method, **params: Result(0, {"queue": "h"}, None)
    with pytest.raises(rejudge.NotRepeatable):
        rejudge.rejudge(repro, client, options)
