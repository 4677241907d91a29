"""Small plots as SVG elements: without style, script or link of their own, coloured by classes of the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Final

from conformance.report.text import label

WIDTH: Final = 960
"""Units of a plot across the page."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 8, 12, 26
_TICKS = 4
_LETTER = 6.2  # Mean width of a letter at 11 px, rather too large.


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
    ticks = ticks_to(top)
    scale = (height - _TOP - _BOTTOM) / (ticks[-1] or 1)
    base = height - _BOTTOM
    step = (WIDTH - _LEFT - _RIGHT) / max(1, len(bars))
    thick = min(46.0, step * 0.78)
    out = [_open(WIDTH, height, title), *_grid(ticks, base, scale)]
    for at, bar in enumerate(bars):
        total = sum(bar.get(kind, 0) for kind in kinds)
        if not total:
            continue
        x, y = _LEFT + step * at + (step - thick) / 2, float(base)
        parts = ", ".join(f"{bar[kind]:,.0f} {kind}" for kind in kinds if bar.get(kind))
        out.append(f"<g><title>{escape(f'{name(at)}: {parts} {unit}'.strip())}</title>")
        for kind in kinds:
            if bar.get(kind):
                high = max(1.0, bar[kind] * scale)
                y -= high
                out.append(
                    f'<rect class="{escape(kind)}" x="{x:.1f}" y="{y:.1f}" width="{thick:.1f}" height="{high:.1f}"/>'
                )
        out.append("</g>")
    out += [*_days(len(bars), name, step, height), "</svg>"]
    return "\n".join(out)


def line(
    values: Sequence[float | None],
    name: Callable[[int], str],
    *,
    title: str,
    told: Callable[[float], str] = lambda value: f"{value:,.6g}",
    height: int = 150,
) -> str:
    """Draw a line through the values, interrupted at None, with a dot for each value."""
    ticks = ticks_to(max((value for value in values if value is not None), default=0))
    scale = (height - _TOP - _BOTTOM) / (ticks[-1] or 1)
    base = height - _BOTTOM
    step = (WIDTH - _LEFT - _RIGHT) / max(1, len(values))
    out = [_open(WIDTH, height, title), *_grid(ticks, base, scale)]
    path, dots, pen = [], [], "M"
    for at, value in enumerate(values):
        if value is None:
            pen = "M"
            continue
        x, y = _LEFT + step * (at + 0.5), base - value * scale
        path.append(f"{pen}{x:.1f} {y:.1f}")
        pen = "L"
        dots.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"><title>{escape(f"{name(at)}: {told(value)}")}</title></circle>'
        )
    if path:
        out.append(f'<path class="line" d="{"".join(path)}"/>')
    out += [*dots, *_days(len(values), name, step, height), "</svg>"]
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


def ranked(rows: Sequence[tuple[str, Mapping[str, float], str]], kinds: Sequence[str], *, title: str) -> str:
    """Draw a bar for each row, one below the other. rows: (name, number by kind, tooltip)."""
    high, room = 26, 380
    height = high * len(rows) + 8
    top = max((sum(numbers.get(kind, 0) for kind in kinds) for _, numbers, _ in rows), default=0) or 1
    scale = (WIDTH - room - 90) / top
    out = [_open(WIDTH, height, title)]
    for at, (name, numbers, told) in enumerate(rows):
        y, x = at * high + 4, float(room)
        total = sum(numbers.get(kind, 0) for kind in kinds)
        shown = label(name, int((room - 14) / _LETTER) - 8)
        shown = shown if len(shown) * _LETTER <= room - 14 else shown[: int((room - 14) / _LETTER) - 1] + "…"
        out.append(
            f'<g><title>{escape(told)}</title><text class="tick" x="{room - 8}" y="{y + 14}" text-anchor="end">'
            f"{escape(shown)}</text>"
        )
        for kind in kinds:
            if numbers.get(kind):
                wide = max(1.0, numbers[kind] * scale)
                out.append(
                    f'<rect class="{escape(kind)}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high - 10}"/>'
                )
                x += wide
        out.append(f'<text class="tick" x="{x + 6:.1f}" y="{y + 13}">{short(total)}</text></g>')
    out.append("</svg>")
    return "\n".join(out)


def ticks_to(top: float) -> list[float]:
    """Return about four round numbers from 0 to at least `top`."""
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


def _open(width: int, height: int, title: str) -> str:
    return (
        f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>"
    )


def _grid(ticks: Sequence[float], base: float, scale: float) -> list[str]:
    out = []
    for tick in ticks:
        y = base - tick * scale
        out.append(
            f'<line class="rule" x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{short(tick)}</text>'
        )
    return out


def _days(count: int, name: Callable[[int], str], step: float, height: int) -> list[str]:
    """Return labels with the first day of buckets, below them, as many as fit."""
    every = max(1, -(-84 // max(1, int(step))))
    return [
        f'<text class="tick" x="{_LEFT + step * (at + 0.5):.1f}" y="{height - 8}" '
        f'text-anchor="middle">{escape(name(at)[:10])}</text>'
        for at in range(0, count, every)
    ]
