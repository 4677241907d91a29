"""Draw a learned machine as SVG and as DOT. No program is needed beside this one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from conformance.report.machine import ALLOWED, DEVIATES, SAME, UNSURE, Arrow, Box, Picture, grouped
from conformance.report.page import asset

WIDE, HIGH = 206, 40  # of a box, pixels
GAP_X, GAP_Y, MARGIN = 74, 26, 24
LEGEND = 30
_LETTERS = 34  # of a line in a box
_ROUNDS = 24


def svg(picture: Picture) -> str:
    """Return a whole SVG document."""
    width, height, shapes = _drawn(picture)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" aria-label="{escape(picture.title)}">',
            f"<title>{escape(picture.title)}</title>",
            f"<style>{asset('machine-drawing.css')}</style>",
            f'<rect class="paper" width="{width}" height="{height}"/>',
            *shapes,
            "</svg>",
            "",
        ]
    )


def inner_svg(picture: Picture) -> str:
    """Return the drawing for a page that has the style `machine-drawing.css`."""
    width, height, shapes = _drawn(picture)
    return "\n".join(
        [
            f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{escape(picture.title)}"><rect class="paper" width="{width}" height="{height}"/>',
            *shapes,
            "</svg>",
        ]
    )


def _drawn(picture: Picture) -> tuple[int, int, list[str]]:
    columns = _columns(picture)
    tallest = max(map(len, columns))
    width = 2 * MARGIN + len(columns) * WIDE + (len(columns) - 1) * GAP_X + 20
    height = 2 * MARGIN + LEGEND + tallest * (HIGH + GAP_Y)
    place: dict[int, tuple[float, float]] = {}
    for depth, column in enumerate(columns):
        step = (height - LEGEND - 2 * MARGIN) / len(column)
        for at, number in enumerate(column):
            place[number] = MARGIN + depth * (WIDE + GAP_X), MARGIN + LEGEND + step * (at + 0.5) - HIGH / 2
    shapes = [*_heads(), *_legend(picture), *_ways(picture, place)]
    for box in picture.boxes:
        shapes += _box(box, place[box.number], [arrow for arrow in picture.arrows if arrow.source == box.number])
    return round(width), round(height), shapes


def _columns(picture: Picture) -> list[list[int]]:
    """Return the boxes by the length of their words, each column ordered so that arrows are short."""
    columns: list[list[int]] = [[] for _ in range(max(box.depth for box in picture.boxes) + 1)]
    for box in picture.boxes:
        columns[box.depth].append(box.number)
    near: dict[int, list[int]] = {box.number: [] for box in picture.boxes}
    for box in picture.boxes:
        if box.parent is not None:
            near[box.number] += [box.parent] * 4
            near[box.parent].append(box.number)
    for source, target in grouped(picture.arrows):
        near[source].append(target)
        near[target].append(source)
    at = {number: (place + 0.5) / len(column) for column in columns for place, number in enumerate(column)}
    for turn in range(_ROUNDS):
        for column in columns if turn % 2 == 0 else columns[::-1]:
            column.sort(key=lambda number: sum(at[one] for one in near[number]) / max(1, len(near[number])))
            at |= {number: (place + 0.5) / len(column) for place, number in enumerate(column)}
    return columns


def _heads() -> list[str]:
    colours = {"way": "#33507d", "deviates": "#b3261e", "allowed": "#8a6100", "demanded": "#1a6b35", "unsure": "#777"}
    return [
        "<defs>",
        *(
            f'<marker id="head-{name}" viewBox="0 0 8 8" refX="7.4" refY="4" markerWidth="8" markerHeight="8" '
            f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.6L8 4L0 7.4z" fill="{colour}"/></marker>'
            for name, colour in colours.items()
        ),
        "</defs>",
    ]


def _legend(picture: Picture) -> Iterator[str]:
    entries = [("way", "shortest word to a state, with its last letter"), ("other", "other steps, in both machines")]
    if picture.count(DEVIATES):
        entries += [
            ("deviates-way", "the implementation's step, a deviation"),
            ("demanded-way", "the specification's step there"),
        ]
    if picture.count(ALLOWED):
        entries.append(("allowed-way", "another step that the text allows"))
    if picture.count(UNSURE):
        entries.append(("unsure-way", "supposed, not confirmed"))
    x, y = MARGIN, MARGIN
    for kind, text in entries:
        yield f'<path class="{kind}" d="M{x} {y}h28"/>'
        yield f'<text class="legend" x="{x + 34}" y="{y + 4}">{escape(text)}</text>'
        x += 52 + round(len(text) * 6.4)


def _ways(picture: Picture, place: dict[int, tuple[float, float]]) -> Iterator[str]:
    tree = {(box.parent, box.number) for box in picture.boxes}
    groups = grouped(picture.arrows)
    for ends, letters in groups.items():
        if ends not in tree:
            yield _curve("other", "way", place, *ends, ", ".join(letters))
    for ends, letters in groups.items():
        if ends in tree:
            yield _curve("way", "way", place, *ends, ", ".join(letters))
    drawn = set()
    for arrow in picture.arrows:
        if arrow.kind == SAME:
            continue
        text = f"{arrow.letter}: {arrow.told}, not {arrow.right}"
        if arrow.demanded not in (None, arrow.came) and ("demanded", arrow.source, arrow.demanded) not in drawn:
            drawn.add(("demanded", arrow.source, arrow.demanded))
            yield _curve("demanded-way", "demanded", place, arrow.source, arrow.demanded, text)
        if arrow.came is not None and (arrow.kind, arrow.source, arrow.came) not in drawn:
            drawn.add((arrow.kind, arrow.source, arrow.came))
            yield _curve(f"{arrow.kind}-way", arrow.kind, place, arrow.source, arrow.came, text)


def _curve(
    kind: str, head: str, place: dict[int, tuple[float, float]], source: int, target: int | None, text: str
) -> str:
    assert target is not None
    (x, y), (to_x, to_y) = place[source], place[target]
    y, to_y = y + HIGH / 2, to_y + HIGH / 2
    if source == target:
        points = f"M{x + WIDE:.0f} {y - 8:.0f}c34 -16 34 32 0 16"
    elif to_x > x:
        x += WIDE
        bend = max(30.0, (to_x - x) / 2)
        points = f"M{x:.0f} {y:.0f}C{x + bend:.0f} {y:.0f} {to_x - bend:.0f} {to_y:.0f} {to_x:.0f} {to_y:.0f}"
    elif to_x == x:  # within a column: out to the right and back
        x += WIDE
        points = f"M{x:.0f} {y + 6:.0f}C{x + 42:.0f} {y:.0f} {x + 42:.0f} {to_y:.0f} {x:.0f} {to_y - 6:.0f}"
    else:  # back: below the boxes
        down = HIGH / 2 + 9
        points = (
            f"M{x:.0f} {y + 8:.0f}C{x - 46:.0f} {y + down:.0f} {to_x + WIDE + 46:.0f} {to_y + down:.0f} "
            f"{to_x + WIDE:.0f} {to_y + 8:.0f}"
        )
    return f'<path class="{kind}" d="{points}" marker-end="url(#head-{head})"><title>{escape(text)}</title></path>'


def _box(box: Box, at: tuple[float, float], arrows: Sequence[Arrow]) -> Iterator[str]:
    x, y = at
    kinds = {arrow.kind for arrow in arrows}
    classes = ["box"]
    classes += ["first"] if box.parent is None else []
    classes += ["twin"] if box.twin is not None else []
    classes += [next((kind for kind in (DEVIATES, ALLOWED) if kind in kinds), "")]
    told = [
        f"{arrow.letter}: {arrow.told}" + ("" if arrow.kind == SAME else f" (demanded: {arrow.right})")
        for arrow in arrows
    ]
    yield f"<g><title>{escape(chr(10).join([f'{box.number + 1}. {box.name}', *told]))}</title>"
    kind = " ".join(filter(None, classes))
    yield f'<rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{WIDE}" height="{HIGH}" rx="7"/>'
    there = f"{box.number + 1}. {_short(box.name.there, _LETTERS - 5)}"
    yield f'<text class="name" x="{x + 9:.0f}" y="{y + 17:.0f}">{escape(there)}</text>'
    yield f'<text class="how" x="{x + 9:.0f}" y="{y + 32:.0f}">{escape(_short(box.name.how, _LETTERS))}</text></g>'
    if box.letter:
        yield f'<text class="by" x="{x + 9:.0f}" y="{y - 5:.0f}">{escape(box.letter)}</text>'
    numbers = sorted({(arrow.difference, arrow.kind) for arrow in arrows if arrow.difference is not None})
    for place, (number, kind) in enumerate(numbers):
        centre = x + WIDE - 4 - 17 * place
        yield f'<circle class="badge {kind}" cx="{centre:.0f}" cy="{y:.0f}" r="8.5"/>'
        yield f'<text class="digit" x="{centre:.0f}" y="{y + 3.6:.0f}">{number}</text>'


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def dot(picture: Picture) -> str:
    """Return the machine in DOT, for Graphviz and its like."""
    colour = {ALLOWED: "#8a6100", DEVIATES: "#b3261e", UNSURE: "#777777"}
    lines = [f"digraph {_quoted(picture.title)} {{", "  rankdir=LR", '  node [shape=box, style="rounded"]']
    for box in picture.boxes:
        extra = ', style="rounded,dashed"' if box.twin is not None else ""
        lines.append(f"  s{box.number} [label={_quoted(f'{box.number + 1}. {box.name}')}{extra}]")
    for arrow in picture.arrows:
        if arrow.kind == SAME and arrow.told != "-" and arrow.target is not None:
            lines.append(f"  s{arrow.source} -> s{arrow.target} [label={_quoted(f'{arrow.letter} / {arrow.told}')}]")
        elif arrow.kind != SAME:
            target = f"s{arrow.came}" if arrow.came is not None else f"x{arrow.source}"
            label = f"{arrow.letter} / {arrow.told}, not {arrow.right}"
            if arrow.came is None:
                lines.append(f'  {target} [label="?", shape=plaintext]')
            kind = colour[arrow.kind]
            lines.append(f'  s{arrow.source} -> {target} [label={_quoted(label)}, color="{kind}", fontcolor="{kind}"]')
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
