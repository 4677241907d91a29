"""Inference finds the readings a manager was made to follow, and says which answers fit none."""

from __future__ import annotations

from itertools import combinations

import pytest
import reading_manager

from conformance.infer import Inferred, infer
from conformance.spec.catalogue import catalogue
from conformance.suites.inference.inferring import Conclusion, Status
from conformance.suites.inference.playing import defaults
from conformance.suites.inference.searching import Trace, ruled_out, separate
from conformance.suites.inference.traces import from_json, shipped, to_json
from conformance.verdict import ExitCode

TRACED = sorted({trace.reading for trace in shipped()})
# What these alternatives allow holds all that the other one does, so that nothing can rule them out.
WIDER = {
    "R-MQDMPR-lookup-identifier-priority": "within-priority",
    "R-MQDMPR-transactional-express": "express",
}
SWITCHED = [
    (reading, alternative)
    for reading in TRACED
    for alternative in catalogue().readings[reading].alternatives
    if alternative != defaults()[reading]
]


def inferred(manager: str, *, walks: int = 1) -> Inferred:
    return infer(adapter=f"python:{manager}", in_process=True, with_suites=False, walks=walks)


def of(found: Inferred, reading: str) -> Conclusion:
    return next(one for one in found.conclusions if one.reading == reading)


@pytest.mark.parametrize("trace", shipped(), ids=lambda trace: f"{trace.reading}-{'-'.join(trace.alternatives)}")
def test_a_shipped_trace_separates_what_it_says(trace: Trace) -> None:
    pair = trace.alternatives
    assert trace.rules_out == ruled_out(trace.reading, pair, trace.calls, trace.given)
    assert ruled_out(trace.reading, pair, trace.calls[:-1], trace.given) != trace.rules_out, (
        "its last call says nothing"
    )
    assert from_json(trace.reading, to_json(trace)) == trace


def test_every_pair_of_alternatives_the_model_splits_on_has_a_trace() -> None:
    there = {(trace.reading, frozenset(trace.alternatives)) for trace in shipped()}
    for reading in TRACED:
        for pair in combinations(catalogue().readings[reading].alternatives, 2):
            assert (reading, frozenset(pair)) in there


def test_the_search_finds_a_shipped_trace_again() -> None:
    trace = next(trace for trace in shipped() if trace.reading == "R-MQDMPR-delete-waiting-read")
    assert separate(trace.reading, *trace.alternatives) == trace


@pytest.mark.parametrize(("reading", "alternative"), SWITCHED)
def test_a_switched_reading_is_found(reading: str, alternative: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_manager, "CHOICE", {reading: alternative})
    found = inferred("reading_manager:ReadingManager", walks=2)
    assert (found.exit_code, found.behaviours) == (ExitCode.CONFORMS, ())
    for other, followed in defaults({reading: alternative}).items():
        one = of(found, other)
        assert followed in one.left, (other, one)
        if other == reading:
            assert one.left == (alternative,), one
            assert set(one.proofs) == set(catalogue().readings[reading].alternatives) - {alternative}
        elif other in TRACED:
            assert one.left == (followed,) or WIDER.get(other) in one.left or one.status is Status.NARROWED, one


def test_a_manager_written_otherwise_is_read_rightly() -> None:
    found = inferred("memory_manager:HonestManager", walks=3)
    assert found.exit_code is ExitCode.CONFORMS
    followed = {one.reading: one.left[0] for one in found.conclusions if one.status is Status.FOLLOWED}
    assert (
        followed.items()
        >= {
            "R-MQDMPR-zero-timeout-status": "by-kind",
            "R-MQDMPR-deleted-queue-status": "queue-deleted",
            "R-MQDMPR-send-after-delete": "refused",
            "R-MQDMPR-delete-waiting-read": "at-timeout",
            "R-MQDMPR-peek-timeout-state": "unread",
            "R-MQDMPR-parked-cursor-after-timeout": "sees-arrivals",
            "R-MQDMPR-transaction-order": "by-send",
            "R-MQDMPR-lookup-removed-status": "message-not-found",
            "R-MQDMPR-share-with-peek": "local-api",
        }.items()
    )
