"""Shrink a failing history: leave out calls and simplify the rest, while the same requirement stays broken.

This works on calls, not on hypothesis's choices: leaving out one call never changes the meaning of another.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from conformance.harness.guarded_client import DriverGone
from conformance.harness.recorder import ConformanceFailure, Recorder
from conformance.histories.history import History
from conformance.histories.operations.table import OPERATIONS, plainer, plainest, renamed, well_formed
from conformance.histories.real_waits import expiring
from conformance.model import BadCall, Call, Model
from conformance.verdict import Json, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

MAX_RUNS = 400  # histories run again; a walk's failure rarely needs a hundred
MAX_SECONDS = 60.0  # a slow implementation gets a longer story, so that its user need not wait


@dataclass(slots=True)
class Spent:
    """Cost of shrinking. runs: histories run again. late: shrinking ended because its time was over."""

    runs: int = 0
    late: bool = False


def run(client: Port, judge: Recorder, calls: Sequence[Call]) -> tuple[tuple[Call, ...], ConformanceFailure | None]:
    """Run calls without those that make no sense any more; return the calls made and the failure that ended them."""
    history = History(client, judge, Model(judge.readings))
    made: list[Call] = []
    waits = ((call, None) for call in calls) if history.driving.virtual else expiring(calls)
    for call, end in waits:
        try:
            if end is None:
                history.do(call)
            else:
                history.expire(call)
        except BadCall:
            continue
        except ConformanceFailure as failure:
            return (*made, call, *(() if end is None else (end,))), failure
        made += [call] if end is None else [call, end]
    return tuple(made), None


def shortened(
    client: Port,
    options: RunOptions,
    failure: ConformanceFailure,
    calls: Sequence[Call],
    *,
    disabled: frozenset[str] = frozenset(),
    runs: int = MAX_RUNS,
    seconds: float = MAX_SECONDS,
    spent: Spent | None = None,
) -> tuple[Call, ...]:
    """Return the fewest and simplest calls found that break the same requirement; `calls` itself when none do.

    disabled: requirements whose check is switched off. runs, seconds: the most to spend. spent: updated with the cost.
    """
    until = time.monotonic() + seconds
    best = tuple(calls)
    spent = spent or Spent()
    last = spent.runs + runs
    try:
        progress = True
        while progress:
            progress = False
            for candidate, wanted in candidates(best):
                spent.late = spent.late or time.monotonic() > until
                if spent.runs >= last or spent.late:
                    return best
                spent.runs += 1
                made, broken = run(client, Recorder(options, lambda verdict, count: None, disabled=disabled), candidate)
                same = broken is not None and (
                    broken.verdict.requirement == failure.verdict.requirement
                    or wanted is _Wanted.ANY
                    or (wanted is _Wanted.ALIKE and _alike(broken.verdict, failure.verdict))
                )
                if same and (_cost(made) < _cost(best) or well_formed(best) != best) and well_formed(made) == made:
                    assert broken is not None
                    best, failure, progress = made, broken, True
                    break
    except DriverGone:
        return best
    return best


class _Wanted(Enum):
    """The failures that keep a candidate: of the same requirement, of any, or of any in an answer that is as wrong."""

    SAME = "same"
    ANY = "any"
    ALIKE = "alike"


def _alike(one: Verdict, other: Verdict) -> bool:
    """Tell whether both are of one method, and a message is due in both or in none, and came in both or in none."""
    same = one.subject == other.subject
    return same and (_message(one.expected), _message(one.actual)) == (_message(other.expected), _message(other.actual))


def _message(said: Json) -> bool:
    """Tell whether a result, or that of a waiting read, is a message."""
    return isinstance(said, dict) and ("message" in said or any(map(_message, said.values())))


def _cost(calls: Sequence[Call]) -> tuple[int, int, str]:
    """Sort key: fewer calls first, then fewer and smaller members, then earlier names."""
    texts = [repr(sorted(call.to_json().items())) for call in calls]
    return len(calls), sum(map(len, texts)), "".join(texts)


def candidates(calls: tuple[Call, ...]) -> Iterator[tuple[tuple[Call, ...], _Wanted]]:
    """Yield histories to run in place of this one. None gives a name twice, or refers to a name that nothing gave.

    Of a history that gives a name twice, that is the same with other names; it comes before any that is shorter.
    """
    if well_formed(calls) != calls:
        yield well_formed(renamed(calls)), _Wanted.SAME
        return
    for candidate, wanted in _simpler(calls):
        yield well_formed(candidate), wanted


def _simpler(calls: tuple[Call, ...]) -> Iterator[tuple[tuple[Call, ...], _Wanted]]:
    """Yield shorter or simpler histories. Some may break another requirement: a message sent without a priority shows
    the defect better than one sent with it, if the history fails either way."""
    for at, call in enumerate(calls):
        if OPERATIONS[call.method].restores:  # what also goes wrong without it is not its doing
            yield calls[:at] + calls[at + 1 :], _Wanted.ALIKE
    size = len(calls) // 2
    while size >= 1:  # the end of a history matters most, so leave out from the front
        for start in range(0, len(calls) - size, max(1, size)):
            yield calls[:start] + calls[start + size :], _Wanted.SAME
        size //= 2
    yield renamed(calls), _Wanted.SAME
    yield tuple(map(plainest, calls)), _Wanted.SAME
    for at, call in enumerate(calls):
        for other, decides in plainer(call):
            yield (*calls[:at], other, *calls[at + 1 :]), _Wanted.ANY if decides else _Wanted.SAME
