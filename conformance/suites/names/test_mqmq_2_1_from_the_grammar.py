"""MS-MQMQ 2.1: names made from the grammar, and names one edit away from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from conformance.harness.hypothesis_settings import from_options
from conformance.judge.names import FORMAT_NAME, FORMS, ILLEGAL_FORMAT_NAME, ILLEGAL_PATH_NAME, PATH_NAME, NameCase
from conformance.spec.catalogue import catalogue
from conformance.suites.names.checks import Need, alive, inconclusive, observe, section, send
from conformance.suites.names.generated import (
    BLAME,
    lookalike_cases,
    miss_cases,
    other_version_cases,
    sure_cases,
    witness_cases,
)
from conformance.suites.names.texts import HOSTILE, REQUIREMENTS, judge_hostile
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

_SECTIONS = {PATH_NAME: ("2.1.1",), FORMAT_NAME: ("2.1.2", "2.1.3", "2.1.4", "2.1.5", "2.1.6")}


def _claims(*numbers: str) -> tuple[str, ...]:
    """All that may be said about the names of these sections; what a manager gives out is judged where it does."""
    of = tuple(f"MQMQ-{number}." for number in numbers)
    known = catalogue().requirements.items()
    names = [
        name
        for name, demand in known
        if name.startswith(of) and (demand.checked, demand.role) == ("grammar", "receiver")
    ]
    codes = {ILLEGAL_PATH_NAME if number == "2.1.1" else ILLEGAL_FORMAT_NAME for number in numbers}
    prefix = [] if numbers == ("2.1.1",) or "2.1.2" in numbers else ["MQMQ-2.1.2.prefix-reject"]
    return (*names, *prefix, *sorted(codes))


def _by_form(*forms: str) -> list[Any]:
    every = {**_SECTIONS, "multiple_element": ("2.1.7",)}
    return [pytest.param(each, marks=pytest.mark.requirement(*_claims(*every[each]))) for each in forms]


def _by_rule() -> list[Any]:
    return [pytest.param(rule, marks=pytest.mark.requirement(*_claims(number))) for rule, (_, number) in BLAME.items()]


def _usable(number: str, judge: Recorder, mq: Port) -> bool:
    """Return True if the valid name of a section is accepted; otherwise refusals prove nothing."""
    chosen = section(number)
    if observe(mq.call("names.parse", text=chosen.control, form=chosen.form)).accepted:
        judge.looked("control")
        return True
    judge.record(inconclusive(chosen.cases[0].requirement, f"the valid name {chosen.control} is refused too"))
    return False


def _judge_one(case: NameCase, mq: Port, judge: Recorder) -> None:
    judge.begin_example("name", {"case": case.to_json()})
    send(case, mq, judge)


@pytest.mark.parametrize("form", _by_form(*FORMS))
def test_names_of_the_grammar(form: str, mq: Port, judge: Recorder, mq_need: Need, run_options: RunOptions) -> None:
    """Names that every reading of the rules has are accepted and taken apart."""
    mq_need("names.parse")

    @from_options(run_options, share=0.25)
    @given(sure_cases(form, judge.profile))
    def run(case: NameCase) -> None:
        _judge_one(case, mq, judge)

    run()


@pytest.mark.parametrize("rule", _by_rule())
def test_near_misses(rule: str, mq: Port, judge: Recorder, mq_need: Need, run_options: RunOptions) -> None:
    """Texts one edit away from a name, which no reading has, are refused, and the valid name is what it was."""
    mq_need("names.parse")
    chosen = section(BLAME[rule][1])
    if not _usable(chosen.number, judge, mq):
        return
    valid = {"text": chosen.control, "form": chosen.form}
    before = observe(mq.call("names.parse", **valid))

    @from_options(run_options, share=0.25)
    @given(miss_cases(rule, judge.profile))
    def run(case: NameCase) -> None:
        _judge_one(case, mq, judge)

    run()
    alive(judge, chosen.cases[0].requirement, valid, before, observe(mq.call("names.parse", **valid)))


@pytest.mark.parametrize("rule", _by_rule())
def test_lookalikes(rule: str, mq: Port, judge: Recorder, mq_need: Need) -> None:
    """A keyword, digit or mark with a character that only looks or folds like its own is another one."""
    mq_need("names.parse")
    if not _usable(BLAME[rule][1], judge, mq):
        return
    for case in lookalike_cases(rule, judge.profile):
        _judge_one(case, mq, judge)


@pytest.mark.parametrize("form", _by_form(PATH_NAME, FORMAT_NAME))
def test_names_of_one_version(form: str, mq: Port, judge: Recorder, mq_need: Need, run_options: RunOptions) -> None:
    """Names the run's MSMQ version has and another lacks are accepted; those it lacks are refused."""
    mq_need("names.parse")
    if not all(_usable(number, judge, mq) for number in _SECTIONS[form][:1]):
        return

    @from_options(run_options, share=0.25)
    @given(other_version_cases(form, judge.profile))
    def run(case: NameCase) -> None:
        _judge_one(case, mq, judge)

    run()


@pytest.mark.parametrize("form", _by_form(*FORMS))
def test_witnesses(form: str, mq: Port, judge: Recorder, mq_need: Need) -> None:
    """The shortest texts on which the alternatives of a reading differ: the verdict names the one that is followed."""
    mq_need("names.parse")
    for case in witness_cases(form, judge.profile):
        _judge_one(case, mq, judge)


@pytest.mark.requirement(*REQUIREMENTS, section("2.1.1").cases[0].requirement)
@pytest.mark.parametrize("kind", ["surrogate", "other"])
def test_hostile_names(kind: str, mq: Port, judge: Recorder, mq_need: Need) -> None:
    """Names as long as a line, with NUL, controls or lone surrogates are refused, and a valid name is still one.

    Lone surrogates come apart: a driver whose JSON refuses them ends its own test alone.
    """
    mq_need("names.parse")
    if not all(_usable(number, judge, mq) for number in ("2.1.1", "2.1.2")):
        return
    for name in HOSTILE:
        if ("surrogate" in name) == (kind == "surrogate"):
            judge.begin_example("hostile-name", {"hostile": name})
            verdict, told = judge_hostile(name, mq)
            judge.step(f"parse {name}", None, told)
            judge.record(verdict)
    chosen = section("2.1.1")
    seen = observe(mq.call("names.parse", text=chosen.control, form=chosen.form))
    outcome = Outcome.PASS if seen.accepted else Outcome.FAIL
    wanted = {"accepted": True}
    judge.record(
        Verdict(chosen.cases[0].requirement, outcome, "a valid name after hostile ones", wanted, seen.to_json())
    )
