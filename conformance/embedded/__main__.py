"""`python -m conformance.embedded --stdio` or `--tcp HOST:PORT`: the embedded queue manager as a process."""

from __future__ import annotations

import argparse
import gc
import os
import socket
import sys
from collections.abc import Sequence

from conformance.suggest import nearest

BAD_ARGUMENT, UNUSABLE, INTERRUPTED = 2, 3, 130


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m conformance.embedded",
        description="The embedded queue manager, speaking the adapter protocol.",
        epilog="Example: python -m conformance.embedded --stdio --fault ignores-priority",
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--stdio", action="store_true", help="speak on standard input and output")
    where.add_argument("--tcp", metavar="HOST:PORT", help="listen there; port 0 lets the system choose")
    parser.add_argument("--fork", type=int, metavar="FD", help=argparse.SUPPRESS)  # see `adapter.forking`
    parser.add_argument("--fault", action="append", default=[], metavar="NAME", help="deviate so; may be repeated")
    parser.add_argument(
        "--reading", action="append", default=[], metavar="ID=ALTERNATIVE", help="read so, or directory=ldap"
    )
    parser.add_argument("--clock", choices=("virtual", "real"), default="virtual")
    parser.add_argument("--profile", default="msmq-4.0", help="MSMQ version (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="decides races of faults that have some (default: 0)")
    parser.add_argument("--state-dir", help="where durable state is kept (default: what hello says)")
    return parser.parse_args(argv)


def _known_faults() -> tuple[str, ...]:
    from conformance.embedded.faults import EVERY_FAULT  # hundreds of classes: only when one is asked for

    return tuple(EVERY_FAULT)


def main(argv: Sequence[str] | None = None) -> int:
    """Run until stopped. Returns the exit code."""
    options = _arguments(argv)
    from conformance.embedded.alternatives import NAMES
    from conformance.embedded.driver import EmbeddedDriver, Managers, serve_stdio, serve_tcp

    faults = _known_faults() if options.fault else ()
    for kind, names, known in (("fault", options.fault, faults), ("alternative", options.reading, NAMES)):
        for name in names:
            if name not in known:
                close = nearest(name, known)
                return _refuse(f"there is no {kind} {name}" + (f"; did you mean {close}?" if close else ""))
    try:
        deviations = [*options.fault, *options.reading]
        managers = Managers(deviations, clock=options.clock, profile=options.profile, seed=options.seed)
    except ValueError as wrong:
        return _refuse(str(wrong))

    def make() -> EmbeddedDriver:
        return EmbeddedDriver(options.state_dir, registry=managers)

    if options.stdio:
        if options.fork is not None and not _forked(options.fork):
            return 0
        serve_stdio(make(), sys.stdin.buffer, sys.stdout.buffer, real_clock=options.clock == "real")
        return 0
    host, colon, port = options.tcp.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        return _refuse(f"--tcp needs HOST:PORT, not {options.tcp}")
    try:
        listener = socket.create_server((host.strip("[]") or "127.0.0.1", int(port)))
    except OSError as error:
        return _refuse(f"cannot listen on {options.tcp}: {error.strerror or error}", UNUSABLE)
    print(f"listening on {host or '127.0.0.1'}:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
    serve_tcp(make, managers, listener)
    return 0


def _forked(descriptor: int) -> bool:
    """Fork a process for each standard input, output and error that come over a socket, and tell its number.

    Returns True in these processes, False when the socket ends. Each has a session of its own, and no parent here.
    """
    gc.collect()
    gc.freeze()  # so that no forked process looks through, and copies, what was imported
    with socket.socket(fileno=descriptor) as asked:
        while (came := socket.recv_fds(asked, 1, 3))[0]:
            between = os.fork()
            if between == 0:
                between = os.getpid()
                if os.fork():
                    os._exit(0)
                os.setsid()
                while os.getppid() == between:
                    os.sched_yield()
                for number, end in enumerate(came[1]):
                    os.dup2(end, number)
                    os.close(end)
                asked.sendall(str(os.getpid()).encode())
                return True
            failed = os.waitpid(between, 0)[1]
            for end in came[1]:
                os.close(end)
            if failed:
                return False
    return False


def _refuse(sentence: str, code: int = BAD_ARGUMENT) -> int:
    print(f"embedded: {sentence}", file=sys.stderr)
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
