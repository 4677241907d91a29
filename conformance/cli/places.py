"""Checks of path arguments before a command begins: no empty names, and no output that overwrites an input.

The commands that typer makes are patched, so that every argument and option that is a path is checked. An empty name
is detected before it becomes a path, as it would then mean the current folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from conformance.cli.output import fail
from conformance.verdict import ExitCode

_REPORTS = ("junit", "sarif", "markdown", "badge", "csv", "parquet", "allure", "svg", "dot")
OUTPUTS = frozenset({"out", "html", "extract", "eve", *_REPORTS})
"""Options whose paths are written; every other path is read."""
_TEXTS = frozenset({"captures", "lake", "out"})  # paths that may be addresses or patterns: declared as texts
_RECORD = "run-*.ndjson"


def guard(command: Any) -> None:
    """Make a command and its subcommands refuse empty names and an output that is an input."""
    for parameter in command.params:
        parameter.process_value = partial(_named, parameter, parameter.process_value)
    if any(parameter.name in OUTPUTS for parameter in command.params):
        command.invoke = partial(_kept, command.params, command.invoke)
    for below in getattr(command, "commands", {}).values():
        guard(below)


def _named(parameter: Any, process: Any, context: Any, value: Any) -> Any:
    """Return the processed value. Ends the command if it is a path, or a list of paths, with an empty name."""
    found = process(context, value)
    empty = not value if isinstance(value, str) else isinstance(value, (list, tuple)) and "" in value
    if empty and any(True for _ in _paths(parameter, found)):
        fail(f"{_called(parameter)} is empty: give the name of a file or folder.", ExitCode.BAD_INPUT)
    return found


def _kept(parameters: list[Any], invoke: Any, context: Any) -> Any:
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
    from conformance.capture.inputs import path_of  # Its room takes time to load.

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
