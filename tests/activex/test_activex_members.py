"""Members of the objects, their states, the values they take, and the words for calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from conformance.activex.all_plans import client_plans
from conformance.activex.members import Guids, Longs, Member, Named, Slot, Texts
from conformance.activex.plans import Act, Plan, call_on, create, passes
from conformance.activex.scenes import all_plans
from conformance.activex.tables import CLASSES, CREATIONS, MEMBERS, STATES, TRANSITIONS, after, refuses
from conformance.activex.values import MISSING, Variant, hollow, long, octets, same, short, text, truth
from conformance.activex.words import act_line, acts_of, as_call, python, vbscript
from conformance.spec.catalogue import catalogue
from conformance.spec.constants.interfaces import METHODS

MISPRINTED = {
    ("IMSMQMessage4", 22): "putref",  # 3.17.4.1.16: propget, of an argument that goes in
    ("IMSMQMessage4", 29): "get",  # 3.17.4.1.23: no attribute
    ("IMSMQMessage4", 78): "putref",  # 3.17.4.1.72: no attribute
    ("IMSMQMessage4", 80): "putref",  # 3.17.4.1.74: propput, of an object
}
"""Kinds that the document misprints; the direction of the argument and the sibling members tell what they are."""

SLOTS = [(member, slot) for member in MEMBERS for slot in member.slots]
KINDS = {"method": "method", "getter": "get", "putter": "put", "putter by reference": "putref"}
_SAYS = re.compile(
    r"has a (?P<kind>putter by reference|putter|getter|method) (?P<name>\w+), opnum (?P<opnum>\d+)"
    r"(?:,? that takes (?P<takes>[\w, ]+?))?(?: (?:and|that) gives back (?P<gives>\w+))?\."
)


def by_opnum(interface: str) -> dict[int, tuple[Member, Slot]]:
    return {slot.opnum: (member, slot) for member, slot in SLOTS if member.interface == interface}


@pytest.mark.parametrize("interface", sorted({member.interface for member in MEMBERS}))
def test_slots_are_those_of_the_document(interface: str) -> None:
    table = by_opnum(interface)
    listed = {
        (method.opnum, method.name, MISPRINTED.get((interface, method.opnum), method.invocation), method.section)
        for method in METHODS[interface]
    }
    assert {(opnum, member.name, slot.kind, slot.section) for opnum, (member, slot) in table.items()} == listed


def described() -> Iterator[tuple[str, re.Match[str]]]:
    for entry in catalogue():
        if entry.id.startswith("MQAC-") and entry.kind == "method" and (said := _SAYS.search(entry.says)):
            yield entry.section, said


def test_arguments_are_those_of_the_catalogue() -> None:
    by_section = {slot.section: (member, slot) for member, slot in SLOTS}
    compared = 0
    for section, match in described():
        if section not in by_section:
            continue
        member, slot = by_section[section]
        taken = [argument.name for argument in slot.arguments if not argument.result]
        given = [argument.name for argument in slot.arguments if argument.result]
        assert (member.name, slot.opnum, slot.kind) == (match["name"], int(match["opnum"]), KINDS[match["kind"]])
        assert ", ".join(taken) == (match["takes"] or ""), section
        if match["gives"] is not None:
            assert given == [match["gives"]], section
        compared += 1
    assert compared == len(SLOTS)


def test_a_member_stands_once_in_its_class() -> None:
    assert sum(len(members) for members in CLASSES.values()) == len(MEMBERS)


def test_values_at_the_limits_are_told_apart() -> None:
    for member in MEMBERS:
        if member.takes is None:
            continue
        assert member.takes.inside()
        assert all(member.takes.admits(value) for value in member.takes.inside()), member.name
        assert not any(member.takes.admits(value) for value in member.takes.outside()), member.name
        if member.refusal is not None:
            assert member.takes.outside(), member.name


def test_transitions_name_members_and_states() -> None:
    for one in TRANSITIONS:
        kind, _, name = one.member.rpartition(" ")
        assert CLASSES[one.coclass][name].slot("put" if kind else "method") is not None, one
        assert {one.source, one.target} <= set(STATES[one.coclass].all), one
    for (coclass, name), (made, state) in CREATIONS.items():
        assert CLASSES[coclass][name].slots[0].kind == "method"
        assert state in STATES[made].all


def test_every_state_of_an_object_that_a_client_has_is_reached() -> None:
    reached = {(coclass, states.new) for coclass, states in STATES.items()} | set(CREATIONS.values())
    reached |= {(one.coclass, one.target) for one in TRANSITIONS}
    wanted = {(coclass, state) for coclass, states in STATES.items() if states.new for state in states.all}
    assert wanted - reached == {("MSMQMessage", "Received")}  # a read hands it out, in any of its forms


def test_checks_of_states_are_checks_of_members() -> None:
    for coclass, states in STATES.items():
        known = {check.name for member in CLASSES[coclass].values() for check in member.checks}
        assert {name for names in states.refuses.values() for name in names} <= known


def test_what_moves_an_object() -> None:
    assert after("MSMQQueue", "Opened", "Close") == "Closed"
    assert after("MSMQQueue", "Blank", "Close") == "Blank"
    assert after("MSMQQueueInfo", "Created", "put PathName") == "Named by path name"
    assert refuses("MSMQQueue", "Blank") == {"blank"}
    assert refuses("MSMQMessage", "Received") == frozenset()


@pytest.mark.parametrize(
    ("value", "json"),
    [
        (long(0xFFFFFFFF), {"vt": "I4", "value": -1}),
        (short(0xFFFF), {"vt": "I2", "value": -1}),
        (octets(b"a"), {"vt": "ARRAY", "of": "UI1", "value": "YQ=="}),
        (Variant("UI8", 2**64 - 1), {"vt": "UI8", "value": "18446744073709551615"}),
        (Variant("EMPTY"), {"vt": "EMPTY"}),
        (
            Variant("ARRAY", (Variant("I2", 1), text("a")), "VARIANT"),
            {"vt": "ARRAY", "of": "VARIANT", "value": [{"vt": "I2", "value": 1}, {"vt": "BSTR", "value": "a"}]},
        ),
    ],
)
def test_values_and_the_protocols_objects(value: Variant, json: dict[str, object]) -> None:
    assert value.to_json() == json
    assert Variant.from_json(json) == value


def test_a_client_sees_type_and_value() -> None:
    assert same(text(""), Variant("BSTR", None))
    assert same(truth(True), Variant("BOOL", -1))
    assert same(Variant("CY", "1.50"), Variant("CY", "1.5"))
    assert not same(long(1), Variant("I2", 1))
    assert not same(text("a"), text("A"))
    assert not same(octets(b"a"), Variant("ARRAY", b"a", "I1"))


def test_null_has_several_forms() -> None:
    assert all(map(hollow, (Variant("EMPTY"), Variant("NULL"), text(""), octets(b""), Variant("DISPATCH"))))
    assert not any(map(hollow, (long(0), text("a"), octets(b"\0"))))


def test_limits() -> None:
    assert [value.value for value in Longs(0, 7).outside()] == [-(2**31), -1, 8, 2**31 - 1]
    assert [value.value for value in Longs(0, 7).inside()] == [0, 4, 7]
    assert Longs().outside() == ()
    assert [value.value for value in Named("MQMSGPRIVLEVEL").outside()] == [-1, 2, 4, 2**31 - 1]
    assert Texts(250).admits(text("x" * 249)) and not Texts(250).admits(text("x" * 250))
    assert not Guids().admits(text("01234567-89ab-cdef-0123-456789abcdef"))


def plans() -> Iterator[Plan]:
    yield from client_plans()
    yield from all_plans()


@pytest.mark.parametrize(
    ("act", "line"),
    [
        (create("MSMQQueueInfo", "i"), "Set i = New MSMQQueueInfo"),
        (call_on("i", "PathName", text('a"b'), kind="put"), 'i.PathName = "a""b"'),
        (call_on("i", "Label", kind="get"), "i.Label"),
        (call_on("i", "Create", MISSING, MISSING), "i.Create"),
        (call_on("i", "Create", truth(True), MISSING), "i.Create(IsTransactional:=True)"),
        (call_on("i", "Open", long(1), long(0), gives="q"), "q = i.Open(Access:=1, ShareMode:=0)"),
        (call_on("q", "Receive", MISSING, MISSING, MISSING, long(0), MISSING), "q.Receive(ReceiveTimeout:=0)"),
        (
            call_on("m", "ResponseQueueInfo", Variant("DISPATCH", "i"), kind="putref"),
            "Set m.ResponseQueueInfo = i",
        ),
        (call_on("m", "ResponseQueueInfo", Variant("DISPATCH"), kind="putref"), "Set m.ResponseQueueInfo = Nothing"),
        (call_on("m", "Body", octets(b"\x01\xff"), kind="put"), "m.Body = UI1(01 ff)"),
        (call_on("m", "Body", Variant("R8", "1.5"), kind="put"), "m.Body = R8(1.5)"),
        (call_on("m", "Body", Variant("EMPTY"), kind="put"), "m.Body = Empty"),
        (passes(500), "500 ms pass"),
    ],
)
def test_a_line_of_a_story(act: Act, line: str) -> None:
    assert act_line(act) == line


def test_calls_of_a_story_are_acts_again() -> None:
    for plan in plans():
        assert acts_of(as_call(act) for act in plan) == plan
    assert acts_of([{"method": "queues.create", "params": {}}]) == ()
    assert acts_of([{"method": "objects.invoke", "params": {"object": "a"}}]) == acts_of(["x"]) == ()


def test_every_plan_is_a_program_of_python() -> None:
    for plan in plans():
        names = {node.id for node in ast.walk(ast.parse(python(plan))) if isinstance(node, ast.Name)}
        assert "_" not in names


QUEUE = (
    create("MSMQQueueInfo", "i"),
    call_on("i", "PathName", text("$computer\\private$\\$queue-1"), kind="put"),
    call_on("i", "Open", long(2), long(0), gives="w-a"),
    create("MSMQMessage", "m"),
    call_on("m", "Body", octets(b"\x01\xff"), kind="put"),
    call_on("m", "Body", Variant("UI4", 1), kind="put"),
    call_on("m", "Label", text("ä"), kind="put"),
    call_on("m", "Send", Variant("DISPATCH", "w-a"), MISSING),
    call_on("m", "Label", kind="get"),
    passes(1500),
)


def test_vbscript_names_types_and_leaves_out_what_the_client_leaves_out() -> None:
    lines = vbscript(QUEUE).splitlines()
    for line in (
        'Set i = CreateObject("MSMQ.MSMQQueueInfo")',
        'i.PathName = computer & "\\private$\\" & queue & "-1"',
        "Set w_a = i.Open(CLng(2), CLng(0))",
        'm.Body = Bytes("01ff")',
        "' VBScript has no VT_UI4: m.Body = UI4(1)",
        "m.Label = ChrW(228)",
        "m.Send w_a",
        "value = m.Label",
        "WScript.Sleep 1500",
        "Function Bytes(digits)",
    ):
        assert line in lines
    declared = next(line for line in lines if line.startswith("Dim "))
    assert {"i", "w_a", "m", "computer", "queue", "path"} <= set(declared.removeprefix("Dim ").split(", "))


def test_python_makes_the_same_calls() -> None:
    lines = python(QUEUE).splitlines()
    assert any("w_a = do(" in line and "VARIANT(pythoncom.VT_I4, 2)" in line for line in lines)
    assert any("VARIANT(pythoncom.VT_ARRAY | pythoncom.VT_UI1, b'\\x01\\xff')" in line for line in lines)
    assert any("m.Send(w_a, pythoncom.Missing)" in line for line in lines)
    assert lines[0] == "import time" and "time.sleep(1.5)" in lines
