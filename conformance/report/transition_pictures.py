"""Pictures of the model's transition tables in a layered layout, and how often a run followed each transition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import pairwise
from random import Random

from conformance.model.tables import (
    COORDINATED,
    CURSOR,
    OUTGOING,
    POSITION,
    TABLES,
    TRANSACTION,
    CoordinatedState,
    CoordinatedTransition,
    CursorState,
    CursorTransition,
    Ending,
    OutgoingState,
    OutgoingTransition,
    PositionState,
    PositionTransition,
    TransactionState,
    TransactionTransition,
    Transition,
)
from conformance.report.text import label
from conformance.runlog import Run

FONT, SMALL = 13, 11  # pixels
LINE = 15  # height of a line of a label
WIDE, NARROW = 0.62, 0.6  # mean width of a letter relative to the font's size, rather too large
GAP_X, GAP_Y, MARGIN = 26, 34, 18
TURNS = 120  # rounds that pull each box to its neighbours; little moves after half of them
STRAIGHT = 8  # how much more strongly the bends of an arrow attract each other than its ends do
PORT = 12  # distance of two arrows at one state
HALF = 17  # half the height of a state
LOOP = 26  # width of an arrow from a state to itself
TRIES = 24  # start orders that are tried; more have never found a better one


@dataclass(frozen=True, slots=True)
class Label:
    """One line, or two, beside an arrow. title: the tooltip.

    id: the row of the table that the label shows. kind: a class for a page's style.
    """

    lines: tuple[str, ...]
    title: str = ""
    faint: bool = False
    id: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from a state to a state, with the labels of all transitions between them."""

    source: str
    target: str
    labels: tuple[Label, ...]


@dataclass(slots=True)
class Box:
    """A box with a position: a state, a label, or the bend of an arrow that passes a layer.

    x, y: the upper left corner. anchor: where arrows meet it, from the left. loop: the labels of an arrow from the
    state to itself.
    """

    name: str
    width: float
    height: float
    anchor: float
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    labels: tuple[Label, ...] = ()
    loop: tuple[Label, ...] = ()
    state_width: float = 0.0

    @property
    def meets(self) -> float:
        """The x coordinate of its arrows."""
        return self.x + self.anchor


@dataclass(slots=True)
class Drawing:
    """All boxes and arrows. chains: for each arrow between two states, the boxes it runs through from above, and
    whether it points up."""

    boxes: dict[str, Box] = field(default_factory=dict)
    chains: list[tuple[Arrow, list[str], bool]] = field(default_factory=list)
    layers: list[list[str]] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


def text_width(text: str, size: int) -> float:
    """Estimate the width of a text; never too small."""
    return len(text) * size * (WIDE if size == FONT else NARROW)


def _size(labels: Iterable[Label]) -> tuple[float, float]:
    lines = [line for label in labels for line in label.lines]
    return max((text_width(line, SMALL) for line in lines), default=0.0), LINE * len(lines)


def lay_out(states: Sequence[str], arrows: Iterable[Arrow]) -> Drawing:
    """Position the states, in the given order unless the arrows demand another, and the arrows between them."""
    merged = _merged(arrows)
    drawing = Drawing()
    for state in states:
        own = merged.get((state, state))
        wide = max(text_width(state, FONT) + 22, 60, PORT * (1 + sum(state in ends for ends in merged) - bool(own)))
        loop, high = _size(own.labels) if own else (0.0, 0.0)
        room = LOOP + loop + 8 if own else 0.0
        drawing.boxes[state] = Box(
            state, wide + room, max(2.0 * HALF, high + 6), wide / 2, loop=own.labels if own else (), state_width=wide
        )
    between = [arrow for (source, target), arrow in merged.items() if source != target]
    ranks = _ranks(states, between)
    for state in states:
        drawing.boxes[state].layer = 2 * ranks[state]
    for number, arrow in enumerate(between):
        up = ranks[arrow.source] > ranks[arrow.target]
        above, below = (arrow.target, arrow.source) if up else (arrow.source, arrow.target)
        first, last = 2 * ranks[above], 2 * ranks[below]
        middle = (first + last) // 2 if (first + last) // 2 % 2 else (first + last) // 2 - 1
        chain = [above]
        for layer in range(first + 1, last):
            name = f"{number}/{layer}"
            if layer == middle:
                wide, high = _size(arrow.labels)
                box = Box(name, wide + 14, high + 4, 4.0, layer, labels=arrow.labels)
            else:
                box = Box(name, 8.0, 8.0, 4.0, layer)
            drawing.boxes[name] = box
            chain.append(name)
        drawing.chains.append((arrow, [*chain, below], up))
    _order(drawing)
    _place(drawing)
    return drawing


