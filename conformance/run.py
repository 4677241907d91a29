"""`mqconform run` as a function: run pytest over the suites and turn its result into an exit code and a record."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pluggy import HookimplMarker

from conformance.calling import calls
from conformance.children import safe_path
from conformance.command_options import (
    BadInput,
    RunResult,
    check_chosen,
    check_label,
    check_places,
    check_situations,
    check_words,
    prepare_folder,
)
from conformance.files import folder_watch
from conformance.harness.guarded_client import NOT_OFFERED
from conformance.harness.known_tests import KnownTest, known_test
from conformance.harness.suite_registry import UnknownSuite, in_turn, select, suites_folder
from conformance.harness.test_selection import PLAIN, NotCollected, claiming, collected
from conformance.harness.worker_processes import STOP
from conformance.run_options import RunRequest, with_arguments
from conformance.runlog import RunRecordError, read_run
from conformance.runlog.counts import counted
from conformance.runlog.run import Run, left_out
from conformance.spec.catalogue import CatalogueError, selected
from conformance.verdict import ExitCode, exit_code

_hookimpl = HookimplMarker("pytest")  # the same as `pytest.hookimpl`; importing all of pytest is slow
MIN_TESTS = 3  # tests to be done before the remaining time is estimated


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run: tests done and in total, for the whole run and for the current suite.

    suite_left, left_out: tests of the suite, and of the run, that were left out for lack of time; they do not count as
    done. deviations: tests that failed. requirements: judged so far. steps: calls of stateful examples. seconds: since
    the first test began. left_s: estimated seconds until the end, None before there is an estimate.
    """

    done: int
    total: int
    suite: str
    deviations: int
    suite_done: int = 0
    suite_total: int = 0
    requirements: int = 0
    steps: int = 0
    seconds: float = 0.0
    left_s: float | None = None
    suite_left: int = 0
    left_out: int = 0

    @property
    def suite_over(self) -> bool:
        """True if no test of the suite remains."""
        return self.suite_done + self.suite_left == self.suite_total

    @property
    def steps_per_second(self) -> float | None:
        """Steps per second; None before the first step."""
        return self.steps / self.seconds if self.steps and self.seconds else None

    @property
    def text(self) -> str:
        """The suite and its figures on one line."""
        return f"{self.suite}, {self.found}"

    @property
    def found(self) -> str:
        """The figures of the run so far on one line."""
        parts = [counted(self.requirements, "requirement")]
        if self.steps_per_second:
            parts.append(f"{self.steps_per_second:,.0f} steps/s")
        if self.deviations:
            parts.append(counted(self.deviations, "deviation"))
        if self.left_s is not None:
            parts.append(f"{clock(self.left_s)} left")
        return ", ".join(parts)


