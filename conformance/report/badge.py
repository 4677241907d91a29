"""Badges: the result of a run in a few words, as an SVG image and as the JSON object of a shields.io endpoint."""

from __future__ import annotations

from html import escape

from conformance.report.gate import Decision, Excused, deviations
from conformance.report.table import REFUTED, roll_up
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
    judged = f"{table.judged:,} of {table.demanded:,} judged"
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
