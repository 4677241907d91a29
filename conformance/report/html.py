"""The HTML report of a run: what deviates first, then every requirement of the documents by section.

`conformance.report.page` tells why nothing in it can run as script.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from conformance.report.covered import Numbers, numbers
from conformance.report.findings import followed, groups
from conformance.report.page import json_block, render_page
from conformance.report.picture import pictures
from conformance.report.summary import summary
from conformance.report.table import PROBLEMS, Row, Table, conclusion, roll_up
from conformance.report.telling import MAX_GROUPS, Room, told
from conformance.report.text import block, label
from conformance.report.transitions import in_words, transitions
from conformance.report.tree import Node, address, level_rank, outcome_rank, readings_of, touching, trees
from conformance.runlog import PacketLine, Run
from conformance.spec.versions import LEVELS
from conformance.verdict import ExitCode, Json, Outcome

MAX_PACKETS = 500
"""Packets listed; beyond that only those that are not pass."""
MAX_EVENTS = 100
"""Driver events and notes listed."""

HEADLINES = {
    ExitCode.CONFORMS: ("No deviation found", "good"),
    ExitCode.DEVIATES: ("Does not conform", "bad"),
    ExitCode.HARNESS_ERROR: ("The harness failed", "bad"),
    ExitCode.NOTHING_JUDGED: ("Nothing was judged", "warn"),
}
"""What the verdicts of a run come to, and its tone."""
_STOPPED = {
    "max-failures": "The run stopped after as many deviations as it was to find.",
    "budget": "The time budget ended the run before all tests had run.",
    "interrupted": "The run was interrupted.",
    "driver-unusable": "The run ended because the driver could not be used.",
    "error": "The run ended with an error of the harness.",
}


def render_html(run: Run, caught: Collection[str] | None = None) -> str:
    """The report of this run as one HTML document. An incomplete record is reported as such.

    caught: the requirements a recorded selftest discriminated (`coverage.discriminated_by`), None without one.
    """
    table = roll_up(run)
    covered = numbers(run, table.profile, caught)
    failures, notable = groups(run, table)
    room = Room()
    shown, minor = told(run, failures, room), told(run, notable, room)
    places = {str(one["id"]): number for number, one in enumerate([*shown, *minor], 1)}
    documents, rows = _tree(table, covered, places)
    return render_page(
        "report.html.j2",
        ("base.js", "rows.js", "tree.js"),
        summary_json=json_block(summary(run), indent=1),
        data_json=json_block(_data(run, rows)),
        **_head(run, table),
        levels=_levels(table),
        coverage=_coverage(covered, table),
        failures=shown,
        failures_more=max(0, len(failures) - MAX_GROUPS),
        notable=minor,
        notable_more=max(0, len(notable) - MAX_GROUPS),
        **_driver(run),
        **_packets(run),
        pictures=pictures(transitions(run)),
        documents=documents,
        **_about(run, table),
    )


def _head(run: Run, table: Table) -> dict[str, Any]:
    headline, tone = HEADLINES[conclusion(run)]
    counts = table.counts
    unjudged = len(table.rows) - sum(counts.values())
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


def bar(counts: Counter[Outcome] | dict[Outcome, int], total: int) -> list[tuple[str, float, float]]:
    """A bar of a thousand units: (outcome, begin, width) best first, what was not judged last."""
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
    """Requirements by level and outcome: columns that have something, and a line for each level that has."""
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
    table: Table, covered: Numbers, places: dict[str, int]
) -> tuple[list[dict[str, Any]], list[tuple[Row, list[Json]]]]:
    """(documents for the template, each requirement as its row and what the page draws it from, in their order)."""
    touched = touching()
    rows: list[tuple[Row, list[Json]]] = []

    def node(one: Node) -> dict[str, Any]:
        begin = len(rows)
        for row in one.rows:
            flags = (row.id in covered.claimed) + 2 * (row.id in covered.discriminated)
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
            {"name": name, "address": address(name), "bar": bar(counts, total), "judged": judged, "total": total}
            | {"nodes": nodes}
        )
    return documents, rows


def _data(run: Run, rows: list[tuple[Row, list[Json]]]) -> Json:
    """What the page's script draws the requirements from; `rows.js` knows the places."""
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
                row.seen,
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


def _packets(run: Run) -> dict[str, Any]:
    shown, note = run.packets, None
    if len(shown) > MAX_PACKETS:
        picked = tuple(packet for packet in shown if packet.worst is not Outcome.PASS)
        shown = picked[:MAX_PACKETS]
        note = f"{len(run.packets):,} packets, of which {len(picked):,} are not pass; "
        note += f"{len(shown):,} of these are listed."
    return {"packets": [_packet(packet) for packet in shown], "packets_note": note}


def _packet(packet: PacketLine) -> dict[str, Any]:
    return {
        "number": packet.number,
        "time": _clock(packet.time),
        "direction": label(packet.direction, 120),
        "kind": label(packet.kind, 120),
        "queue": label(packet.queue or "", 200),
        "outcome": packet.worst.value if packet.worst else "none",
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
