"""Output of commands: results on stdout, progress and errors on stderr, a user's mistake as one sentence."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, NoReturn

from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console


LONGEST = 2_000
"""Characters of a message. A longer one, which quotes some input, is shortened to its beginning and end."""
_HEAD, _TAIL = 1_000, 300
_said: list[str] = []


def tell(sentence: str) -> None:
    """Print on stderr why the command ends."""
    _said.append(sentence)
    print(f"mqconform: {one_line(sentence)}", file=sys.stderr)


def one_line(sentence: str) -> str:
    """Return a message as one line: control characters escaped, and shortened to LONGEST."""
    if len(sentence) > LONGEST:
        left_out = len(sentence) - _HEAD - _TAIL
        sentence = f"{sentence[:_HEAD]} [{left_out:,} characters left out] {sentence[-_TAIL:]}"
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in sentence)


def said() -> bool:
    """True if `tell` has printed why the command ends."""
    return bool(_said)


def fail(sentence: str, code: ExitCode) -> NoReturn:
    """Print an error on stderr and end the command with this exit code."""
    tell(sentence)
    sys.exit(int(code))


def emit_json(value: Any) -> None:
    """Print a value as JSON on stdout."""
    json.dump(value, sys.stdout, indent=1, default=str)
    sys.stdout.write("\n")


class Spooled(list[Any]):
    """Values for `emit_json`, of which there may be many: they wait in a file."""

    def __init__(self) -> None:
        super().__init__()
        self._file, self._count = TemporaryFile("w+", encoding="utf-8"), 0  # noqa: SIM115 - it goes with the list

    def append(self, value: Any, /) -> None:
        """Add a value."""
        self._file.write(json.dumps(value, default=str) + "\n")
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        self._file.seek(0)
        return map(json.loads, self._file)


def console(*, stderr: bool = False) -> Console:
    """Return a rich console; without colours if it is not a terminal or NO_COLOR is set."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=False)


@contextmanager
def progress_bar(what: str, *, quiet: bool = False) -> Iterator[Callable[[float, float, str], None]]:
    """Show a progress bar on stderr; yields a function of (done, total, text). No terminal: one line per new text."""
    if quiet:
        yield lambda done, total, text: None
        return
    target = console(stderr=True)
    if not target.is_terminal:
        seen: list[str] = []

        def plain(done: float, total: float, text: str) -> None:
            if not seen or seen[-1] != text:
                seen.append(text)
                print(f"mqconform: {what}: {one_line(text)}", file=sys.stderr, flush=True)

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
            fresh = text != bar.tasks[0].fields["text"]  # Show a new text at once, however busy the process gets.
            bar.update(task, completed=done, total=total, text=text, refresh=fresh)

        yield show
