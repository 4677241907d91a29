"""A learned machine beside the specification's: as a picture in SVG and DOT, as a page, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from conformance.histories.learning.alphabets import Name, names
from conformance.report.page import render_page, trusted
from conformance.report.text import label, value_text
from conformance.verdict import Json

if TYPE_CHECKING:
    from conformance.histories.learning.machine import Word
    from conformance.histories.learning.work import Difference, Learning

SAME, ALLOWED, DEVIATES, UNSURE = "same", "allowed", "deviates", "unsure"
"""Kinds of steps: as the specification's; otherwise, and allowed; a broken requirement; not confirmed by a word."""


@dataclass(frozen=True, slots=True)
class Box:
    """A state: of the specification, with the implementation's state that the same word leads to.

    parent: the box that its shortest word comes from, and letter: the last of that word. twin: the first box of the
    same state of the specification, where the implementation has several for it.
    """

    number: int
    name: Name
    depth: int
    parent: int | None
    letter: str
    twin: int | None = None


@dataclass(frozen=True, slots=True)
class Arrow:
    """The effect of a letter in a box. target: where both go, None where the answers differ.

    demanded, came: the boxes where the specification and the implementation go then, where they are known.
    difference: the number of the difference, from 1, None if no word has confirmed it.
    """

    source: int
    letter: str
    kind: str
    right: str
    told: str
    target: int | None
    demanded: int | None = None
    came: int | None = None
    difference: int | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that a drawing shows. letters: the alphabet. unreached: names of states behind differences only."""

    title: str
    letters: tuple[str, ...]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    unreached: tuple[str, ...]

    def count(self, kind: str) -> int:
        """Return how many arrows are of a kind."""
        return sum(arrow.kind == kind for arrow in self.arrows)


def picture(learning: Learning) -> Picture | None:
    """Return the picture; None if no machine was learned."""
    alphabet, demanded, walk, learned = learning.alphabet, learning.demanded, learning.walk, learning.learned
    if alphabet is None or demanded is None or walk is None or learned is None:
        return None
    named = names(alphabet, demanded, learning.choice)
    known = {
        (one.word[-1], str(one.demanded), str(one.came)): (at, ALLOWED if one not in learning.deviations else DEVIATES)
        for at, one in enumerate(learning.differences, 1)
    }
    places: dict[tuple[int, ...], int] = {pair.word: at for at, pair in enumerate(walk.pairs)}
    first: dict[int, int] = {}
    of_learned: dict[int, int] = {}
    boxes = []
    for at, pair in enumerate(walk.pairs):
        twin = first.setdefault(pair.demanded, at)
        of_learned.setdefault(pair.learned, at)
        boxes.append(
            Box(
                at,
                named[pair.demanded],
                len(pair.word),
                places[pair.word[:-1]] if pair.word else None,
                alphabet.letters[pair.word[-1]].name if pair.word else "",
                twin if twin != at else None,
            )
        )
    arrows = []
    for step in walk.steps:
        pair = walk.pairs[step.pair]
        numbered = known.get((step.letter, str(step.demanded), str(step.came)))
        arrows.append(
            Arrow(
                step.pair,
                alphabet.letters[step.letter].name,
                SAME if step.agrees else numbered[1] if numbered is not None else UNSURE,
                str(step.demanded),
                str(step.came),
                step.target,
                first.get(demanded.targets[pair.demanded][step.letter]) if not step.agrees else None,
                of_learned.get(learned.machine.targets[pair.learned][step.letter]) if not step.agrees else None,
                numbered[0] if numbered is not None else None,
            )
        )
    seen = {pair.demanded for pair in walk.pairs}
    unreached = tuple(str(named[at]) for at in range(len(demanded)) if at not in seen)
    title = f"The machine of a {learning.what} in {learning.implementation}"
    return Picture(title, tuple(letter.name for letter in alphabet.letters), tuple(boxes), tuple(arrows), unreached)


def grouped(arrows: tuple[Arrow, ...]) -> Mapping[tuple[int, int], list[str]]:
    """Return the letters between each two boxes, in both machines; letters that change nothing are left out."""
    found: dict[tuple[int, int], list[str]] = {}
    for arrow in arrows:
        if arrow.target is not None and arrow.target != arrow.source:
            found.setdefault((arrow.source, arrow.target), []).append(arrow.letter)
    return found


WIDE, HIGH = 206, 40  # of a box, pixels
GAP_X, GAP_Y, MARGIN = 74, 26, 24
LEGEND = 30
_LETTERS = 34  # of a line in a box
_ROUNDS = 24


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


MAX_OTHERS = 5
"""Further words told of one requirement; pages and JSON have all."""


def spelled(learning: Learning, word: Word) -> str:
    """Return a word as its letters."""
    assert learning.alphabet is not None
    return ", ".join(learning.alphabet.spelled(word))


def verdict_of(learning: Learning, difference: Difference) -> str:
    """Return what a difference is: the requirement it breaks, a reading followed both ways, or the text's freedom."""
    verdict = difference.judgement.verdict
    if verdict is not None:
        return verdict.requirement
    if difference.word in learning.both_ways:
        return "another reading than the one that other answers show"
    return "left open by the text"


