"""`mqconform serve`, `proxy`, `wire check` and `wire setup`: the permission to send elsewhere, and what they print."""

from __future__ import annotations

import json as json_module
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from conformance.cli.output import console, emit_json, fail, json_wanted, one_line, tell
from conformance.cli.shared_options import Level, Profile, Reading, accepted, group, number, several, time
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from conformance.live.judge_client import Deviation, Judging
    from conformance.live.proxy import Now, Passed, Ready, Wanted, Watch
    from conformance.live.wire_check import Finding
    from conformance.net.addresses import Permit, Place, Target

_WIRE = "wire:"
_SHOWN = 12  # Rows of the live table.
_FIXED = {"order-ack-send": (0.5, "MS-MQQB 3.1.3.2")}
"""Timers of MS-MQQB with a duration in seconds that is no choice, and the section that says it."""
_TIMES = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}


def serve_command(
    listen: str, *, ping_port: int, wanted: Wanted, record: Path | None, budget_s: float | None, **how: Any
) -> NoReturn:
    """Serve until the end. Ends the command with the exit code of what clients sent."""
    from conformance.command_options import BadInput
    from conformance.live.proxy import ServerGone, serve

    place = _place(listen, free=True)
    for note in _deviating(wanted):
        tell(note)
    wanted = replace(wanted, timers=_seconds(wanted.timers), consume=_seconds(wanted.consume))
    with watching(budget_s) as watch:
        try:
            passed = serve(
                place, wanted=wanted, judging=_judging(**how), watch=watch, ping_port=ping_port, record=record
            )
        except BadInput as error:
            fail(str(error), ExitCode.BAD_INPUT)
        except ServerGone as error:
            fail(str(error), ExitCode.UNUSABLE)
    _finish(passed, record)


def proxy_command(
    listen: str,
    to: str,
    *,
    pings: str | None,
    owned: str | None,
    record: Path | None,
    budget_s: float | None,
    **how: Any,
) -> NoReturn:
    """Hand on until the end. Ends the command with the exit code of what was judged."""
    from conformance.command_options import BadInput
    from conformance.live.proxy import proxy
    from conformance.net.addresses import Permit, Place

    here, there = _place(listen, free=True), _place(to)
    if here == there:
        fail(f"{to} is where the proxy itself listens: name another --listen.", ExitCode.BAD_INPUT)
    ports = _ports(pings)
    target = permitted(there.host, Permit(owned))
    heard = None if ports is None else (Place(here.host, ports[0]), ports[1])
    with watching(budget_s) as watch:
        try:
            passed = proxy(here, target, there.port, judging=_judging(**how), watch=watch, record=record, pings=heard)
        except BadInput as error:
            fail(str(error), ExitCode.BAD_INPUT)
    _finish(passed, record)


def list_faults() -> NoReturn:
    """Print the faults of the server and what each breaks. Ends the command."""
    from conformance.live.proxy import ServerGone, known_faults

    try:
        found = known_faults()
    except ServerGone as error:
        fail(str(error), ExitCode.UNUSABLE)
    if json_wanted():
        emit_json(found)
    else:
        for each in found:
            print(f"{each['name']}: {each['says']} ({', '.join(each['breaks'])})")
    sys.exit(int(ExitCode.CONFORMS))


def _judging(*, profile: str | None, level: str, readings: str, chosen: Sequence[str], out: Path | None) -> Judging:
    from conformance.live.judge_client import Judging

    return Judging(profile, level, readings, tuple(chosen), None if out is None else str(out.absolute()), sys.argv[1:])


def _place(text: str, *, free: bool = False) -> Place:
    from conformance.net.addresses import AddressError, place

    try:
        return place(text, free=free)
    except AddressError as error:
        fail(str(error), ExitCode.BAD_INPUT)


