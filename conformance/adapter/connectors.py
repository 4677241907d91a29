"""From a connector text to a client.

The texts are `embedded`, `embedded+FAULT[,FAULT]`, `python:pkg.mod:Class`, `stdio:COMMAND` and `tcp:HOST:PORT`. A
connector is a function from the text after its name, and the options, to a launcher. Packages add their own under the
entry point group `conformance.connectors`.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.adapter.client import DEADLINE_MS, HELLO_MS, RESTART_BUDGET, Client
from conformance.adapter.errors import ConnectorError, DriverUnusable
from conformance.adapter.in_process import InProcessLink, load_class
from conformance.adapter.process import ProcessLink, StderrLog
from conformance.adapter.supervisor import Launcher
from conformance.adapter.tcp import TcpLink

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "conformance.connectors"
_EMBEDDED = "conformance.embedded.driver:EmbeddedDriver"
_FAULTS = "conformance.embedded.faults"
_ALTERNATIVES = "conformance.embedded.alternatives"
_REFUSED = 2  # exit status of our own hosts for an argument they can't accept; the sentence is on their stderr
_FORMS = "embedded, embedded+FAULT[,FAULT], python:pkg.mod:Class, stdio:COMMAND, tcp:HOST:PORT"


@dataclass(frozen=True, slots=True)
class Options:
    """What every connector may need.

    known_faults: the fault names that exist, None when the caller can't tell. profile: the MSMQ version to be, for an
    implementation that can be several.
    """

    state_dir: Path
    in_process: bool
    max_line_bytes: int
    connect_ms: int
    log: Path | None
    known_faults: Collection[str] | None
    profile: str | None = None


Connector = Callable[[str, Options], Launcher]


def connect(
    connector: str,
    *,
    state_dir: Path,
    in_process: bool = False,
    deadline_ms: int = DEADLINE_MS,
    hello_ms: int = HELLO_MS,
    max_line_bytes: int = 8 << 20,
    restart_budget: int = RESTART_BUDGET,
    namespace: str | None = None,
    log: Path | None = None,
    known_faults: Collection[str] | None = None,
    profile: str | None = None,
) -> Client:
    """Launch the driver a connector text names, greet it, and return the client for it.

    state_dir: folder that outlives a kill, made if missing. log: file for the first 16 MiB of the driver's stderr.
    restart_budget: crashes borne (a time-out counts for ten). namespace: for several workers on one manager; a process
    of our own that offers no attach has its own state folder instead. Raises ConnectorError (exit code 2) or
    DriverUnusable (exit code 3).
    """
    state_dir = state_dir.absolute()
    try:
        state_dir.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise DriverUnusable(f"the state folder {state_dir} can't be made ({wrong.strerror}): choose another") from None
    options = Options(
        state_dir=state_dir,
        in_process=in_process,
        max_line_bytes=max_line_bytes,
        connect_ms=hello_ms,
        log=log,
        known_faults=known_faults,
        profile=profile,
    )
    return Client(
        launcher(connector, options),
        state_dir=state_dir,
        deadline_ms=deadline_ms,
        hello_ms=hello_ms,
        restart_budget=restart_budget,
        namespace=namespace,
    )


def launcher(connector: str, options: Options) -> Launcher:
    """The launcher a connector text stands for. Raises ConnectorError with the nearest name."""
    form = re.fullmatch(r"([A-Za-z][A-Za-z0-9_-]*)((?:[:+].*)?)", connector, re.DOTALL)
    if form is None:
        raise ConnectorError(f"{connector!r} is no connector: write one of {_FORMS}")
    name, rest = form.groups()
    make = _find(name)
    if make is None:
        close = get_close_matches(name, names(), n=1, cutoff=0.4)
        raise ConnectorError(
            f"no connector {name}" + (f"; did you mean {close[0]}?" if close else f": write one of {_FORMS}")
        )
    return make(rest, options)


def names() -> list[str]:
    """The connectors that can be named."""
    return sorted({*_BUILT_IN, *(entry.name for entry in _installed())})


def _find(name: str) -> Connector | None:
    # The built-in ones are found without the package being installed, and nobody can replace them by accident.
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    for entry in _installed():
        if entry.name == name:
            made: Connector = entry.load()
            return made
    return None


def _installed() -> Iterable[EntryPoint]:
    from importlib import metadata  # here because it costs 30 ms, and the built-in connectors do without

    return metadata.entry_points(group=GROUP)


def embedded(rest: str, options: Options) -> Launcher:
    """`embedded` and `embedded+FAULT[,FAULT]`: the project's own implementation, with named faults.

    In the place of a fault, READING=ALTERNATIVE makes it follow that alternative of a reading.
    """
    if rest.startswith(":") or rest == "+":
        raise ConnectorError(f"embedded{rest} is no connector: write embedded or embedded+FAULT[,FAULT]")
    faults = tuple(fault.strip() for fault in rest[1:].split(",")) if rest else ()
    _refuse_unknown_faults(faults, options)
    label = f"embedded{rest}"
    if options.in_process:
        named = {"profile": options.profile} if options.profile else {}
        return _in_process(_EMBEDDED, (faults,), options, label, named)
    command = [sys.executable, "-P", "-m", "conformance.embedded", "--stdio"]
    for fault in faults:
        command += ["--reading" if "=" in fault else "--fault", fault]
    if options.profile:
        command += ["--profile", options.profile]
    return _process(command, options, label, ours=True)


def _refuse_unknown_faults(faults: tuple[str, ...], options: Options) -> None:
    if options.known_faults is not None:
        known = list(options.known_faults)
    elif options.in_process and faults:
        known = list(importlib.import_module(_FAULTS).FAULTS)
    else:
        return  # the child process knows them, and refuses a name itself
    alternatives = (
        list(importlib.import_module(_ALTERNATIVES).ALTERNATIVES) if any("=" in each for each in faults) else []
    )
    for fault in faults:
        if fault not in (*known, *alternatives):
            close = get_close_matches(fault, [*known, *alternatives], n=1, cutoff=0.4)
            raise ConnectorError(f"no fault {fault!r}" + (f"; did you mean {close[0]}?" if close else ""))


def python(rest: str, options: Options) -> Launcher:
    """`python:pkg.mod:Class`: a class with `handle`, hosted in a child process."""
    spec = rest[1:]
    if not rest.startswith(":") or not re.fullmatch(r"[\w.]+:\w+", spec):
        raise ConnectorError(f"python{rest} is no connector: write python:pkg.mod:Class")
    if options.in_process:
        return _in_process(spec, (), options, spec)
    return _process([sys.executable, "-m", "conformance.adapter.host", spec], options, spec, ours=True)


def stdio(rest: str, options: Options) -> Launcher:
    """`stdio:COMMAND`: a program and its arguments, split as a shell would, run without one."""
    _refuse_in_process("stdio", options)
    try:
        command = shlex.split(rest[1:]) if rest.startswith(":") else []
    except ValueError as wrong:
        raise ConnectorError(f"stdio{rest} is no connector ({wrong}): quote the command as for a shell") from None
    if not command:
        raise ConnectorError("stdio names no command: write stdio:COMMAND, such as stdio:./my-driver --verbose")
    return _process(command, options, Path(command[0]).name)


def tcp(rest: str, options: Options) -> Launcher:
    """`tcp:HOST:PORT`: a driver that listens already; `tcp:[::1]:PORT` for IPv6."""
    _refuse_in_process("tcp", options)
    form = re.fullmatch(r":(?:\[([^\]]+)\]|([^:\[\]]+)):([0-9]{1,5})", rest)
    if form is None or not 0 < int(form[3]) < 65536:
        raise ConnectorError(f"tcp{rest} is no connector: write tcp:HOST:PORT, with a port from 1 to 65535")
    host, port = form[1] or form[2], int(form[3])

    def launch() -> TcpLink:
        return TcpLink(host, port, max_line_bytes=options.max_line_bytes, within=options.connect_ms / 1000)

    return Launcher(f"{host}:{port}", launch)


def _process(command: list[str], options: Options, label: str, *, ours: bool = False) -> Launcher:
    log = StderrLog(options.log)
    # Somebody else's program gets our environment as it is: what we add could change what it imports.
    environment = _environment() if ours else None

    def launch() -> ProcessLink:
        return ProcessLink(command, log=log, max_line_bytes=options.max_line_bytes, environment=environment)

    return Launcher(label, launch, refusal_status=_REFUSED if ours else None)


def _in_process(
    spec: str, arguments: tuple[object, ...], options: Options, label: str, named: Mapping[str, object] | None = None
) -> Launcher:
    made = load_class(spec)

    def launch() -> InProcessLink:
        return InProcessLink(partial(made, **(named or {})), arguments, options.state_dir, f"the driver {label}")

    return Launcher(label, launch)


def _environment() -> Mapping[str, str]:
    """A child finds this package even where it is run from a checkout that was never installed."""
    root = Path(__file__).resolve().parents[2]
    environment = {"PYTHONUNBUFFERED": "1"}
    if root.name not in {"site-packages", "dist-packages"}:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")]))
    return environment


def _refuse_in_process(name: str, options: Options) -> None:
    if options.in_process:
        raise ConnectorError(f"--in-process is for embedded and python connectors: {name} is another process by nature")


_BUILT_IN: Mapping[str, Connector] = {"embedded": embedded, "python": python, "stdio": stdio, "tcp": tcp}
