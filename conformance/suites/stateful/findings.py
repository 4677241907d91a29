"""The distinct failures of a walk: told apart, made short, and run again to see whether they always come.

Two failures are one when the same requirement is broken by the same operation in the same kind of state.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from conformance.model import Call
from conformance.suites.guard import DriverGone
from conformance.suites.judging import ConformanceFailure, ConformanceFailures, Judge
from conformance.suites.stateful.history import History
from conformance.suites.stateful.shorten import MAX_SECONDS, run, shortened
from conformance.suites.stateful.steering import where
from conformance.verdict import Outcome

if TYPE_CHECKING:
    from conformance.adapter.client import Client
    from conformance.suites.judging import RunOptions

FLAKY_TRIES = 5
NEVER = "flaky(0/"
MAX_EACH = 3  # findings of one requirement: what breaks it in more ways is told by three
MAX_FINDINGS = 16  # of one walk: an implementation that breaks more has enough to mend
ALL_SECONDS = 40.0  # for shortening all of them; what is left then is told as it was seen


@dataclass(slots=True)
class Finding:
    """A failure as it was seen: where, and the calls that led to it, the failing one last.

    behind: calls were left out before it, of which only the code was wrong.
    """

    failure: ConformanceFailure
    place: str
    calls: tuple[Call, ...]
    behind: bool = False


@dataclass(slots=True)
class Findings:
    """What a walk has found so far. seen: how often each was met, by requirement and place."""

    found: dict[tuple[str, str], Finding] = field(default_factory=dict)
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)
    each: Counter[str] = field(default_factory=Counter)

    def add(self, failure: ConformanceFailure, history: History, call: Call) -> bool:
        """Note a failure of `call`; False for one that was found before, and for more than anybody reads."""
        requirement, place = failure.verdict.requirement, where(history.state, call)
        key = (requirement, place)
        self.seen[key] += 1
        if key in self.found or self.each[requirement] >= MAX_EACH or self.full:
            return False
        self.each[requirement] += 1
        calls = tuple(Call.from_json(raw) for raw in failure.repro["calls"])
        self.found[key] = Finding(failure, place, calls, behind=history.left_out > 0)
        return True

    @property
    def full(self) -> bool:
        """Whether there is no room for more."""
        return len(self.found) >= MAX_FINDINGS

    def told(self, client: Client, judge: Judge, options: RunOptions) -> list[ConformanceFailure]:
        """Each finding with the shortest story found; one that does not come every time is flaky, and says how often.

        Stories that turn out to be the same once they are short are told once. What never comes again without the calls
        that were left out before it is their doing, and they are told already.
        """
        until = time.monotonic() + ALL_SECONDS
        told: dict[tuple[str, tuple[Call, ...]], ConformanceFailure] = {}
        for finding in self.found.values():
            calls = finding.calls
            left = until - time.monotonic()
            if left > 0:
                seconds = min(left, MAX_SECONDS)
                calls = shortened(client, options, finding.failure, calls, disabled=judge.disabled, seconds=seconds)
            failure = confirmed(client, judge, options, finding.failure, calls)
            if finding.behind and (failure.verdict.reason or "").startswith(NEVER):
                continue
            told.setdefault((failure.verdict.requirement, _plain(calls)), failure)
        return list(told.values())


def confirmed(
    client: Client, judge: Judge, options: RunOptions, seen: ConformanceFailure, calls: Sequence[Call]
) -> ConformanceFailure:
    """The failure as the calls give it again; with outcome `flaky` when they give it less often than every time.

    The calls are made FLAKY_TRIES times, each from a fresh start. `seen` is told where they never give it.
    """
    came: list[ConformanceFailure] = []
    try:
        for attempt in range(FLAKY_TRIES):
            asked = judge if attempt == 0 else Judge(options, lambda verdict, count: None, disabled=judge.disabled)
            _, failure = run(client, asked, calls)
            if failure is not None:
                came.append(failure)
    except DriverGone:
        return came[0] if came else seen
    story = came[0] if came else seen
    if len(came) == FLAKY_TRIES:
        return story
    reason = f"flaky({len(came)}/{FLAKY_TRIES}): the same calls do not always get the same answer"
    verdict = replace(story.verdict, outcome=Outcome.FLAKY, reason=reason)
    return ConformanceFailure(verdict, story.story, story.repro)


def raised(failures: Sequence[ConformanceFailure]) -> None:
    """Raise the failure, or all of them together; nothing for none."""
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise ConformanceFailures(f"{len(failures)} deviations", list(failures))


def _plain(calls: Sequence[Call]) -> tuple[Call, ...]:
    """The calls with what hardly ever matters left out, to see that two stories are the same."""
    return tuple(replace(call, priority=None, delivery=None) for call in calls)
