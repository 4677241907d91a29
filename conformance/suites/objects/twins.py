"""Whose fault a wrong answer of an object is: the same history, over the plain facets of a fresh manager, tells.

Where it deviates there as well, the requirement of the queue manager is blamed, and what the object was to show is told
as a consequence. It costs a history more for a test that fails, and nothing otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from conformance.activex import underlying_calls
from conformance.activex.underlying_calls import Done
from conformance.harness.playback import NotStored
from conformance.harness.recorder import Recorder
from conformance.histories.findings import run
from conformance.histories.operations.table import OPERATIONS, known, renamed
from conformance.model import BadCall, Call
from conformance.runlog.events import StoryStep
from conformance.spec.catalogue import requirement
from conformance.spec.versions import LEVELS
from conformance.verdict import Evidence, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import ConformanceFailure, RunOptions

OBJECTS: Final = "objects"
MANAGER: Final = "queue manager"
_CLEAN: Final = "the same calls over the plain facets of a fresh manager conform: the deviation is the object's"
_BELOW: Final = "the same calls over the plain facets of a fresh manager deviate as well, at {}: {} is broken there"


def judged(
    played: Generator[tuple[Verdict, ...], None, None],
    history: Sequence[Done],
    mq: Port,
    options: RunOptions,
    tell: Callable[[StoryStep], object],
    disabled: frozenset[str] = frozenset(),
) -> Iterator[tuple[Verdict, ...]]:
    """Yield the verdicts on each act of a history that is played; those on a wrong answer, which end it, by layer."""
    for verdicts in played:
        if not any(_ends(verdict, options, disabled) for verdict in verdicts):
            yield verdicts
            continue
        with suppress(NotStored):  # a recording that went on has other calls here than those that let go
            played.close()
        try:
            found = blamed(verdicts, history, mq, options, tell, disabled)
        except NotStored:  # nothing of this was recorded
            found = verdicts
        yield found
        return


def _ends(verdict: Verdict, options: RunOptions, disabled: frozenset[str]) -> bool:
    """Tell whether a verdict ends the example: a failure that is no warning in this run."""
    if verdict.outcome is not Outcome.FAIL or verdict.requirement in disabled:
        return False
    demand = requirement(verdict.requirement)
    return demand.binds(options.profile) and LEVELS.index(demand.level) <= LEVELS.index(options.level)


def blamed(
    verdicts: tuple[Verdict, ...],
    history: Sequence[Done],
    mq: Port,
    options: RunOptions,
    tell: Callable[[StoryStep], object],
    disabled: frozenset[str] = frozenset(),
) -> tuple[Verdict, ...]:
    """Return the verdicts on the last act of a history with the layer that deviates, if the plain facets tell it.

    Call it when the objects of the history are released: the manager begins anew. tell: takes a line of the story.
    """
    wrong = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
    calls = _playable(underlying_calls.calls(history, options.readings), mq) if wrong else ()
    if not calls:
        return verdicts
    made, failure = run(mq, Recorder(options, lambda verdict, count: None, disabled=disabled), calls)
    if failure is None:
        if made[-1:] != calls[-1:]:
            return verdicts  # other answers led elsewhere: nothing is told
        tell(StoryStep(_CLEAN))
        return tuple(_of(verdict, OBJECTS, made) for verdict in verdicts)
    tell(StoryStep(_BELOW.format(failure.verdict.subject, failure.verdict.requirement)))
    return (*_others(verdicts, failure), _of(failure.verdict, MANAGER, made, wrong))


def _playable(calls: Iterable[Call], mq: Port) -> tuple[Call, ...]:
    """Return the calls with names counted from one; none if the driver lacks a method that they need."""
    try:
        each = renamed([known(call) for call in calls])
    except BadCall:
        return ()
    return each if all(mq.offers(method) for call in each for method in OPERATIONS[call.method].needs) else ()


def _of(verdict: Verdict, layer: str, calls: Iterable[Call], consequences: Iterable[Verdict] = ()) -> Verdict:
    """Return a wrong verdict with the layer that deviates in its evidence."""
    if verdict.outcome is not Outcome.FAIL:
        return verdict
    data = {"layer": layer, "calls": [call.to_json() for call in calls]}
    shown = [one.requirement for one in consequences]
    return replace(verdict, evidence=Evidence("history", "", {**data, "shows": shown} if shown else data))


def _others(verdicts: Iterable[Verdict], failure: ConformanceFailure) -> tuple[Verdict, ...]:
    """Return the verdicts with those of the object as consequences."""
    why = f"a consequence: {failure.verdict.requirement} is broken over the plain facets as well"
    return tuple(
        replace(one, outcome=Outcome.INCONCLUSIVE, reason=why) if one.outcome is Outcome.FAIL else one
        for one in verdicts
    )
