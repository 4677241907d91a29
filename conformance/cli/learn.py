"""`mqconform learn`: its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.bounds import number
from conformance.cli.shared_options import Adapter, DeadlineMs, InProcess, Json, Profile, Reading, Readings

app = typer.Typer(rich_markup_mode=None)

MoreStates = Annotated[
    int,
    number("--more-states", 0, 3, "States that the implementation may have beyond those found, for a complete result."),
]
Steps = Annotated[int | None, number("--steps", 1, 1_000_000_000, "Letters to play at most.")]


@app.command(epilog="Example: mqconform learn --adapter 'stdio:./mydriver' --what cursor --html cursor.html")
def learn(
    what: Annotated[
        str, typer.Option("--what", metavar="WHAT", help="cursor, transaction, message (with moves) or journal.")
    ],
    adapter: Adapter = "embedded",
    profile: Profile = None,
    readings: Readings = "windows",
    reading: Reading = None,
    more_states: MoreStates = 1,
    budget: Annotated[str | None, typer.Option(help="Time for learning: 30s, 5m or 2h (default: 2m).")] = None,
    steps: Steps = None,
    kill: Annotated[
        bool, typer.Option("--kill", help="Add the letter that kills the manager: each takes a start of the driver.")
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option("--without", metavar="LETTER", help="Leave out a letter; may be given several times."),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the page with drawing, differences and every step.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Write the drawing alone.")] = None,
    dot: Annotated[Path | None, typer.Option(help="Write the machine for Graphviz.")] = None,
    deadline_ms: DeadlineMs = 10_000,
    in_process: InProcess = False,
    json: Json = False,
) -> None:
    """Learn the state machine that an implementation follows, and compare it with the specification's own."""
    from conformance.cli.learned import command

    command(
        what=what,
        adapter=adapter,
        profile=profile,
        readings=readings,
        chosen=reading or [],
        more_states=more_states,
        budget=budget,
        steps=steps,
        kill=kill,
        without=without or [],
        html=html,
        svg=svg,
        dot=dot,
        deadline_ms=deadline_ms,
        in_process=in_process,
        json=json,
    )
