"""Parts of the HTML report: the time line, calls of objects, and quirks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from conformance.activex.plans import call_on, create
from conformance.activex.values import text
from conformance.activex.words import as_call
from conformance.harness.known_deviations import QUIRK
from conformance.harness.repro_files import write_beside
from conformance.model import Answer, Call, SeenMessage
from conformance.model.calls import INFINITE
from conformance.model.linearizability.history import Operation
from conformance.report.findings import Told, quirks
from conformance.report.html import MAX_OPERATIONS, classes_of, history_of, programs_of, render_html, render_timeline
from conformance.report.markdown import render_markdown
from conformance.report.table import roll_up
from conformance.runlog import Run, RunWriter
from conformance.runlog.events import StoryStep
from conformance.verdict import Outcome, Verdict

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
    for label, (left, right, lane) in drawn.items():
        assert right - left >= 6 * len(label)
        for other, (start, end, theirs) in drawn.items():
            assert other == label or lane != theirs or right <= start or end <= left, (label, other)


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


ACTS = (create("MSMQMessage", "m"), call_on("m", "Label", text("a"), kind="put"))
STEPS = tuple(StoryStep("line", as_call(act), {"status": 0}) for act in ACTS)


def test_a_story_of_objects_is_shown_as_programs() -> None:
    (script, basic), (snake, python) = programs_of(STEPS)
    assert (script, snake) == ("VBScript", "Python (pywin32)")
    assert 'm.Label = "a"' in basic and "setattr(m, 'Label', 'a')" in python
    assert programs_of((StoryStep("line", {"method": "queues.create", "params": {}}),)) == ()
    assert programs_of((StoryStep("line"),)) == ()


def test_programs_stand_beside_a_repro_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    verdict = {"requirement": "MQAC-3.17.4.1.31.status", "outcome": "fail", "subject": "put MSMQMessage.Label"}
    content = {
        "verdict": verdict,
        "story": ["line"],
        "repro": {"kind": "objects", "acts": [act.to_json() for act in ACTS]},
    }
    path.write_text(json.dumps(content))
    write_beside(path, content)
    assert 'm.Label = "a"' in (tmp_path / "a.vbs").read_text()
    assert "import pythoncom" in (tmp_path / "a-pywin32.py").read_text()


def fill(writer: RunWriter) -> None:
    name = "MQAC-3.17.4.1.31.represented-message-label-bstr-label-contained"
    writer.verdict(Verdict("MQAC-3.17.4.1.31.status", Outcome.PASS, "put MSMQMessage.Label"), suite="objects", test="t")
    ref = writer.verdict(Verdict(name, Outcome.FAIL, "get MSMQMessage.Label", 1, 2), suite="objects", test="t")
    writer.story(ref, list(STEPS), repro=None)


def test_members_are_listed_with_what_was_judged(make_run: Callable[..., Run]) -> None:
    run = make_run(fill)
    message = next(one for one in classes_of(roll_up(run)) if one.name == "MSMQMessage")
    assert (message.judged, message.failed) == (2, 1)
    label = next(line for line in message.members if (line.name, line.form) == ("Label", "put"))
    assert (label.judged, label.failed) == (2, 1) and label.requirements > 2
    page = render_html(run)
    assert '<h2 id="objects">Objects</h2>' in page
    assert "The same as VBScript, to run on Windows" in page


def test_a_run_without_objects_has_no_members(make_run: Callable[..., Run]) -> None:
    run = make_run(lambda writer: None)
    assert classes_of(roll_up(run)) == ()
    assert 'id="objects"' not in render_html(run)


def test_what_a_record_holds_cannot_break_the_page(hostile: Run) -> None:
    wrong: list[dict[str, Any]] = [
        {"method": "objects.invoke", "params": None},
        {"method": "objects.invoke", "params": {"object": 1, "member": 2, "kind": 3, "arguments": [4]}},
        {"method": "objects.create", "params": {"class": 1}},
    ]
    for call in wrong:
        assert programs_of((StoryStep("line", call),)) == ()
    assert render_html(hostile)


PRIORITY = "MQMQ-2.2.19.1.higher-priority-nearer-front"
OTHER = "MQDMPR-3.2.7.4.continues"
WITH_BODY = {"requirement": PRIORITY, "faults": ["ignores-priority"], "filed": {OTHER: 2}, "behind": 3, "met": 1}
WITHOUT = {"requirement": OTHER, "faults": [], "filed": {}, "behind": 0, "met": 5}


def filled(*quirks: object) -> Callable[[RunWriter], None]:
    def fill(writer: RunWriter) -> None:
        for quirk in quirks:
            writer.evidence(QUIRK, json.loads(json.dumps(quirk)))

    return fill


def test_a_deviation_without_a_body_tells_how_many_histories_end_with_it(make_run: Callable[..., Run]) -> None:
    told = quirks(make_run(filled(WITH_BODY, WITHOUT, {**WITHOUT, "met": 2})))  # the last is another worker's
    assert [(one.requirement, one.met) for one in told] == [(PRIORITY, 1), (OTHER, 7)]
    assert "3 histories judged behind it" in told[0].sentence and "7 histories end with it" in told[1].sentence


@pytest.mark.parametrize(("met", "words"), [(1, "1 history ends"), (None, "; histories end")])
def test_a_number_that_is_not_known_is_not_told(make_run: Callable[..., Run], met: int | None, words: str) -> None:
    (one,) = quirks(make_run(filled({**WITHOUT, "met": met})))
    assert words in one.sentence


def test_the_page_and_the_summary_have_a_line_for_each(make_run: Callable[..., Run]) -> None:
    run = make_run(filled(WITH_BODY, WITHOUT))
    page, summary = render_html(run), render_markdown(run)
    assert '<h2 id="quirks">' in page and "<code>ignores-priority</code>" in page and "5 histories end with it" in page
    assert "### Quirks" in summary and "ignores-priority" in summary and "5 histories end with it" in summary


def test_a_run_without_quirks_has_no_heading_for_them(make_run: Callable[..., Run]) -> None:
    run = make_run()
    assert 'id="quirks"' not in render_html(run) and "Quirks" not in render_markdown(run)


def test_hostile_words_are_text(make_run: Callable[..., Run]) -> None:
    words = "<script>`|**x**"
    run = make_run(filled({**WITH_BODY, "requirement": words, "faults": [words]}))
    assert words not in render_html(run) and "**x**" not in render_markdown(run)


def test_one_history_is_told_as_one() -> None:
    told = Told("MQDMPR-3.1.7.1.9.available", ("ignores-priority",), behind=1)
    assert "; 1 history judged behind it" in told.sentence
