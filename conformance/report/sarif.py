"""Deviations for CI servers and code reviews: JUnit XML, SARIF 2.1.0, annotations, and GitLab's Code Quality."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from conformance import __version__
from conformance.report.findings import Group, ReportedFinding, groups, heading, story_lines
from conformance.report.gate import KNOWN, NEW, Decision, Excused, Objection, parted, told_of
from conformance.report.situations import situations
from conformance.report.summary import Times, summary, times
from conformance.report.table import UNJUDGED, RequirementRow, Table, roll_up
from conformance.report.text import label, value_text, visible
from conformance.runlog import Run, Said
from conformance.runlog.run import left_out
from conformance.spec.constants.codes import named
from conformance.spec.versions import LEVELS
from conformance.verdict import Json, Outcome

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

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MAX_RESULTS = 5_000
"""Results of one run: as many as GitHub shows."""
MAX_STEPS = 100
"""Steps of one result's code flow."""

_LEVELS = {Outcome.WARN: "warning", Outcome.READING: "note"}
_RULE_LEVELS = dict(zip(LEVELS, ("error", "warning", "note"), strict=True))


def render_sarif(run: Run, decision: Decision | None = None) -> str:
    """Return the run as the text of a SARIF log."""
    return json.dumps(sarif(run, decision), indent=1) + "\n"


def sarif(run: Run, decision: Decision | None = None) -> dict[str, Json]:
    """Return the run as a SARIF log.

    rules: the requirements that have a result. results: at most five of a requirement and outcome, worst first, each
    with its story as a code flow and, as its place, the repro file, the capture or the run record. fingerprints:
    requirement and subject, so that a deviation keeps the same alert from run to run. decision: the gate's; a known
    deviation is `unchanged` and suppressed, another is `new`, and every other objection is a notification on the tool's
    configuration.
    """
    excused = Excused(run, decision)
    failures, known, notable = parted(excused, roll_up(run))
    states = excused.states()
    told = [group for group in (*failures, *known, *notable) if group.outcome is not Outcome.ERROR]
    rules: list[Json] = []
    places: dict[str, int] = {}
    results: list[Json] = []
    strict = run.header.reading_set == "strict"
    for group in told:
        for finding in group.shown:
            if len(results) < MAX_RESULTS:
                if group.row.id not in places:
                    places[group.row.id] = len(rules)
                    rules.append(_rule(group.row))
                state = excused.state(states, group.row.id, group.outcome)
                result = _result(run, group, finding, places[group.row.id], strict=strict)
                results.append({**result, **_stance(excused, group, state)})
    names = (label((run.hello or {}).get("name") or "implementation", 80), label(run.header.profile or "", 40))
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "mqconform", "version": __version__, "rules": rules}},
                # The part before the last slash tells the analyses of one commit apart.
                "automationDetails": {"id": "/".join(("mqconform", *(quote(name, safe="") for name in names), ""))},
                "columnKind": "unicodeCodePoints",
                "invocations": [_invocation(excused, failures)],
                "results": results,
                "properties": _numbers(run),
            }
        ],
    }


def _stance(excused: Excused, group: Group, state: str | None) -> dict[str, Json]:
    """Return the members that a gate adds to a result."""
    if excused.decision is None:
        return {}
    if state is None:
        weak = group.outcome in _LEVELS
        return {} if weak else {"level": "warning"}
    if state != KNOWN:
        return {"level": "error", "baselineState": "new"}
    why = message(label(excused.excuses[group.row.id]))
    suppressed = {"kind": "external", "status": "accepted", "justification": why}
    return {"level": "note", "baselineState": "unchanged", "suppressions": [suppressed]}


def flat(value: Json) -> str:
    """Return a JSON value as `member.of=value` pairs on one line, because braces are placeholders in a message."""
    return label(", ".join(_pairs(value, "")).removeprefix("="))