def _merged(arrows: Iterable[Arrow]) -> dict[tuple[str, str], Arrow]:
    merged: dict[tuple[str, str], Arrow] = {}
    for arrow in arrows:
        key = (arrow.source, arrow.target)
        before = merged[key].labels if key in merged else ()
        merged[key] = Arrow(*key, (*before, *arrow.labels))
    return merged


def _ranks(states: Sequence[str], arrows: Sequence[Arrow]) -> Mapping[str, int]:
    """Return the layer of each state: below all states that lead to it, not counting arrows that lead back."""
    follow: dict[str, list[str]] = {state: [] for state in states}
    for arrow in arrows:
        follow[arrow.source].append(arrow.target)
    ranks = dict.fromkeys(states, 0)
    done: set[str] = set()
    order: list[str] = []
    back: set[tuple[str, str]] = set()

    def visit(state: str, path: tuple[str, ...]) -> None:
        done.add(state)
        for target in sorted(follow[state], key=states.index):
            if target in path or target == state:
                back.add((state, target))
            elif target not in done:
                visit(target, (*path, state))
        order.append(state)

    for state in states:
        if state not in done:
            visit(state, ())
    for state in reversed(order):
        for target in follow[state]:
            if (state, target) not in back:
                ranks[target] = max(ranks[target], ranks[state] + 1)
    return ranks


def _order(drawing: Drawing) -> None:
    """Order the boxes within each layer so that as few arrows as possible cross."""
    count = max(box.layer for box in drawing.boxes.values()) + 1
    layers: list[list[str]] = [[] for _ in range(count)]
    for name, box in drawing.boxes.items():
        layers[box.layer].append(name)
    above: dict[str, list[str]] = {name: [] for name in drawing.boxes}
    below: dict[str, list[str]] = {name: [] for name in drawing.boxes}
    for _, chain, _ in drawing.chains:
        for upper, lower in pairwise(chain):
            below[upper].append(lower)
            above[lower].append(upper)
    best: tuple[int, list[list[str]]] | None = None
    for seed in range(TRIES):
        random = Random(seed)
        trial = [random.sample(layer, len(layer)) if seed else list(layer) for layer in layers]
        for sweep in range(12):
            down = sweep % 2 == 0
            for number in range(1, count) if down else range(count - 2, -1, -1):
                other = trial[number - 1 if down else number + 1]
                place = {name: position for position, name in enumerate(other)}
                near = above if down else below
                now = {name: position for position, name in enumerate(trial[number])}

                def middle(name: str) -> float:
                    found = [place[each] for each in near[name]]  # noqa: B023
                    return sum(found) / len(found) if found else now[name]  # noqa: B023

                trial[number].sort(key=middle)
            crossings = sum(_crossings(*pair, below) for pair in pairwise(trial))
            if best is None or crossings < best[0]:
                best = (crossings, [list(layer) for layer in trial])
    assert best is not None
    drawing.layers = best[1]


def _crossings(upper: Sequence[str], lower: Sequence[str], below: Mapping[str, list[str]]) -> int:
    place = {name: position for position, name in enumerate(lower)}
    ends = [(number, place[target]) for number, name in enumerate(upper) for target in below[name]]
    return sum((one[0] - other[0]) * (one[1] - other[1]) < 0 for at, one in enumerate(ends) for other in ends[at + 1 :])


