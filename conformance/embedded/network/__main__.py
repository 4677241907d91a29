"""`python -m conformance.embedded.network --listen HOST:PORT`: the embedded queue manager on the network, as a process.

It prints one line of JSON on standard output when it listens, and ends on SIGTERM or when standard input closes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from conformance.embedded.network.deviations import ALTERNATIVES, FAULTS, RPC_FAULTS, WAYS, parts_with
from conformance.embedded.network.node import NetworkParts
from conformance.embedded.network.server import Server
from conformance.embedded.network.settings import DEFAULT_QUEUES, DEFAULTS, LONGEST, QueueWanted, Settings, queue_wanted
from conformance.embedded.store import StoreError
from conformance.suggest import nearest

BAD_ARGUMENT, INTERRUPTED = 2, 130
PING_PORT = 3527


_REPEATED = (
    ("timer", "NAME=SECONDS", "set a timer"),
    ("queue", "NAME[,WORD]...", "make a private queue"),
    ("consume", "NAME=SECONDS", "receive from a queue so long after arrival"),
    ("reply", "NAME", "answer what arrives in a queue to its response queue"),
    ("peer", "HOST", "a host that may be connected to, beside loopback and those that connect themselves"),
    ("fault", "NAME", "deviate so"),
    ("reading", "ID=ALTERNATIVE", "read so"),
    ("way", "NAME", f"do what the documents leave open otherwise: {', '.join(WAYS)}"),
)
_CLEANUP = "undo a remote receive that is not ended so long (default: %(default)g)"


class Refused(Exception):
    """A bad argument; the text is one sentence."""


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m conformance.embedded.network",
        description="The embedded queue manager, speaking MS-MQQB over TCP and answering pings over UDP.",
        epilog="Example: python -m conformance.embedded.network --listen 127.0.0.1:1801 --timer session-cleanup=2",
    )
    parser.add_argument("--listen", metavar="HOST:PORT", help="port 0 lets the system choose")
    parser.add_argument("--ping-port", type=int, default=PING_PORT, metavar="N", help="UDP port (default: %(default)s)")
    parser.add_argument("--peer-port", type=int, metavar="N", help="port of others (default: that of --listen)")
    parser.add_argument("--rpc", metavar="[HOST:]PORT", help="offer the RPC planes here; port 0 is any free one")
    parser.add_argument("--rpc-epm", type=int, metavar="N", help="a port for the endpoint mapper beside that of --rpc")
    parser.add_argument("--rpc-cleanup", type=float, default=300.0, metavar="SECONDS", help=_CLEANUP)
    parser.add_argument("--state-dir", help="where durable state is kept (default: nowhere)")
    for name, metavar, says in _REPEATED:
        parser.add_argument(f"--{name}", action="append", default=[], metavar=metavar, help=f"{says}; may be repeated")
    parser.add_argument("--insecure-nacks", action="store_true", help="send acknowledgments about queues and rights")
    parser.add_argument("--ping-first", action="store_true", help="ping before a session is established")
    parser.add_argument("--faults", action="store_true", help="list the faults as lines of JSON, and end")
    return parser.parse_args(argv)


def _address(text: str | None, option: str = "--listen", otherwise: str | None = None) -> tuple[str, int]:
    """Return host and port. otherwise: the host of a port alone."""
    host, colon, port = (text or "").rpartition(":")
    if not (colon or otherwise is not None) or not port.isdigit() or not port.isascii() or int(port) > 65535:
        raise Refused(f"{option} needs {'HOST:PORT' if otherwise is None else '[HOST:]PORT'}, not {text or 'nothing'}")
    return host.strip("[]") if colon else otherwise or "", int(port)


def _port(name: str, port: int | None) -> int | None:
    if port is not None and not 0 <= port <= 65535:
        raise Refused(f"{name} needs a port, not {port}")
    return port


def _cleanup(seconds: float) -> float:
    if not 0 < seconds <= LONGEST:
        raise Refused(f"--rpc-cleanup needs SECONDS, not {seconds:g}")
    return seconds


def _account() -> tuple[str, str] | None:
    """Return the account of the RPC planes, which the environment names. Raises Refused for one without password."""
    user, password = os.environ.get("MQCONFORM_RPC_USER"), os.environ.get("MQCONFORM_RPC_PASSWORD")
    if user and not password:
        raise Refused("MQCONFORM_RPC_USER needs MQCONFORM_RPC_PASSWORD")
    return (user, password) if user and password else None


def _seconds(option: str, pairs: Sequence[str], known: Sequence[str], kind: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        _known(kind, name, known)
        try:
            seconds = float(text.removesuffix("s"))
        except ValueError:
            seconds = -1.0
        if not equals or not 0 < seconds <= LONGEST:
            raise Refused(f"{option} needs {name}=SECONDS, not {pair}")
        found[name] = seconds
    return found


def _known(kind: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        close = nearest(name, known)
        raise Refused(f"there is no {kind} {name}" + (f"; did you mean {close}?" if close else ""))


def _queue_name(text: str) -> str:
    lower = text.lower()
    return lower[len("private$\\") :] if lower.startswith("private$\\") else lower


def settings(options: argparse.Namespace) -> Settings:
    """Return what the arguments say. Raises Refused."""
    host, port = _address(options.listen)
    for name in options.fault:
        _known("fault", name, (*FAULTS, *RPC_FAULTS))
    for name in options.reading:
        _known("alternative", name, tuple(ALTERNATIVES))
    for name in options.way:
        _known("way", name, tuple(WAYS))
    try:
        queues: tuple[QueueWanted, ...] = tuple(queue_wanted(text) for text in options.queue or DEFAULT_QUEUES)
    except ValueError as wrong:
        raise Refused(str(wrong)) from None
    names = tuple(queue.name.lower() for queue in queues)
    for name in options.reply:
        _known("queue", _queue_name(name), names)
    if options.rpc_epm is not None and options.rpc is None:
        raise Refused("--rpc-epm needs --rpc")
    consumes = [f"{_queue_name(pair.partition('=')[0])}={pair.partition('=')[2]}" for pair in options.consume]
    return Settings(
        host=host,
        port=port,
        ping_port=_port("--ping-port", options.ping_port) or 0,
        peer_port=_port("--peer-port", options.peer_port),
        timers=_seconds("--timer", options.timer, tuple(DEFAULTS), "timer"),
        queues=queues,
        consumes=_seconds("--consume", consumes, names, "queue"),
        replies=frozenset(map(_queue_name, options.reply)),
        peers=frozenset(host.lower() for host in options.peer),
        insecure_nacks=options.insecure_nacks,
        ping_first=options.ping_first,
        rpc=None if options.rpc is None else _address(options.rpc, "--rpc", host),
        rpc_mapper=_port("--rpc-epm", options.rpc_epm),
        rpc_cleanup_s=_cleanup(options.rpc_cleanup),
        rpc_account=_account(),
        deviations=(*options.way, *options.reading, *options.fault),
    )


def _parts(names: Sequence[str]) -> NetworkParts:
    """Return the parts that deviate so. Raises Refused."""
    try:
        return parts_with(names)
    except TypeError:
        raise Refused(f"one server cannot have all of {', '.join(names)}") from None


async def _run(server: Server) -> None:
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, over.set)
    await server.start()
    try:
        where = {"listen": _text(server.listen), "ping": _text(server.ping), "guid": server.node.manager.guid}
        if server.rpc.listen[1]:
            where["rpc"] = _text(server.rpc.listen)
        print(json.dumps({"ready": where}), flush=True)
        _watch_input(loop, over)
        await over.wait()
    finally:
        await server.stop()


def _watch_input(loop: asyncio.AbstractEventLoop, over: asyncio.Event) -> None:
    """End when standard input closes. A file or a null device never closes: it is not watched."""

    def readable() -> None:
        with suppress(BlockingIOError):
            if not os.read(sys.stdin.fileno(), 4096):
                loop.remove_reader(sys.stdin.fileno())
                over.set()

    with suppress(OSError, ValueError, PermissionError, AttributeError):
        loop.add_reader(sys.stdin.fileno(), readable)


def _text(address: tuple[str, int]) -> str:
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run until stopped. Returns the exit code."""
    options = _arguments(argv)
    if options.faults:
        for fault in FAULTS.values():
            print(json.dumps({"name": fault.name, "breaks": list(fault.breaks), "says": fault.says}))
        for each in RPC_FAULTS.values():
            told = {"name": each.name, "breaks": list(each.breaks), "says": each.says, "plane": "rpc"}
            print(json.dumps(told | ({"unseen": each.unseen} if each.unseen else {})))
        return 0
    try:
        wanted = settings(options)
        parts = _parts(wanted.deviations)
        with ExitStack() as stack:
            folder = options.state_dir or stack.enter_context(tempfile.TemporaryDirectory(prefix="mqconform-"))
            asyncio.run(_run(Server(wanted, Path(folder), parts)))
    except (Refused, StoreError) as wrong:
        return _refuse(str(wrong))
    except OSError as error:
        return _refuse(f"cannot listen on {error.filename or options.listen}: {error.strerror or error}")
    return 0


def _refuse(sentence: str) -> int:
    print(f"network: {sentence}", file=sys.stderr)
    return BAD_ARGUMENT


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
