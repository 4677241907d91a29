"""What a client of the objects sees, what is the same object, and that no member lacks its rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.activex import identity, library
from conformance.activex.all_plans import client_plans
from conformance.activex.expected import Readings, Seen
from conformance.activex.plans import Act, Plan, call_on, create
from conformance.activex.plans_queue_info import SEND, created, get, new, opened, path, put
from conformance.activex.plans_send import CONNECTOR, QUEUE, message, receive, send
from conformance.activex.scene_client import client_objects
from conformance.activex.scenes import IDEAL, caught_in_plans, judged, refuted, with_texts
from conformance.activex.values import Variant, long, octets, text
from conformance.spec.catalogue import catalogue
from conformance.spec.constants.interfaces import COCLASSES
from conformance.verdict import Outcome, Verdict
from tools import declarations

PLANS = tuple(client_plans())
READINGS = (
    "R-MQAC-getter-after-put",
    "R-MQAC-format-name-after-create",
    "R-MQAC-format-name-of-path-name",
    "R-MQAC-path-name-conversion",
    "R-MQAC-private-base-priority",
    "R-MQAC-journal-quota-unit",
    "R-MQAC-world-readable",
    "R-MQAC-refresh-machine-queue",
    "R-MQAC-queue-getter-refresh",
    "R-MQAC-send-timers",
    "R-MQAC-send-again",
    "R-MQAC-send-default-transaction",
    "R-MQAC-send-transaction-type",
    "R-MQAC-com-result-values",
    "R-MQAC-transaction-without-context",
    "R-MQAC-commit-behaviour-none",
)
ALTERNATIVES = {name: tuple(catalogue().readings[name].alternatives) for name in READINGS}


def test_ideal_answers_pass() -> None:
    assert refuted(PLANS, client_objects) == ()


@pytest.mark.parametrize("at", range(max(map(len, ALTERNATIVES.values()))))
def test_ideal_answers_pass_under_each_alternative(at: int) -> None:
    readings = {name: (words[min(at, len(words) - 1)],) for name, words in ALTERNATIVES.items()}
    assert refuted(PLANS, client_objects, readings) == ()


def test_each_requirement_that_a_plan_judges_can_fail() -> None:
    assert set(judged(PLANS, client_objects)) - caught_in_plans(PLANS, client_objects) == set()


def test_plans_survive_json() -> None:
    for plan in PLANS:
        assert tuple(Act.from_json(act.to_json()) for act in plan) == plan


def answered(plan: Plan, last: Seen, readings: Readings | None = None) -> set[str]:
    """Play a plan with ideal answers and another one for its last act; return the requirements that fail."""
    scene = client_objects(readings or {}, IDEAL)
    verdicts: tuple[Verdict, ...] = ()
    for at, act in enumerate(plan, 1):
        act = with_texts(act, IDEAL.texts)
        if act.call is None:
            scene.do(act, None)
            continue
        verdicts = scene.do(act, last if at == len(plan) else scene.ideal(act))
    return {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL}


def test_a_getter_shows_what_was_put_or_what_the_queue_has() -> None:
    plan = (*created(), put("a", "Label", text("b")), *get("a", "Label"))
    both, refreshes = None, {"R-MQAC-getter-after-put": ("refreshes",)}
    assert answered(plan, Seen(0, text("b")), both) == answered(plan, Seen(0, text("")), both) == set()
    assert answered(plan, Seen(0, text("b")), refreshes)
    assert answered(plan, Seen(0, text("c")), both)


def test_what_two_alternatives_explain_is_evidence_of_neither() -> None:
    scene = client_objects({}, IDEAL)
    for act in (*created(), new("b"), path("b")):
        spoke = with_texts(act, IDEAL.texts)
        scene.do(spoke, None if spoke.call is None else scene.ideal(spoke))
    name = with_texts(path("b"), IDEAL.texts).call
    assert name is not None
    verdicts = scene.do(get("b", "PathName")[0], Seen(0, name.arguments[0]))
    assert {verdict.readings for verdict in verdicts if verdict.readings} == {
        (("R-MQAC-getter-after-put", "keeps-put|refreshes"),)
    }


def test_two_queues_have_two_identifiers() -> None:
    seen = Seen(0, text("{01234567-89ab-cdef-0123-456789abcdef}"))
    scene = client_objects({}, IDEAL)
    wrong: list[bool] = []
    for act in (*created(), *created("b", "$computer\\private$\\b"), *get("a", "QueueGuid"), *get("b", "QueueGuid")):
        act = with_texts(act, IDEAL.texts)
        if act.call is None:
            scene.do(act, None)
        else:
            one = seen if act.call.member == "QueueGuid" else scene.ideal(act)
            wrong.append(any(verdict.outcome is Outcome.FAIL for verdict in scene.do(act, one)))
    assert wrong[-2:] == [False, True]


@pytest.mark.parametrize(
    ("status", "wrong"),
    [(0xC00E0055, False), (0x80070057, True), (0xC00E003F, True), (0, True)],
)
def test_the_first_precondition_of_send_decides(status: int, wrong: bool) -> None:
    plan = (*QUEUE, message(), put("m", "MsgClass", long(1)), send(how=text("a")))
    assert bool(answered(plan, Seen(status))) == wrong


def test_a_message_that_was_refused_does_not_arrive() -> None:
    plan = (*QUEUE, message(), put("m", "MsgClass", long(1)), send(), receive())
    assert "MQAC-3.17.4.1.48.return-mq-error-missing-connector-type" in answered(
        plan, Seen(0, Variant("DISPATCH", "x"))
    )
    assert answered(plan, Seen(0xC00E0088)) == answered(plan, Seen(0, Variant("DISPATCH"))) == set()


def test_a_received_message_shows_what_was_put() -> None:
    put_it = (put("m", "ConnectorTypeGuid", CONNECTOR), put("m", "SenderId", octets(b"ab")))
    plan = (*QUEUE, message(), *put_it, send(), receive(), *get("r", "SenderId"))
    assert answered(plan, Seen(0, octets(b"ab"))) == set()
    assert answered(plan, Seen(0, octets(b"abc")))


def test_a_second_send_follows_one_reading() -> None:
    plan = (*QUEUE, message(), send(), send())
    assert answered(plan, Seen(0)) == set()
    assert answered(plan, Seen(0xC00E0055), {"R-MQAC-send-again": ("client-puts",)})
    assert answered(plan, Seen(0xC00E0055)) == set()
    assert answered(plan, Seen(0), {"R-MQAC-send-again": ("every-set",)})


def test_a_send_to_a_destination_or_to_a_closed_queue_counts_as_one_before() -> None:
    named = call_on("e", "FormatName", text("DIRECT=OS:$computer\\private$\\other"), kind="put")
    to_destination = (create("MSMQDestination", "e"), named, call_on("e", "Open"), send(to="e"))
    to_closed = (opened("a", "c", SEND), call_on("c", "Close"), send(to="c"))
    for before in (to_destination, to_closed):
        plan = (*QUEUE, message(), *before, send())
        assert answered(plan, Seen(0)) == answered(plan, Seen(0xC00E0055)) == set()
        assert answered(plan, Seen(0xC00E0055), {"R-MQAC-send-again": ("client-puts",)})
        sent = before is to_destination
        assert bool(answered(plan, Seen(0), {"R-MQAC-send-again": ("every-set",)})) == sent
    connected = (*QUEUE, message(), put("m", "ConnectorTypeGuid", CONNECTOR), send(), send())
    assert answered(connected, Seen(0xC00E0055)), "with a connector type it may be sent again by the letter as well"


def test_an_empty_path_name_is_shown_in_any_form_of_null() -> None:
    plan = (new(), call_on("a", "PathName", text(""), kind="put"), *get("a", "PathName"))
    assert answered(plan, Seen(0, Variant("BSTR"))) == answered(plan, Seen(0, text(""))) == set()
    assert answered(plan, Seen(0, text("x")))


def test_a_getter_that_shows_what_was_put_may_have_looked_for_the_queue() -> None:
    plan = (*created(), new("b"), path("b"), *get("b", "PathName", "FormatName"))
    letter = {"R-MQAC-format-name-of-path-name": ("null",)}
    for one in (text(""), text("DIRECT=OS:HOST\\private$\\q")):
        assert answered(plan, Seen(0, one), letter) == set()
    assert answered(plan, Seen(0, text("DIRECT=OS:HOST\\private$\\other")), letter)
    assert answered(
        (*created(), new("b"), path("b"), *get("b", "FormatName")), Seen(0, text("DIRECT=OS:HOST\\private$\\q")), letter
    )


def test_a_transaction_of_another_type_is_refused_or_converted() -> None:
    refused = {"R-MQAC-send-transaction-type": ("refused",)}
    for value, letter in ((Variant("I2", 0), True), (Variant("EMPTY"), True), (Variant("NULL"), False)):
        plan = (*QUEUE, message(), send(how=value))
        assert answered(plan, Seen(0)) == answered(plan, Seen(0x80070057)) == set()
        assert bool(answered(plan, Seen(0), refused)) == letter
    assert answered((*QUEUE, message(), send(how=text("a"))), Seen(0))


def test_a_code_with_two_numbers_has_either() -> None:
    nowhere, body = (*QUEUE, message(), send(to=None)), (message(), put("m", "Body", Variant("EMPTY")))
    for plan in (nowhere, body):
        for word, number in (("by-name", 0x80070057), ("as-printed", 0x80000003)):
            reading = {"R-MQAC-com-result-values": (word,)}
            assert answered(plan, Seen(number)) == answered(plan, Seen(number), reading) == set()
            assert answered(plan, Seen(0x80070057 ^ 0x80000003 ^ number), reading)
        assert answered(plan, Seen(0x80004005))


def test_a_getter_before_the_queue_is_there_follows_the_reading() -> None:
    plan = (new(), path(), put("a", "Label", text("b")), *get("a", "Label"))
    assert answered(plan, Seen(0, text("b"))) == answered(plan, Seen(0xC00E0003)) == set()
    assert answered(plan, Seen(0, text("b")), {"R-MQAC-getter-after-put": ("refreshes",)})
    assert answered(plan, Seen(0xC00E0003), {"R-MQAC-getter-after-put": ("keeps-put",)})


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
    declaration = library.declaration_of(coclass)
    assert failed(coclass, lambda one: one.update(iid="0" * 8, members=[])) == judged - {declaration}
    for told in (identity.ideal(coclass)[1:], [*identity.ideal(coclass), {"name": "I", "iid": "", "members": []}]):
        assert declaration in {v.requirement for v in identity.described(coclass, told) if v.outcome is Outcome.FAIL}
    for clsid, outcome in ((COCLASSES[coclass].upper(), Outcome.PASS), ("0" * 8, Outcome.FAIL)):
        *_, last = identity.described(coclass, identity.ideal(coclass), clsid=clsid)
        assert (last.requirement, last.outcome) == (declaration, outcome)
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
