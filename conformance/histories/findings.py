"""Distinct failures of a walk: tell them apart, shrink them, fit waits to a real clock, and see whether they recur."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from conformance.harness.failure_verdicts import REPEATS, flaky
from conformance.harness.guarded_client import DriverGone
from conformance.harness.recorder import ConformanceFailure, ConformanceFailures, Recorder
from conformance.histories.history import History
from conformance.histories.operations.operation import Manner
from conformance.histories.operations.reads import LONG_MS
from conformance.histories.operations.state_queries import where
from conformance.histories.operations.table import OPERATIONS, plainer, plainest, renamed, stored_call, well_formed
from conformance.model import BadCall, Call, Model
from conformance.model.calls import INFINITE
from conformance.model.values import replace
from conformance.verdict import Json, Verdict
from conformance.walks import Budget, cuts, least

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

MAX_PASS_MS = 2_500
"""The longest time that a history lets pass on a real clock, at one go."""


def expiring(calls: Iterable[Call]) -> Iterator[tuple[Call, Call | None]]:
    """Yield each call, and with a read that the next call lets time out, that call: both are one wait."""
    before: Call | None = None
    for call in calls:
        if before is not None and _passes(call) and call.by_ms == before.timeout_ms:
            yield before, call
            before = None
            continue
        if before is not None:
            yield before, None
        before = call if _waits(call) else None
        if before is None:
            yield call, None
    if before is not None:
        yield before, None


def fitted(calls: Sequence[Call]) -> tuple[Call, ...] | None:
    """Return the calls with waits that a real clock can do; None if there is no such history.

    A wait that no later call ends by its time-out lasts LONG_MS. Time that passes while a read waits for something
    else cannot be had.
    """
    made: list[Call] = []
    waiting = False
    for call, end in expiring(calls):
        if end is not None:
            if waiting:
                return None
            made += (call, end)
        elif _passes(call):
            if waiting or call.by_ms > MAX_PASS_MS:
                return None
            made.append(call)
        elif _waits(call):
            waiting = True
            made.append(call if call.timeout_ms >= LONG_MS else replace(call, timeout_ms=LONG_MS))
        else:
            made.append(call)
    return tuple(made)


def _waits(call: Call) -> bool:
    operation = OPERATIONS.get(call.method)
    return operation is not None and operation.manner is Manner.READ and 0 < call.timeout_ms < INFINITE


def _passes(call: Call) -> bool:
    """Tell whether the call lets time pass."""
    return OPERATIONS[call.method].manner is Manner.TIME


MAX_RUNS = 400  # histories run again; a walk's failure rarely needs a hundred
MAX_SECONDS = 60.0  # a slow implementation gets a longer story, so that its user need not wait


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
    budget: Budget | None = None,
) -> tuple[Call, ...]:
    """Return the fewest and simplest calls found that break the same requirement; `calls` itself when none do.

    disabled: requirements whose check is switched off. runs, seconds: the most to spend, unless a budget is given.
    """
    budget = budget or Budget(runs, time.monotonic() + seconds)
    broken = failure.verdict

    def fails(candidate: tuple[tuple[Call, ...], _Wanted], best: tuple[Call, ...]) -> tuple[Call, ...] | None:
        nonlocal broken
        calls, wanted = candidate
        try:
            made, found = run(client, Recorder(options, lambda verdict, count: None, disabled=disabled), calls)
        except DriverGone:
            budget.over = True
            return None
        if found is None or not wanted.fits(found.verdict, broken) or well_formed(made) != made:
            return None
        if _cost(made) >= _cost(best) and well_formed(best) == best:
            return None
        broken = found.verdict
        return made

    return least(tuple(calls), candidates, fails, budget)


class _Wanted(Enum):
    """The failures that keep a candidate: of the same requirement, of any, or of any in an answer that is as wrong."""

    SAME = "same"
    ANY = "any"
    ALIKE = "alike"

    def fits(self, found: Verdict, before: Verdict) -> bool:
        """Tell whether a candidate's failure keeps it."""
        return (
            found.requirement == before.requirement
            or self is _Wanted.ANY
            or (self is _Wanted.ALIKE and _alike(found, before))
        )


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
    for some in cuts(calls):  # the end of a history matters most
        yield some, _Wanted.SAME
    yield renamed(calls), _Wanted.SAME
    yield tuple(map(plainest, calls)), _Wanted.SAME
    for at, call in enumerate(calls):
        for other, decides in plainer(call):
            yield (*calls[:at], other, *calls[at + 1 :]), _Wanted.ANY if decides else _Wanted.SAME


MAX_EACH = 3  # findings of one requirement: three show enough of the ways in which it is broken
MAX_FINDINGS = 16  # findings of one walk: enough to begin repairs with
ALL_RUNS = 1_600  # histories run to shrink all findings; further findings are reported unshrunk
ALL_SECONDS = 180.0  # the bound in time, for a slow implementation
TOO_SLOW = "shortening the stories took too long with this implementation: some are longer than necessary"


