"""The command `mqconform report` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.comparing import Against, Baseline, Labels
from conformance.cli.shared_options import AllowIncomplete

app = typer.Typer(rich_markup_mode=None)


@app.command(epilog="Example: mqconform report out --html report.html --junit junit.xml --sarif mqconform.sarif")
def report(
    records: Annotated[list[Path], typer.Argument(metavar="RUN...", help="A run folder; several are compared.")],
    html: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    selftest: Annotated[
        Path | None,
        typer.Option(
            help="A file of mqconform selftest --out: --html counts the requirements it caught as discriminated."
        ),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML to this file.")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Write the deviations as SARIF 2.1.0 to this file.")] = None,
    allure: Annotated[Path | None, typer.Option(metavar="DIR", help="Write Allure results into this folder.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a job summary in Markdown to this file.")] = None,
    badge: Annotated[
        Path | None,
        typer.Option(help="Write a badge: an SVG image, or a shields.io endpoint if the name ends in .json."),
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write one row per verdict as CSV to this file.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="The same as Parquet (needs mqconform[columns]).")] = None,
    annotations: Annotated[
        str | None,
        typer.Option(metavar="SERVER", help="Print the deviations as log annotations of azure, github or gitlab."),
    ] = None,
    against: Against = None,
    baseline: Baseline = None,
    label: Labels = None,
    allow_incomplete: AllowIncomplete = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")] = False,
) -> None:
    """Make reports from a run record; without a format option, print the summary.

    Several runs are put side by side; 1 is the exit code if a later one broke what held in the first.

    With --baseline or --against, reports distinguish known deviations from new ones, as mqconform gate does.
    """
    from conformance.cli.comparing import Excusing
    from conformance.cli.report import command, compare

    others = {
        "sarif": sarif,
        "allure": allure,
        "markdown": markdown,
        "badge": badge,
        "csv": csv,
        "parquet": parquet,
    }
    excusing = Excusing(against, baseline, allow_incomplete)
    if len(records) > 1:
        del others["markdown"]
        alone = any([junit, annotations, selftest, *others.values()])
        compare(
            records,
            html=html,
            markdown=markdown,
            others=alone,
            excusing=excusing,
            labels=label or (),
            json=json,
        )
    else:
        command(
            records[0],
            html=html,
            junit=junit,
            others=others,
            annotations=annotations,
            selftest=selftest,
            excusing=excusing,
            labels=label or (),
            json=json,
        )
