"""Write a run record as Allure results: a folder of JSON files and attachments that `allure generate` turns into a
report.

A result is one requirement as one suite judged it. The epic is the document, the feature the section, the story the
requirement, and the severity its level. The history id is made of requirement and suite, so that Allure shows how a
requirement changed from run to run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

from conformance import __version__
from conformance.files import make_folder, write_bytes, write_text
from conformance.report.findings import Group, ReportedFinding, groups, heading, story_lines
from conformance.report.gate import KNOWN, NEW, Decision, Excused, Objection, told_of
from conformance.report.hexdump import packet_capture, packet_of
from conformance.report.situations import situations
from conformance.report.summary import times
from conformance.report.table import UNJUDGED, RequirementRow, Table, roll_up, section_title, worst_of
from conformance.report.text import block, label
from conformance.runlog import Run, Said
from conformance.spec.constants.codes import named
from conformance.verdict import Outcome

if TYPE_CHECKING:
    from allure_commons.model2 import Attachment, TestResult

MAX_TEXT = 60_000
"""Characters of one story."""
MAX_DUMP = 200_000
"""Characters of one hex dump."""
MAX_STEPS = 200
"""Steps of one result."""
MAX_REPRO = 1 << 20
"""Bytes of a repro file that is attached; a longer one is not attached."""
MAX_ATTACHED = 2_000
"""Findings of one run that get attachments, worst first."""

_SEVERITIES = {"must": "critical", "should": "normal", "may": "minor"}
_CATEGORIES = [
    {"name": "Known deviations", "messageRegex": r"(?s)known .*", "matchedStatuses": ["skipped"]},
    {"name": "Deviations", "messageRegex": r"(?s)fail: .*", "matchedStatuses": ["failed"]},
    {"name": "Crashes and time-outs", "messageRegex": r"(?s)(crash|timeout): .*", "matchedStatuses": ["failed"]},
    {"name": "Not every time", "messageRegex": r"(?s)flaky: .*", "matchedStatuses": ["failed"]},
    {"name": "Other readings", "messageRegex": r"(?s)reading: .*", "matchedStatuses": ["failed", "passed"]},
    {"name": "Errors of the harness", "matchedStatuses": ["broken"]},
    {"name": "Not judged", "matchedStatuses": ["skipped"]},
]


def write_allure(run: Run, folder: Path, decision: Decision | None = None) -> int:
    """Write the results into this folder, which is made if it is absent, and return their number. Raises OSError.

    The files' names are derived from the run and their content: writing the same run twice adds nothing. The worst
    verdict on a requirement in a suite counts. Its findings become steps (those of the first finding) and attachments:
    the story, an annotated hex dump and a capture of a packet, the repro file. decision: the gate's; a deviation that
    it excuses is skipped, and every other objection becomes a failed result.
    """
    from attr import asdict

    make_folder(folder, above=False)
    table = roll_up(run)
    number = 0
    for result, attached in _results(Excused(run, decision), table):
        for name, content in attached:
            write_bytes(folder / name, content)
        written = json.dumps(asdict(result, filter=_kept), ensure_ascii=False)
        write_text(folder / f"{result.uuid}-result.json", written)
        number += 1
    write_surroundings(run, folder, table)
    return number


def write_surroundings(run: Run, folder: Path, table: Table | None = None) -> None:
    """Write what Allure shows beside the results: categories of deviations, and the settings. Raises OSError."""
    write_text(folder / "categories.json", json.dumps(_CATEGORIES, indent=1))
    write_text(folder / "environment.properties", _environment(run, table or roll_up(run)), encoding="ascii")


def _kept(attribute: Any, value: Any) -> bool:
    return bool(value) or value is False or value == 0


Attached = list[tuple[str, bytes]]


def _results(excused: Excused, table: Table) -> Iterator[tuple[TestResult, Attached]]:
    run, states = excused.run, excused.states()
    rows = {row.id: row for row in table.rows}
    judged: dict[tuple[str, str], list[Said]] = {}
    for said in run.said:
        judged.setdefault((said.suite, said.requirement), []).append(said)
    found: dict[tuple[str, Outcome], Group] = {
        (group.row.id, group.outcome): group for part in groups(run, table) for group in part
    }
    left = MAX_ATTACHED
    spent = times(run)
    # Worst first, so that the attachments go to the worst deviations.
    ordered = sorted(judged, key=lambda key: (_worst(judged[key]).rank, key))
    for suite, name in ordered:
        outcome, bad = told_of(excused, states.get(name), judged[suite, name])
        group = found.get((name, outcome))
        shown = [one for one in group.shown if one.recorded.suite == suite] if group else []
        result = _result(run, rows[name], suite, (outcome, bad), judged[suite, name], shown)
        if bad == KNOWN:
            _excuse(result, excused.excuses[name])
        result.stop += round(1000 * spent.get((suite, name), 0.0))
        attached: Attached = []
        for finding in shown[:left]:
            for part in parts(finding, _repro(run, finding)):
                attachment = _attachment(part, finding, result.uuid)
                result.attachments.append(attachment)
                attached.append((attachment.source, part.content))
        left -= min(left, len(shown))
        yield result, attached
    for objection in excused.others:
        yield _objection(run, objection), []


def _excuse(result: TestResult, excuse: str) -> None:
    """Mark the result as a known deviation."""
    from allure_commons.model2 import StatusDetails

    told = result.statusDetails or StatusDetails()
    told.message = f"known {told.message}\nknown from: {label(excuse)}"
    told.known = True
    result.statusDetails = told


def _objection(run: Run, one: Objection) -> TestResult:
    """Return a failed result for an objection of the gate that is not a deviation."""
    from allure_commons.model2 import Label, Status, StatusDetails, TestResult

    at, identity = _milliseconds(run.header.started), f"{one.kind}: {one.what}"
    return TestResult(
        uuid=str(uuid5(NAMESPACE_URL, _plain(f"mqconform/{run.header.run_id}/gate/{identity}"))),
        historyId=digest(identity, "gate"),
        testCaseId=digest(identity, "gate"),
        fullName=label(f"gate/{identity}"),
        name=label(identity),
        description=label(one.why),
        status=Status.FAILED,
        statusDetails=StatusDetails(message=label(f"gate: {one.why}")),
        stage="finished",
        start=at,
        stop=at,
        labels=[Label(name=name, value=value) for name, value in (("parentSuite", "mqconform"), ("suite", "gate"))],
    )


def _worst(verdicts: Sequence[Said]) -> Outcome:
    found, _ = worst_of(verdicts)
    assert found is not None
    return found


def _result(
    run: Run,
    row: RequirementRow,
    suite: str,
    told_as: tuple[Outcome, str | None],
    verdicts: Sequence[Said],
    shown: Sequence[ReportedFinding],
) -> TestResult:
    from allure_commons.model2 import Parameter, Status, StatusDetails, TestResult, TestStepResult

    outcome, bad = told_as
    if bad == NEW:
        status = Status.BROKEN if outcome is Outcome.ERROR else Status.FAILED
    else:
        status = Status.SKIPPED if outcome in UNJUDGED or bad == KNOWN else Status.PASSED
    at = _milliseconds(run.header.started)
    details = None
    if outcome is not Outcome.PASS:
        reason = next((one.reason for one in verdicts if one.outcome is outcome and one.reason), None)
        told = [f"{outcome.value}: {heading(row)}", *([f"reason: {label(reason)}"] if reason else [])]
        trace = "\n\n".join("\n".join(story_lines(finding)) for finding in shown)[:MAX_TEXT]
        details = StatusDetails(message="\n".join(told), trace=trace, flaky=outcome is Outcome.FLAKY)
    result = TestResult(
        uuid=str(uuid5(NAMESPACE_URL, _plain(f"mqconform/{run.header.run_id}/{suite}/{row.id}"))),
        historyId=digest(row.id, suite),
        testCaseId=digest(row.id, suite),
        fullName=f"{label(suite, 200)}/{label(row.id)}",
        name=row.demand.says if row.demand else label(row.id),
        description=heading(row),
        status=status,
        statusDetails=details,
        stage="finished",
        start=at,
        stop=at,
        labels=list(_labels(run, row, suite, outcome)),
        parameters=[Parameter(name="verdicts", value=str(sum(one.seen for one in verdicts)), excluded=True)],
    )
    story = next((finding.story for finding in shown if finding.story is not None), None)
    if story is not None:
        last = min(len(story.steps), MAX_STEPS) - 1
        result.steps = [
            # The deviation was observed after the last step.
            TestStepResult(
                name=label(named(step.text)),
                status=status if number == last else Status.PASSED,
                stage="finished",
                start=at,
                stop=at,
            )
            for number, step in enumerate(story.steps[:MAX_STEPS])
        ]
    return result


def _labels(run: Run, row: RequirementRow, suite: str, outcome: Outcome) -> Iterator[Any]:
    from allure_commons.model2 import Label

    level = row.demand.level if row.demand else "must"
    for name, value in (
        *places(row.document, row.section, row.id, level),
        ("parentSuite", "mqconform"),
        ("suite", suite),
        ("tag", level),
        ("tag", outcome.value),
        ("host", (run.hello or {}).get("name") or run.header.connector or "capture"),
        ("framework", "mqconform"),
    ):
        yield Label(name=name, value=label(value, 200))


def places(document: str, section: str, requirement: str, level: str) -> tuple[tuple[str, str], ...]:
    """Return the labels (type, value) that place a requirement: document, section, requirement, severity."""
    feature = f"{section} {section_title(document, section)}".strip() or "no section"
    return ("epic", document), ("feature", feature), ("story", requirement), ("severity", _SEVERITIES[level])


@dataclass(frozen=True, slots=True)
class Part:
    """One attachment of a finding. kind: its media type."""

    name: str
    suffix: str
    kind: str
    content: bytes


def parts(finding: ReportedFinding, repro: bytes | None) -> Iterator[Part]:
    """Yield the attachments of a finding: story, packet as a dump and as a capture, repro file, repro command."""
    yield Part("story", "txt", "text/plain", "\n".join(story_lines(finding))[:MAX_TEXT].encode())
    found = packet_of(finding.evidence)
    if found is not None and finding.evidence is not None:
        from conformance.report.hexdump import annotated
        from conformance.wire import dissect

        data, transport = found
        lines = annotated(dissect(data, transport=transport), _known(finding))
        yield Part("hex dump", "txt", "text/plain", "\n".join(lines)[:MAX_DUMP].encode())
        capture = packet_capture(data, transport, finding.evidence.data)
        yield Part("capture", "pcap", "application/vnd.tcpdump.pcap", capture)
    if repro is not None:
        yield Part("repro", "json", "application/json", repro)
    if finding.repro_command:
        yield Part("command", "txt", "text/plain", f"{finding.repro_command}\n".encode())


def titled(part: Part, finding: ReportedFinding) -> str:
    """Return the name of an attachment."""
    return f"{part.name}: {label(finding.subject, 80)}"


def _attachment(part: Part, finding: ReportedFinding, owner: str) -> Attachment:
    from allure_commons.model2 import Attachment

    source = f"{uuid5(NAMESPACE_URL, _plain(f'{owner}/{finding.recorded.id}/{part.name}'))}-attachment.{part.suffix}"
    return Attachment(name=titled(part, finding), source=source, type=part.kind)


def _known(finding: ReportedFinding) -> list[Any]:
    """Return the verdict if the catalogue has its requirement, because the dump quotes the requirement's text."""
    from conformance.spec.catalogue import catalogue

    verdict = finding.recorded.verdict
    return [verdict] if verdict.requirement in catalogue().requirements else []


