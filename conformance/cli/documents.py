"""Commands about the documents: `requirements` and `readings`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.shared_options import (
    Adapter,
    DeadlineMs,
    Profile,
    Section,
    Seed,
    group,
    joined,
    several,
    time,
)

requirements_app = group("Show the catalogue of requirements.")
readings_app = group("Show the defects of the documents and their interpretations.")


@requirements_app.command("list", epilog="Example: mqconform requirements list --section 'MQDMPR-3.2*' --level must")
def requirements_list(
    section: Section = None,
    level: Annotated[str | None, typer.Option(help="Only this level: must, should or may.")] = None,
    checked: Annotated[
        list[str] | None, typer.Option(help="Only these ways of checking, comma-separated or given several times.")
    ] = None,
    unclaimed: Annotated[bool, typer.Option("--unclaimed", help="Only checkable ones that no check claims.")] = False,
) -> None:
    """List requirements."""
    from conformance.cli.requirements import list_command

    list_command(section=section, level=level, checked=several(checked), unclaimed=unclaimed)


@requirements_app.command("show", epilog="Example: mqconform requirements show MQMQ-2.2.19.1.signature")
def requirements_show(
    name: Annotated[str, typer.Argument(metavar="ID", help="The requirement's id.")],
) -> None:
    """Show one requirement and the readings that touch it."""
    from conformance.cli.requirements import show_command

    show_command(name)


@requirements_app.command("coverage", epilog="Example: mqconform requirements coverage out --selftest selftest.json")
def requirements_coverage(
    record: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="A run folder: count the requirements it reached.")
    ] = None,
    selftest: Annotated[
        list[Path] | None,
        typer.Option(help="A file of selftest --out: count the requirements it caught; may be repeated."),
    ] = None,
    section: Section = None,
    profile: Profile = None,
    rest: Annotated[bool, typer.Option("--rest", help="Also list what is not discriminated, with the reason.")] = False,
) -> None:
    """Count the requirements that a check claims, that a run reached, and whose check was seen to fail."""
    from conformance.cli.requirements import command

    command(record, selftest=tuple(selftest or ()), section=section, profile=profile, rest=rest)


@readings_app.command("list", epilog="Example: mqconform readings list --json")
def readings_list() -> None:
    """List readings and the alternatives that the default set accepts."""
    from conformance.cli.readings import list_readings

    list_readings()


@readings_app.command("show", epilog="Example: mqconform readings show R-MQDMPR-seek-from-head")
def readings_show(
    name: Annotated[str, typer.Argument(metavar="ID", help="The reading's id.")],
) -> None:
    """Show one reading: its alternatives, what each set accepts, and the evidence."""
    from conformance.cli.readings import show_reading

    show_reading(name)


@readings_app.command("infer", epilog="Example: mqconform readings infer --adapter 'stdio:./mydriver' --budget 2m")
def readings_infer(
    adapter: Adapter = "embedded",
    profile: Profile = None,
    suite: Annotated[
        list[str] | None,
        typer.Option(
            "--suite", help="Suites to learn from, comma-separated or given several times (default: all), or none."
        ),
    ] = None,
    seed: Seed = 0,
    budget: Annotated[float | None, time("--budget", "Continue until this time is over: 30s, 5m or 2h.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the record of the suites.")] = None,
    deadline_ms: DeadlineMs = 10_000,
) -> None:
    """Find out which readings an implementation follows, and which of its answers fit no reading."""
    from conformance.cli.readings import infer_command

    infer_command(
        adapter=adapter,
        profile=profile,
        suites=joined(suite),
        seed=seed,
        budget_s=budget,
        out=out,
        deadline_ms=deadline_ms,
    )
