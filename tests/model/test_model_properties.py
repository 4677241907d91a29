"""The model of queue properties by itself: the table, calls as JSON, and judgements no driver at hand shows."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.model import BadCall
from conformance.model.properties import ROWS, UNLIMITED, Kind, Problem
from conformance.model.property_calls import CREATE, DELETE, GET, RESTART, SET, PropertyAnswer, PropertyCall
from conformance.model.property_judging import PropertyModel
from conformance.model.property_state import PropertyState, shown_in
from conformance.spec.catalogue import assignment, catalogue
from conformance.spec.constants.property_ids import QUEUE_PROPERTIES
from conformance.suites.properties.meanings import bad, good
from conformance.verdict import Outcome, Verdict

FULL = {name: f"PROPID_Q_{name}" for name in ("LABEL", "QUOTA", "JOURNAL", "BASEPRIORITY", "CREATE_TIME")}
PATH = "HOST\\private$\\q"


def model(readings: str = "windows") -> PropertyModel:
    return PropertyModel(assignment(readings), tuple(ROWS), {"q1": PATH, "q2": PATH + "2"})


def steps(judge: PropertyModel, *pairs: tuple[PropertyCall, PropertyAnswer]) -> list[Verdict]:
    """The verdicts of the last call."""
    state, verdicts = PropertyState(), []
    for call, answer in pairs:
        state, verdicts = judge.step(state, call, answer)
    return verdicts


def done(**values: Any) -> PropertyAnswer:
    return PropertyAnswer(0, False, values)


def failed(verdicts: list[Verdict]) -> list[str]:
    return [verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL]


CREATED = (PropertyCall(CREATE, "q1"), done())


def test_the_table_has_the_types_of_the_document() -> None:
    names = {Kind.GUID: "VT_CLSID", Kind.TEXT: "VT_LPWSTR"}
    for row in ROWS.values():
        assert QUEUE_PROPERTIES[row.name].variant_type == names.get(row.kind, f"VT_{row.kind.name}")
        known = (row.shown, row.among, row.given, row.kept, *(row.default[1:] if row.default else ()))
        assert all(name in catalogue().requirements for name in known if name)
        assert row.default is None or row.problem(row.default[0]) is None


WRITTEN = [row for row in ROWS.values() if row.given is not None]


@pytest.mark.parametrize("row", WRITTEN, ids=[row.name for row in WRITTEN])
def test_good_values_are_good_and_bad_ones_bad(row: Any) -> None:
    assert [value for value in good(row) if row.problem(value) is not None] == []
    assert [value for value in bad(row) if row.problem(value) is None] == []


@pytest.mark.parametrize(
    ("kind", "value", "holds"),
    [
        (Kind.UI1, 255, True),
        (Kind.UI1, 256, False),
        (Kind.UI1, -1, False),
        (Kind.UI1, True, False),
        (Kind.UI4, UNLIMITED, True),
        (Kind.UI4, UNLIMITED + 1, False),
        (Kind.I2, -0x8000, True),
        (Kind.I2, 0x8000, False),
        (Kind.I4, 1.5, False),
        (Kind.TEXT, "", True),
        (Kind.TEXT, None, False),
        (Kind.GUID, "6F9619FF-8B86-D011-B42D-00C04FC964FF", True),
        (Kind.GUID, "6F9619FF-8B86-D011-B42D-00C04FC964FF\n", False),
        (Kind.GUID, "{6F9619FF-8B86-D011-B42D-00C04FC964FF}", False),
    ],
)
def test_what_a_type_holds(kind: Kind, value: Any, holds: bool) -> None:
    assert kind.holds(value) == holds


def test_multicast_addresses_came_with_a_later_version() -> None:
    assert "PROPID_Q_MULTICAST_ADDRESS" not in shown_in("msmq-2.0")
    assert "PROPID_Q_MULTICAST_ADDRESS" in shown_in("msmq-3.0")


def test_an_api_without_codes_is_judged_on_failing_alone() -> None:
    wrong = PropertyCall(SET, "q1", {FULL["JOURNAL"]: 2})
    verdicts = steps(model(), CREATED, (wrong, PropertyAnswer(None, True)))
    assert [verdict.outcome for verdict in verdicts] == [Outcome.PASS, Outcome.SKIP]
    assert failed(steps(model(), CREATED, (wrong, PropertyAnswer(None, False)))) == ["MQMQ-2.3.1.4.values"]


def test_two_kinds_of_mistake_have_no_one_code() -> None:
    call = PropertyCall(SET, "q1", {FULL["JOURNAL"]: 2, "PROPID_Q_NONE": 1})
    verdicts = steps(model(), CREATED, (call, PropertyAnswer(0xC00E0001, True)))
    assert [(verdict.requirement, verdict.outcome) for verdict in verdicts] == [("MQMQ-2.3.1.4.values", Outcome.PASS)]


@pytest.mark.parametrize(
    ("readings", "value", "outcome", "assumed"),
    [
        ("windows", 0, Outcome.PASS, "ignored"),
        ("windows", 5, Outcome.READING, "kept"),
        ("windows", 6, Outcome.FAIL, "ignored"),
        ("strict", 5, Outcome.FAIL, "ignored"),
    ],
)
def test_base_priority_by_reading(readings: str, value: int, outcome: Outcome, assumed: str) -> None:
    creation = (PropertyCall(CREATE, "q1", {FULL["BASEPRIORITY"]: 5}), done())
    look = (PropertyCall(GET, "q1", names=(FULL["BASEPRIORITY"],)), done(**{FULL["BASEPRIORITY"]: value}))
    verdict = steps(model(readings), creation, look)[-1]
    assert (verdict.outcome, verdict.readings) == (outcome, (("R-MQMQ-private-base-priority", assumed),))


def test_a_property_left_out_of_the_answer_was_not_given() -> None:
    look = (PropertyCall(GET, "q1", names=(FULL["LABEL"], FULL["QUOTA"])), done(**{FULL["LABEL"]: ""}))
    assert failed(steps(model(), CREATED, look)) == ["MQMP-3.1.4.9.get"]


def test_whose_doing_a_value_is() -> None:
    """The same wrong value is blamed on what was done last."""
    look = (PropertyCall(GET, "q1", names=(FULL["QUOTA"],)), done(**{FULL["QUOTA"]: 5}))
    other = (PropertyCall(SET, "q1", {FULL["LABEL"]: "x"}), done())
    refused = (PropertyCall(SET, "q1", {FULL["LABEL"]: 5}), PropertyAnswer(0xC00E0018, True))
    kept = (PropertyCall(SET, "q1", {FULL["QUOTA"]: 9}), done())
    restart = (PropertyCall(RESTART), done())
    blamed = {
        "MQDMPR-3.1.7.1.33.default-quota": (),
        "MQMP-3.1.4.10.others-unchanged": (other,),
        "MQMP-3.1.4.10.refused-unchanged": (refused,),
        "MQMQ-2.3.1.5.propid-q-quota": (kept,),
        "MQDMPR-3.1.1.2.private-attributes-persistent": (kept, restart),
    }
    for requirement, calls in blamed.items():
        assert failed(steps(model(), CREATED, *calls, look)) == [requirement]


def test_a_queue_deleted_is_not_there() -> None:
    gone = (PropertyCall(DELETE, "q1"), done())
    assert failed(steps(model(), CREATED, gone, (PropertyCall(GET, "q1", names=("PROPID_Q_LABEL",)), done()))) == [
        "MQMP-3.1.4.9.unknown-queue"
    ]


def test_a_clock_that_ran_backwards_leaves_no_time_to_have_been_made() -> None:
    creation = (PropertyCall(CREATE, "q1"), PropertyAnswer(0, False, {}, 90_000, 30_000))
    look = (PropertyCall(GET, "q1", names=(FULL["CREATE_TIME"],)), done(**{FULL["CREATE_TIME"]: 60}))
    assert failed(steps(model(), creation, look)) == ["MQDMPR-3.1.7.1.3.create-time"]


def test_calls_as_json() -> None:
    call = PropertyCall(SET, "q1", {FULL["LABEL"]: "x", FULL["QUOTA"]: 5})
    assert PropertyCall.from_json(call.to_json()) == call
    for wrong in ([], {"method": "queues.purge"}, {"method": SET, "queue": 5}, {"method": SET, "values": {"a": 0.5}}):
        with pytest.raises(BadCall):
            PropertyCall.from_json(wrong)


def test_every_kind_of_problem_has_a_value() -> None:
    found = {problem[0] for row in WRITTEN for value in bad(row) if (problem := row.problem(value))}
    assert found == {Problem.TYPE, Problem.VALUE}
