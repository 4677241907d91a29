"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from conformance.cli.bounds import DAY_MS, number
from conformance.spec.versions import PROFILES_TEXT

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
Readings = Annotated[str, typer.Option(help="Interpretation of disputed text: windows, strict or permissive.")]
Reading = Annotated[
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


def several(given: Sequence[str] | None) -> list[str]:
    """Return all words of an option that takes a comma-separated list and may be given several times."""
    return [word.strip() for text in given or () for word in text.split(",")]


def joined(given: Sequence[str] | None) -> str | None:
    """Return the same as one comma-separated list, None if the option was not given."""
    return ",".join(several(given)) if given else None


def group(text: str) -> typer.Typer:
    """Return a typer app for a command that has subcommands."""
    return typer.Typer(help=text, no_args_is_help=True, rich_markup_mode=None)
