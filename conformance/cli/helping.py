"""Help texts of all commands: metavariables for users in place of type names, and lines as wide as the terminal.

The commands that typer makes are patched, so that options are declared as usual with typer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import typer

WIDEST = 120
METAVARS: Mapping[str, str] = {
    "suite": "NAMES",
    "profile": "VERSION",
    "level": "LEVEL",
    "readings": "SET",
    "budget": "TIME",
    "section": "SECTION",
    "requirement": "ID",
    "fault": "NAME",
    "plan": "NAME",
    "operation": "METHOD",
    "lang": "LANGUAGE",
    "form": "FORM",
    "start": "RULE",
    "checked": "WAYS",
    "link": "URL",
    "text": "NAME",
    "stream": "HOW",
    "reason": "TEXT",
}
_TYPE = re.compile(r"<([^<>]*)>?\s*$")
_NUMBERS = ("int", "float")


def command_of(app: typer.Typer) -> Any:
    """Return the command of a typer app with readable help, also for all its subcommands."""
    root = typer.main.get_command(app)
    root.context_settings["max_content_width"] = WIDEST + 2  # click leaves two columns free
    _mend(root)
    return root


def _mend(command: Any) -> None:
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            parameter.get_usage_pieces = partial(_usage, parameter)
        parameter.get_help_record = partial(_record, parameter, type(parameter).get_help_record)
    command.format_epilog = partial(_epilog, command)
    for below in getattr(command, "commands", {}).values():
        _mend(below)


def _usage(argument: Any, context: Any) -> list[str]:
    name = _argument(argument, "")
    return [name if argument.required or name.startswith("[") else f"[{name}]"]


def _argument(argument: Any, kind: str) -> str:
    if argument.metavar is not None:
        return str(argument.metavar)
    return _metavar(argument, kind or "path") + ("" if argument.nargs == 1 else "...")


def _record(parameter: Any, made: Any, context: Any) -> tuple[str, str] | None:
    """Return typer's help record of an option, with a metavariable in place of a type."""
    record = made(parameter, context)
    if record is None:
        return None
    name, text = record
    found = _TYPE.search(name)
    kind = found[1] if found else ""
    if parameter.param_type_name == "argument":
        return _argument(parameter, kind), text
    if found and parameter.metavar is None:
        name = f"{name[: found.start()].rstrip()} {_metavar(parameter, kind)}"
    return name, text


def _metavar(parameter: Any, kind: str) -> str:
    if parameter.name in METAVARS:
        return METAVARS[parameter.name]
    if "path" in kind.lower():
        return "FOLDER" if "folder" in (parameter.help or "").lower() else "FILE"
    return "N" if kind.startswith(_NUMBERS) else "TEXT"


def _epilog(command: Any, context: Any, formatter: Any) -> None:
    """Write each example unwrapped on its own line, so that it can be copied."""
    if command.epilog:
        formatter.write_paragraph()
        formatter.write(f"  {command.epilog}\n")
