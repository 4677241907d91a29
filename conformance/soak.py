"""`mqconform soak` as a function: run random walks until the time is over, and record each finding at once."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.command_options import BadInput, RunResult, check_chosen, check_words, prepare_folder
from conformance.runlog import Header, RunWriter, read_run
from conformance.spec.catalogue import assignment, did_you_mean
from conformance.spec.versions import DEFAULT_PROFILE
from conformance.verdict import ExitCode, exit_code

if TYPE_CHECKING:
    from conformance.harness.known_deviations import KnownDeviations
    from conformance.harness.recorder import ConformanceFailure
    from conformance.harness.run_session import RunSession, TestState
    from conformance.histories.soak import Soak, Soaked
    from conformance.histories.walk import Plan

FLUSH_S = 120.0  # interval at which counted passes are written; findings are written at once
NOTE_S = 600.0  # interval of progress lines in the record


def soak(
    *,
    adapter: str = "embedded",
    plans: Sequence[str] = (),
    profile: str | None = None,
    level: str = "must",
    readings: str = "windows",
    chosen: Sequence[str] = (),
    seed: int = 0,
    out: Path | None = None,
    steps: int = 60,
    budget_s: float | None = None,
    histories: int | None = None,
    in_process: bool = False,
    deadline_ms: int = 10_000,
    quirks: bool = True,
    on_progress: Callable[[Soaked], None] = lambda soaked: None,
) -> RunResult:
    """Walk through random histories of `steps` calls until the budget is spent (None: until interrupted).

    plans: names of the plans to walk (none: all in turn). histories: stop after so many. quirks: tell what a known
    fault explains as a consequence (`docs/quirks.md`). Raises BadInput for an unknown name, and for an output folder
    that cannot be written.
    """
    from conformance.adapter.errors import ConnectorError, DriverUnusable
    from conformance.explaining.continuation import reference_of
    from conformance.harness.connecting import check_connector, open_client
    from conformance.harness.known_deviations import LazyDeviations
    from conformance.harness.recorder import RunOptions
    from conformance.harness.run_session import RunSession

    check_words(profile=profile, level=level, readings=readings)
    decided = check_chosen(chosen)
    wanted = _named_plans(plans)
    try:
        check_connector(adapter, in_process=in_process)
    except ConnectorError as error:
        raise BadInput(error.sentence) from None
    except DriverUnusable as error:
        return RunResult(ExitCode.UNUSABLE, Path(out) if out else Path(), None, error.sentence)
    folder = prepare_folder(out, kind="soak")
    options = RunOptions(
        profile=profile or DEFAULT_PROFILE,
        level=level,
        readings=assignment(readings, decided),
        reading_set=readings,
        seed=seed,
        stateful_steps=steps,
        budget_s=budget_s,
        chosen=decided,
    )
    session = RunSession(
        options=options,
        connector=adapter,
        out=folder,
        writer=RunWriter(folder),
        open_client=lambda state_dir: open_client(
            adapter,
            state_dir=state_dir,
            in_process=in_process,
            deadline_ms=deadline_ms,
            log=folder / "driver-main.stderr.log",
            profile=options.profile,
        ),
    )
    session.past = LazyDeviations(lambda: _quirks(session)) if quirks else None
    reference = reference_of(session)
    session.reference = reference.check
    session.writer.header(_header(session))
    try:
        sentence = _soak(session, wanted, histories, on_progress)
        _end(session)
    finally:
        reference.close()
        session.close()
        session.writer.close()
    return _result(folder, session, readings, sentence)


def _named_plans(names: Sequence[str]) -> Mapping[str, Plan]:
    """Return the plans of these names, all without a name. Raises BadInput for an unknown one."""
    known = known_plans()
    for name in names:
        if name not in known:
            raise BadInput(f"There is no plan {name!r}{did_you_mean(name, known) or '.'} Plans: {', '.join(known)}.")
    return {name: known[name] for name in names} if names else known


def _soak(
    session: RunSession, plans: Mapping[str, Plan], histories: int | None, on_progress: Callable[[Soaked], None]
) -> str | None:
    """Walk through the plans that the driver offers. Return the problem that ended it, None without one."""
    from conformance.adapter.errors import AdapterError
    from conformance.histories.soak import Soak
    from conformance.histories.walk import offered

    try:
        client = session.client()
        session.note_epoch()
        wanted = {name: plan for name, plan in plans.items() if offered(client, plan)}
        states = {name: _begun(session, name, plan) for name, plan in wanted.items()}
        walker = Soak(
            client,
            session.options,
            wanted,
            judge_of=lambda name: states[name].judge,
            on_finding=lambda failure, name: _found(session, states[name], failure),
            past=session.past,
            on_consequence=lambda failure, name, why: session.consequence(states[name], failure, why),
        )
        _walk(session, walker, states, session.options.budget_s, histories, on_progress)
    except AdapterError as error:
        if session.unusable is None:
            session.stop_reason = "driver-unusable"
            session.writer.driver("unusable", error.sentence)
        return error.sentence
    except KeyboardInterrupt:
        session.stop_reason = "interrupted"
    return None


def _end(session: RunSession) -> None:
    """Write what is known when the walks are over."""
    from conformance.harness.failure_verdicts import CONCLUSION, conclusion

    session.note_transitions()
    session.note_quirks()
    session.confirm() if session.stop_reason == "completed" else session.close()
    # A deviating answer is no evidence of the reading that an implementation follows.
    for verdict in conclusion(read_run(session.out), session.options) if not session.failures else ():
        session.writer.verdict(verdict, suite=CONCLUSION, test=CONCLUSION)
    session.write_tally()
    session.writer.footer(
        session.stop_reason,
        stateful_steps=session.steps,
        steps_per_second=round(session.steps / session.judging_s, 1) if session.judging_s else None,
        examples=session.examples,
    )


def known_plans() -> Mapping[str, Plan]:
    """Return the plans that can be walked, by name."""
    from conformance.histories import plans
    from conformance.histories.soak import plans_of

    return plans_of(plans)


def _walk(
    session: RunSession,
    walker: Soak,
    states: Mapping[str, TestState],
    budget_s: float | None,
    histories: int | None,
    on_progress: Callable[[Soaked], None],
) -> None:
    began = noted = time.monotonic()
    until = float("inf") if budget_s is None else began + budget_s

    def progress(soaked: Soaked) -> None:
        nonlocal noted
        on_progress(soaked)
        now = time.monotonic()
        if now - noted > NOTE_S:
            noted = now
            session.writer.progress(
                f"{soaked.steps:,} steps in {soaked.histories:,} histories; findings: {soaked.findings}"
            )

    try:
        walker.run(until=until, histories=histories, on_progress=progress)
    except KeyboardInterrupt:
        usual = budget_s is None and histories is None and walker.soaked.histories
        session.stop_reason = "completed" if usual else "interrupted"
    seconds = time.monotonic() - began
    for state in states.values():
        session.end(state, 0.0)
    session.steps, session.examples, session.judging_s = walker.soaked.steps, walker.soaked.histories, seconds
    session.writer.note(
        f"{walker.soaked.suspects} histories failed; they are {walker.soaked.findings} different findings."
        if walker.soaked.suspects
        else "No history failed."
    )


def _begun(session: RunSession, name: str, plan: Plan) -> TestState:
    # The `rejudge` of this suite runs such calls again.
    suite = "transactions" if "begin" in plan.actions else "cursors"
    state = session.begin(f"soak::{name}", suite, ())
    state.judge.flush_s = FLUSH_S
    state.judge.on_first_failure = None  # `_found` reports a finding once it is confirmed.
    return state


def _found(session: RunSession, state: TestState, failure: ConformanceFailure) -> None:
    from conformance.harness.failure_verdicts import REPEAT_S, checked, repeated

    standing = checked(session, state, failure)
    if standing is not None:
        session.failed(state, standing, repeated(session, state, standing, time.monotonic() + REPEAT_S))
    session.note_epoch()


def _quirks(session: RunSession) -> KnownDeviations:
    from conformance.explaining.quirks import quirks_of

    return quirks_of(session)


def _header(session: RunSession) -> Header:
    from conformance.harness.repro_files import without_secrets

    options = session.options
    return Header(
        run_id=uuid.uuid4().hex,
        command=("soak",),
        connector=without_secrets(session.connector),
        seed=options.seed,
        profile=options.profile,
        level=options.level,
        reading_set=options.reading_set,
        readings=options.readings,
        suites=(),
    )


def _result(folder: Path, session: RunSession, readings: str, sentence: str | None) -> RunResult:
    record = read_run(folder)
    code = exit_code((said.outcome for said in record.said), strict=readings == "strict")
    if session.stop_reason == "interrupted":
        code, sentence = ExitCode.INTERRUPTED, "The soak was interrupted; what was found is kept."
    elif sentence is not None and code in (ExitCode.NOTHING_JUDGED, ExitCode.CONFORMS):
        code = ExitCode.UNUSABLE
    elif code is ExitCode.NOTHING_JUDGED:
        sentence = "Nothing was judged: the driver offers too little for any plan, or there was no time."
    return RunResult(code, folder, record, sentence)
