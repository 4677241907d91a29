"""The command `mqconform judge` and its options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conformance.cli.output import fail, json_wanted, progress_bar
from conformance.cli.shared_options import AllowIncomplete, alternatives, reading_set
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.rejudge import Rejudged

MAX_TOLD = 40

app = typer.Typer(rich_markup_mode=None)


@app.command(epilog="Example: mqconform judge out --reading strict --out judged")
def judge(
    record: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or one part of a run record.")],
    profile: Annotated[str | None, typer.Option(help="MSMQ version (default: the run's own).")] = None,
    level: Annotated[str | None, typer.Option(help="must, should or may (default: the run's own).")] = None,
    reading: Annotated[
        list[str] | None,
        typer.Option(
            "--reading",
            metavar="SET|ID=ALTERNATIVE",
            help="windows, strict or permissive (default: the run's own), or alternatives (a|b) of a reading.",
        ),
    ] = None,
    allow_incomplete: AllowIncomplete = False,
    out: Annotated[Path | None, typer.Option(help="Folder of the new run record and the report.")] = None,
) -> None:
    """Judge the data stored by a run again, by today's rules or other readings, without the implementation."""
    from conformance.api import BadInput, judge_again
    from conformance.cli.run import finish

    try:
        with progress_bar("judge", quiet=not sys.stderr.isatty()) as show:
            show(0, 1, "reading the record")
            found = judge_again(
                record,
                profile=profile,
                level=level,
                readings=reading_set(reading),
                chosen=alternatives(reading),
                allow_incomplete=allow_incomplete,
                out=out,
                on_progress=show,
            )
    except BadInput as error:
        fail(str(error), ExitCode.BAD_INPUT)
    if not json_wanted():
        for line in result_lines(found):
            print(line)
    finish(found.record, found.folder, found.exit_code, found.sentence, extra={"judged_again": _json(found)})


def result_lines(found: Rejudged) -> list[str]:
    """Return the lines of the result: changes, and what could not be judged again."""
    from conformance.report.table import UNSEALED
    from conformance.report.text import label

    lines = [] if found.sealed else [UNSEALED]
    lines += [f"{found.again} judged again; {len(found.changes)} requirements have another outcome"]
    for change in found.changes[:MAX_TOLD]:
        was, now = (each.value if each is not None else "nothing" for each in (change.before, change.now))
        lines.append(f"  {label(change.requirement)}: {was} -> {now}")
    if len(found.changes) > MAX_TOLD:
        lines.append(f"  and {len(found.changes) - MAX_TOLD} more")
    lines += [f"not stored: {label(why)}" + (f" ({count} times)" if count > 1 else "") for why, count in _few(found)]
    for what, names in (
        ("stands as recorded, its example is not stored", found.standing),
        (
            "stands as recorded, nothing of it is stored"
            if found.as_before
            else "not known any more, no example of it is stored",
            found.lost,
        ),
    ):
        if names:
            more = f" and {len(names) - MAX_TOLD} more" if len(names) > MAX_TOLD else ""
            lines.append(f"{what}: {', '.join(map(label, names[:MAX_TOLD]))}{more}")
    return lines


def _few(found: Rejudged) -> list[tuple[str, int]]:
    return sorted(found.left_out.items(), key=lambda each: -each[1])[:MAX_TOLD]


def _json(found: Rejudged) -> dict[str, Any]:
    return {
        "again": found.again,
        "changes": [
            {
                "requirement": each.requirement,
                "before": each.before.value if each.before else None,
                "now": each.now.value if each.now else None,
            }
            for each in found.changes
        ],
        "standing": list(found.standing),
        "lost": list(found.lost),
        "left_out": dict(found.left_out),
        "sealed": found.sealed,
        "as_before": found.as_before,
    }
