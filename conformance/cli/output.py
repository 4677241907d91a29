"""Output of commands: repaired streams, results on stdout, progress and a user's mistake as one sentence on stderr."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from rich.console import Console

T = TypeVar("T")
_WIDTHS = range(20, 10_001)
"""Valid values of COLUMNS and LINES. Programs that do not know the size set 0."""


class CannotWrite(BaseException):
    """Results cannot be written to stdout; the message says why. A BaseException passes every `except Exception`."""


class _Patient(io.TextIOWrapper):
    """A standard stream that survives the end of its reader: `mqconform ... | head` still gives the exit code."""

    results = False

    def write(self, text: str, /) -> int:
        return self._try(lambda: super(_Patient, self).write(text)) or len(text)

    def flush(self) -> None:
        self._try(super().flush)

    def _try(self, act: Callable[[], T]) -> T | None:
        try:
            return act()
        except OSError as error:
            # Discard what is still buffered, so that nothing fails again when the process exits.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if self.results and not isinstance(error, BrokenPipeError):
                raise CannotWrite(error.strerror) from None
            return None


def mend() -> None:
    """Repair the streams of a command, before it opens any file.

    Closed streams are opened, so that no file of ours gets their number: stdin is empty, stderr is discarded, and
    writing a result to stdout fails. stdout and stderr tolerate a reader that goes away and characters that their
    encoding lacks. Progress that cannot be written is dropped.
    """
    for number, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, flags)  # gets the lowest free number, which is this one
            os.set_inheritable(opened, True)
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        if stream is None or (isinstance(stream, io.TextIOWrapper) and not isinstance(stream, _Patient)):
            raw = io.BufferedWriter(io.FileIO(number if stream is None else stream.fileno(), "w", closefd=False))
            kind, lines = ("utf-8", True) if stream is None else (stream.encoding, stream.line_buffering)
            patient = _Patient(raw, encoding=kind, errors="backslashreplace", line_buffering=lines)
            patient.results = name == "stdout"
            setattr(sys, name, patient)
    for name in ("COLUMNS", "LINES"):
        told = os.environ.get(name, "")
        if told and not (told.isascii() and told.isdigit() and len(told) < 6 and int(told) in _WIDTHS):
            del os.environ[name]


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


def told_why() -> bool:
    """True if `tell` has printed why the command ends."""
    return bool(_said)


def fail(sentence: str, code: ExitCode) -> NoReturn:
    """Print an error on stderr and end the command with this exit code."""
    tell(sentence)
    sys.exit(int(code))


_json_wanted = False


def want_json(wanted: bool) -> None:
    """Note whether the command that begins has the option `--json`."""
    global _json_wanted
    _json_wanted = wanted


def json_wanted() -> bool:
    """True if the result is printed as JSON."""
    return _json_wanted


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


Show = Callable[[float, float, str], None]
LARGE = 8 << 20
"""Bytes of run records that take a second or more to read."""


@contextmanager
def at_work(what: str, first: str, *, quiet: bool = False) -> Iterator[Show]:
    """Show a progress bar on stderr with the text `first` at once; yields a function of (done, total, text).

    Not a terminal: one line per new text, or nothing if quiet.
    """
    with progress_bar(what, quiet=quiet and not sys.stderr.isatty()) as show:
        show(0, 1, first)
        yield show


def begin(what: str, first: str, *, quiet: bool = False) -> None:
    """Print a line on stderr, for commands whose progress bar is drawn by others (Spark) or that have none."""
    if sys.stderr.isatty() or not quiet:
        print(f"mqconform: {what}: {one_line(first)}", file=sys.stderr, flush=True)


@contextmanager
def reading(records: Sequence[Path], what: str) -> Iterator[None]:
    """Show progress while run records are read; if stderr is not a terminal, only for at least LARGE bytes in total."""
    if not sys.stderr.isatty() and sum(map(_size, records)) < LARGE:
        yield
        return
    with at_work(what, f"reading {records[0]}" if len(records) == 1 else f"reading {len(records)} records"):
        yield


def _size(record: Path) -> int:
    parts = [record] if record.is_file() else record.glob("run-*.ndjson")
    try:
        return sum(part.stat().st_size for part in parts)
    except OSError:
        return 0  # The reader reports the error.