def clock(seconds: float) -> str:
    """Format seconds as `0:07`, `12:30` or `1:02:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Watcher:
    """Counts tests as they end. The report of a test says what it judged, whichever process ran it."""

    def __init__(self, tell: Callable[[Progress], None] | None, budget_s: float | None = None) -> None:
        self._tell = tell
        self._budget_s = budget_s
        self._total: Counter[str] = Counter()
        self._done: Counter[str] = Counter()
        self._left: Counter[str] = Counter()
        self._deviations = 0
        self._requirements: set[str] = set()
        self._steps = 0
        self._began: float | None = None
        self.record: Run | None = None
        self._ahead: dict[str, KnownTest] = {}  # tests that have not ended, with what is known of them
        self._absent: frozenset[str] = frozenset()  # facets that tests were skipped for
        self._behind_s = 0.0  # seconds that the tests that ended usually take, without the skipped ones

    def pytest_collection_finish(self, session: Any) -> None:
        self._plan([item.nodeid for item in session.items])

    @_hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        self._plan(ids)

    def _plan(self, nodes: Sequence[str]) -> None:
        self._total = Counter(map(_suite, nodes))
        self._ahead = {node: known_test(_suite(node), node) for node in nodes}

    def pytest_runtest_logstart(self) -> None:
        if self._began is None:
            self._began = time.monotonic()

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and report.failed:
            self._deviations += 1
        if getattr(report, "skipped", False):
            self._skipped(report.nodeid, str(report.longrepr[-1]) if isinstance(report.longrepr, tuple) else "")
        if report.when == "teardown":
            said: Mapping[str, Any] = getattr(report, "mqconform", {})
            self._requirements.update(said.get("requirements", ()))
            self._steps += said.get("steps", 0)
            over = self._left if said.get("ended") == "not begun" else self._done
            over[_suite(report.nodeid)] += 1
            test = self._ahead.pop(report.nodeid, None)
            if test is not None and over is self._done:
                self._behind_s += test.seconds
            if self._tell is not None:
                self._tell(self.progress(_suite(report.nodeid)))

    @_hookimpl(trylast=True)
    def pytest_terminal_summary(self, config: Any) -> None:
        """Take over the record that the plugin has read; one that lacks its end may still get it."""
        from conformance.harness.pytest_hooks import RECORD

        read = config.stash.get(RECORD, None)
        self.record = read if read is not None and read.complete else None

    def _skipped(self, node: str, reason: str) -> None:
        """Take out a test that takes no time; and expect the same of others that need what the driver lacks."""
        test = self._ahead.pop(node, None)
        if test is not None and NOT_OFFERED in reason:
            methods = reason.partition(NOT_OFFERED)[2].split(", ")
            self._absent |= test.facets & {method.partition(".")[0] for method in methods}

    def progress(self, suite: str) -> Progress:
        """Return the current progress; suite: the one of the latest test."""
        done, total = self._done.total(), self._total.total()
        seconds = time.monotonic() - self._began if self._began is not None else 0.0
        rest = sum(test.seconds for test in self._ahead.values() if not test.facets & self._absent)
        left = seconds / self._behind_s * rest if done >= MIN_TESTS and self._behind_s else None
        if left is not None and self._budget_s is not None:
            left = min(left, max(0.0, self._budget_s - seconds))
        return Progress(
            done,
            total,
            suite,
            self._deviations,
            self._done[suite],
            self._total[suite],
            len(self._requirements),
            self._steps,
            seconds,
            left,
            self._left[suite],
            self._left.total(),
        )


def _suite(node: str) -> str:
    """Return the suite of a node id (relative to the folder of the suites); `own` for a test from elsewhere."""
    head, slash, _ = node.partition("/")
    return head if slash and head != ".." else "own"


ALLOW = "With --allow-incomplete such a run ends with 0."
"""The conclusion of a run that left tests out and found no deviation."""


@with_arguments(RunRequest)
def run(request: RunRequest) -> RunResult:
    """Judge an implementation and write the run record.

    adapter: a connector (`embedded`, `stdio:COMMAND`, ...). suites: their names, or a comma-separated list of them
    (None: all). requirements: ids, sections or patterns; only tests that claim one of these run (none: every test).
    profile: `msmq-1.0` to `msmq-6.0`. level: `must`, `should` or `may`. readings: `windows`, `strict` or `permissive`.
    chosen: `ID=alternative` for each reading that is decided apart from the reading set. max_examples: generated
    examples per test. steps: steps per stateful example. situations: planned ones to play, `all`, `pairs` or a number
    (`default`: what fits a minute). budget_s: seconds divided among the suites; tests that do not
    fit are left out and recorded (`conformance.runlog.run`). None: all tests run, however long it takes.
    quirks: go on behind a deviation that a known fault explains (`docs/quirks.md`). known: a baseline
    whose quirks are known from the beginning.
    max_failures: stop after so many tests that find a deviation. workers: tests that run at
    the same time, each with its own driver. disable: requirements whose check is switched off. live: a port of
    127.0.0.1 (0: any) for a page that shows the run as it goes on. label: name of the run in its record and reports.
    allow_incomplete: tests that the budget left out do not change the exit code.
    pytest_args: passed to pytest. on_progress: called after each test.

    Raises BadInput for an unknown name and for an output folder that cannot be written. Every other problem, an
    unusable driver for example, is reported in the returned result.
    """
    return run_request(request)


def run_request(request: RunRequest) -> RunResult:
    """Do what `run` does."""
    from conformance.adapter.errors import ConnectorError, DriverUnusable
    from conformance.harness.connecting import check_connector

    check_words(profile=request.profile, level=request.level, readings=request.readings)
    check_chosen(request.chosen)
    check_places()
    check_situations(str(request.situations))
    asked = replace(request, label=None if request.label is None else check_label(request.label))
    place = Path(asked.out) if asked.out else Path()
    try:
        wanted = select(asked.suites)
        ids = requirement_ids(asked.requirements)
        check_connector(asked.adapter, in_process=asked.in_process)
    except UnknownSuite as error:
        raise BadInput(str(error)) from None
    except ConnectorError as error:
        raise BadInput(error.sentence) from None
    except DriverUnusable as error:  # Before the folder is touched: the results of an earlier run stay there.
        return RunResult(ExitCode.UNUSABLE, place, None, error.sentence)
    if asked.suites is not None and "situations" in wanted and (why := unplayable()) is not None:
        return RunResult(ExitCode.HARNESS_ERROR, place, None, why)
    modules = [module for name in in_turn(wanted, limited=asked.budget_s is not None) for module in wanted[name]]
    if ids:
        try:
            claimed = {test.path for test in claiming(collected(modules, asked.pytest_args), ids)}
        except NotCollected as error:
            code = ExitCode.BAD_INPUT if error.refused else ExitCode.HARNESS_ERROR
            return RunResult(code, place, None, str(error))
        modules = [module for module in modules if module in claimed]
        if not claimed:
            return RunResult(ExitCode.NOTHING_JUDGED, place, None, none_claims(ids))
    folder = prepare_folder(asked.out)
    arguments = [
        *map(str, modules),
        "-c=/dev/null",
        f"--rootdir={suites_folder()}",
        "-p",
        "conformance.plugin",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:unraisableexception",  # it collects garbage at the end, for longer than a short run takes
        "--import-mode=append",
        *replace(asked, out=folder, requirements=ids).pytest_options(),
        *([f"--maxfail={asked.max_failures}"] if asked.max_failures else []),
        *(["-n", str(asked.workers)] if asked.workers > 1 else []),
        *(asked.pytest_args or PLAIN),
    ]
    gone = f"The output folder {folder} cannot be written any more: it was removed during the run."
    try:
        with folder_watch(folder) as there, _live(asked.live, folder, asked.on_progress) as (tell, end):
            watcher = Watcher(tell, asked.budget_s)
            status, log = _drive_pytest(arguments, folder, bool(asked.pytest_args), watcher)
            if there():
                return end(_conclude(status, log, folder, watcher.record, asked))
    except FileNotFoundError:
        if folder.is_dir():
            raise
    if STOP.heard:
        return RunResult(ExitCode.INTERRUPTED, folder, None, f"The run was interrupted. {gone}")
    return RunResult(ExitCode.BAD_INPUT, folder, None, gone)


Tell = Callable[[Progress], None]


@contextlib.contextmanager
def _live(
    port: int | None, folder: Path, tell: Tell | None
) -> Iterator[tuple[Tell | None, Callable[[RunResult], RunResult]]]:
    """Serve the live page if there is a port. Yields what takes the progress and the result. Raises BadInput."""
    if port is None:
        yield tell, lambda result: result
        return
    from conformance.report.live_page import ADDRESS, LivePage
    from conformance.report.table import headline

    try:
        page = LivePage(folder, port)
    except OSError as error:
        why = error.strerror or error
        raise BadInput(
            f"The live page cannot be served at {ADDRESS}:{port} ({why}); give --live another port."
        ) from None
    print(f"mqconform: run: live at {page.address}", file=sys.stderr, flush=True)

    def show(progress: Progress) -> None:
        page.progress = asdict(progress)
        if tell is not None:
            tell(progress)

    def end(result: RunResult) -> RunResult:
        says = result.sentence or (headline(result.record) if result.record else "The run left no record.")
        tone = {ExitCode.CONFORMS: "good", ExitCode.DEVIATES: "bad"}.get(result.exit_code, "warn")
        page.end = {"headline": says, "tone": tone, "report": str(folder / "report.html")}
        return result

    try:
        yield show, end
    finally:
        page.close()


def unplayable() -> str | None:
    """Return why the planned histories of the suite `situations` cannot be read, None if they can."""
    from conformance.histories.situations.book import BookError, load

    try:
        load()
    except BookError as error:
        return f"The planned histories cannot be played: {error}."
    return None


def requirement_ids(selectors: Sequence[str]) -> list[str]:
    """Return the ids that the selectors match, each once. Raises BadInput with the nearest name if one matches none."""
    try:
        return list(dict.fromkeys(entry.id for each in selectors for entry in selected(each)))
    except CatalogueError as error:
        raise BadInput(str(error)) from None


def none_claims(ids: Sequence[str]) -> str:
    """Return the message for requirements that no test of the chosen suites claims."""
    named = ids[0] if len(ids) == 1 else f"any of these {len(ids)} requirements"
    return f"Nothing was judged: no test of these suites claims {named}."


class _Tail(io.TextIOBase):
    """A text stream that writes to a file and keeps the last 4,000 characters, which hold pytest's own errors."""

    def __init__(self, file: io.TextIOBase) -> None:
        self._file = file
        self.text = ""

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):  # A full disk loses the log, not the run.
            self._file.write(text)
        self.text = (self.text + text)[-4000:]
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._file.flush()

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True


