"""`mqconform situations cover`: the situations that a run met."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.comparing import read
from conformance.cli.output import console, emit_json, fail
from conformance.cli.shared_options import Json
from conformance.verdict import ExitCode


def situations_cover(
    record: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or one part of a run record.")],
    operation: Annotated[
        str | None, typer.Option(help="Only this operation, such as messages.receive, with every pair not met.")
    ] = None,
    json: Json = False,
) -> None:
    """Tell which situations a run met, of those that can be reached, and what fell out and why."""
    from conformance.cli.requirements import known
    from conformance.cli.waiting import reading
    from conformance.report.situations import WHY, missing, situations

    with reading([record], "situations cover"):
        covered = situations(read(record))
    if covered is None:
        fail("This run played no planned history: run the suite situations.", ExitCode.BAD_INPUT)
    if operation is not None and covered.known:
        known("operation", operation, [line.name for line in covered.operations])
    lines = [line for line in covered.operations if operation in (None, line.name)]
    never = list(missing(covered, operation)) if operation is not None and covered.known else []
    if json:
        emit_json({**covered.to_json(), **({} if operation is None else {"operation": operation, "never": never})})
        return
    out = console()
    for line in lines:
        told = f"{line.pairs.met:>6,} of {line.pairs.of:,} pairs"
        triples = f", {line.triples.met:,} of {line.triples.of:,} triples" if line.triples.of else ""
        out.print(f"{line.name:<31}{line.all.percent:>4} %  {told}{triples}", markup=False, soft_wrap=True)
    for pair in never:
        out.print(f"  never: {pair}", markup=False, soft_wrap=True)
    if operation is None:
        for line in covered.sections:
            met = f"{line.all.met:>6,} of {line.all.of:,}"
            out.print(f"{line.name:<31}{line.all.percent:>4} %  {met}", markup=False, soft_wrap=True, style="dim")
        for reason, number in covered.fell.items():
            out.print(f"{number:,} {reason}: {WHY[reason]}", markup=False, soft_wrap=True)
        out.print(f"{covered.sentence}.", markup=False, soft_wrap=True)
