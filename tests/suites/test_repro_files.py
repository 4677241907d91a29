"""What lies beside a repro file: a test that stands alone, and a diagram."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from repro_contents import PEEK, TWO, content

from conformance.harness.repro_files import MAX_MESSAGES, pytest_file, sequence_diagram, write_beside
from conformance.repro import ERROR, FIXED, ReproError, again, write_tests
from conformance.runlog.events import StoryStep, Told
from conformance.verdict import ExitCode


def test_a_history_that_ends_early_is_an_error() -> None:
    # No read has shown the message's identifier: what the failing implementation showed this one does not.
    answer = again(content(PEEK), adapter="embedded", in_process=True)
    assert (answer.answer, answer.exit_code) == (ERROR, ExitCode.NOTHING_JUDGED)
    assert "before call 5 of 5" in answer.text


def test_a_history_gone_through_to_its_end_is_fixed() -> None:
    answer = again(content(*TWO), adapter="embedded", in_process=True)
    assert answer.answer == FIXED, answer.text


HOSTILE = ('say """ and \\N{x} \\', "tab\tnew\nline ''' quotes'", "\ud800 lone", "'''", "")


@pytest.mark.parametrize("text", HOSTILE)
def test_the_pytest_file_holds_what_the_repro_holds(text: str) -> None:
    stored = content(story=(text, "x"))
    stored["verdict"]["actual"] = text
    tree = ast.parse(pytest_file(stored, "test_x.py").encode("utf-8", "backslashreplace"))
    assigned = next(node for node in tree.body if isinstance(node, ast.Assign))
    assert isinstance(assigned.value, ast.Call)
    literal = ast.literal_eval(assigned.value.args[0])
    assert json.loads(literal) == json.loads(json.dumps(stored))
    assert [node.name for node in tree.body if isinstance(node, ast.FunctionDef)] == ["test_mqdmpr_3_1_7_1_10_removes"]


@pytest.mark.parametrize(("adapter", "code"), [("embedded", 0), ("embedded+receive-returns-second-message", 1)])
def test_the_pytest_file_runs_alone(adapter: str, code: int, tmp_path: Path) -> None:
    alone = tmp_path / "test_alone.py"
    alone.write_text(pytest_file(content(*TWO), alone.name))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(alone)]
    environment = {**os.environ, "MQCONFORM_ADAPTER": adapter}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == code, done.stdout
    if code:
        assert "expected" in done.stdout


def test_files_are_written_beside(tmp_path: Path) -> None:
    repros = tmp_path / "repros"
    repros.mkdir()
    (repros / "01-ab.json").write_text(json.dumps(content()))
    assert write_tests(tmp_path) == [repros / "test_01_ab.py", repros / "01-ab.mmd"]
    assert write_beside(repros / "01-ab.json", content()) == (repros / "test_01_ab.py", repros / "01-ab.mmd")
    (repros / "02.json").write_text("[]")
    with pytest.raises(ReproError, match=r"02\.json is not a repro file"):
        write_tests(tmp_path)


def old(*lines: str) -> list[StoryStep]:
    """Steps as records of versions that stored no parts are read."""
    return [StoryStep.from_json({"text": line}) for line in lines]


def test_an_arrow_in_a_name_is_no_answer(tmp_path: Path) -> None:
    lines = (Told("create queue a -> b", "ok", ("the waiting w1 ends: ok",)), Told("a look at 'a -> b; the waiting w'"))
    steps = [StoryStep(line.text, parts=line.parts) for line in lines]
    assert steps[0].text == "create queue a -> b -> ok; the waiting w1 ends: ok"
    drawn = [
        "    T->>Q: create queue a -#gt; b",
        "    Q-->>T: ok",
        "    Q-->>T: the waiting w1 ends: ok",
        "    Note over T,Q: a look at 'a -#gt; b#59; the waiting w'",
    ]
    assert sequence_diagram(steps).splitlines()[3:] == drawn
    assert sequence_diagram([StoryStep.from_json(step.to_json()) for step in steps]).splitlines()[3:] == drawn
    stored = content(story=tuple(step.text for step in steps)) | {"parts": [list(step.parts) for step in steps]}
    repro = tmp_path / "01.json"
    repro.write_text(json.dumps(stored))
    write_tests(repro)
    assert repro.with_suffix(".mmd").read_text().splitlines()[3:-1] == drawn


def test_a_story_is_drawn() -> None:
    story = (
        "send 'a' to q1 -> ok; the waiting w1 ends: message 'a'",
        "1000 ms pass",
        "1000 ms pass; the waiting w2 ends: fails with MQ_ERROR_IO_TIMEOUT",
        "w3: receive from q1 (waiting up to 5 ms) -> waits",
    )
    assert sequence_diagram(old(*story), "R: expected 1, got 2").splitlines()[3:] == [
        "    T->>Q: send 'a' to q1",
        "    Q-->>T: ok",
        "    Q-->>T: the waiting w1 ends: message 'a'",
        "    Note over T,Q: 1000 ms pass",
        "    T->>Q: 1000 ms pass",
        "    Q-->>T: the waiting w2 ends: fails with MQ_ERROR_IO_TIMEOUT",
        "    T->>Q: w3: receive from q1 (waiting up to 5 ms)",
        "    Q-->>T: waits",
        "    Note over T,Q: R: expected 1, got 2",
    ]


def test_what_mermaid_would_read_is_escaped_and_long_stories_are_cut() -> None:
    assert sequence_diagram(old("a;b#c<d>\n%%e")).splitlines()[3] == "    Note over T,Q: a#59;b#35;c#lt;d#gt; #37;#37;e"
    assert len(sequence_diagram(old(*["x -> y"] * 1000)).splitlines()) == MAX_MESSAGES + 4