def _repro(run: Run, finding: ReportedFinding) -> bytes | None:
    """Return the repro file beside the record, which may have been moved; None if it is not a JSON object."""
    if finding.story is None or not finding.story.repro or "\0" in finding.story.repro:
        return None
    named = finding.story.repro.replace("\\", "/").rpartition("/")[2]
    # Read only beside the record: a record from somebody else may name any file of this machine.
    path = run.parts[0].parent / "repros" / named
    try:
        if named in ("", ".", "..") or path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_REPRO:
            return None
        content = path.read_bytes()
        return content if isinstance(json.loads(content), dict) else None
    except (OSError, ValueError, RecursionError):
        return None


def _environment(run: Run, table: Table) -> str:
    hello = run.hello or {}
    planned = situations(run)
    facts = [
        ("Implementation", " ".join(str(hello.get(key) or "") for key in ("name", "version")).strip()),
        ("Connector", run.header.connector),
        ("Label", run.header.label),
        ("Captures", ", ".join(run.header.captures[:20])),
        ("Profile", table.profile),
        ("Level", run.header.level),
        ("Readings", run.header.reading_set),
        ("Seed", run.header.seed),
        ("Requirements.judged", f"{table.judged} of {table.demanded}"),
        ("Situations", None if planned is None else planned.sentence),
        ("Record", "complete" if run.complete else "incomplete"),
        ("mqconform", __version__),
    ]
    return "".join(f"{name}={_property(label(value))}\n" for name, value in facts if value not in (None, ""))


def _property(text: str) -> str:
    """Escape a value for a Java properties file: ASCII, a backslash doubled, everything else as UTF-16 escapes."""
    escaped = block(text).replace("\\", "\\\\")
    return "".join(
        character
        if " " <= character <= "~"
        else "".join(f"\\u{unit:04x}" for unit in memoryview(character.encode("utf-16-le", "surrogatepass")).cast("H"))
        for character in escaped
    )


def _milliseconds(started: str) -> int:
    try:
        return max(0, int(datetime.fromisoformat(started).timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return 0


def digest(*parts: str) -> str:
    """Make a history id of these parts."""
    return sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _plain(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
