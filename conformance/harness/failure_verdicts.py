"""Verdicts on the exception that ended a test, whose fault it was, and on a run as a whole."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.harness.guarded_client import DriverGone, refusals
from conformance.harness.recorder import ConformanceFailure, ConformanceFailures, HarnessDefect, RunOptions
from conformance.harness.suite_registry import OWN
from conformance.harness.tape import KINDS
from conformance.model.linearizability.judge import IN_TIME
from conformance.runlog import Run
from conformance.spec.followed_readings import FollowedReadings
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.run_session import Check, RunSession, TestState

REPEATS = 5
REPEAT_S = 20.0  # seconds that one test may spend on stories run again; a further try does not begin
UNCHECKED = "not checked against a reference"
_ONCE = "it failed once and then did not, and could not be tried again"
_UNREPEATABLE = "the implementation answers the same calls differently each time, so the walk could not be repeated"


def settle(session: RunSession, state: TestState, error: BaseException) -> None:
    """Record the verdicts that follow from `error`, which ended the test, for the requirements the test claims."""
    from hypothesis.errors import Flaky

    from conformance.adapter.errors import DriverFault, DriverUnusable

    failures = list(_leaves(error, ConformanceFailure))
    gone = next(_leaves(error, DriverGone), None)
    if isinstance(error, DriverFault):  # from a fixture
        gone = DriverGone(error, error.method or "set-up")
    if isinstance(error, Flaky):
        # Hypothesis raises Flaky, in place of the original error, when an example ended elsewhere than the last time.
        gone = gone or _behind(error)
        failures = failures or state.judge.first_failures
    if gone is not None:
        _driver_gone(session, state, gone)
    elif failures and isinstance(error, (ConformanceFailure, ConformanceFailures)):
        tell(session, state, failures)
    elif state.suite == OWN and state.claimed and _refuted(error):
        _own_fails(session, state, error)
    elif failures:
        _flaky(session, state, failures[0])
    elif isinstance(error, DriverUnusable):
        if session.unusable is None:
            session.give_up(error)
        _unjudged(session, state, Outcome.INCONCLUSIVE, error.sentence)
    elif type(error).__name__ == "FlakyStrategyDefinition":
        # A walk draws by the answers it gets: hypothesis noticed that the same calls got different answers.
        session.writer.note(f"{state.node}: {_UNREPEATABLE}.")
        _unjudged(session, state, Outcome.INCONCLUSIVE, _UNREPEATABLE, leave_out_first=False)
    elif isinstance(error, HarnessDefect):
        _defect(session, state, error)
    else:
        text = f"{type(error).__name__}: {error}"
        session.writer.note(f"The harness failed in {state.node}: {text}")
        for name in state.claimed[:1]:
            session.write(state, Verdict(name, Outcome.ERROR, state.node, reason=_line(text)))
        _unjudged(session, state, Outcome.INCONCLUSIVE, "the harness failed before this was judged")


def tell(session: RunSession, state: TestState, failures: Sequence[ConformanceFailure]) -> None:
    """Record failures, each as what it turns out to be."""
    standing = [one for failure in failures if (one := checked(session, state, failure)) is not None]
    until = time.monotonic() + REPEAT_S
    for failure, reason in _filed(session, standing):
        if reason is None:
            session.failed(state, failure, repeated(session, state, failure, until))
        else:
            session.consequence(state, failure, reason)


def checked(session: RunSession, state: TestState, failure: ConformanceFailure) -> ConformanceFailure | None:
    """Return the failure with a story that the reference passes; None for an error of the harness, once recorded."""
    ours = state.suite == OWN or failure.verdict.outcome not in (Outcome.FAIL, Outcome.FLAKY)
    if session.reference is None or ours:
        return failure
    check = session.reference(state.suite, failure.repro)
    if not check.fails:
        return _noted(failure, check)
    requirement = failure.replaces or failure.verdict.requirement
    met = (one for one in state.judge.first_failures if one.verdict.requirement == requirement)
    unshrunk = failure.unshrunk or next(met, failure)
    if unshrunk.repro == failure.repro or (check := session.reference(state.suite, unshrunk.repro)).fails:
        session.harness_failed(state, failure, unshrunk)
        return None
    unshrunk.repeat = True
    return _noted(unshrunk, check)


def _noted(failure: ConformanceFailure, check: Check) -> ConformanceFailure:
    """Return a failure that says why no reference has played its story, if that is so."""
    if check.unknown:
        failure.verdict = replace(failure.verdict, reason=_line(f"{UNCHECKED}: {check.unknown}".rstrip(".")))
    return failure


def repeated(session: RunSession, state: TestState, failure: ConformanceFailure, until: float) -> Verdict | None:
    """Return a FLAKY verdict for a failure that does not come again each time; None for any other one."""
    if failure.verdict.outcome is not Outcome.FAIL or state.suite == OWN:
        return None
    if not (_timed(session, failure) if failure.repeat is None else failure.repeat):
        return None
    seen = _again(session, state, failure, until)
    return None if all(seen) else flaky(replace(failure.verdict, evidence=None), seen, session.client().hello.clock)


def _timed(session: RunSession, failure: ConformanceFailure) -> bool:
    """Tell whether a failure depends on a time, or on the order of answers: of a real clock, or of waiting reads."""
    if session.client().hello.clock != "virtual":
        return True
    waits = any(raw.get("timeout_ms") for raw in failure.repro.get("calls", ()))
    started = failure.example is not None and any(op.what == "start" for op in failure.example.ops)
    return failure.repro.get("kind") in KINDS and (waits or started)


def _again(session: RunSession, state: TestState, failure: ConformanceFailure, until: float) -> list[Verdict | None]:
    """Run a story FLAKY_TRIES times; return the failure of each time it was judged, None where it passed."""
    from conformance.adapter.errors import AdapterError
    from conformance.harness.repro_files import EndedEarly, NotRepeatable, rejudge

    seen: list[Verdict | None] = []
    nothing_judged: tuple[type[BaseException], ...] = (AdapterError, NotRepeatable, *refusals())
    for _ in range(REPEATS):
        if time.monotonic() > until:
            break
        try:
            verdicts: Sequence[Verdict] = rejudge(state.suite, failure.repro, session.client(), session.options)
        except EndedEarly as end:
            verdicts = end.verdicts
        except nothing_judged:
            continue
        seen.append(next((verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL), None))
    return seen


def _filed(
    session: RunSession, failures: Sequence[ConformanceFailure]
) -> Sequence[tuple[ConformanceFailure, str | None]]:
    """Return each failure with the reason why it is a consequence of a known deviation, None if it is a finding."""
    if session.past is None:
        return [(failure, None) for failure in failures]
    return session.past.filed(failures)


def _defect(session: RunSession, state: TestState, error: HarnessDefect) -> None:
    """Record a defect of the harness once in a run: examples that meet it again are left unjudged."""
    text = _line(str(error))
    outcome = Outcome.INCONCLUSIVE if text in session.defects else Outcome.ERROR
    session.write(state, Verdict(error.requirement, outcome, state.node, reason=text))
    if text not in session.defects:
        session.defects.add(text)
        session.writer.note(f"The harness failed in {state.node}: {text}")


def own_holds(state: TestState) -> None:
    """Record PASS for every requirement that an implementer's own test claims and has not judged by its end."""
    for name in sorted(state.judge.unjudged()):
        state.judge.record(Verdict(name, Outcome.PASS, _name(state)), phase="the test as a whole")


