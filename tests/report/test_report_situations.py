"""Which situations a run met, in every report, and what the gate says of those that are no longer met."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.histories.situations import book as books
from conformance.histories.situations.book import Book, Planned
from conformance.histories.situations.coverage import CUT, FAILED, KIND, NOT_OFFERED, Met, packed
from conformance.histories.situations.situation import space
from conformance.report.allure import write_allure
from conformance.report.gate import decide
from conformance.report.html import render_html
from conformance.report.sarif import render_junit
from conformance.report.situations import NOT_PLANNED, NOT_PLAYED, grids, missing, situations
from conformance.report.standing import standing
from conformance.report.summary import summary
from conformance.runlog import Run, RunWriter
from conformance.verdict import Outcome, Verdict

PASSED = Verdict("MQDMPR-3.2.7.3.illegal-cursor-action", Outcome.PASS, "s")
MakeRun = Callable[..., Run]
SPACE = space()
PAIRS = SPACE.pairs("messages.receive")
FEW = frozenset(range(PAIRS.start, PAIRS.start + 40))


@pytest.fixture(autouse=True)
def _a_book(monkeypatch: pytest.MonkeyPatch) -> None:
    met = (tuple(range(PAIRS.start, PAIRS.start + 60)),)
    book = Book(SPACE.digest, (Planned(0, (), met, False, frozenset(), 0),), {PAIRS.stop - 1: "scope"})
    monkeypatch.setattr(books, "load", lambda: book)


def filled(*parts: Met, digest: str = SPACE.digest) -> Callable[[RunWriter], None]:
    def fill(writer: RunWriter) -> None:
        writer.verdict(PASSED, suite="situations", test="t")
        for part in parts:
            writer.evidence(KIND, {"digest": digest, **part.to_json()})

    return fill


def few(*left_out: int) -> Met:
    fell = {NOT_OFFERED: {PAIRS.start + 41}, CUT: {PAIRS.start + 41, PAIRS.start + 42}, FAILED: {PAIRS.start + 43}}
    return Met(set(FEW) - set(left_out), fell, 3, 120)


def test_the_parts_of_a_record_are_one(make_run: MakeRun) -> None:
    run = make_run(filled(Met({PAIRS.start, PAIRS.start + 1}, {}, 1, 20), few()))
    covered = situations(run)
    assert covered is not None and covered.known
    assert covered.met == FEW and covered.histories == 4 and covered.calls == 140
    assert covered.all.met == 40 and covered.all.of == SPACE.count - 1 and covered.unreachable == 1
    assert covered.fell[NOT_OFFERED] == 1 and covered.fell[CUT] == 1, "one reason each, the first"
    assert covered.fell[FAILED] == 1 and covered.fell[NOT_PLAYED] == 17
    assert sum(covered.fell.values()) + 40 == covered.all.of
    assert covered.fell[NOT_PLANNED] > 1_000
    line = next(line for line in covered.operations if line.name == "messages.receive")
    assert line.pairs == (40, len(PAIRS) - 1) and line.triples.met == 0
    assert any(line.name == "MS-MQDMPR 3.1.7.1.10" and line.all.met for line in covered.sections)


def test_a_grid_has_every_pair_of_features_once(make_run: MakeRun) -> None:
    covered = situations(make_run(filled(few())))
    assert covered is not None
    grid = next(grid for grid in grids(covered) if grid.operation == "messages.receive")
    shares = [share for line in grid.shares for share in line]
    assert sum(share.met for share in shares) == 40 and sum(share.of for share in shares) == len(PAIRS) - 1
    assert [len(line) for line in grid.shares] == list(range(len(grid.features)))
    assert len(list(missing(covered, "messages.receive"))) == len(PAIRS) - 41


def test_the_pairs_that_would_bring_most_are_told_with_their_reasons(make_run: MakeRun) -> None:
    covered = situations(make_run(filled(few())))
    assert covered is not None and len(covered.valuable) == 10
    assert {why for _, why in covered.valuable} <= set(covered.fell)
    numbers = [SPACE.named(name).number for name, _ in covered.valuable]
    assert not covered.met.intersection(numbers) and len(set(numbers)) == 10
    parts = [part for method in SPACE.core for _, each in SPACE.parts(method) for part in each]
    counts = [parts.count(number) for number in numbers]
    assert counts == sorted(counts, reverse=True) and counts[0] > 50
    told = covered.to_json()["valuable"]
    assert [(one["situation"], one["why"]) for one in told] == list(covered.valuable)  # type: ignore[union-attr]


def test_every_report_tells(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run(filled(few()))
    told = situations(run).sentence  # type: ignore[union-attr]
    assert told.startswith("40 of ") and "not offered" in told
    assert summary(run)["situations"]["met"] == 40
    page = render_html(run)
    assert 'id="situations"' in page and told in page and 'data-grid="0"' in page
    (value,) = [
        each.get("value")
        for each in ElementTree.fromstring(render_junit(run)).iter("property")
        if each.get("name") == "situations"
    ]
    assert value == told
    write_allure(run, tmp_path / "allure")
    assert "Situations=40 of" in (tmp_path / "allure" / "environment.properties").read_text()


def test_a_run_without_planned_histories_tells_nothing(make_run: MakeRun) -> None:
    run = make_run(filled())
    assert situations(run) is None and summary(run)["situations"] is None
    assert 'id="situations"' not in render_html(run)


def test_numbers_of_other_tables_are_only_counted(make_run: MakeRun) -> None:
    run = make_run(filled(few(), digest="other"))
    covered = situations(run)
    assert covered is not None and not covered.known
    assert covered.sentence == "40 situations met, as another version numbers them"
    assert 'data-grid="' not in render_html(run)


def test_evidence_that_holds_anything_is_left_out(make_run: MakeRun) -> None:
    def fill(writer: RunWriter) -> None:
        writer.verdict(PASSED, suite="situations", test="t")
        for data in ({}, {"met": 3}, {"met": "<script>", "fell": [], "played": 1, "calls": 1}):
            writer.evidence(KIND, data)
        writer.evidence(KIND, {"digest": SPACE.digest, "met": packed({1 << 20}), "fell": {}, "played": 1, "calls": 1})

    run = make_run(fill)
    covered = situations(run)
    assert covered is not None and not covered.known, "a number that no situation of this version has"
    assert "<script>" not in json.dumps(summary(run)["situations"])


def test_a_gate_objects_to_situations_no_longer_met(make_run: MakeRun) -> None:
    before = standing(make_run(filled(few())))
    gone = PAIRS.start + 7
    decision = decide(standing(make_run(filled(few(gone, PAIRS.start + 8)))), before=before)
    (objection,) = decision.objections
    assert objection.kind == "unmet" and objection.what == "messages.receive"
    first = ", ".join(f"{name}={value}" for name, value in SPACE.situation(gone).values)
    assert first in objection.why and "and 1 more" in objection.why
    assert "1 operation with situations no longer met" in decision.sentence
    assert not decide(standing(make_run(filled(few()))), before=before).objections


def test_a_gate_leaves_out_what_a_failure_kept_from_being_played(make_run: MakeRun) -> None:
    before = standing(make_run(filled(few())))
    now = few(PAIRS.start + 7)
    now.falls(FAILED, [PAIRS.start + 7])
    assert not decide(standing(make_run(filled(now))), before=before).objections


def test_a_gate_does_not_compare_numbers_of_other_tables(make_run: MakeRun) -> None:
    before = standing(make_run(filled(few(), digest="other")))
    decision = decide(standing(make_run(filled(few(PAIRS.start)))), before=before)
    assert not decision.objections and any("situations are not compared" in remark for remark in decision.remarks)
