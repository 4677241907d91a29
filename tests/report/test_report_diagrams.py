"""The pictures of the model's tables: they are those of the tables, and nothing in them covers anything."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.model.tables import TABLES
from conformance.report.transition_pictures import HALF, LOOP, Arrow, Box, Drawing, Label, diagrams, lay_out, route, svg
from tools.diagrams import FOLDER, main

Rectangle = tuple[float, float, float, float]
NAMES = pytest.mark.parametrize("name", TABLES)


@NAMES
def test_the_picture_in_the_docs_is_that_of_the_table(name: str) -> None:
    diagram = diagrams()[name]
    stored = (FOLDER / diagram.file).read_text(encoding="utf-8")
    assert stored == diagram.svg(), "stale: python -m tools.diagrams"


@NAMES
def test_every_row_is_drawn(name: str) -> None:
    text = diagrams()[name].svg()
    ElementTree.fromstring(text)
    rows = TABLES[name]
    assert text.count('class="label') == len(rows)
    assert text.count("marker-end") == len({(row.source, row.target) for row in rows})
    for row in rows:
        assert f">{row.event.value}</text>" in text
        assert f">{row.source.value}</text>" in text


def test_the_pictures_are_written_where_it_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(item.file for item in diagrams().values())
    assert main([str(tmp_path / "none")]) == 2
    assert "no folder" in capsys.readouterr().err


def rectangles(drawing: Drawing) -> Iterator[tuple[str, Rectangle]]:
    """What may not be covered: states, and the texts of labels."""
    for box in drawing.boxes.values():
        middle = box.y + box.height / 2
        if box.state_width:
            yield box.name, (box.x, middle - HALF, box.x + box.state_width, middle + HALF)
            if box.loop:
                yield box.name, (box.x + box.state_width + LOOP, box.y, box.x + box.width, box.y + box.height)
        elif box.labels:
            yield box.name, (box.x + box.anchor + 3, box.y, box.x + box.width, box.y + box.height)


def bends(points: list[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Points along an arrow, close together."""
    for (x, y), (to_x, to_y) in pairwise(points):
        for step in range(21):
            t = step / 20
            across = t * t * (3 - 2 * t)  # a cubic whose handles stand above each other at half the height
            down = 1.5 * t * (1 - t) + t**3
            yield x + (to_x - x) * across, y + (to_y - y) * (down if x != to_x else t)


def covered(drawing: Drawing) -> list[str]:
    """Whatever lies on something else."""
    wrong = []
    for (name, one), (other, two) in combinations(rectangles(drawing), 2):
        if one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]:
            wrong.append(f"{name} and {other}")
    for arrow, chain, _ in drawing.chains:
        for x, y in bends(route(drawing, chain)):
            for name, (left, top, right, bottom) in rectangles(drawing):
                if left < x < right and top < y < bottom:
                    wrong.append(f"{arrow.source} to {arrow.target} on {name}")
    return wrong


@NAMES
def test_nothing_covers_anything(name: str) -> None:
    drawing = diagrams()[name].drawn()
    assert not covered(drawing)
    for _, (left, top, right, bottom) in rectangles(drawing):
        assert left >= 0 and top >= 0 and right <= drawing.width and bottom <= drawing.height


def test_what_covers_something_is_noticed() -> None:
    drawing = diagrams()["cursor"].drawn()
    boxes: list[Box] = [box for box in drawing.boxes.values() if box.labels]
    boxes[1].x, boxes[1].y = boxes[0].x, boxes[0].y
    assert covered(drawing)


def test_a_state_machine_of_nothing_but_circles_is_drawn_too() -> None:
    names = [f"s{number}" for number in range(6)]
    arrows = [Arrow(a, b, (Label((f"{a} & {b} <",), "why"),)) for a in names for b in names]
    drawing = lay_out(names, arrows)
    assert not covered(drawing)
    assert len(drawing.chains) == 30
    ElementTree.fromstring(svg(drawing, "all & all", "<everything>"))


def test_a_single_state_is_a_picture() -> None:
    ElementTree.fromstring(svg(lay_out(["alone"], []), "one", ""))
