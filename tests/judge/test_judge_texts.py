"""Texts and names in packets, and the expressions of rules."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judge.names import (
    MULTICAST_ADDRESS,
    MULTICAST_CLASS,
    MULTICAST_RULE,
    ONLY,
    PORT_ZEROS,
    Expectation,
    NameCase,
    NameObservation,
    TextCase,
    TextObservation,
    judge_label,
    judge_name,
    judge_property,
    judge_refused_creation,
    judge_refused_open,
)
from conformance.judge.rules import (
    DECIDED,
    And,
    Begins,
    ByteAt,
    Compare,
    Const,
    Expr,
    Field,
    Has,
    In,
    Masked,
    Not,
    Or,
    Plus,
    Rest,
    Times,
    both,
    describe,
    either,
    eq,
    evaluate,
    keys_in,
    ne,
)
from conformance.spec.catalogue import assignment
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_PROPERTY_VALUE, MQ_ERROR_LABEL_TOO_LONG
from conformance.suites.names.texts import edge_labels, edge_multicast_addresses, edge_queue_labels, queue_label
from conformance.verdict import Outcome

WINDOWS, STRICT = assignment("windows"), assignment("strict")
TOO_LONG = TextObservation(False, MQ_ERROR_LABEL_TOO_LONG)
REFUSED = TextObservation(False, MQ_ERROR_ILLEGAL_PROPERTY_VALUE, True, "before")


def told(verdicts: list) -> list[tuple[str, str]]:
    return [(verdict.requirement.partition("-")[2], verdict.outcome.value) for verdict in verdicts]


def kept(value: object) -> TextObservation:
    return TextObservation(True, 0, True, value)


@pytest.mark.parametrize(
    ("label", "seen", "wanted"),
    [
        ("x" * 249, kept("x" * 249), [("3.1.1.12.label-length", "pass"), ("3.1.1.12.label-unchanged", "pass")]),
        ("x" * 249, kept("x" * 248), [("3.1.1.12.label-length", "pass"), ("3.1.1.12.label-unchanged", "fail")]),
        ("x" * 249, TOO_LONG, [("3.1.1.12.label-length", "fail")]),
        ("x" * 250, kept("x" * 250), [("2.4.label-too-long", "fail"), ("3.1.1.12.label-length", "fail")]),
        (
            "\U0001f600" * 125,
            TOO_LONG,
            [("2.4.label-too-long", "pass"), ("3.1.1.12.label-length", "pass"), ("2.4.label-too-long-code", "pass")],
        ),
        (
            "x" * 250,
            REFUSED,
            [("2.4.label-too-long", "pass"), ("3.1.1.12.label-length", "pass"), ("2.4.label-too-long-code", "fail")],
        ),
        (
            "x" * 250,
            TextObservation(False),
            [("2.4.label-too-long", "pass"), ("3.1.1.12.label-length", "pass"), ("2.4.label-too-long-code", "skip")],
        ),
        ("x" * 250, kept("x" * 249), [("2.4.label-too-long", "reading"), ("3.1.1.12.label-length", "reading")]),
        ("x" * 250, TextObservation(True), [("2.4.label-too-long", "inconclusive")]),
        ("a\0b", REFUSED, []),
        ("a\0b", kept("a"), [("3.1.1.12.label-unchanged", "pass")]),
        ("a\0b", kept("a\0b"), [("3.1.1.12.label-unchanged", "pass")]),
        ("a\0b", kept("a b"), [("3.1.1.12.label-unchanged", "fail")]),
    ],
)
def test_labels_of_messages(label: str, seen: TextObservation, wanted: list[tuple[str, str]]) -> None:
    assert told(judge_label(label, seen, WINDOWS)) == wanted


def test_queue_labels_are_counted_as_a_reading_says() -> None:
    case = queue_label("\U0001f600" * 100)
    assert told(judge_property(case, kept(case.text), "before", WINDOWS))[0] == ("2.3.1.8.label-maximum", "reading")
    assert told(judge_property(case, REFUSED, "before", WINDOWS))[0] == ("2.3.1.8.label-maximum", "pass")
    units = assignment("windows", {"R-MQMQ-queue-label-characters": "units"})
    [verdict] = judge_property(case, kept(case.text), "before", units)
    assert told([verdict]) == [("2.3.1.8.label-maximum", "fail")]
    assert verdict.readings == (("R-MQMQ-queue-label-characters", "units"),)


def test_a_refused_value_must_not_be_there() -> None:
    case = TextCase(MULTICAST_ADDRESS, "240.0.0.1:80", MULTICAST_CLASS, {"only": False})
    assert told(judge_property(case, REFUSED, "before", WINDOWS)) == [
        ("2.3.1.23.class-d", "pass"),
        ("3.1.4.10.refused-unchanged", "pass"),
        ("2.4.mq-error-illegal-property-value", "pass"),
    ]
    stays = TextObservation(False, 0xC00E0018, True, case.text)
    assert told(judge_property(case, stays, "before", WINDOWS))[1] == ("3.1.4.10.refused-unchanged", "fail")
    assert told(judge_property(case, kept(case.text), "before", WINDOWS)) == [("2.3.1.23.class-d", "fail")]


@pytest.mark.parametrize(("status", "outcome"), [(0xC00E0018, "pass"), (0xC00E0002, "reading"), (0xC00E0006, "fail")])
def test_a_refused_value_has_its_code(status: int, outcome: str) -> None:
    case = TextCase(MULTICAST_ADDRESS, "240.0.0.1:80", MULTICAST_CLASS, {"only": False})
    found = judge_property(case, TextObservation(False, status, True, "before"), "before", WINDOWS)
    assert told(found)[-1] == ("2.4.mq-error-illegal-property-value", outcome)


def test_how_many_ports_an_address_has_is_a_reading() -> None:
    case = edge_multicast_addresses()[0]
    assert {verdict.outcome.value for verdict in judge_property(case, kept(case.text), None, WINDOWS)} == {"pass"}
    assert told(judge_property(case, kept(case.text), None, STRICT)) == [("2.3.1.23.multicast-address-rule", "fail")]
    assert told(judge_property(case, kept("other"), None, WINDOWS))[1] == ("2.3.1.23.multicast-address-rule", "fail")


def test_a_port_with_zeros_presupposes_one_port_and_may_lose_them() -> None:
    alternatives = {"refused": False, "accepted": True}
    given = ("R-MQMQ-multicast-address", "one")
    case = TextCase(MULTICAST_ADDRESS, "234.1.1.1:01801", MULTICAST_RULE, alternatives, PORT_ZEROS, given)
    assert judge_property(case, kept(case.text), None, STRICT) == []
    assert len(judge_property(case, kept("234.1.1.1:1801"), None, WINDOWS)) == 1
    assert TextCase.from_json(case.to_json()) == case


def test_every_run_tries_both_sides_of_each_limit() -> None:
    lengths = {len(label.encode("utf-16-le")) // 2 for label in edge_labels()}
    assert {0, 249, 250} <= lengths
    accepted = {next(iter(case.accepted.values())) for case in edge_queue_labels()}
    assert accepted == {True, False}


PARTS = {"computer": "HOST", "scope": "private", "queue": "q"}
ACCEPTED = Expectation(True, "path", PARTS)
REFUSED_NAMES = Expectation(False)
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
        expected={"unicode": (Expectation(True, "path", parts),), "letter": (REFUSED_NAMES,)},
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
    refusing = case(REFUSED_NAMES, requirement="MQMQ-2.1.1.queue-name-plus-reject")
    code = "illegal-queue-pathname"
    assert outcomes(refusing, seen(ILLEGAL)) == {"queue-name-plus-reject": Outcome.PASS, code: Outcome.PASS}
    assert outcomes(refusing, seen(0xC00E0006)) == {"queue-name-plus-reject": Outcome.PASS, code: Outcome.FAIL}


def test_refused_without_codes() -> None:
    observation = NameObservation.of(None, {}, {"kind": "ValueError", "text": "no"})
    found = outcomes(case(REFUSED_NAMES, form="format_name"), observation)
    assert found == {"private-path": Outcome.PASS, "illegal-formatname": Outcome.SKIP}


def test_accepts_what_must_be_refused() -> None:
    verdicts = judge_name(case(REFUSED_NAMES), seen(kind="path", parts=PARTS), BOTH)
    assert [verdict.outcome for verdict in verdicts] == [Outcome.FAIL]
    assert verdicts[0].evidence is not None
    again = NameCase.from_json(verdicts[0].evidence.data["case"])
    assert again == case(REFUSED_NAMES)


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
    agreed = case(expected={"unicode": (ACCEPTED,), "letter": (ACCEPTED, REFUSED_NAMES)}, reading=READING)
    verdict = judge_name(agreed, seen(kind="path", parts=PARTS), BOTH)[0]
    assert (verdict.outcome, verdict.readings) == (Outcome.PASS, ())


@pytest.mark.parametrize(
    "judged", [case(ACCEPTED), case(REFUSED_NAMES, since="msmq-2.0", until="msmq-3.0"), disputed()]
)
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


TRUE, FALSE, UNKNOWN = Const(True), Const(False), Field("missing")


@pytest.mark.parametrize(
    ("expr", "value"),
    [
        (Field("n"), 6),
        (UNKNOWN, None),
        (eq("n", 6), True),
        (ne("n", 6), False),
        (eq("n", Field("m")), False),
        (Compare("lt", Field("n"), Const(7)), True),
        (Compare("gt", Field("n"), UNKNOWN), None),
        (Compare("le", Field("n"), Const(6)), True),
        (Compare("ge", Field("n"), Const(7)), False),
        (In(Field("n"), (1, 6)), True),
        (In(UNKNOWN, (1,)), None),
        (Masked(Field("n"), 3), 2),
        (Plus(Field("n"), Field("m")), 9),
        (Times(Field("n"), 4), 24),
        (Rest(Field("n"), 4), 2),
        (ByteAt("b", 1), 0x22),
        (ByteAt("b", 2), None),
        (Begins("t", "direct="), True),
        (Begins("t", "OS:"), False),
        (Begins("missing", "OS:"), None),
        (And((TRUE, UNKNOWN)), None),
        (And((UNKNOWN, FALSE)), False),
        (And((TRUE, TRUE)), True),
        (Or((FALSE, UNKNOWN)), None),
        (Or((UNKNOWN, TRUE)), True),
        (Or((FALSE, FALSE)), False),
        (Not(FALSE), True),
        (Not(UNKNOWN), None),
    ],
)
def test_value_of_a_tree(expr: Expr, value: object) -> None:
    assert evaluate(expr, {"n": 6, "m": 3, "b": b"\x11\x22", "t": "DIRECT=OS:a\\q"}) == value


@pytest.mark.parametrize(("decided", "value"), [(True, False), (False, None)])
def test_absence_is_known_only_when_everything_was_decoded(decided: bool, value: object) -> None:
    assert evaluate(Has("missing"), {DECIDED: decided}) is value
    assert evaluate(Has("n"), {"n": 0, DECIDED: decided}) is True


def test_a_tree_tells_what_it_says_and_looks_at() -> None:
    expr = both(eq("a.b", 0x524F494C), either(ne("c", 1), Not(Has("d"))))
    assert describe(expr) == "a.b = 0x524f494c and (c ≠ 1 or not d present)"
    assert list(keys_in(expr)) == ["a.b", "c", "d"]
