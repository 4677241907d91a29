"""Results go to stdout, progress and errors to stderr; a user's mistake is one sentence and an exit code."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console

T = TypeVar("T")


class _Patient(io.TextIOWrapper):
    """A standard stream that outlives its reader: `mqconform ... | head` judges to the end, with its exit code."""

    def write(self, text: str, /) -> int:
        return self._try(lambda: super(_Patient, self).write(text)) or len(text)

    def flush(self) -> None:
        self._try(super().flush)

    def _try(self, act: Callable[[], T]) -> T | None:
        try:
            return act()
        except OSError as error:
            # What is still buffered goes nowhere, so that nothing fails again at the end of the process.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if not isinstance(error, BrokenPipeError):
                fail(f"The output cannot be written ({error.strerror}).", ExitCode.BAD_INPUT)
            return None


def outlive_readers() -> None:
    """Make stdout and stderr bear a reader that goes away, and text their encoding lacks."""
    for name, stream in (("stdout", sys.stdout), ("stderr", sys.stderr)):
        if isinstance(stream, io.TextIOWrapper) and not isinstance(stream, _Patient):
            raw = io.BufferedWriter(io.FileIO(stream.fileno(), "w", closefd=False))
            kind, lines = stream.encoding, stream.line_buffering
            setattr(sys, name, _Patient(raw, encoding=kind, errors="backslashreplace", line_buffering=lines))


def fail(sentence: str, code: ExitCode) -> NoReturn:
    """Say what is wrong on stderr and end."""
    print(f"mqconform: {sentence}", file=sys.stderr)
    sys.exit(int(code))


def emit_json(value: Any) -> None:
    """One JSON document on stdout."""
    json.dump(value, sys.stdout, indent=1, default=str)
    sys.stdout.write("\n")


def console(*, stderr: bool = False) -> Console:
    """A rich console; plain where it is no terminal or NO_COLOR is set."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=False)


@contextmanager
def progress_bar(what: str, *, quiet: bool = False) -> Iterator[Callable[[float, float, str], None]]:
    """A progress bar on stderr: call with (done, total, text). Not a terminal: a plain line for every new text."""
    if quiet:
        yield lambda done, total, text: None
        return
    target = console(stderr=True)
    if not target.is_terminal:
        seen: list[str] = []

        def plain(done: float, total: float, text: str) -> None:
            if not seen or seen[-1] != text:
                seen.append(text)
                print(f"mqconform: {what}: {text}", file=sys.stderr, flush=True)

        yield plain
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[text]}", markup=False),
        console=target,
        transient=True,
    ) as bar:
        task = bar.add_task(what, total=None, text="")

        def show(done: float, total: float, text: str) -> None:
            bar.update(task, completed=done, total=total, text=text)

        yield show