def _place(drawing: Drawing) -> None:
    """Set the coordinates: put each box as near as possible below and above the boxes it is joined to."""
    boxes = drawing.boxes
    near: dict[str, list[str]] = {name: [] for name in boxes}
    for _, chain, _ in drawing.chains:
        for upper, lower in pairwise(chain):
            near[upper].append(lower)
            near[lower].append(upper)
    for layer in drawing.layers:
        _set(boxes, layer, [float(sum(boxes[each].width + GAP_X for each in layer[:at])) for at in range(len(layer))])
    for turn in range(TURNS):
        for layer in drawing.layers if turn % 2 == 0 else drawing.layers[::-1]:
            wanted = []
            for name in layer:
                box, joined = boxes[name], near[name]
                weights = [STRAIGHT if not box.state_width and not boxes[each].state_width else 1 for each in joined]
                pull = sum(weight * boxes[each].meets for weight, each in zip(weights, joined, strict=True))
                wanted.append((pull / sum(weights) if joined else box.meets) - box.anchor)
            _set(boxes, layer, wanted)
    left = min(box.x for box in boxes.values())
    y = float(MARGIN)
    for layer in drawing.layers:
        high = max(boxes[name].height for name in layer)
        for name in layer:
            box = boxes[name]
            box.x += MARGIN - left
            box.y = y + (high - box.height) / 2
        y += high + GAP_Y
    drawing.width = max(box.x + box.width for box in boxes.values()) + MARGIN
    drawing.height = y - GAP_Y + MARGIN


def _set(boxes: Mapping[str, Box], layer: Sequence[str], wanted: Sequence[float]) -> None:
    """Set the positions nearest to those wanted (least squares) at which neighbours keep their distance."""
    shift, shifts = 0.0, []
    for name in layer:
        shifts.append(shift)
        shift += boxes[name].width + GAP_X
    blocks: list[tuple[float, int]] = []  # mean and length of each run of boxes that must stand together
    for value, offset in zip(wanted, shifts, strict=True):
        mean, size = value - offset, 1
        while blocks and blocks[-1][0] > mean:
            other, count = blocks.pop()
            mean, size = (mean * size + other * count) / (size + count), size + count
        blocks.append((mean, size))
    means = [mean for mean, size in blocks for _ in range(size)]
    for name, mean, offset in zip(layer, means, shifts, strict=True):
        boxes[name].x = mean + offset


def route(drawing: Drawing, chain: Sequence[str]) -> list[tuple[float, float]]:
    """Return the points of an arrow, from above; the arrow is vertical at each."""
    tops, bottoms = {}, {}
    for number, layer in enumerate(drawing.layers):
        tops[number] = min(drawing.boxes[name].y for name in layer)
        bottoms[number] = max(drawing.boxes[name].y + drawing.boxes[name].height for name in layer)
    points: list[tuple[float, float]] = []
    first, last = drawing.boxes[chain[0]], drawing.boxes[chain[-1]]
    x = _port(drawing, chain[0], chain, leaving=True)
    points += [(x, first.y + first.height / 2 + HALF), (x, bottoms[first.layer])]
    for name in chain[1:-1]:
        box = drawing.boxes[name]
        points += [(box.meets, tops[box.layer]), (box.meets, bottoms[box.layer])]
    x = _port(drawing, chain[-1], chain, leaving=False)
    points += [(x, tops[last.layer]), (x, last.y + last.height / 2 - HALF)]
    return [point for at, point in enumerate(points) if at == 0 or point != points[at - 1]]


def _port(drawing: Drawing, state: str, chain: Sequence[str], *, leaving: bool) -> float:
    """Return the x at which an arrow meets a state: arrows stand side by side, ordered by their other ends."""
    box = drawing.boxes[state]
    sides = [each[1 if leaving else -2] for _, each, _ in drawing.chains if each[0 if leaving else -1] == state]
    sides.sort(key=lambda name: drawing.boxes[name].meets)
    mine = chain[1 if leaving else -2]
    step = box.state_width / (len(sides) + 1)
    return box.x + step * (sides.index(mine) + 1)


def svg(drawing: Drawing, title: str, says: str, ends: Iterable[str] = ()) -> str:
    """Return the drawing as SVG. says: a description for screen readers. ends: names that are no states: start, end."""
    width, height = size(drawing)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(says)}</desc>",
        _STYLE,
        f'<rect width="{width}" height="{height}" class="paper"/>',
        *shapes(drawing, ends, "head"),
    ]
    return "\n".join([*out, "</svg>", ""])


