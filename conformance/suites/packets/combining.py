"""Runs a check over all combinations of options, and simplifies a combination that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from conformance.spec.catalogue import requirement
from conformance.spec.versions import LEVELS
from conformance.suites.packets.combinations import OPTIONS, message_of, rows, stands
from conformance.suites.packets.pairs import Row, simplest
from conformance.verdict import Outcome

if TYPE_CHECKING:
    from conformance.harness.recorder import Recorder, RunOptions
    from conformance.verdict import Verdict

Check = Callable[[dict[str, Any]], Iterable["Verdict"]]


def combine(
    options: RunOptions, judge: Recorder, repro: Callable[[dict[str, Any]], Mapping[str, Any]], check: Check, **how: Any
) -> None:
    """Judge the message of every row. how: passed to `message_of`."""
    for row in rows():
        message = message_of(row, **how)
        judge.begin_example("packet", repro(message))
        verdicts = list(check(message))
        failing = [one for one in verdicts if _demanded(one, options)]
        if any(one.requirement in judge.disabled for one in failing):
            continue  # the broken field may shift all later ones: with its check off, the packet cannot be judged
        broken = next(iter(failing), None)
        if broken is not None:
            message = message_of(_plainest(row, broken, options, check, how), **how)
            judge.begin_example("packet", repro(message))
            verdicts = list(check(message))
        judge.record(*verdicts)


def _plainest(row: Row, broken: Verdict, options: RunOptions, check: Check, how: Mapping[str, Any]) -> Row:
    """Return the plainest combination in which the same demand is the first to break."""

    def still(plainer: Row) -> bool:
        if not stands(plainer):
            return False
        found = next((one for one in check(message_of(plainer, **how)) if _demanded(one, options)), None)
        return found is not None and found.requirement == broken.requirement

    return simplest(row, OPTIONS, still)


def _demanded(verdict: Verdict, options: RunOptions) -> bool:
    """Return True if a verdict fails a run with these options."""
    demand = requirement(verdict.requirement)
    strong = LEVELS.index(demand.level) <= LEVELS.index(options.level)
    return verdict.outcome is Outcome.FAIL and demand.binds(options.profile) and strong
