"""Judging of answers: ideal ones pass, and each requirement that a plan judges fails for some wrong answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.activex import library
from conformance.activex.expected import Held, Invoke, Seen
from conformance.activex.members import all_cells
from conformance.activex.plans import Act
from conformance.activex.reference_answers import judged, played
from conformance.activex.scenes import all_plans, caught_in_reads
from conformance.activex.services import SERVICES
from conformance.activex.step import moved, new, step
from conformance.activex.tables import CLASSES
from conformance.activex.values import Variant, long, octets, text
from conformance.report.coverage import covered
from conformance.spec.catalogue import catalogue
from conformance.suites.objects.senders import EVERY_STORY
from conformance.verdict import Outcome, Verdict

BESIDE = frozenset(
    {
        *("Initialization", "QueryInterface", "Advise", "Unadvise", "EnableNotification"),
        *("PublicName", "DirectoryPath", "DirectoryEntry"),
    }
)
"""Names in cells that stand for something else than a member: how an object begins, what IUnknown and connection points
do, and events of the text that several members raise.
"""
READINGS = {"R-MQAC-new-message-defaults": ("as-listed",)}


def failures(held: Held, call: Invoke, seen: Seen) -> set[str]:
    return {verdict.requirement for verdict in fails(held, call, seen)}


def fails(held: Held, call: Invoke, seen: Seen) -> list[Verdict]:
    return [verdict for verdict in step(held, call, seen, READINGS)[1] if verdict.outcome is Outcome.FAIL]


@pytest.mark.parametrize("reading_set", ["windows", "strict", "permissive"])
def test_ideal_answers_pass(reading_set: str) -> None:
    readings = {name: reading.defaults[reading_set] for name, reading in catalogue().readings.items()}
    for _, act, _, _, verdicts in played(all_plans(), readings):
        assert {verdict.outcome for verdict in verdicts} <= {Outcome.PASS}, act


def test_each_requirement_that_a_plan_judges_can_fail() -> None:
    plans = tuple(all_plans())
    assert set(judged(plans)) - caught_in_reads(plans) == set()


def test_plans_survive_json() -> None:
    for plan in all_plans():
        assert tuple(Act.from_json(act.to_json()) for act in plan) == plan


def test_cells_are_of_members_and_name_what_can_be_checked() -> None:
    known = catalogue().requirements
    for key, columns in all_cells().items():
        coclass, name, kind = key.split(".")
        if name not in BESIDE and kind != "item":
            members = CLASSES.get(coclass) or SERVICES[coclass]
            assert members[name].slot(kind) is not None, key  # type: ignore[arg-type]
        for names in columns.values():
            assert [one for one in names if not known[one].checkable or known[one].needs] == []


def test_an_entry_of_a_member_that_a_client_can_see_has_a_cell() -> None:
    """All but those of a NULL out pointer, which no late-bound client can give, and what a suite of its own judges."""
    elsewhere = {name for name, suites in covered().suites.items() if set(suites) - {"objects"}}
    listed = {name for columns in all_cells().values() for names in columns.values() for name in names}
    listed |= {name for names in library.of_members().values() for name in names}
    listed |= {name for _, demands in EVERY_STORY.values() for name in demands}
    sections = {slot.section for members in CLASSES.values() for member in members.values() for slot in member.slots}
    missing = [
        entry.id
        for entry in catalogue()
        if entry.document == "MC-MQAC"
        and entry.section in sections
        and entry.checkable
        and entry.needs is None
        and entry.id not in listed | elsewhere
        and "is NULL" not in entry.says
    ]
    assert missing == []


def test_a_put_that_is_not_kept_is_the_putters_fault_first() -> None:
    held = moved(new("MSMQMessage"), Invoke("Priority", "put", (long(7),)), Seen(0))
    found = fails(held, Invoke("Priority", "get"), Seen(0, long(3)))
    assert found[0].requirement.startswith("MQAC-3.17.4.1.12.")
    assert found[0].expected == {"value": {"vt": "I4", "value": 7}}
    assert failures(held, Invoke("Priority", "get"), Seen(0, long(7))) == set()
    assert failures(held, Invoke("Priority", "get"), Seen(0, Variant("I2", 7)))


def test_a_refused_put_changes_nothing() -> None:
    held = moved(new("MSMQMessage"), Invoke("Priority", "put", (long(8),)), Seen(0xC00E0018))
    assert held == new("MSMQMessage")
    assert "MQAC-3.17.3.priority-initial" in failures(held, Invoke("Priority", "get"), Seen(0, long(8)))


def test_that_a_call_is_refused_and_with_which_code_are_two_demands() -> None:
    call = Invoke("Label", "put", (text("x" * 250),))
    code = "MQAC-3.17.4.1.31.return-mq-error-label-too-long"
    refused = "MQAC-3.17.4.1.31.input-bstr-label-parameter-geq"
    assert failures(new("MSMQMessage"), call, Seen(0)) == {refused, code}
    assert failures(new("MSMQMessage"), call, Seen(0x80004005)) == {code}
    assert failures(new("MSMQMessage"), call, Seen(0xC00E005D)) == set()


def test_properties_of_one_attribute_show_each_other() -> None:
    held = moved(new("MSMQMessage"), Invoke("Body", "put", (octets(b"abc"),)), Seen(0))
    assert failures(held, Invoke("BodyLength", "get"), Seen(0, long(3))) == set()
    assert failures(held, Invoke("BodyLength", "get"), Seen(0, long(4)))


def test_the_first_precondition_of_the_text_decides() -> None:
    blank, closed = new("MSMQQueue"), Held("MSMQQueue", "Closed")
    assert failures(blank, Invoke("Reset", "method"), Seen(0xC00E0007))
    assert failures(closed, Invoke("Reset", "method"), Seen(0x80040007))
    assert not failures(closed, Invoke("Reset", "method"), Seen(0xC00E0007))
    attached = Held("MSMQTransaction", "Attached")
    assert not failures(attached, Invoke("InitNew", "method", (text("a"),)), Seen(0xC00E0050))
    assert failures(attached, Invoke("InitNew", "method", (text("a"),)), Seen(0x80070057))


def test_another_reading_of_the_initial_values_judges_none_of_them() -> None:
    call, seen = Invoke("MaxTimeToReachQueue", "get"), Seen(0, long(345600))
    assert failures(new("MSMQMessage"), call, seen)
    both = {"R-MQAC-new-message-defaults": ("as-listed", "as-stored")}
    _, verdicts = step(new("MSMQMessage"), call, seen, both)
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}


def test_judging_leaves_the_object_of_the_caller() -> None:
    held = new("MSMQMessage")
    after = moved(held, Invoke("Label", "put", (text("a"),)), Seen(0))
    assert held.values == {} and after == replace(held, values={"Label": text("a")})
