"""`mqconform pipeline upgrade`: turn a lake in a folder into one on Delta."""

from __future__ import annotations

from typing import Annotated

import typer

from conformance.cli.output import emit_json
from conformance.cli.pipeline_analysis import Json, Lakes
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
    json: Json = False,
) -> None:
    """Turn a lake in a folder into one on Delta tables, in place or as a new lake; the rows stay the same."""
    with failing():
        from conformance.pipeline.scan import require_arrow

        require_arrow()  # The modules below import what it asks for.
        from conformance.pipeline.lake import Lake
        from conformance.pipeline.lakes.upgrade import upgrade as upgraded

        opened = Lake.open(lake)
        begin("pipeline upgrade", "writing the tables anew", quiet=json)
        done = upgraded(opened, out)
    if json:
        emit_json(
            {"lake": done.place, "version": done.version, "files": done.files, "rows": done.rows, "new": done.new}
        )
    elif done.new:
        print(f"{done.place}: {done.rows:,} rows in {done.files:,} files, on Delta now")
    else:
        print(f"{done.place} is on Delta already")
