"""Which histories of the book a run plays, and in which tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from conformance.histories.operations.operation import Manner
from conformance.histories.operations.table import OPERATIONS
from conformance.histories.situations.book import Planned
from conformance.histories.situations.probe import room
from conformance.histories.situations.situation import Space

CHUNKS: Final = 40
"""Tests that share the book, so that two workers share it, and so that a budget cuts it at its end."""
DEFAULT_CALLS: Final = 70_000
"""Calls, those of the probes included, of a default run: a minute over stdio with two workers."""
DEFAULT: Final = "default"
DEFAULT_RESTARTS: Final = 120
"""Restarts of the planned histories of a default run: the start of a process takes as long as some hundred calls."""
_PROBED: Final = 0.75  # part of its room that a probe takes


def chosen(histories: Sequence[Planned], words: str, space: Space) -> Sequence[Planned]:
    """Return the histories that a run plays: the beginning of the book, as far as the words ask for.

    `default`: as many calls as fit a minute, without histories that restart the manager once enough of them have.
    `pairs`: up to the last history that is the first to meet a pair. A number: until so many situations are met.
    """
    if words == "all":
        return histories
    if words == "pairs":
        pairs = {number for method in space.features for number in space.pairs(method)}
        meets = [place for place, one in enumerate(histories, 1) if any(not pairs.isdisjoint(met) for met in one.met)]
        return histories[: max(meets, default=0)]
    if words == DEFAULT:
        return tuple(_affordable(histories))
    left = int(words)
    for place, planned in enumerate(histories):
        if left <= 0:
            return histories[:place]
        left -= sum(map(len, planned.met))
    return histories


def _affordable(histories: Iterable[Planned]) -> Iterator[Planned]:
    calls, restarts = 0.0, 0
    for planned in histories:
        wanted = sum(OPERATIONS[call.method].manner is Manner.RESTART for call in planned.calls)
        if wanted and restarts + wanted > DEFAULT_RESTARTS:
            continue
        calls += len(planned.calls) + _PROBED * room(len(planned.calls))
        restarts += wanted
        if calls > DEFAULT_CALLS:
            return
        yield planned


def chunk(histories: Sequence[Planned], number: int) -> Sequence[Planned]:
    """Return the histories of a test: those of all tests in turn are the book in its order."""
    begin, end = (round(len(histories) * place / CHUNKS) for place in (number, number + 1))
    return histories[begin:end]
