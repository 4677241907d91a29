"""`mqconform report` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None)


@app.command(epilog="Example: mqconform report out --html report.html --junit junit.xml --sarif mqconform.sarif")
def report(
    record: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or one part of a run record.")],
    html: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML to this file.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Write the deviations as SARIF 2.1.0 to this file.")] = None,
    allure: Annotated[Path | None, typer.Option(metavar="DIR", help="Write Allure results into this folder.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a job summary in Markdown to this file.")] = None,
    badge: Annotated[
        Path | None, typer.Option(help="Write a badge: an SVG image, or for a name in .json a shields.io endpoint.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write a row a verdict as CSV to this file.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="The same as Parquet (needs mqconform[columns]).")] = None,
    annotations: Annotated[
        str | None,
        typer.Option(metavar="SERVER", help="Print the deviations as azure, github or gitlab shows them beside a job."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")] = False,
) -> None:
    """Make reports from a run record; without a format, print the summary."""
    from conformance.cli.report import command

    others = {
        "sarif": sarif,
        "allure": allure,
        "markdown": markdown,
        "badge": badge,
        "csv": csv,
        "parquet": parquet,
    }
    command(record, html=html, junit=junit, others=others, annotations=annotations, json=json)
