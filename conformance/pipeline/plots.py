"""Small plots as SVG elements: without style, script or link of their own, coloured by classes of the page.

A plot is as wide as its place: positions across are percentages, heights and texts are CSS pixels, so a text has one
size on a phone and on a wide screen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Final

_TOP, _BOTTOM = 12, 26
_TICKS = 4
_LABELS: Final = (("narrow", 3), ("broad", 8))
"""Class of the labels below a plot, and how many fit: on a phone, and from 46 rem on."""
_WIDEST: Final = 8.0
"""The most a bar takes of the width, in percent."""


def stacked(
    bars: Sequence[Mapping[str, float]],
    kinds: Sequence[str],
    name: Callable[[int], str],
    *,
    title: str,
    height: int = 190,
    unit: str = "",
) -> str:
    """Draw a bar for each bucket, stacked in the order of `kinds`, each part with its kind as class.

    name: returns a bucket in words. unit: the unit of the numbers, for tooltips.
    """
    top = max((sum(bar.get(kind, 0) for kind in kinds) for bar in bars), default=0)
    ticks = ticks_to(top, whole=True)
    scale = (height - _TOP - _BOTTOM) / (ticks[-1] or 1)
    base = height - _BOTTOM
    step = 100 / max(1, len(bars))
    thick = min(_WIDEST, step * 0.78)
    out = [_open(height, title), *_grid(ticks, base, scale)]
    for at, bar in enumerate(bars):
        total = sum(bar.get(kind, 0) for kind in kinds)
        if not total:
            continue
        x, y = step * at + (step - thick) / 2, float(base)
        parts = ", ".join(f"{bar[kind]:,.0f} {kind}" for kind in kinds if bar.get(kind))
        out.append(f"<g><title>{escape(f'{name(at)}: {parts} {unit}'.strip())}</title>")
        for kind in kinds:
            if bar.get(kind):
                high = max(1.0, bar[kind] * scale)
                y -= high
                out.append(
                    f'<rect class="{escape(kind)}" x="{x:.2f}%" y="{y:.1f}" width="{thick:.2f}%" height="{high:.1f}"/>'
                )
        out.append("</g>")
    out += [*_days(len(bars), name, height), "</svg>"]
    return "\n".join(out)


def line(
    values: Sequence[float | None],
    name: Callable[[int], str],
    *,
    title: str,
    told: Callable[[float], str] = lambda value: f"{value:,.6g}",
    height: int = 150,
    whole: bool = False,
) -> str:
    """Draw a line through the values, interrupted at None, with a dot for each value. whole: they are counts."""
    ticks = ticks_to(max((value for value in values if value is not None), default=0), whole=whole)
    scale = (height - _TOP - _BOTTOM) / (ticks[-1] or 1)
    base = height - _BOTTOM
    step = 100 / max(1, len(values))
    out = [_open(height, title), *_grid(ticks, base, scale)]
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
            f"<title>{escape(f'{name(at)}: {told(value)}')}</title></circle>"
        )
    out += [*dots, *_days(len(values), name, height), "</svg>"]
    return "\n".join(out)


def strip(cells: Mapping[int, tuple[int, int]], buckets: int, title: str) -> str:
    """Draw one course through the days as a row of cells: refuted, noted, clean, or empty if it was not judged.

    cells: bucket to (refuting, noted) verdicts. Neighbours of one kind are drawn as one.
    """
    kinds = ["" if at not in cells else _kind(cells[at]) for at in range(buckets)]
    out = [
        f'<svg class="strip" viewBox="0 0 {buckets} 1" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>'
    ]
    begin = 0
    for at in range(1, buckets + 1):
        if at == buckets or kinds[at] != kinds[begin]:
            if kinds[begin]:
                out.append(f'<rect class="{kinds[begin]}" x="{begin}" width="{at - begin}" height="1"/>')
            begin = at
    out.append("</svg>")
    return "".join(out)


def spark(values: Sequence[float], title: str) -> str:
    """Draw numbers through the days as small bars."""
    top = max(values, default=0) or 1
    out = [
        f'<svg class="spark" viewBox="0 0 {max(1, len(values))} 20" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>'
    ]
    for at, value in enumerate(values):
        if value:
            high = max(1.5, 20 * value / top)
            out.append(f'<rect x="{at + 0.1:.1f}" y="{20 - high:.1f}" width="0.8" height="{high:.1f}"/>')
    out.append("</svg>")
    return "".join(out)


def share(numbers: Mapping[str, float], kinds: Sequence[str], top: float, title: str) -> str:
    """Draw the numbers of one row as a bar, by kind. top: the number that is as wide as the place."""
    out = [
        '<svg class="share" viewBox="0 0 100 1" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>'
    ]
    x = 0.0
    for kind in kinds:
        if numbers.get(kind):
            wide = max(0.5, 100 * numbers[kind] / (top or 1))
            out.append(f'<rect class="{escape(kind)}" x="{x:.2f}" width="{wide:.2f}" height="1"/>')
            x += wide
    out.append("</svg>")
    return "".join(out)


def ticks_to(top: float, *, whole: bool = False) -> list[float]:
    """Return about four round numbers from 0 to at least `top`. whole: none of them is a fraction."""
    if top <= 0:
        return [0.0, 1.0]
    step = 1.0
    while step * _TICKS < top:
        step *= 10
    while step / 10 * _TICKS >= top:
        step /= 10
    for part in (step / 5, step / 2, step):
        if part * _TICKS >= top:
            step = part
            break
    if whole:
        step = max(1.0, step)
    count = int(-(-top // step))
    return [step * at for at in range(count + 1)]


def short(number: float) -> str:
    """Format a number for an axis: 1.2M, 35k, 0.05."""
    for size, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size * 0.9995:
            return f"{number / size:.3g}{name}"
    return f"{number:.3g}"


def _kind(said: tuple[int, int]) -> str:
    bad, noted = said
    return "fail" if bad else "warn" if noted else "pass"


def _open(height: int, title: str) -> str:
    return (
        f'<svg class="plot" width="100%" height="{height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>"
    )


def _grid(ticks: Sequence[float], base: float, scale: float) -> list[str]:
    """Return lines across, with their numbers in the margin at the left."""
    out = []
    for tick in ticks:
        y = base - tick * scale
        out.append(
            f'<line class="rule" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="tick" x="-6" y="{y + 4:.1f}" text-anchor="end">{short(tick)}</text>'
        )
    return out


def _days(count: int, name: Callable[[int], str], height: int) -> list[str]:
    """Return labels with the first day of buckets, below them: as many as fit on a phone, and as many as fit else."""
    return [
        f'<text class="tick {kind}" x="{100 * (at + 0.5) / count:.2f}%" y="{height - 8}" '
        f'text-anchor="middle">{escape(name(at)[:10])}</text>'
        for kind, most in _LABELS
        for at in range(0, count, -(-count // most))
    ]
