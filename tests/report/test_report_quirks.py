"""Quirks of a run are told by every format that people read, and their words are text."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from conformance.harness.known_deviations import QUIRK
from conformance.report.causes import Told, quirks
from conformance.report.html import render_html
from conformance.report.markdown import render_markdown
from conformance.runlog import Run, RunWriter

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