def _ports(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    form = re.fullmatch(r"([0-9]{1,5})(?::([0-9]{1,5}))?", text)
    ports = (int(form[1]), int(form[2] or form[1])) if form is not None else (0, 0)
    if not all(0 < port < 65536 for port in ports):
        fail(f"--pings {text[:40]} is no port: write 3527, or 13527:3527.", ExitCode.BAD_INPUT)
    return ports


def _seconds(words: Sequence[str]) -> list[str]:
    """Turn `NAME=2s` into `NAME=2`, as the server takes it; it knows the names."""
    found = []
    for word in words:
        name, _, text = word.partition("=")
        form = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(ms|s|m|h|)", text)
        if not name or form is None:
            fail(f"{word[:60]} is no NAME=TIME: write session-cleanup=2s, 500ms or 5m.", ExitCode.BAD_INPUT)
        if not float(form[1]):
            fail(f"{word[:60]} is no time to wait: give one that is more than 0.", ExitCode.BAD_INPUT)
        found.append(f"{name}={float(form[1]) * _TIMES[form[2]]:g}")
    return found


def _deviating(wanted: Wanted) -> list[str]:
    """Return a sentence for each timer whose duration the documents fix, and each queue that a run may not touch."""
    from conformance.net.ends import PREFIX

    notes = []
    for word, seconds in zip(wanted.timers, _seconds(wanted.timers), strict=True):
        name, _, number = seconds.partition("=")
        fixed = _FIXED.get(name)
        if fixed is not None and float(number) != fixed[0]:
            notes.append(f"--timer {word} makes the server deviate: {fixed[1]} says {fixed[0] * 1000:g} ms.")
    for word in wanted.queues:
        name = word.partition(",")[0]
        if not name.startswith(PREFIX):
            notes.append(f"The queue {name} is for your own clients: runs at wire:HOST send to {PREFIX}* alone.")
    return notes


def permit_connector(connector: str, owned: str | None, lab: bool, rpc_user: str | None = None) -> None:
    """Let the connector and its worker processes know what was permitted. Ends the command for a host that is not."""
    if not connector.startswith(_WIRE):
        if owned is not None or lab or rpc_user is not None:
            fail("--i-own-this, --lab and --rpc-user are for wire:HOST.", ExitCode.BAD_INPUT)
        return
    if rpc_user is not None:
        from conformance.net.rpc.binding import USER

        os.environ[USER] = rpc_user
    from conformance.adapter.errors import ConnectorError
    from conformance.net.addresses import Permit
    from conformance.net.connector import understood
    from conformance.net.ends import may_send

    try:
        host, declared = understood(connector.removeprefix(_WIRE[:-1]))
    except ConnectorError:
        return  # It is told where connectors are understood.
    permit = Permit(owned, lab)
    found = permitted(host, permit)
    why = may_send(declared.packets, found, permit)
    if why is not None:
        fail(why[0].upper() + why[1:], ExitCode.BAD_INPUT)
    yes = found.address if found.public else None
    os.environ.update(Permit(owned, lab, yes, found.address).to_environment())


def permitted(host: str, permit: Permit) -> Target:
    """Return the host to send packets to; asks for a typed yes when it is public. Ends the command if it may not."""
    from conformance.net.addresses import AddressError, UnresolvedError, target

    try:
        return target(host, permit, _asked if sys.stdin.isatty() and sys.stderr.isatty() else None)
    except UnresolvedError as error:
        fail(str(error), ExitCode.UNUSABLE)
    except AddressError as error:
        fail(str(error), ExitCode.BAD_INPUT)


def _asked(question: str) -> bool:
    print(f"mqconform: {question} Type yes to send packets there: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip() == "yes"


@contextmanager
def watching(budget_s: float | None) -> Iterator[Watch]:
    """Yield what is told while it goes on; Ctrl-C and SIGTERM end it in an orderly way, a second one at once."""
    from conformance.cli.stop import stop_event
    from conformance.live.proxy import Watch

    shown = _Shown(sys.stderr.isatty())
    with stop_event() as stop, shown.live():
        yield Watch(lambda ready: _ready(ready), shown.now, shown.deviation, stop, budget_s)


def _ready(ready: Ready) -> None:
    """Print the line for which a client's script waits."""
    told = {"listen": str(ready.listen), "ping": ready.ping and str(ready.ping), "guid": ready.guid}
    told["rpc"] = ready.rpc and str(ready.rpc)
    known = {name: value for name, value in told.items() if value is not None}
    if json_wanted():
        print(json_module.dumps({"ready": known}), flush=True)
    else:
        print("ready: " + " ".join(f"{name}={value}" for name, value in known.items()), flush=True)


@dataclass(slots=True)
class _Shown:
    """Writes to stderr: a table at a terminal, else a line for each packet that deviates and what changes."""

    terminal: bool
    notes: list[str] = field(default_factory=list)
    _live: Any = None
    _behind: bool = False

    @contextmanager
    def live(self) -> Iterator[None]:
        """Keep the table at the terminal meanwhile."""
        if not self.terminal:
            yield
            return
        from rich.live import Live

        with Live(console=console(stderr=True), auto_refresh=False, transient=True) as self._live:
            yield

    def deviation(self, found: Deviation) -> None:
        """Show a packet that deviates."""
        outcomes = ", ".join(f"{outcome} {name}" for name, outcome in found.outcomes.items())
        line = one_line(f"packet {found.packet}  {found.direction}  {found.kind}  {outcomes}")
        if self._live is None:
            print(f"mqconform: {line}", file=sys.stderr, flush=True)
        else:
            self._live.console.print(line, markup=False, soft_wrap=True)

    def now(self, now: Now) -> None:
        """Show the traffic of this moment."""
        notes = list(now.problems)
        if now.left_out:
            notes.append(f"the judge has fallen behind: records not judged: {now.left_out:,}")
        if self._live is not None:
            behind = ["the judge is behind"] if now.behind and not now.left_out else []
            self._live.update(_table(now, [*notes, *behind]), refresh=True)
            return
        if now.behind and not self._behind:
            notes.append("the judge is behind; the traffic is not held up")
        self._behind = now.behind
        for note in notes:
            kind = re.sub("[0-9,]+", "", note)
            if kind not in self.notes:
                self.notes.append(kind)
                print(f"mqconform: {one_line(note)}", file=sys.stderr, flush=True)


def _table(now: Now, notes: Sequence[str]) -> Any:
    from rich.table import Table
    from rich.text import Text

    title = f"{_of(now.connections, 'connection')}, {_of(now.state.packets, 'packet')} judged"
    title += f", {_of(now.state.deviations, 'deviation')}"
    table = Table(title=title, caption=Text("; ".join(notes)), box=None, min_width=60)
    for name in ("ends", "packets", "deviations", "last"):
        table.add_column(name, justify="left" if name in ("ends", "last") else "right")
    for row in now.state.rows[:_SHOWN]:
        table.add_row(Text(row.ends), f"{row.packets:,}", f"{row.deviations:,}", Text(row.last))
    return table


def _of(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _finish(passed: Passed, record: Path | None) -> NoReturn:
    now = passed.now
    state = now.state
    places = {"run record": state.folder, "recording": None if record is None else str(record.absolute())}
    if json_wanted():
        emit_json(
            {
                "connections": now.connections,
                "refused": now.refused,
                "packets": state.packets,
                "outcomes": dict(state.outcomes),
                "deviations": [asdict(each) for each in state.deviating],
                "not_judged": now.left_out,
                "problems": list(now.problems),
                "run_record": state.folder,
                "recording": places["recording"],
                "exit_code": int(passed.exit_code),
                "sentence": passed.sentence,
            }
        )
    else:
        counts = ", ".join(f"{number:,} {name}" for name, number in state.outcomes.items()) or "no verdicts"
        print(f"{_of(now.connections, 'connection')}, {_of(state.packets, 'packet')} judged: {counts}")
        if now.refused:
            print(f"{_of(now.refused, 'connection')} found nobody to be handed on to")
        for name, where in places.items():
            if where is not None:
                print(f"{name}: {where}")
    if passed.sentence:
        fail(passed.sentence, passed.exit_code)
    sys.exit(int(passed.exit_code))


def check_command(host: str, *, owned: str | None, record: Path | None) -> NoReturn:
    """Look at a host and print a line for each step. Ends the command: 0 when it also connected back, else 3."""
    from conformance.adapter.errors import ConnectorError, DriverUnusable
    from conformance.live.wire_check import wire_check
    from conformance.net.addresses import Permit
    from conformance.net.connector import understood

    def show(found: Finding) -> None:
        if not json_wanted():
            print(f"{found.state:<8} {found.what}: {one_line(found.text)}", flush=True)

    try:
        name, declared = understood(f":{host.removeprefix(_WIRE)}")
        target = permitted(name, Permit(owned))
        checked = wire_check(target, declared, record=record, on_finding=show)
    except ConnectorError as error:
        fail(error.sentence, ExitCode.BAD_INPUT)
    except DriverUnusable as error:
        fail(error.sentence, ExitCode.UNUSABLE)
    if json_wanted():
        found = [asdict(each) for each in checked.findings]
        emit_json({"steps": found, "exit_code": int(checked.exit_code), "sentence": checked.sentence})
    if checked.sentence:
        fail(checked.sentence, checked.exit_code)
    sys.exit(int(checked.exit_code))


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

RpcUser = Annotated[
    str | None,
    typer.Option(
        "--rpc-user",
        metavar="NAME",
        help="User of remote read and management at that host, NAME or DOMAIN\\NAME; its password is in"
        " MQCONFORM_RPC_PASSWORD, or in the file that MQCONFORM_RPC_PASSWORD_FILE names.",
    ),
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
    typer.Option(metavar="NAME=TIME", help="Set a timer of MS-MQQB: session-cleanup=2s, session-ack-wait=500ms."),
]
Ways = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Do what the documents leave open otherwise: existing-session, own-session, duplicates-counted,"
        " ack-wait-once, no-pings, small-window, busy or busy-closes.",
    ),
]
Socket = Annotated[
    str | None,
    typer.Option(
        metavar="SOCKET",
        help="Serve programs that use the flat API instead: libmqrt.so connects here, a path or a HOST:PORT.",
    ),
]
Rpc = Annotated[
    str | None,
    typer.Option(metavar="[HOST:]PORT", help="Offer remote read and management over RPC, which are not judged."),
]


@app.command(epilog="Example: mqconform serve --listen 127.0.0.1:1801 --record said.pcapng --budget 5m")
def serve(
    listen: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Where clients connect: a loopback address; port 0 is any free one."),
    ] = "127.0.0.1:1801",
    ping_port: Annotated[int, number("--ping-port", 0, 65_535, "UDP port of pings; 0 is any free one.")] = 3527,
    fault: Faults = None,
    way: Ways = None,
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
    rpc: Rpc = None,
    rpc_epm: Annotated[
        int | None, number("--rpc-epm", 1, 65_535, "One more port of --rpc, for the endpoint mapper: 135.")
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
    mqrt: Socket = None,
    to: Annotated[
        str, typer.Option(metavar="CONNECTOR", help="With --mqrt: the implementation that the programs get.")
    ] = "embedded",
    clock: Annotated[
        str, typer.Option(metavar="real|virtual", help="With --mqrt: a virtual clock passes while programs only wait.")
    ] = "real",
    faults: Annotated[bool, typer.Option("--faults", help="List the faults; serve nothing.")] = False,
) -> None:
    """Be a queue manager on this machine, and judge what clients send to it.

    A line with the addresses says that it is ready. At the end the exit code is 0 if all clients sent conforms, 1 if
    something deviates, 5 if nothing was judged.
    """
    from conformance.live.proxy import Wanted

    if mqrt is not None:
        from conformance.cli.programs import mqrt_command

        given = {"profile": profile, "level": level, "out": out, **accepted(reading)}
        mqrt_command(mqrt, budget_s=budget, wanted={"connector": to, "faults": several(fault), "clock": clock, **given})
    if to != "embedded" or clock != "real":
        fail("--to and --clock are for --mqrt SOCKET.", ExitCode.BAD_INPUT)
    if faults:
        list_faults()
    serve_command(
        listen,
        ping_port=ping_port,
        wanted=Wanted(
            timers=timer or (),
            faults=several(fault),
            ways=several(way),
            queues=queue or (),
            consume=consume or (),
            rpc=rpc,
            rpc_epm=rpc_epm,
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
        str, typer.Argument(metavar="HOST[:PORT]", help="The server, with what wire:HOST takes behind a ?.")
    ],
    i_own_this: IOwnThis = None,
    record: Record = None,
) -> None:
    """Look at a queue manager once: handshake, one message, its acknowledgment, and what to switch on to see more."""

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
