"""Observations changed in one thing: the model notices, and only a judge that notices counts."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories import observed_mutations
from conformance.histories.observed_mutations import caught
from conformance.model import Judged, Model
from conformance.spec.catalogue import catalogue


def test_demands_of_every_kind_notice() -> None:
    found = caught(6, 40)
    assert found <= set(catalogue().requirements)
    assert len(found) > 100
    assert {
        "MQDMPR-3.1.7.1.10.no-wait",
        "MQDMPR-3.1.7.1.10.no-wait-code",
        "MQDMPR-3.1.7.1.9.success",
        "MQDMPR-3.1.7.1.10.wakes",
        "MQDMPR-3.1.4.4.success",
        "MQDMPR-3.2.7.2.unread-seeks",
        "MQDMPR-3.1.7.3.3.seek-first",
    } <= found
    assert caught(6, 40) == found


def test_a_judge_that_lets_everything_pass_is_caught_at_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lenient(Model):
        def step(self, *arguments: Any) -> Judged:
            judged = super().step(*arguments)
            return judged if not judged.failed else Judged(judged.states, ())

    monkeypatch.setattr(observed_mutations, "Model", Lenient)
    assert caught(2, 20) == frozenset()
