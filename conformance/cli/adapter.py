"""Commands about an implementation: `mqconform adapter new`, `adapter check` and `learn`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from conformance.cli.output import at_work, console, emit_json, fail, json_wanted
from conformance.cli.shared_options import Adapter, DeadlineMs, Profile, Reading, accepted, number, time
from conformance.files import scratch
from conformance.verdict import ExitCode

DOUBTS = "A doubt is what a driver that repairs would answer too: see docs/drivers-do-not-repair.md."


def new_command(folder: Path, *, language: str) -> None:
    """Write a driver template; print its files and the command to try next."""
    from conformance.adapter.templates import TemplateError, write_template

    try:
        written = write_template(language, folder)
    except TemplateError as error:
        fail(error.sentence, ExitCode.BAD_INPUT)
    if json_wanted():
        emit_json({"files": list(map(str, written.files)), "next": written.next, "missing": written.missing})
        return
    out = console()
    for file in written.files:
        out.print(str(file), markup=False, soft_wrap=True)
    out.print(f"Next: {written.next}", markup=False, soft_wrap=True)
    if written.missing is not None:
        print(f"mqconform: {written.missing}", file=sys.stderr)


def check_command(connector: str) -> None:
    """Test a driver against the protocol. Exit codes: 0: no step is wrong; 1: one is wrong; 3: no driver."""
    from conformance.adapter.check import check_adapter
    from conformance.adapter.errors import ConnectorError, DriverUnusable
    from conformance.harness.connecting import ldap_handler

    with scratch("mqconform-check-") as state:
        try:
            steps = check_adapter(connector, state_dir=state, handlers={"ldap": ldap_handler})
        except ConnectorError as error:
            fail(error.sentence, ExitCode.BAD_INPUT)
        except DriverUnusable as error:
            fail(error.sentence, ExitCode.UNUSABLE)
    bad = [step for step in steps if step.state == "wrong"]
    doubts = [step for step in steps if step.state == "doubt"]
    if json_wanted():
        emit_json({"connector": connector, "ok": not bad, "steps": [asdict(step) for step in steps]})
    else:
        from conformance.runlog.counts import counted

        out = console()
        marks = {"ok": "ok     ", "missing": "missing", "doubt": "doubt  ", "wrong": "WRONG  "}
        for step in steps:
            out.print(f"{marks[step.state]}  {step.what}: {step.text}", markup=False, soft_wrap=True)
        verdict = f"{counted(len(bad), 'step')} went wrong." if bad else "The driver speaks the protocol."
        out.print(verdict, markup=False)
        if doubts:
            out.print(DOUBTS, markup=False, soft_wrap=True)
    sys.exit(int(ExitCode.DEVIATES if bad else ExitCode.CONFORMS))


app = typer.Typer(rich_markup_mode=None)

MoreStates = Annotated[
    int,
    number("--more-states", 0, 3, "States that the implementation may have beyond those found, for a complete result."),
]


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
    kill: Annotated[
        bool, typer.Option("--kill", help="Add the letter that kills the manager: each takes a start of the driver.")
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option("--without", metavar="LETTER", help="Leave out a letter; may be given several times."),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the page with drawing, differences and every step.")] = None,
    deadline_ms: DeadlineMs = 10_000,
) -> None:
    """Learn the state machine that an implementation follows, and compare it with the specification's own."""

    command(
        what=what,
        adapter=adapter,
        profile=profile,
        **accepted(reading),
        more_states=more_states,
        budget_s=budget,
        kill=kill,
        without=without or [],
        html=html,
        deadline_ms=deadline_ms,
    )


def command(*, budget_s: float | None, html: Path | None, **wanted: Any) -> None:
    """Learn, write the pictures, print the result, and end with its exit code."""
    from conformance.adapter.errors import AdapterError, ConnectorError
    from conformance.command_options import BadInput
    from conformance.files import write_text
    from conformance.learn import BUDGET_S, MissingExtra, learn, need_learn
    from conformance.report.machine import as_json, lines, render_machine

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
    if html is not None:
        write_text(html, render_machine(found))
    if json_wanted():
        emit_json(as_json(found))
    else:
        out = console()
        for line in [*lines(found), *([str(html)] if html is not None else [])]:
            out.print(line, markup=False, soft_wrap=True)
    if found.sentence:
        fail(f"{found.sentence[:1].upper()}{found.sentence[1:]}", found.exit_code)
    sys.exit(int(found.exit_code))
