"""A sentence that a later step shows broken is not counted as held by that story."""

from __future__ import annotations

from collections import Counter

import pytest

from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.verdict import Outcome, Verdict

BROKEN, OTHER = "MQDMPR-3.1.1.2.arrival-order", "MQDMPR-3.1.1.12.lookup-identifier-unique"
OPTIONS = RunOptions(
    profile="msmq-4.0", level="must", readings={}, reading_set="windows", seed=0, max_examples=1, stateful_steps=1
)


@pytest.mark.parametrize("flushed", [False, True])
def test_passes_of_a_story_that_breaks_the_sentence_are_taken_back(flushed: bool) -> None:
    counts: Counter[tuple[str, Outcome]] = Counter()

    def sink(verdict: Verdict, times: int) -> None:
        counts[verdict.requirement, verdict.outcome] += times

    judge = Recorder(OPTIONS, sink)
    holds, other = (Verdict(name, Outcome.PASS, "receive") for name in (BROKEN, OTHER))
    judge.begin_example()
    judge.record(holds, other, holds)
    if flushed:
        judge.flush()
    judge.begin_example()
    judge.record(holds, holds, other)
    judge.record(Verdict(BROKEN, Outcome.PASS, "peek"))
    with pytest.raises(ConformanceFailure):
        judge.record(Verdict(BROKEN, Outcome.FAIL, "receive", "a", "b"))
    judge.flush()
    assert counts == {(BROKEN, Outcome.PASS): 2, (OTHER, Outcome.PASS): 2}
