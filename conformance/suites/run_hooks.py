"""The pytest hooks of a run: one verdict set from many tests, in this process or in xdist workers."""

from __future__ import annotations

import time
import uuid
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from conformance.adapter.errors import AdapterError
from conformance.runlog import Header, RunRecordError, RunWriter, read_run
from conformance.runlog.folder import new_run_folder
from conformance.spec.catalogue import CatalogueError, assignment, chosen_readings, did_you_mean, requirement_id
from conformance.spec.versions import DEFAULT_PROFILE, LEVELS, PROFILES, READING_SETS
from conformance.suites.aftermath import own_holds, settle
from conformance.suites.concluding import CONCLUSION, conclusion
from conformance.suites.connecting import open_client
from conformance.suites.judging import RunOptions
from conformance.suites.registry import OWN, suite_of
from conformance.suites.session import RunSession, skipped
from conformance.suites.settings import draw_from_the_seed_alone
from conformance.suites.stopping import STOP, end_between_examples
from conformance.suites.terminal import terminal_lines
from conformance.verdict import Outcome


class RunHooks:
    """Registered as a plugin while a run lasts."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        option = config.option
        worker = getattr(config, "workerinput", None)
        self.worker: str = worker["workerid"] if worker else "main"
        self.distributed = worker is None and bool(getattr(option, "numprocesses", None))
        out = Path(worker["mq_out"]) if worker else Path(option.mq_out) if option.mq_out else new_run_folder()
        self.run_id: str = worker["mq_run_id"] if worker else uuid.uuid4().hex
        option.hypothesis_seed = str(option.mq_seed)  # as text: hypothesis takes a bare 0 for "not given"
        try:
            options = options_from(option)
            writer = RunWriter(out, self.worker)
        except (RunRecordError, CatalogueError) as error:
            raise pytest.UsageError(str(error)) from None
        self.session = RunSession(
            options=options,
            connector=option.mq_adapter,
            out=out,
            writer=writer,
            open_client=self._open_client,
            disabled=frozenset(requirement_id(name) for name in option.mq_disable.split(",") if name),
            taping=not option.mq_disable,
        )
        draw_from_the_seed_alone()
        if worker is not None:
            end_between_examples()
        self._phase: dict[str, Any] = {}
        self._finished = False
        writer.header(
            Header(
                run_id=self.run_id,
                command=tuple(str(argument) for argument in config.invocation_params.args),
                connector=option.mq_adapter,
                seed=option.mq_seed,
                profile=options.profile,
                level=options.level,
                reading_set=options.reading_set,
                readings=options.readings,
                suites=(),
            )
        )

    def _open_client(self, state_dir: Path) -> Any:
        option = self.config.option
        return open_client(
            option.mq_adapter,
            state_dir=state_dir,
            in_process=option.mq_in_process,
            deadline_ms=option.mq_deadline,
            namespace=self.worker if self.distributed or self.worker != "main" else None,
            log=self.session.out / f"driver-{self.worker}.stderr.log",
            profile=self.session.options.profile,
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """xdist: every worker writes its own part of the same record."""
        node.workerinput["mq_out"] = str(self.session.out)
        node.workerinput["mq_run_id"] = self.run_id

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        """A driver that cannot be used ends the run before any test does, in one sentence.

        A worker of xdist leaves that to the process that drives it: a worker that ends is started again, and again.
        """
        if self.worker != "main":
            return
        try:
            self.session.client()
        except AdapterError as error:
            self.session.stop_reason = "driver-unusable"
            if self.session.unusable is None:  # a connector that names nothing, found out only by trying
                self.session.writer.driver("unusable", error.sentence)
            pytest.exit(error.sentence, returncode=exit_for(error))
        self.session.note_epoch()
        declared, judged = self.session.client().hello.profile, self.session.options.profile
        if declared != judged:
            self.session.writer.note(f"The driver says it is {declared}; it is judged as {judged}.")
        if self.distributed:
            self.session.close()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """A test that claims a requirement the catalogue does not have judges nothing: say so before it runs."""
        for item in items:
            for marker in item.iter_markers("requirement"):
                for name in map(str, marker.args):
                    try:
                        requirement_id(name)
                    except CatalogueError as error:
                        raise pytest.UsageError(f"{item.nodeid} claims what does not exist: {error}") from None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Open the test's judge before its fixtures ask for it; stop starting tests when the time is spent."""
        STOP.look()
        session = self.session
        claimed = tuple(
            dict.fromkeys(name for marker in item.iter_markers("requirement") for name in map(str, marker.args))
        )
        session.begin(item.nodeid, suite_of(Path(item.path)), claimed)
        self._phase = {"started": time.monotonic(), "error": None}
        budget = session.options.budget_s
        if budget is not None and session.elapsed() > budget:
            session.stop_reason = "budget"
            self._phase["unjudged"] = True
            pytest.skip("the run's time budget is spent")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
        """Keep what each phase of the test ended with; after the last, turn it into verdicts."""
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
        if isinstance(error, pytest.skip.Exception):
            if "unjudged" not in self._phase and not state.judge.undemanded:
                for verdict in skipped(state.claimed, error.msg or "skipped"):
                    self.session.write(state, verdict)
        elif error is not None:
            settle(self.session, state, error)
        elif state.suite == OWN:
            own_holds(state)
        self.session.end(state, time.monotonic() - self._phase["started"])
        report.mqconform = {"requirements": sorted(state.judge.judged), "steps": state.judge.steps_taken}
        self.session.note_epoch()
        if self.session.unusable is not None:
            item.session.shouldstop = self.session.unusable.sentence

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Ctrl-C: the footer says so. pytest calls this for its own ways to stop too, which have their own reasons.

        What was interrupted is not shown: where a call is left at an odd moment, pytest fails to describe it.
        """
        if type(excinfo.value) is not KeyboardInterrupt:  # pytest and xdist derive theirs from it
            if str(excinfo.value).startswith("stopping after"):
                self._enough()
            return
        self.session.stop_reason = "interrupted"
        excinfo.value.__cause__ = excinfo.value.__context__ = None
        excinfo.traceback = excinfo.traceback[:1]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """The usual end. What is wrong with the run as a whole no test has failed for, so it is said here."""
        if session.shouldfail:
            self._enough()
        if self._finish() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_unconfigure(self) -> None:
        """The end of a session that never began, which pytest does not finish."""
        self._finish()

    def _enough(self) -> None:
        """The run ends before its end, with as many deviations as were asked for."""
        if self.session.stop_reason == "completed":
            self.session.stop_reason = "max-failures"

    def _finish(self) -> bool:
        """Close the record with its footer and stop the driver; once. True when the run as a whole fails."""
        if self._finished:
            return False
        self._finished = True
        session = self.session
        if session.current is not None:
            session.end(session.current, 0.0)
        session.close()
        failed = self.worker == "main" and self._conclude()
        session.write_tally()
        session.writer.footer(
            session.stop_reason,
            stateful_steps=session.steps,
            steps_per_second=round(session.steps / session.judging_s, 1) if session.judging_s else None,
            examples=session.examples,
        )
        session.writer.close()
        return failed

    def _conclude(self) -> bool:
        """Judge the run as a whole, the parts of all workers together: it must fit one assignment of readings."""
        session = self.session
        try:
            verdicts = conclusion(read_run(session.out), session.options, session.disabled)
        except RunRecordError as error:
            session.writer.note(f"Whether the run fits one assignment of readings is not known: {error}")
            return False
        if not session.disabled:
            session.tally.phases[CONCLUSION, "conclusion"] += 1
        for verdict in verdicts:
            if session.on_verdict is not None:
                session.on_verdict(verdict, 1)
            session.writer.verdict(verdict, suite=CONCLUSION, test=CONCLUSION)
        return any(verdict.outcome is Outcome.FAIL for verdict in verdicts)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """What was judged, what deviates, and where it is recorded."""
        if self.worker != "main":
            return
        out = self.session.out
        try:
            run = read_run(out)
        except RunRecordError as error:
            terminalreporter.write_line(f"mqconform: {error}")
            return
        terminalreporter.section("mqconform")
        for line in terminal_lines(run):
            terminalreporter.write_line(line)
        terminalreporter.write_line(f"run record in {out}; mqconform report {out} --html report.html")


def options_from(option: Any) -> RunOptions:
    """The run's options from pytest's. Raises CatalogueError naming the nearest valid word."""
    profile = option.mq_profile or DEFAULT_PROFILE
    for value, known, what in (
        (profile, PROFILES, "profile"),
        (option.mq_level, LEVELS, "level"),
        (option.mq_readings, READING_SETS, "reading set"),
    ):
        if value not in known:
            raise CatalogueError(f"There is no {what} {value!r}{did_you_mean(value, known) or '.'}")
    chosen = chosen_readings(option.mq_reading)
    return RunOptions(
        profile=profile,
        level=option.mq_level,
        readings=assignment(option.mq_readings, chosen),
        reading_set=option.mq_readings,
        seed=option.mq_seed,
        max_examples=option.mq_max_examples,
        stateful_steps=option.mq_steps,
        budget_s=option.mq_budget,
        chosen=chosen,
        first_only=bool(getattr(option, "maxfail", 0) == 1),
    )


def exit_for(error: AdapterError) -> int:
    """The exit code an adapter error asks for: 2 for a bad connector, 3 for an unusable driver."""
    from conformance.adapter.errors import ConnectorError
    from conformance.verdict import ExitCode

    return int(ExitCode.BAD_INPUT if isinstance(error, ConnectorError) else ExitCode.UNUSABLE)


def _short(error: BaseException) -> str | None:
    """What pytest shows of a deviation: the story, not a traceback through the harness."""
    from conformance.suites.guard import DriverGone
    from conformance.suites.judging import ConformanceFailure, ConformanceFailures

    if isinstance(error, ConformanceFailures):
        return "\n\n".join(text for one in error.exceptions if (text := _short(one)))
    if isinstance(error, ConformanceFailure):
        verdict = error.verdict
        lines = [f"{verdict.requirement} is broken:"]
        lines += [f"  {number}. {step.text}" for number, step in enumerate(error.story, 1)]
        lines += [f"  expected: {verdict.expected!r}", f"  actual:   {verdict.actual!r}"]
        return "\n".join(lines)
    if isinstance(error, (DriverGone, AdapterError)):
        return getattr(error, "sentence", None) or str(error)
    return None
