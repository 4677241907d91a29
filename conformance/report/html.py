"""The HTML report of a run: deviations first, then every requirement of the documents by section.

`conformance.report.page` explains why text in it cannot run as script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from conformance.report.bounded_findings import MAX_GROUPS, Room, told
from conformance.report.coverage import LEFT
from conformance.report.covered import Numbers, numbers
from conformance.report.diagnosis import HINT, diagnosis_of
from conformance.report.diagnosis import told as told_of
from conformance.report.excused import Excused, counted, parted
from conformance.report.findings import Group, followed, heading
from conformance.report.gate import Decision
from conformance.report.objects_page import classes_of
from conformance.report.page import json_block, render_page
from conformance.report.quirks import quirks
from conformance.report.situations_page import planned_of
from conformance.report.summary import summary
from conformance.report.table import PROBLEMS, UNSEALED, RequirementRow, Table, roll_up
from conformance.report.table_pictures import pictures
from conformance.report.text import block, label
from conformance.report.top import facts, stopped
from conformance.report.transitions import in_words, transitions
from conformance.report.tree import Node, address, level_rank, outcome_rank, readings_of, touching, trees
from conformance.runlog import CaptureLine, PacketLine, Run
from conformance.spec.versions import LEVELS
from conformance.verdict import Json, Outcome

MAX_PACKETS = 500
"""Packets listed; in a longer run only those that are not pass."""
MAX_EVENTS = 100
"""Driver events and notes listed."""
MAX_REST = 10_000
"""Requirements listed without their story, and objections of a gate: more than the documents have."""


def render_html(run: Run, caught: Collection[str] | None = None, decision: Decision | None = None) -> str:
    """Return the report of this run as one HTML document. An incomplete record is marked as such.

    caught: the requirements a recorded selftest discriminated (`coverage.discriminated_by`), None without one.
    decision: the gate's, which separates known deviations from new ones; None without a gate.
    """
    table, packets = roll_up(run), _Packets.of(run)
    covered = numbers(run, table.profile, caught)
    excused = Excused(run, decision)
    failures, known, notable = parted(excused, table)
    room = Room()
    shown, minor = told(run, failures, room), told(run, notable, room)
    excuses = excused.excuses
    accepted = [
        {**one, "excuse": label(excuses[group.row.id])}
        for group, one in zip(known, told(run, known, room), strict=False)
    ]
    places = {str(one["id"]): number for number, one in reversed([*enumerate([*shown, *accepted, *minor], 1)])}
    planned = planned_of(run)
    documents, rows = _tree(table, covered, places, excuses)
    return render_page(
        "report.html.j2",
        ("base.js", "rows.js", "tree.js", "situations.js"),
        summary_json=json_block(summary(run, caught, decision), indent=1),
        data_json=json_block({**_data(run, rows), "grids": [list(grid) for grid in planned.grids] if planned else []}),
        **_head(excused, table, packets),
        **_grey(table, covered),
        levels=_levels(table),
        coverage=_coverage(covered, table),
        failures=shown,
        failures_rest=_rest(failures),
        gated=decision is not None,
        known=accepted,
        known_rest=_rest(known),
        notable=minor,
        notable_rest=_rest(notable),
        **_gate(excused),
        **_driver(run),
        **packets.told(),
        pictures=pictures(transitions(run)),
        planned=planned,
        classes=classes_of(table),
        documents=documents,
        **_about(run, table),
    )


def _head(excused: Excused, table: Table, packets: _Packets) -> dict[str, Any]:
    run, result = excused.run, excused.result
    counts = table.counts
    unjudged = len(table.rows) - sum(counts.values())
    # Includes outcomes of single verdicts and packets only: the filters hide or show each item.
    present = {*counts, *run.counts, *packets.outcomes}
    filters = [outcome.value for outcome in Outcome if outcome in present] + (["not judged"] if unjudged else [])
    return {
        "subject": _subject(run),
        "headline": result.headline + ("" if run.complete else ", in what was recorded"),
        "tone": result.tone,
        "facts": facts(run),
        "diagnosed": _diagnosed(run),
        "quirks": [quirk.sentence.split("`") for quirk in quirks(run)[:MAX_REST]],
        "complete": run.complete,
        "lacking": run.incomplete.words,
        "captures": [_capture(capture) for capture in run.captures if capture.incomplete][:MAX_EVENTS],
        "problems": [label(problem) for problem in run.problems],
        "stopped": stopped(run),
        "total": len(table.rows),
        "bar": bar(counts, len(table.rows)),
        "requirement_counts": [(outcome.value, number) for outcome, number in counts.items()],
        "verdict_counts": [(outcome.value, number) for outcome, number in run.counts.items()],
        "verdict_total": sum(run.counts.values()),
        "judged": table.judged,
        "demanded": table.demanded,
        "profile": table.profile,
        "filters": filters,
    }


def _diagnosed(run: Run) -> dict[str, Any] | None:
    """Return what `diagnose` found: its sentences, and what each fault named first does."""
    found = diagnosis_of(run)
    if found is None:
        return None
    lines = [line for line in told_of(found) if line != HINT]
    causes = [(label(cause.names[0], 120), label(cause.story, 400)) for cause in found.causes]
    return {"lines": lines, "causes": causes, "hint": HINT if causes else ""}


def _grey(table: Table, covered: Numbers) -> dict[str, Any]:
    """Count the requirements without a verdict (the grey of the bar), and those among them that no check claims."""
    grey = [row for row in table.rows if row.outcome is None]
    return {"grey": len(grey), "unclaimed": sum(row.id not in covered.claimed for row in grey)}


def _rest(found: list[Group]) -> list[tuple[str, str, str]]:
    """Return (id, outcome, text) of the groups shown without their story, so that every one is listed."""
    return [(label(one.row.id), one.outcome.value, heading(one.row)) for one in found[MAX_GROUPS:MAX_REST]]


def _gate(excused: Excused) -> dict[str, Any]:
    """Return the gate's objections that are no deviations, and its remarks."""
    others, decision = excused.others, excused.decision
    return {
        "objections": [(one.kind, label(one.what), label(one.why)) for one in others[:MAX_REST]],
        "objections_more": max(0, len(others) - MAX_REST),
        "objected": [label(words) for words in counted(others)],
        "remarks": [label(remark) for remark in decision.remarks] if decision is not None else [],
    }


