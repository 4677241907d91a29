"""Allure results of a run record: a folder of JSON files and attachments, of which `allure generate` makes a report.

A result is a requirement as one suite judged it. Epic is the document, feature the section, story the requirement,
severity its level. The history id is of requirement and suite: Allure then shows how a
requirement went from run to run.
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
from conformance.report.findings import Finding, Group, groups, heading, story_lines
from conformance.report.pcap import packet_capture, packet_of
from conformance.report.table import REFUTED, UNJUDGED, Row, Table, roll_up
from conformance.report.text import block, label
from conformance.report.timing import times
from conformance.report.titles import section_title
from conformance.runlog import RecordedVerdict, Run
from conformance.verdict import Outcome, worst

if TYPE_CHECKING:
    from allure_commons.model2 import Attachment, TestResult

MAX_TEXT = 60_000
"""Characters of one story."""
MAX_DUMP = 200_000
"""Characters of one hex dump."""
MAX_STEPS = 200
"""Steps of one result."""
MAX_REPRO = 1 << 20
"""Bytes of a repro file that is attached; a longer one stays where it is."""
MAX_ATTACHED = 2_000
"""Findings of one run that get attachments, worst first."""

_SEVERITIES = {"must": "critical", "should": "normal", "may": "minor"}
_CATEGORIES = [
    {"name": "Deviations", "messageRegex": r"(?s)fail: .*", "matchedStatuses": ["failed"]},
    {"name": "Crashes and time-outs", "messageRegex": r"(?s)(crash|timeout): .*", "matchedStatuses": ["failed"]},
    {"name": "Not every time", "messageRegex": r"(?s)flaky: .*", "matchedStatuses": ["failed"]},
    {"name": "Other readings", "messageRegex": r"(?s)reading: .*", "matchedStatuses": ["failed", "passed"]},
    {"name": "Errors of the harness", "matchedStatuses": ["broken"]},
    {"name": "Not judged", "matchedStatuses": ["skipped"]},
]


def write_allure(run: Run, folder: Path) -> int:
    """Write the results into this folder, made where there is none; how many. Raises OSError.

    The files' names follow from the run and their content: the same run written twice is there once. Of verdicts of one
    requirement and suite the worst counts; its findings become steps (the first) and attachments: the story, an
    annotated hex dump and a capture of a packet, the repro file.
    """
    from attr import asdict

    folder.mkdir(parents=True, exist_ok=True)
    table = roll_up(run)
    number = 0
    for result, attached in _results(run, table):
        for name, content in attached:
            (folder / name).write_bytes(content)
        written = json.dumps(asdict(result, filter=_kept), ensure_ascii=False)
        (folder / f"{result.uuid}-result.json").write_text(written, encoding="utf-8")
        number += 1
    write_surroundings(run, folder, table)
    return number


def write_surroundings(run: Run, folder: Path, table: Table | None = None) -> None:
    """Write what Allure shows beside the results: categories of deviations, and what was judged. Raises OSError."""
    (folder / "categories.json").write_text(json.dumps(_CATEGORIES, indent=1), encoding="utf-8")
    (folder / "environment.properties").write_text(_environment(run, table or roll_up(run)), encoding="ascii")


def _kept(attribute: Any, value: Any) -> bool:
    return bool(value) or value is False or value == 0


Attached = list[tuple[str, bytes]]


def _results(run: Run, table: Table) -> Iterator[tuple[TestResult, Attached]]:
    rows = {row.id: row for row in table.rows}
    judged: dict[tuple[str, str], list[RecordedVerdict]] = {}
    for recorded in run.verdicts:
        judged.setdefault((recorded.suite, recorded.verdict.requirement), []).append(recorded)
    found: dict[tuple[str, Outcome], Group] = {
        (group.row.id, group.outcome): group for part in groups(run, table) for group in part
    }
    left = MAX_ATTACHED
    spent = times(run)
    # Worst first, so that the attachments are those of what matters.
    ordered = sorted(judged, key=lambda key: (_worst(judged[key]).rank, key))
    for suite, name in ordered:
        outcome = _worst(judged[suite, name])
        group = found.get((name, outcome))
        shown = [one for one in group.shown if one.recorded.suite == suite] if group else []
        result = _result(run, rows[name], suite, outcome, judged[suite, name], shown)
        result.stop += round(1000 * spent.get((suite, name), 0.0))
        attached: Attached = []
        for finding in shown[:left]:
            for part in parts(finding, _repro(run, finding)):
                attachment = _attachment(part, finding, result.uuid)
                result.attachments.append(attachment)
                attached.append((attachment.source, part.content))
        left -= min(left, len(shown))
        yield result, attached


def _worst(verdicts: Sequence[RecordedVerdict]) -> Outcome:
    found = worst(recorded.verdict.outcome for recorded in verdicts)
    assert found is not None
    return found


def _result(
    run: Run, row: Row, suite: str, outcome: Outcome, verdicts: Sequence[RecordedVerdict], shown: Sequence[Finding]
) -> TestResult:
    from allure_commons.model2 import Parameter, Status, StatusDetails, TestResult, TestStepResult

    strict = run.header.reading_set == "strict"
    if outcome in REFUTED or (strict and outcome is Outcome.READING):
        status = Status.FAILED
    elif outcome is Outcome.ERROR:
        status = Status.BROKEN
    else:
        status = Status.SKIPPED if outcome in UNJUDGED else Status.PASSED
    at = _milliseconds(run.header.started)
    details = None
    if outcome is not Outcome.PASS:
        reason = next((one.verdict.reason for one in verdicts if one.verdict.outcome is outcome), None)
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
        parameters=[Parameter(name="verdicts", value=str(sum(one.count for one in verdicts)), excluded=True)],
    )
    story = next((finding.story for finding in shown if finding.story is not None), None)
    if story is not None:
        last = min(len(story.steps), MAX_STEPS) - 1
        result.steps = [
            # The deviation was seen after the last step.
            TestStepResult(
                name=label(step.text),
                status=status if number == last else Status.PASSED,
                stage="finished",
                start=at,
                stop=at,
            )
            for number, step in enumerate(story.steps[:MAX_STEPS])
        ]
    return result


def _labels(run: Run, row: Row, suite: str, outcome: Outcome) -> Iterator[Any]:
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
    """Where a requirement stands among all, as labels (type, value)."""
    feature = f"{section} {section_title(document, section)}".strip() or "no section"
    return ("epic", document), ("feature", feature), ("story", requirement), ("severity", _SEVERITIES[level])


@dataclass(frozen=True, slots=True)
class Part:
    """What is attached of a finding. kind: its media type."""

    name: str
    suffix: str
    kind: str
    content: bytes


def parts(finding: Finding, repro: bytes | None) -> Iterator[Part]:
    """What is known of a finding: its story, a packet dumped and as a capture, the repro file and its command."""
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


def titled(part: Part, finding: Finding) -> str:
    """What an attachment is called."""
    return f"{part.name}: {label(finding.recorded.verdict.subject, 80)}"


def _attachment(part: Part, finding: Finding, owner: str) -> Attachment:
    from allure_commons.model2 import Attachment

    source = f"{uuid5(NAMESPACE_URL, _plain(f'{owner}/{finding.recorded.id}/{part.name}'))}-attachment.{part.suffix}"
    return Attachment(name=titled(part, finding), source=source, type=part.kind)


def _known(finding: Finding) -> list[Any]:
    """The verdict, where the catalogue has its requirement: the dump quotes what it says."""
    from conformance.spec.catalogue import catalogue

    verdict = finding.recorded.verdict
    return [verdict] if verdict.requirement in catalogue().requirements else []


def _repro(run: Run, finding: Finding) -> bytes | None:
    """The repro file; found beside the record too, where the record was moved. Only a JSON object is taken for one."""
    if finding.story is None or not finding.story.repro or "\0" in finding.story.repro:
        return None
    named = finding.story.repro.replace("\\", "/").rpartition("/")[2]
    # Only what stands beside the record: a record of somebody else's may name any file of this machine.
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
    facts = [
        ("Implementation", " ".join(str(hello.get(key) or "") for key in ("name", "version")).strip()),
        ("Connector", run.header.connector),
        ("Captures", ", ".join(run.header.captures[:20])),
        ("Profile", table.profile),
        ("Level", run.header.level),
        ("Readings", run.header.reading_set),
        ("Seed", run.header.seed),
        ("Requirements.judged", f"{table.judged} of {table.demanded}"),
        ("Record", "complete" if run.complete else "incomplete"),
        ("mqconform", __version__),
    ]
    return "".join(f"{name}={_property(label(value))}\n" for name, value in facts if value not in (None, ""))


def _property(text: str) -> str:
    """A value of a Java properties file: ASCII, a backslash doubled, everything else as UTF-16 escapes."""
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
    """A history id."""
    return sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _plain(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