@dataclass(slots=True)
class Finding:
    """A failure as the walk met it: its place (see `where`) and its calls, the failing one last.

    behind: earlier calls that failed only by a wrong code were left out.
    """

    failure: ConformanceFailure
    place: str
    calls: tuple[Call, ...]
    behind: bool = False


@dataclass(slots=True)
class Findings:
    """Findings of a walk so far. seen: how often each was met, by requirement and place."""

    found: dict[tuple[str, str], Finding] = field(default_factory=dict)
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    each: Counter[str] = field(default_factory=Counter)

    def add(self, failure: ConformanceFailure, history: History, call: Call) -> bool:
        """Add a failure of `call`; return False for a known failure, and beyond MAX_EACH or MAX_FINDINGS."""
        requirement, place = failure.verdict.requirement, where(history.state, call)
        key = (requirement, place)
        self.seen[key] += 1
        if key in self.found or self.each[requirement] >= MAX_EACH or self.full:
            return False
        self.each[requirement] += 1
        calls = stored_calls(failure.repro["calls"])
        failure.__traceback__ = failure.__context__ = None  # these keep alive all answers of the example
        self.found[key] = Finding(failure, place, calls, behind=history.left_out > 0)
        return True

    @property
    def full(self) -> bool:
        """True once there is no room for more findings."""
        return len(self.found) >= MAX_FINDINGS

    def told(
        self, client: Port, judge: Recorder, options: RunOptions, *, seconds: float = ALL_SECONDS
    ) -> list[ConformanceFailure]:
        """Return each finding with the shortest story found; one that does not recur every time is flaky, with counts.

        seconds: the most to spend on shorter stories.

        Findings with the same shrunk story are returned once. A finding that never recurs without the calls left out
        before it is dropped: those calls caused it, and they have findings of their own.
        """
        until = time.monotonic() + seconds
        every = Budget(ALL_RUNS, until)
        told: dict[tuple[str, tuple[Call, ...]], ConformanceFailure] = {}
        for finding in self.found.values():
            calls = finding.calls
            if every.runs > 0:
                with every.part(MAX_RUNS, MAX_SECONDS) as budget:
                    calls = shortened(client, options, finding.failure, calls, disabled=judge.disabled, budget=budget)
            failure, came = confirmed(client, judge, options, finding.failure, calls)
            if finding.behind and came == 0:
                continue
            failure.unshrunk = None if failure is finding.failure else finding.failure
            if failure.verdict.requirement != finding.failure.verdict.requirement:
                failure.replaces = finding.failure.verdict.requirement
            told.setdefault((failure.verdict.requirement, _plain(calls)), failure)
        if every.late:
            judge.remarks.append(TOO_SLOW)
        return list(told.values())


def confirmed(
    client: Port, judge: Recorder, options: RunOptions, seen: ConformanceFailure, calls: Sequence[Call]
) -> tuple[ConformanceFailure, int | None]:
    """Run the calls FLAKY_TRIES times, each from a fresh start; return the failure and how often it recurred.

    The outcome is `flaky` if it does not recur every time. The failure is `seen` if it never recurs. The count is None
    if the driver failed meanwhile.
    """
    came: list[ConformanceFailure] = []
    tried: list[Verdict | None] = []
    try:
        for attempt in range(REPEATS):
            asked = judge if attempt == 0 else Recorder(options, lambda verdict, count: None, disabled=judge.disabled)
            _, failure = run(client, asked, calls)
            tried.append(None if failure is None else failure.verdict)
            if failure is not None:
                came.append(failure)
    except DriverGone:
        return came[0] if came else seen, None
    story = came[0] if came else seen
    if len(came) < REPEATS:
        story = ConformanceFailure(flaky(story.verdict, tried, client.hello.clock), story.story, story.repro)
    story.repeat = False
    return story, len(came)


def stored_calls(raws: Iterable[Mapping[str, Any]]) -> tuple[Call, ...]:
    """Return the calls of a repro file; a read that was left to its time-out is followed by the time that passes."""
    calls: list[Call] = []
    for raw in raws:
        call = stored_call({name: value for name, value in raw.items() if name not in ("expires", "shows")})
        calls.append(call)
        if raw.get("expires"):
            calls.append(Call("clock.advance", by_ms=call.timeout_ms))
    return tuple(calls)


def raised(failures: Sequence[ConformanceFailure]) -> None:
    """Raise the only failure, or several as one ConformanceFailures; do nothing for none."""
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise ConformanceFailures(f"{len(failures)} deviations", list(failures))


def _plain(calls: Sequence[Call]) -> tuple[Call, ...]:
    """Return the calls without priority and delivery, which rarely matter, to compare two stories."""
    return tuple(replace(call, priority=None, delivery=None) for call in calls)
