"""The result in a few words: an SVG image, and the JSON object of a shields.io endpoint."""

from __future__ import annotations

from html import escape

from conformance.report.table import REFUTED, conclusion, roll_up
from conformance.report.text import label
from conformance.runlog import Run
from conformance.verdict import ExitCode, Json, Outcome

LABEL = "MSMQ conformance"

# Dark enough for white text to be read on them (4.5 to 1), and what shields.io calls the nearest of its own.
_COLOURS = {"good": ("#2c7a30", "success"), "bad": ("#b8322a", "critical"), "none": ("#6a6a6a", "inactive")}
_LEFT = "#4a4a4a"
_HEIGHT = 20
_PAD = 6
# Widths of 11 px Verdana, in tenths of a pixel, of the characters that are not about as wide as a digit.
_WIDTHS = {
    **dict.fromkeys("ijl.,:;|'!", 42),
    **dict.fromkeys(" ftr()-/", 46),
    **dict.fromkeys("mwMWQGOCDHNU%", 92),
    "S": 75,
}
_USUAL = 70


def message(run: Run) -> str:
    """`141 judged, 2 deviate`, of requirements; what an incomplete or failed run cannot say it does not."""
    table = roll_up(run)
    code = conclusion(run)
    if not run.complete:
        return "incomplete"
    if code is ExitCode.NOTHING_JUDGED:
        return "nothing judged"
    if code is ExitCode.HARNESS_ERROR:
        return "harness error"
    counts = table.counts
    wrong = sum(counts.get(outcome, 0) for outcome in REFUTED)
    if run.header.reading_set == "strict":
        wrong += counts.get(Outcome.READING, 0)
    return f"{wrong:,} of {table.judged:,} deviate" if wrong else f"{table.judged:,} requirements pass"


def shields(run: Run) -> dict[str, Json]:
    """The object a shields.io endpoint badge asks for."""
    tone = _tone(run)
    return {
        "schemaVersion": 1,
        "label": LABEL,
        "message": message(run),
        "color": _COLOURS[tone][1],
        "isError": tone == "bad",
    }


def render_badge(run: Run) -> str:
    """The badge as an SVG document, without script, style sheet or font of its own."""
    left, right = LABEL, message(run)
    one, other = _width(left) + 2 * _PAD, _width(right) + 2 * _PAD
    title = escape(label(f"{left}: {right}"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{one + other}" height="{_HEIGHT}" role="img"'
        f' aria-label="{title}"><title>{title}</title>'
        # No clip path: it would need an id, and a page may hold several badges.
        f'<rect width="{one + other}" height="{_HEIGHT}" rx="3" fill="{_COLOURS[_tone(run)][0]}"/>'
        f'<rect width="{one}" height="{_HEIGHT}" rx="3" fill="{_LEFT}"/>'
        f'<rect x="{one - 3}" width="3" height="{_HEIGHT}" fill="{_LEFT}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">'
        f"{_text(left, _PAD)}{_text(right, one + _PAD)}</g></svg>\n"
    )


def _tone(run: Run) -> str:
    code = conclusion(run)
    if code is ExitCode.DEVIATES:
        return "bad"
    return "good" if run.complete and code is ExitCode.CONFORMS else "none"


def _text(text: str, x: int) -> str:
    # textLength makes every font as wide as the box was made for.
    return f'<text x="{x}" y="14" textLength="{_width(text)}" lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'


def _width(text: str) -> int:
    return round(sum(_WIDTHS.get(character, _USUAL) for character in text) / 10)
