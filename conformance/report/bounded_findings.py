"""Findings prepared for a page, bounded one by one and in total, so that the report of any run can be opened."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from conformance.harness.repro_files import broken
from conformance.harness.sequence_diagram import sequence_diagram
from conformance.harness.suite_registry import suites
from conformance.report.dump import DumpLine, dump_of
from conformance.report.findings import MAX_STEPS, Group, ReportedFinding
from conformance.report.objects_page import programs_of
from conformance.report.page import trusted
from conformance.report.text import block, label, value_text
from conformance.report.timeline import history_of, render_timeline
from conformance.report.tree import address
from conformance.runlog import RecordedVerdict, Run
from conformance.spec.constants.codes import named

MAX_GROUPS = 200
"""Failing requirements shown with their stories."""
MAX_DUMPS = 80
"""Hex dumps of a page: each takes some milliseconds to make."""
ROOM = 1_000_000
"""Characters of HTML for all stories, values, dumps and pictures. Findings after that are shortened."""
SHORT = 400
"""Characters of a shortened value, and a hundred times its number of steps: the last ones, where it went wrong."""
_TEST = re.compile(r"::(\w{1,100})(?:\[|$)")


@dataclass(slots=True)
class Room:
    """The space left for findings; all findings of a page share it."""

    characters: int = ROOM
    dumps: int = MAX_DUMPS

    def take(self, text: str | None) -> str | None:
        """Return the text, and subtract its size from the space left."""
        if text:
            # A quote takes five characters in HTML, and values are full of quotes; each text has some markup around it.
            self.characters -= len(text) + 4 * (text.count('"') + text.count("'")) + 60
        return text

    @property
    def full(self) -> bool:
        """Only shortened findings fit."""
        return self.characters <= 0


def told(run: Run, groups: Sequence[Group], room: Room) -> list[dict[str, Any]]:
    """Return the first MAX_GROUPS groups as the template takes them."""
    return [_group(run, group, room) for group in groups[:MAX_GROUPS]]


def _group(run: Run, group: Group, room: Room) -> dict[str, Any]:
    demand = group.row.demand
    shown = group.shown[:1] if room.full else group.shown
    return {
        "outcome": group.outcome.value,
        "id": label(group.row.id),
        "says": demand.says if demand else "A requirement that this version's catalogue does not have",
        "where": label(f"{group.row.document} {group.row.section}".strip(), 60),
        "address": address(group.row.document),
        "level": demand.level if demand else None,
        "product": demand.product if demand else None,
        "findings": [_finding(run, finding, room) for finding in shown],
        "more": group.more + len(group.shown) - len(shown),
        "excuse": None,
    }


def _finding(run: Run, finding: ReportedFinding, room: Room) -> dict[str, Any]:
    recorded = finding.recorded
    short = room.full
    limit = SHORT if short else None
    out: dict[str, Any] = {
        "subject": label(recorded.verdict.subject),
        "count": recorded.count,
        "expected": room.take(_clipped(finding.expected, limit)),
        "actual": room.take(_clipped(finding.actual, limit)),
        "reason": label(named(recorded.verdict.reason)) if recorded.verdict.reason else None,
        "readings": [(label(name), label(chosen), meaning) for name, chosen, meaning in finding.readings],
        "repro": finding.repro_command or again(run, finding.recorded),
        "suite": label(recorded.suite, 120),
        "test": label(recorded.test),
        "cuts": [label(cut) for cut in finding.cuts],
        "short": short,
        **_steps(finding, room),
        **_nothing(),
    }
    return out if short else {**out, **_evidence(finding, room)}


def _steps(finding: ReportedFinding, room: Room) -> dict[str, Any]:
    steps = finding.story.steps if finding.story else ()
    shown = steps[-SHORT // 100 :] if room.full else steps[:MAX_STEPS]
    return {
        "steps": [
            {
                "text": room.take(label(named(step.text))),
                "call": None if step.call is None or room.full else room.take(value_text(step.call, 2_000)),
                "answer": None if step.answer is None or room.full else room.take(value_text(step.answer, 2_000)),
            }
            for step in shown
        ],
        "first_step": len(steps) - len(shown) + 1 if room.full and shown else 1,
        "more_steps": len(steps) - len(shown),
    }


def _nothing() -> dict[str, Any]:
    return {"programs": (), "sequence": None, "evidence": None, "evidence_kind": None, "timeline": None, "dump": ()}


def _evidence(finding: ReportedFinding, room: Room) -> dict[str, Any]:
    evidence = finding.evidence
    steps = finding.story.steps if finding.story else ()
    programs = [(name, room.take(block(text))) for name, text in programs_of(steps)]
    out: dict[str, Any] = {"sequence": room.take(_sequence(finding)), "programs": programs}
    if evidence is None:
        return out
    dump = _dump(finding, room)
    timeline = room.take(render_timeline(history_of(evidence.data)) if evidence.kind == "history" else None)
    return {
        **out,
        "evidence_kind": label(f"{evidence.kind} {evidence.ref}", 120),
        "evidence": room.take(value_text(evidence.data)) if evidence.data else None,
        "timeline": trusted(timeline) if timeline else None,
        "dump": dump,
    }


def _dump(finding: ReportedFinding, room: Room) -> tuple[DumpLine, ...]:
    if finding.evidence is None or room.dumps <= 0:
        return ()
    lines = dump_of(finding.recorded.verdict, finding.evidence)
    room.dumps -= bool(lines)
    room.characters -= sum(len(line.text) for line in lines)
    return lines


def _sequence(finding: ReportedFinding) -> str | None:
    """Return the story as a Mermaid diagram, None for a story without calls."""
    steps = finding.story.steps if finding.story else ()
    if not any(step.call for step in steps):
        return None
    verdict = finding.recorded.verdict
    return block(sequence_diagram(steps, broken(verdict.requirement, verdict.expected, verdict.actual)))


def again(run: Run, recorded: RecordedVerdict) -> str | None:
    """Return the command that judges the same again, for a finding without a repro file; None if none is known."""
    if run.header.captures:
        return f"mqconform replay {shlex.quote(label(recorded.test))}"
    name = _TEST.search(recorded.test)
    if run.header.connector is None or name is None or recorded.suite not in suites():
        return None
    words = ["mqconform", "run", "--adapter", label(run.header.connector), "--suite", recorded.suite]
    words += ["--seed", str(run.header.seed)] if run.header.seed else []
    return shlex.join([*words, "--", "-k", name[1]])


def _clipped(text: str | None, limit: int | None) -> str | None:
    return text if text is None or limit is None or len(text) <= limit else f"{text[:limit]}…"