def size(drawing: Drawing) -> tuple[int, int]:
    """Return width and height in pixels."""
    return round(drawing.width), round(drawing.height)


def shapes(drawing: Drawing, ends: Iterable[str], head: str) -> list[str]:
    """Return the elements of the drawing. head: id of the marker at the arrows' ends, which the page must define.

    An arrow whose labels all have one kind gets that kind too.
    """
    out = []
    for arrow, chain, up in drawing.chains:
        points = route(drawing, chain)
        out.append(
            f'<path class="{_classes("arrow", _kind(arrow.labels))}" d="{_curve(points[::-1] if up else points)}" '
            f'marker-end="url(#{head})"/>'
        )
    for box in drawing.boxes.values():
        if box.state_width:
            out += _state(box, box.name in set(ends), head)
        elif box.labels:
            out += _labels(box.labels, box.x + 12, box.y + 2)
    return out


def _kind(labels: Iterable[Label]) -> str:
    kinds = {label.kind for label in labels}
    return kinds.pop() if len(kinds) == 1 else ""


def _classes(*names: str) -> str:
    return " ".join(filter(None, names))


_STYLE = """<style>
.paper { fill: #fff }
.state { fill: #eef3fb; stroke: #33507d; stroke-width: 1.4 }
.end { fill: #fff; stroke: #777; stroke-dasharray: 3 3 }
.name { font: 600 13px system-ui, sans-serif; fill: #1b2b45; text-anchor: middle }
.arrow { fill: none; stroke: #5a6b85; stroke-width: 1.2 }
.label, .more { font: 11px system-ui, sans-serif; fill: #222 }
.more { fill: #68727f }
.faint { font-style: italic }
</style>
<defs>
<marker id="head" viewBox="0 0 8 8" refX="7.4" refY="4" markerWidth="8" markerHeight="8" orient="auto">
<path d="M0 0.6L8 4L0 7.4z" fill="#5a6b85"/>
</marker>
</defs>"""


def _curve(points: Sequence[tuple[float, float]]) -> str:
    parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x, y), (to_x, to_y) in pairwise(points):
        if abs(x - to_x) < 0.05:
            parts.append(f"L{to_x:.1f} {to_y:.1f}")
        else:
            middle = (y + to_y) / 2
            parts.append(f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}")
    return "".join(parts)


def _state(box: Box, end: bool, head: str) -> list[str]:
    kind = "state end" if end else "state"
    middle = box.y + box.height / 2
    out = [
        f'<rect class="{kind}" x="{box.x:.1f}" y="{middle - HALF:.1f}" '
        f'width="{box.state_width:.1f}" height="{2 * HALF}" rx="8"/>',
        f'<text class="name" x="{box.meets:.1f}" y="{middle + 4.5:.1f}">{escape(box.name)}</text>',
    ]
    if box.loop:
        right = box.x + box.state_width
        kind = _classes("arrow", _kind(box.loop))
        out.append(
            f'<path class="{kind}" d="M{right:.1f} {middle - 9:.1f}C{right + 26:.1f} {middle - 20:.1f} '
            f'{right + 26:.1f} {middle + 20:.1f} {right:.1f} {middle + 9:.1f}" marker-end="url(#{head})"/>'
        )
        high = _size(box.loop)[1]
        out += _labels(box.loop, right + LOOP, middle - high / 2)
    return out


def _labels(labels: Iterable[Label], x: float, y: float) -> list[str]:
    out: list[str] = []
    for each in labels:
        start = f'<g class="{each.kind}">' if each.kind else "<g>"
        out.append(f"{start}<title>{escape(each.title)}</title>" if each.title else start)
        for number, line in enumerate(each.lines):
            kind = "more" if number else "label"
            faint = " faint" if each.faint else ""
            y += LINE
            out.append(
                f'<text class="{kind}{faint}" x="{x + 8 * bool(number):.1f}" y="{y - 4:.1f}">{escape(line)}</text>'
            )
        out.append("</g>")
    return out


KIND = "transitions"
"""The kind of evidence that holds the counts: one for each part of a record."""


