"""The commands and their options. The work is in one module a command, imported when the command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance import __version__
from conformance.cli.comparing import Against, Baseline
from conformance.cli.comparing import app as comparing_app
from conformance.cli.documents import readings_app, requirements_app, spec_app
from conformance.cli.grammars import grammar_app
from conformance.cli.judge import app as judge_app
from conformance.cli.pipeline import app as pipeline_app
from conformance.cli.reporting import app as reporting_app
from conformance.cli.words import Adapter, InProcess, Json, Level, Profile, Reading, Readings, group

app = typer.Typer(
    name="mqconform",
    help="Does a message queuing implementation do what the open MSMQ specifications say?",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


adapter_app = group("For authors of drivers.")
app.add_typer(requirements_app, name="requirements")
app.add_typer(readings_app, name="readings")
app.add_typer(spec_app, name="spec")
app.add_typer(adapter_app, name="adapter")
app.add_typer(grammar_app, name="grammar")
app.add_typer(comparing_app)
app.add_typer(reporting_app)
app.add_typer(judge_app)
app.add_typer(pipeline_app, name="pipeline")


def _version(value: bool) -> None:
    if value:
        typer.echo(f"mqconform {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Does a message queuing implementation do what the open MSMQ specifications say?"""


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": False},
    epilog="Example: mqconform run --adapter 'stdio:./mydriver --queues' --suite names,cursors --out out -- -k waiting",
)
def run(
    context: typer.Context,
    adapter: Adapter = "embedded",
    suite: Annotated[str | None, typer.Option("--suite", help="Comma-separated suites; all when left out.")] = None,
    profile: Profile = None,
    level: Level = "must",
    readings: Readings = "windows",
    reading: Reading = None,
    seed: Annotated[int, typer.Option(help="Seed of all generated examples.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder of the run record and the report.")] = None,
    max_examples: Annotated[int, typer.Option(min=1, help="Generated examples a test.")] = 30,
    steps: Annotated[int, typer.Option(min=1, help="Most steps of one stateful example.")] = 30,
    budget: Annotated[str | None, typer.Option(help="Start no further test after this time: 30s, 5m or 2h.")] = None,
    deadline_ms: Annotated[int, typer.Option(min=1, help="Give the driver up when a call takes longer.")] = 10_000,
    fail_fast: Annotated[bool, typer.Option("--fail-fast", help="Stop at the first deviation.")] = False,
    max_failures: Annotated[
        int | None, typer.Option(min=1, help="Stop after this many tests have found a deviation.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Tests at once, each with a driver of its own.")] = 1,
    in_process: InProcess = False,
    gate: Annotated[bool, typer.Option("--gate", help="End as mqconform gate does: only regressions fail.")] = False,
    against: Against = None,
    baseline: Baseline = None,
    json: Json = False,
) -> None:
    """Judge an implementation with the conformance suites.

    What stands after -- goes to pytest as it is.
    """
    from conformance.cli.run import command

    command(
        adapter=adapter,
        suites=suite,
        profile=profile,
        level=level,
        readings=readings,
        chosen=reading or [],
        seed=seed,
        out=out,
        max_examples=max_examples,
        steps=steps,
        budget=budget,
        deadline_ms=deadline_ms,
        fail_fast=fail_fast,
        max_failures=max_failures,
        in_process=in_process,
        workers=workers,
        pytest_args=context.args,
        gate=(against, baseline) if gate or against or baseline else None,
        json=json,
    )


@app.command(epilog="Example: mqconform soak --adapter 'stdio:./mydriver' --budget 8h --seed 1 --out soak")
def soak(
    adapter: Adapter = "embedded",
    plan: Annotated[
        list[str] | None, typer.Option("--plan", help="Walk over this plan; may be given several times; all otherwise.")
    ] = None,
    profile: Profile = None,
    level: Level = "must",
    readings: Readings = "windows",
    reading: Reading = None,
    seed: Annotated[int, typer.Option(help="Seed of the walk.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder of the run record and the report.")] = None,
    steps: Annotated[int, typer.Option(min=1, max=1_000, help="Most steps of one history.")] = 60,
    budget: Annotated[str | None, typer.Option(help="End after 30s, 5m or 2h; without it, with Ctrl-C.")] = None,
    histories: Annotated[int | None, typer.Option(min=1, help="End after so many histories.")] = None,
    deadline_ms: Annotated[int, typer.Option(min=1, help="Give the driver up when a call takes longer.")] = 10_000,
    in_process: InProcess = False,
    json: Json = False,
) -> None:
    """Walk through random histories of queues, cursors and transactions for as long as there is time."""
    from conformance.cli.soak import command

    command(
        adapter=adapter,
        plans=plan or [],
        profile=profile,
        level=level,
        readings=readings,
        chosen=reading or [],
        seed=seed,
        out=out,
        steps=steps,
        budget=budget,
        histories=histories,
        in_process=in_process,
        deadline_ms=deadline_ms,
        json=json,
    )


