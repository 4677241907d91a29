"""The HTML report of a run: deviations first, then every requirement by section, and concurrent histories."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from conformance.harness.repro_files import broken, sequence_diagram
from conformance.harness.suite_registry import suites
from conformance.report.coverage import LEFT, Numbers, numbers
from conformance.report.findings import HINT, MAX_STEPS, Group, ReportedFinding, diagnosis_of, followed, heading, quirks
from conformance.report.findings import cause_sentences as told_of
from conformance.report.gate import Decision, Excused, objection_counts, parted
from conformance.report.hexdump import DumpLine, dump_of
from conformance.report.page import json_block, render_page, trusted
from conformance.report.situations import planned_of
from conformance.report.summary import facts, stopped, summary
from conformance.report.table import (
    PROBLEMS,
    REFUTED,
    UNSEALED,
    Node,
    RequirementRow,
    Table,
    address,
    level_rank,
    outcome_rank,
    readings_of,
    roll_up,
    touching,
    trees,
)
from conformance.report.text import block, label, value_text
from conformance.report.transition_pictures import in_words, pictures, transitions
from conformance.runlog import CaptureLine, PacketLine, RecordedVerdict, Run
from conformance.runlog.events import StoryStep
from conformance.runlog.run import largest_in_words
from conformance.spec.constants.codes import named
from conformance.spec.versions import LEVELS
from conformance.verdict import Json, Outcome

if TYPE_CHECKING:
    from conformance.histories.operations.operation import Operation as Called
    from conformance.model.linearizability.history import Operation

MAX_OPERATIONS = 200
"""Bars drawn; a longer history shows its last ones, where it goes wrong."""
MAX_READ = 5_000
"""Operations read of a stored history."""
_CHARACTER = 6.7  # widest of the usual sans-serif fonts at 11 px; a label must fit in any of them
_PADDING = 12.0
_STEP = 16.0
_LANE = 34.0
_BAR = 22.0
_TOP = 34.0
_COLOURS = {"send": "#cfe2ff", "receive": "#d3efd9", "peek": "#eceff1", "transaction": "#e8dcf7", "other": "#fde8c8"}
_EDGES = {"send": "#3d6fb6", "receive": "#3c8d57", "peek": "#78868f", "transaction": "#7b52ab", "other": "#b7791f"}


@dataclass(slots=True)
class _Bar:
    operation: Operation
    text: str
    colour: str
    lane: int
    left: float = 0.0
    middle: float | None = None
    right: float | None = None

    @property
    def width(self) -> float:
        return len(self.text) * _CHARACTER + _PADDING


def history_of(data: Mapping[str, Any]) -> tuple[Operation, ...]:
    """Return the history in the data of some evidence; empty if there is none, or this version cannot read it."""
    stored = data.get("history")
    if not isinstance(stored, list):
        return ()
    from conformance.histories.operations.table import checked_call
    from conformance.model.calls import BadCall
    from conformance.model.linearizability.history import Operation

    try:
        history = tuple(Operation.from_json(raw) for raw in stored[:MAX_READ] if isinstance(raw, Mapping))
        for operation in history:
            checked_call(operation.call)
        return history
    except BadCall:
        return ()


def render_timeline(history: Sequence[Operation]) -> str | None:
    """Return the picture as an SVG element, None if there is nothing to draw."""
    from conformance.histories.operations.operation import Kind, Manner
    from conformance.histories.operations.table import OPERATIONS, given_name

    queues = {name: str(op.call.queue) for op in history if (name := given_name(op.call, Kind.HANDLE)) is not None}
    shown = sorted((op for op in history if OPERATIONS[op.call.method].drawn), key=lambda op: op.began)
    shown = shown[-MAX_OPERATIONS:]
    if not shown:
        return None
    several = len(set(queues.values())) > 1
    lanes: list[str] = []
    bars: list[_Bar] = []
    restarts: list[Operation] = []
    for operation in shown:
        if OPERATIONS[operation.call.method].manner is Manner.RESTART:
            restarts.append(operation)
            continue
        if operation.client not in lanes:
            lanes.append(operation.client)
        called = OPERATIONS[operation.call.method]
        text = _text(operation, called, queues if several else {})
        bars.append(_Bar(operation, text, _kind(called), lanes.index(operation.client)))
    order = sorted(lanes)
    for bar in bars:
        bar.lane = order.index(bar.operation.client)
    lines, end = _place(bars, restarts)
    margin = max((len(label(name, 20)) for name in order), default=1) * _CHARACTER + 66.0
    return _svg(bars, order, lines, margin, margin + end + 24.0)


def _kind(called: Called) -> str:
    if called.subject in ("name", "transaction"):
        return "transaction"
    return next((word for word in ("send", "receive", "peek") if called.verb.startswith(word)), "other")


def _text(operation: Operation, called: Called, queues: Mapping[str, str]) -> str:
    call = operation.call
    text = called.verb
    if called.subject is not None:
        text += f" {label(getattr(call, called.subject) or '', 40)}"
    if call.handle is not None and call.handle in queues:
        text += f" {label(queues[call.handle], 40)}"
    if call.transaction is not None and called.subject != "transaction":
        text += f" in {label(call.transaction, 40)}"
    if call.cursor is not None:
        text += f" by {label(call.cursor, 40)}"
    if call.name is not None and operation.reads:
        text = f"{label(call.name, 40)}: {text}"
    answer = operation.answer
    if operation.waits_on:
        return f"{text} … waits on"
    if answer is None:
        return f"{text} … no answer"
    if answer.failed:
        return f"{text} ✗"
    return f"{text} → {label(operation.message or '', 40)}" if operation.reads else text


def _place(bars: Sequence[_Bar], restarts: Sequence[Operation]) -> tuple[list[float], float]:
    """Set the ends of every bar, so that calls overlap in the picture as they did and every label fits in its bar."""
    events: list[tuple[int, int, _Bar | None]] = [(op.began, 0, None) for op in restarts]
    for bar in bars:
        events.append((bar.operation.began, 0, bar))
        if bar.operation.blocked is not None:
            events.append((bar.operation.blocked, 1, bar))
        if bar.operation.ended is not None:
            events.append((bar.operation.ended, 2, bar))
    lines: list[float] = []
    open_bars: list[_Bar] = []
    at = 0.0
    for _, which, found in sorted(events, key=lambda event: event[:2]):
        at += _STEP
        if found is None:  # a restart cuts off what is in flight
            at = max([at, *(one.left + one.width for one in open_bars)])
            for one in open_bars:
                one.right = at
            open_bars.clear()
            lines.append(at)
        elif which == 0:
            found.left = at
            open_bars.append(found)
        elif which == 1:
            found.middle = at
        else:
            at = found.right = max(at, found.left + found.width)
            open_bars = [bar for bar in open_bars if bar is not found]
    end = max([at + _STEP, *(bar.left + bar.width for bar in open_bars)])
    for bar in open_bars:
        bar.right = end
    return lines, end


def _svg(bars: Sequence[_Bar], lanes: Sequence[str], lines: Sequence[float], margin: float, width: float) -> str:
    top = _TOP if lines else _TOP / 4
    height = top + _LANE * len(lanes) + 14.0
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" font-family="sans-serif" font-size="11">',
        "<title>What each client did, and what overlapped</title>",
        f'<rect x="0" y="0" width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
    ]
    for number, name in enumerate(lanes):
        y = top + _LANE * number + _LANE / 2
        out.append(
            f'<line x1="{margin:.1f}" y1="{y:.1f}" x2="{width - 8:.1f}" y2="{y:.1f}" stroke="#d5dadd"/>'
            f'<text x="10" y="{y + 4:.1f}" fill="#24292e">client {escape(label(name, 20))}</text>'
        )
    for at in lines:
        x = f"{margin + at:.1f}"
        out.append(
            f'<line x1="{x}" y1="{top - 14:.1f}" x2="{x}" y2="{height - 8:.1f}" stroke="#c62828" stroke-width="2"/>'
            f'<text x="{x}" y="{top - 19:.1f}" fill="#c62828" text-anchor="middle">restart</text>'
        )
    out += [_drawn(bar, margin, top) for bar in bars]
    out.append("</svg>")
    return "\n".join(out)


def _drawn(bar: _Bar, margin: float, top: float) -> str:
    y = top + _LANE * bar.lane + (_LANE - _BAR) / 2
    left, right = margin + bar.left, margin + (bar.right or bar.left)
    open_ended = bar.operation.ended is None
    dashes = ' stroke-dasharray="4 3"' if open_ended else ""
    waits = ""
    if bar.middle is not None:  # from here on the call is known to wait; the mark keeps clear of the label
        x = f"{margin + bar.middle:.1f}"
        waits = f'<line x1="{x}" y1="{y - 4:.1f}" x2="{x}" y2="{y + 4:.1f}" stroke="{_EDGES[bar.colour]}" '
        waits += 'stroke-width="2"/>'
    told = f"{bar.text} [{bar.operation.began} to {'…' if open_ended else bar.operation.ended}]"
    return (
        f'<g aria-label="{escape(told)}"><title>{escape(told)}</title>'
        f'<rect x="{left:.1f}" y="{y:.1f}" width="{right - left:.1f}" height="{_BAR:.1f}" rx="4" '
        f'fill="{_COLOURS[bar.colour]}" stroke="{_EDGES[bar.colour]}"{dashes}/>{waits}'
        f'<text x="{left + _PADDING / 2:.1f}" y="{y + 15:.1f}" fill="#1b1f23">{escape(bar.text)}</text></g>'
    )


DOCUMENT = "MC-MQAC"
MAX_PROGRAM = 40_000
"""Characters of a program; a longer story has none."""


@dataclass(frozen=True, slots=True)
class MemberLine:
    """A member of a class. form: get, put, putref or method. failed: requirements that are broken, of those judged."""

    name: str
    form: str
    requirements: int
    judged: int
    failed: int


@dataclass(frozen=True, slots=True)
class ClassLine:
    """A class with its members."""

    name: str
    members: tuple[MemberLine, ...]

    @property
    def requirements(self) -> int:
        return sum(line.requirements for line in self.members)

    @property
    def judged(self) -> int:
        return sum(line.judged for line in self.members)

    @property
    def failed(self) -> int:
        return sum(line.failed for line in self.members)


def classes_of(table: Table) -> tuple[ClassLine, ...]:
    """Return the classes whose members a run has judged; none for a run without objects."""
    outcomes = {row.id: row.outcome for row in table.rows if row.document == DOCUMENT and row.judged}
    return tuple(_classes(outcomes)) if outcomes else ()


def _classes(outcomes: dict[str, Outcome | None]) -> Iterator[ClassLine]:
    from conformance.activex.members import all_cells

    lines: dict[str, list[MemberLine]] = {}
    for key, columns in all_cells().items():
        coclass, member, form = key.split(".")
        names = {name for column in columns.values() for name in column}
        judged = [outcomes[name] for name in names if name in outcomes]
        failed = sum(outcome in REFUTED for outcome in judged)
        lines.setdefault(coclass, []).append(MemberLine(member, form, len(names), len(judged), failed))
    for coclass, members in lines.items():
        yield ClassLine(coclass, tuple(members))


def programs_of(steps: Iterable[StoryStep]) -> tuple[tuple[str, str], ...]:
    """Return a story as programs, by language; none for a story of something else than objects."""
    calls = [step.call for step in steps if step.call is not None and "method" in step.call]
    if not any(str(call["method"]).startswith("objects.") for call in calls):
        return ()
    from conformance.activex import words

    acts = words.acts_of(calls)
    programs = (("VBScript", words.vbscript(acts)), ("Python (pywin32)", words.python(acts))) if acts else ()
    return tuple((name, text) for name, text in programs if len(text) <= MAX_PROGRAM)


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


def bounded_findings(run: Run, groups: Sequence[Group], room: Room) -> list[dict[str, Any]]:
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
        "findings": [_bounded_finding(run, finding, room) for finding in shown],
        "more": group.more + len(group.shown) - len(shown),
        "excuse": None,
    }


def _bounded_finding(run: Run, finding: ReportedFinding, room: Room) -> dict[str, Any]:
    recorded = finding.recorded
    short = room.full
    limit = SHORT if short else None
    out: dict[str, Any] = {
        "subject": finding.subject,
        "place": finding.place.details if finding.place is not None else None,
        "count": recorded.count,
        "expected": room.take(_clipped(finding.expected, limit)),
        "actual": room.take(_clipped(finding.actual, limit)),
        "hint": finding.hint,
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
    shown, minor = bounded_findings(run, failures, room), bounded_findings(run, notable, room)
    excuses = excused.excuses
    accepted = [
        {**one, "excuse": label(excuses[group.row.id])}
        for group, one in zip(known, bounded_findings(run, known, room), strict=False)
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
        "offered": table.offered,
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
        "objected": [label(words) for words in objection_counts(others)],
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
        ("Largest tried", largest_in_words(run)),
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
