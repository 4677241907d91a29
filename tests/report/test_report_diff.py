"""Runs held against each other: what changed, and side by side."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.report.comparison import (
    ADDED,
    BROKEN,
    CHANGED,
    FIXED,
    GONE,
    diff,
    differences_markdown,
    matrix,
    matrix_markdown,
    sentence,
    text_lines,
)
from conformance.report.standing import Standing
from conformance.runlog import Run
from conformance.runlog.tally import NO_JUDGEMENT
from conformance.verdict import Outcome

NAMES = ("MQDMPR-3.1.4.4.durable", "MQDMPR-3.1.4.5.receives-return", "MQMQ-2.2.19.1.signature")
DEVIATES = (Outcome.FAIL, Outcome.CRASH, Outcome.TIMEOUT, Outcome.FLAKY)
OUTCOMES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(list(Outcome)))


def stands(outcomes: dict[str, Outcome], name: str = "a") -> Standing:
    deviating = {one: {"x": outcome} for one, outcome in outcomes.items() if outcome in DEVIATES}
    judged = frozenset(one for one, outcome in outcomes.items() if outcome not in NO_JUDGEMENT)
    return Standing(name, None, "must", outcomes, deviating, judged, frozenset(), frozenset(), frozenset(), None)


@pytest.mark.parametrize(
    ("before", "now", "kind"),
    [
        (Outcome.PASS, Outcome.FAIL, BROKEN),
        (None, Outcome.FAIL, BROKEN),
        (Outcome.SKIP, Outcome.TIMEOUT, BROKEN),
        (Outcome.FAIL, Outcome.PASS, FIXED),
        (Outcome.FAIL, None, GONE),
        (Outcome.PASS, None, GONE),
        (Outcome.PASS, Outcome.SKIP, GONE),
        (Outcome.SKIP, Outcome.PASS, ADDED),
        (None, Outcome.PASS, ADDED),
        (Outcome.FAIL, Outcome.CRASH, CHANGED),
        (Outcome.PASS, Outcome.WARN, CHANGED),
        (None, Outcome.SKIP, CHANGED),
        (Outcome.PASS, Outcome.PASS, None),
    ],
)
def test_each_kind_of_change(before: Outcome | None, now: Outcome | None, kind: str | None) -> None:
    name = NAMES[0]
    found = diff(stands({name: before} if before else {}), stands({name: now} if now else {}))
    assert [change.kind for change in found.changes] == ([kind] if kind else [])
    assert found.same == (0 if kind else 1)


@given(OUTCOMES, OUTCOMES)
def test_nothing_is_lost_and_the_other_way_round_is_the_mirror(
    first: dict[str, Outcome], second: dict[str, Outcome]
) -> None:
    there, back = diff(stands(first), stands(second)), diff(stands(second), stands(first))
    assert len(there.changes) + there.same == len(first.keys() | second.keys())
    assert diff(stands(first), stands(first)).changes == ()
    assert {change.requirement for change in there.changes} == {change.requirement for change in back.changes}
    fixed = {change.requirement for change in there.changes if change.kind == FIXED}
    assert fixed <= {change.requirement for change in back.changes if change.kind == BROKEN}
    json.dumps(there.to_json())
    assert sentence(there) and len(text_lines(there)) == len(there.changes)


def test_names_of_others_cannot_write_markdown() -> None:
    evil = "x|y](http://a) <script>`\n# h"
    text = differences_markdown(diff(stands({}, evil), stands({evil: Outcome.FAIL, NAMES[0]: Outcome.PASS}, evil)))
    assert "<script>" not in text and "\n# h" not in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert len([at for at, one in enumerate(line) if one == "|" and line[at - 1] != "\\"]) == 5


def test_a_matrix_has_a_column_for_each_run(typical: Run, hostile: Run) -> None:
    found = matrix([typical, hostile, typical])
    assert found.columns[0] == "embedded" and found.columns[2] == "embedded (2)"
    assert len(found.totals) == 3
    assert all(len(line.cells) == 3 for line in found.lines)
    row = next(line for line in found.lines if (line.document, line.section) == ("MS-MQDMPR", "3.2.7.3"))
    assert row.cells[0].outcome is Outcome.FAIL and row.cells[0] == row.cells[2]
    assert sum(line.cells[0].judged for line in found.lines) == found.totals[0].judged
    json.dumps(found.to_json())
    text = matrix_markdown(found)
    assert "<script>" not in text and "\x1b" not in text
    assert {line.count(" | ") for line in text.splitlines() if not line.startswith("|---")} >= {3}