@dataclass(frozen=True, slots=True)
class Covered:
    """Coverage of one table. counts: its rows, in their order, and how often each was followed."""

    table: str
    counts: Mapping[str, int]

    @property
    def followed(self) -> int:
        """Rows that were followed at least once."""
        return sum(count > 0 for count in self.counts.values())

    @property
    def missing(self) -> tuple[str, ...]:
        """Rows that were never followed."""
        return tuple(row for row, count in self.counts.items() if not count)


def transitions(run: Run) -> tuple[Covered, ...]:
    """Return the tables, summed over the parts of the record; empty for a run without walks.

    Evidence that is no table of counts is ignored, because a record is a file and may hold anything.
    """
    tables: dict[str, Counter[str]] = {}
    for item in run.evidence_of(KIND):
        for table, counts in item.data.items():
            if isinstance(counts, dict):
                into = tables.setdefault(str(table), Counter())
                for row, count in counts.items():
                    into[row] += count if isinstance(count, int) and count > 0 else 0
    return tuple(Covered(table, counts) for table, counts in tables.items())


def in_words(covered: tuple[Covered, ...]) -> str:
    """Format the coverage: `cursor 21 of 21, position 20 of 24`."""
    return ", ".join(f"{table.table} {table.followed} of {len(table.counts)}" for table in covered)


NEVER, ELSEWHERE, TAKEN = "never", "elsewhere", "taken"
"""Kinds of transitions: never followed; never followed, nor ever under the default readings; followed."""
PICTURE_WIDE = 850
"""Width in pixels from which a picture keeps its size, so that its labels stay readable."""
MAX_LISTED = 500
"""Rows listed of a table for which this version has no diagram."""


@dataclass(frozen=True, slots=True)
class Picture:
    """The picture of one table. svg: without style or script of its own, None if this version does not have the table.

    rows: (transition, times followed, one of NEVER, ELSEWHERE and TAKEN), in the table's order.
    """

    table: str
    title: str
    svg: str | None
    rows: tuple[tuple[str, int, str], ...]

    @property
    def followed(self) -> int:
        """Transitions followed at least once."""
        return sum(count > 0 for _, count, _ in self.rows)


def pictures(covered: tuple[Covered, ...]) -> list[Picture]:
    """Return a picture for each table, in the order of the record; empty for a run without walks."""
    return [_picture(table, number) for number, table in enumerate(covered)]


def _picture(table: Covered, number: int) -> Picture:

    diagram = _diagram(table)
    if diagram is None:
        rows = [(label(row), count, TAKEN if count else NEVER) for row, count in table.counts.items()]
        return Picture(label(table.table, 60), "", None, tuple(rows[:MAX_LISTED]))
    arrows = tuple(
        Arrow(arrow.source, arrow.target, tuple(_counted(each, table) for each in arrow.labels))
        for arrow in diagram.arrows
    )
    drawing = lay_out(diagram.states, arrows)
    width, height = size(drawing)
    head = f"head{number}"
    kind = "diagram large" if width > PICTURE_WIDE else "diagram"
    told = f"{table.followed} of {len(table.counts)} transitions followed"
    svg = "\n".join(
        [
            f'<svg class="{kind}" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{escape(diagram.title)}: {told}">',
            f'<defs><marker id="{head}" viewBox="0 0 8 8" refX="7.4" refY="4" markerWidth="8" markerHeight="8" '
            'orient="auto"><path d="M0 0.6L8 4L0 7.4z"/></marker></defs>',
            *shapes(drawing, ENDS, head),
            "</svg>",
        ]
    )
    rows = [(each.id, table.counts.get(each.id, 0), each.kind) for arrow in arrows for each in arrow.labels]
    return Picture(table.table, diagram.title, svg, tuple(rows))


def _diagram(table: Covered) -> Diagram | None:
    """Return the diagram that has the table's rows, found by their ids, because a table's name is only for readers."""

    for diagram in diagrams().values():
        if any(found.id in table.counts for arrow in diagram.arrows for found in arrow.labels):
            return diagram
    return None