def _own_fails(session: RunSession, state: TestState, error: BaseException) -> None:
    """Record FAIL for the first unjudged requirement of an implementer's own test with a failed assertion."""
    name = next((each for each in state.claimed if each not in state.judge.judged), state.claimed[0])
    try:
        state.judge.record(Verdict(name, Outcome.FAIL, _name(state), "the test passes", _line(str(error))))
    except ConformanceFailure as failure:
        session.failed(state, failure)
    _unjudged(session, state, Outcome.INCONCLUSIVE, "the test ended before this was judged")


def _refuted(error: BaseException) -> bool:
    import pytest

    return isinstance(error, (AssertionError, pytest.fail.Exception))


def _name(state: TestState) -> str:
    return state.node.rpartition("::")[2]


def _driver_gone(session: RunSession, state: TestState, gone: DriverGone) -> None:
    from conformance.adapter.errors import DriverTimeout

    fault = gone.fault
    outcome = Outcome.TIMEOUT if isinstance(fault, DriverTimeout) else Outcome.CRASH
    session.writer.driver(
        outcome.value,
        fault.sentence,
        returncode=fault.returncode,
        stderr=fault.stderr,
    )
    for name in state.claimed[:1]:
        verdict = Verdict(name, outcome, gone.method, actual=fault.sentence, reason=_line(fault.sentence))
        session.failed(state, ConformanceFailure(verdict, state.judge.story, state.judge.repro()))
    _unjudged(session, state, Outcome.INCONCLUSIVE, "the driver failed before this was judged")


