"""Write JUnit XML for CI servers: one test case for each requirement and suite; the text of a failure is its story.

The XML satisfies both common schemas (Ant's and Jenkins'). JUnit has only passed, failed, error and skipped, so
outcomes are mapped: fail, crash, timeout and flaky fail; error is an error; inconclusive and skip are skipped; warn and
reading pass with a word in `system-out` (reading fails under the strict readings). With a gate, what keeps it shut
fails and what it excuses is skipped.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from conformance.report.findings import Group, ReportedFinding, groups, heading, story_lines
from conformance.report.gate import KNOWN, NEW, Decision, Excused, told_of
from conformance.report.situations import situations
from conformance.report.summary import Times, times
from conformance.report.table import UNJUDGED, RequirementRow, Table, roll_up
from conformance.report.text import label, visible
from conformance.runlog import Run, Said
from conformance.runlog.run import left_out
from conformance.verdict import Outcome

MAX_TEXT = 60_000
"""Characters of one failure's text."""

HARNESS = "mqconform"
"""Suite of the cases about the run itself, not about a requirement."""


SITUATIONS = "situations"
"""Suite whose properties tell which situations were met."""
_CAPTURES = "captures-complete"


def render_junit(run: Run, decision: Decision | None = None, *, allow_incomplete: bool = False) -> str:
    """Return the run as a JUnit XML document.

    A run that judged nothing, an incomplete record and incomplete captures each add a case with an error: a CI server
    would take their silence for success. allow_incomplete: accept captures that lack what they announce; their case
    passes. decision: the gate's; each baseline entry and each silence that keeps it shut is a case that fails.
    """
    table, excused = roll_up(run), Excused(run, decision)
    states, excuses = excused.states(), excused.excuses
    rows = {row.id: row for row in table.rows}
    order = {name: at for at, name in enumerate(rows)}
    cases: dict[str, dict[str, list[Said]]] = {}
    for said in run.said:
        cases.setdefault(said.suite, {}).setdefault(said.requirement, []).append(said)
    found = {(group.row.id, group.outcome): group for part in groups(run, table) for group in part}
    root = ET.Element("testsuites")
    spent = times(run)
    for number, (suite, members) in enumerate(sorted(cases.items())):
        element = _suite(run, number, suite)
        for name in sorted(members, key=order.__getitem__):
            outcome, bad = told_of(excused, states.get(name), members[name])
            _case(element, suite, rows[name], outcome, bad, excuses.get(name), members[name], found, spent)
        _close(element)
        root.append(element)
    _run_itself(root, excused, table, len(cases), allowed=allow_incomplete)
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
            # Ant's schema requires a local time without zone or fraction.
            "timestamp": started.group() if (started := _TIME.match(header.started)) else "1970-01-01T00:00:00",
            "hostname": "localhost",
            "time": "0",
        },
    )
    left, planned = left_out(run), situations(run) if name == SITUATIONS else None
    properties = ET.SubElement(element, "properties")
    for key, value in (
        ("profile", header.profile),
        ("level", header.level),
        ("readings", header.reading_set),
        ("seed", header.seed),
        ("connector", header.connector),
        ("label", header.label),
        ("implementation", " ".join(str((run.hello or {}).get(key, "")) for key in ("name", "version")).strip()),
        ("left_out", None if left is None else left.sentence),
        ("situations", None if planned is None else planned.sentence),
    ):
        if value not in (None, ""):
            ET.SubElement(properties, "property", {"name": key, "value": label(value)})
    return element


def _case(
    suite: ET.Element,
    name: str,
    row: RequirementRow,
    outcome: Outcome,
    bad: str | None,
    excuse: str | None,
    verdicts: Sequence[Said],
    found: dict[tuple[str, Outcome], Group],
    spent: Times,
) -> None:
    reason = next((one.reason for one in verdicts if one.outcome is outcome and one.reason), None)
    taken = f"{spent.get((name, row.id), 0.0):.3f}"
    case = ET.SubElement(
        suite, "testcase", {"classname": f"mqconform.{label(name, 200)}", "name": label(row.id), "time": taken}
    )
    group = found.get((row.id, outcome))
    shown = [finding for finding in (group.shown if group else ()) if finding.recorded.suite == name]
    told = _text(row, shown, reason)
    if bad == KNOWN:
        ET.SubElement(case, "skipped", {"message": label(f"known {outcome.value}: {excuse}")}).text = told
    elif bad == NEW:
        tag = "error" if outcome is Outcome.ERROR else "failure"
        message = f"{outcome.value}: {heading(row)}"
        ET.SubElement(case, tag, {"type": outcome.value, "message": message}).text = told
    elif outcome in UNJUDGED:
        ET.SubElement(case, "skipped", {"message": f"{outcome.value}: {label(reason or '')}"})
    elif outcome is not Outcome.PASS:
        ET.SubElement(case, "system-out").text = f"{outcome.value}\n{told}"


def _text(row: RequirementRow, findings: Sequence[ReportedFinding], reason: str | None) -> str:
    lines = [heading(row), f"requirement: {label(row.id)}"]
    if not findings and reason:
        lines.append(f"reason: {label(reason)}")
    for finding in findings:
        lines += ["", *story_lines(finding)]
    text = "\n".join(lines)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}\n… (the run record has the rest)"


def _run_itself(root: ET.Element, excused: Excused, table: Table, number: int, *, allowed: bool) -> None:
    run = excused.run
    wrong = []
    if run.incomplete:
        lines = [f"{one.path}: {one.incomplete.words}" for one in run.captures if one.incomplete]
        wrong.append((_CAPTURES, f"The captures are incomplete: {run.incomplete.words}", lines))
    if not run.complete:
        wrong.append(("record-complete", "The run record is incomplete", list(run.problems)))
    if not table.judged and not table.beside:
        wrong.append(("anything-judged", "Nothing was judged", []))
    if not wrong and not excused.others:
        return
    suite = _suite(run, number, HARNESS)
    for name, message, lines in wrong:
        case = ET.SubElement(suite, "testcase", {"classname": HARNESS, "name": name, "time": "0"})
        told = "\n".join(visible(line) for line in lines) or message
        if allowed and name == _CAPTURES:
            ET.SubElement(case, "system-out").text = f"{message}\n{told}"
            continue
        ET.SubElement(case, "error", {"type": "error", "message": message}).text = told
    for one in excused.others:
        what = {"classname": f"{HARNESS}.gate", "name": label(f"{one.kind}: {one.what}"), "time": "0"}
        case = ET.SubElement(suite, "testcase", what)
        ET.SubElement(case, "failure", {"type": one.kind, "message": label(one.why)}).text = label(one.why)
    _close(suite)
    root.append(suite)


def _close(suite: ET.Element) -> None:
    """Set the suite's counts, and add the two elements that Ant's schema requires last."""
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))
    ET.SubElement(suite, "system-out")
    ET.SubElement(suite, "system-err")


_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}", re.ASCII)
