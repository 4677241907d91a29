"""`mqconform report` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None)


@app.command(epilog="Example: mqconform report out --html report.html --junit junit.xml --sarif mqconform.sarif")
def report(
    records: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders; several are compared, with --html.")
    ],
    html: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    selftest: Annotated[
        Path | None, typer.Option(help="A file of mqconform selftest --out: counted as discriminated by --html.")
    ] = None,
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
    from conformance.cli.report import command, compare

    others = {
        "sarif": sarif,
        "allure": allure,
        "markdown": markdown,
        "badge": badge,
        "csv": csv,
        "parquet": parquet,
    }
    if len(records) > 1:
        compare(records, html=html, others=any([junit, annotations, *others.values()]) or None, json=json)
    else:
        command(
            records[0], html=html, junit=junit, others=others, annotations=annotations, selftest=selftest, json=json
        )
