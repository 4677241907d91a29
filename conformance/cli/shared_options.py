"""Options that several commands share, their bounds, and help texts with metavariables for users."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer

from conformance.cli.output import fail, want_json
from conformance.run_options import RunRequest, declared
from conformance.verdict import ExitCode


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


_alone = typer.Typer(add_completion=False)


@_alone.command()
def _json(json: Json = False) -> None:
    want_json(json)


_JSON: Any = typer.main.get_command(_alone).params[0]
_JSON.expose_value, _JSON.callback = False, lambda _, __, value: want_json(value)
"""An option of every command, as `--help` is."""


def time(flag: str, text: str) -> Any:
    """Return a typer option for a time, whose value is in seconds."""
    return typer.Option(flag, parser=_duration, metavar="TIME", help=text)


def _duration(text: str | float) -> float:
    from conformance.command_options import BadInput
    from conformance.command_options import seconds as understood

    try:
        return understood(text) if isinstance(text, str) else text
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)


def _declared(name: str) -> Any:
    """Return the typer option of a field of `RunRequest`."""
    option, flag, _, kind, default = declared()[name]
    assert flag is not None
    if option.bounds:
        return number(flag, *option.bounds, option.help, metavar=option.metavar or "N")
    if kind is float:
        return time(flag, option.help)
    return typer.Option(flag, metavar=option.metavar, help=option.help, show_default=default != "default")


Adapter = Annotated[str, _declared("adapter")]
AdapterOrNone = Annotated[str | None, _declared("adapter")]
Profile = Annotated[str | None, _declared("profile")]
Level = Annotated[str, _declared("level")]
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
Seed = Annotated[int, _declared("seed")]
DeadlineMs = Annotated[int, _declared("deadline_ms")]
Histories = Annotated[int | None, number("--histories", 1, 1_000_000_000, "End after so many histories.")]
WorkersOrNone = Annotated[int | None, number("--workers", 1, 64, "Number of parallel runs (default: 2).")]
InProcess = Annotated[bool, _declared("in_process")]
Suites = Annotated[list[str] | None, _declared("suites")]

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


def accepted(given: Sequence[str] | None) -> dict[str, Any]:
    """Return what `--reading` says as the arguments `readings`, the set, and `chosen`."""
    return {"readings": reading_set(given) or "windows", "chosen": alternatives(given)}


def _is_alternative(word: str) -> bool:
    return "=" in word or word.startswith("R-")


def requesting(work: Callable[..., None]) -> Callable[..., None]:
    """Make a command of a function of a `RunRequest` and options of its own: those of the request come first."""
    parameters = {}
    for name, one in declared().items():
        if one.flag is not None:
            kind: Any = list[str] if one.kind is list else one.kind
            default = None if one.default == () else one.default
            option: Any = Annotated[kind if default is not None else kind | None, _declared(name)]
            word = one.flag.partition("/")[0].strip("-").replace("-", "_")
            parameters[name] = Parameter(word, Parameter.KEYWORD_ONLY, default=default, annotation=option)
        elif name == "readings":
            parameters[name] = Parameter("reading", Parameter.KEYWORD_ONLY, default=None, annotation=Reading)

    def command(**given: Any) -> None:
        asked = {name: given.pop(parameter.name) for name, parameter in parameters.items()}
        asked |= accepted(asked["readings"])
        asked["requirements"] = several(asked["requirements"])
        work(RunRequest(**asked), **given)

    own = list(signature(work, eval_str=True).parameters.values())[1:]
    command.__name__, command.__doc__, command.__annotations__ = work.__name__, work.__doc__, {}
    command.__signature__ = Signature([*own[:1], *parameters.values(), *own[1:]])  # type: ignore[attr-defined]
    return command


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
    if command.name != "setup" and not hasattr(command, "commands"):
        command.get_params = partial(_parameters, command)
    for below in getattr(command, "commands", {}).values():
        _mend(below)


def _parameters(command: Any, context: Any) -> list[Any]:
    own = [] if any(one.name == "json" for one in command.params) else [_JSON]
    return [*command.params, *own, command.get_help_option(context)]


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
