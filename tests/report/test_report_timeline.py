"""The picture of a concurrent history: every call in it, no label on another, nothing hostile let through."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

from conformance.model import Answer, Call, SeenMessage
from conformance.model.calls import INFINITE
from conformance.model.linearizability.history import Operation
from conformance.report.timeline import MAX_OPERATIONS, history_of, render_timeline

SVG = "{http://www.w3.org/2000/svg}"
GIVEN = Answer(message=SeenMessage(b"a"))


def history() -> list[Operation]:
    wait = Call("messages.receive", name="w1", handle="rA", timeout_ms=INFINITE)
    return [
        Operation(Call("queues.create", queue="q1"), "-", 0, 1, Answer()),
        Operation(Call("queues.open", name="rA", queue="q1", access="receive"), "-", 2, 3, Answer()),
        Operation(wait, "A", 4, 9, GIVEN, blocked=5),
        Operation(Call("messages.send", message="a", handle="sB"), "B", 6, 8, Answer()),
        Operation(Call("messages.receive", handle="rC"), "C", 7, 10, GIVEN),
        Operation(Call("messages.send", message="b", handle="sB"), "B", 11, None),
        Operation(Call("restart", kill=True), "-", 12, 13, Answer()),
        Operation(Call("messages.receive", handle="rA2"), "A", 14, 15, Answer(0xC00E001B, True)),
    ]


def bars(svg: str) -> dict[str, tuple[float, float, float]]:
    """By label: left, right and lane of each bar."""
    found = {}
    for group in ElementTree.fromstring(svg).iter(f"{SVG}g"):
        rect, text = group.find(f"{SVG}rect"), group.find(f"{SVG}text")
        assert rect is not None and text is not None and text.text
        left = float(rect.attrib["x"])
        found[text.text] = (left, left + float(rect.attrib["width"]), float(rect.attrib["y"]))
    return found


def test_calls_overlap_in_the_picture_as_they_did() -> None:
    drawn = bars(render_timeline(history()) or "")
    assert set(drawn) == {"w1: receive → a", "send a", "receive → a", "send b … no answer", "receive ✗"}
    wait, send, other, late = (drawn[name] for name in ("w1: receive → a", "send a", "receive → a", "receive ✗"))
    assert wait[0] < send[0] < other[0] < send[1] < wait[1] < other[1] < late[0]
    assert len({wait[2], send[2], other[2]}) == 3


def test_no_label_leaves_its_bar_and_no_bar_lies_on_another() -> None:
    drawn = bars(render_timeline(history()) or "")
    for text, (left, right, lane) in drawn.items():
        assert right - left >= 6 * len(text)
        for other, (start, end, theirs) in drawn.items():
            assert other == text or lane != theirs or right <= start or end <= left, (text, other)


def test_a_restart_cuts_off_what_was_in_flight() -> None:
    svg = render_timeline(history()) or ""
    lines = [line for line in ElementTree.fromstring(svg).iter(f"{SVG}line") if line.attrib["stroke"] == "#c62828"]
    assert [float(line.attrib["x1"]) for line in lines] == [bars(svg)["send b … no answer"][1]]


def test_what_comes_from_outside_stays_text() -> None:
    hostile = Call("messages.send", message='</text><script>alert("1")</script>\u202e', handle="s")
    svg = render_timeline([Operation(hostile, '"><img src=x>', 1, 2, Answer())]) or ""
    ElementTree.fromstring(svg)
    assert "<script" not in svg and "<img" not in svg and "\u202e" not in svg
    assert not re.search(r'\b(style|href|on\w+)="', svg)  # what the page's policy forbids


def test_a_long_history_is_drawn_to_its_end() -> None:
    one = Operation(Call("messages.peek", handle="r"), "A", 0, 1, Answer(0xC00E001B, True))
    many = [replace(one, began=2 * n, ended=2 * n + 1) for n in range(3 * MAX_OPERATIONS)]
    svg = render_timeline(many) or ""
    assert svg.count("<rect") == MAX_OPERATIONS + 1
    assert f"[{6 * MAX_OPERATIONS - 2} to {6 * MAX_OPERATIONS - 1}]" in svg


def test_evidence_that_is_no_history_draws_nothing() -> None:
    for data in ({}, {"history": 3}, {"history": [3, None]}, {"history": [{"call": {"method": "x"}}]}):
        assert render_timeline(history_of(data)) is None
    stored = {"history": [operation.to_json() for operation in history()]}
    assert history_of(stored) == tuple(history())
