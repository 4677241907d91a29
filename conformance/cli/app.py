"""The commands and their options. Each command's work is in a module of its own, imported when the command runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from conformance import __version__
from conformance.cli.adapter import app as learn_app
from conformance.cli.documents import app as situations_app
from conformance.cli.documents import grammar_app, readings_app, requirements_app
from conformance.cli.gate import Against, Baseline
from conformance.cli.gate import app as comparing_app
from conformance.cli.judge import app as judge_app
from conformance.cli.network import IOwnThis, Lab, RpcUser, permit_connector
from conformance.cli.network import app as network_app
from conformance.cli.pipeline import app as pipeline_app
from conformance.cli.report import app as reporting_app
from conformance.cli.selftest import app as faults_app
from conformance.cli.shared_options import (
    Adapter,
    AdapterOrNone,
    AllowIncomplete,
    Alternatives,
    DeadlineMs,
    Histories,
    InProcess,
    Level,
    Profile,
    Reading,
    Seed,
    WorkersOrNone,
    accepted,
    group,
    joined,
    number,
    requesting,
    several,
    time,
)
from conformance.run_options import RunRequest

app = typer.Typer(
    name="mqconform",
    help="Judge whether a message queuing implementation does what the open MSMQ specifications say.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


adapter_app = group("Write and check drivers.")
app.add_typer(requirements_app, name="requirements")
app.add_typer(readings_app, name="readings")
app.add_typer(adapter_app, name="adapter")
app.add_typer(grammar_app, name="grammar")
app.add_typer(faults_app, name="faults")
app.add_typer(situations_app, name="situations")
app.add_typer(comparing_app)
app.add_typer(reporting_app)
app.add_typer(judge_app)
app.add_typer(learn_app)
app.add_typer(network_app)
app.add_typer(pipeline_app, name="pipeline")


def _version(value: bool) -> None:
    if value:
        typer.echo(f"mqconform {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Judge whether a message queuing implementation does what the open MSMQ specifications say."""


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": False},
    epilog="Example: mqconform run --adapter 'stdio:./mydriver --queues' --suite names,cursors --out out -- -k waiting",
)
@requesting
def run(
    request: RunRequest,
    context: typer.Context,
    *,
    listed: Annotated[
        bool,
        typer.Option("--list", help="Print the tests that would run and the requirements they claim; run nothing."),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Print the table of sections, every story and all counts as well."),
    ] = False,
    against: Against = None,
    baseline: Baseline = None,
    i_own_this: IOwnThis = None,
    lab: Lab = False,
    rpc_user: RpcUser = None,
) -> None:
    """Judge an implementation with the conformance suites.

    Arguments after -- are passed to pytest.
    """
    from conformance.cli.run import command, list_tests

    permit_connector(request.adapter, i_own_this, lab, rpc_user)
    request = replace(request, pytest_args=context.args)
    if listed:
        list_tests(request)
    command(request, gate=(against, baseline) if against or baseline else None, verbose=verbose)


@app.command(epilog="Example: mqconform soak --adapter 'stdio:./mydriver' --budget 8h --seed 1 --out soak")
def soak(
    adapter: Adapter = "embedded",
    plan: Annotated[
        list[str] | None, typer.Option("--plan", help="Walk only this plan; may be given several times.")
    ] = None,
    profile: Profile = None,
    level: Level = "must",
    reading: Reading = None,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option(help="Folder of the run record and the report.")] = None,
    budget: Annotated[
        float | None, time("--budget", "End after this time: 30s, 5m or 2h (default: on Ctrl-C).")
    ] = None,
    histories: Histories = None,
    deadline_ms: DeadlineMs = 10_000,
    quirks: Annotated[
        bool,
        typer.Option(
            "--quirks/--no-quirks", help="Tell what a known fault explains as a consequence, once it is known."
        ),
    ] = True,
    in_process: InProcess = False,
) -> None:
    """Try random histories of queues, cursors and transactions until the time is over."""
    from conformance.cli.run import soak_command

    soak_command(
        adapter=adapter,
        plans=several(plan),
        profile=profile,
        level=level,
        **accepted(reading),
        seed=seed,
        out=out,
        budget_s=budget,
        histories=histories,
        in_process=in_process,
        quirks=quirks,
        deadline_ms=deadline_ms,
    )


@app.command(
    epilog="Example: mqconform replay fixtures/captures/mqqb-4.1.pcapng; tcpdump -i any -w - port 1801 | mqconform"
    " replay -; mqconform replay captures/ --filter 'queue=*orders* source!=192.0.2.31'"
)
def replay(
    captures: Annotated[
        list[str],
        typer.Argument(
            metavar="CAPTURE...", help="pcap or pcapng files (.gz and .zst too), folders of them, patterns; - is stdin."
        ),
    ],
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="TERMS",
            help="Judge only these packets: KEY=PATTERN and KEY!=PATTERN, separated by blanks; keys: queue, kind,"
            " source, destination, address, connection; * matches any text.",
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait for more data at the end of the last file, until Ctrl-C or --budget.")
    ] = False,
    budget: Annotated[float | None, time("--budget", "Stop following, or reading stdin, after 30s, 5m or 2h.")] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="CONNECTOR",
            help="Give each message to this implementation too, and compare what it reads and queues.",
        ),
    ] = None,
    deadline_ms: DeadlineMs = 10_000,
    allow_incomplete: AllowIncomplete = False,
    columns: Annotated[
        bool, typer.Option("--columns", help="Judge with compiled rules; list only packets that deviate.")
    ] = False,
    packets_only: Annotated[
        bool, typer.Option("--packets-only", help="With --columns: judge packets only, not connections.")
    ] = False,
    conversations: Annotated[
        bool, typer.Option("--conversations", help="Print a table of the connections: who, how much, what deviates.")
    ] = False,
    extract: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the messages to this new folder, with an index.")
    ] = None,
    eve: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write deviations and hints as EVE JSON lines."),
    ] = None,
    profile: Profile = None,
    level: Level = "must",
    reading: Reading = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run record and the report.")] = None,
) -> None:
    """Judge the packets and sessions of captures."""
    from conformance.captures.analyst_views import Looks
    from conformance.cli.replay import Asked, command, only_filter

    asked = Asked(
        captures,
        only_filter(filters or []),
        follow,
        budget,
        against,
        deadline_ms,
        columns,
        packets_only,
        allow_incomplete,
        Looks(conversations, extract, eve),
    )
    command(
        asked,
        profile=profile,
        level=level,
        **accepted(reading),
        out=out,
    )