def _counted(found: Label, table: Covered) -> Label:
    """Return the label with the count behind its first line."""
    count = table.counts.get(found.id, 0)
    kind = TAKEN if count else ELSEWHERE if found.faint else NEVER
    first, *rest = found.lines
    return replace(found, lines=(f"{first} · {f'{count:,}×' if count else 'never'}", *rest), kind=kind)


ENDS = frozenset({"(start)", "(unknown)", "(end)", "absent", "Deleted"})
"""Names for absence: before the first state and after the last."""


@dataclass(frozen=True, slots=True)
class Diagram:
    """One diagram. states: in the order of an object's life."""

    file: str
    title: str
    says: str
    states: tuple[str, ...]
    arrows: tuple[Arrow, ...]

    def drawn(self) -> Drawing:
        """Return the drawing, with a position for every element."""
        return lay_out(self.states, self.arrows)

    def svg(self) -> str:
        """Return the diagram as SVG."""
        return svg(self.drawn(), self.title, self.says, ENDS)


def _cursor(row: CursorTransition) -> Arrow:
    """Return an arrow with the event and, below it, the guard and the result."""
    more = " ".join(filter(None, [f"[{row.guard.value}]" if row.guard.value else "", _returns(row.result.value)]))
    return Arrow(row.source.value, row.target.value, (_label(row, more, row.requirements),))


def _position(row: PositionTransition) -> Arrow:
    return Arrow(row.source.value, row.target.value, (_label(row, "", (row.claim,)),))


def _transaction(row: TransactionTransition) -> Arrow:
    more = _returns(row.result.value) if row.result is Ending.UNKNOWN else ""
    return Arrow(row.source.value, row.target.value, (_label(row, more, (row.claim,)),))


def _coordinated(row: CoordinatedTransition) -> Arrow:
    more = f"answers {row.answer}" if row.answer else ""
    return Arrow(row.source.value, row.target.value, (_label(row, more, (row.claim, *row.shown)),))


def _outgoing(row: OutgoingTransition) -> Arrow:
    return Arrow(row.source.value, row.target.value, (_label(row, "", (row.claim,)),))


def _returns(result: str) -> str:
    return f"gives {result}" if result else ""


def _label(row: Transition, more: str, requirements: tuple[str, ...]) -> Label:
    lines = tuple(filter(None, [row.event.value, more, f"({row.reading})" if row.reading else ""]))
    return Label(lines, ", ".join(requirements), faint=row.reading is not None, id=row.id)


def diagrams() -> Mapping[str, Diagram]:
    """Return every diagram, by the name of its table in `TABLES`."""
    made = (
        Diagram(
            "model-cursor.svg",
            "A cursor (MS-MQDMPR 3.2, figure 3)",
            "The states of a cursor and the events of MS-MQDMPR 3.2.7 that lead from one to another.",
            tuple(state.value for state in CursorState),
            tuple(map(_cursor, CURSOR)),
        ),
        Diagram(
            "model-message-position.svg",
            "A message in its queue (MS-MQDMPR 3.1.1.11)",
            "The states of a message position and what leads from one to another.",
            tuple(state.value for state in PositionState),
            tuple(map(_position, POSITION)),
        ),
        Diagram(
            "model-transaction.svg",
            "A transaction (MS-MQDMPR 3.1.4.3-5)",
            "The states of a transaction and what leads from one to another.",
            tuple(state.value for state in TransactionState),
            tuple(map(_transaction, TRANSACTION)),
        ),
        Diagram(
            "model-coordinated-transaction.svg",
            "A transaction of a coordinator (MS-MQDMPR 3.1.3, 3.1.4.6-11)",
            "The states of a transaction that a coordinator prepares and ends, and what leads from one to another.",
            tuple(state.value for state in CoordinatedState),
            tuple(map(_coordinated, COORDINATED)),
        ),
        Diagram(
            "model-outgoing-queue.svg",
            "A queue on another computer (MS-MQDMPR 3.1.1.3, 3.1.4.14-15)",
            "The states of an outgoing queue as far as transfer shows them, and what leads from one to another.",
            tuple(state.value for state in OutgoingState),
            tuple(map(_outgoing, OUTGOING)),
        ),
    )
    return dict(zip(TABLES, made, strict=True))
