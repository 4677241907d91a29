"""`mqconform run` and `soak`: their lists, their progress, and suggestions for a stray argument."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from conformance.cli.gate import decided, print_decision, read_excuses
from conformance.cli.output import at_work, console, emit_json, fail, json_wanted, one_line, tell
from conformance.files import write_text
from conformance.interrupts import without_signals, work_begins
from conformance.runlog.counts import counted
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.histories.soak import Soaked
    from conformance.run import Progress
    from conformance.run_options import RunRequest


def command(request: RunRequest, *, gate: tuple[Path | None, Path | None] | None, verbose: bool = False) -> None:
    """Run the suites, write the report, print the result, and end with its exit code or the gate's.

    gate: (earlier run, baseline), each may be None; None: no gate. verbose: print the table of sections and all counts.
    """
    from conformance.command_options import BadInput
    from conformance.run import run_request

    meant = stray(request.pytest_args)
    if meant is not None:
        fail(meant, ExitCode.BAD_INPUT)
    if gate is not None:
        read_excuses(against=gate[0], baseline=gate[1])  # Report a mistake there before the run.
    known = None if gate is None or gate[1] is None else _usable_quirks(gate[1])

    try:
        with stopping(), run_progress(quiet=json_wanted() and not sys.stderr.isatty()) as show:
            result = run_request(replace(request, known=known, on_progress=show))
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    if result.record is None:
        fail(result.sentence or "The run left no record.", result.exit_code)
    allowed = request.allow_incomplete
    ended = result.record, result.folder, result.exit_code, result.sentence
    finish(*ended, gate=gate, allow_incomplete=allowed, verbose=verbose)


def _usable_quirks(baseline: Path) -> Path | None:
    """Return the baseline if it has quirks that can be used; tell about those that cannot."""
    from conformance.report.standing import read_quirks

    tables = read_quirks(baseline)
    if not tables:
        return None
    from conformance.explaining.quirks import usable

    quirks, told = usable(tables)
    for sentence in told:
        tell(sentence)
    return baseline.absolute() if quirks else None


def finish(
    record: Any,
    folder: Path,
    code: ExitCode,
    sentence: str | None,
    *,
    extra: Any = None,
    gate: tuple[Path | None, Path | None] | None = None,
    allow_incomplete: bool = False,
    verbose: bool = False,
) -> None:
    """Write `report.html` beside the record, print the summary, and end with `code` or the gate's exit code.

    The gate does not replace an exit code that says nothing about the implementation (unusable driver, harness error).
    """
    from conformance.report.html import render_html

    html = folder / "report.html"
    decision = (
        None if gate is None else decided(record, against=gate[0], baseline=gate[1], allow_incomplete=allow_incomplete)
    )
    try:
        write_text(html, render_html(record, decision=decision))
    except OSError as error:
        fail(f"The report {html} cannot be written ({error.strerror}); the run record is kept.", ExitCode.BAD_INPUT)
    if decision is not None and code in (ExitCode.CONFORMS, ExitCode.DEVIATES):
        code = decision.exit_code
    if json_wanted():
        from conformance.report.findings import deviations
        from conformance.report.summary import summary

        emit_json(
            {
                **summary(record, decision=decision),
                **deviations(record),
                **(extra or {}),
                "exit_code": int(code),
                "sentence": sentence,
                "run_record": str(folder),
                "html": str(html),
            }
        )
    else:
        from conformance.report.console import print_summary

        print_summary(record, console(), {"report": html, "run record": folder}, decision, verbose=verbose)
        if decision is not None:
            print_decision(decision)
    for left in dict.fromkeys(event.text for event in record.driver if event.what == "outlived"):
        print(f"mqconform: {one_line(left)}", file=sys.stderr)
    if sentence:
        fail(sentence, code)
    sys.exit(int(code))


@contextmanager
def run_progress(*, quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Show a progress bar on stderr and a line for each finished suite; yields the function to call after each test.

    Not a terminal: one line when a suite begins, one when it ends, and one after HEARTBEAT_S without any.
    """
    if quiet:
        yield lambda progress: None
        return
    from rich.console import Console

    stream = sys.stderr  # This object: while pytest runs, `sys.stderr` is its log.
    target = Console(file=stream, highlight=False)
    if not target.is_terminal:
        print("mqconform: run: reading the tests", file=stream, flush=True)
        begun: set[str] = set()
        with heartbeat(stream) as beat:

            def plain(progress: Progress) -> None:
                lines = [] if progress.suite in begun else [progress.suite]
                begun.add(progress.suite)
                lines += [over(progress)] if progress.suite_over else []
                for line in lines:
                    print(f"mqconform: run: {line}", file=stream, flush=True)
                beat(progress, bool(lines))

            yield plain
        return
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        BarColumn(24),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[text]}", markup=False),
        console=target,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    with without_signals():
        bar.start()
    with bar:
        task = bar.add_task("", total=None, text="reading the tests")

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.done + progress.left_out, total=progress.total, text=progress.text)
            if progress.suite_over:
                bar.console.print(over(progress), markup=False, highlight=False, soft_wrap=True)

        yield show


