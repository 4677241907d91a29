"""Distinct failures of a walk: tell them apart, shrink them, and run them again to see whether they recur.

Two failures are the same when the same requirement is broken by the same operation in the same kind of state.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from conformance.harness.failure_verdicts import FLAKY_TRIES, flaky
from conformance.harness.guarded_client import DriverGone
from conformance.harness.recorder import ConformanceFailure, ConformanceFailures, Recorder
from conformance.histories.history import History
from conformance.histories.operations.table import stored_call
from conformance.histories.shrink import MAX_RUNS, MAX_SECONDS, Spent, run, shortened
from conformance.histories.steering import where
from conformance.model import Call
from conformance.verdict import Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

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
        spent = Spent()
        told: dict[tuple[str, tuple[Call, ...]], ConformanceFailure] = {}
        for finding in self.found.values():
            calls = finding.calls
            left = min(MAX_SECONDS, until - time.monotonic())
            runs = min(MAX_RUNS, ALL_RUNS - spent.runs)
            if runs > 0:
                calls = shortened(
                    client,
                    options,
                    finding.failure,
                    calls,
                    disabled=judge.disabled,
                    runs=runs,
                    seconds=left,
                    spent=spent,
                )
            failure, came = confirmed(client, judge, options, finding.failure, calls)
            if finding.behind and came == 0:
                continue
            failure.unshrunk = None if failure is finding.failure else finding.failure
            if failure.verdict.requirement != finding.failure.verdict.requirement:
                failure.replaces = finding.failure.verdict.requirement
            told.setdefault((failure.verdict.requirement, _plain(calls)), failure)
        if spent.late:
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
        for attempt in range(FLAKY_TRIES):
            asked = judge if attempt == 0 else Recorder(options, lambda verdict, count: None, disabled=judge.disabled)
            _, failure = run(client, asked, calls)
            tried.append(None if failure is None else failure.verdict)
            if failure is not None:
                came.append(failure)
    except DriverGone:
        return came[0] if came else seen, None
    story = came[0] if came else seen
    if len(came) < FLAKY_TRIES:
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
