"""The page of a learned machine: the drawing, the differences with their words, and every step as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.report.machine import SAME, Picture, picture
from conformance.report.machine_drawing import inner_svg
from conformance.report.machine_text import completeness, conclusion, spelled, verdict_of
from conformance.report.page import render_page, trusted
from conformance.report.text import label, value_text

if TYPE_CHECKING:
    from conformance.histories.learning.work import Learning


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
