"""JUnit XML, for CI servers: one test case a requirement and suite, the failure's text is its story.

The shape is what both common schemas (Ant's and Jenkins') take. JUnit knows no more than passed, failed, error and
skipped, so that: fail, crash, timeout and flaky fail; error is an error; inconclusive and skip are skipped; warn and
reading pass with a word in `system-out` (reading fails under the strict readings).
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from conformance.report.findings import Finding, Group, groups, heading, story_lines
from conformance.report.table import REFUTED, UNJUDGED, Row, Table, roll_up
from conformance.report.text import label, visible
from conformance.report.timing import Times, times
from conformance.runlog import RecordedVerdict, Run
from conformance.verdict import Outcome, worst

MAX_TEXT = 60_000
"""Characters of one failure's text."""

HARNESS = "mqconform"
"""Suite of the cases that speak of the run itself, not of a requirement."""


def render_junit(run: Run) -> str:
    """The run as a JUnit XML document.

    A run that judged nothing and a record that is incomplete each add a case with an error: a CI server would take
    their silence for success.
    """
    table = roll_up(run)
    rows = {row.id: row for row in table.rows}
    order = {name: at for at, name in enumerate(rows)}
    cases: dict[str, dict[str, list[RecordedVerdict]]] = {}
    for recorded in run.verdicts:
        cases.setdefault(recorded.suite, {}).setdefault(recorded.verdict.requirement, []).append(recorded)
    found = {(group.row.id, group.outcome): group for part in groups(run, table) for group in part}
    root = ET.Element("testsuites")
    spent = times(run)
    for number, (suite, members) in enumerate(sorted(cases.items())):
        element = _suite(run, number, suite)
        for name in sorted(members, key=order.__getitem__):
            strict = run.header.reading_set == "strict"
            _case(element, suite, rows[name], members[name], found, spent, strict=strict)
        _close(element)
        root.append(element)
    _run_itself(root, run, table, len(cases))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(run: Run, number: int, name: str) -> ET.Element:
    header = run.header
    element = ET.Element(
        "testsuite",
        {
            "id": str(number),
            "package": "mqconform",
            "name": label(name, 200),
            # Ant's schema takes a local time without zone or fraction.
            "timestamp": started.group() if (started := _TIME.match(header.started)) else "1970-01-01T00:00:00",
            "hostname": "localhost",
            "time": "0",
        },
    )
    properties = ET.SubElement(element, "properties")
    for key, value in (
        ("profile", header.profile),
        ("level", header.level),
        ("readings", header.reading_set),
        ("seed", header.seed),
        ("connector", header.connector),
        ("implementation", " ".join(str((run.hello or {}).get(key, "")) for key in ("name", "version")).strip()),
    ):
        if value not in (None, ""):
            ET.SubElement(properties, "property", {"name": key, "value": label(value)})
    return element


def _case(
    suite: ET.Element,
    name: str,
    row: Row,
    verdicts: Sequence[RecordedVerdict],
    found: dict[tuple[str, Outcome], Group],
    spent: Times,
    *,
    strict: bool,
) -> None:
    outcome = worst(recorded.verdict.outcome for recorded in verdicts)
    assert outcome is not None
    taken = f"{spent.get((name, row.id), 0.0):.3f}"
    case = ET.SubElement(
        suite, "testcase", {"classname": f"mqconform.{label(name, 200)}", "name": label(row.id), "time": taken}
    )
    group = found.get((row.id, outcome))
    shown = [finding for finding in (group.shown if group else ()) if finding.recorded.suite == name]
    reason = next((recorded.verdict.reason for recorded in verdicts if recorded.verdict.outcome is outcome), None)
    told = _text(row, shown, reason)
    if outcome in REFUTED or outcome is Outcome.ERROR or (strict and outcome is Outcome.READING):
        tag = "error" if outcome is Outcome.ERROR else "failure"
        message = f"{outcome.value}: {heading(row)}"
        ET.SubElement(case, tag, {"type": outcome.value, "message": message}).text = told
    elif outcome in UNJUDGED:
        ET.SubElement(case, "skipped", {"message": f"{outcome.value}: {label(reason or '')}"})
    elif outcome is not Outcome.PASS:
        ET.SubElement(case, "system-out").text = f"{outcome.value}\n{told}"


def _text(row: Row, findings: Sequence[Finding], reason: str | None) -> str:
    lines = [heading(row), f"requirement: {label(row.id)}"]
    if not findings and reason:
        lines.append(f"reason: {label(reason)}")
    for finding in findings:
        lines += ["", *story_lines(finding)]
    text = "\n".join(lines)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}\n… (the run record has the rest)"


def _run_itself(root: ET.Element, run: Run, table: Table, number: int) -> None:
    wrong = []
    if not run.complete:
        wrong.append(("record-complete", "The run record is incomplete", list(run.problems)))
    if not table.judged:
        wrong.append(("anything-judged", "Nothing was judged", []))
    if not wrong:
        return
    suite = _suite(run, number, HARNESS)
    for name, message, lines in wrong:
        case = ET.SubElement(suite, "testcase", {"classname": HARNESS, "name": name, "time": "0"})
        error = ET.SubElement(case, "error", {"type": "error", "message": message})
        error.text = "\n".join(visible(line) for line in lines) or message
    _close(suite)
    root.append(suite)


def _close(suite: ET.Element) -> None:
    """The counts, and the two elements that Ant's schema wants last."""
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    ET.SubElement(suite, "system-out")
    ET.SubElement(suite, "system-err")


_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}", re.ASCII)
