"""Pytest hooks of a run: they record the verdicts of all tests, also in xdist workers, and print the summary."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.adapter.errors import AdapterError
from conformance.children import rarely_collecting
from conformance.harness.connecting import open_client
from conformance.harness.failure_verdicts import CONCLUSION, conclusion, own_holds, settle, tell
from conformance.harness.guarded_client import ENOUGH, LEFT_OUT, OUT_OF_TIME, leaving_out
from conformance.harness.hypothesis_settings import draw_from_the_seed_alone
from conformance.harness.recorder import RunOptions
from conformance.harness.repro_files import without_secrets
from conformance.harness.run_session import RunSession, TestState, skipped, verdicts_left_out
from conformance.harness.suite_registry import OWN, suite_of
from conformance.harness.test_selection import CUT, NOT_BEGUN, Chosen, Shares
from conformance.harness.worker_processes import STOP, end_between_examples
from conformance.run_options import RunRequest
from conformance.runlog import STOP_REASONS, Header, Run, RunRecordError, RunWriter, read_run
from conformance.runlog.counts import NO_JUDGEMENT
from conformance.runlog.events import REFUTING
from conformance.runlog.folder import new_run_folder
from conformance.runlog.run import LEFT_OUT_TESTS, left_out
from conformance.spec.catalogue import CatalogueError, current, demanded_ids, profile_of, requirement_id
from conformance.spec.constants.codes import named
from conformance.verdict import ExitCode, Json, Outcome

MAX_TOLD = 20
MAX_VALUE = 120


RECORD: Final = pytest.StashKey[Run]()
"""The record as the end of the session read it, for whoever started the session."""


def terminal_lines(run: Run) -> Iterator[str]:
    """Yield a line for the implementation, one for the counts, and one for each broken requirement."""
    hello = run.hello or {}
    name = f"{hello['name']} {hello.get('version', '')} ({run.header.connector})" if hello else run.header.connector
    yield f"{_plain(str(name))} as {run.header.profile}, level {run.header.level}, readings {run.header.reading_set}"
    wanted = demanded_ids(profile_of(run.header.profile))
    judged = {said.requirement for said in run.said if said.outcome not in NO_JUDGEMENT} & wanted
    counts = ", ".join(f"{count:,} {outcome.value}" for outcome, count in run.counts.items())
    yield f"{len(judged):,} of {len(wanted):,} requirements judged: {counts or 'no verdict'}"
    broken: dict[str, str] = {}
    for said in run.said:
        if said.outcome in REFUTING and said.requirement not in broken:
            recorded = run.first(said)
            verdict = recorded.verdict
            what = f"expected {_value(verdict.expected)}, got {_value(verdict.actual)}"
            broken[verdict.requirement] = (
                f"{verdict.outcome.value.upper()} {verdict.requirement}: {what} ({recorded.test})"
            )
    yield from map(_plain, list(broken.values())[:MAX_TOLD])
    if len(broken) > MAX_TOLD:
        yield f"and {len(broken) - MAX_TOLD} more requirements are broken"
    if run.footer is not None and run.footer.stop_reason != "completed":
        yield f"The run ended early: {run.footer.stop_reason}."
    left = left_out(run)
    if left is not None:
        yield _plain(left.sentence)


def _value(value: Json) -> str:
    text = named(value if isinstance(value, str) else json.dumps(value, default=str))
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


def _plain(text: str) -> str:
    """Return a driver's text with control characters escaped, so that the terminal does not obey them."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


