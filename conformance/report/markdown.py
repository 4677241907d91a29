"""The run as Markdown, for job summaries and merge requests, and in a few words as a badge."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from conformance.report.findings import (
    HINT,
    Group,
    cause_sentences,
    diagnosis_of,
    followed,
    heading,
    quirks,
    story_lines,
)
from conformance.report.gate import Decision, Excused, deviations, objection_counts, parted
from conformance.report.table import REFUTED, Section, Table, folded, judged_counts, judged_words, roll_up
from conformance.report.text import label
from conformance.runlog import Run
from conformance.verdict import ExitCode, Json, Outcome

LABEL = "MSMQ conformance"

# Dark enough for white text (contrast 4.5 to 1), each with the nearest colour name of shields.io.
_COLOURS = {"good": ("#2c7a30", "success"), "bad": ("#b8322a", "critical"), "none": ("#6a6a6a", "inactive")}
_LEFT = "#4a4a4a"
_HEIGHT = 20
_PAD = 6
# Widths in 11 px Verdana, in tenths of a pixel, of characters that are clearly narrower or wider than a digit.
_WIDTHS = {
    **dict.fromkeys("ijl.,:;|'!", 42),
    **dict.fromkeys(" ftr()-/", 46),
    **dict.fromkeys("mwMWQGOCDHNU%", 92),
    "S": 75,
}
_USUAL = 70


def message(run: Run, decision: Decision | None = None) -> str:
    """Return the badge's text: `2 deviate, 1,466 of 6,007 judged`, in requirements, or why the run proves less."""
    table = roll_up(run)
    excused = Excused(run, decision)
    code = excused.result.code
    if not run.complete:
        return "incomplete"
    if code is ExitCode.NOTHING_JUDGED:
        return "nothing judged"
    if code is ExitCode.HARNESS_ERROR:
        return "harness error"
    if code is ExitCode.BAD_INPUT:
        return "incomplete captures"
    if decision is not None:
        known = len(excused.excuses)
        if excused.fresh:
            return f"{len(excused.fresh):,} of {table.judged:,} deviate anew"
        if code is ExitCode.DEVIATES:
            return "gate shut"
        return (
            f"{table.judged:,} judged, {deviations(known, 'known')}" if known else f"{table.judged:,} requirements pass"
        )
    counts = table.counts
    wrong = sum(counts.get(outcome, 0) for outcome in REFUTED)
    if run.header.reading_set == "strict":
        wrong += counts.get(Outcome.READING, 0)
    judged = f"{table.judged:,} of {table.of:,} judged"
    if table.offered is not None:
        judged += f" ({table.demanded:,} in all)"
    return f"{wrong:,} deviate, {judged}" if wrong else f"{judged}, none deviates"


def shields(run: Run, decision: Decision | None = None) -> dict[str, Json]:
    """Return the object that a shields.io endpoint badge reads."""
    tone = _tone(run, decision)
    return {
        "schemaVersion": 1,
        "label": LABEL,
        "message": message(run, decision),
        "color": _COLOURS[tone][1],
        "isError": tone == "bad",
    }