def conclusion(learning: Learning) -> str:
    """Return the result in one sentence."""
    if learning.two_answers is not None:
        return "Its answers are no function of the history: no machine has them."
    if learning.learned is None or learning.demanded is None:
        return "Nothing was learned."
    number = len(learning.differences)
    if learning.deviations:
        return f"It is another machine: {number} difference{'s' if number > 1 else ''} from the specification's."
    if learning.unconfirmed or not learning.learned.depth:
        return "Not learned to the end, and no difference found so far."
    return "It is the specification's machine" + (
        f", but for {number} answers that the text leaves open." if number else "."
    )


def completeness(learning: Learning) -> str:
    """Return for which implementations the result is complete, or what was not asked."""
    learned = learning.learned
    assert learned is not None
    more = learning.more_states
    if learned.finished:
        states = f"at most {more} state{'s' if more > 1 else ''} more" if more else "no more states"
        return f"Complete for an implementation with {states} than were found (Wp method)."
    if not learned.depth:
        return (
            f"The limits ended it at {learned.tried:,} of the {learned.suite:,} words of the specification's machine: "
            "give more --budget or --steps."
        )
    return (
        f"The limits ended it at {learned.tried:,} of {learned.suite:,} words of depth {learned.depth - 1} of "
        f"{more + 1}: what more states than were found would do is not known."
    )


def lines(learning: Learning) -> Iterator[str]:
    """Yield the result for a terminal."""
    two = learning.two_answers
    alphabet = learning.alphabet
    if alphabet is not None:
        yield f"{learning.what} of {learning.implementation}: {len(alphabet.letters)} letters: " + ", ".join(
            letter.name for letter in alphabet.letters
        )
        if alphabet.missing:
            yield f"not offered by the driver: {', '.join(alphabet.missing)}"
    if two is not None:
        yield f"two answers to: {spelled(learning, two.word)}"
        yield from (f"  {times} times {answer}" for answer, times in two.answers.items())
        if two.judgement.verdict is not None:
            yield f"  one of them breaks {two.judgement.verdict.requirement}"
    if learning.learned is not None and learning.demanded is not None:
        yield f"{len(learning.demanded)} states demanded, {len(learning.learned.machine)} learned"
        yield from (f"follows {reading}: {way}" for reading, way in learning.readings.items())
        yield from _differences(learning)
        if learning.walk is not None and (unreached := learning.walk.unreached(learning.demanded)):
            yield f"{unreached} states of the specification's machine stand behind differences: they were not compared"
        if learning.unjudged:
            yield f"{learning.unjudged} more differences are not judged: run tells more of an implementation so far off"
        yield completeness(learning)
    yield f"{learning.histories:,} histories of {learning.steps:,} letters, {learning.seconds:.0f} s"
    yield conclusion(learning)


def _differences(learning: Learning) -> Iterator[str]:
    told: dict[str, int] = {}
    for number, one in enumerate(learning.differences, 1):
        what = verdict_of(learning, one)
        told[what] = told.get(what, 0) + 1
        if told[what] > 1 + MAX_OTHERS:
            continue
        mark = "DIFFERS" if one in learning.deviations else "allowed"
        yield f"{number}. {mark} {what}: {spelled(learning, one.word)}"
        yield f"     {one.came}, not {one.demanded}" + (
            f" (in {len(one.places)} states)" if len(one.places) > 1 else ""
        )
        if told[what] == 1 and one in learning.deviations:
            yield from (f"     {at}. {line}" for at, line in enumerate(one.judgement.story, 1))
            verdict = one.judgement.verdict
            if verdict is not None:
                yield f"     expected {value_text(verdict.expected)}, got {value_text(verdict.actual)}"
    yield from (
        f"   and {count - 1 - MAX_OTHERS} more: {what}" for what, count in told.items() if count > 1 + MAX_OTHERS
    )


