"""The plots of a corpus as SVG elements: without style, script or link of their own, coloured by classes of the page.

A plot is as wide as its place: positions across are percentages, heights and texts are CSS pixels, so a text has one
size on a phone and on a wide screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Final

from conformance.report.corpus import BAD, KINDS, Corpus, Course, Kind, Subject, refuting
from conformance.report.page import trusted
from conformance.report.text import label
from conformance.verdict import Outcome

if TYPE_CHECKING:
    from markupsafe import Markup

NAME: Final = 120
"""Characters shown of a sender's or an implementation's name."""
STACKED: Final = (
    *(outcome.value for outcome in Outcome if outcome.value in BAD), "error", "inconclusive", "reading", "warn",
)  # fmt: skip
"""The outcomes drawn in a bar, from its foot."""
_TOP, _BOTTOM = 12, 26
_TICKS = 4
_LABELS: Final = (("narrow", 3), ("broad", 8))
"""Class of the labels below a plot, and how many fit: on a phone, and from 46 rem on."""
_WIDEST: Final = 8.0
"""The most a bar takes of the width, in percent."""


def plots(corpus: Corpus) -> list[tuple[str, Markup]]:
    """Return the plots with their titles: for captures, for runs, and of the packets judged."""
    span = corpus.span
    if not span.buckets:
        return []
    per = "a day" if span.width == 1 else f"in {span.width} days"
    out = [one for kind in KINDS for one in _judged(corpus, kind, per)]
    traffic: list[dict[str, float]] = [{} for _ in range(span.buckets)]
    for day, packets in corpus.traffic.items():
        if 0 <= (at := span.bucket(day)) < span.buckets:
            traffic[at]["packets"] = traffic[at].get("packets", 0) + packets
    if any(traffic):
        title = f"Packets judged {per}"
        out.append((title, stacked(traffic, ("packets",), span.name, title=title, height=130)))
    return [(title, trusted(drawn)) for title, drawn in out]


def _judged(corpus: Corpus, kind: Kind, per: str) -> list[tuple[str, str]]:
    span, what = corpus.span, "captures" if kind == "wire" else "runs"
    bars: list[dict[str, float]] = [{} for _ in range(span.buckets)]
    rates: list[float | None] = [None] * span.buckets
    most: list[float | None] = [None] * span.buckets
    judged, bad = [0] * span.buckets, [0] * span.buckets
    for (one, day), counts in corpus.trend.items():
        at = span.bucket(day)
        if one == kind and 0 <= at < span.buckets:
            for outcome in STACKED:
                if outcome in counts:
                    bars[at][outcome] = bars[at].get(outcome, 0) + counts[outcome]
            judged[at] += sum(counts.values())
            bad[at] += refuting(counts)
            rates[at] = 1e6 * bad[at] / judged[at] if judged[at] else None
            most[at] = max(most[at] or 0, corpus.refuted.get((kind, day), 0))
    if not any(judged):
        return []
    title = f"Verdicts against {what}, {per}"
    out = [(title, stacked(bars, STACKED, span.name, title=title))]
    if kind == "wire":
        title = "Refuting verdicts in a million"
        out.append((title, line(rates, span.name, title=title)))
    title = f"Requirements refuted in {what}" + (", the most on a day" if span.width > 1 else "")
    return [*out, (title, line(most, span.name, title=title, whole=True))]


def strip_of(corpus: Corpus, course: Course) -> Markup:
    """Return the strip of a course; nothing in a lake of a single day, or of none."""
    if corpus.span.buckets < 2:
        return trusted("")
    cells: dict[int, tuple[int, int]] = {}
    for day, (bad, noted) in course.days.items():
        at = corpus.span.bucket(day)
        before = cells.get(at, (0, 0))
        cells[at] = before[0] + bad, before[1] + noted
    days = len(course.bad_days)
    told = f"{label(course.requirement)}, {label(course.subject, NAME)}: refuted on {days:,} day{'s' * (days != 1)}"
    return trusted(strip(cells, corpus.span.buckets, f"{told}, clean on {len(course.clean_days):,}"))


def spark_of(corpus: Corpus, subject: Subject) -> Markup:
    """Return the refuting verdicts on a subject through the days as small bars; nothing in a lake of a single day."""
    values = [0.0] * corpus.span.buckets
    for day, number in subject.days.items():
        if 0 <= (at := corpus.span.bucket(day)) < len(values):
            values[at] += number
    if len(values) < 2 or not any(values):
        return trusted("")
    title = f"Refuting verdicts on {label(subject.name, NAME)} through the days"
    highs = [(at, max(1.5, 20 * value / max(values))) for at, value in enumerate(values) if value]
    bars = (f'<rect x="{at + 0.1:.1f}" y="{20 - high:.1f}" width="0.8" height="{high:.1f}"/>' for at, high in highs)
    return trusted(_row("spark", f"{len(values)} 20", title, bars))


def stacked(
    bars: Sequence[Mapping[str, float]],
    kinds: Sequence[str],
    name: Callable[[int], str],
    *,
    title: str,
    height: int = 190,
) -> str:
    """Draw a bar for each bucket, stacked in the order of `kinds`, each part with its kind as class.

    name: returns a bucket in words.
    """
    top = max((sum(bar.get(kind, 0) for kind in kinds) for bar in bars), default=0)
    base, scale, out = _plot(title, height, ticks_to(top, whole=True))
    step = 100 / max(1, len(bars))
    thick = min(_WIDEST, step * 0.78)
    for at, bar in enumerate(bars):
        if not any(bar.get(kind) for kind in kinds):
            continue
        x, y = step * at + (step - thick) / 2, float(base)
        parts = ", ".join(f"{bar[kind]:,.0f} {kind}" for kind in kinds if bar.get(kind))
        out.append(f"<g><title>{escape(f'{name(at)}: {parts}')}</title>")
        for kind in kinds:
            if bar.get(kind):
                high = max(1.0, bar[kind] * scale)
                y -= high
                out.append(
                    f'<rect class="{escape(kind)}" x="{x:.2f}%" y="{y:.1f}" width="{thick:.2f}%" height="{high:.1f}"/>'
                )
        out.append("</g>")
    return "\n".join([*out, *_days(len(bars), name, height), "</svg>"])


def line(
    values: Sequence[float | None], name: Callable[[int], str], *, title: str, height: int = 150, whole: bool = False
) -> str:
    """Draw a line through the values, interrupted at None, with a dot for each value. whole: they are counts."""
    ticks = ticks_to(max((value for value in values if value is not None), default=0), whole=whole)
    base, scale, out = _plot(title, height, ticks)
    step = 100 / max(1, len(values))
    dots: list[str] = []
    before: tuple[str, str] | None = None
    for at, value in enumerate(values):
        if value is None:
            before = None
            continue
        here = f"{step * (at + 0.5):.2f}%", f"{base - value * scale:.1f}"
        if before is not None:
            out.append(f'<line class="line" x1="{before[0]}" y1="{before[1]}" x2="{here[0]}" y2="{here[1]}"/>')
        before = here
        dots.append(
            f'<circle cx="{here[0]}" cy="{here[1]}" r="2.5">'
            f"<title>{escape(f'{name(at)}: {value:,.6g}')}</title></circle>"
        )
    return "\n".join([*out, *dots, *_days(len(values), name, height), "</svg>"])


def strip(cells: Mapping[int, tuple[int, int]], buckets: int, title: str) -> str:
    """Draw one course through the days as a row of cells: refuted, noted, clean, or empty if it was not judged.

    cells: bucket to (refuting, noted) verdicts. Neighbours of one kind are drawn as one.
    """

    def kind(at: int) -> str:
        bad, noted = cells.get(at, (0, 0))
        return "" if at not in cells else "fail" if bad else "warn" if noted else "pass"

    groups = [(name, list(group)) for name, group in groupby(range(buckets), kind)]
    parts = (f'<rect class="{name}" x="{at[0]}" width="{len(at)}" height="1"/>' for name, at in groups if name)
    return _row("strip", f"{buckets} 1", title, parts)


def ticks_to(top: float, *, whole: bool = False) -> list[float]:
    """Return about four round numbers from 0 to at least `top`. whole: none of them is a fraction."""
    if top <= 0:
        return [0.0, 1.0]
    step = 1.0
    while step * _TICKS < top:
        step *= 10
    while step / 10 * _TICKS >= top:
        step /= 10
    step = next(part for part in (step / 5, step / 2, step) if part * _TICKS >= top)
    if whole:
        step = max(1.0, step)
    return [step * at for at in range(int(-(-top // step)) + 1)]


def short(number: float) -> str:
    """Format a number for an axis: 1.2M, 35k, 0.05."""
    for size, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size * 0.9995:
            return f"{number / size:.3g}{name}"
    return f"{number:.3g}"


def _row(kind: str, box: str, title: str, parts: Iterable[str]) -> str:
    """Return a drawing within a row of text, which is stretched to its place."""
    return (
        f'<svg class="{kind}" viewBox="0 0 {box}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def _plot(title: str, height: int, ticks: Sequence[float]) -> tuple[int, float, list[str]]:
    """Begin a plot with lines across, their numbers at the left. Returns its base, the scale and the parts so far."""
    base = height - _BOTTOM
    scale = (base - _TOP) / (ticks[-1] or 1)
    out = [
        f'<svg class="plot" width="100%" height="{height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>"
    ]
    for tick in ticks:
        y = base - tick * scale
        out.append(
            f'<line class="rule" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="tick" x="-6" y="{y + 4:.1f}" text-anchor="end">{short(tick)}</text>'
        )
    return base, scale, out


def _days(count: int, name: Callable[[int], str], height: int) -> list[str]:
    """Return labels with the first day of buckets, below them: as many as fit on a phone, and as many as fit else."""
    return [
        f'<text class="tick {kind}" x="{100 * (at + 0.5) / count:.2f}%" y="{height - 8}" '
        f'text-anchor="middle">{escape(name(at)[:10])}</text>'
        for kind, most in _LABELS
        for at in range(0, count, -(-count // most))
    ]
