"""Identity of classes: a description that follows the document passes, and each part of it can be wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.activex import identity, library
from conformance.activex.expected import Readings
from conformance.spec.catalogue import catalogue
from conformance.spec.constants.interfaces import COCLASSES
from conformance.verdict import Outcome
from tools import declarations

Change = Callable[[dict[str, Any]], None]


def failed(coclass: str, change: Change, readings: Readings | None = None) -> set[str]:
    """Return the requirements that fail for a description of which each interface is changed."""
    shown = [
        {**one, "members": [{**m, "arguments": [dict(a) for a in m["arguments"]]} for m in one["members"]]}
        for one in identity.ideal(coclass)
    ]
    for one in shown:
        change(one)
    return {one.requirement for one in identity.described(coclass, shown, readings) if one.outcome is Outcome.FAIL}


def members(change: Change) -> Change:
    def changed(interface: dict[str, Any]) -> None:
        for member in interface["members"]:
            change(member)

    return changed


def arguments(change: Change) -> Change:
    def changed(member: dict[str, Any]) -> None:
        for one in member["arguments"]:
            change(one)

    return members(changed)


def nothing(_: dict[str, Any]) -> None:
    """Leave a description as it is."""


@pytest.mark.parametrize("coclass", library.classes())
def test_what_follows_the_document_passes_and_what_lacks_its_members_does_not(coclass: str) -> None:
    assert failed(coclass, nothing) == set()
    judged = {one.requirement for one in identity.described(coclass, identity.ideal(coclass))}
    assert failed(coclass, lambda one: one.update(iid="0" * 8, members=[])) == judged
    assert {one.requirement for one in identity.described(coclass, []) if one.outcome is Outcome.FAIL} == judged


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda one: one.update(base="IUnknown"), {"MQAC-6.imsmq-queue4-interface"}),
        (lambda one: one.update(iid=one["iid"].upper()), set()),
        (members(lambda one: one.update(slot=one["slot"] + 1)), {"MQAC-3.11.4.1.6.close-method"}),
        (members(lambda one: one.update(name="x")), {"MQAC-3.11.4.1.6.close-method", "MQAC-3.11.4.close-revisions"}),
        (members(lambda one: one.update(kind="put")), {"MQAC-3.11.4.1.6.close-method", "MQAC-3.11.4.close-revisions"}),
        (arguments(lambda one: one.update(vt="I8")), {"MQAC-3.11.4.1.14.receive-method"}),
        (arguments(lambda one: one.update(name="x")), {"MQAC-3.11.4.1.14.receive-method"}),
        (arguments(lambda one: one["flags"].clear()), {"MQAC-3.11.4.1.14.receive-method"}),
    ],
)
def test_each_part_of_a_description_is_compared(change: Change, wrong: set[str]) -> None:
    found = failed("MSMQQueue", change)
    assert wrong <= found if wrong else found == set()


def test_what_a_driver_cannot_see_is_not_judged() -> None:
    assert failed("MSMQQueue", arguments(lambda one: (one.pop("vt"), one.pop("flags"), None)[-1])) == set()
    assert failed("MSMQQueue", members(lambda one: (one.pop("slot"), one.update(arguments=[]), None)[-1])) == set()


def test_a_member_that_came_later_is_in_no_earlier_revision() -> None:
    def early(interface: dict[str, Any]) -> None:
        if interface["name"] == "IMSMQQueue":
            interface["members"].append({"name": "Receive", "kind": "method", "slot": 20, "arguments": []})

    assert "MQAC-3.11.4.receive-revisions" in failed("MSMQQueue", early)


def test_a_dispinterface_may_be_told_by_the_interface_it_extends() -> None:
    def based(base: str) -> Change:
        return lambda one: one.update(base=base) if one["name"] == "_DMSMQEventEvents" else None

    assert failed("MSMQEvent", based("IDispatch")) == set()
    assert failed("MSMQEvent", based("IUnknown")) == {"MQAC-6.dmsmq-event-events-interface"}


def test_a_method_that_type_libraries_have_as_a_property_is_either() -> None:
    def read(member: dict[str, Any]) -> None:
        member["kind"] = "get" if member["name"] == "ActiveQueues" else member["kind"]

    letter = failed("MSMQApplication", members(read), {identity.KIND: ("method",)})
    own = {"MQAC-3.2.4.3.1.active-queues-method", "MQAC-3.2.4.active-queues-revisions"}
    assert letter == own | {"MQAC-6.imsmq-application3-interface"}
    assert failed("MSMQApplication", members(read)) == set()
    assert failed("MSMQApplication", members(lambda one: one.update(kind="put"))) >= own


def test_events_are_told_by_their_dispatch_identifiers() -> None:
    assert "MQAC-3.16.4.4.1.arrived-method" in failed("MSMQEvent", members(lambda one: one.update(dispid=7)))


def test_a_connection_point_may_be_an_object_of_its_own() -> None:
    iid = library.interfaces()["IConnectionPoint"].iid
    refused = list(identity.answers("MSMQEvent", iid, identity.E_NOINTERFACE, False))
    assert [(one.outcome, one.readings) for one in refused] == [(Outcome.PASS, ((identity.POINT, "beside"),))]
    assert {one.outcome for one in identity.answers("MSMQEvent", iid, 0x80004005, False)} == {Outcome.FAIL}


def test_queries_hand_out_the_object_itself() -> None:
    for coclass in library.classes():
        for iid in identity.queried(coclass):
            right = [one.outcome for one in identity.answers(coclass, iid, 0, True)]
            assert right and set(right) == {Outcome.PASS}
            for status, same in ((0, False), (identity.E_NOINTERFACE, False)):
                found = identity.answers(coclass, iid, status, same, {identity.POINT: ("object",)})
                assert {one.outcome for one in found} == {Outcome.FAIL}


def test_a_class_that_is_described_can_be_made_and_has_its_identifier() -> None:
    for coclass in library.classes():
        assert [one.outcome for one in identity.identified(coclass, 0, None)] == [Outcome.SKIP]
        assert [one.outcome for one in identity.identified(coclass, 0, COCLASSES[coclass])] == [Outcome.PASS]
        assert [one.outcome for one in identity.identified(coclass, 0, "0" * 8)] == [Outcome.FAIL]
        assert [one.outcome for one in identity.identified(coclass, 0x80040154, None)] == [Outcome.FAIL]


def test_every_entry_on_identity_is_judged() -> None:
    claimed = {name for coclass in library.classes() for name in identity.claimed(coclass)}
    wanted = {
        entry.id
        for entry in catalogue()
        if entry.document == "MC-MQAC" and entry.checked == "call" and entry.kind in ("interface", "method", "constant")
    }
    assert wanted - claimed == set()


def test_the_declarations_are_those_of_the_document(documents: Path) -> None:
    assert declarations.main(["--spec", str(documents), "--check"]) == 0