def as_json(learning: Learning) -> dict[str, Json]:
    """Return everything, machines included, as `--json` prints it."""
    alphabet, two, learned = learning.alphabet, learning.two_answers, learning.learned
    return {
        "what": learning.what,
        "implementation": learning.implementation,
        "exit_code": int(learning.exit_code),
        "sentence": learning.sentence,
        "conclusion": conclusion(learning),
        "complete": learned is not None and learned.finished,
        "more_states": learning.more_states,
        "completeness": completeness(learning) if learned is not None else None,
        "letters": [letter.name for letter in alphabet.letters] if alphabet is not None else [],
        "not_offered": list(alphabet.missing) if alphabet is not None else [],
        "readings": dict(learning.readings),
        "differences": [_difference(learning, one) for one in learning.differences],
        "unconfirmed": learning.unconfirmed,
        "unjudged": learning.unjudged,
        "two_answers": None
        if two is None or alphabet is None
        else {
            "word": list(alphabet.spelled(two.word)),
            "answers": [{"answer": str(answer), "times": times} for answer, times in two.answers.items()],
            "requirement": two.judgement.verdict.requirement if two.judgement.verdict is not None else None,
            "story": list(two.judgement.story),
        },
        "demanded": _machine(learning, learning.demanded),
        "learned": _machine(learning, learned.machine if learned is not None else None),
        "histories": learning.histories,
        "steps": learning.steps,
        "seconds": round(learning.seconds, 1),
    }


def _difference(learning: Learning, one: Difference) -> dict[str, Json]:
    assert learning.alphabet is not None
    verdict = one.judgement.verdict
    return {
        "word": list(learning.alphabet.spelled(one.word)),
        "demanded": str(one.demanded),
        "came": str(one.came),
        "states": len(one.places),
        "deviates": one in learning.deviations,
        "requirement": verdict.requirement if verdict is not None else None,
        "both_ways": one.word in learning.both_ways,
        "story": list(one.judgement.story),
    }


def _machine(learning: Learning, machine: object) -> list[Json] | None:
    from conformance.histories.learning.machine import Machine

    alphabet = learning.alphabet
    if not isinstance(machine, Machine) or alphabet is None:
        return None
    return [
        {
            "access": list(alphabet.spelled(access)),
            "letters": {
                letter.name: {"answer": str(output), "state": target}
                for letter, output, target in zip(alphabet.letters, outputs, targets, strict=True)
            },
        }
        for access, outputs, targets in zip(machine.access, machine.outputs, machine.targets, strict=True)
    ]


def render_machine(learning: Learning) -> str:
    """Return the page. Also for a learning that has no machine, which it says."""
    drawn = picture(learning)
    two = learning.two_answers
    return render_page(
        "machine.html.j2",
        (),
        ("report.css", "machine.css", "machine-drawing.css"),
        learning=learning,
        what=learning.what,
        implementation=label(learning.implementation),
        conclusion=conclusion(learning),
        sentence=learning.sentence,
        completeness=completeness(learning) if learning.learned is not None else None,
        missing=learning.alphabet.missing if learning.alphabet is not None else (),
        drawing=trusted(inner_svg(drawn)) if drawn is not None else None,
        letters=drawn.letters if drawn is not None else (),
        rows=_rows(drawn) if drawn is not None else (),
        unreached=drawn.unreached if drawn is not None else (),
        differences=[
            {
                "number": number,
                "deviates": one in learning.deviations,
                "what": label(verdict_of(learning, one)),
                "word": spelled(learning, one.word),
                "came": str(one.came),
                "demanded": str(one.demanded),
                "states": len(one.places),
                "story": [label(line, 300) for line in one.judgement.story],
                "expected": value_text(one.judgement.verdict.expected) if one.judgement.verdict is not None else None,
                "actual": value_text(one.judgement.verdict.actual) if one.judgement.verdict is not None else None,
            }
            for number, one in enumerate(learning.differences, 1)
        ],
        two_answers=None
        if two is None
        else {
            "word": spelled(learning, two.word),
            "answers": [(str(answer), times) for answer, times in two.answers.items()],
            "story": [label(line, 300) for line in two.judgement.story],
        },
    )


def _rows(drawn: Picture) -> list[dict[str, object]]:
    """Return a row for each state, with a cell for each letter."""
    steps = {(arrow.source, arrow.letter): arrow for arrow in drawn.arrows}
    rows: list[dict[str, object]] = []
    for box in drawn.boxes:
        cells = []
        for letter in drawn.letters:
            arrow = steps[box.number, letter]
            target = f"→ {arrow.target + 1}" if arrow.target not in (None, box.number) else ""
            cells.append(
                {
                    "kind": arrow.kind if arrow.told != "-" or arrow.kind != SAME else "none",
                    "told": label(arrow.told.replace("fails: ", "").replace("MQ_ERROR_", "")),
                    "right": label(arrow.right.replace("fails: ", "").replace("MQ_ERROR_", "")),
                    "target": target,
                    "difference": arrow.difference,
                }
            )
        rows.append({"number": box.number + 1, "name": str(box.name), "twin": box.twin, "cells": cells})
    return rows
