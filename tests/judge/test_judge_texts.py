"""Labels and multicast addresses judged: what is accepted, what is read back, and what a reading decides."""

from __future__ import annotations

import pytest

from conformance.judge.names import (
    MULTICAST_ADDRESS,
    MULTICAST_CLASS,
    MULTICAST_RULE,
    PORT_ZEROS,
    TextCase,
    TextObservation,
    judge_label,
    judge_property,
)
from conformance.spec.catalogue import assignment
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_PROPERTY_VALUE, MQ_ERROR_LABEL_TOO_LONG
from conformance.suites.names.texts import (
    edge_labels,
    edge_multicast_addresses,
    edge_queue_labels,
    queue_label,
)

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