def _capture(capture: CaptureLine) -> str:
    """Describe what a capture lacks."""
    cut = f"; {label(capture.cut)}" if capture.cut else ""
    return f"{label(capture.path)}: {capture.incomplete.words}{cut}"


def bar(counts: Counter[Outcome] | dict[Outcome, int], total: int) -> list[tuple[str, float, float]]:
    """Return a bar of a thousand units: (outcome, begin, width), best first, requirements without a verdict last."""
    slices, at = [], 0.0
    for outcome in reversed(Outcome):
        if counts.get(outcome):
            width = 1000 * counts[outcome] / total
            slices.append((outcome.value, round(at, 1), round(width, 1)))
            at += width
    return [*slices, ("none", round(at, 1), round(max(0.0, 1000 - at), 1))]


def _subject(run: Run) -> str:
    hello = run.hello or {}
    name = " ".join(label(hello[key], 120) for key in ("name", "version") if hello.get(key))
    if name:
        return name
    if run.header.captures:
        return ", ".join(label(capture, 120) for capture in run.header.captures[:5])
    return label(run.header.connector or "unnamed implementation", 200)


def _levels(table: Table) -> dict[str, Any]:
    """Count requirements by level and outcome; columns and lines that are empty are left out."""
    found: dict[str, Counter[str]] = {level: Counter() for level in LEVELS}
    for row in table.rows:
        level = row.demand.level if row.demand else LEVELS[0]
        found[level][row.outcome.value if row.outcome else "not judged"] += 1
    every = sum(found.values(), Counter())
    names = [name for name in (*(one.value for one in Outcome), "not judged") if every[name]]
    lines = [(level, [each[name] for name in names], each.total()) for level, each in found.items() if each]
    return {"columns": names, "lines": lines}


def _coverage(covered: Numbers, table: Table) -> dict[str, Any]:
    counts: dict[str, Counter[Outcome]] = {}
    for row in table.rows:
        if row.outcome is not None:
            counts.setdefault(row.document, Counter())[row.outcome] += 1
    totals = Counter(row.document for row in table.rows)
    total = covered.total
    return {
        "total": total,
        "by_selftest": covered.by_selftest,
        "left": [(name, number, LEFT[name]) for name, number in covered.left.items() if number],
        "numbers": [
            (name, number, f"{100 * number / total.checkable:.0f}" if total.checkable else "0", says)
            for name, number, says in (
                ("claimed", total.claimed, "a check names it"),
                ("reached", total.reached, "this run judged it"),
                ("discriminated", total.discriminated, "a fault or mutation that breaks it was caught"),
            )
        ],
        "documents": [
            (line, address(line.document), bar(counts.get(line.document, Counter()), totals[line.document]))
            for line in covered.documents
            if totals[line.document]
        ],
    }