def _pairs(value: Json, path: str, depth: int = 0) -> Iterator[str]:
    if not isinstance(value, (Mapping, list, tuple)) or not value or depth >= 8:
        yield f"{path}={' '.join(value_text(value, 200).split())}"
        return
    members = value.items() if isinstance(value, Mapping) else enumerate(value)
    for number, (name, member) in enumerate(members):
        if number == 20:
            yield f"{len(value) - 20} more"
            return
        yield from _pairs(member, f"{path}.{name}" if path else str(name), depth + 1)


def message(text: str) -> str:
    """Escape plain text for a SARIF message: no placeholder, no embedded link."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _rule(row: RequirementRow) -> dict[str, Json]:
    demand = row.demand
    says = demand.says if demand else "A requirement that this version's catalogue does not have."
    level = demand.level if demand else LEVELS[0]
    return {
        "id": label(row.id),
        "shortDescription": {"text": message(says)},
        "fullDescription": {"text": message(heading(row))},
        "help": {"text": message(_help(row))},
        "defaultConfiguration": {"level": _RULE_LEVELS[level]},
        "properties": {
            "document": label(row.document, 60),
            "section": label(row.section, 60),
            "level": level,
            "tags": ["conformance", label(row.document, 60), level],
            "problem.severity": "recommendation" if level == "may" else _RULE_LEVELS[level],
        },
    }


def _help(row: RequirementRow) -> str:
    lines = [heading(row)]
    if row.demand is not None and row.demand.product:
        lines.append(f"Windows: {row.demand.product}")
    lines.append(f"More: mqconform requirements show {label(row.id)}")
    return "\n".join(lines)


def _result(run: Run, group: Group, finding: ReportedFinding, index: int, *, strict: bool) -> dict[str, Json]:
    verdict = finding.recorded.verdict
    level = "error" if strict and group.outcome is Outcome.READING else _LEVELS.get(group.outcome, "error")
    # A scanner refuses a result without a location.
    where = {"artifactLocation": {"uri": _uri(place(run, finding))}, "region": {"startLine": 1}}
    physical = {"physicalLocation": where}
    print_ = sha256("\0".join((verdict.requirement, verdict.subject)).encode("utf-8", "backslashreplace")).hexdigest()
    result: dict[str, Json] = {
        "ruleId": label(group.row.id),
        "ruleIndex": index,
        "level": level,
        "message": {"text": message(_message(group, finding))},
        "locations": [
            {
                **physical,
                "logicalLocations": [
                    {
                        "name": label(finding.subject, 200),
                        "fullyQualifiedName": label(f"{finding.recorded.suite}/{finding.recorded.test}"),
                    }
                ],
            }
        ],
        "occurrenceCount": max(1, finding.recorded.count),
        "partialFingerprints": {"mqconform/v1": print_, "primaryLocationLineHash": f"{print_[:16]}:1"},
        "properties": {
            "outcome": group.outcome.value,
            "expected": finding.expected or "",
            "actual": finding.actual or "",
            "readings": [label(f"{name}={chosen}") for name, chosen in verdict.readings],
            **({"repro": finding.repro_command} if finding.repro_command else {}),
            **_packet(finding),
        },
    }
    if finding.story is not None and finding.story.steps:
        flow = [
            {"location": {**physical, "message": {"text": message(label(named(step.text)))}}}
            for step in finding.story.steps[:MAX_STEPS]
        ]
        result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    return result


def _packet(finding: ReportedFinding) -> dict[str, Json]:
    """Return the place of the packet in its capture, as far as it is known."""
    members = finding.place.to_json() if finding.place is not None else {}
    return {
        name: label(value) if isinstance(value, str) else value for name, value in members.items() if value is not None
    }


def _message(group: Group, finding: ReportedFinding) -> str:
    verdict = finding.recorded.verdict
    parts = [f"{group.outcome.value}: {heading(group.row)}", f"On: {finding.subject_line}"]
    if verdict.expected is not None:
        parts.append(f"Expected: {flat(verdict.expected)}")
    if verdict.actual is not None:
        parts.append(f"Actual: {flat(verdict.actual)}")
    if verdict.reason:
        parts.append(f"Reason: {label(verdict.reason)}")
    if group.more:
        parts.append(f"{group.more} more like this are in the run record.")
    return "\n".join(parts)


def place(run: Run, finding: ReportedFinding) -> str:
    """Return the file where a reader finds more: the repro file, the capture, or the run record.

    The path is relative if it is below the working directory, because servers know the files of a checkout by such
    paths.
    """
    if finding.story is not None and finding.story.repro:
        path = finding.story.repro
    elif finding.recorded.test in run.header.captures:
        path = finding.recorded.test
    else:
        return record_place(run)
    return _near(path)


def record_place(run: Run) -> str:
    """Return the first file of the run record, as `place` gives it."""
    return _near(str(run.parts[0]))


def _near(path: str) -> str:
    plain = PurePath(visible(path[:2_000]).replace("\\", "/"))
    here = Path.cwd()
    return (plain.relative_to(here) if plain.is_relative_to(here) else plain).as_posix()


def _uri(path: str) -> str:
    """Return a relative reference, or a `file` URI of an absolute path."""
    # A colon in the first segment would make it a scheme: everything but the slash is escaped.
    return f"file://{quote(path)}" if path.startswith("/") else quote(path)


def _invocation(excused: Excused, failures: Sequence[Group]) -> dict[str, Json]:
    run = excused.run
    header, footer = run.header, run.footer
    notes: list[Json] = [
        {"level": "error", "message": {"text": message(f"The run record is incomplete: {label(problem)}")}}
        for problem in run.problems
    ]
    for group in failures:
        if group.outcome is Outcome.ERROR:
            notes += [
                {
                    "level": "error",
                    "message": {"text": message(_message(group, finding))},
                    "associatedRule": {"id": label(group.row.id)},
                }
                for finding in group.shown
            ]
    code, successful = excused.result.code, run.complete and not notes
    if run.incomplete:
        text = message(f"The captures are incomplete: {run.incomplete.words}.")
        notes.append({"level": "warning", "message": {"text": text}})
    found: dict[str, Json] = {
        # Tells that the tool worked, not that nothing deviates.
        "executionSuccessful": successful,
        "exitCode": int(code),
        "exitCodeDescription": str(summary(run, decision=excused.decision)["conclusion"]).replace("-", " "),
        "toolExecutionNotifications": notes[:MAX_RESULTS],
    }
    if excused.others:
        found["toolConfigurationNotifications"] = [
            {"level": "error", "message": {"text": message(label(f"{one.kind}: {one.what}: {one.why}"))}}
            for one in excused.others[:MAX_RESULTS]
        ]
    for name, value in (("startTimeUtc", header.started), ("endTimeUtc", footer.ended if footer else "")):
        if _SARIF_TIME.fullmatch(value):
            found[name] = value
    return found


def _numbers(run: Run) -> dict[str, Json]:
    told: dict[str, Any] = summary(run)
    names = ("profile", "level", "reading_set", "seed", "verdicts", "requirements", "coverage", "stop_reason")
    return {name: label(told[name]) if isinstance(told[name], str) else told[name] for name in names}


_SARIF_TIME = re.compile(
    r"\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z", re.ASCII
)

MAX_ANNOTATIONS = 50
"""The most annotations of one job; a server shows far fewer."""
_MINOR = {Outcome.READING: "note"}


def github(run: Run, decision: Decision | None = None) -> str:
    """Return GitHub Actions workflow commands (`::error title=...::...`), one a line; known deviations are notices."""
    lines = []
    shown, more = _annotations(run, decision)
    for one in shown:
        kind = {"warning": "warning", "note": "notice"}.get(one.severity, "error")
        lines.append(f"::{kind} title={_property(one.title)}::{_data(one.words)}")
    if run.incomplete:
        lines.append(f"::warning title=incomplete captures::{_data(run.incomplete.words)}")
    if more:
        lines.append(f"::notice title=more::{_data(more)}")
    return "".join(f"{line}\n" for line in lines)


def azure(run: Run, decision: Decision | None = None) -> str:
    """Return Azure Pipelines commands (`##vso[task.logissue ...]...`), one a line; known deviations are plain text."""
    lines = []
    shown, more = _annotations(run, decision)
    for one in shown:
        kind = "error" if one.severity == "error" else "warning"
        words = f"{one.title}: {one.words}".replace("##", "# #")
        lines.append(words if one.known else f"##vso[task.logissue type={kind}]{words}")
    if run.incomplete:
        lines.append(f"##vso[task.logissue type=warning]incomplete captures: {run.incomplete.words}")
    if more:
        lines.append(more)
    return "".join(f"{line}\n" for line in lines)


def gitlab(run: Run, decision: Decision | None = None) -> str:
    """Return GitLab's Code Quality report: an issue a requirement and outcome, at its repro file or the run record."""
    severities = {"error": "major", "warning": "minor", "note": "info"}
    found: list[Json] = []
    for one in _annotations(run, decision)[0]:
        found.append(
            {
                "type": "issue",
                "check_name": one.name,
                "description": f"{one.outcome}: {one.words}",
                "categories": ["Compatibility"],
                "severity": severities[one.severity],
                "fingerprint": sha256(one.identity.encode("utf-8", "backslashreplace")).hexdigest(),
                "location": {"path": one.path, "lines": {"begin": 1}},
            }
        )
    return json.dumps(found, indent=1) + "\n"


