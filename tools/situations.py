"""The book of situations, `conformance/histories/situations/book.zlib`: make it, and show what it holds."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from conformance.cli.output import console, emit_json, fail
from conformance.cli.requirements import check_known
from conformance.cli.shared_options import Json, group
from conformance.histories.situations import book, object_book, situation
from conformance.judge.dialogues.walk_plans import METHOD, SITUATIONS, excluded, meeting, plans
from conformance.spec.catalogue import did_you_mean
from conformance.verdict import ExitCode
from tools.planner.planner import Effort, plan
from tools.planner.situation_texts import (
    Description,
    description,
    object_description,
    row_of_faults,
    rows,
)

app = group("Plan the histories that meet all situations, and show them.")


@app.command("plan")
def make(
    minutes: Annotated[
        float | None, typer.Option(help="End the walks by then; the book then depends on the machine.")
    ] = None,
    rounds: Annotated[int, typer.Option(help="Rounds of walks.")] = Effort().rounds,
    walks: Annotated[int, typer.Option(help="Walks of each process in a round.")] = Effort().walks,
    states: Annotated[int | None, typer.Option(help="Most states of every scope, instead of its own limit.")] = None,
    out: Annotated[Path, typer.Option(help="Write to this file instead.")] = book.DATA,
    start: Annotated[
        Path | None,
        typer.Option(help="Begin with the histories of this book, and its proofs if tables are equal."),
    ] = None,
) -> None:
    """Plan the histories that meet all situations, and write the book."""
    began = time.monotonic()
    until = float("inf") if minutes is None else began + 60 * minutes

    def tell(line: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {line}", file=sys.stderr, flush=True)

    made = plan(
        Effort(rounds=rounds, walks=walks, states=states),
        tell,
        until=until,
        start=None if start is None else book.unpacked(start.read_bytes(), start.name),
    )
    book.save(made, out)
    met = sum(len(numbers) for one in made.histories for numbers in one.met)
    calls = sum(len(one.calls) for one in made.histories)
    every = situation.space().count
    tell(f"{len(made.histories)} histories, {calls} calls, {out.stat().st_size} bytes")
    never = len(made.unreachable)
    tell(f"{every} situations: {met} planned, {never} unreachable, {every - met - never} not met")


def loaded() -> book.Book:
    """Return the book; end the command with a sentence for one that cannot be used."""
    try:
        return book.load()
    except book.BookError as error:
        fail(f"{error}.", ExitCode.HARNESS_ERROR)


def loaded_of_objects() -> object_book.ObjectBook:
    """Return the book of objects; end the command with a sentence for one that cannot be used."""
    try:
        return object_book.load()
    except book.BookError as error:
        fail(f"{error}.", ExitCode.HARNESS_ERROR)


@app.command("list", epilog="Example: python -m tools.situations list --operation messages.receive")
def list_situations(
    operation: Annotated[
        str | None,
        typer.Option(help="Only this operation, such as messages.receive, or member, such as MSMQQueue.Receive."),
    ] = None,
    json: Json = False,
) -> None:
    """Count the situations of each operation: planned, not reachable and why, and not met."""
    every, objects = situation.space(), object_book.space()
    if operation is not None:
        check_known("operation", operation, (*every.features, METHOD, *objects.features))
    of_calls = rows(every, loaded()) if operation in (None, *every.features) else []
    of_faults = [row_of_faults()] if operation in (None, METHOD) else []
    of_objects = rows(objects, loaded_of_objects()) if operation in (None, *objects.features) else []
    found = [row for row in (*of_calls, *of_faults, *of_objects) if operation in (None, row.method)]
    if json:
        emit_json([asdict(row) for row in found])
        return
    out = console()
    for row in found:
        counted = f"{row.whole} of all of them" if row.whole else f"{row.pairs} pairs, {row.triples} triples"
        there = f"{len(row.features)} features, {counted}"
        became = f"{row.planned} planned, {sum(row.unreachable.values())} not reachable, {row.not_met} not met"
        out.print(f"{row.method:<43}{there}: {became}", markup=False, soft_wrap=True)
        if operation is not None:
            out.print(f"  features: {', '.join(row.features)}", markup=False, soft_wrap=True)
            for why, count in row.unreachable.items():
                out.print(f"  {count}: {why}", markup=False, soft_wrap=True)
    planned = sum(row.planned for row in found)
    unreachable = sum(sum(row.unreachable.values()) for row in found)
    not_met = sum(row.not_met for row in found)
    every_one = planned + unreachable + not_met
    became = f"{planned} planned, {unreachable} not reachable, {not_met} not met"
    out.print(f"{every_one} situations: {became}", markup=False)


@app.command("show", epilog="Example: python -m tools.situations show 'messages.receive: time_out=none, cursor=parked'")
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The situation's name or, of an operation, its number.")],
    json: Json = False,
) -> None:
    """Show one situation, the steps of the text that make it, and the history that brings it about."""
    if name.partition(":")[0].strip() == METHOD:
        _show_fault(name.partition(":")[2].strip(), json=json)
        return
    every, objects = situation.space(), object_book.space()
    try:
        if name.partition(":")[0].strip() in objects.features:
            found = object_description(objects, loaded_of_objects(), objects.named(name))
        else:
            found = description(every, loaded(), every.named(name))
    except situation.UnknownSituation as error:
        fail(f"{str(error)[:1].upper()}{str(error)[1:]}.", ExitCode.BAD_INPUT)
    if json:
        emit_json(_as_json(found))
        return
    out = console()
    for line in _lines(found):
        out.print(line, markup=False, soft_wrap=True)


def _as_json(found: Description) -> dict[str, Any]:
    return {
        "number": found.situation.number,
        "situation": str(found.situation),
        "operation": found.situation.method,
        "features": dict(found.situation.values),
        "steps": list(found.steps),
        "unreachable": found.unreachable,
        "history": None if found.history is None else _history(found),
    }


def _history(found: Description) -> dict[str, Any]:
    told = {"number": found.number, "call": found.at, "story": list(found.story)}
    if isinstance(found.history, book.Planned):
        calls = [call.to_json() for call in found.history.calls]
        return {**told, "calls": calls, "virtual_clock": found.history.virtual, "wait_ms": found.history.wait_ms}
    return {**told, "acts": [act.to_json() for act in found.history.acts] if found.history is not None else []}


def _lines(found: Description) -> list[str]:
    lines = [f"{found.situation}  [{found.situation.number}]"]
    history = found.history
    if history is not None:
        clock = "; it needs a virtual clock" if getattr(history, "virtual", False) else ""
        lines.append(f"  history {found.number} meets it with call {found.at + 1}{clock}:")
        for number, line in enumerate(found.story[: found.at + 1], 1):
            lines.append(f"  {'>' if number == found.at + 1 else ' '} {number:>2}. {line}")
        rest = len(found.story) - found.at - 1
        lines += [f"      and {rest} more calls"] if rest else []
    elif found.unreachable is not None:
        lines.append(f"  not reachable, or not counted: {found.unreachable}")
    else:
        lines.append("  not met: no history is known that meets it, and no scope shows that none can")
    return [*lines, *(f"  step {step}" for step in found.steps)]


def _show_fault(name: str, *, json: bool) -> None:
    """Show a situation by its name, such as `cut/first-byte/express/acceptor/open`: its walk, or why there is none."""
    every = {one.name: one for one in SITUATIONS}
    found = every.get(name)
    if found is None:
        near = did_you_mean(name, every) or "."
        fail(f"There is no situation {name!r} of {METHOD}{near}", ExitCode.BAD_INPUT)
    walk = meeting(found)
    story = [act.sentence for act in plans()[walk].acts] if walk is not None else []
    if json:
        said: dict[str, Any] = {"situation": f"{METHOD}: {name}", "operation": METHOD, "features": found.values}
        emit_json({**said, "unreachable": excluded(found), "walk": walk, "story": story})
        return
    out = console()
    out.print(f"{METHOD}: {name}", markup=False, soft_wrap=True)
    if walk is None:
        out.print(f"  not reachable, or not counted: {excluded(found)}", markup=False, soft_wrap=True)
        return
    out.print(f"  the walk {walk} meets it:", markup=False, soft_wrap=True)
    for number, line in enumerate(story, 1):
        out.print(f"    {number:>2}. {line}", markup=False, soft_wrap=True)


if __name__ == "__main__":
    app()
