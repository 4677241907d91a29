"""The model of queue properties by itself: the table, calls as JSON, and judgements no driver at hand shows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.histories.operations.properties import bad, good
from conformance.model import Answer, BadCall, Call, Model, Observation, States
from conformance.model.journals import Attributes
from conformance.model.properties import ROWS, UNLIMITED, Kind, Problem
from conformance.model.property_refusals import CREATE, GET, SET
from conformance.model.state import shown_in
from conformance.spec.catalogue import assignment, catalogue
from conformance.spec.constants.property_ids import QUEUE_PROPERTIES
from conformance.verdict import Outcome, Verdict

FULL = {name: f"PROPID_Q_{name}" for name in ("LABEL", "QUOTA", "JOURNAL", "BASEPRIORITY", "CREATE_TIME")}
PATH = "HOST\\private$\\q"


def model(readings: str = "windows") -> Model:
    return Model(assignment(readings))


def steps(judge: Model, *pairs: tuple[Call, Answer]) -> list[Verdict]:
    """The verdicts of the last call, where properties are judged from the first on."""
    states, verdicts = States(), ()
    for call, answer in ((Call("watch", names=tuple(ROWS)), Answer()), *pairs):
        judged = judge.step(states, call, Observation(answer))
        states, verdicts = judged.states, judged.verdicts
    return list(verdicts)


def done(**values: Any) -> Answer:
    return Answer(values=values)


def gave(**values: Any) -> Answer:
    """The answer of a get."""
    return Answer(values={"properties": values})


def writing(method: str, **values: Any) -> Call:
    return Call(method, queue="q1", values=tuple(values.items()) or None)


def getting(*names: str) -> Call:
    return Call(GET, queue="q1", names=names)


def failed(verdicts: list[Verdict]) -> list[str]:
    return [verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL]


CREATED = (writing(CREATE), done(path_name=PATH))


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
    wrong = writing(SET, **{FULL["JOURNAL"]: 2})
    verdicts = steps(model(), CREATED, (wrong, Answer(None, True)))
    assert [verdict.outcome for verdict in verdicts] == [Outcome.PASS, Outcome.SKIP]
    assert failed(steps(model(), CREATED, (wrong, Answer(None, False)))) == ["MQMQ-2.3.1.4.values"]


def test_two_kinds_of_mistake_have_no_one_code() -> None:
    call = writing(SET, **{FULL["JOURNAL"]: 2, "PROPID_Q_NONE": 1})
    verdicts = steps(model(), CREATED, (call, Answer(0xC00E0001, True)))
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
    creation = (writing(CREATE, **{FULL["BASEPRIORITY"]: 5}), done())
    look = (getting(FULL["BASEPRIORITY"]), gave(**{FULL["BASEPRIORITY"]: value}))
    verdict = steps(model(readings), creation, look)[-1]
    assert (verdict.outcome, verdict.readings) == (outcome, (("R-MQMQ-private-base-priority", assumed),))


def test_a_property_left_out_of_the_answer_was_not_given() -> None:
    look = (getting(FULL["LABEL"], FULL["QUOTA"]), gave(**{FULL["LABEL"]: ""}))
    assert failed(steps(model(), CREATED, look)) == ["MQMP-3.1.4.9.get"]


def test_whose_doing_a_value_is() -> None:
    """The same wrong value is blamed on what was done last."""
    look = (getting(FULL["QUOTA"]), gave(**{FULL["QUOTA"]: 5}))
    other = (writing(SET, **{FULL["LABEL"]: "x"}), done())
    refused = (writing(SET, **{FULL["LABEL"]: 5}), Answer(0xC00E0018, True))
    kept = (writing(SET, **{FULL["QUOTA"]: 9}), done())
    restart = (Call("restart"), done())
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
    gone = (Call("queues.delete", queue="q1"), done())
    assert failed(steps(model(), CREATED, gone, (getting("PROPID_Q_LABEL"), done()))) == ["MQMP-3.1.4.9.unknown-queue"]


def test_a_clock_that_ran_backwards_leaves_no_time_to_have_been_made() -> None:
    creation = (writing(CREATE), done(began_ms=90_000, ended_ms=30_000))
    look = (getting(FULL["CREATE_TIME"]), gave(**{FULL["CREATE_TIME"]: 60}))
    assert failed(steps(model(), creation, look)) == ["MQDMPR-3.1.7.1.3.create-time"]


def test_calls_as_json() -> None:
    call = writing(SET, **{FULL["LABEL"]: "x", FULL["QUOTA"]: 5})
    assert Call.from_json(json.loads(json.dumps(call.to_json()))) == call
    assert Call.from_json(getting("a", "b").to_json()) == getting("a", "b")
    for wrong in ({"queue": 5}, {"values": {"a": 0.5}}, {"values": []}, {"names": "a"}, {"names": [5]}):
        with pytest.raises(BadCall):
            Call.from_json({"method": SET, **wrong})


def test_properties_judged_late_have_what_the_creation_gave() -> None:
    """No call has asked for properties when the queue is created."""
    judge, states = model(), States()
    for call in (Call(CREATE, queue="q1", journaling=True, quota_kb=7, transactional=True), getting(FULL["LABEL"])):
        answer = gave(**{FULL["LABEL"]: ""}) if call.names else done()
        states = judge.step(states, call, Observation(answer)).states
    names = (FULL["JOURNAL"], FULL["QUOTA"], "PROPID_Q_TRANSACTION", "PROPID_Q_JOURNAL_QUOTA")
    for values, wrong in (
        ((1, 7, 1, UNLIMITED), []),
        ((0, 7, 1, 5), ["attribute-journaling", "default-journal-quota"]),
    ):
        judged = judge.step(states, getting(*names), Observation(gave(**dict(zip(names, values, strict=True)))))
        assert [name.rpartition(".")[2] for name in failed(list(judged.verdicts))] == wrong


def test_a_setting_changes_what_the_queue_keeps() -> None:
    """Journaling and quotas are set: messages are judged by them from then on."""
    judge, states = model(), States()
    calls = [(CREATED[0], done()), (writing(SET, **{FULL["JOURNAL"]: 1, FULL["QUOTA"]: 9}), done())]
    seen = []
    for call, answer in calls:
        states = judge.step(states, call, Observation(answer)).states
        seen.append(states.likely.queues["q1"].attributes)
    assert seen == [None, Attributes(journaling=True, quota=9 * 1024)]
    assert "q1;JOURNAL" in states.likely.queues


def test_every_kind_of_problem_has_a_value() -> None:
    found = {problem[0] for row in WRITTEN for value in bad(row) if (problem := row.problem(value))}
    assert found == {Problem.TYPE, Problem.VALUE}