HEARTBEAT_S = 30.0
"""A log without a new line for so long gets one: a CI server may end what is silent."""


@contextmanager
def heartbeat(stream: TextIO) -> Iterator[Callable[[Progress, bool], None]]:
    """Write a line after each HEARTBEAT_S without another; yields the function to call after each test.

    Its second argument tells whether a line was printed. The lines go to a duplicate of the stream's descriptor, as
    pytest captures descriptor 2 while a test runs.
    """
    latest: list[tuple[float, Progress]] = []
    printed, ended, lock = [time.monotonic()], threading.Event(), threading.Lock()
    target = _duplicate(stream)

    def beat(progress: Progress, line: bool) -> None:
        with lock:
            latest[:] = [(time.monotonic(), progress)]
            printed[:] = [time.monotonic()] if line else printed

    def watch() -> None:
        while not ended.wait(max(0.01, printed[0] + HEARTBEAT_S - time.monotonic())):
            with lock:
                now = time.monotonic()
                if target is None or now < printed[0] + HEARTBEAT_S:
                    continue
                printed[:] = [now]
                text = _still(latest[0][1], now - latest[0][0]) if latest else "the first test goes on"
            with suppress(OSError):
                os.write(target, f"mqconform: run: {text}\n".encode())

    thread = threading.Thread(target=watch, name="heartbeat", daemon=True)
    if target is not None:
        with without_signals():
            thread.start()
    try:
        yield beat
    finally:
        ended.set()
        if target is not None:
            thread.join()
            os.close(target)


def _still(progress: Progress, since_s: float) -> str:
    if progress.done + progress.left_out == progress.total:
        return "the tests are over; the record is being read"
    left_s = None if progress.left_s is None else max(0.0, progress.left_s - since_s)
    return f"{progress.done:,} of {progress.total:,} tests, {replace(progress, left_s=left_s).found}"


def over(progress: Progress) -> str:
    """Return the line for a finished suite; the figures are those of the run so far."""
    tests = counted(progress.suite_done, "test")
    left = f", {progress.suite_left:,} left out" if progress.suite_left else ""
    return f"{progress.suite}: {tests} done{left}; {progress.done:,} of {progress.total:,} in all, {progress.found}"


