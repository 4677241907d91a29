"""Reports for other programs, JUnit among them, and of damaged records."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nightly import fewer
from rich.console import Console

from conformance.report import (
    print_summary,
    render_badge,
    render_html,
    render_junit,
    render_markdown,
    render_sarif,
    summary,
    write_csv,
)
from conformance.report.markdown import MAX_BYTES, inline, message, shields
from conformance.report.sarif import FORMS, MAX_ANNOTATIONS
from conformance.report.tabular import COLUMNS, MAX_CELL, rows
from conformance.runlog import Run, RunRecordError, RunWriter, StoryStep, read_run
from conformance.spec.catalogue import catalogue, demanded
from conformance.verdict import Outcome, Verdict

BROKEN = "MQDMPR-3.2.7.3.illegal-cursor-action"
OTHER = "MQMQ-2.4.illegal-formatname"
DEMANDED = len(demanded("msmq-4.0"))
UNSEEN = {*map(chr, range(32)), "\x7f", "\u202e", "\u2028", "\u200b", "\ud800"}


def one(outcome: Outcome, subject: str = "s", requirement: str = BROKEN) -> Callable[[RunWriter], None]:
    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict(requirement, outcome, subject, reason="because"), suite="cursors", test="t")

    return fill


def test_markdown_tells_the_deviation_first(typical: Run) -> None:
    text = render_markdown(typical)
    lines = text.splitlines()
    assert lines[0] == "## ❌ Does not conform: acme-mq 2.1"
    assert text.index(f"### Fail: <code>{BROKEN}</code>") < text.index("### Crash: ") < text.index("### Warnings")
    assert "   5. peek next with c1, without waiting -> message 'a' (priority 3)" in lines
    assert "| MS-MQDMPR 3.2.7.3 Get Next Message For Peek " in text or "| MS-MQDMPR 3.2.7.3 " in text
    assert text.count("<details>") == text.count("</details>")


def test_markdown_of_hostile_text_has_no_markup_of_it(hostile: Run) -> None:
    text = render_markdown(hostile)
    assert not UNSEEN - {"\n"} & set(text)
    assert len(text.encode()) <= MAX_BYTES
    outside, fence = [], None
    for line in text.splitlines():
        if fence is None and line.startswith("```"):
            fence = line.removesuffix("text")
        elif line == fence:
            fence = None
        elif fence is None:
            outside.append(line)
    assert fence is None
    for line in outside:
        plain = line
        for ours in ("<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"):
            plain = plain.replace(ours, "")
        assert "<" not in plain and "`" not in plain and "[" not in plain and "@" not in plain, line[:200]
        assert not line.startswith("| ") or line.count("|") in (4, 5, 7), line[:200]


@settings(max_examples=fewer(100), deadline=None)
@example("https://a www.a :a: mailto:a@a")
@given(st.text(st.sampled_from("a`\\<>[]()|#@*_~&:/w. \n\u202e\x00!$-"), max_size=40))
def test_no_text_is_markup_of_markdown(text: str) -> None:
    told = inline(text)
    for character in "`<>[]|@*~$\n\u202e\x00":
        assert character not in told
    assert "://" not in told and "www." not in told and ":a" not in told
    # Every entity is one of ours, which a reader shows as the character it names.
    assert all(part.partition(";")[0].removeprefix("#").isdigit() for part in told.split("&")[1:])


def test_a_code_block_cannot_be_left(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        name = writer.verdict(Verdict(BROKEN, Outcome.FAIL, "s"), suite="cursors", test="t")
        writer.story(name, [StoryStep("`````"), StoryStep("</details>")])

    lines = render_markdown(make_run(fill)).splitlines()
    assert lines.count("``````") == 1 and lines.count("``````text") == 1
    assert lines.index("``````text") < lines.index("   1. `````") < lines.index("``````")


def test_markdown_of_many_deviations_fits(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        for demand in list(catalogue())[:900]:
            writer.verdict(Verdict(demand.id, Outcome.FAIL, "é" * 390, actual=["é" * 300] * 8), suite="a", test="t")

    text = render_markdown(make_run(fill))
    assert MAX_BYTES * 0.9 < len(text.encode()) <= MAX_BYTES
    assert text.endswith("The rest did not fit; the run record has it.\n")


def test_markdown_says_what_is_missing(make_run: Callable[..., Run]) -> None:
    assert "**The run record is incomplete.**" in render_markdown(make_run(one(Outcome.PASS), footer=None))
    assert "The run ended early (budget)." in render_markdown(make_run(one(Outcome.PASS), footer="budget"))
    whole = render_markdown(make_run(one(Outcome.PASS)))
    assert "incomplete" not in whole and "early" not in whole and whole.startswith("## ✅ No deviation found")


@pytest.mark.parametrize(
    ("outcome", "members", "text", "colour"),
    [
        (Outcome.PASS, {}, f"1 of {DEMANDED:,} judged, none deviates", "success"),
        (Outcome.WARN, {}, f"1 of {DEMANDED:,} judged, none deviates", "success"),
        (Outcome.FAIL, {}, f"1 deviate, 1 of {DEMANDED:,} judged", "critical"),
        (Outcome.FLAKY, {}, f"1 deviate, 1 of {DEMANDED:,} judged", "critical"),
        (Outcome.READING, {}, f"1 of {DEMANDED:,} judged, none deviates", "success"),
        (Outcome.READING, {"reading_set": "strict"}, f"1 deviate, 1 of {DEMANDED:,} judged", "critical"),
        (Outcome.ERROR, {}, "harness error", "inactive"),
        (Outcome.SKIP, {}, "nothing judged", "inactive"),
        (Outcome.PASS, {"footer": None}, "incomplete", "inactive"),
        (Outcome.FAIL, {"footer": None}, "incomplete", "critical"),
    ],
)
def test_a_badge_says_no_more_than_the_run(
    make_run: Callable[..., Run], outcome: Outcome, members: dict[str, Any], text: str, colour: str
) -> None:
    run = make_run(one(outcome), **members)
    told = shields(run)
    assert (told["message"], told["color"]) == (text, colour)
    assert set(told) == {"schemaVersion", "label", "message", "color", "isError"} and told["schemaVersion"] == 1
    root = ET.fromstring(render_badge(run))
    assert root.get("aria-label") == f"MSMQ conformance: {text}"
    shown = [element for element in root.iter() if element.tag.endswith("}text")]
    assert [element.text for element in shown] == ["MSMQ conformance", text]
    right = float(shown[1].get("x") or 0) + float(shown[1].get("textLength") or 0)
    assert right + 6 == float(root.get("width") or 0)


def test_the_badge_of_a_hostile_run_is_an_image(hostile: Run) -> None:
    tags = {element.tag.rpartition("}")[2] for element in ET.fromstring(render_badge(hostile)).iter()}
    assert tags == {"svg", "title", "rect", "g", "text"}
    assert " id=" not in render_badge(hostile) and "href" not in render_badge(hostile)
    assert "deviate" in message(hostile)


def test_csv_holds_the_verdicts(typical: Run, tmp_path: Path) -> None:
    number = len(typical.verdicts)
    assert write_csv(typical, tmp_path / "v.csv") == number
    table = list(rows(typical))
    with (tmp_path / "v.csv").open(encoding="utf-8", newline="") as stream:
        written = list(csv.DictReader(stream))
    for line, row, recorded in zip(written, table, typical.verdicts, strict=True):
        verdict = recorded.verdict
        assert (row["requirement"], row["outcome"], row["subject"]) == (
            verdict.requirement,
            verdict.outcome.value,
            verdict.subject,
        )
        assert row["count"] == recorded.count and row["suite"] == recorded.suite
        assert (None if row["expected"] is None else json.loads(row["expected"])) == verdict.expected
        assert (None if row["actual"] is None else json.loads(row["actual"])) == verdict.actual
        assert line == {name: "" if row[name] is None else str(row[name]) for name in COLUMNS}
    (broken,) = [row for row in table if row["requirement"] == BROKEN]
    assert broken["repro"].endswith("0f3a9b2c11d04e55.json") and broken["level"] == "must"
    assert broken["implementation"] == "acme-mq" and broken["evidence_ref"] == "call-17"


def test_hostile_text_breaks_no_table(hostile: Run, tmp_path: Path) -> None:
    number = len(hostile.verdicts)
    assert write_csv(hostile, tmp_path / "v.csv") == number
    text = (tmp_path / "v.csv").read_bytes().decode("utf-8")
    assert not UNSEEN - {"\r", "\n"} & set(text)
    written = list(csv.reader(text.splitlines(keepends=True)))
    assert len(written) == number + 1 and {len(line) for line in written} == {len(COLUMNS)}
    assert max(len(cell) for line in written for cell in line) <= 6 * MAX_CELL


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(make_run: Callable[..., Run], text: str, tmp_path: Path) -> None:
    write_csv(make_run(one(Outcome.PASS, subject=text)), tmp_path / "v.csv")
    with (tmp_path / "v.csv").open(encoding="utf-8", newline="") as stream:
        (row,) = csv.DictReader(stream)
    assert row["subject"].startswith("'")


def test_a_deep_value_is_written_whole(make_run: Callable[..., Run], tmp_path: Path) -> None:
    """As deep as a reader of the record takes it; every format bears it."""
    value: Any = 1
    for _ in range(400):
        value = {"a": [value]}

    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict(BROKEN, Outcome.FAIL, "s", expected=value, actual=value), suite="cursors", test="t")

    run = make_run(fill)
    (row,) = rows(run)
    assert json.loads(row["actual"]) == value
    assert write_csv(run, tmp_path / "v.csv") == 1
    assert BROKEN in render_markdown(run) and BROKEN in render_sarif(run)


def test_an_unknown_requirement_has_no_section(make_run: Callable[..., Run]) -> None:
    (row,) = rows(make_run(one(Outcome.PASS, requirement="MQMQ-1.no-such-thing")))
    assert row["requirement"] == "MQMQ-1.no-such-thing" and row["document"] is None and row["level"] is None


def test_annotations_name_the_deviation(typical: Run) -> None:
    first = FORMS["github"](typical).splitlines()[0]
    assert first.startswith(f"::error title=fail {BROKEN}::MS-MQDMPR 3.2.7.3, must: A peek-next with a cursor")
    first = FORMS["azure"](typical).splitlines()[0]
    assert first.startswith(f"##vso[task.logissue type=error]fail {BROKEN}: MS-MQDMPR 3.2.7.3, must: ")
    issues = json.loads(FORMS["gitlab"](typical))
    assert issues[0]["check_name"] == BROKEN and issues[0]["severity"] == "major"
    assert issues[0]["location"]["path"] == "reports/out/first/repros/0f3a9b2c11d04e55.json"
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)


@pytest.mark.parametrize(
    ("outcome", "reading_set", "github", "azure", "gitlab"),
    [
        (Outcome.FAIL, "windows", "error", "error", "major"),
        (Outcome.ERROR, "windows", "error", "error", "major"),
        (Outcome.WARN, "windows", "warning", "warning", "minor"),
        (Outcome.READING, "windows", "notice", "warning", "info"),
        (Outcome.READING, "strict", "error", "error", "major"),
    ],
)
def test_annotations_weigh_alike(
    make_run: Callable[..., Run], outcome: Outcome, reading_set: str, github: str, azure: str, gitlab: str
) -> None:
    run = make_run(one(outcome), reading_set=reading_set)
    assert FORMS["github"](run).startswith(f"::{github} ")
    assert FORMS["azure"](run).startswith(f"##vso[task.logissue type={azure}]")
    assert [issue["severity"] for issue in json.loads(FORMS["gitlab"](run))] == [gitlab]


def test_what_passed_is_not_annotated(make_run: Callable[..., Run]) -> None:
    run = make_run(one(Outcome.PASS))
    assert (FORMS["github"](run), FORMS["azure"](run), FORMS["gitlab"](run)) == ("", "", "[]\n")


def test_hostile_text_is_no_command_of_a_server(make_run: Callable[..., Run]) -> None:
    text = "x\n::add-mask::a%0A::set-env name=b::c\r##vso[task.setvariable variable=d]e ##[error]f"

    def fill(writer: RunWriter) -> None:
        for name in (BROKEN, f"MQMQ-1.{text}"):
            writer.verdict(Verdict(name, Outcome.FAIL, text), suite=text, test=text)

    run = make_run(fill)
    for line in FORMS["github"](run).splitlines():
        kind, properties, told = line.split("::", 2)
        assert kind == "" and properties.startswith("error title=fail ") and properties.count(",") == 0
        assert properties.count(":") == 0 and "%0A" not in told and "%250A" in told
    lines = FORMS["azure"](run).splitlines()
    assert len(lines) == 2 and all(line.count("##") == 1 and line.startswith("##vso[task.logissue") for line in lines)


def test_annotations_are_bounded(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        for demand in list(catalogue())[: 2 * MAX_ANNOTATIONS]:
            writer.verdict(Verdict(demand.id, Outcome.FAIL, "x" * 100_000), suite="a", test="t")

    run = make_run(fill)
    assert len(FORMS["github"](run).splitlines()) == MAX_ANNOTATIONS
    assert len(FORMS["github"](run)) < 100_000


def parse(run: Run) -> ET.Element:
    source = render_junit(run)
    # What XML 1.0 has no place for, even escaped.
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", source)
    root = ET.fromstring(source.encode("utf-8"))
    check_shape(root)
    return root


def check_shape(root: ET.Element) -> None:
    """The rules of Ant's schema, which is the narrower of the two."""
    assert root.tag == "testsuites"
    for number, suite in enumerate(root):
        assert suite.tag == "testsuite" and suite.get("id") == str(number)
        for name in ("package", "name", "timestamp", "hostname", "tests", "failures", "errors", "time"):
            assert suite.get(name) not in (None, "")
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}", suite.get("timestamp") or "")
        tags = [child.tag for child in suite]
        cases = suite.findall("testcase")
        assert tags == ["properties", *["testcase"] * len(cases), "system-out", "system-err"]
        assert all(one.get("name") and one.get("value") for one in suite.findall("properties/property"))
        for case in cases:
            assert case.get("name") and case.get("classname") and float(case.get("time") or "x") >= 0
            assert [child.tag for child in case] in ([], ["failure"], ["error"], ["skipped"], ["system-out"])
            for child in case:
                assert child.tag in ("skipped", "system-out") or child.get("type")
        counted = {tag: sum(case.find(tag) is not None for case in cases) for tag in ("failure", "error", "skipped")}
        assert int(suite.get("tests") or 0) == len(cases)
        assert int(suite.get("failures") or 0) == counted["failure"]
        assert int(suite.get("errors") or 0) == counted["error"]
        assert int(suite.get("skipped") or 0) == counted["skipped"]


