"""The progress display of a run, and its handling of Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from conformance.interrupts import work_begins
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.progress import Progress


@contextmanager
def run_progress(*, quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """Show a progress bar on stderr and a line for each finished suite; yields the function to call after each test.

    Not a terminal: one line when a suite begins, and one when it ends.
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

        def plain(progress: Progress) -> None:
            if progress.suite not in begun:
                begun.add(progress.suite)
                print(f"mqconform: run: {progress.suite}", file=stream, flush=True)
            if progress.suite_over:
                print(f"mqconform: run: {over(progress)}", file=stream, flush=True)

        yield plain
        return
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    with Bar(
        BarColumn(24),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[text]}", markup=False),
        console=target,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as bar:
        task = bar.add_task("", total=None, text="reading the tests")

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.done + progress.left_out, total=progress.total, text=progress.text)
            if progress.suite_over:
                bar.console.print(over(progress), markup=False, highlight=False, soft_wrap=True)

        yield show


def over(progress: Progress) -> str:
    """Return the line for a finished suite; the figures are those of the run so far."""
    tests = f"{progress.suite_done:,} test{'' if progress.suite_done == 1 else 's'}"
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
    from conformance.harness.interrupt import STOP

    work_begins()
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # Keep a handler that was set on purpose, or SIG_IGN.
        yield
        return
    stderr = _stderr()

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


def _stderr() -> int | None:
    """Duplicate stderr, as pytest captures descriptor 2 as the output of a test. None if stderr is closed."""
    try:
        return os.dup(2)
    except OSError:
        return None
