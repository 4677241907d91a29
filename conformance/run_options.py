"""The options of a run, declared once: the command, pytest's options, the record and the API derive from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, wraps
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeVar, get_args, get_type_hints

from conformance.spec.versions import PROFILES_TEXT

P = ParamSpec("P")
T = TypeVar("T")
DAY_MS = 86_400_000


class Option(NamedTuple):
    """How an option is written.

    flag: its word on the command line of mqconform. own: pytest's word, after `--mq-`. For both, "" is the name of the
    field, and None means that there is no such option. bounds: of a whole number.
    """

    help: str
    metavar: str | None = None
    bounds: tuple[int, int] | None = None
    flag: str | None = ""
    own: str | None = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A run as a user asks for it; the fields are the arguments of `conformance.run`."""

    adapter: Annotated[
        str,
        Option(
            "embedded, embedded+FAULT[,FAULT], python:pkg.mod:Class, stdio:COMMAND, tcp:HOST:PORT or wire:HOST.",
            "CONNECTOR",
        ),
    ] = "embedded"
    suites: Annotated[
        Sequence[str] | str | None,
        Option("Suites, comma-separated or given several times (default: all).", flag="suite", own=None),
    ] = None
    requirements: Annotated[
        Sequence[str],
        Option(
            "Only the tests that claim this requirement (an id, a section, a pattern); may be given several times.",
            "ID", flag="requirement", own="requirement",
        ),
    ] = ()  # fmt: skip
    profile: Annotated[str | None, Option(f"MSMQ version: {PROFILES_TEXT}.")] = None
    level: Annotated[str, Option("must, should or may: weaker requirements only warn.")] = "must"
    readings: Annotated[str, Option("windows, strict or permissive.", "SET", flag=None)] = "windows"
    chosen: Annotated[
        Sequence[str],
        Option("Accept only this alternative (or several, as a|b).", "ID=ALTERNATIVE", flag=None, own="reading"),
    ] = ()
    seed: Annotated[int, Option("Seed of everything that is generated.", bounds=(0, (1 << 64) - 1))] = 0
    out: Annotated[Path | str | None, Option("Folder of the run record and the report.")] = None
    max_examples: Annotated[int, Option("Generated examples per test.", bounds=(1, 1_000_000))] = 30
    steps: Annotated[int, Option("Most steps in one stateful example.", bounds=(1, 10_000))] = 30
    situations: Annotated[
        str | int,
        Option("Planned situations to play: all, all pairs, or so many (default: what fits a minute).", "all|pairs|N"),
    ] = "default"
    budget_s: Annotated[
        float | None,
        Option(
            "Time to divide among the suites (30s, 5m, 2h); tests that do not fit are left out.",
            flag="budget", own="budget",
        ),
    ] = None  # fmt: skip
    deadline_ms: Annotated[
        int, Option("Longest time that a call may take; then the driver is killed.", "MS", (1, DAY_MS), own="deadline")
    ] = 10_000
    quirks: Annotated[
        bool,
        Option("Go on behind a deviation that a known fault explains.", flag="quirks/--no-quirks", own="no-quirks"),
    ] = True
    max_failures: Annotated[
        int | None, Option("Stop after this many tests have found a deviation.", bounds=(1, 1_000_000), own=None)
    ] = None
    workers: Annotated[int, Option("Number of parallel tests, each with its own driver.", bounds=(1, 64), own=None)] = 1
    in_process: Annotated[bool, Option("Run embedded and python: drivers inside this process.")] = False
    allow_incomplete: Annotated[bool, Option("End with 0 though --budget left tests out (otherwise 5).", own=None)] = (
        False
    )
    live: Annotated[
        int | None,
        Option("Show the run as it goes on, on this port of 127.0.0.1 (0: any).", "PORT", (0, 65_535), own=None),
    ] = None
    label: Annotated[str | None, Option("Name of the run in its reports.", "TEXT")] = None
    known: Annotated[
        Path | str | None,
        Option("A baseline, whose quirks are known from the beginning.", "TOML", flag=None, own="quirks"),
    ] = None
    disable: Annotated[
        Sequence[str], Option("Switch off the checks of these requirements, to test the tests.", "IDS", flag=None)
    ] = ()
    pytest_args: Sequence[str] = ()
    on_progress: Callable[[Any], None] | None = None

    @classmethod
    def of_pytest(cls, values: Any) -> RunRequest:
        """Return the request that pytest's options `--mq-*` make."""
        found: dict[str, Any] = {}
        for name, one in declared().items():
            value = getattr(values, f"mq_{one.own.replace('-', '_')}") if one.own else None
            if one.kind is list:
                found[name] = [word for text in value or () for word in text.split(",") if word] or one.default
            elif value is not None:
                found[name] = not value if one.default is True else value
        return cls(**found)

    def pytest_options(self) -> Iterator[str]:
        """Yield the `--mq-*` options that `of_pytest` turns into this request."""
        for name, one in declared().items():
            value = getattr(self, name)
            if one.own and one.kind is bool:
                yield from [f"--mq-{one.own}"] if value != one.default else []
            elif one.own and value is not None:
                yield from (f"--mq-{one.own}={each}" for each in (value if one.kind is list else [value]))


class Declared(NamedTuple):
    """An option of `RunRequest`: how it is written, the words that name it, None where there is none, and its kind.

    kind: list for one that may be given several times, float for a time.
    """

    option: Option
    flag: str | None
    own: str | None
    kind: type
    default: Any


_KINDS = {"Sequence": list, "Path": Path, "str": str, "bool": bool, "float": float, "int": int}


@cache
def declared() -> Mapping[str, Declared]:
    """Return the options by the name of their field."""
    hints = get_type_hints(RunRequest, include_extras=True)
    defaults = {one.name: one.default for one in fields(RunRequest)}
    found = {}
    for name, hint in hints.items():
        if type(option := get_args(hint)[-1]) is Option:
            kind = next(kind for word, kind in _KINDS.items() if word in str(get_args(hint)[0]))
            flag, own = (name.replace("_", "-") if word == "" else word for word in (option.flag, option.own))
            found[name] = Declared(option, flag and f"--{flag}", own, kind, defaults[name])
    return found


def add_to_pytest(add: Callable[..., None]) -> None:
    """Register the options that pytest takes. add: `addoption` of a group."""
    for name, (option, _, own, kind, default) in declared().items():
        text = option.help if default is not True else f"Do not: {option.help[:1].lower()}{option.help[1:]}"
        if own is None:
            continue
        if kind is bool:
            add(f"--mq-{own}", help=text, action="store_true")
        elif kind is list:
            add(f"--mq-{own}", help=text, metavar=option.metavar or own.upper(), action="append", default=[])
        else:
            how = {"type": str if kind is Path else kind, "default": None if name == "adapter" else default}
            add(f"--mq-{own}", help=text, metavar=option.metavar or own.upper(), **how)


def with_arguments(make: Callable[P, RunRequest]) -> Callable[[Callable[[RunRequest], T]], Callable[P, T]]:
    """Make a function of a request a function of the request's fields."""

    def decorated(work: Callable[[RunRequest], T]) -> Callable[P, T]:
        @wraps(work)
        def called(*args: P.args, **kwargs: P.kwargs) -> T:
            return work(make(*args, **kwargs))

        called.__signature__ = signature(make)  # type: ignore[attr-defined]
        return called

    return decorated
