"""The run as Markdown: the job summary of GitHub and Azure, a comment of a merge request.

Every character of somebody else's text that Markdown or HTML could take for markup is written as an entity, which no
reader takes for structure: no label opens a table cell, an element, a link or a mention.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.report.findings import Group, followed, groups, heading, story_lines
from conformance.report.table import REFUTED, Section, Table, conclusion, folded, roll_up
from conformance.report.text import label
from conformance.runlog import Run
from conformance.verdict import ExitCode, Outcome

MAX_BYTES = 900_000
"""Bytes of one summary: GitHub refuses one of more than a mebibyte."""
MAX_SECTIONS = 60
"""Rows of the table of sections."""
MAX_LINES = 120
"""Lines of one story."""

_HEADLINES = {
    ExitCode.CONFORMS: "✅ No deviation found",
    ExitCode.DEVIATES: "❌ Does not conform",
    ExitCode.HARNESS_ERROR: "💥 The harness failed",
    ExitCode.NOTHING_JUDGED: "⚠️ Nothing was judged",
}
# Structure, elements, entities, mathematics; what hosts make links of: addresses, mentions, #1, !1, %1, ~a, ^a.
_SPECIAL = re.compile(r"[\\`*_\[\]<>|~&$@#!%^]|:(?! )|(?<=www)\.", re.IGNORECASE)


def inline(text: object, limit: int = 400) -> str:
    """Text of somebody else's on one line, each character that could be markup as an entity."""
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", label(text, limit))


def _code(name: str) -> str:
    return f"<code>{inline(name)}</code>"


def render_markdown(run: Run) -> str:
    """The run as one Markdown text of at most `MAX_BYTES`: result, deviations, sections, readings."""
    table = roll_up(run)
    failures, notable = groups(run, table)
    parts = [_head(run, table), *map(_failure, failures), _notable(notable), _sections(table), _followed(run)]
    tail = "\n\nThe rest did not fit; the run record has it.\n"
    out: list[str] = []
    left = MAX_BYTES - len(tail)
    for part in filter(None, parts):
        size = len(part.encode()) + 2
        if size > left:
            return "\n\n".join(out) + tail
        out.append(part)
        left -= size
    return "\n\n".join(out) + "\n"


def _head(run: Run, table: Table) -> str:
    hello = run.hello or {}
    name = " ".join(inline(hello[key], 80) for key in ("name", "version") if hello.get(key))
    subject = name or ", ".join(inline(capture, 120) for capture in run.header.captures[:5])
    counts = ", ".join(f"{number:,} {outcome.value}" for outcome, number in table.counts.items())
    lines = [
        f"## {_HEADLINES[conclusion(run)]}{f': {subject}' if subject else ''}",
        "",
        f"**{table.judged:,}** of {table.demanded:,} requirements of {table.profile} judged: {counts or 'none'}.",
    ]
    settings = [
        ("level", run.header.level),
        ("readings", run.header.reading_set),
        ("seed", run.header.seed),
        ("connector", run.header.connector),
    ]
    told = ", ".join(f"{key} {inline(value, 120)}" for key, value in settings if value is not None)
    lines += ["", f"{told}." if told else ""]
    if not run.complete:
        problems = " ".join(inline(problem) for problem in run.problems)
        lines += ["", f"⚠️ **The run record is incomplete.** {problems}"]
    elif run.footer is not None and run.footer.stop_reason != "completed":
        lines += ["", f"⚠️ The run ended early ({inline(run.footer.stop_reason)})."]
    return "\n".join(lines).rstrip()


def _failure(group: Group) -> str:
    lines = [
        f"### {group.outcome.value.capitalize()}: {_code(group.row.id)}",
        "",
        inline(heading(group.row)),
    ]
    for finding in group.shown[:1]:
        lines += ["", "<details><summary>What happened</summary>", "", *_fenced(list(story_lines(finding))), ""]
        lines.append("</details>")
    others = group.more + len(group.shown) - 1
    if others > 0:
        lines += ["", f"{others:,} more of the same."]
    return "\n".join(lines)


def _fenced(lines: list[str]) -> Iterator[str]:
    """The lines as a code block, its fence longer than any in them; of a long story the middle goes."""
    if len(lines) > MAX_LINES:
        cut = len(lines) - MAX_LINES
        lines = [*lines[: MAX_LINES // 2], f"      ({cut} lines left out)", *lines[MAX_LINES // 2 + cut :]]
    longest = max((len(found) for line in lines for found in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}text"
    yield from lines
    yield fence


def _notable(found: list[Group]) -> str:
    if not found:
        return ""
    rows = [
        f"| {group.outcome.value} | {_code(group.row.id)} | {inline(heading(group.row))} | {group.seen:,} |"
        for group in found
    ]
    return "\n".join(
        ["### Warnings and readings", "", "| outcome | requirement | says | seen |", "|---|---|---|--:|", *rows]
    )


def _sections(table: Table) -> str:
    sections = folded([one for one in table.sections if one.outcome is not None], MAX_SECTIONS)
    if not sections:
        return ""
    rows = [_section(one) for one in sections]
    head = ["| section | judged | pass | fail | other | outcome |", "|---|--:|--:|--:|--:|---|"]
    return "\n".join(["<details><summary>Section by section</summary>", "", *head, *rows, "", "</details>"])


def _section(section: Section) -> str:
    counts = section.counts
    refuted = sum(counts[outcome] for outcome in REFUTED)
    passed = counts[Outcome.PASS]
    name = inline(f"{section.document} {section.number} {section.title}".strip(), 120)
    other = sum(counts.values()) - refuted - passed
    outcome = section.outcome.value if section.outcome else ""
    return f"| {name} | {section.judged}/{len(section.rows)} | {passed} | {refuted} | {other} | {outcome} |"


def _followed(run: Run) -> str:
    found = followed(run)
    if not found:
        return ""
    rows = [f"| {_code(name)} | {inline(chosen)} | {inline(meaning)} |" for name, chosen, meaning in found]
    head = ["| reading | followed | meaning |", "|---|---|---|"]
    return "\n".join(["<details><summary>Readings followed</summary>", "", *head, *rows, "", "</details>"])
