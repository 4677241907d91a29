"""`mqconform pipeline upgrade`: turn a lake in a folder into one on Delta or Iceberg."""

from __future__ import annotations

from typing import Annotated

import typer

from conformance.cli.output import emit_json
from conformance.cli.pipeline_analysis import Json, Lakes, in_format
from conformance.cli.pipeline_failing import failing
from conformance.cli.waiting import begin

app = typer.Typer(rich_markup_mode=None)


@app.command(epilog="Example: mqconform pipeline upgrade lake")
def upgrade(
    lake: Lakes,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="LAKE", help="Make a new lake here, also s3://..., and keep the old one."),
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="Of the tables: delta or iceberg.", show_default="delta"),
    ] = None,
    json: Json = False,
) -> None:
    """Turn a lake in a folder into one on Delta or Iceberg, in place or as a new lake; the rows stay the same."""
    with failing():
        from conformance.pipeline.scan import require_arrow

        require_arrow()  # The modules below import what it asks for.
        from conformance.pipeline.lake import Lake
        from conformance.pipeline.lakes import upgrade as upgrading

        wanted = None if format is None else in_format(format, tuple(upgrading.NAMES))
        opened = Lake.open(lake)
        upgrading.require(opened, wanted)
        begin("pipeline upgrade", "writing the tables anew", quiet=json)
        done = upgrading.upgrade(opened, out, wanted)
    if json:
        emit_json(
            {"lake": done.place, "version": done.version, "files": done.files, "rows": done.rows, "new": done.new}
        )
    elif done.new:
        print(f"{done.place}: {done.rows:,} rows in {done.files:,} files, on {upgrading.NAMES[done.format]} now")
    else:
        print(f"{done.place} is on {upgrading.NAMES[done.format]} already")