def _tree(
    table: Table, covered: Numbers, places: dict[str, int], known: Mapping[str, str]
) -> tuple[list[dict[str, Any]], list[tuple[RequirementRow, list[Json]]]]:
    """Return (documents for the template, each requirement as its row and its extra columns for the page, in order)."""
    touched = touching()
    rows: list[tuple[RequirementRow, list[Json]]] = []

    def node(one: Node) -> dict[str, Any]:
        begin = len(rows)
        for row in one.rows:
            flags = (row.id in covered.claimed) + 2 * (row.id in covered.discriminated) + 4 * (row.id in known)
            name = label(row.id)
            rows.append((row, [touched.get(row.id, []), flags, places.get(name, 0)]))
        return {
            "number": one.number,
            "title": one.title,
            "outcome": one.outcome.value if one.outcome else "none",
            "open": any(not PROBLEMS.isdisjoint(child.counts) for child in one.children),
            "judged": one.judged,
            "total": one.total,
            "begin": begin,
            "own": len(one.rows),
            "more": one.more,
            "children": [node(child) for child in one.children],
        }

    documents = []
    for name, chapters in trees(table.sections).items():
        nodes = [node(chapter) for chapter in chapters]
        counts: Counter[Outcome] = Counter()
        for chapter in chapters:
            counts.update(chapter.counts)
        total = sum(chapter.total for chapter in chapters)
        judged = sum(chapter.judged for chapter in chapters)
        documents.append(
            {
                "name": name,
                "address": address(name),
                "bar": bar(counts, max(total, counts.total())),
                "judged": judged,
                "total": total,
                "nodes": nodes,
            }
        )
    return documents, rows


def _data(run: Run, rows: list[tuple[RequirementRow, list[Json]]]) -> dict[str, Json]:
    """Return the data from which the page's script draws the requirements; `rows.js` names the columns."""
    return {
        "outcomes": [outcome.value for outcome in Outcome],
        "levels": list(LEVELS),
        "readings": readings_of(run.header.readings, {name: chosen for name, chosen, _ in followed(run)}),
        "rows": [
            [
                label(row.id),
                row.demand.says if row.demand else "Not in this version's catalogue",
                outcome_rank(row.outcome),
                level_rank(row),
                row.demand.role if row.demand else "",
                row.demand.checked if row.demand else "",
                [row.met, row.unmet, row.seen - row.met - row.unmet],
                label(row.reason) if row.reason else "",
                row.demand.product or "" if row.demand else "",
                label(", ".join(row.suites), 200),
                *more,
            ]
            for row, more in rows
        ],
    }


def _driver(run: Run) -> dict[str, Any]:
    return {
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


@dataclass(slots=True)
class _Packets:
    """The packets of a run, read once. picked: how many are not pass; shown: those that are listed."""

    outcomes: set[Outcome | None] = field(default_factory=set)
    picked: int = 0
    shown: list[PacketLine] = field(default_factory=list)
    total: int = 0

    @classmethod
    def of(cls, run: Run) -> _Packets:
        found = cls(total=len(run.packets))
        for packet in run.packets:
            found.outcomes.add(packet.worst)
            found.picked += packet.worst is not Outcome.PASS
            if len(found.shown) < MAX_PACKETS and (found.total <= MAX_PACKETS or packet.worst is not Outcome.PASS):
                found.shown.append(packet)
        return found

    def told(self) -> dict[str, Any]:
        note = None
        if self.total > MAX_PACKETS:
            note = f"{self.total:,} packets, of which {self.picked:,} are not pass; "
            note += f"{len(self.shown):,} of these are listed."
        return {"packets": [_packet(packet) for packet in self.shown], "packets_note": note}


def _packet(packet: PacketLine) -> dict[str, Any]:
    return {
        "number": packet.number,
        "record": "" if packet.record is None else packet.record,
        "stream": "" if packet.stream is None else packet.stream,
        "time": _clock(packet.time),
        "direction": label(packet.direction, 120),
        "kind": label(packet.kind, 120),
        "queue": label(packet.queue or "", 200),
        "outcome": packet.worst.value if packet.worst else "none",
        "requirements": [label(name, 120) for name in packet.requirements[:20]],
        "hints": [label(name, 120) for name in packet.hints[:20]],
    }


def _clock(seconds: float | None) -> str:
    """Format a time of day to the microsecond; a capture may claim a time that no calendar has."""
    if seconds is None:
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
    except (ValueError, OverflowError, OSError):
        return label(seconds, 40)


def _about(run: Run, table: Table) -> dict[str, Any]:
    header, footer = run.header, run.footer
    hello = run.hello or {}
    covered = transitions(run)
    facts = [
        ("Implementation", " ".join(str(hello.get(key) or "") for key in ("name", "version")).strip()),
        ("Claims profile", hello.get("profile")),
        ("Label", header.label),
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
        ("Versions", ", ".join(f"{name} {version}" for name, version in header.versions.items())),
        ("Run", header.run_id),
        ("Record", ", ".join(part.name for part in run.parts)),
        ("Checksums", None if run.sealed else UNSEALED),
    ]
    return {
        "about": [(label(name), label(value, 4_000)) for name, value in facts if value not in (None, "")],
        "reading_set": label(header.reading_set or ""),
        "readings": [(label(name), label(" or ".join(chosen))) for name, chosen in sorted(header.readings.items())],
        "followed": [(label(name), label(chosen), label(meaning)) for name, chosen, meaning in followed(run)],
        "notes": list(islice((label(note.text) for note in run.notes if note.kind == "note"), MAX_EVENTS)),
    }