@app.command(
    epilog="Example: mqconform replay fixtures/captures/mqqb-4.1.pcapng; tcpdump -i any -w - port 1801 | mqconform"
    " replay -; mqconform replay captures/ --filter 'queue=*orders* source!=192.0.2.31'"
)
def replay(
    captures: Annotated[
        list[str],
        typer.Argument(
            metavar="CAPTURE...", help="pcap or pcapng files (.gz too), folders of them, patterns; - is stdin."
        ),
    ],
    filter_: Annotated[
        str | None,
        typer.Option(
            "--filter",
            metavar="TERMS",
            help="Judge these packets alone: KEY=PATTERN and KEY!=PATTERN with blanks between them; keys queue, kind,"
            " source, destination, address, connection; * fits any text.",
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait for more at the end of the (last) file, until Ctrl-C or --budget.")
    ] = False,
    budget: Annotated[str | None, typer.Option(help="Stop following, or reading stdin, after 30s, 5m or 2h.")] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="CONNECTOR", help="Give each message to this implementation; compare what it reads and queues."
        ),
    ] = None,
    in_process: InProcess = False,
    deadline_ms: Annotated[int, typer.Option(min=1, help="Give the driver up when a call takes longer.")] = 10_000,
    columns: Annotated[
        bool, typer.Option("--columns", help="Judge with compiled rules, and list only packets that deviate.")
    ] = False,
    packets_only: Annotated[
        bool, typer.Option("--packets-only", help="With --columns: leave out what is judged of whole connections.")
    ] = False,
    profile: Profile = None,
    level: Level = "must",
    readings: Readings = "windows",
    reading: Reading = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run record and the report.")] = None,
    json: Json = False,
) -> None:
    """Judge the packets and sessions of captures."""
    from conformance.cli.replay import Asked, command

    asked = Asked(captures, filter_, follow, budget, against, in_process, deadline_ms, columns, packets_only)
    command(asked, profile=profile, level=level, readings=readings, chosen=reading or [], out=out, json=json)


@app.command(epilog="Example: mqconform repro out/repros/0123456789abcdef.json --adapter stdio:./mydriver")
def repro(
    path: Annotated[Path, typer.Argument(metavar="FILE|DIR", help="A repro file, or a folder of them.")],
    adapter: Adapter = "embedded",
    deadline_ms: Annotated[int, typer.Option(min=1, help="Give the driver up when a call takes longer.")] = 10_000,
    reading: Reading = None,
    pytest: Annotated[
        bool, typer.Option("--pytest", help="Run nothing: write a pytest file and a sequence diagram beside each.")
    ] = False,
    in_process: InProcess = False,
    json: Json = False,
) -> None:
    """Run a found deviation again: FIXED, FAILED or ERROR."""
    from conformance.cli.repro import command, write_command

    if pytest:
        write_command(path, json=json)
    command(path, adapter=adapter, deadline_ms=deadline_ms, chosen=reading or [], in_process=in_process, json=json)


@app.command(epilog="Example: mqconform selftest --fault ignores-priority")
def selftest(
    fault: Annotated[list[str] | None, typer.Option(help="Only this fault; may be given several times.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at once.")] = 2,
    out: Annotated[Path | None, typer.Option(help="Write the result to this file, for requirements coverage.")] = None,
    json: Json = False,
) -> None:
    """Show that the checks catch what they claim: run every known fault of the embedded implementation."""
    from conformance.cli.selftest import command

    command(fault or [], jobs=jobs, out=out, json=json)


@app.command(epilog="Example: mqconform wireshark > msmq.lua; tshark -X lua_script:msmq.lua -r my.pcapng")
def wireshark(
    out: Annotated[Path | None, typer.Option(help="Write the Lua to this file; to stdout when left out.")] = None,
    profile: Profile = None,
    level: Level = "must",
    readings: Readings = "windows",
    reading: Reading = None,
    json: Json = False,
) -> None:
    """Make a Wireshark dissector: every field, and the packet rules as expert information."""
    from conformance.cli.wireshark import command

    command(out=out, profile=profile, level=level, readings=readings, chosen=reading or [], json=json)


@adapter_app.command("check", epilog="Example: mqconform adapter check 'stdio:./mydriver'")
def adapter_check(
    connector: Annotated[str, typer.Argument(metavar="CONNECTOR", help="The driver to walk through the protocol.")],
    in_process: InProcess = False,
    json: Json = False,
) -> None:
    """Walk a driver through the adapter protocol, step by step."""
    from conformance.cli.adapter import check_command

    check_command(connector, in_process=in_process, json=json)


@adapter_app.command("new", epilog="Example: mqconform adapter new --lang python mydriver")
def adapter_new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write; new or empty.")],
    lang: Annotated[str, typer.Option("--lang", help="python, node or csharp.")] = "python",
    json: Json = False,
) -> None:
    """Write a driver to start from, with a small queue manager in memory behind it."""
    from conformance.cli.adapter import new_command

    new_command(folder, language=lang, json=json)
