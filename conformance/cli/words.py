"""Options that several commands have, each with its one meaning."""

from __future__ import annotations

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Adapter = Annotated[
    str,
    typer.Option(
        "--adapter",
        metavar="CONNECTOR",
        help="embedded, embedded+FAULT[,FAULT], python:pkg.mod:Class, stdio:COMMAND or tcp:HOST:PORT.",
    ),
]
Profile = Annotated[str | None, typer.Option(help="MSMQ version: msmq-1.0 to msmq-6.0 (default msmq-4.0).")]
Level = Annotated[str, typer.Option(help="must, should or may: what is weaker only warns.")]
Readings = Annotated[str, typer.Option(help="How disputed text is read: windows, strict or permissive.")]
Reading = Annotated[
    list[str] | None,
    typer.Option(
        "--reading",
        metavar="ID=ALTERNATIVE",
        help="Accept this alternative alone (or either, as a|b); may be given several times.",
    ),
]
Section = Annotated[str | None, typer.Option(help="Only ids of this document and section; * matches.")]
InProcess = Annotated[bool, typer.Option("--in-process", help="Run embedded and python: drivers inside this process.")]


def group(text: str) -> typer.Typer:
    """A command with commands of its own."""
    return typer.Typer(help=text, no_args_is_help=True, rich_markup_mode=None)
