"""A run while it lasts: how far it is, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.watching import Progress


@contextmanager
def run_progress(*, quiet: bool = False) -> Iterator[Callable[[Progress], None]]:
    """What to call as each test ends: a bar on stderr, and a line that stays for each suite that is over.

    Not a terminal: a line as each suite begins, and one as it ends.
    """
    if quiet:
        yield lambda progress: None
        return
    from rich.console import Console

    stream = sys.stderr  # this very one: while pytest runs, the name stands for its log
    target = Console(file=stream, highlight=False)
    if not target.is_terminal:
        begun: set[str] = set()

        def plain(progress: Progress) -> None:
            if progress.suite not in begun:
                begun.add(progress.suite)
                print(f"mqconform: run: {progress.suite}", file=stream, flush=True)
            if progress.suite_done == progress.suite_total:
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
        task = bar.add_task("", total=None, text="")

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.done, total=progress.total, text=progress.text)
            if progress.suite_done == progress.suite_total:
                bar.console.print(over(progress), markup=False, highlight=False, soft_wrap=True)

        yield show


def over(progress: Progress) -> str:
    """The line for a suite all of whose tests are done; the numbers are those of the run so far."""
    tests = f"{progress.suite_total:,} test{'' if progress.suite_total == 1 else 's'}"
    rest = progress.text.removeprefix(progress.suite).removeprefix(", ")
    return f"{progress.suite}: {tests} done; {progress.done:,} of {progress.total:,} in all, {rest}"


@contextmanager
def stopping() -> Iterator[None]:
    """The first Ctrl-C ends the run and keeps what was judged; the second ends the process at once.

    After a first one that stays so: what is left to be done then is the report.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    from conformance.suites.stopping import STOP

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler:  # whoever ignores it, or has a handler, means it
        yield
        return
    stderr = _stderr()

    def at_once(number: int, frame: object) -> None:
        os._exit(int(ExitCode.INTERRUPTED))

    def first(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, at_once)
        if stderr is not None:
            os.write(stderr, b"mqconform: run: stopping; Ctrl-C again ends it at once\n")
        STOP.asked = True
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, first)
    try:
        yield
    finally:
        STOP.asked = False
        if signal.getsignal(signal.SIGINT) is first:
            signal.signal(signal.SIGINT, before)
        if stderr is not None:
            os.close(stderr)


def _stderr() -> int | None:
    """The stream itself: pytest takes what is written to descriptor 2 for what a test said. None where it is closed."""
    try:
        return os.dup(2)
    except OSError:
        return None
