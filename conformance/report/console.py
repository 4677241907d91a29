"""Print the end of a run on the console: conclusion, failures with their causes, what was left out, paths of the files.

All text from outside is escaped before it gets here and printed without rich's markup, so that no label can colour,
hide or move anything on a user's terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.adapter.protocol import FACETS
from conformance.report.coverage import NOT_RUN, covered, needed, numbers
from conformance.report.findings import (
    BOTH_WAYS,
    HINT,
    Group,
    Told,
    cause_sentences,
    diagnosis_of,
    followed,
    heading,
    quirks,
    story_lines,
)
from conformance.report.gate import Decision, Excused, parted
from conformance.report.situations import situations
from conformance.report.table import REFUTED, UNSEALED, Section, Table, folded, judged_counts, judged_words, roll_up
from conformance.report.text import label
from conformance.report.transition_pictures import in_words, transitions
from conformance.runlog import Run
from conformance.runlog.counts import counted
from conformance.runlog.run import largest_in_words
from conformance.verdict import ExitCode, Outcome

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

MAX_ROWS = 36
"""Rows of the table: what a tall terminal shows without scrolling."""
MAX_STORIES = 10
"""Failing requirements printed with their story when asked for; the reports have all."""
MAX_BROKEN = 8
"""Failing requirements printed otherwise: so many fit a screen."""
MAX_NAMES = 16
"""Failing requirements named in one line each after those."""
MAX_SHORT_STORIES, MAX_SHORT_STEPS = 3, 8
"""Stories printed otherwise, the steps of each but the first."""
MAX_NOTABLE = 5
"""Known deviations printed otherwise, and warnings and readings."""
MAX_MISSING = 6
"""Transitions without an occurrence that are printed by name."""
MAX_LINES = 60
"""Lines of one story."""

_STYLES: Mapping[Outcome | None, str] = {
    Outcome.FAIL: "bold red",
    Outcome.CRASH: "bold red",
    Outcome.TIMEOUT: "bold red",
    Outcome.FLAKY: "bold red",
    Outcome.ERROR: "bold magenta",
    Outcome.INCONCLUSIVE: "yellow",
    Outcome.READING: "yellow",
    Outcome.WARN: "yellow",
    Outcome.SKIP: "dim",
    Outcome.PASS: "green",
    None: "dim",
}
_CONCLUSIONS = {
    ExitCode.CONFORMS: "bold green",
    ExitCode.DEVIATES: "bold red",
    ExitCode.BAD_INPUT: "bold yellow",
    ExitCode.HARNESS_ERROR: "bold magenta",
    ExitCode.NOTHING_JUDGED: "bold yellow",
}


def print_summary(
    run: Run,
    console: Console,
    paths: Mapping[str, Path] | None = None,
    decision: Decision | None = None,
    *,
    verbose: bool = False,
) -> None:
    """Print the run: the conclusion, what is broken, what was left out, and where the files are.

    paths: names of the files that were written (`report`, `run record`) to their places. decision: the gate's, which
    separates known deviations from new ones. verbose: with the table of sections, every story and all counts.
    """
    table, excused, diagnosis = roll_up(run), Excused(run, decision), diagnosis_of(run)
    result = excused.result
    style = _CONCLUSIONS[result.code]
    _line(console, f"{result.headline}.", style.replace("green", "yellow") if result.tone == "warn" else style)
    for line in cause_sentences(diagnosis) if diagnosis is not None else ():
        _line(console, line, "bold" if line != HINT else "dim")
    _line(console, f"{judged_counts(table)}: {judged_words(table)}")
    if run.packets:
        _line(console, f"{len(run.packets):,} packets")
    sections = [section for section in table.sections if section.outcome is not None]
    if verbose and sections:
        console.print()
        console.print(_section_table(console, folded(sections, MAX_ROWS)))
    failures, known, notable = parted(excused, table)
    causes = quirks(run)
    # The first story is whole: a short one of what most histories end with.
    often = {quirk.requirement: quirk.met + quirk.behind for quirk in causes}
    failures = sorted(failures, key=lambda group: _order(group, often.get(group.row.id, 0)))
    most = MAX_STORIES if verbose else MAX_BROKEN
    for number, group in enumerate(failures[:most]):
        short = number < MAX_SHORT_STORIES and group.steps <= MAX_SHORT_STEPS
        _print_group(console, group, causes, whole=verbose or not number or short)
    if len(failures) > most:
        console.print()
    for group in failures[most : most + MAX_NAMES]:
        _line(console, f"{group.outcome.value.upper()} {label(group.row.id)}", _STYLES[group.outcome])
    most += MAX_NAMES
    if len(failures) > most:
        _line(console, f"{counted(len(failures) - most, 'requirement')} more; the report has them all.", "red")
    most = MAX_STORIES if verbose else MAX_NOTABLE
    if known or notable:
        console.print()
    for group in known[:most]:
        excuse = label(excused.excuses[group.row.id])
        _line(console, f"known {group.outcome.value}: {label(group.row.id)}: {excuse}", "yellow")
        _print_place(console, group)
    if len(known) > most:
        _line(console, f"Known deviations: {len(known) - most} more; the report has them all.", "yellow")
    readings = [group for group in notable if group.outcome is Outcome.READING and group.shown[0].place is None]
    notable = [group for group in notable if group not in readings]
    for group in notable[:most]:
        _line(console, f"{group.outcome.value}: {label(group.row.id)}: {heading(group.row)}", _STYLES[group.outcome])
        _print_place(console, group)
    if len(notable) > most:
        _line(console, f"Warnings and readings: {len(notable) - most} more; the report has them all.", "yellow")
    if readings:
        names = ", ".join(label(group.row.id) for group in readings[:most])
        names += ", ..." if len(readings) > most else ""
        _line(console, f"The answers chose a reading of {counted(len(readings), 'requirement')}: {names}.", "yellow")
    console.print()
    _print_left_out(console, run, table)
    if verbose:
        shown = {group.row.id for group in failures[:MAX_STORIES]}
        _print_counts(console, run, table, [quirk for quirk in causes if quirk.requirement not in shown])
    for name, path in (paths or {}).items():
        _line(console, f"{name + ':':<12} {label(_near(path), 4_000)}")


def _section_table(console: Console, sections: list[Section]) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable

    # One line a section, never more: a narrow terminal shortens the title. A log gets no box.
    columns = ("judged", "pass", "fail", "other") if console.width >= 64 else ("judged", "fail")
    judged = max(len("judged"), *(len(_judged(section)) for section in sections))
    outcomes = max(len("outcome"), *(len(section.outcome.value) for section in sections if section.outcome))
    gap = 2 if console.is_terminal else 1  # the padding, and the divider of the box
    fixed = judged + sum(len(name) for name in columns[1:]) + outcomes + gap * (len(columns) + 1)
    grid = RichTable(
        box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False
    )
    width = max(8, min(56, console.width - fixed))
    grid.add_column("Section", no_wrap=True, overflow="ellipsis", width=width)
    for name in columns:
        least = judged if name == "judged" else len(name)
        grid.add_column(name, justify="right", no_wrap=True, overflow="ellipsis", min_width=least)
    grid.add_column("outcome", no_wrap=True, overflow="ellipsis", min_width=outcomes)
    document = None
    for section in sections:
        if section.document != document:
            document = section.document
            grid.add_row(_text(document, "bold"))
        counts = section.counts
        refuted = sum(counts[outcome] for outcome in REFUTED)
        passed = counts[Outcome.PASS]
        other = sum(counts.values()) - refuted - passed
        outcome = section.outcome
        cells = {
            "judged": _text(_judged(section)),
            "pass": _text(str(passed)),
            "fail": _text(str(refuted), "bold red" if refuted else "dim"),
            "other": _text(str(other), "" if other else "dim"),
        }
        grid.add_row(
            _text(f"  {label(section.number, 14):<11} {section.title}"),
            *(cells[name] for name in columns),
            _text(outcome.value if outcome else "", _STYLES[outcome]),
        )
    return grid


def _judged(section: Section) -> str:
    return f"{section.judged}/{section.demanded}"


def _order(group: Group, histories: int) -> tuple[int, bool, int, int]:
    return group.outcome.rank, group.steps > MAX_SHORT_STEPS, -histories, group.steps


def _print_group(console: Console, group: Group, causes: Sequence[Told], *, whole: bool) -> None:
    """Print a broken requirement with its likely causes. whole: with its story, else with its repro line alone."""
    console.print()
    style = _STYLES[group.outcome]
    _line(console, f"{group.outcome.value.upper()} {label(group.row.id)}", style)
    _line(console, heading(group.row), indent=2)
    for quirk in causes:
        if group.row.id in (quirk.requirement, *quirk.filed):
            _line(console, quirk.cause_line, "bold", indent=2)
    for finding in group.shown[:1]:
        lines = list(story_lines(finding))
        if not whole:
            lines = [line for line in lines[-1:] if finding.repro_command]
        # The middle of a long story is left out, because the failure is at its end.
        if len(lines) > MAX_LINES:
            cut = len(lines) - MAX_LINES
            lines[MAX_LINES // 2 : MAX_LINES // 2 + cut] = [f"      ({cut} lines left out; the report has them)"]
        for line in lines:
            _line(console, line, indent=2)
    others = group.more + len(group.shown) - 1
    if others and whole:
        _line(console, f"({others} more of the same)", "dim", indent=2)


def _print_place(console: Console, group: Group) -> None:
    """Print where the first packet of such a verdict is, if it is about one of a capture."""
    for first in group.shown[:1]:
        if first.place is not None:
            more = f" ({group.seen - 1:,} more of the same)" if group.seen > 1 else ""
            _line(console, f"{label(first.place.capture)}: {first.place.line}{more}", indent=2)


def _print_left_out(console: Console, run: Run, table: Table) -> None:
    """Print what the run did not judge and why, and what its record and its captures lack."""
    if table.covers is not None:
        facets = run.hello["facets"] if run.hello else {}
        absent = [name for name in FACETS if not facets.get(name)]
        absent += ["methods or values of the others"] if table.partly_refused else []
        rest = [row for row in table.rows if row.demanded and not row.judged]
        lacking = sum(row.id not in table.covers for row in rest if row.id in covered().suites)
        if absent and lacking:
            _line(console, f"Not offered: {', '.join(absent)}; {lacking:,} requirements need them.", "dim")
        rest = [row for row in rest if row.id in table.covers]
        unrun = sum(row.outcome is None and str(row.reason).startswith(NOT_RUN) for row in rest)
        silent = len(rest) - unrun
        parts = [f"{unrun:,} of suites that did not run"] if unrun else []
        parts += [f"{silent:,} whose condition did not come about"] if silent else []
        if parts:
            _line(console, f"Not judged for the facets offered: {', '.join(parts)}.", "dim")
    if not run.sealed:
        _line(console, UNSEALED, "dim")
    for problem in run.problems:
        _line(console, f"Incomplete record: {label(problem)}", "bold yellow")
    footer = run.footer
    if footer and footer.stop_reason != "completed":
        _line(console, f"The run ended early: {footer.stop_reason}.", "bold yellow")
    if run.incomplete:
        _line(console, f"Incomplete captures: {run.incomplete.words}.", "bold yellow")


def _print_counts(console: Console, run: Run, table: Table, unexplained: Sequence[Told]) -> None:
    """Print the counts of a verbose summary. unexplained: quirks that stand under no failure."""
    _line(console, f"Not judged, by what is needed: {needed(numbers(run, table.profile).left) or 'none'}", "dim")
    if table.beside:
        _line(console, f"{table.beside:,} more judged, not in this version's catalogue for {table.profile}", "dim")
    verdicts = ", ".join(f"{number:,} {outcome.value}" for outcome, number in run.counts.items())
    _line(console, f"{counted(sum(run.counts.values()), 'verdict')}: {verdicts or 'none'}")
    footer = run.footer
    if footer and footer.stateful_steps:
        pace = f" ({footer.steps_per_second:,.0f} steps per second)" if footer.steps_per_second else ""
        _line(console, f"{counted(footer.stateful_steps, 'stateful step')}{pace}")
    pictured = transitions(run)
    if pictured:
        _line(console, f"Transitions followed: {in_words(pictured)}")
        missing = [f"{one.table}: {row}" for one in pictured for row in one.missing]
        for row in missing[:MAX_MISSING]:
            _line(console, f"never: {label(row)}", "dim", indent=2)
        if len(missing) > MAX_MISSING:
            _line(console, f"and {len(missing) - MAX_MISSING} more; the report has them all", "dim", indent=2)
    planned = situations(run)
    if planned is not None:
        _line(console, f"Situations: {planned.sentence}")
    if tried := largest_in_words(run):
        _line(console, f"Largest tried: {tried}")
    for quirk in unexplained:
        _line(console, f"Quirk: {quirk.sentence}")
    readings = followed(run)
    if readings:
        many = counted(len(readings), "reading")
        both = [name for name, chosen, _ in readings if chosen == BOTH_WAYS[0]]
        _line(console, f"{many} followed" + (f", both ways: {', '.join(both)}" if both else ""))


def _line(console: Console, text: str, style: str = "", *, indent: int = 0) -> None:
    from rich.padding import Padding

    # A log has no width: its lines stay whole, so that a command or a path can be copied and searched for.
    if console.is_terminal:
        console.print(Padding(_text(text, style), (0, 0, 0, indent), expand=False), overflow="fold")
    else:
        console.print(_text(" " * indent + text, style), soft_wrap=True)


def _text(text: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(text, style=style)


def _near(path: Path) -> str:
    """Return the path relative to the working directory if it is below it, else as given."""
    try:
        return str(Path(path).resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
