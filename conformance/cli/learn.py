"""`mqconform learn`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from conformance.cli.output import at_work, console, emit_json, fail, json_wanted
from conformance.cli.shared_options import (
    Adapter,
    DeadlineMs,
    InProcess,
    Profile,
    Reading,
    accepted,
    number,
    time,
)
from conformance.verdict import ExitCode

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
    reading: Reading = None,
    more_states: MoreStates = 1,
    budget: Annotated[float | None, time("--budget", "Time for learning: 30s, 5m or 2h (default: 2m).")] = None,
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
) -> None:
    """Learn the state machine that an implementation follows, and compare it with the specification's own."""

    command(
        what=what,
        adapter=adapter,
        profile=profile,
        **accepted(reading),
        more_states=more_states,
        budget_s=budget,
        steps=steps,
        kill=kill,
        without=without or [],
        html=html,
        svg=svg,
        dot=dot,
        deadline_ms=deadline_ms,
        in_process=in_process,
    )


def command(*, budget_s: float | None, html: Path | None, svg: Path | None, dot: Path | None, **wanted: Any) -> None:
    """Learn, write the pictures, print the result, and end with its exit code."""
    from conformance.adapter.errors import AdapterError, ConnectorError
    from conformance.command_options import BadInput
    from conformance.learn import BUDGET_S, MissingExtra, learn, need_learn
    from conformance.report.machine import as_json, lines

    try:
        need_learn()
        with at_work("learn", "starting the driver", quiet=json_wanted()) as show:
            found = learn(budget_s=BUDGET_S if budget_s is None else budget_s, on_progress=show, **wanted)
    except (BadInput, MissingExtra) as error:
        fail(str(error), ExitCode.BAD_INPUT)
    except ConnectorError as error:
        fail(error.sentence, ExitCode.BAD_INPUT)
    except AdapterError as error:
        fail(error.sentence, ExitCode.UNUSABLE)
    written = _write(found, html=html, svg=svg, dot=dot)
    if json_wanted():
        emit_json(as_json(found))
    else:
        out = console()
        for line in [*lines(found), *map(str, written)]:
            out.print(line, markup=False, soft_wrap=True)
    if found.sentence:
        fail(f"{found.sentence[:1].upper()}{found.sentence[1:]}", found.exit_code)
    sys.exit(int(found.exit_code))


def _write(found: Any, *, html: Path | None, svg: Path | None, dot: Path | None) -> list[Path]:
    """Write the files asked for; no drawing where no machine was learned."""
    from conformance.files import write_text
    from conformance.report.machine import dot as as_dot
    from conformance.report.machine import picture, render_machine
    from conformance.report.machine import svg as as_svg

    drawn = picture(found)
    texts: list[tuple[Path | None, Callable[[], str]]] = [(html, lambda: render_machine(found))]
    if drawn is not None:
        texts += [(svg, lambda: as_svg(drawn)), (dot, lambda: as_dot(drawn))]
    written = []
    for path, text in texts:
        if path is not None:
            write_text(path, text())
            written.append(path)
    return written
