"""Turn the exception that ended a test into verdicts, and tell whose fault it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.harness.guarded_client import DriverGone
from conformance.harness.recorder import ConformanceFailure, ConformanceFailures
from conformance.harness.suite_registry import OWN
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.harness.run_session import RunSession, TestState

FLAKY_TRIES = 5
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
        for failure, reason in _filed(session, failures):
            if reason is None:
                session.failed(state, failure)
            else:
                session.consequence(state, failure, reason)
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
    else:
        text = f"{type(error).__name__}: {error}"
        session.writer.note(f"The harness failed in {state.node}: {text}")
        for name in state.claimed[:1]:
            session.write(state, Verdict(name, Outcome.ERROR, state.node, reason=_line(text)))
        _unjudged(session, state, Outcome.INCONCLUSIVE, "the harness failed before this was judged")


def _filed(
    session: RunSession, failures: Sequence[ConformanceFailure]
) -> Sequence[tuple[ConformanceFailure, str | None]]:
    """Return each failure with the reason why it is a consequence of a known deviation, None if it is a finding."""
    if session.past is None:
        return [(failure, None) for failure in failures]
    return session.past.filed(failures)


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
    from conformance.adapter.errors import AdapterError
    from conformance.harness.rejudge import NotRepeatable, rejudge

    failed = 0
    for _ in range(FLAKY_TRIES):
        try:
            verdicts = rejudge(state.suite, failure.repro, session.client(), session.options)
        except (AdapterError, NotRepeatable):
            continue
        failed += any(verdict.outcome is Outcome.FAIL for verdict in verdicts)
    if failed == FLAKY_TRIES:
        session.failed(state, failure)
        return
    session.failed(state, failure, flaky(replace(failure.verdict, evidence=None), failed))


def flaky(verdict: Verdict, came: int) -> Verdict:
    """Return the FLAKY verdict of a failure that came again `came` times out of FLAKY_TRIES."""
    reason = f"flaky({came}/{FLAKY_TRIES}): the same calls do not always get the same answer"
    return replace(verdict, outcome=Outcome.FLAKY, reason=reason)


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
