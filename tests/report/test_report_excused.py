"""A gate that is open has reports that are green, in every format, and the other way round."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from conformance.report.allure import write_allure
from conformance.report.comparison import matrix, render_comparison
from conformance.report.console import print_summary
from conformance.report.gate import Decision, decide
from conformance.report.html import render_html
from conformance.report.markdown import render_badge, render_markdown, shields
from conformance.report.sarif import FORMS, MAX_ANNOTATIONS, render_junit, sarif
from conformance.report.standing import Known, standing
from conformance.report.summary import summary
from conformance.report.tabular import write_csv
from conformance.runlog import Run, RunWriter
from conformance.spec.catalogue import catalogue
from conformance.verdict import ExitCode, Outcome, Verdict

TODAY = date(2026, 11, 22)
FIRST, SECOND, THIRD = [entry.id for entry in catalogue() if entry.level == "must" and entry.checked == "call"][:3]
SHOULD = next(entry.id for entry in catalogue() if entry.level == "should" and entry.checked == "call")
HOSTILE = "</script><script>alert(1)</script>\u202e\x1b[31m|`::error::##vso[task.complete]"
Verdicts = dict[str, Outcome]


def entry(requirement: str, subject: str | None = None, *, until: int = 2999) -> Known:
    return Known(requirement, "not yet", "https://example.org/7", date(until, 1, 1), subject)


@dataclass(frozen=True)
class Case:
    """now, before: requirement to outcome. code: what the gate ends with, so that no case is another than it says."""

    now: Verdicts
    code: int
    baseline: tuple[Known, ...] = ()
    before: Verdicts | None = None
    readings: str = "windows"
    level: str = "must"


PASS, FAIL = Outcome.PASS, Outcome.FAIL
CASES = {
    "no deviation": Case({FIRST: PASS}, 0),
    "all known": Case({FIRST: FAIL, SECOND: PASS}, 0, (entry(FIRST),)),
    "known by its subject": Case({FIRST: FAIL}, 0, (entry(FIRST, "receive"),)),
    "known from the run before": Case({FIRST: FAIL, SECOND: PASS}, 0, before={FIRST: Outcome.CRASH, SECOND: PASS}),
    "known from both": Case({FIRST: FAIL, SECOND: FAIL}, 0, (entry(FIRST),), {SECOND: FAIL}),
    "a known crash": Case({FIRST: Outcome.CRASH}, 0, (entry(FIRST),)),
    "one new": Case({FIRST: FAIL, SECOND: FAIL}, 1, (entry(FIRST),)),
    "another subject": Case({FIRST: FAIL}, 1, (entry(FIRST, "send"),)),
    "new against the run before": Case({FIRST: FAIL}, 1, before={FIRST: PASS}),
    "needless": Case({FIRST: PASS}, 1, (entry(FIRST),)),
    "not judged": Case({FIRST: PASS}, 1, (entry(SECOND),)),
    "over": Case({FIRST: FAIL}, 1, (entry(FIRST, until=2020),)),
    "judged no more": Case({FIRST: PASS}, 1, before={FIRST: PASS, SECOND: PASS}),
    "an error of the harness": Case({FIRST: Outcome.ERROR, SECOND: FAIL}, 1, (entry(SECOND),)),
    "nothing judged": Case({FIRST: Outcome.SKIP}, 5),
    "a weaker demand": Case({SHOULD: Outcome.WARN, FIRST: PASS}, 0),
    "a weaker demand that is asked for": Case({SHOULD: Outcome.WARN, FIRST: PASS}, 1, level="should"),
    "a failure that does not bind": Case({SHOULD: FAIL, FIRST: PASS}, 0),
    "another reading": Case({FIRST: Outcome.READING, SECOND: PASS}, 0),
    "another reading, strictly": Case({FIRST: Outcome.READING, SECOND: PASS}, 1, readings="strict"),
    "another reading, strictly, known": Case({FIRST: Outcome.READING}, 0, (entry(FIRST),), readings="strict"),
}


def filled(outcomes: Verdicts, subject: str = "receive") -> Callable[[RunWriter], None]:
    def fill(writer: RunWriter) -> None:
        writer.hello({"name": "acme-mq", "version": "2.1"})
        for requirement, outcome in outcomes.items():
            verdict = Verdict(requirement, outcome, subject, actual={"status": 1}, reason="because")
            writer.verdict(verdict, suite="cursors", test="cursors.py::t")

    return fill


Make = Callable[[str], tuple[Run, Decision]]


@pytest.fixture
def made(make_run: Callable[..., Run]) -> Make:
    """made(name of a case) -> its run, and what the gate decides on it."""

    def make(name: str) -> tuple[Run, Decision]:
        case = CASES[name]
        run = make_run(filled(case.now), reading_set=case.readings, level=case.level)
        before = None if case.before is None else standing(make_run(filled(case.before)))
        decision = decide(standing(run), before=before, baseline=case.baseline, today=TODAY)
        assert decision.exit_code == case.code, decision.sentence
        return run, decision

    return make


def printed(run: Run, decision: Decision | None) -> str:
    from rich.console import Console

    out = io.StringIO()
    print_summary(run, Console(file=out, width=120), decision=decision)
    return out.getvalue()


def allure(run: Run, decision: Decision, folder: Path) -> list[str]:
    write_allure(run, folder, decision)
    return [json.loads(path.read_text(encoding="utf-8"))["status"] for path in folder.glob("*-result.json")]


def code_scanning(run: Run, decision: Decision) -> list[str]:
    """What is wrong in a SARIF log for whoever heeds suppressions: results and notifications that are errors."""
    (told,) = sarif(run, decision)["runs"]
    (invocation,) = told["invocations"]
    assert invocation["exitCode"] == decision.exit_code
    results = [one for one in told["results"] if not one.get("suppressions")]
    notifications = invocation["toolExecutionNotifications"] + invocation.get("toolConfigurationNotifications", [])
    return [one["message"]["text"] for one in (*results, *notifications) if one["level"] == "error"]


@pytest.mark.parametrize("name", CASES)
def test_every_report_is_green_where_the_gate_is_open(name: str, made: Make, tmp_path: Path) -> None:
    run, decision = made(name)
    is_open = decision.exit_code is ExitCode.CONFORMS
    junit = ET.fromstring(render_junit(run, decision))
    text = printed(run, decision)
    green = {
        "html": '<p class="headline good">' in render_html(run, decision=decision),
        "badge": "#2c7a30" in render_badge(run, decision),
        "shields": shields(run, decision)["color"] == "success",
        "junit": not [*junit.iter("failure"), *junit.iter("error")],
        "markdown": render_markdown(run, decision).startswith("## ✅ "),
        "summary": summary(run, decision=decision)["exit_code"] == 0,
        "console": text.startswith(("No deviation found.", "Conforms but for ")) and "shut" not in text,
    }
    assert green == dict.fromkeys(green, is_open)
    if decision.exit_code is not ExitCode.NOTHING_JUDGED:  # of which annotations and alerts have nothing to say
        wrong = {
            "sarif": code_scanning(run, decision),
            "allure": [one for one in allure(run, decision, tmp_path / "allure") if one in ("failed", "broken")],
            "github": [line for line in FORMS["github"](run, decision).splitlines() if line.startswith("::error")],
            "azure": [line for line in FORMS["azure"](run, decision).splitlines() if "type=error" in line],
            "gitlab": [one for one in json.loads(FORMS["gitlab"](run, decision)) if one["severity"] == "major"],
        }
        assert {form: not found for form, found in wrong.items()} == dict.fromkeys(wrong, is_open)
    assert summary(run, decision=decision)["gate"] == decision.to_json()


def test_without_a_gate_nothing_is_known(made: Make) -> None:
    run, _ = made("all known")
    assert '<p class="headline bad">Does not conform</p>' in render_html(run)
    assert summary(run)["gate"] is None and summary(run)["exit_code"] == 1
    assert "known" not in printed(run, None).lower()


def test_what_is_known_is_told_with_its_reason(made: Make, tmp_path: Path) -> None:
    run, decision = made("one new")
    why = "not yet (https://example.org/7)"
    page = render_html(run, decision=decision)
    assert page.index("New deviations") < page.index("Known deviations") < page.index("Requirements by section")
    assert page.count(why) >= 1 and "Does not conform: 1 new deviation, 1 known" in page
    (case, other) = ET.fromstring(render_junit(run, decision)).iter("testcase")
    skipped = case.find("skipped")
    assert case.get("name") == FIRST and skipped is not None and why in str(skipped.get("message"))
    assert other.get("name") == SECOND and other.find("failure") is not None
    results = {one["ruleId"]: one for one in sarif(run, decision)["runs"][0]["results"]}
    assert results[FIRST]["baselineState"] == "unchanged" and why in results[FIRST]["suppressions"][0]["justification"]
    assert results[SECOND]["baselineState"] == "new" and "suppressions" not in results[SECOND]
    first, second = FORMS["github"](run, decision).splitlines()
    assert first.startswith(f"::error title=fail {SECOND}") and second.startswith(f"::notice title=known fail {FIRST}")
    assert f"known fail {FIRST}" in FORMS["azure"](run, decision)
    text = render_markdown(run, decision)
    assert "### Known deviations" in text and text.count("<details><summary>What happened") == 1
    write_csv(run, tmp_path / "verdicts.csv", decision)
    with (tmp_path / "verdicts.csv").open(encoding="utf-8", newline="") as stream:
        assert {row["requirement"]: row["state"] for row in csv.DictReader(stream)} == {FIRST: "known", SECOND: "new"}
    assert "1 of 2 deviate anew" in render_badge(run, decision)


@pytest.mark.parametrize(("name", "kind"), [("needless", "needless"), ("not judged", "unseen"), ("over", "expired")])
def test_what_is_wrong_with_a_baseline_is_told(name: str, kind: str, made: Make) -> None:
    run, decision = made(name)
    (objection,) = decision.objections
    assert objection.kind == kind
    page = render_html(run, decision=decision)
    assert "Other reasons why the gate" in page and f">{kind}</span></td><td><code>{objection.what}</code>" in page
    names = [case.get("name") for case in ET.fromstring(render_junit(run, decision)).iter("testcase")]
    assert f"{kind}: {objection.what}" in names
    assert f"::error title={kind} {objection.what}" in FORMS["github"](run, decision)
    assert objection.what in render_markdown(run, decision)


def test_what_is_new_comes_before_what_is_known_where_there_is_no_room(make_run: Callable[..., Run]) -> None:
    names = [one.id for one in catalogue() if one.level == "must"][: MAX_ANNOTATIONS + 10]
    run = make_run(filled(dict.fromkeys(names, FAIL)))
    decision = decide(standing(run), baseline=[entry(name) for name in names[:-1]], today=TODAY)
    lines = FORMS["github"](run, decision).splitlines()
    assert lines[0].startswith(f"::error title=fail {names[-1]}") and len(lines) == MAX_ANNOTATIONS
    assert lines[-1] == "::notice title=more::11 more are in the report."


def test_a_matrix_tells_known_from_new(made: Make) -> None:
    (known, excused), (new, refused) = made("all known"), made("one new")
    found = matrix([known, new, known], [excused, refused, None])
    assert [total.text for total in found.totals] == ["known 1/2", "fail 0/2", "fail 1/2"]
    assert [total.known for total in found.totals] == [1, 1, 0]
    assert found.headlines[0] == "Conforms but for 1 known deviation" and found.headlines[2] == "Does not conform"
    page = render_comparison([known, new], [excused, refused])
    assert re.findall(r'<p class="headline (\w+)">', page) == ["good", "bad"]
    assert 'class="cell known">' in page and 'class="cell fail">' in page


def test_what_no_run_judged_is_counted_and_named(made: Make) -> None:
    from conformance.report.table import roll_up

    run, _ = made("all known")
    found = matrix([run, run])
    listed = {row.id for row in roll_up(run).rows}
    assert set(found.unjudged) == listed - {FIRST, SECOND}
    assert found.rest.startswith(f"{len(found.unjudged):,} requirements") and found.to_json()["unjudged"]


def test_hostile_reasons_and_labels_are_only_text(make_run: Callable[..., Run]) -> None:
    run = make_run(filled({FIRST: FAIL, SECOND: PASS}), label=HOSTILE)
    entries = [Known(one, HOSTILE, HOSTILE, date(2999, 1, 1), who) for one, who in ((FIRST, None), (THIRD, HOSTILE))]
    decision = decide(standing(run), baseline=entries, today=TODAY)
    assert {one.kind for one in decision.objections} == {"unseen"}
    for page, scripts in (
        (render_html(run, decision=decision), 3),
        (render_comparison([run, run], [decision, decision]), 2),
    ):
        assert page.count("<script") == scripts and not {"\u202e", "\x1b"} & set(page)
    for form in ("github", "azure"):
        lines = FORMS[form](run, decision).splitlines()
        assert all(
            line.startswith(("::error title=unseen", "::notice title=known", "##vso[task.logissue", "known"))
            for line in lines
        )
        assert form == "github" or sum("##vso" in line for line in lines) == 1
    text = render_markdown(run, decision)
    assert "<script" not in text and not {"\u202e", "\x1b"} & set(text)
    junit = render_junit(run, decision)
    ET.fromstring(junit)
    assert not {"\u202e", "\x1b"} & set(junit + printed(run, decision))


def test_the_top_tells_when_what_how_and_what_is_missing(make_run: Callable[..., Run]) -> None:
    from conformance.report.summary import facts

    run = make_run(filled({FIRST: PASS}), footer="budget", label="nightly", started="2026-03-01T23:30:00-05:00")
    told = dict(facts(run))
    assert told["Date"] == "2026-03-02 04:30:00 UTC" and told["Label"] == "nightly"
    assert (told["Connector"], told["Seed"]) == ("embedded", "7") and "budget" in told["Left out"]
    page = render_html(run)
    top = page[: page.index("<main")]
    for name, value in told.items():
        assert f"<dt>{name}</dt><dd>{value}</dd>" in top
    assert dict(facts(make_run(None, footer=None)))["Duration"] == "not recorded"


@pytest.mark.parametrize(
    ("took", "words"), [(0.4, "0.4 s"), (12.4, "12 s"), (185, "3 min 5 s"), (7_440, "2 h 4 min"), (59.7, "1 min 0 s")]
)
def test_a_duration_in_words(took: float, words: str) -> None:
    from conformance.report.summary import in_words

    assert in_words(took) == words


def test_the_grey_of_the_bar_is_told(made: Make) -> None:
    from conformance.report.table import roll_up

    run, _ = made("all known")
    rows = roll_up(run).rows
    assert f"Grey: {len(rows) - 2:,} of {len(rows):,} requirements have no verdict in this run." in render_html(run)


def test_no_failure_is_without_a_list(make_run: Callable[..., Run]) -> None:
    from conformance.report.html import MAX_GROUPS

    names = [one.id for one in catalogue() if one.level == "must"][: MAX_GROUPS + 30]
    page = render_html(make_run(filled(dict.fromkeys(names, FAIL))))
    told = page[: page.index('id="sections"')]
    assert [name for name in names if f"<code>{name}</code>" not in told] == []