def _flaky(session: RunSession, state: TestState, failure: ConformanceFailure) -> None:
    """Run an example again that failed once and then passed, and record how often it fails."""
    standing = checked(session, state, failure)
    if standing is not None:
        seen = _again(session, state, standing, time.monotonic() + REPEAT_S)
        once = replace(standing.verdict, evidence=None)
        if not seen:
            session.failed(state, standing, replace(once, outcome=Outcome.FLAKY, reason=f"flaky: {_ONCE}"))
        else:
            session.failed(state, standing, None if all(seen) else flaky(once, seen, session.client().hello.clock))


def flaky(verdict: Verdict, seen: Sequence[Verdict | None], clock: str) -> Verdict:
    """Return the FLAKY verdict of a failure that was run again. seen: the failure each time, None where it passed.

    clock: of the driver. On a real one it is INCONCLUSIVE where all that was wrong is a wait: of a blocking API,
    `pending` may have come from a timer.
    """
    answers = Counter("as expected" if one is None else f"{one.actual!r} ({one.requirement})" for one in seen)
    varied = "; ".join(f"{count} times {answer[:100]}" for answer, count in answers.most_common())
    came = f"flaky({sum(one is not None for one in seen)}/{len(seen)})"
    if clock != "virtual" and isinstance(verdict.expected, Mapping) and IN_TIME in verdict.expected.values():
        reason = f"{came}: `pending` came for a read whose message was there, and does not come each time: {varied}"
        return replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=_line(reason))
    reason = f"{came}: the same calls do not always get the same answer: {varied}"
    return replace(verdict, outcome=Outcome.FLAKY, reason=_line(reason))


def _unjudged(
    session: RunSession, state: TestState, outcome: Outcome, reason: str, *, leave_out_first: bool = True
) -> None:
    named_already = set(state.claimed[:1]) if leave_out_first and state.suite != OWN else set()
    for name in sorted(state.judge.unjudged() - named_already):
        session.write(state, Verdict(name, outcome, state.node, reason=_line(reason)))


def _leaves(error: BaseException, kind: type[Any]) -> Iterator[Any]:
    """Yield every exception of this kind in `error` and its groups; causes are not searched."""
    if isinstance(error, kind):
        yield error
    elif isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner, kind)


def _behind(error: BaseException | None) -> DriverGone | None:
    """Return the DriverGone that was being handled when `error` was raised, or None."""
    while error is not None and not isinstance(error, DriverGone):
        error = error.__context__
    return error


def _line(text: str) -> str:
    """Return one line of at most 500 characters: a driver's text may be long and have any characters."""
    return " ".join(text.split())[:500] or "no further detail"


CONCLUSION = "one assignment of readings"
"""The suite and the test under which these verdicts are recorded."""


def conclusion(run: Run, options: RunOptions, disabled: Collection[str] = ()) -> list[Verdict]:
    """Judge all verdicts of a run together: readings followed in two ways, or in another way than the default.

    disabled: requirements whose check is switched off. If there are any, the result is empty: answers that are known to
    deviate would be taken for readings.
    """
    if disabled:
        return []
    whole = FollowedReadings()
    for said in run.said:
        if not said.provisional:
            first = run.first(said)
            whole.add(first.verdict, first.test)
    return whole.conclude(options.readings, level=options.level)
