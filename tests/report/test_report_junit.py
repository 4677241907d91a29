"""JUnit XML: the shape both common schemas take, and no way for a label to break it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest

from conformance.report import render_junit
from conformance.runlog import Run, RunWriter
from conformance.verdict import Outcome, Verdict

BROKEN = "MQDMPR-3.2.7.3.illegal-cursor-action"
OTHER = "MQMQ-2.4.illegal-formatname"


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
