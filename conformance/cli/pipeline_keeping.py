"""`mqconform pipeline compact`, `forget`, `vacuum` and `history`: keep a lake on Delta or Iceberg in order."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from conformance.cli.bounds import day as day_option
from conformance.cli.bounds import number as number_option
from conformance.cli.output import emit_json, fail
from conformance.cli.pipeline_analysis import Json, Lakes
from conformance.cli.pipeline_failing import failing
from conformance.cli.waiting import begin
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.pipeline.keeping_compact import Compacted
    from conformance.pipeline.keeping_vacuum import Vacuumed
    from conformance.pipeline.lakes.delta import TableLake

LEFT = "the rows of the lake are as they were"
"""How an interrupted command leaves the lake."""
app = typer.Typer(rich_markup_mode=None)
_SHOWN = 20
"""Files that `vacuum` prints by name."""


@app.command(epilog="Example: mqconform pipeline compact lake --day 2026-01-31")
def compact(
    lake: Lakes,
    day: Annotated[date | None, day_option("--day", "Only the files of this day (default: all days).")] = None,
    target: Annotated[
        int, number_option("--target", 1, 4096, "Largest size of the files that are made, in MiB.", metavar="MIB")
    ] = 128,
    json: Json = False,
) -> None:
    """Make few large files of many small ones, day by day; verdicts by requirement and sender. The rows stay."""
    with failing(LEFT):
        from conformance.pipeline import keeping

        opened = _opened(lake, "compact")
        begin("pipeline compact", "reading the lake", quiet=json)
        done = keeping.compact(opened, day, target << 20)
    if json:
        emit_json({"tables": [one.to_json() for one in done]})
    else:
        _tell_compacted(done)


@app.command(epilog="Example: mqconform pipeline forget lake --before 2026-01-01 --yes")
def forget(
    lake: Lakes,
    before: Annotated[date, day_option("--before", "Remove the rows of all days before this one.")],
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove them; without this, only tell how many there are.")
    ] = False,
    json: Json = False,
) -> None:
    """Remove old days from a lake, as one batch. Their captures and runs stay known: ingesting them adds nothing."""
    with failing(LEFT):
        from conformance.pipeline import keeping

        opened = _opened(lake, "forget")
        done = keeping.forget(opened, before) if yes else keeping.to_forget(opened, before)
    rows = sum(done.rows.values())
    if json:
        emit_json({**done.to_json(), "removed": yes})
    else:
        found = ", ".join(f"{count:,} {name}" for name, count in done.rows.items() if count) or "nothing"
        print(f"{'removed' if yes else 'to remove'}: {found}")
    if rows and not yes:
        fail("Nothing was removed; add --yes to remove these rows.", ExitCode.BAD_INPUT)


@app.command(epilog="Example: mqconform pipeline vacuum lake --dry-run")
def vacuum(
    lake: Lakes,
    keep: Annotated[
        int, number_option("--keep", 0, 36_500, "Keep what the lake of the last days needs.", metavar="DAYS")
    ] = 7,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be removed.")] = False,
    json: Json = False,
) -> None:
    """Remove files that the lake no longer needs: compacted and forgotten ones, and what killed commands left."""
    with failing(LEFT):
        from conformance.pipeline import keeping

        opened = _opened(lake, "vacuum")
        begin("pipeline vacuum", "reading the lake", quiet=json)
        done = keeping.vacuum(opened, keep, dry_run=dry_run)
    if json:
        emit_json(
            {"dry_run": dry_run, "bytes": sum(one.bytes for one in done), "tables": [one.to_json() for one in done]}
        )
    else:
        _tell_vacuumed(done, dry_run=dry_run)


@app.command(epilog="Example: mqconform pipeline history lake --last 10")
def history(
    lake: Lakes,
    last: Annotated[int, number_option("--last", 1, 1_000_000, "How many batches to show, the newest first.")] = 20,
    json: Json = False,
) -> None:
    """List the batches of a lake: their numbers and names are what --as-of takes."""
    with failing(LEFT):
        opened = _opened(lake, "history")
        found = opened.history()
        shown = found[-last:][::-1]
        gone = opened.unreadable([one.number for one in shown])
    if json:
        batches = [{**one.to_json(), "readable": one.number not in gone} for one in shown]
        emit_json({"batches": batches, "total": len(found)})
        return
    for one in shown:
        mark = "  can no longer be read" if one.number in gone else ""
        print(f"{one.number:>7}  {one.at:%Y-%m-%d %H:%M:%S}  {one.kind:<8}  {one.batch}{mark}")
    if len(found) > last:
        print(f"mqconform: the last {last:,} of {len(found):,} batches; use --last for more.", file=sys.stderr)


def _opened(place: str, command: str) -> TableLake:
    from conformance.pipeline.scan import require_arrow

    require_arrow()
    from conformance.pipeline import keeping
    from conformance.pipeline.lake import Lake

    return keeping.on_tables(Lake.open(place), command)


def _tell_compacted(done: Sequence[Compacted]) -> None:
    for one in done:
        if one.files_before:
            print(
                f"{one.table}: {one.files_before:,} files became {one.files_after:,} ({one.rows:,} rows, "
                f"{_size(one.bytes_before)} to {_size(one.bytes_after)})"
            )
    if not any(one.files_before for one in done):
        print("nothing to compact")


def _tell_vacuumed(done: Sequence[Vacuumed], *, dry_run: bool) -> None:
    files = [one for table in done for one in table.files]
    for place, size in files[:_SHOWN]:
        print(f"{place}  {_size(size)}")
    if len(files) > _SHOWN:
        print(f"... and {len(files) - _SHOWN:,} more")
    word = "would be removed" if dry_run else "removed"
    print(f"{len(files):,} file{'' if len(files) == 1 else 's'} {word}, {_size(sum(one.bytes for one in done))}")


def _size(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:,} bytes"
