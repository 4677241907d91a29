"""The planned histories of management meet every pair of features that a call can meet; for all others there is why."""

from __future__ import annotations

import pytest

from conformance.histories.stage_event_pairs import (
    BEGINNING,
    LEFT,
    PLAYED,
    all_pairs,
    pair_texts,
    pairs_of,
    planned,
    why_left,
)
from conformance.model import Model, State
from conformance.spec.catalogue import assignment


@pytest.fixture(scope="module")
def met() -> frozenset[tuple[str, str, str, str, str]]:
    model, found = Model(assignment("windows")), set()
    for calls in planned():
        state = State()
        for call in (*BEGINNING, *calls):
            if call.method in PLAYED:
                found |= set(pairs_of(state, call))
            state = model.allowed(state, call).outcomes[0].next
    return frozenset(found)


def test_every_pair_is_met_or_has_a_reason(met: frozenset[tuple[str, str, str, str, str]]) -> None:
    assert pair_texts(pair for pair in all_pairs() - met if why_left(pair) is None) == []


def test_no_pair_that_is_met_has_a_reason_not_to_be(met: frozenset[tuple[str, str, str, str, str]]) -> None:
    assert pair_texts(pair for pair in met if why_left(pair) is not None) == []


def test_each_reason_is_needed(met: frozenset[tuple[str, str, str, str, str]]) -> None:
    assert {why_left(pair) for pair in all_pairs() - met} == set(LEFT)