FORMS: Mapping[str, Callable[[Run, Decision | None], str]] = {"azure": azure, "github": github, "gitlab": gitlab}
"""The functions by the name of the server."""


@dataclass(frozen=True, slots=True)
class _Annotation:
    """One annotation. severity: `error`, `warning` or `note`. known: the deviation is excused."""

    name: str
    outcome: str
    words: str
    severity: str
    identity: str
    path: str
    known: bool = False

    @property
    def title(self) -> str:
        """The outcome and the requirement."""
        return f"{self.outcome} {label(self.name, 120)}"


def _annotations(run: Run, decision: Decision | None) -> tuple[list[_Annotation], str]:
    """Return (the first MAX_ANNOTATIONS: what shuts the gate, known deviations, the rest; a line on those left out)."""
    excused = Excused(run, decision)
    failures, known, notable = parted(excused, roll_up(run))
    whole = len(failures) + len(excused.others) + len(known) + len(notable)
    found = [_of(run, group, "error") for group in failures[:MAX_ANNOTATIONS]]
    found += [_objection(run, one) for one in excused.others[:MAX_ANNOTATIONS]]
    found += [_of(run, group, "note", excused.excuses[group.row.id]) for group in known[:MAX_ANNOTATIONS]]
    found += [_of(run, group, _MINOR.get(group.outcome, "warning")) for group in notable[:MAX_ANNOTATIONS]]
    more = whole - min(whole, MAX_ANNOTATIONS)
    if not more:
        return found, ""
    return found[: MAX_ANNOTATIONS - 1], f"{more + 1:,} more are in the report."


def _of(run: Run, group: Group, severity: str, excuse: str | None = None) -> _Annotation:
    outcome = group.outcome.value if excuse is None else f"known {group.outcome.value}"
    words = _words(group) if excuse is None else f"{_words(group)} Known: {label(excuse)}."
    identity = f"{group.row.id}\0{group.outcome.value}"
    return _Annotation(
        label(group.row.id), outcome, words, severity, identity, place(run, group.shown[0]), excuse is not None
    )


def _objection(run: Run, one: Objection) -> _Annotation:
    return _Annotation(label(one.what), one.kind, label(one.why), "error", f"{one.what}\0{one.kind}", record_place(run))


def _words(group: Group) -> str:
    told = f"{heading(group.row)} On: {label(group.shown[0].subject_line, 300)}."
    return f"{told} {group.seen:,} times." if group.seen > 1 else told


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