def case_of(root: ET.Element, suite: str, name: str) -> ET.Element:
    found = root.findall(f"testsuite[@name='{suite}']/testcase[@name='{name}']")
    assert len(found) == 1
    return found[0]


def test_a_failure_carries_its_story(typical: Run) -> None:
    failure = case_of(parse(typical), "cursors", BROKEN).find("failure")
    assert failure is not None and failure.get("type") == "fail"
    assert "MS-MQDMPR 3.2.7.3, must: " in (failure.get("message") or "")
    text = failure.text or ""
    assert "   1. create queue q1\n" in text and "   5. peek next with c1" in text
    assert "MQ_ERROR_ILLEGAL_CURSOR_ACTION (0xC00E001C)" in text
    assert "repro: mqconform repro reports/out/first/repros/0f3a9b2c11d04e55.json" in text


@pytest.mark.parametrize(
    ("outcome", "tag"),
    [
        (Outcome.FAIL, "failure"),
        (Outcome.CRASH, "failure"),
        (Outcome.TIMEOUT, "failure"),
        (Outcome.FLAKY, "failure"),
        (Outcome.ERROR, "error"),
        (Outcome.INCONCLUSIVE, "skipped"),
        (Outcome.SKIP, "skipped"),
        (Outcome.READING, "system-out"),
        (Outcome.WARN, "system-out"),
        (Outcome.PASS, None),
    ],
)
def test_every_outcome_has_its_place(make_run: Callable[..., Run], outcome: Outcome, tag: str | None) -> None:
    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict(BROKEN, outcome, "s", reason="because"), suite="cursors", test="t")

    case = case_of(parse(make_run(fill)), "cursors", BROKEN)
    assert [child.tag for child in case] == ([tag] if tag else [])