@app.command(epilog="Example: mqconform repro out/repros/0123456789abcdef.json --adapter stdio:./mydriver")
def repro(
    path: Annotated[Path, typer.Argument(metavar="FILE|DIR", help="A repro file, or a folder of them.")],
    adapter: AdapterOrNone = None,
    deadline_ms: DeadlineMs = 10_000,
    reading: Alternatives = None,
    pytest: Annotated[
        bool, typer.Option("--pytest", help="Write a pytest file and a sequence diagram beside each; run nothing.")
    ] = False,
    i_own_this: IOwnThis = None,
    lab: Lab = False,
) -> None:
    """Run recorded deviations again; each is FIXED, FAILED, ERROR or not reproduced."""
    from conformance.cli.judge import command, write_command

    permit_connector(adapter or "", i_own_this, lab)
    if pytest:
        write_command(path)
    command(path, adapter=adapter, deadline_ms=deadline_ms, chosen=reading or [])


@app.command(epilog="Example: mqconform diagnose out")
def diagnose(
    record: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, or one part of a run record.")],
    fault: Annotated[
        list[str] | None, typer.Option(help="Try only this fault (default: all); may be given several times.")
    ] = None,
    workers: Annotated[int, number("--workers", 1, 64, "Number of processes.")] = 2,
    budget: Annotated[
        float | None, time("--budget", "End the search after this time: 30s, 5m or 2h (default: 60s).")
    ] = None,
) -> None:
    """Name the fault that explains most of what deviates: a hint for its cause, not a verdict.

    The histories that failed and passed are played to the embedded queue manager with each of its faults.
    """
    from conformance.cli.judge import diagnose_command

    diagnose_command(record, faults=fault or [], jobs=workers, budget_s=budget)


@app.command(epilog="Example: mqconform selftest ignores-priority")
def selftest(
    faults: Annotated[list[str] | None, typer.Argument(metavar="[FAULT]...", help="Only these faults.")] = None,
    wire: Annotated[
        bool,
        typer.Option("--wire", help="Try the faults of serve instead, by the suite sessions, 8 at a time."),
    ] = False,
    suite: Annotated[
        list[str] | None,
        typer.Option(
            "--suite", help="Try each fault once by these suites in place of its own: what do they catch by themselves?"
        ),
    ] = None,
    workers: WorkersOrNone = None,
    budget: Annotated[float | None, time("--budget", "Begin no further fault after this time: 30s, 5m or 2h.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the result to this file, as input for requirements coverage.")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Keep what each fault shows as, after a change of faults or checks.")
    ] = False,
) -> None:
    """Show that the checks catch what they claim: run the suites on every fault of the embedded implementation."""
    from conformance.cli.selftest import command, record_command

    names = several(faults)
    if update:
        record_command(names, jobs=workers, wire=wire)
    command(names, suites=joined(suite), jobs=workers, budget_s=budget, out=out, wire=wire)


@app.command(epilog="Example: mqconform wireshark > msmq.lua; tshark -X lua_script:msmq.lua -r my.pcapng")
def wireshark(
    out: Annotated[Path | None, typer.Option(help="Write the Lua script to this file (default: stdout).")] = None,
    left_out: Annotated[
        bool, typer.Option("--left-out", help="List the rules that are not in the script, by the reason.")
    ] = False,
    profile: Profile = None,
    level: Level = "must",
    reading: Reading = None,
) -> None:
    """Make a Wireshark dissector that shows every field, and broken packet rules as expert information."""
    from conformance.cli.wireshark import command

    command(
        out=out,
        profile=profile,
        level=level,
        **accepted(reading),
        left_out=left_out,
    )


@adapter_app.command("check", epilog="Example: mqconform adapter check 'stdio:./mydriver'")
def adapter_check(
    connector: Annotated[str, typer.Argument(metavar="CONNECTOR", help="The driver to check.")],
    i_own_this: IOwnThis = None,
    lab: Lab = False,
) -> None:
    """Check a driver against the adapter protocol, step by step."""
    from conformance.cli.adapter import check_command

    permit_connector(connector, i_own_this, lab)

    check_command(connector)


@adapter_app.command("new", epilog="Example: mqconform adapter new --lang python mydriver")
def adapter_new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write to; new or empty.")],
    lang: Annotated[str, typer.Option("--lang", help="python, node, csharp, go, java, rust or c.")] = "python",
) -> None:
    """Write a driver to start from, with a small in-memory queue manager behind it."""
    from conformance.cli.adapter import new_command

    new_command(folder, language=lang)
