"""Runs a check over generated examples with the run's example count and seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis import given
from hypothesis.strategies import SearchStrategy

from conformance.harness.hypothesis_settings import from_options

if TYPE_CHECKING:
    from conformance.harness.recorder import Recorder, RunOptions
    from conformance.verdict import Verdict

T = TypeVar("T")


def explore(
    options: RunOptions,
    judge: Recorder,
    examples: SearchStrategy[T],
    repro: Callable[[T], dict[str, Any]],
    check: Callable[[T], Iterable[Verdict]],
    *,
    share: float = 1.0,
) -> None:
    """Judge each example. repro: returns the data for a repro file. check: yields the verdicts one by one."""

    @from_options(options, share=share)
    @given(examples)
    def run(example: T) -> None:
        judge.begin_example("packet", repro(example))
        for verdict in check(example):
            judge.record(verdict)

    run()
