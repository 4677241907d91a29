"""Sends the cases of a requirement and judges the answers, for the test modules of this suite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from conformance.judge.names import (
    ILLEGAL_FORMAT_NAME,
    ILLEGAL_PATH_NAME,
    PATH_NAME,
    NameCase,
    NameObservation,
    judge_name,
    suffix_requirements,
)
from conformance.suites.names.cases import section
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

Need = Callable[..., None]


def requirements_of(number: str) -> list[Any]:
    """Return pytest parameters: each requirement of a section's fixture, marked with all requirements it may judge."""
    params = []
    for name, cases in section(number).by_requirement().items():
        code = ILLEGAL_PATH_NAME if cases[0].form == PATH_NAME else ILLEGAL_FORMAT_NAME
        accepting = any(each.accepted for case in cases for choices in case.expected.values() for each in choices)
        refusing = any(not each.accepted for case in cases for choices in case.expected.values() for each in choices)
        claims = [name]
        if accepting:
            claims += [cases[0].kind_requirement, cases[0].parts_requirement, *suffix_requirements(cases)]
        if refusing:
            claims.append(code)
        claims = list(dict.fromkeys(claims))
        params.append(pytest.param(name, id=name.split(".")[-1], marks=pytest.mark.requirement(*claims)))
    return params


def check(number: str, requirement: str, mq: Port, judge: Recorder, mq_need: Need) -> None:
    """Send every case of `requirement` that binds the run's profile, and the section's valid name before and after."""
    mq_need("names.parse")
    chosen = section(number)
    cases = [case for case in chosen.by_requirement()[requirement] if case.binds(judge.profile)]
    if not cases:
        judge.not_demanded(f"no name to judge it by in {judge.profile}")
    valid = {"text": chosen.control, "form": chosen.form}
    control = observe(mq.call("names.parse", **valid))
    # An implementation that refuses every name would pass every case that must be refused.
    if not control.accepted and any(case.refused_by_all for case in cases):
        judge.record(inconclusive(requirement, f"the valid name {chosen.control} is refused too"))
        return
    if control.accepted:
        judge.looked("control")
    for case in cases:
        judge.begin_example("name", {"case": case.to_json()})
        send(case, mq, judge)
    judge.begin_example("name", {"case": cases[-1].to_json()})
    alive(judge, requirement, valid, control, observe(mq.call("names.parse", **valid)))


def send(case: NameCase, mq: Port, judge: Recorder) -> None:
    """Call names.parse with one case and record the verdicts."""
    params = {"text": case.text, "form": case.form}
    result = mq.call("names.parse", **params)
    seen = observe(result)
    judge.step(f"parse {case.text!r} as {case.form}", {"method": "names.parse", "params": params}, seen.to_json())
    phase = "names to be refused" if case.refused_by_all else "names to be accepted"
    judge.record(*judge_name(case, seen, judge.readings), phase=phase)


def alive(
    judge: Recorder, requirement: str, valid: Mapping[str, str], before: NameObservation, after: NameObservation
) -> None:
    """Judge that, after hostile names, the valid one is parsed as before."""
    judge.looked("liveness")
    if before == after:
        return
    judge.step(f"parse {valid['text']!r} again", {"method": "names.parse", "params": dict(valid)}, after.to_json())
    judge.record(Verdict(requirement, Outcome.FAIL, f"{valid['text']}, again", before.to_json(), after.to_json()))


def observe(result: Result) -> NameObservation:
    """Reduce an answer to what judging needs."""
    failure = {"kind": result.failure.kind, "text": result.failure.text} if result.failure is not None else None
    return NameObservation.of(result.status, result.values, failure)


def inconclusive(requirement: str, reason: str) -> Verdict:
    """Return an inconclusive verdict."""
    return Verdict(requirement, Outcome.INCONCLUSIVE, "valid name first", reason=reason)


def refused_by_all(number: str, profile: str) -> Sequence[NameCase]:
    """Return the cases of a section that no reading accepts and that bind this profile."""
    return [case for case in section(number).cases if case.refused_by_all and case.binds(profile)]
