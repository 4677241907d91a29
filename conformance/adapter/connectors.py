"""Connectors: texts such as `stdio:COMMAND` that name an implementation, and the clients made from them.

The texts are `embedded`, `embedded+FAULT[,FAULT]`, `python:pkg.mod:Class`, `stdio:COMMAND`, `tcp:HOST:PORT` and
`wire:HOST`. A connector is a function that takes the text after its name and the options, and returns a launcher.
Packages add their own under the entry point group `conformance.connectors`.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.adapter.client import DEADLINE_MS, HELLO_MS, RESTART_BUDGET, Client
from conformance.adapter.errors import ConnectorError, DriverUnusable
from conformance.adapter.forking import Parent
from conformance.adapter.host import InProcessLink, load_class
from conformance.adapter.process import Launcher, ProcessLink, StderrLog, TcpLink, marked
from conformance.adapter.templates import start_of
from conformance.files import make_folder
from conformance.suggest import nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "conformance.connectors"
_EMBEDDED = "conformance.embedded.driver:EmbeddedDriver"
_FAULTS = "conformance.embedded.faults"
_WIRE = "conformance.net.connector"
_ALTERNATIVES = "conformance.embedded.alternatives"
_REFUSED = 2  # exit status of our own hosts for an invalid argument; the message is on their stderr
_FORMS = "embedded, embedded+FAULT[,FAULT], python:pkg.mod:Class, stdio:COMMAND, tcp:HOST:PORT, wire:HOST"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of all connectors.

    known_faults: the names of existing faults, None when the caller does not know them. profile: the MSMQ version for
    an implementation that supports several.
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
    """Launch the driver that a connector text names, exchange `hello`, and return its client.

    state_dir: folder that survives a kill, made if missing. log: file for the first 16 MiB of the driver's stderr.
    restart_budget: number of crashes before the driver is unusable (a time-out counts as ten). namespace: separates
    several workers on one manager; a process of ours that offers no attach has its own state folder instead. Raises
    ConnectorError (exit code 2) or DriverUnusable (exit code 3).
    """
    state_dir = state_dir.absolute()
    try:
        make_folder(state_dir)
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
    """Return the launcher for a connector text. Raises ConnectorError with the nearest name."""
    form = re.fullmatch(r"([A-Za-z][A-Za-z0-9_-]*)((?:[:+].*)?)", connector, re.DOTALL)
    if form is None:
        raise ConnectorError(f"{connector!r} is not a connector: write one of {_FORMS}")
    name, rest = form.groups()
    make = _find(name)
    if make is None:
        close = nearest(name, names())
        raise ConnectorError(
            f"no connector {name}" + (f"; did you mean {close}?" if close else f": write one of {_FORMS}")
        )
    return make(rest, options)


def names() -> list[str]:
    """Return the names of all connectors, built in and installed."""
    return sorted({*_BUILT_IN, *(entry.name for entry in _installed())})


def _find(name: str) -> Connector | None:
    # Built-in connectors work without an installed package, and no package can replace them by accident.
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    for entry in _installed():
        if entry.name == name:
            made: Connector = entry.load()
            return made
    return None


def _installed() -> Iterable[EntryPoint]:
    from importlib import metadata  # imported here because it takes 30 ms, and built-in connectors do not need it

    return metadata.entry_points(group=GROUP)


def embedded(rest: str, options: Options) -> Launcher:
    """Launch `embedded` or `embedded+FAULT[,FAULT]`, the project's own implementation with named faults.

    READING=ALTERNATIVE in place of a fault makes the implementation follow this alternative of a reading, and
    directory=ldap makes it speak LDAP alone with its directory.
    """
    if rest.startswith(":") or rest == "+":
        raise ConnectorError(f"embedded{rest} is not a connector: write embedded or embedded+FAULT[,FAULT]")
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
    return _process(command, options, label, ours=True, forks=True)


def _refuse_unknown_faults(faults: tuple[str, ...], options: Options) -> None:
    if options.known_faults is not None:
        known = list(options.known_faults)
    elif options.in_process and faults:
        known = list(importlib.import_module(_FAULTS).EVERY_FAULT)
    else:
        return  # The child process knows the faults and refuses an unknown name itself.
    alternatives = list(importlib.import_module(_ALTERNATIVES).NAMES) if any("=" in each for each in faults) else []
    for fault in faults:
        if fault not in (*known, *alternatives):
            close = nearest(fault, [*known, *alternatives])
            raise ConnectorError(f"no fault {fault!r}" + (f"; did you mean {close}?" if close else ""))


def python(rest: str, options: Options) -> Launcher:
    """Launch `python:pkg.mod:Class`, a class with `handle`, in a child process that hosts it."""
    spec = rest[1:]
    if not rest.startswith(":") or not re.fullmatch(r"[\w.]+:\w+", spec):
        raise ConnectorError(f"python{rest} is not a connector: write python:pkg.mod:Class")
    if options.in_process:
        return _in_process(spec, (), options, spec)
    return _process([sys.executable, "-P", "-m", "conformance.adapter.host", spec], options, spec, ours=True)


def stdio(rest: str, options: Options) -> Launcher:
    """Launch `stdio:COMMAND`, a program with arguments. The command is split as by a shell but run without one.

    If the program is a folder that `adapter new` wrote, the driver in it is started.
    """
    _refuse_in_process("stdio", options)
    try:
        command = shlex.split(rest[1:]) if rest.startswith(":") else []
    except ValueError as wrong:
        raise ConnectorError(f"stdio{rest} is not a connector ({wrong}): quote the command as for a shell") from None
    if not command:
        raise ConnectorError("stdio names no command: write stdio:COMMAND, such as stdio:./my-driver --verbose")
    return _process(start_of(command), options, Path(command[0]).name)


def tcp(rest: str, options: Options) -> Launcher:
    """Connect to `tcp:HOST:PORT`, a driver that is already listening; `tcp:[::1]:PORT` for IPv6.

    A driver that asks for a token gets that of MQCONFORM_TOKEN, or of the file in `tcp:HOST:PORT?token-file=FILE`.
    """
    _refuse_in_process("tcp", options)
    place, _, asked = rest.partition("?")
    form = re.fullmatch(r":(?:\[([^\]]+)\]|([^:\[\]]+)):([0-9]{1,5})", place)
    if form is None or not 0 < int(form[3]) < 65536:
        raise ConnectorError(f"tcp{place} is not a connector: write tcp:HOST:PORT, with a port from 1 to 65535")
    host, port = form[1] or form[2], int(form[3])
    try:
        host.encode("idna")
    except UnicodeError:
        reason = "each part of a host name between dots has 1 to 63 characters"
        raise ConnectorError(f"tcp{place} is not a connector: {reason}") from None
    token = _token(asked)

    def launch() -> TcpLink:
        return TcpLink(host, port, max_line_bytes=options.max_line_bytes, within=options.connect_ms / 1000, token=token)

    return Launcher(f"{host}:{port}", launch)


def _token(asked: str) -> str | None:
    """Return the token for a driver that listens, None for none. asked: what follows the `?` of the connector."""
    if not asked:
        return os.environ.get("MQCONFORM_TOKEN", "").strip() or None
    name, _, file = asked.partition("=")
    if name != "token-file" or not file:
        raise ConnectorError(f"tcp takes ?token-file=FILE, and not ?{asked[:40]}")
    try:
        token = Path(file).read_text().strip()
    except (OSError, UnicodeDecodeError) as wrong:
        raise ConnectorError(f"the token file {file} can't be read ({wrong})") from None
    if not token:
        raise ConnectorError(f"the token file {file} is empty")
    return token


def _process(command: list[str], options: Options, label: str, *, ours: bool = False, forks: bool = False) -> Launcher:
    """ours: the command is a host of this package. forks: it knows `--fork`."""
    log = StderrLog(options.log)
    # A foreign program gets our environment and a mark: other additions could change what it imports.
    environment = _environment() if ours else None
    parent = Parent(command, marked(environment)) if environment is not None and forks else None

    def launch() -> ProcessLink:
        return ProcessLink(
            command, log=log, max_line_bytes=options.max_line_bytes, environment=environment, parent=parent
        )

    return Launcher(label, launch, refusal_status=_REFUSED if ours else None)


def _in_process(
    spec: str, arguments: tuple[object, ...], options: Options, label: str, named: Mapping[str, object] | None = None
) -> Launcher:
    made = load_class(spec)

    def launch() -> InProcessLink:
        return InProcessLink(partial(made, **(named or {})), arguments, options.state_dir, f"the driver {label}")

    return Launcher(label, launch)


def _environment() -> Mapping[str, str]:
    """Return variables with which a child process finds this package, even in a checkout that is not installed."""
    root = Path(__file__).resolve().parents[2]
    environment = {"PYTHONUNBUFFERED": "1"}
    if root.name not in {"site-packages", "dist-packages"}:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH", "")]))
    return environment


def _refuse_in_process(name: str, options: Options) -> None:
    if options.in_process:
        raise ConnectorError(f"--in-process is for embedded and python connectors: {name} always needs another process")


def wire(rest: str, options: Options) -> Launcher:
    """Judge `wire:HOST`, a queue manager on the network that has no driver: see `conformance.net.connector`."""
    # By name: this room knows nothing of packets. Our end of the network is always in this process.
    made: Launcher = importlib.import_module(_WIRE).wire(rest, options)
    return made


_BUILT_IN: Mapping[str, Connector] = {"embedded": embedded, "python": python, "stdio": stdio, "tcp": tcp, "wire": wire}