def _drive_pytest(arguments: list[str], folder: Path, loud: bool, watcher: Watcher) -> tuple[int, str]:
    """Run pytest. Its output goes to `pytest.log`, or to stderr when the caller passed pytest arguments."""
    STOP.lost, STOP.workers = None, []
    STOP.patient = True  # until the session begins: a run that is interrupted earlier has nothing to keep
    import pytest

    from conformance.children import rarely_collecting

    with (
        safe_path(),
        _log(folder, loud) as tail,
        contextlib.redirect_stdout(tail),
        contextlib.redirect_stderr(tail),
        rarely_collecting(),
    ):
        try:
            status = pytest.main(arguments, plugins=[watcher])
        finally:
            STOP.patient = False
    return int(status), tail.text


@contextlib.contextmanager
def _log(folder: Path, loud: bool) -> Iterator[_Tail]:
    if loud:
        yield _Tail(sys.stderr)  # type: ignore[arg-type]
        return
    file = (folder / "pytest.log").open("w", encoding="utf-8", errors="backslashreplace")
    try:
        yield _Tail(file)
    finally:
        with contextlib.suppress(OSError):
            file.close()


def _conclude(status: int, log: str, folder: Path, read: Run | None, asked: RunRequest) -> RunResult:
    """Derive the exit code from pytest's status and the run record. pytest's own codes are never passed through."""
    if STOP.lost is not None:
        return RunResult(ExitCode.BAD_INPUT, folder, None, STOP.lost)
    try:
        record = read or read_run(folder)
    except RunRecordError as error:
        if STOP.heard:
            return RunResult(ExitCode.INTERRUPTED, folder, None, "The run was interrupted before anything was judged.")
        complaint = _complaint(log)
        if status == 4:
            return RunResult(ExitCode.BAD_INPUT, folder, None, complaint or str(error))
        return RunResult(ExitCode.HARNESS_ERROR, folder, None, complaint or str(error))
    code = exit_code((said.outcome for said in record.said), strict=asked.readings == "strict")
    reason = record.footer.stop_reason if record.footer else "error"
    if STOP.heard or reason == "interrupted":
        return RunResult(ExitCode.INTERRUPTED, folder, record, "The run was interrupted; what was judged is kept.")
    if reason == "driver-unusable" and code in (ExitCode.NOTHING_JUDGED, ExitCode.CONFORMS):
        said = [event.text for event in record.driver if event.what == "unusable"]
        sentence = said[-1] if said else "The driver could not be used."
        refused = status == ExitCode.BAD_INPUT and record.hello is None
        return RunResult(ExitCode.BAD_INPUT if refused else ExitCode.UNUSABLE, folder, record, sentence)
    if status == 4:
        return RunResult(ExitCode.BAD_INPUT, folder, record, _complaint(log) or "pytest refused its arguments.")
    unproven = code in (ExitCode.CONFORMS, ExitCode.NOTHING_JUDGED)
    if unproven and (status in (1, 2, 3) or not record.complete):
        kept = folder / "pytest.log"
        where = str(kept) if kept.exists() else "the output of pytest"
        what = "A test failed without saying what is wrong" if status == 1 else "The run did not finish"
        return RunResult(ExitCode.HARNESS_ERROR, folder, record, f"{what}; see {where}.")
    if code is ExitCode.NOTHING_JUDGED:
        why = "no test was selected" if status == 5 else "every test was skipped or inconclusive"
        return RunResult(code, folder, record, f"Nothing was judged: {why}.")
    left = left_out(record)
    if left is not None and code is ExitCode.CONFORMS and not asked.allow_incomplete:
        return RunResult(ExitCode.NOTHING_JUDGED, folder, record, f"{left.sentence} {ALLOW}")
    return RunResult(code, folder, record)


def _complaint(log: str) -> str | None:
    """Return pytest's own error line without its usage text; None if there is none."""
    for line in reversed(log.splitlines()):
        found = line.strip()
        for mark in ("ERROR: ", "error: "):
            if mark in found:
                return found.split(mark, 1)[1]
    return None


calls(__name__, "run")
