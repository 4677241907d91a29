"""Results go to stdout, progress and errors to stderr; a user's mistake is one sentence and an exit code."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console


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
