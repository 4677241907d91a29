"""JUnit XML and SARIF hold to the schemas that their readers publish, whatever a run holds."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator, FormatChecker
from lxml import etree

from conformance.report import render_junit, render_sarif
from conformance.report.gate import decide
from conformance.report.sarif import flat, message, sarif
from conformance.report.standing import Known, standing
from conformance.runlog import Run, RunWriter, StoryStep
from conformance.verdict import Outcome, Verdict

SCHEMAS = Path(__file__).parent / "schemas"
BROKEN = "MQDMPR-3.2.7.3.illegal-cursor-action"
SILENT = "MQDMPR-3.1.7.1.3.invalid-path-name"
HOSTILE = "</script>\u202e\x1b\x00]]>{0} [a](b)"


@pytest.fixture(scope="module")
def junit_schema() -> Any:
    return etree.XMLSchema(etree.parse(SCHEMAS / "junit-10.xsd"))


@pytest.fixture(scope="module")
def sarif_schema() -> Draft4Validator:
    schema = json.loads((SCHEMAS / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8"))
    return Draft4Validator(schema, format_checker=FormatChecker())


def problems(schema: Draft4Validator, document: Any) -> list[str]:
    return [f"{list(error.path)}: {error.message[:200]}" for error in schema.iter_errors(document)]


def only(run: Run) -> dict[str, Any]:
    """The run of the log, read back from its text."""
    (found,) = json.loads(render_sarif(run))["runs"]
    return dict(found)


def test_the_schemas_are_those_that_were_published() -> None:
    sources = tomllib.loads((SCHEMAS / "sources.toml").read_text(encoding="utf-8"))["schema"]
    assert {one["file"] for one in sources} == {path.name for path in SCHEMAS.iterdir()} - {"sources.toml"}
    for one in sources:
        assert sha256((SCHEMAS / one["file"]).read_bytes()).hexdigest() == one["sha256"], one["file"]


def test_the_schemas_refuse_what_is_wrong(typical: Run, junit_schema: Any, sarif_schema: Draft4Validator) -> None:
    assert not junit_schema.validate(
        etree.fromstring(render_junit(typical).replace("skipped message", "skipped why").encode())
    )
    log = sarif(typical)
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert problems(sarif_schema, log)


@pytest.mark.parametrize("name", ["typical", "hostile"])
def test_junit_holds_to_its_schema(name: str, junit_schema: Any, request: pytest.FixtureRequest) -> None:
    document = etree.fromstring(render_junit(request.getfixturevalue(name)).encode("utf-8"))
    assert junit_schema.validate(document), junit_schema.error_log


@pytest.mark.parametrize("name", ["typical", "hostile"])
def test_sarif_holds_to_its_schema(name: str, sarif_schema: Draft4Validator, request: pytest.FixtureRequest) -> None:
    text = render_sarif(request.getfixturevalue(name))
    assert problems(sarif_schema, json.loads(text)) == []
    assert len(text) < 3_000_000 and text.isascii()


@pytest.mark.parametrize("name", ["typical", "hostile"])
def test_what_a_gate_adds_holds_to_them(
    name: str, junit_schema: Any, sarif_schema: Draft4Validator, request: pytest.FixtureRequest
) -> None:
    run = request.getfixturevalue(name)
    entries = [Known(one, HOSTILE, HOSTILE, date(2020, 1, 1)) for one in (BROKEN, SILENT)]
    decision = decide(standing(run), baseline=entries, today=date(2026, 11, 22))
    assert {one.kind for one in decision.objections} >= {"unseen", "expired"} and decision.known
    document = etree.fromstring(render_junit(run, decision).encode("utf-8"))
    assert junit_schema.validate(document), junit_schema.error_log
    assert problems(sarif_schema, json.loads(render_sarif(run, decision))) == []


@pytest.mark.parametrize(
    ("outcome", "reading_set"), [*((one, "windows") for one in Outcome), (Outcome.READING, "strict")]
)
def test_every_outcome_has_its_place(
    make_run: Callable[..., Run], sarif_schema: Draft4Validator, outcome: Outcome, reading_set: str
) -> None:
    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict(BROKEN, outcome, "s", reason="because"), suite="cursors", test="t")

    whole = json.loads(render_sarif(make_run(fill, reading_set=reading_set)))
    assert problems(sarif_schema, whole) == []
    (log,) = whole["runs"]
    levels = {"warn": "warning", "reading": "error" if reading_set == "strict" else "note"}
    if outcome in (Outcome.PASS, Outcome.SKIP, Outcome.INCONCLUSIVE, Outcome.ERROR):
        assert log["results"] == [] and log["tool"]["driver"]["rules"] == []
    else:
        assert [one["level"] for one in log["results"]] == [levels.get(outcome.value, "error")]
    (invocation,) = log["invocations"]
    told = [note["message"]["text"] for note in invocation["toolExecutionNotifications"]]
    assert len(told) == (outcome is Outcome.ERROR)
    assert invocation["executionSuccessful"] is not (outcome is Outcome.ERROR)


def test_a_result_tells_what_to_do(typical: Run) -> None:
    log = only(typical)
    (result,) = [one for one in log["results"] if one["ruleId"] == BROKEN]
    assert log["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == BROKEN
    text = result["message"]["text"]
    assert text.startswith("fail: MS-MQDMPR 3.2.7.3, must: ")
    assert "Expected: status=MQ_ERROR_ILLEGAL_CURSOR_ACTION (0xC00E001C)" in text
    assert 'message.label="b", message.priority=3' in text
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert steps[0]["location"]["message"]["text"] == "create queue q1" and len(steps) == 5
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert place == "reports/out/first/repros/0f3a9b2c11d04e55.json"
    assert result["properties"]["repro"].startswith("mqconform repro reports/out/first/repros/0f3a9b2c11d04e55.json")


def test_a_deviation_stays_the_same_alert(make_run: Callable[..., Run]) -> None:
    def fill(subject: str, steps: int) -> Callable[[RunWriter], None]:
        def filled(writer: RunWriter) -> None:
            name = writer.verdict(Verdict(BROKEN, Outcome.FAIL, subject, actual=steps), suite="cursors", test="t")
            writer.story(name, [StoryStep("step")] * steps, repro=f"out/repros/{steps}.json")

        return filled

    def print_of(subject: str, steps: int) -> str:
        (result,) = only(make_run(fill(subject, steps)))["results"]
        return str(result["partialFingerprints"]["mqconform/v1"])

    first = print_of("receive", 3)
    assert print_of("receive", 5) == first != print_of("peek", 3)


def test_an_incomplete_record_is_no_success(make_run: Callable[..., Run], sarif_schema: Draft4Validator) -> None:
    def fill(writer: RunWriter) -> None:
        writer.verdict(Verdict(BROKEN, Outcome.PASS, "s"), suite="cursors", test="t")

    whole = sarif(make_run(fill, footer=None, started="yesterday"))
    assert problems(sarif_schema, whole) == []
    (invocation,) = whole["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False and invocation["toolExecutionNotifications"]
    assert "startTimeUtc" not in invocation and "endTimeUtc" not in invocation


def test_messages_hold_no_placeholder_and_no_link(hostile: Run) -> None:
    def texts(value: Any, key: str = "") -> list[str]:
        if isinstance(value, dict):
            return [text for name, member in value.items() for text in texts(member, name)]
        if isinstance(value, list):
            return [text for member in value for text in texts(member, key)]
        return [value] if key == "text" else []

    found = texts(only(hostile))
    assert found and any("{{{{7*7}}}}" in text for text in found)
    for text in found:
        assert "{" not in text.replace("{{", "") and "](" not in text
    assert message("{0} [a](javascript:x)") == "{{0}} [a] (javascript:x)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"status": 0xC00E001B}, "status=MQ_ERROR_IO_TIMEOUT (0xC00E001B)"),
        ({"a": {"b": [1, {"c": None}]}, "d": {}}, "a.b.0=1, a.b.1.c=null, d={}"),
        ("text", '"text"'),
        ([], "[]"),
        (7, "7"),
        ({"": 1}, "1"),
    ],
)
def test_values_are_told_without_braces(value: Any, text: str) -> None:
    assert flat(value) == text


def test_long_values_are_cut() -> None:
    deep: Any = "end"
    for _ in range(50):
        deep = {"member": deep}
    assert len(flat(deep)) < 500
    assert "30 more" in flat(list(range(50)))
    assert len(flat({str(number): "x" * 1000 for number in range(1000)})) < 500