class RunHooks:
    """Pytest plugin, registered while a run lasts."""

    def __init__(self, config: pytest.Config, request: RunRequest, options: RunOptions) -> None:
        self.config = config
        self.request = request
        option = config.option
        worker = getattr(config, "workerinput", None)
        self.worker: str = worker["workerid"] if worker else "main"
        self.distributed = worker is None and bool(getattr(option, "numprocesses", None))
        out = Path(worker["mq_out"]) if worker else Path(request.out) if request.out else new_run_folder()
        self.run_id: str = worker["mq_run_id"] if worker else uuid.uuid4().hex
        option.hypothesis_seed = str(request.seed)  # as text: hypothesis takes a bare 0 for "not given"
        try:
            writer = RunWriter(out, self.worker)
        except RunRecordError as error:
            raise pytest.UsageError(str(error)) from None
        self.session = RunSession(
            options=options,
            connector=request.adapter,
            out=out,
            writer=writer,
            open_client=self._open_client,
            disabled=frozenset(requirement_id(current(name)) for name in request.disable),
            label=request.label,
            taping=not request.disable,
            shares=None if options.budget_s is None else Shares(options.budget_s),
        )
        self.chosen = Chosen()
        self._reasons: set[str] = set()
        draw_from_the_seed_alone()
        if worker is not None:
            end_between_examples()
        self._phase: dict[str, Any] = {}
        self._finished = False
        writer.on_lost = self._lost
        writer.header(
            Header(
                run_id=self.run_id,
                command=tuple(without_secrets(str(argument)) for argument in config.invocation_params.args),
                connector=without_secrets(request.adapter),
                seed=options.seed,
                profile=options.profile,
                level=options.level,
                reading_set=options.reading_set,
                readings=options.readings,
                suites=(),
                label=request.label,
            )
        )

    def _open_client(self, state_dir: Path) -> Any:
        return open_client(
            self.request.adapter,
            state_dir=state_dir,
            in_process=self.request.in_process,
            deadline_ms=self.request.deadline_ms,
            namespace=self.worker if self.distributed or self.worker != "main" else None,
            log=self.session.out / f"driver-{self.worker}.stderr.log",
            profile=self.session.options.profile,
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell an xdist worker its record: every worker writes its own part of the same one."""
        node.workerinput["mq_out"] = str(self.session.out)
        node.workerinput["mq_run_id"] = self.run_id

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Note why an xdist worker ended. A worker that could not write its part of the record ends the run."""
        told = getattr(node, "workeroutput", {})
        STOP.lost = STOP.lost or told.get("mq_lost")
        self._reasons.add(told.get("mq_stopped", "error"))

    def _lost(self, error: RunRecordError) -> None:
        """End the run because the record cannot be written: later verdicts would be lost."""
        STOP.lost = STOP.lost or error.sentence
        if not self._finished:
            pytest.exit(error.sentence, returncode=int(ExitCode.BAD_INPUT))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, Any, Any]:
        """Before the first test, obey a request to end that came during start-up. What was imported stays."""
        STOP.look()
        with rarely_collecting():
            return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """Start the driver; one that cannot be used ends the run with one sentence before any test runs.

        An xdist worker leaves this to the process that drives it: xdist would start an ended worker again and again.
        """
        STOP.patient = False
        STOP.look()
        if self.worker != "main":
            return
        try:
            self.session.client()
        except AdapterError as error:
            self.session.stop_reason = "driver-unusable"
            if self.session.unusable is None:  # a connector that proved invalid only when it was tried
                self.session.writer.driver("unusable", error.sentence)
            pytest.exit(error.sentence, returncode=exit_for(error))
        self.session.note_epoch()
        declared, judged = self.session.client().hello.profile, self.session.options.profile
        if declared != judged:
            self.session.writer.note(f"The driver declares the profile {declared}; it is judged as {judged}.")
        if self.distributed:
            self.session.close()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Raise UsageError for a test that claims a requirement that the catalogue does not have."""
        found: set[str] = set()
        for item in items:
            for marker in item.iter_markers("requirement"):
                for name in set(map(str, marker.args)) - found:
                    try:
                        requirement_id(current(name))
                    except CatalogueError as error:
                        raise pytest.UsageError(f"{item.nodeid} claims an unknown requirement: {error}") from None
                    found.add(name)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Plan the shares of the time budget, and what is played ahead: all tests and their order are known."""
        if self.worker == "main":
            marked = ((item.nodeid, item.get_closest_marker("ahead")) for item in session.items)
            self.session.parts = {node: marker.args[0] for node, marker in marked if marker is not None}
        if self.session.shares is not None:
            self.session.shares.plan({item.nodeid: suite_of(Path(item.path)) for item in session.items})

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Make the test's recorder before its fixtures ask for it; start no test once the time is spent."""
        STOP.look()
        session = self.session
        claimed = tuple(
            dict.fromkeys(current(str(name)) for marker in item.iter_markers("requirement") for name in marker.args)
        )
        state = session.begin(item.nodeid, suite_of(Path(item.path)), claimed)
        self._phase = {"started": time.monotonic(), "error": None}
        state.begun = state.begun and not STOP.enough
        if not state.begun:
            raise leaving_out(ENOUGH if STOP.enough else OUT_OF_TIME)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        """Keep the first error of the test's phases; after the last phase, turn it into verdicts."""
        result = yield
        report = result.get_result()
        state = self.session.current
        if state is None:
            return
        if call.excinfo is not None and self._phase["error"] is None:
            self._phase["error"] = call.excinfo.value
        if call.when != "teardown":
            if call.excinfo is not None and not report.skipped:
                report.longrepr = _short(call.excinfo.value) or report.longrepr
            return
        error = self._phase["error"]
        if isinstance(error, pytest.skip.Exception) and error.msg in LEFT_OUT:
            self._out_of_time(state)
        elif isinstance(error, pytest.skip.Exception):
            if not state.judge.undemanded and not state.judge.lacking:
                for verdict in skipped(state.claimed, error.msg or "skipped"):
                    self.session.write(state, verdict)
        elif error is not None:
            settle(self.session, state, error)
        elif state.suite == OWN:
            own_holds(state)
        if state.judge.lacking and state.begun and not state.judge.undemanded:
            for verdict in verdicts_left_out(state):
                self.session.write(state, verdict)
        self.session.end(state, time.monotonic() - self._phase["started"])
        report.mqconform = {"requirements": sorted(state.judge.judged), "steps": state.judge.steps_taken}
        if state.judge.cut or not state.begun:
            self._end_early("max-failures" if STOP.enough else "budget")
            report.mqconform["ended"] = CUT if state.begun else NOT_BEGUN
        self.session.note_epoch()
        if self.session.unusable is not None:
            item.session.shouldstop = self.session.unusable.sentence
        elif STOP.enough:
            item.session.shouldstop = ENOUGH

    def _out_of_time(self, state: TestState) -> None:
        """Record the failures found so far by a test that the run's time did not suffice for."""
        state.judge.cut = True
        tell(self.session, state, state.judge.first_failures)

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note the stop reason: Ctrl-C, or one of pytest's own stops, which call this hook too.

        The interrupted code is not shown: pytest fails to describe a call that is left at an odd moment.
        """
        if type(excinfo.value) is not KeyboardInterrupt:  # pytest and xdist derive theirs from it
            if str(excinfo.value).startswith("stopping after"):
                self._end_early("max-failures")
            return
        self.session.stop_reason = "interrupted"
        excinfo.value.__cause__ = excinfo.value.__context__ = None
        excinfo.traceback = excinfo.traceback[:1]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Finish the run. A failure of the run as a whole, which no test reports, sets the exit status here."""
        if session.shouldfail:
            self._end_early("max-failures")
        if self._finish() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self.worker != "main":
            told = {"mq_lost": STOP.lost, "mq_stopped": self.session.stop_reason}
            self.config.workeroutput.update(told)  # type: ignore[attr-defined]

    def pytest_unconfigure(self) -> None:
        """Finish a session that never began: pytest calls no `pytest_sessionfinish` for it."""
        self._finish()

    def _end_early(self, reason: str) -> None:
        """Note why the run ends early; the first of several reasons stays."""
        if self.session.stop_reason == "completed":
            self.session.stop_reason = reason

    def _finish(self) -> bool:
        """Close the record with its footer and stop the driver, once. Return True when the run as a whole fails."""
        if self._finished:
            return False
        self._finished = STOP.patient = True  # an interrupt from now on finds the record closed
        session = self.session
        try:
            return self._closed(session)
        except RunRecordError as error:
            self._lost(error)
            with suppress(RunRecordError, ValueError):  # a footer is short and may fit where longer events do not
                session.writer.footer("error")
            return False
        finally:
            session.close()
            session.writer.close()

    def _closed(self, session: RunSession) -> bool:
        if STOP.lost is None:
            if session.current is not None:
                session.end(session.current, 0.0)
            session.note_transitions()
            session.note_quirks()
            if session.stop_reason in ("completed", "max-failures") and not STOP.heard:
                session.confirm()
        session.close()
        failed = self.worker == "main" and STOP.lost is None and self._conclude()
        if STOP.lost is None:
            session.write_tally()
        if STOP.heard:
            session.stop_reason = "interrupted"
        if self.worker == "main" and STOP.lost is None:
            self._tell_left_out()
        session.writer.footer(
            "error" if STOP.lost else session.stop_reason,
            stateful_steps=session.steps,
            steps_per_second=round(session.steps / session.judging_s, 1) if session.judging_s else None,
            examples=session.examples,
        )
        return failed

    def _tell_left_out(self) -> None:
        """Record the tests that did not run, or not to their end. With workers, their stop reasons count too."""
        reasons = {self.session.stop_reason, *self._reasons} - {"completed"}
        left = self.chosen.left_out(min(reasons, key=STOP_REASONS.index, default="error"))
        if left is not None:
            self.session.writer.evidence(LEFT_OUT_TESTS, left.to_json())

    def _conclude(self) -> bool:
        """Judge the run as a whole, all workers together: it must fit one assignment of readings. True: it fails."""
        session = self.session
        try:
            verdicts = conclusion(read_run(session.out), session.options, session.disabled)
        except RunRecordError as error:
            session.writer.note(f"The run could not be checked against one assignment of readings: {error}")
            return False
        if not session.disabled:
            session.tally.phases[CONCLUSION, "conclusion"] += 1
        for verdict in verdicts:
            if session.on_verdict is not None:
                session.on_verdict(verdict, 1)
            session.writer.verdict(verdict, suite=CONCLUSION, test=CONCLUSION)
        return any(verdict.outcome is Outcome.FAIL for verdict in verdicts)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the counts, the deviations and the folder of the record."""
        if self.worker != "main":
            return
        out = self.session.out
        try:
            run = read_run(out)
        except RunRecordError as error:
            terminalreporter.write_line(f"mqconform: {error}")
            return
        self.config.stash[RECORD] = run
        terminalreporter.section("mqconform")
        for line in terminal_lines(run):
            terminalreporter.write_line(line)
        terminalreporter.write_line(f"run record in {out}; mqconform report {out} --html report.html")


def exit_for(error: AdapterError) -> int:
    """Return the exit code of an adapter error: 2 for a bad connector, 3 for an unusable driver."""
    from conformance.adapter.errors import ConnectorError
    from conformance.verdict import ExitCode

    return int(ExitCode.BAD_INPUT if isinstance(error, ConnectorError) else ExitCode.UNUSABLE)


def _short(error: BaseException) -> str | None:
    """Return pytest's text for a deviation: the story, not a traceback through the harness. None for other errors."""
    from conformance.harness.guarded_client import DriverGone
    from conformance.harness.recorder import ConformanceFailure, ConformanceFailures

    if isinstance(error, ConformanceFailures):
        return "\n\n".join(text for one in error.exceptions if (text := _short(one)))
    if isinstance(error, ConformanceFailure):
        verdict = error.verdict
        lines = [f"{verdict.requirement} is broken:"]
        lines += [f"  {number}. {named(step.text):.2000}" for number, step in enumerate(error.story, 1)]
        expected, actual = named(repr(verdict.expected)), named(repr(verdict.actual))
        lines += [f"  expected: {expected:.2000}", f"  actual:   {actual:.2000}"]
        return "\n".join(lines)
    if isinstance(error, (DriverGone, AdapterError)):
        return getattr(error, "sentence", None) or str(error)
    return None
