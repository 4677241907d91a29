"""Words: acts as lines of a story, and as programs in VBScript and Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from conformance.activex.all_plans import client_plans
from conformance.activex.plans import Act, Plan, create, on, passes
from conformance.activex.scenes import all_plans
from conformance.activex.values import MISSING, Variant, long, octets, text, truth
from conformance.activex.words import acts_of, as_call, python, said, vbscript


def plans() -> Iterator[Plan]:
    yield from client_plans()
    yield from all_plans()


@pytest.mark.parametrize(
    ("act", "line"),
    [
        (create("MSMQQueueInfo", "i"), "Set i = New MSMQQueueInfo"),
        (on("i", "PathName", text('a"b'), kind="put"), 'i.PathName = "a""b"'),
        (on("i", "Label", kind="get"), "i.Label"),
        (on("i", "Create", MISSING, MISSING), "i.Create"),
        (on("i", "Create", truth(True), MISSING), "i.Create(IsTransactional:=True)"),
        (on("i", "Open", long(1), long(0), gives="q"), "q = i.Open(Access:=1, ShareMode:=0)"),
        (on("q", "Receive", MISSING, MISSING, MISSING, long(0), MISSING), "q.Receive(ReceiveTimeout:=0)"),
        (
            on("m", "ResponseQueueInfo", Variant("DISPATCH", "i"), kind="putref"),
            "Set m.ResponseQueueInfo = i",
        ),
        (on("m", "ResponseQueueInfo", Variant("DISPATCH"), kind="putref"), "Set m.ResponseQueueInfo = Nothing"),
        (on("m", "Body", octets(b"\x01\xff"), kind="put"), "m.Body = UI1(01 ff)"),
        (on("m", "Body", Variant("R8", "1.5"), kind="put"), "m.Body = R8(1.5)"),
        (on("m", "Body", Variant("EMPTY"), kind="put"), "m.Body = Empty"),
        (passes(500), "500 ms pass"),
    ],
)
def test_a_line_of_a_story(act: Act, line: str) -> None:
    assert said(act) == line


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
    on("i", "PathName", text("$computer\\private$\\$queue-1"), kind="put"),
    on("i", "Open", long(2), long(0), gives="w-a"),
    create("MSMQMessage", "m"),
    on("m", "Body", octets(b"\x01\xff"), kind="put"),
    on("m", "Body", Variant("UI4", 1), kind="put"),
    on("m", "Label", text("ä"), kind="put"),
    on("m", "Send", Variant("DISPATCH", "w-a"), MISSING),
    on("m", "Label", kind="get"),
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