def render_badge(run: Run, decision: Decision | None = None) -> str:
    """Return the badge as an SVG document, without script, style sheet or font of its own."""
    left, right = LABEL, message(run, decision)
    one, other = _width(left) + 2 * _PAD, _width(right) + 2 * _PAD
    title = escape(label(f"{left}: {right}"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{one + other}" height="{_HEIGHT}" role="img"'
        f' aria-label="{title}"><title>{title}</title>'
        # No clip path: it needs an id, and a page may hold several badges.
        f'<rect width="{one + other}" height="{_HEIGHT}" rx="3" fill="{_COLOURS[_tone(run, decision)][0]}"/>'
        f'<rect width="{one}" height="{_HEIGHT}" rx="3" fill="{_LEFT}"/>'
        f'<rect x="{one - 3}" width="3" height="{_HEIGHT}" fill="{_LEFT}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">'
        f"{_text(left, _PAD)}{_text(right, one + _PAD)}</g></svg>\n"
    )


def _tone(run: Run, decision: Decision | None) -> str:
    code = Excused(run, decision).result.code
    if code is ExitCode.DEVIATES:
        return "bad"
    return "good" if run.complete and code is ExitCode.CONFORMS else "none"


def _text(text: str, x: int) -> str:
    # textLength makes the text fit the box in every font.
    return f'<text x="{x}" y="14" textLength="{_width(text)}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'


def _width(text: str) -> int:
    return round(sum(_WIDTHS.get(character, _USUAL) for character in text) / 10)


MAX_BYTES = 900_000
"""Bytes of one summary: GitHub refuses more than a mebibyte."""
MAX_SECTIONS = 60
"""Rows of the table of sections."""
MAX_LINES = 120
"""Lines of one story."""
MAX_OBJECTIONS = 100
"""Objections of the gate, beside deviations, that are listed one by one."""
MAX_QUIRKS = 100
"""Quirks that are listed."""

_MARKS = {
    ExitCode.CONFORMS: "✅",
    ExitCode.DEVIATES: "❌",
    ExitCode.BAD_INPUT: "⚠️",
    ExitCode.HARNESS_ERROR: "💥",
    ExitCode.NOTHING_JUDGED: "⚠️",
}
# Characters of structure, elements, entities and mathematics, and of links made by hosts: mentions, #1, !1, %1, ~a, ^a.
_SPECIAL = re.compile(r"[\\`*_\[\]<>|~&$@#!%^]|:(?! )|(?<=www)\.", re.IGNORECASE)


def inline(text: object, limit: int = 400) -> str:
    """Return outside text on one line, with each character that could be markup as an entity."""
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", label(text, limit))


def _code(name: str) -> str:
    return f"<code>{inline(name)}</code>"


def render_markdown(run: Run, decision: Decision | None = None) -> str:
    """Return the run as one Markdown text of at most `MAX_BYTES`: result, deviations, sections, readings.

    decision: the gate's, which separates known deviations from new ones.
    """
    table, excused = roll_up(run), Excused(run, decision)
    failures, known, notable = parted(excused, table)
    parts = [
        _head(excused, table),
        *map(_failure, failures),
        _gate(excused),
        _known(excused, known),
        _quirks(run),
        _notable(notable),
        _sections(table),
        _followed(run),
    ]
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


def _head(excused: Excused, table: Table) -> str:
    run, result = excused.run, excused.result
    hello = run.hello or {}
    name = " ".join(inline(hello[key], 80) for key in ("name", "version") if hello.get(key))
    subject = name or ", ".join(inline(capture, 120) for capture in run.header.captures[:5])
    mark = _MARKS[result.code]
    if result.tone == "warn":
        mark = mark.replace("✅", "⚠️")
    lines = [
        f"## {mark} {inline(result.headline, 1_000)}{f': {subject}' if subject else ''}",
        "",
        *_diagnosed(run),
        f"**{judged_counts(table).replace(' ', '** ', 1)}: {judged_words(table)}.",
    ]
    settings = [
        ("label", run.header.label),
        ("level", run.header.level),
        ("readings", run.header.reading_set),
        ("seed", run.header.seed),
        ("connector", run.header.connector),
    ]
    told = ", ".join(f"{key} {inline(value, 120)}" for key, value in settings if value is not None)
    lines += ["", f"{told}." if told else ""]
    if run.incomplete:
        lines += ["", f"⚠️ **The captures are incomplete:** {run.incomplete.words}."]
    if not run.complete:
        problems = " ".join(inline(problem) for problem in run.problems)
        lines += ["", f"⚠️ **The run record is incomplete.** {problems}"]
    elif run.footer is not None and run.footer.stop_reason != "completed":
        lines += ["", f"⚠️ The run ended early ({inline(run.footer.stop_reason)})."]
    return "\n".join(lines).rstrip()


def _diagnosed(run: Run) -> Iterator[str]:
    """Yield what `diagnose` found as a quotation: it is a hint and no verdict."""
    found = diagnosis_of(run)
    if found is not None:
        for line in cause_sentences(found):
            yield f"> {inline(line, 1_000)}" if line == HINT else f"> **{inline(line, 1_000)}**  "
        yield ""


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
    """Yield the lines as a code block with a fence longer than any in them; a long story loses its middle."""
    if len(lines) > MAX_LINES:
        cut = len(lines) - MAX_LINES
        lines = [*lines[: MAX_LINES // 2], f"      ({cut} lines left out)", *lines[MAX_LINES // 2 + cut :]]
    longest = max((len(found) for line in lines for found in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}text"
    yield from lines
    yield fence


def _gate(excused: Excused) -> str:
    others = excused.others
    if not others:
        return ""
    rows = [f"| {one.kind} | {_code(one.what)} | {inline(one.why)} |" for one in others[:MAX_OBJECTIONS]]
    head = ["### Other reasons why the gate is shut", "", f"{'; '.join(objection_counts(others))}.", ""]
    lines = [*head, "| why | what | |", "|---|---|---|", *rows]
    if len(others) > MAX_OBJECTIONS:
        lines += ["", f"{len(others) - MAX_OBJECTIONS:,} more; `mqconform gate` names them all."]
    return "\n".join(lines)


def _known(excused: Excused, found: list[Group]) -> str:
    if not found:
        return ""
    rows = [
        f"| {group.outcome.value} | {_code(group.row.id)} | {inline(heading(group.row))}"
        f" | {inline(excused.excuses[group.row.id])} |"
        for group in found
    ]
    return "\n".join(
        ["### Known deviations", "", "| outcome | requirement | says | known from |", "|---|---|---|---|", *rows]
    )


def _quirks(run: Run) -> str:
    """Return what the run went on behind; names stand in backquotes of their own."""
    lines = [f"- {inline(quirk.sentence, 1_000)}" for quirk in quirks(run)[:MAX_QUIRKS]]
    return "\n".join(["### Quirks", "", *lines]) if lines else ""


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
    return f"| {name} | {section.judged}/{section.demanded} | {passed} | {refuted} | {other} | {outcome} |"


def _followed(run: Run) -> str:
    found = followed(run)
    if not found:
        return ""
    rows = [f"| {_code(name)} | {inline(chosen)} | {inline(meaning)} |" for name, chosen, meaning in found]
    head = ["| reading | followed | meaning |", "|---|---|---|"]
    return "\n".join(["<details><summary>Readings followed</summary>", "", *head, *rows, "", "</details>"])
