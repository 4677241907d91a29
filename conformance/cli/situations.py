"""`mqconform situations cover`: the situations that a run met."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conformance.cli.gate import read
from conformance.cli.output import console, emit_json, fail, json_wanted
from conformance.cli.shared_options import group
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.report.situations import Covered

app = group("Show the situations that a run met.")


@app.command("cover", epilog="Example: mqconform situations cover out --operation messages.receive")
def situations_cover(
    record: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or one part of a run record.")],
    operation: Annotated[
        str | None, typer.Option(help="Only this operation or member of an object, with every pair not met.")
    ] = None,
) -> None:
    """Tell which situations a run met, of those that can be reached, and what fell out and why."""
    from conformance.cli.output import reading
    from conformance.cli.requirements import check_known
    from conformance.report.situations import missing, situations, situations_of_objects

    with reading([record], "situations cover"):
        run = read(record)
        of_calls, of_objects = situations(run), situations_of_objects(run)
    every = [one for one in (of_calls, of_objects) if one is not None]
    if not every:
        fail("This run played no planned history: run the suite situations or objects.", ExitCode.BAD_INPUT)
    names = [line.name for covered in every for line in covered.operations]
    if operation is not None and names:
        check_known("operation", operation, names)
    mine = next((one for one in every if operation in [line.name for line in one.operations]), every[0])
    never = list(missing(mine, operation)) if operation is not None and mine.known else []
    if json_wanted():
        told = {} if operation is None else {"operation": operation, "never": never}
        objects = {} if of_objects is None or of_calls is None else {"objects": of_objects.to_json()}
        emit_json({**(mine if operation is not None else every[0]).to_json(), **objects, **told})
        return
    for covered in [mine] if operation is not None else every:
        _print(covered, operation, never)


def _print(covered: Covered, operation: str | None, never: list[str]) -> None:
    from conformance.report.situations import WHY

    out = console()
    lines = [line for line in covered.operations if operation in (None, line.name)]
    for line in lines:
        told = f"{line.pairs.met:>6,} of {line.pairs.of:,} pairs"
        triples = f", {line.triples.met:,} of {line.triples.of:,} triples" if line.triples.of else ""
        out.print(f"{line.name:<43}{line.all.percent:>4} %  {told}{triples}", markup=False, soft_wrap=True)
    for pair in never:
        out.print(f"  never: {pair}", markup=False, soft_wrap=True)
    if operation is None:
        for line in covered.sections:
            met = f"{line.all.met:>6,} of {line.all.of:,}"
            out.print(f"{line.name:<43}{line.all.percent:>4} %  {met}", markup=False, soft_wrap=True, style="dim")
        for reason, number in covered.fell.items():
            out.print(f"{number:,} {reason}: {WHY[reason]}", markup=False, soft_wrap=True)
        out.print(f"{covered.sentence}.", markup=False, soft_wrap=True)
