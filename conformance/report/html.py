"""The HTML report: one file that needs no network, shows failures first and treats all it shows as hostile.

Everything from outside passes `conformance.report.text` (bounded, hidden characters as escapes) and then Jinja's
escaping. The content security policy allows exactly the two inline blocks written here, by their hashes, and nothing
from anywhere else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from conformance import __version__
from conformance.report.findings import MAX_STEPS, Finding, Group, followed, groups
from conformance.report.summary import summary
from conformance.report.table import PROBLEMS, Section, Table, conclusion, roll_up
from conformance.report.text import block, label, value_text
from conformance.report.timeline import history_of, render_timeline
from conformance.report.transitions import in_words, transitions
from conformance.runlog import PacketLine, Run
from conformance.suites.reproducing import broken
from conformance.suites.sequence import sequence_diagram
from conformance.verdict import ExitCode, Outcome

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

MAX_GROUPS = 300
"""Failing requirements shown with their stories."""
MAX_PACKETS = 5_000
"""Packets listed; beyond that only those that are not pass."""
MAX_EVENTS = 100
"""Driver events and notes listed."""

_HEADLINES = {
    ExitCode.CONFORMS: ("No deviation found", "good"),
    ExitCode.DEVIATES: ("Does not conform", "bad"),
    ExitCode.HARNESS_ERROR: ("The harness failed", "bad"),
    ExitCode.NOTHING_JUDGED: ("Nothing was judged", "warn"),
}
_STOPPED = {
    "budget": "The time budget ended the run before all tests had run.",
    "interrupted": "The run was interrupted.",
    "driver-unusable": "The run ended because the driver could not be used.",
    "error": "The run ended with an error of the harness.",
}


def render_html(run: Run) -> str:
    """The report of this run as one HTML document. An incomplete record is reported as such."""
    table = roll_up(run)
    style, script = _asset("report.css"), _asset("report.js")
    return _template().render(
        version=__version__,
        style=_trusted(style),
        script=_trusted(script),
        style_hash=_digest(style),
        script_hash=_digest(script),
        summary_json=_json_block(summary(run)),
        **_head(run, table),
        **_findings(run, table),
        **_packets(run),
        documents=_documents(table),
        **_about(run, table),
    )


def _head(run: Run, table: Table) -> dict[str, Any]:
    headline, tone = _HEADLINES[conclusion(run)]
    counts = table.counts
    total = len(table.rows)
    slices, at = [], 0.0
    for outcome, number in reversed([*counts.items()]):
        width = 1000 * number / total
        slices.append({"name": outcome.value, "x": round(at, 2), "width": round(width, 2)})
        at += width
    unjudged = total - sum(counts.values())
    slices.append({"name": "none", "x": round(at, 2), "width": round(max(0.0, 1000 - at), 2)})
    # Also what only a single verdict or a packet has: each is an item that the filters hide or show.
    present = {*counts, *run.counts, *(packet.worst for packet in run.packets)}
    filters = [outcome.value for outcome in Outcome if outcome in present] + (["not judged"] if unjudged else [])
    stop = run.footer.stop_reason if run.footer else None
    return {
        "subject": _subject(run),
        "headline": headline + ("" if run.complete else ", in what was recorded"),
        "tone": tone if run.complete or tone == "bad" else "warn",
        "complete": run.complete,
        "problems": [label(problem) for problem in run.problems],
        "stopped": _STOPPED.get(stop or ""),
        "total": total,
        "bar": slices,
        "requirement_counts": [(outcome.value, number) for outcome, number in counts.items()],
        "verdict_counts": [(outcome.value, number) for outcome, number in run.counts.items()],
        "verdict_total": sum(run.counts.values()),
        "judged": table.judged,
        "demanded": table.demanded,
        "profile": table.profile,
        "filters": filters,
    }


def _subject(run: Run) -> str:
    hello = run.hello or {}
    name = " ".join(label(hello[key], 120) for key in ("name", "version") if hello.get(key))
    if name:
        return name
    if run.header.captures:
        return ", ".join(label(capture, 120) for capture in run.header.captures[:5])
    return label(run.header.connector or "unnamed implementation", 200)


def _findings(run: Run, table: Table) -> dict[str, Any]:
    failures, notable = groups(run, table)
    return {
        "failures": [_group(one) for one in failures[:MAX_GROUPS]],
        "failures_more": max(0, len(failures) - MAX_GROUPS),
        "notable": [_group(one) for one in notable[:MAX_GROUPS]],
        "notable_more": max(0, len(notable) - MAX_GROUPS),
        "driver": [
            {
                "what": label(event.what, 40),
                "text": label(event.text),
                "at": label(event.at, 40),
                "returncode": event.returncode,
                "stderr": block(event.stderr) if event.stderr else None,
            }
            for event in run.driver[:MAX_EVENTS]
        ],
        "driver_more": max(0, len(run.driver) - MAX_EVENTS),
    }


def _group(group: Group) -> dict[str, Any]:
    demand = group.row.demand
    return {
        "outcome": group.outcome,
        "id": label(group.row.id),
        "says": demand.says if demand else "A requirement that this version's catalogue does not have",
        "where": label(f"{group.row.document} {group.row.section}".strip(), 60),
        "level": demand.level if demand else None,
        "findings": [_finding(finding) for finding in group.shown],
        "more": group.more,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    recorded = finding.recorded
    steps = finding.story.steps if finding.story else ()
    evidence = finding.evidence
    timeline = render_timeline(history_of(evidence.data)) if evidence and evidence.kind == "history" else None
    return {
        "subject": label(recorded.verdict.subject),
        "count": recorded.count,
        "steps": [
            {
                "text": label(step.text),
                "call": None if step.call is None else value_text(step.call, 2_000),
                "answer": None if step.answer is None else value_text(step.answer, 2_000),
            }
            for step in steps[:MAX_STEPS]
        ],
        "more_steps": max(0, len(steps) - MAX_STEPS),
        "sequence": _sequence(finding),
        "expected": finding.expected,
        "actual": finding.actual,
        "reason": label(recorded.verdict.reason) if recorded.verdict.reason else None,
        "readings": [(label(name), label(chosen), meaning) for name, chosen, meaning in finding.readings],
        "repro": finding.repro_command,
        "evidence_kind": label(f"{evidence.kind} {evidence.ref}", 120) if evidence else None,
        "evidence": value_text(evidence.data) if evidence and evidence.data else None,
        "timeline": _trusted(timeline) if timeline else None,
        "suite": label(recorded.suite, 120),
        "test": label(recorded.test),
    }


def _sequence(finding: Finding) -> str | None:
    """The story as a Mermaid diagram, where it is one of calls."""
    steps = finding.story.steps if finding.story else ()
    if not any(step.call for step in steps):
        return None
    verdict = finding.recorded.verdict
    return block(
        sequence_diagram([step.text for step in steps], broken(verdict.requirement, verdict.expected, verdict.actual))
    )


def _packets(run: Run) -> dict[str, Any]:
    shown, note = run.packets, None
    if len(shown) > MAX_PACKETS:
        told = tuple(packet for packet in shown if packet.worst is not Outcome.PASS)
        shown = told[:MAX_PACKETS]
        note = f"{len(run.packets):,} packets, of which {len(told):,} are not pass; {len(shown):,} of these are listed."
    return {"packets": [_packet(packet) for packet in shown], "packets_note": note}


def _packet(packet: PacketLine) -> dict[str, Any]:
    return {
        "number": packet.number,
        "time": _clock(packet.time),
        "direction": label(packet.direction, 120),
        "kind": label(packet.kind, 120),
        "queue": label(packet.queue or "", 200),
        "outcome": packet.worst,
        "requirements": [label(name, 120) for name in packet.requirements[:20]],
    }


def _clock(seconds: float | None) -> str:
    """Time of day to the microsecond; a capture may claim a time that no calendar has."""
    if seconds is None:
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    except (ValueError, OverflowError, OSError):
        return label(seconds, 40)


def _documents(table: Table) -> list[tuple[str, list[dict[str, Any]]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for section in table.sections:
        found.setdefault(section.document, []).append(_section(section))
    return list(found.items())


def _section(section: Section) -> dict[str, Any]:
    outcome = section.outcome
    return {
        "number": label(section.number, 60),
        "title": section.title,
        "outcome": outcome,
        "open": outcome in PROBLEMS,
        "judged": section.judged,
        "total": len(section.rows),
        "rows": [
            {
                "id": label(row.id),
                "says": row.demand.says if row.demand else "Not in this version's catalogue",
                "level": row.demand.level if row.demand else "",
                "outcome": row.outcome,
                "reason": label(row.reason) if row.reason else None,
                "seen": row.seen,
            }
            # Worst first, what was not judged last.
            for row in sorted(section.rows, key=lambda row: row.outcome.rank if row.outcome else len(Outcome))
        ],
    }


def _about(run: Run, table: Table) -> dict[str, Any]:
    header, footer = run.header, run.footer
    hello = run.hello or {}
    covered = transitions(run)
    facts = [
        ("Implementation", " ".join(str(hello.get(key) or "") for key in ("name", "version")).strip()),
        ("Claims profile", hello.get("profile")),
        ("Connector", header.connector),
        ("Captures", ", ".join(header.captures)),
        ("Judged as", f"{table.profile}, level {header.level or 'must'}, readings {header.reading_set or 'windows'}"),
        ("Suites", ", ".join(header.suites)),
        ("Seed", header.seed),
        ("Command", " ".join(header.command)),
        ("Started", header.started),
        ("Ended", footer.ended if footer else "not recorded"),
        ("Stopped because", footer.stop_reason if footer else "not recorded"),
        ("Stateful steps", f"{footer.stateful_steps:,}" if footer and footer.stateful_steps else None),
        ("Steps per second", f"{footer.steps_per_second:,.0f}" if footer and footer.steps_per_second else None),
        ("Examples", f"{footer.examples:,}" if footer and footer.examples else None),
        ("Transitions followed", in_words(covered)),
        *((f"Never followed ({table.table})", "; ".join(table.missing)) for table in covered),
        ("Versions", ", ".join(f"{name} {version}" for name, version in header.versions.items())),
        ("Run", header.run_id),
        ("Record", ", ".join(part.name for part in run.parts)),
    ]
    return {
        "about": [(label(name), label(value, 4_000)) for name, value in facts if value not in (None, "")],
        "reading_set": label(header.reading_set or ""),
        "readings": [(label(name), label(" or ".join(chosen))) for name, chosen in sorted(header.readings.items())],
        "followed": [(label(name), label(chosen), label(meaning)) for name, chosen, meaning in followed(run)],
        "notes": [label(note.text) for note in run.notes if note.kind == "note"][:MAX_EVENTS],
    }


def _json_block(value: Mapping[str, Any]) -> Markup:
    """JSON that cannot end the script element it stands in, whatever text it holds."""
    text = json.dumps(value, indent=1, ensure_ascii=True)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return _trusted(text)


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined)
    return environment.from_string(_asset("report.html.j2"))


@cache
def _asset(name: str) -> str:
    return resources.files("conformance.report").joinpath("templates", name).read_text(encoding="utf-8")


def _trusted(text: str) -> Markup:
    """Our own text, which the template takes as it is."""
    from markupsafe import Markup

    return Markup(text)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
