"""Walks over a network with faults as tests, planned and of chance, cut down to what shows a deviation."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import Phase, given, seed
from hypothesis import strategies as st

from conformance.harness.guarded_client import NOT_OFFERED
from conformance.harness.hypothesis_settings import draw_from_the_seed_alone, from_options
from conformance.harness.recorder import ConformanceFailure, Recorder
from conformance.judge.dialogues.walk_judge import CONNECTS
from conformance.judge.dialogues.walk_plans import Act, Plan, Stand, after, choices, claims, plans
from conformance.spec.catalogue import requirement
from conformance.suites.sessions.dialogue import NotPlayed
from conformance.suites.sessions.playing import METHODS
from conformance.suites.sessions.walking import MOST_RETRY_MS, Walker, WholeOnly
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import RunOptions

KIND: Final = "walk"
"""The kind of a walk's repro file."""
SHARE: Final = 0.2
"""A walk's part of the examples that a run asks for: one takes as long as many histories of calls."""
_ROLLS: Final = 1 << 20
_MOST_ACTS: Final = 16
_RUNS, _SECONDS = 40, 15.0
"""The most to spend on cutting a walk down: done for the first deviation from each requirement in a run."""


class Enough(BaseException):
    """The walks of chance are over. Not an Exception: hypothesis lets it through."""


def planned(some: Iterable[Plan]) -> list[Any]:
    """Return pytest parameters, marked with what each walk judges."""
    return [pytest.param(plan, id=plan.name, marks=pytest.mark.requirement(*claims(plan.acts))) for plan in some]


def play(
    mq: Port, judge: Recorder, acts: Sequence[Act], *, accepts: bool, name: str | None = None
) -> None:  # fmt: skip
    """Play a walk as an example of a test. name: of a planned one. Raises NotPlayed, and ConformanceFailure."""
    now_s = int(time.time())
    data: dict[str, Any] = {"acts": [act.to_json() for act in acts], "accepts": accepts, "now_s": now_s}
    judge.begin_example(KIND, data if name is None else {**data, "case": name})

    def tell(text: str, call: Mapping[str, Any] | None) -> None:
        judge.step(text, {"method": KIND, "params": dict(call or {})})

    judge.record(*Walker(mq, acts, accepts=accepts, now_s=now_s, tell=tell).play(judge.readings, judge.profile))


def check(plan: Plan, mq: Port, judge: Recorder) -> None:
    """Play a planned walk. Skips the test, with the reason, where it cannot be played."""
    _require(mq, judge, claims(plan.acts))
    try:
        play(mq, judge, plan.acts, accepts=plan.accepts, name=plan.name)
    except NotPlayed as lacking:
        _left_out(judge, _own(plan.acts, whole=isinstance(lacking, WholeOnly)), str(lacking))
    except ConformanceFailure as failure:
        raise shortened(mq, judge, failure, plan.acts, accepts=plan.accepts) from None


def wander(mq: Port, judge: Recorder, options: RunOptions, claimed: tuple[str, ...]) -> None:
    """Take walks of chance, this test's part of the examples that the run asks for."""
    _require(mq, judge, claimed)
    draw_from_the_seed_alone()
    about = mq.call("sessions.about").values
    accepts = about.get("timers_ms", {}).get("session-retry-connect", MOST_RETRY_MS + 1) <= MOST_RETRY_MS
    settings = from_options(options, share=SHARE, phases=(Phase.explicit, Phase.generate))
    found: list[ConformanceFailure] = []

    @seed(options.seed)
    @settings
    @given(st.lists(st.integers(0, _ROLLS - 1), min_size=2, max_size=_MOST_ACTS))
    def walks(rolls: list[int]) -> None:
        if time.monotonic() > judge.until:
            judge.cut = True
            raise Enough
        acts = drawn(rolls, accepts=accepts)
        try:
            play(mq, judge, acts, accepts=accepts)
        except ConformanceFailure as failure:
            found.append(shortened(mq, judge, failure, acts, accepts=accepts))
            raise Enough from None

    try:
        walks()
    except Enough:
        pass
    except NotPlayed as lacking:
        _left_out(judge, (), str(lacking))
    if found:
        raise found[0]


def drawn(rolls: Iterable[int], *, accepts: bool) -> tuple[Act, ...]:
    """Return the walk that these numbers choose, each one of the acts that make sense."""
    stand, acts = Stand(), []
    for roll in rolls:
        possible = choices(stand, accepts=accepts)
        acts.append(possible[roll % len(possible)])
        stand = after(stand, acts[-1])
    return tuple(acts)


def shortened(
    mq: Port, judge: Recorder, failure: ConformanceFailure, acts: Sequence[Act], *, accepts: bool
) -> ConformanceFailure:  # fmt: skip
    """Return the failure with the fewest acts found that break the same requirement; as it is if an earlier test of the
    run has told of one."""
    if not any(one.verdict.requirement == failure.verdict.requirement for one in judge.first_failures):
        return failure
    until, runs = time.monotonic() + _SECONDS, 0
    best, found = tuple(acts), failure

    def breaks(some: tuple[Act, ...]) -> ConformanceFailure | None:
        quiet = Recorder(judge.options, lambda verdict, count: None, disabled=judge.disabled, tape=judge.tape)
        try:
            play(mq, quiet, some, accepts=accepts)
        except ConformanceFailure as other:
            return other if other.verdict.requirement == failure.verdict.requirement else None
        except NotPlayed:
            return None
        return None

    size = max(1, len(best) // 2)
    while size >= 1:
        at = 0
        while at < len(best):
            if runs >= _RUNS or time.monotonic() > until:
                return found
            runs += 1
            some = best[:at] + best[at + size :]
            other = breaks(some)
            if other is None:
                at += size
            else:
                best, found = some, other
        size //= 2
    return found


def _require(mq: Port, judge: Recorder, claimed: Iterable[str]) -> None:
    missing = [method for method in METHODS if not mq.offers(method)]
    if missing:
        shown = (name for name in claimed if requirement(name).checked == "session")
        _left_out(judge, shown, f"{NOT_OFFERED}{', '.join(missing)}")


def _left_out(judge: Recorder, own: Iterable[str], why: str) -> None:
    judge.record(*(Verdict(name, Outcome.SKIP, KIND, reason=why) for name in own))
    judge.flush()
    judge.not_demanded(why)


def _own(acts: Iterable[Act], *, whole: bool) -> tuple[str, ...]:
    """Return what a walk judges and no other test does. whole: walks that send a part of a packet are not played."""
    others = (plan for plan in plans().values() if not plan.accepts and not (whole and plan.parts))
    elsewhere = {name for plan in others for name in claims(plan.acts)} | {CONNECTS}
    return tuple(name for name in claims(acts) if name not in elsewhere)
