"""Options that several commands share, their bounds, and help texts with metavariables for users."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from typing import Annotated, Any

import typer

from conformance.cli.output import fail
from conformance.spec.versions import PROFILES_TEXT
from conformance.verdict import ExitCode

DAY_MS = 86_400_000


def number(flag: str, low: int, high: int, text: str, *, metavar: str = "N") -> Any:
    """Return a typer option for a whole number from low to high. text: its help, to which the bounds are added."""
    return typer.Option(flag, parser=_whole(low, high), metavar=metavar, help=f"{text}  [{low:,} to {high:,}]")


def seconds(flag: str, low: float, high: float, text: str) -> Any:
    """Return a typer option for seconds from low to high; fractions are allowed."""
    return typer.Option(flag, parser=_amount(low, high), metavar="SECONDS", help=f"{text}  [{low:,} to {high:,}]")


def day(flag: str, text: str) -> Any:
    """Return a typer option for a day, as `date`."""
    return typer.Option(flag, parser=_day, metavar="YYYY-MM-DD", help=text)


def _day(text: str | date) -> date:
    if isinstance(text, date):
        return text
    try:
        return datetime.strptime(text.strip(), "%Y-%m-%d").date()
    except ValueError:
        raise typer.BadParameter(f"Invalid date {_short(text)!r}: write YYYY-MM-DD.") from None


def _amount(low: float, high: float) -> Callable[[str], float]:
    def parsed(text: str | float) -> float:
        try:
            found = float(text)
        except ValueError:
            raise typer.BadParameter(f"{_short(str(text))!r} is not a number ({low:,} to {high:,}).") from None
        if not low <= found <= high:  # also refuses nan
            raise typer.BadParameter(f"{_short(str(text))} is out of range ({low:,} to {high:,}).")
        return found

    return parsed


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parsed(text: str | int) -> int:
        word = str(text).strip()
        sign = word[1:] if word[:1] in ("-", "+") else word
        if not (sign.isascii() and sign.isdigit()):
            raise typer.BadParameter(f"{_short(word)!r} is not a whole number ({low:,} to {high:,}).")
        # Python refuses to convert a number of thousands of digits, so its length is checked first.
        if len(sign) > len(str(high)) + 20 or not low <= int(word) <= high:
            raise typer.BadParameter(f"{_short(word)} is out of range ({low:,} to {high:,}).")
        return int(word)

    return parsed


def _short(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:40]}..."


Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
_CONNECTOR = typer.Option(
    "--adapter",
    metavar="CONNECTOR",
    help="embedded, embedded+FAULT[,FAULT], python:pkg.mod:Class, stdio:COMMAND, tcp:HOST:PORT or wire:HOST.",
)
Adapter = Annotated[str, _CONNECTOR]
AdapterOrNone = Annotated[str | None, _CONNECTOR]
Profile = Annotated[str | None, typer.Option(help=f"MSMQ version: {PROFILES_TEXT}.")]
Level = Annotated[str, typer.Option(help="must, should or may: weaker requirements only warn.")]
Reading = Annotated[
    list[str] | None,
    typer.Option(
        "--reading",
        metavar="SET|ID=ALTERNATIVE",
        help="Interpretation of disputed text: windows (default), strict or permissive; or accept only this alternative"
        " (or several, as a|b) of a reading. May be given several times.",
    ),
]
Alternatives = Annotated[
    list[str] | None,
    typer.Option(
        "--reading",
        metavar="ID=ALTERNATIVE",
        help="Accept only this alternative (or several, as a|b); may be given several times.",
    ),
]
Section = Annotated[str | None, typer.Option(help="Only ids of this document and section; * matches.")]
Seed = Annotated[int, number("--seed", 0, (1 << 64) - 1, "Seed of everything that is generated.")]
DeadlineMs = Annotated[
    int,
    number("--deadline-ms", 1, DAY_MS, "Longest time that a call may take; then the driver is killed.", metavar="MS"),
]
MaxExamples = Annotated[int, number("--max-examples", 1, 1_000_000, "Generated examples per test.")]
Steps = Annotated[int, number("--steps", 1, 10_000, "Most steps in one stateful example.")]
Situations = Annotated[
    str,
    typer.Option(
        "--situations",
        metavar="all|pairs|N",
        help="Planned situations to play: all, all pairs, or so many (default: what fits a minute).",
        show_default=False,
    ),
]
HistorySteps = Annotated[int, number("--steps", 1, 1_000, "Most steps in one history.")]
Histories = Annotated[int | None, number("--histories", 1, 1_000_000_000, "End after so many histories.")]
MaxFailures = Annotated[
    int | None, number("--max-failures", 1, 1_000_000, "Stop after this many tests have found a deviation.")
]
Workers = Annotated[int, number("--workers", 1, 64, "Number of parallel tests, each with its own driver.")]
WorkersOrNone = Annotated[int | None, number("--workers", 1, 64, "Number of parallel runs (default: 2).")]
Walks = Annotated[int, number("--walks", 0, 100_000, "Number of walks of each kind, if no --budget is given.")]
InProcess = Annotated[bool, typer.Option("--in-process", help="Run embedded and python: drivers inside this process.")]

Suites = Annotated[
    list[str] | None,
    typer.Option("--suite", help="Suites, comma-separated or given several times (default: all)."),
]

AllowIncomplete = Annotated[
    bool,
    typer.Option(
        "--allow-incomplete",
        help="Accept captures that lack bytes they announce (otherwise exit code 2), and tests left out (5).",
    ),
]


def reading_set(given: Sequence[str] | None) -> str | None:
    """Return the set that `--reading` names, None if it names none. Ends the command if it names two."""
    sets = sorted({word for word in given or () if not _is_alternative(word)})
    if len(sets) > 1:
        fail(f"--reading names several sets: {' and '.join(map(repr, sets))}. Name one.", ExitCode.BAD_INPUT)
    return sets[0] if sets else None


def alternatives(given: Sequence[str] | None) -> list[str]:
    """Return the alternatives of readings that `--reading` chooses."""
    return [word for word in given or () if _is_alternative(word)]


def _is_alternative(word: str) -> bool:
    return "=" in word or word.startswith("R-")


def several(given: Sequence[str] | None) -> list[str]:
    """Return all words of an option that takes a comma-separated list and may be given several times."""
    return [word.strip() for text in given or () for word in text.split(",")]


def joined(given: Sequence[str] | None) -> str | None:
    """Return the same as one comma-separated list, None if the option was not given."""
    return ",".join(several(given)) if given else None


def group(text: str) -> typer.Typer:
    """Return a typer app for a command that has subcommands."""
    return typer.Typer(help=text, no_args_is_help=True, rich_markup_mode=None)


WIDEST = 120
METAVARS: Mapping[str, str] = {
    "suite": "NAMES",
    "profile": "VERSION",
    "level": "LEVEL",
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
