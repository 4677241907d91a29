"""`mqconform serve`, `proxy`, `wire check` and `wire setup`: their options."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conformance.cli.shared_options import (
    Level,
    Profile,
    Reading,
    accepted,
    group,
    number,
    several,
    time,
)

if TYPE_CHECKING:
    pass

IOwnThis = Annotated[
    str | None,
    typer.Option(
        "--i-own-this",
        metavar="HOST",
        help="The host of wire:HOST again, the same word: it is yours to test. Loopback addresses need nothing.",
    ),
]
Lab = Annotated[
    bool, typer.Option("--lab", help="That host is in a lab: malformed packets, if asked for, may be sent to it.")
]


app = typer.Typer(rich_markup_mode=None)
wire_app = group("Look at a queue manager on the network, and prepare one to be judged.")
app.add_typer(wire_app, name="wire")

Record = Annotated[
    Path | None, typer.Option(metavar="FILE.pcapng", help="Keep all packets in this file, as a capture.")
]
Budget = Annotated[
    float | None, time("--budget", "End after this time: 30s, 5m or 2h (default: on Ctrl-C or SIGTERM).")
]
Out = Annotated[Path | None, typer.Option(help="Folder of the run record and the report.")]
Faults = Annotated[
    list[str] | None,
    typer.Option("--fault", metavar="NAME", help="Deviate so; may be given several times. --faults lists them."),
]
Timers = Annotated[
    list[str] | None,
    typer.Option("--timer", metavar="NAME=TIME", help="Set a timer of MS-MQQB: session-cleanup=2s, ack-wait=500ms."),
]


@app.command(epilog="Example: mqconform serve --listen 127.0.0.1:1801 --record said.pcapng --budget 5m")
def serve(
    listen: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Where clients connect: a loopback address; port 0 is any free one."),
    ] = "127.0.0.1:1801",
    ping_port: Annotated[int, number("--ping-port", 0, 65_535, "UDP port of pings; 0 is any free one.")] = 3527,
    fault: Faults = None,
    timer: Timers = None,
    queue: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[,WORD]...",
            help="Make this private queue: words are transactional, journal, authenticate, privacy=body (default:"
            " those that wire setup makes).",
        ),
    ] = None,
    consume: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=TIME", help="Receive what comes to a queue so long after it came."),
    ] = None,
    state_dir: Annotated[
        Path | None, typer.Option(help="Folder in which state is kept until the next time (default: nowhere).")
    ] = None,
    record: Record = None,
    budget: Budget = None,
    profile: Profile = None,
    level: Level = "must",
    reading: Reading = None,
    out: Out = None,
    faults: Annotated[bool, typer.Option("--faults", help="List the faults; serve nothing.")] = False,
) -> None:
    """Be a queue manager on this machine, and judge what clients send to it.

    A line with the addresses says that it is ready. At the end the exit code is 0 if all clients sent conforms, 1 if
    something deviates, 5 if nothing was judged.
    """
    from conformance.cli.serve import list_faults, serve_command
    from conformance.live.server import Wanted

    if faults:
        list_faults()
    serve_command(
        listen,
        ping_port=ping_port,
        wanted=Wanted(
            timers=timer or (),
            faults=several(fault),
            queues=queue or (),
            consume=consume or (),
            state_dir=None if state_dir is None else str(state_dir.absolute()),
        ),
        record=record,
        budget_s=budget,
        profile=profile,
        level=level,
        **accepted(reading),
        out=out,
    )


@app.command(epilog="Example: mqconform proxy --listen 127.0.0.1:1801 --to 127.0.0.1:21801 --budget 5m")
def proxy(
    to: Annotated[
        str, typer.Option(metavar="HOST[:PORT]", help="The queue manager that connections are handed on to.")
    ],
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where clients connect instead; port 0 is any free one.")
    ] = "127.0.0.1:1801",
    pings: Annotated[
        str | None,
        typer.Option(
            metavar="PORT[:PORT]", help="Hand on pings, too: the UDP port here, and the one there (default: the same)."
        ),
    ] = None,
    record: Record = None,
    budget: Budget = None,
    i_own_this: IOwnThis = None,
    profile: Profile = None,
    level: Level = "must",
    reading: Reading = None,
    out: Out = None,
) -> None:
    """Stand between clients and a queue manager, hand everything on, and judge both directions live."""
    from conformance.cli.serve import proxy_command

    proxy_command(
        listen,
        to,
        pings=pings,
        owned=i_own_this,
        record=record,
        budget_s=budget,
        profile=profile,
        level=level,
        **accepted(reading),
        out=out,
    )


@wire_app.command("check", epilog="Example: mqconform wire check mq1.lab --i-own-this mq1.lab")
def wire_check(
    host: Annotated[
        str, typer.Argument(metavar="HOST", help="The server, with what wire:HOST takes behind a ?, such as ?qm=21801.")
    ],
    i_own_this: IOwnThis = None,
    record: Record = None,
) -> None:
    """Look at a queue manager once: handshake, one message, its acknowledgment, and what to switch on to see more."""
    from conformance.cli.serve import check_command

    check_command(host, owned=i_own_this, record=record)


@wire_app.command("setup", epilog="Example: mqconform wire setup > queues.ps1")
def wire_setup(
    remove: Annotated[
        bool, typer.Option("--remove", help="Print the script that removes the queues and values again.")
    ] = False,
) -> None:
    """Print the PowerShell script that makes the private queues a run may send to, and their rights."""
    from conformance.net.connector import removal_script, setup_script

    typer.echo(removal_script() if remove else setup_script(), nl=False)