def test_a_reading_fails_under_the_strict_readings(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict(BROKEN, Outcome.READING, "s"), suite="cursors", test="t")

    case = case_of(parse(make_run(fill, reading_set="strict")), "cursors", BROKEN)
    assert case.find("failure") is not None


def test_one_case_a_requirement_and_suite(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        for suite, outcome in (("a", Outcome.PASS), ("a", Outcome.FAIL), ("b", Outcome.PASS)):
            writer.verdict(Verdict(BROKEN, outcome, "s"), suite=suite, test="t")
        writer.verdict(Verdict(OTHER, Outcome.PASS, "s"), suite="a", test="t")

    root = parse(make_run(fill))
    assert [suite.get("tests") for suite in root] == ["2", "1"]
    assert case_of(root, "a", BROKEN).find("failure") is not None
    assert len(case_of(root, "b", BROKEN)) == 0


def test_hostile_text_stays_text(hostile: Run) -> None:
    root = parse(hostile)
    assert "</script><script>alert(1)" in (root[0].get("name") or "")
    assert all(len(failure.text or "") < 70_000 for failure in root.iter("failure"))


def test_silence_is_not_success(make_run: Callable[..., Run]) -> None:
    assert [case.get("name") for case in parse(make_run()).iter("testcase")] == ["anything-judged"]

    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict(BROKEN, Outcome.PASS, "s"), suite="cursors", test="t")

    cut = parse(make_run(fill, footer=None))
    assert case_of(cut, "mqconform", "record-complete").find("error") is not None
    assert "mqconform" not in [suite.get("name") for suite in parse(make_run(fill))]


