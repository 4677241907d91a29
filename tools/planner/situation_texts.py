"""Facts about the situations, as texts: how many of each operation are planned, and one with its history."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from conformance.activex.words import act_line
from conformance.histories.operations.table import OPERATIONS
from conformance.histories.situations.book import Book, Planned
from conformance.histories.situations.object_book import ObjectBook
from conformance.histories.situations.object_book import Planned as ObjectPlanned
from conformance.histories.situations.situation import Situation, Space
from conformance.histories.situations.specified_calls import default_model, states
from conformance.judge.dialogues.walk_plans import (
    FEATURES,
    METHOD,
    SITUATIONS,
    excluded,
    plans,
    situations,
    situations_met,
)


@dataclass(frozen=True, slots=True)
class Row:
    """The situations of one operation. unreachable: how many by the scope, or the reason, that tells so.

    whole: how many there are of all its features together, where these are counted in place of pairs and triples.
    """

    method: str
    features: tuple[str, ...]
    pairs: int
    triples: int
    planned: int
    unreachable: dict[str, int]
    not_met: int
    whole: int = 0


def row_of_faults() -> Row:
    """Return the row of what a network does to packets of a session: walks of the suite sessions bring it about."""
    planned = set().union(*(situations_met(plan.acts) for plan in plans().values()))
    why = Counter(reason for one in SITUATIONS if (reason := excluded(one)) is not None)
    not_met = len(set(situations()) - planned)
    return Row(METHOD, FEATURES, 0, 0, len(planned), dict(sorted(why.items())), not_met, len(SITUATIONS))


def rows(space: Space, book: Book | ObjectBook) -> list[Row]:
    """Return a row for each operation, in the order of the tables."""
    planned = {number for one in book.histories for numbers in one.met for number in numbers}
    found = []
    for method, table in space.features.items():
        every, pairs = space.of_method(method), space.pairs(method)
        why = Counter(book.unreachable[number] for number in every if number in book.unreachable)
        there = sum(number in planned for number in every)
        found.append(
            Row(
                method,
                tuple(one.name for one in table),
                len(pairs),
                len(every) - len(pairs),
                there,
                dict(sorted(why.items())),
                len(every) - there - why.total(),
            )
        )
    return found


@dataclass(frozen=True, slots=True)
class Description:
    """One situation. steps: the requirements that make its features. unreachable: why no history meets it.

    history: the first of the book that meets it, None for none, and number its place there. at: the place of the call
    that does. story: its calls in words.
    """

    situation: Situation
    steps: tuple[str, ...]
    unreachable: str | None = None
    history: Planned | ObjectPlanned | None = None
    at: int = 0
    story: tuple[str, ...] = ()
    number: int = 0


def description(space: Space, book: Book, situation: Situation) -> Description:
    """Return all that is known of a situation."""
    steps = _steps(space, situation)
    for planned in book.histories:
        for at, numbers in enumerate(planned.met):
            if situation.number in numbers:
                before = states(default_model(), planned.calls)
                story = tuple(
                    OPERATIONS[call.method].story(call, state)
                    for call, state in zip(planned.calls, before[:-1], strict=True)
                )
                return Description(situation, steps, None, planned, at, story, planned.number)
    return Description(situation, steps, book.unreachable.get(situation.number))


def object_description(space: Space, book: ObjectBook, situation: Situation) -> Description:
    """Return all that is known of a situation of an object's member."""
    steps = _steps(space, situation)
    for number, planned in enumerate(book.histories):
        for at, numbers in enumerate(planned.met):
            if situation.number in numbers:
                return Description(situation, steps, None, planned, at, tuple(map(act_line, planned.acts)), number)
    return Description(situation, steps, book.unreachable.get(situation.number))


def _steps(space: Space, situation: Situation) -> tuple[str, ...]:
    chosen = dict(situation.values)
    table = space.features[situation.method]
    return tuple(dict.fromkeys(step for one in table if one.name in chosen for step in one.steps))
