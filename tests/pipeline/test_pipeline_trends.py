"""Trends over versions: what a version broke and mended, and which readings are followed."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from made_lake import day, fill, verdict

from conformance.pipeline import trends
from conformance.pipeline.gather import gather
from conformance.pipeline.lake import Lake
from conformance.pipeline.trends import order
from conformance.report.corpus_page import render_corpus, summary

CURSOR = "MQDMPR-3.2.7.3.illegal-cursor-action"
LAYOUT = "MQMQ-2.2.19.1.flags-in-layout"
X0 = "MQMQ-2.2.19.1.flags-x0"
SEEK = "R-MQDMPR-seek-from-head"


@pytest.fixture
def lake(tmp_path):
    return Lake.open(tmp_path / "lake", create=True)


def run(number: int, version: str | None, said: dict[str, str], when: int, hour: int = 8, **more) -> list:
    """Rows of a run: requirement to outcome."""
    at = day(when)
    name, who = f"run{number}", more.pop("implementation", "acme")
    readings = more.pop("readings", {})
    row = {"run_id": name, "implementation": who, "implementation_version": version, "complete": True,
           "path": f"/runs/{name}", "started": datetime(at.year, at.month, at.day, hour, tzinfo=UTC),
           "profile": "msmq-4.0", "level": "must", "reading_set": "windows", **more}  # fmt: skip
    results = [
        {"run_id": name, "implementation": who, "requirement": one, "outcome": outcome, "count": 2,
         "readings": readings}
        for one, outcome in said.items()
    ]  # fmt: skip
    return [("runs", at, row), *(("results", at, one) for one in results)]


def changes(lake: Lake) -> set[tuple[str, str, str, str, str]]:
    return {(one.change, one.implementation, one.requirement, one.before, one.after) for one in gather(lake).shifts}


def test_a_version_breaks_and_mends_what_the_one_before_had(lake):
    fill(lake, run(1, "2.9", {CURSOR: "pass", LAYOUT: "fail", X0: "pass"}, 0))
    fill(lake, run(2, "2.10", {CURSOR: "crash", LAYOUT: "pass"}, 1))
    # An older line is released later; its number decides, so that it stands before 2.10.
    fill(lake, run(3, "2.9.1", {CURSOR: "pass", LAYOUT: "fail", X0: "warn"}, 2))
    fill(lake, run(4, "3.0", {CURSOR: "pass", X0: "fail"}, 3))
    assert changes(lake) == {
        ("regressed", "acme", CURSOR, "2.9.1", "2.10"),
        ("mended", "acme", LAYOUT, "2.9.1", "2.10"),
        ("mended", "acme", CURSOR, "2.10", "3.0"),
        ("regressed", "acme", X0, "2.9", "3.0"),  # 2.10 did not judge it, and 2.9.1 only warns.
    }
    told_of = {one["version"]: one for one in summary(gather(lake))["versions"]}
    assert list(told_of) == ["2.9", "2.9.1", "2.10", "3.0"]
    assert told_of["2.10"]["verdicts"] == {"crash": 2, "pass": 2} and told_of["2.10"]["mended"] == [
        {"requirement": LAYOUT, "since": "2.9.1"}
    ]
    assert told_of["2.9.1"]["requirements"] == {"fail": 1, "warn": 1, "pass": 1}
    assert told_of["3.0"]["regressed"] == [{"requirement": X0, "since": "2.9"}]


def test_the_last_run_of_a_version_that_judged_it_counts(lake):
    fill(lake, run(1, "1.0", {CURSOR: "pass", X0: "pass"}, 0))
    fill(lake, run(2, "1.1", {CURSOR: "fail", X0: "fail"}, 1, 20) + run(3, "1.1", {X0: "pass"}, 1, 8))
    fill(lake, run(4, "1.1", {CURSOR: "pass", X0: "skip"}, 2))
    assert changes(lake) == {("regressed", "acme", X0, "1.0", "1.1")}
    version = gather(lake).versions[-1]
    assert (version.runs, version.first, version.last) == (3, day(1), day(2))
    assert version.verdicts == {"fail": 4, "pass": 4, "skip": 2}


def test_runs_are_compared_only_with_runs_of_their_kind(lake):
    fill(lake, run(1, "1.0", {CURSOR: "pass"}, 0) + run(2, "1.1", {CURSOR: "fail"}, 1, profile="msmq-2.0"))
    fill(lake, run(3, "1.1", {CURSOR: "fail"}, 1, implementation="other"))
    fill(lake, run(4, "1.1", {CURSOR: "fail"}, 1, reading_set="strict"))
    assert changes(lake) == set()
    page = render_corpus(gather(lake))
    assert "acme (msmq-2.0, must, windows)" in page and "Version by version" in page


def test_versions_have_an_order():
    days = [date(2026, 1, number + 1) for number in range(9)]

    def ordered(*names: str) -> list[str]:
        return order(dict(zip(names, days, strict=False)))

    assert ordered("3.0", "v2.10", "2.9", "3.0-rc1", "3") == ["2.9", "v2.10", "3.0-rc1", "3.0", "3"]
    assert ordered("1.0+build", "1.0", "1.0.dev3") == ["1.0.dev3", "1.0", "1.0+build"]
    # With one that is no number the days decide.
    assert ordered("f3a", "1.0", "0.9", "") == ["f3a", "1.0", "0.9", ""]


def test_a_long_history_keeps_the_latest_versions(lake, monkeypatch):
    monkeypatch.setattr(trends, "MOST_VERSIONS", 3)
    for number in range(10):
        fill(lake, run(number, f"1.{number}", {CURSOR: "pass" if number % 2 else "fail"}, number))
    found = gather(lake)
    assert [one.name for one in found.versions] == ["1.7", "1.8", "1.9"]
    assert (found.shifts[0].change, found.shifts[0].before, found.shifts[0].after) == ("mended", "1.8", "1.9")


def test_readings_say_who_follows_them(lake):
    fill(lake, run(1, "1.0", {CURSOR: "pass"}, 0, readings={SEEK: "head", "R-2": "a"}))
    fill(lake, run(2, "1.1", {CURSOR: "pass", LAYOUT: "reading"}, 1, readings={SEEK: "current"}))
    fill(lake, run(3, "1.1", {CURSOR: "fail"}, 1, readings={"R-3": "never"}))
    made = [verdict(LAYOUT, "pass", who, day(0), count=5, readings={SEEK: "head"}) for who in ("192.0.2.1", "A", "A")]
    made += [verdict(LAYOUT, "pass", None, day(1), count=3, readings={SEEK: "head", "R-2": "b"})]
    made += [verdict(LAYOUT, "fail", "B", day(1), readings={SEEK: "head"}), verdict(X0, "pass", "C", day(1))]
    fill(lake, made)
    found = {(one["reading"], one["alternative"]): one for one in summary(gather(lake))["readings"]}
    assert set(found) == {(SEEK, "head"), (SEEK, "current"), ("R-2", "a"), ("R-2", "b")}
    assert (found[SEEK, "head"]["verdicts"], found[SEEK, "head"]["senders"]) == (2 + 15 + 3, 2)
    assert found[SEEK, "current"]["implementations"] == [{"implementation": "acme", "version": "1.1"}]
    assert (found["R-2", "b"]["verdicts"], found["R-2", "b"]["senders"]) == (3, 0)
    # The page names implementations in their latest version.
    page = render_corpus(gather(lake))
    assert "acme 1.1" in page and "acme 1.0" not in page