@contextmanager
def stopping() -> Iterator[None]:
    """Make the first Ctrl-C end the run and keep its verdicts, and the second end the process at once.

    This second meaning stays after the block: only the report is left to be written then.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    from conformance.adapter.process import kill_the_living
    from conformance.harness.worker_processes import STOP

    work_begins()
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # Keep a handler that was set on purpose, or SIG_IGN.
        yield
        return
    stderr = _duplicate(sys.stderr)

    def at_once(number: int, frame: object) -> None:
        kill_the_living()
        os._exit(int(ExitCode.INTERRUPTED))

    def first(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, at_once)
        if stderr is not None:
            with suppress(OSError):
                os.write(stderr, b"mqconform: run: stopping; Ctrl-C again ends it at once\n")
        STOP.ask()
        if not STOP.patient:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        STOP.reset()
        if signal.getsignal(signal.SIGINT) is first:
            signal.signal(signal.SIGINT, before)
        if stderr is not None:
            os.close(stderr)


def _duplicate(stream: TextIO) -> int | None:
    """Duplicate stderr, as pytest captures descriptor 2 as the output of a test. None for a stream without a file."""
    try:
        return os.dup(stream.fileno())
    except (OSError, ValueError):  # closed, or in memory
        return None


def list_tests(request: RunRequest) -> NoReturn:
    """Print by suite the tests that a run would execute, with the requirements they claim. Ends the command."""
    from conformance.command_options import BadInput
    from conformance.harness.suite_registry import UnknownSuite, select
    from conformance.harness.test_selection import NotCollected, claiming, collected
    from conformance.run import none_claims, requirement_ids

    try:
        ids = requirement_ids(request.requirements)
        modules = [module for each in select(request.suites).values() for module in each]
        with at_work("run", "reading the tests", quiet=json_wanted()):
            found = collected(modules, request.pytest_args)
    except (BadInput, UnknownSuite) as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except NotCollected as error:
        fail(str(error), ExitCode.BAD_INPUT if error.refused else ExitCode.HARNESS_ERROR)
    tests = list(claiming(found, ids)) if ids else found
    if not tests:
        fail(none_claims(ids) if ids else "No test is selected.", ExitCode.NOTHING_JUDGED)
    claimed = {name for test in tests for name in test.requirements}
    names = list(dict.fromkeys(test.suite for test in tests))
    if json_wanted():
        emit_json(
            {
                "tests": len(tests),
                "requirements": sorted(claimed),
                "suites": [_suite(name, [test for test in tests if test.suite == name]) for name in names],
            }
        )
        sys.exit(int(ExitCode.CONFORMS))
    out = console()
    for name in names:
        own = [test for test in tests if test.suite == name]
        claims = {each for test in own for each in test.requirements}
        out.print(f"{name}: {counted(len(own), 'test')}, {counted(len(claims), 'requirement')} claimed", markup=False)
        counts = Counter((test.path.name, test.function) for test in own)
        for (module, function), count in counts.items():
            per = {
                each
                for test in own
                if (test.path.name, test.function) == (module, function)
                for each in test.requirements
            }
            cases = f", {count:,} cases" if count > 1 else ""
            out.print(f"  {module}::{function}{cases}, {len(per):,} claimed", markup=False, soft_wrap=True)
    out.print(f"{counted(len(tests), 'test')}, {len(claimed):,} requirements claimed; nothing was run", markup=False)
    sys.exit(int(ExitCode.CONFORMS))


def _suite(name: str, tests: Sequence[Any]) -> dict[str, Any]:
    return {
        "suite": name,
        "requirements": sorted({each for test in tests for each in test.requirements}),
        "tests": [{"test": test.node, "requirements": list(test.requirements)} for test in tests],
    }


_CONNECTORS = ("embedded", "stdio:", "tcp:", "python:")


def stray(words: Sequence[str]) -> str | None:
    """Return a message for a first word that is neither a pytest option nor a test file; None if it is one."""
    word = words[0] if words else "-"
    if word.startswith("-"):
        return None
    if Path(word.partition("::")[0]).exists():
        return None
    return f"mqconform run takes no argument {word!r}{_hint(word)}"


def _hint(word: str) -> str:
    from conformance.harness.suite_registry import suites
    from conformance.spec.catalogue import current
    from conformance.suggest import nearest

    if word.startswith(_CONNECTORS):
        return f"; did you mean --adapter {word}?"
    names = [nearest(name.strip(), suites()) for name in word.split(",")]
    if all(names):
        return f"; did you mean --suite {','.join(filter(None, names))}?"
    from conformance.spec.catalogue import catalogue

    if current(word) in catalogue().requirements:
        return f"; did you mean --requirement {word}?"
    return ": name suites with --suite and the implementation with --adapter; give pytest arguments after --."


def soak_command(*, budget_s: float | None, **wanted: Any) -> None:
    """Run the soak, write the report, print the result, and end with its exit code."""
    from conformance.command_options import BadInput
    from conformance.soak import soak

    began = time.monotonic()
    try:
        with at_work("soak", "starting the driver", quiet=json_wanted()) as show:

            def on_progress(soaked: Soaked) -> None:
                spent = time.monotonic() - began
                text = f"{soaked.steps:,} steps" + (f", findings: {soaked.findings}" if soaked.findings else "")
                show(round(spent), max(round(budget_s if budget_s is not None else spent), 1), text)

            result = soak(budget_s=budget_s, on_progress=on_progress, **wanted)
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    if result.record is None:
        fail(result.sentence or "The soak left no record.", result.exit_code)
    finish(result.record, result.folder, result.exit_code, result.sentence)
