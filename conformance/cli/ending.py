"""The end of a command: checks of its paths, what took the place of what is gone, one exit code and one message."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from conformance import interrupts
from conformance.children import hurry
from conformance.cli.output import CannotWrite, fail, tell, told_why
from conformance.files import GONE, NoScratch, working_folder_gone
from conformance.verdict import ExitCode

_CHECKOUT = "`python -m tools.{}` in a checkout of mqconform"
_LAKE = "deltalake and DuckDB on the lake (docs/lake.md)"
_IN_CHILDREN = ("replay", "repro", "readings infer", "adapter check", "learn")
REMOVED: Mapping[str, str] = {
    "diff": "`mqconform report BEFORE NOW`",
    "matrix": "`mqconform report RUN RUN...`",
    "grammar extract": _CHECKOUT.format("grammar extract"),
    "grammar build": _CHECKOUT.format("grammar build"),
    "grammar check": _CHECKOUT.format("grammar check"),
    "grammar generate": _CHECKOUT.format("grammar generate"),
    "spec": _CHECKOUT.format("audit"),
    "situations list": _CHECKOUT.format("situations list"),
    "situations show": _CHECKOUT.format("situations show"),
    "diagnose --jobs": "`--workers`",
    "selftest --jobs": "`--workers`",
    "selftest --fault": "the fault's name as an argument: `mqconform selftest NAME`",
    "selftest --record": "`--update`",
    "run --gate": "`--against` or `--baseline`, or `mqconform gate RUN`",
    "run --fail-fast": "`--max-failures 1`",
    "soak --list": "the error for another plan, which names them: `mqconform soak --plan list`",
    "soak --steps": "`--budget`: a history has at most 60 steps",
    "learn --svg": "`--html`, which has the drawing",
    "learn --dot": "`--json`, which has the states and their steps",
    "learn --steps": "`--budget`",
    "readings infer --walks": "`--budget`",
    "readings infer --stories": "`--json`, which has them",
    "readings list --requirement": "`mqconform requirements show ID`, which has its readings",
    "readings list --sure": "`--json`, and choose by its member sure",
    "gate --level": "`mqconform judge RUN --level LEVEL` before",
    "baseline update --level": "`mqconform judge RUN --level LEVEL` before",
    "report --parquet": "`--csv`, or `mqconform pipeline runs RUN --out LAKE`, whose tables are Parquet",
    "grammar parse --tree": _CHECKOUT.format("grammar generate"),
    **{f"{name} --in-process": "a driver in a child process, as without it" for name in _IN_CHILDREN},
    "--readings": "`--reading`, which takes a set too",
    "pipeline compact": _LAKE,
    "pipeline forget": _LAKE,
    "pipeline vacuum": _LAKE,
    "pipeline history": _LAKE,
    "pipeline upgrade": _LAKE,
    "pipeline prepare": _LAKE,
    "pipeline ingest --split": _LAKE,
    "pipeline watch --checkpoint": _LAKE,
}
"""A command, or a command and its option, to what to use instead."""


def successor(arguments: Sequence[str]) -> str | None:
    """Return a sentence on what takes the place of a command or option that is gone; None if none of them is."""
    line = list(arguments[: arguments.index("--")]) if "--" in arguments else list(arguments)
    for old, new in REMOVED.items():
        words = old.split()
        command = [word for word in words if not word.startswith("-")]
        options = {word.partition("=")[0] for word in line[len(command) :]}
        if line[: len(command)] == command and options.issuperset(words[len(command) :]):
            return f"`mqconform {old}` is gone: use {new}."
    return None


_REPORTS = ("junit", "sarif", "markdown", "badge", "csv", "allure")
OUTPUTS = frozenset({"out", "html", "extract", "eve", *_REPORTS})
"""Options whose paths are written; every other path is read."""
_TEXTS = frozenset({"captures", "lake", "out"})  # paths that may be addresses or patterns: declared as texts
_RECORD = "run-*.ndjson"


def guard(command: Any) -> None:
    """Make a command and its subcommands refuse empty names and an output that is an input."""
    for parameter in command.params:
        parameter.process_value = partial(_named, parameter, parameter.process_value)
    if any(parameter.name in OUTPUTS for parameter in command.params):
        command.invoke = partial(_without_overwriting, command.params, command.invoke)
    for below in getattr(command, "commands", {}).values():
        guard(below)


def _named(parameter: Any, process: Any, context: Any, value: Any) -> Any:
    """Return the processed value. Ends the command if it is a path, or a list of paths, with an empty name."""
    found = process(context, value)
    empty = not value if isinstance(value, str) else isinstance(value, (list, tuple)) and "" in value
    if empty and any(True for _ in _paths(parameter, found)):
        fail(f"{_called(parameter)} is empty: give the name of a file or folder.", ExitCode.BAD_INPUT)
    return found


def _without_overwriting(parameters: list[Any], invoke: Any, context: Any) -> Any:
    """Invoke the command, unless it would write one file twice or overwrite an input."""
    written: list[tuple[str, Path]] = []
    given = [(each, path) for each in parameters for path in _paths(each, context.params.get(each.name))]
    read = [path for each, path in given if each.name not in OUTPUTS]
    for parameter, path in given:
        if parameter.name not in OUTPUTS:
            continue
        name = _called(parameter)
        if any(_is_of(path, source) for source in read):
            fail(f"{name} names {path}, which is the input: name another file.", ExitCode.BAD_INPUT)
        for other, taken in written:
            if _same(path, taken):
                fail(f"{other} and {name} name the same file, {path}: give two different names.", ExitCode.BAD_INPUT)
        written.append((name, path))
    return invoke(context)


def _paths(parameter: Any, value: Any) -> Iterator[Path]:
    for each in value if isinstance(value, (list, tuple)) else [value]:
        if isinstance(each, Path) or (parameter.name in _TEXTS and isinstance(each, str) and each != "-"):
            yield _path(each)


def _path(name: str | Path) -> Path:
    """Return the path that a name means, `file:/...` included."""
    if not str(name).lower().startswith("file:"):
        return Path(name)
    from conformance.capture.addresses import path_of  # Its room takes time to load.

    return Path(path_of(str(name)))


def _is_of(path: Path, source: Path) -> bool:
    """True if a file is this input, or a part of it if the input is a run folder."""
    with suppress(OSError):
        if source.is_dir():
            return any(_same(path, part) for part in source.glob(_RECORD))
        return _same(path, source)
    return False


def _same(one: Path, other: Path) -> bool:
    """True if two names mean one file, which may not exist yet. A device (`/dev/stdout`) can be written twice."""
    with suppress(OSError):
        if one.exists() and other.exists():
            return (one.is_file() or one.is_dir()) and one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


def _called(parameter: Any) -> str:
    """Return the name of a parameter as the user writes it."""
    if parameter.param_type_name == "option":
        return str(parameter.opts[0])
    return str(parameter.metavar or parameter.name.upper()).strip("[].")


NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})
"""Errors of the machine when a file cannot be written; neither the command nor the driver is at fault."""
NO_NAME = frozenset({errno.ENAMETOOLONG, errno.ELOOP})
"""Errors for a name that no file can have; even asking whether it exists raises them."""
_SHOWN = 60  # characters of such a name in a message
_HELPING = frozenset({"--help", "--version"})
"""Options that work without a working folder."""


def run_to_the_end() -> int:
    """Run the command of the process's arguments. Returns its exit code; raises nothing."""
    hurry()
    try:
        code = _ended(sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = _end_with("Interrupted.", ExitCode.INTERRUPTED)
    except CannotWrite as error:
        code = _end_with(f"The output cannot be written ({error}).", ExitCode.BAD_INPUT)
    interrupts.work_is_over(code)
    return code


def _ended(arguments: Sequence[str]) -> int:
    if working_folder_gone() and not _HELPING.intersection(arguments):
        return _end_with(GONE, ExitCode.BAD_INPUT)
    try:
        from conformance.cli.app import app
        from conformance.cli.shared_options import command_of

        gone = successor(arguments)
        if gone is not None:
            return _end_with(gone, ExitCode.BAD_INPUT)
        command = command_of(app)
        guard(command)
        command(prog_name="mqconform")
    except SystemExit as ended:
        if interrupts.behind(ended) and not told_why():
            raise KeyboardInterrupt from None
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except Exception as error:
        return _failed(error)
    return int(ExitCode.CONFORMS)


def _failed(error: Exception) -> int:
    """Report an exception that no command handles, such as a full disk or our own defect. Returns the exit code."""
    from conformance.runlog.events import RunRecordError

    if interrupts.behind(error):
        raise KeyboardInterrupt from None
    if isinstance(error, RunRecordError):
        return _end_with(error.sentence, ExitCode.BAD_INPUT)
    if isinstance(error, NoScratch):
        return _end_with(str(error.strerror), ExitCode.BAD_INPUT)
    if isinstance(error, FileNotFoundError) and working_folder_gone():
        return _end_with(GONE, ExitCode.BAD_INPUT)
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        what = str(error.filename) if error.filename is not None else "A file"
        return _end_with(f"{what} cannot be written ({error.strerror}).", ExitCode.BAD_INPUT)
    if isinstance(error, OSError) and error.errno in NO_NAME:
        name = str(error.filename) if error.filename is not None else "A name"
        short = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}..."
        return _end_with(
            f"{short} cannot name a file or folder ({error.strerror}): give another one.", ExitCode.BAD_INPUT
        )
    # This is the outermost frame: anything else is our own defect, and the traceback helps to fix it.
    import traceback

    traceback.print_exc()
    sentence = f"This is a defect of mqconform, please report it: {type(error).__name__}"
    return _end_with(sentence, ExitCode.HARNESS_ERROR)


def _end_with(sentence: str, code: ExitCode) -> int:
    tell(sentence)
    return int(code)
