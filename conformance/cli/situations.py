"""`mqconform situations`: what the planned histories meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from conformance.cli.output import console, emit_json, fail
from conformance.cli.shared_options import Json, group
from conformance.cli.situations_cover import situations_cover
from conformance.cli.situations_faults import show_fault
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.histories.situations.book import Book
    from conformance.histories.situations.object_book import ObjectBook
    from conformance.histories.situations.situation_texts import Description

app = group("Show the situations that the planned histories bring about.")
app.command("cover", epilog="Example: mqconform situations cover out --operation messages.receive")(situations_cover)


def loaded() -> Book:
    """Return the book; end the command with a sentence for one that cannot be used."""
    from conformance.histories.situations.book import BookError, load

    try:
        return load()
    except BookError as error:
        fail(f"{error}.", ExitCode.HARNESS_ERROR)


def loaded_of_objects() -> ObjectBook:
    """Return the book of objects; end the command with a sentence for one that cannot be used."""
    from conformance.histories.situations.book import BookError
    from conformance.histories.situations.object_book import load

    try:
        return load()
    except BookError as error:
        fail(f"{error}.", ExitCode.HARNESS_ERROR)


@app.command("list", epilog="Example: mqconform situations list --operation messages.receive")
def situations_list(
    operation: Annotated[
        str | None,
        typer.Option(help="Only this operation, such as messages.receive, or member, such as MSMQQueue.Receive."),
    ] = None,
    json: Json = False,
) -> None:
    """Count the situations of each operation: planned, not reachable and why, and not met."""
    from dataclasses import asdict

    from conformance.cli.requirements import known
    from conformance.histories.situations import object_book
    from conformance.histories.situations.situation import space
    from conformance.histories.situations.situation_texts import row_of_faults, rows
    from conformance.judge.dialogues.walk_faults import METHOD

    every, objects = space(), object_book.space()
    if operation is not None:
        known("operation", operation, (*every.features, METHOD, *objects.features))
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


@app.command("show", epilog="Example: mqconform situations show 'messages.receive: time_out=none, cursor=parked'")
def situations_show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The situation's name or, of an operation, its number.")],
    json: Json = False,
) -> None:
    """Show one situation, the steps of the text that make it, and the history that brings it about."""
    from conformance.histories.situations import object_book
    from conformance.histories.situations.situation import UnknownSituation, space
    from conformance.histories.situations.situation_texts import description, told_of_objects
    from conformance.judge.dialogues.walk_faults import METHOD

    if name.partition(":")[0].strip() == METHOD:
        show_fault(name.partition(":")[2].strip(), json=json)
        return
    every, objects = space(), object_book.space()
    try:
        if name.partition(":")[0].strip() in objects.features:
            found = told_of_objects(objects, loaded_of_objects(), objects.named(name))
        else:
            found = description(every, loaded(), every.named(name))
    except UnknownSituation as error:
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
    from conformance.histories.situations.book import Planned

    told = {"number": found.number, "call": found.at, "story": list(found.story)}
    if isinstance(found.history, Planned):
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
