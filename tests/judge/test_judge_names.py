"""Judging names: honest observations pass, lying ones fail at the requirement they break."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judge.names import (
    ONLY,
    Expectation,
    NameCase,
    NameObservation,
    judge_name,
    judge_refused_creation,
    judge_refused_open,
)
from conformance.verdict import Outcome

PARTS = {"computer": "HOST", "scope": "private", "queue": "q"}
ACCEPTED = Expectation(True, "path", PARTS)
REFUSED = Expectation(False)
READING = "R-MQMQ-queue-name-alphabet"
BOTH = {READING: ("unicode", "letter")}
ILLEGAL = 0xC00E0014


def case(*expected: Expectation, **members: Any) -> NameCase:
    wanted = {ONLY: expected}
    defaults = {
        "text": "HOST\\private$\\q",
        "form": "path_name",
        "rule": "QueuePathName",
        "requirement": "MQMQ-2.1.1.private-path",
        "kind_requirement": "MQMQ-2.1.1.kind",
        "parts_requirement": "MQMQ-2.1.1.parts",
        "expected": wanted,
    }
    return NameCase(**(defaults | members))


def disputed(text: str = "HOST\\a b") -> NameCase:
    parts = {"computer": "HOST", "scope": "public", "queue": "a b"}
    return case(
        text=text,
        requirement="MQMQ-2.1.1.queue-name-space-reject",
        expected={"unicode": (Expectation(True, "path", parts),), "letter": (REFUSED,)},
        reading=READING,
    )


def seen(status: int = 0, **members: Any) -> NameObservation:
    return NameObservation.of(status, members, None)


def outcomes(judged: NameCase, observation: NameObservation, readings: Any = None) -> dict[str, Outcome]:
    verdicts = judge_name(judged, observation, readings or BOTH)
    return {verdict.requirement.split(".", 3)[-1]: verdict.outcome for verdict in verdicts}


def test_accepted_and_understood() -> None:
    found = outcomes(case(ACCEPTED), seen(kind="path", parts=PARTS))
    assert found == {"private-path": Outcome.PASS, "kind": Outcome.PASS, "parts": Outcome.PASS}


def test_success_with_information_is_acceptance() -> None:
    assert outcomes(case(ACCEPTED), seen(0x400E0009, kind="path", parts=PARTS))["private-path"] is Outcome.PASS


@pytest.mark.parametrize(
    ("observation", "broken"),
    [
        (seen(ILLEGAL), "private-path"),
        (seen(kind="direct", parts=PARTS), "kind"),
        (seen(parts=PARTS), "kind"),
        (seen(kind="path", parts=PARTS | {"scope": "public"}), "parts"),
        (seen(kind="path", parts=PARTS | {"queue": "Q"}), "parts"),
        (seen(kind="path", parts=PARTS | {"subqueue": "s"}), "parts"),
        (seen(kind="path", parts={"computer": "HOST", "queue": "q"}), "parts"),
        (seen(kind="path", parts={}), "parts"),
    ],
)
def test_a_lie_about_a_valid_name(observation: NameObservation, broken: str) -> None:
    found = outcomes(case(ACCEPTED), observation)
    assert {name for name, outcome in found.items() if outcome is Outcome.FAIL} == {broken}


def test_parts_that_are_not_told_are_not_judged() -> None:
    assert outcomes(case(ACCEPTED), seen(kind="path"))["parts"] is Outcome.SKIP


def test_protocol_and_guid_have_no_case() -> None:
    wanted = Expectation(True, "direct", {"protocol": "OS", "address": "HOST"})
    direct = case(wanted, form="format_name")
    assert outcomes(direct, seen(kind="direct", parts={"protocol": "os", "address": "HOST"}))["parts"] is Outcome.PASS
    assert outcomes(direct, seen(kind="direct", parts={"protocol": "OS", "address": "host"}))["parts"] is Outcome.FAIL


def test_refused_with_the_right_and_a_wrong_code() -> None:
    refusing = case(REFUSED, requirement="MQMQ-2.1.1.queue-name-plus-reject")
    code = "illegal-queue-pathname"
    assert outcomes(refusing, seen(ILLEGAL)) == {"queue-name-plus-reject": Outcome.PASS, code: Outcome.PASS}
    assert outcomes(refusing, seen(0xC00E0006)) == {"queue-name-plus-reject": Outcome.PASS, code: Outcome.FAIL}


def test_refused_without_codes() -> None:
    observation = NameObservation.of(None, {}, {"kind": "ValueError", "text": "no"})
    found = outcomes(case(REFUSED, form="format_name"), observation)
    assert found == {"private-path": Outcome.PASS, "illegal-formatname": Outcome.SKIP}


def test_accepts_what_must_be_refused() -> None:
    verdicts = judge_name(case(REFUSED), seen(kind="path", parts=PARTS), BOTH)
    assert [verdict.outcome for verdict in verdicts] == [Outcome.FAIL]
    assert verdicts[0].evidence is not None
    again = NameCase.from_json(verdicts[0].evidence.data["case"])
    assert again == case(REFUSED)


PUBLIC = {"computer": "HOST", "scope": "public", "queue": "a b"}


def test_a_disputed_name_follows_the_default() -> None:
    verdict = judge_name(disputed(), seen(kind="path", parts=PUBLIC), BOTH)[0]
    assert (verdict.outcome, verdict.readings) == (Outcome.PASS, ((READING, "unicode"),))


def test_a_disputed_name_follows_another_alternative() -> None:
    verdict = judge_name(disputed(), seen(ILLEGAL), BOTH)[0]
    assert (verdict.outcome, verdict.readings) == (Outcome.READING, ((READING, "letter"),))


def test_a_disputed_name_follows_none_that_is_allowed() -> None:
    verdicts = judge_name(disputed(), seen(kind="path", parts=PUBLIC), {READING: ("letter",)})
    assert [verdict.outcome for verdict in verdicts] == [Outcome.FAIL]
    assert verdicts[0].requirement == "MQMQ-2.1.1.queue-name-space-reject"


def test_a_disputed_name_taken_apart_wrongly_breaks_the_parts() -> None:
    found = outcomes(disputed(), seen(kind="path", parts=PUBLIC | {"queue": "a"}))
    assert found == {"parts": Outcome.FAIL}


def test_a_disputed_name_of_the_wrong_kind_breaks_the_kind() -> None:
    assert outcomes(disputed(), seen(kind="public", parts=PUBLIC)) == {"kind": Outcome.FAIL}


def test_an_answer_several_alternatives_agree_with_takes_no_side() -> None:
    agreed = case(expected={"unicode": (ACCEPTED,), "letter": (ACCEPTED, REFUSED)}, reading=READING)
    verdict = judge_name(agreed, seen(kind="path", parts=PARTS), BOTH)[0]
    assert (verdict.outcome, verdict.readings) == (Outcome.PASS, ())


@pytest.mark.parametrize("judged", [case(ACCEPTED), case(REFUSED, since="msmq-2.0", until="msmq-3.0"), disputed()])
def test_a_case_survives_json(judged: NameCase) -> None:
    assert NameCase.from_json(judged.to_json()) == judged


def test_a_creation_that_leaves_a_queue_behind() -> None:
    found = judge_refused_creation("HOST\\a+b", seen(ILLEGAL), seen(0))
    assert [verdict.outcome for verdict in found] == [Outcome.PASS, Outcome.FAIL, Outcome.PASS]


def test_a_creation_that_is_not_refused() -> None:
    found = judge_refused_creation("HOST\\a+b", seen(0), None)
    assert [verdict.outcome for verdict in found] == [Outcome.FAIL]


def test_an_open_that_is_not_refused() -> None:
    assert [v.outcome for v in judge_refused_open("DIRECT=", "send", seen(0))] == [Outcome.FAIL]
    assert [v.outcome for v in judge_refused_open("DIRECT=", "send", seen(0xC00E001E))] == [Outcome.PASS, Outcome.PASS]