def test_the_time_of_a_test_is_shared_among_what_it_judged(make_run: Callable[..., Run]) -> None:
    def fill(writer: RunWriter) -> None:
        for name, test in ((BROKEN, "a"), (OTHER, "a"), (OTHER, "b")):
            writer.verdict(Verdict(name, Outcome.PASS, "s"), suite="cursors", test=test)
        writer.took({"a": 3000, "b": 250, "judged nothing": 7000})

    root = parse(make_run(fill))
    assert case_of(root, "cursors", BROKEN).get("time") == "1.500"
    assert case_of(root, "cursors", OTHER).get("time") == "1.750"
    assert root[0].get("time") == "3.250"


WEIRD: tuple[Any, ...] = (None, True, -1, 2**70, 1e308, "x", "\ud800", [], {"a": 1}, [None])


def first_of_each_kind(path: Path) -> list[dict[str, Any]]:
    kinds: dict[str, dict[str, Any]] = {}
    for line in path.read_bytes().splitlines():
        event = {name: value for name, value in json.loads(line).items() if name not in ("seal", "sealed")}
        # The richest verdict is the failing one: it has expected, actual, readings and evidence.
        if event["event"] not in kinds or len(event) > len(kinds[event["event"]]):
            kinds[event["event"]] = event
    return list(kinds.values())


