"""The largest values that a run sent, beside their limits, in every report."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console

from conformance.harness.extremes import Extremes
from conformance.report.console import print_summary
from conformance.report.html import render_html
from conformance.report.summary import summary
from conformance.runlog import Run, RunWriter
from conformance.runlog.run import LIMITS, largest, largest_in_words
from conformance.verdict import Outcome, Verdict

MakeRun = Callable[..., Run]
PASSED = Verdict("MQDMPR-3.1.1.12.body-unchanged", Outcome.PASS, "s")


def seen(*messages: Mapping[str, Any], **declared: int) -> Extremes:
    extremes = Extremes()
    extremes.declared(declared)
    for message in messages:
        extremes.see("messages.send", {"queue": "h", "message": message})
    return extremes


def filled(*parts: Mapping[str, Any]) -> Callable[[RunWriter], None]:
    def fill(writer: RunWriter) -> None:
        writer.verdict(PASSED, suite="properties", test="t")
        for part in parts:
            writer.evidence(LIMITS, dict(part))

    return fill


def test_lengths_are_those_of_bytes_and_of_utf_16() -> None:
    found = seen({"body": "QUI=", "label": "\U0001f600" * 125}, {"body": "QUJD", "label": "ab"}, max_body_bytes=2)
    assert found.to_json() == {
        "bodies": {"within": 2, "above": 3, "most": 2},
        "labels of messages": {"within": 2, "above": 250, "most": 249},
    }
    found.see("queues.set", {"format_name": "f", "properties": {"PROPID_Q_LABEL": "x" * 124}})
    found.see("queues.create", {"path_name": "p", "properties": {"PROPID_Q_LABEL": 7}})
    found.see("queues.create", {"path_name": "p"})
    assert found.to_json()["labels of queues"] == {"within": 124, "above": None, "most": 124}
    assert not Extremes() and seen({})


def test_every_report_tells_the_largest_of_all_workers(make_run: MakeRun) -> None:
    one = seen({"body": "QUJD"}, max_body_bytes=4)
    other = seen({"body": "QUJDREVG"}, {"label": "x" * 249}, max_body_bytes=4)
    run = make_run(filled(one.to_json(), other.to_json()))
    words = "bodies: 3 of at most 4 bytes, and 6; labels of messages: 249 of at most 249 UTF-16 units"
    assert largest_in_words(run) == words
    assert summary(run)["limits"] == {
        "bodies": {"within": 3, "above": 6, "most": 4},
        "labels of messages": {"within": 249, "above": None, "most": 249},
    }
    assert words in render_html(run)
    told = io.StringIO()
    print_summary(run, Console(file=told, width=500), verbose=True)
    assert f"Largest tried: {words}" in told.getvalue()


def test_a_driver_without_limits(make_run: MakeRun) -> None:
    run = make_run(filled(seen({"body": "QUJD"}).to_json()))
    assert largest_in_words(run).startswith("bodies: 3 bytes, no limit declared;")


def test_evidence_that_holds_anything_is_left_out(make_run: MakeRun) -> None:
    run = make_run(filled({"bodies": 7, "other": {}}, {"bodies": {"within": "all"}}, {}))
    assert largest(run) == {} and largest_in_words(run) == "" and summary(run)["limits"] == {}
    assert "Largest tried" not in render_html(run)
