"""Objects in the HTML report: a table of members, and stories as programs to run on Windows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.activex.plans import create, on
from conformance.activex.values import text
from conformance.activex.words import as_call
from conformance.harness.repro_files import write_beside
from conformance.report.html import classes_of, programs_of, render_html
from conformance.report.table import roll_up
from conformance.runlog import Run, RunWriter
from conformance.runlog.events import StoryStep
from conformance.verdict import Outcome, Verdict

ACTS = (create("MSMQMessage", "m"), on("m", "Label", text("a"), kind="put"))
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