KINDS = ("header", "hello", "verdict", "evidence", "story", "packet", "note", "driver", "footer")


@pytest.mark.parametrize("kind", KINDS)
def test_any_member_may_be_anything(typical: Run, tmp_path: Path, kind: str) -> None:
    events = first_of_each_kind(typical.parts[0])
    at = next(number for number, event in enumerate(events) if event["event"] == kind)
    part = tmp_path / "run-main.ndjson"
    refused = reported = 0
    for member in events[at]:
        for value in WEIRD:
            changed = [*events]
            changed[at] = {**events[at], member: value}
            part.write_text("".join(json.dumps(event) + "\n" for event in changed))
            try:
                run = read_run(part)
            except RunRecordError as error:
                refused += 1
                assert "\n" not in str(error) and str(error).endswith(".")
                continue
            reported += 1
            if reported % 5 == 1:
                report_everything(run)
    assert refused and reported


def report_everything(run: Run) -> None:
    render_html(run).encode("utf-8")
    render_junit(run).encode("utf-8")
    json.dumps(summary(run))
    print_summary(run, Console(file=io.StringIO(), width=80))


def test_every_line_may_be_missing(typical: Run, tmp_path: Path) -> None:
    events = first_of_each_kind(typical.parts[0])
    part = tmp_path / "run-main.ndjson"
    for at in range(1, len(events)):
        part.write_text("".join(json.dumps(event) + "\n" for event in events[:at] + events[at + 1 :]))
        report_everything(read_run(part))
