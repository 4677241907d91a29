"""Planned histories that meet every two conditions of each operation: MS-MQDMPR 3.1.4, 3.1.7 and 3.2."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from conformance.histories.findings import raised
from conformance.histories.situations.book import CHUNKS, BookError, Planned, chunk, judged_in, load, selection
from conformance.histories.situations.coverage import KIND
from conformance.histories.situations.play import Known, Player
from conformance.histories.situations.situation import space
from conformance.histories.walk import NEEDS


@pytest.fixture(scope="session")
def known() -> Known:
    """Return the findings and situations that the tests of this worker share."""
    return Known()


@cache
def selected(words: str) -> Sequence[Planned]:
    """Return the histories that all tests of the run play. Raises BookError."""
    return selection(load().histories, words, space())


@pytest.mark.parametrize(
    "number", [pytest.param(number, marks=pytest.mark.requirement(*judged_in(number))) for number in range(CHUNKS)]
)
def test_planned_histories(number: int, mq: Any, judge: Any, run_options: Any, mq_need: Any, known: Known) -> None:
    mq_need(*NEEDS)
    try:
        book = load()
    except BookError as error:
        if number == 0:
            judge.remarks.append(f"no planned history is played: {error}")
        pytest.skip(f"no planned history is played: {error}")
    histories = chunk(selected(run_options.situations), number)
    player = Player(mq, judge, run_options, space(), known)
    began = time.monotonic()
    met = player.play(histories)
    judge.evidence.append((KIND, {"digest": book.digest, **met.to_json()}))
    raised(player.told(time.monotonic() - began))
