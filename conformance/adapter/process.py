"""A driver as a child process or over TCP, and its life: launch, hello, relaunch on the same state, the end."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import conformance
from conformance.adapter import lines, protocol
from conformance.adapter.errors import (
    ConnectorError,
    DriverCrashed,
    DriverFault,
    DriverTimeout,
    DriverUnusable,
    ProtocolViolation,
)
from conformance.adapter.forking import Forked, Parent
from conformance.adapter.lines import Link
from conformance.adapter.protocol import Hello
from conformance.adapter.session import Session
from conformance.adapter.templates import start_of
from conformance.children import foreign_environment


def look(connector: str, *, in_process: bool = False) -> None:
    """Raise for a `stdio:` command or a `python:` module that does not exist. Starts nothing.

    connector: a text that `connectors.launcher` accepts. Raises DriverUnusable or ConnectorError, as starting it would.
    """
    name, _, rest = connector.partition(":")
    if name == "stdio":
        why = not_startable(start_of(shlex.split(rest))[0])
        if why is not None:
            raise DriverUnusable(why)
    elif name == "python" and not in_process:
        top = rest.partition(":")[0].partition(".")[0]
        if not _importable(top):
            raise ConnectorError(f"there is no module {top}, which {rest} needs: check the name or PYTHONPATH")


def _importable(top: str) -> bool:
    try:
        here = PathFinder.find_spec(top, [str(Path.cwd())])  # the child looks here first
        return here is not None or importlib.util.find_spec(top) is not None
    except (ImportError, ValueError):  # Only the import itself can tell.
        return True


def not_startable(program: str) -> str | None:
    """Return one sentence why a program cannot be started; None if no reason is visible."""
    if os.sep not in program:
        if shutil.which(program) is None:
            return f"the driver {program} does not exist: no folder of PATH has it; for a file here write ./{program}"
        return None
    path = Path(program)
    if not path.exists():
        return f"the driver {program} does not exist: check the path in the connector"
    if path.is_dir():
        return f"the driver {program} is a folder: name the program in it"
    if not os.access(path, os.X_OK):
        return f"the driver {program} may not be executed: make it executable (chmod +x) or name its interpreter"
    return None


_PR_SET_CHILD_SUBREAPER = 36
_ROUNDS = 20  # rounds of killing; each kills what was started during the round before
_SHOWN = 120  # characters of a command line
_NAMED = 50  # strays listed one by one
_MARK = "MQCONFORM_DRIVER_OF"

_children_before: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Process:
    """A process as described by /proc."""

    pid: int
    parent: int
    session: int
    ended: bool

    @property
    def command(self) -> str:
        """The command line on one line, or the name in brackets."""
        try:
            words = Path(f"/proc/{self.pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            name = Path(f"/proc/{self.pid}/comm").read_text("utf-8", "replace")
        except OSError:
            return "?"
        shown = " ".join(words.split()) or f"[{name.strip()}]"
        return ascii(shown[:_SHOWN])[1:-1] + ("..." if len(shown) > _SHOWN else "")


def adopt() -> None:
    """Become the subreaper of processes that drivers start. Does nothing on a second call or another system."""
    global _children_before
    if _children_before is not None or not sys.platform.startswith("linux"):
        return
    import ctypes  # imported here because only a run that starts a process needs it

    with contextlib.suppress(OSError, AttributeError):
        _children_before = frozenset(each.pid for each in _processes() if each.parent == os.getpid())
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def marked(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a driver: what is started with it is known as the driver's by `strays`."""
    return {**environment, _MARK: str(os.getpid())}


def _is_foreign(pid: int) -> bool:
    """Return whether another part of this program has started a process: its environment has no mark of a driver."""
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # it ended, or runs as another user
        return False
    return bool(environment) and f"{_MARK}={os.getpid()}".encode() not in environment.split(b"\0")


def end_session(leader: int) -> None:
    """Kill every process of the session of `leader`, whatever its group. leader: must not be reaped yet."""
    for _ in range(_ROUNDS):
        alive = [each for each in _processes() if each.session == leader and each.pid != leader]
        for each in alive:
            if each.ended and each.parent == os.getpid():
                _reap(each.pid)
            elif not each.ended:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(each.pid, signal.SIGKILL)
        if all(each.ended for each in alive):
            return
        time.sleep(0.001)


def strays(drivers: Collection[int]) -> list[Process]:
    """Return the living strays of this process, sorted by pid, and reap those that have ended.

    drivers: pids of the drivers that are still in use.
    """
    if _children_before is None:
        return []
    known = {os.getpid()}
    ours, found = os.getsid(0), []
    children: dict[int, list[Process]] = {}
    for each in _processes():
        children.setdefault(each.parent, []).append(each)
    ahead = [os.getpid()]
    while ahead:
        for each in children.get(ahead.pop(), ()):
            if each.pid in known or each.pid in _children_before or each.session in drivers:
                continue
            known.add(each.pid)
            if each.session == ours:
                continue  # Our own child, or one of our caller's: a pytest worker names its own.
            if each.ended and each.parent == os.getpid():
                _reap(each.pid)
            elif not each.ended and not _is_foreign(each.pid):
                found.append(each)
                ahead.append(each.pid)
    return sorted(found, key=lambda each: each.pid)


def strays_text(left: Collection[Process]) -> str:
    """Return one sentence that lists strays."""
    named = "; ".join(f"{each.pid} ({each.command})" for each in list(left)[:_NAMED])
    more = f"; and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    what = (
        "1 process that the driver started lives"
        if len(left) == 1
        else f"{len(left)} processes that the driver started live"
    )
    return f"{what} on outside its process group, and mqconform leaves it to you to end: {named}{more}"


def _reap(pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _processes() -> Iterator[Process]:
    try:
        names = [entry.name for entry in os.scandir("/proc")]
    except OSError:
        return
    for name in names:
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError):
                stat = Path(f"/proc/{name}/stat").read_bytes().rpartition(b")")[2].split()
                yield Process(int(name), int(stat[1]), int(stat[3]), stat[0] in (b"Z", b"X"))


_RING_BYTES = 1 << 16  # bytes of stderr kept in memory
_LOG_BYTES = 16 << 20  # bytes of stderr kept on disk, for all epochs together
_TAIL_LINES = 20

_living: weakref.WeakSet[ProcessLink] = weakref.WeakSet()
_named: set[int] = set()  # pids of strays that were reported


class StderrLog:
    """Keeps the end of a driver's stderr in memory and its first 16 MiB in a file."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._ring = bytearray()

    def __call__(self, chunk: bytes) -> None:
        self._ring += chunk
        del self._ring[:-_RING_BYTES]
        if self._path is None:
            return
        # A full disk loses the log, not the run.
        with contextlib.suppress(OSError), self._path.open("ab") as file:
            room = _LOG_BYTES - file.tell()
            if room > 0:
                file.write(chunk[:room])

    def new_epoch(self) -> None:
        """Clear the ring: the tail belongs to one process."""
        self._ring.clear()

    def tail(self) -> str:
        """Return the last lines, for an error message."""
        return "\n".join(self._ring.decode("utf-8", "replace").splitlines()[-_TAIL_LINES:])


class ProcessLink:
    """A running child process; see `lines.Link`."""

    keeps_state = True
    stops = True

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: StderrLog,
        max_line_bytes: int,
        environment: Mapping[str, str] | None = None,
        parent: Parent | None = None,
    ) -> None:
        """Start the process. Raises DriverUnusable when it cannot be started. parent: may fork it instead."""
        log.new_epoch()
        adopt()
        self._log = log
        self._returncode: int | None = None
        self._gone = False
        self._process: Forked | subprocess.Popen[bytes]
        try:
            self._process = (parent and parent.start()) or subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # its own group, so that a kill reaches its children too
                env=marked(foreign_environment() if environment is None else {**os.environ, **environment}),
            )
        except FileNotFoundError:
            why = not_startable(command[0])  # None: the file exists, but the interpreter in its first line does not
            raise DriverUnusable(why or f"the interpreter of the driver {command[0]} does not exist") from None
        except PermissionError:
            why = not_startable(command[0])
            raise DriverUnusable(why or f"the driver {command[0]} may not be executed") from None
        except (OSError, ValueError) as wrong:
            raise DriverUnusable(f"the driver {command[0]} could not be started: {wrong}") from None
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None and stdout is not None and stderr is not None
        self._streams = (stdin, stdout, stderr)
        self._end_fd = _end_of(self._process.pid)
        self._channel = lines.LineChannel(
            stdout.fileno(),
            stdin.fileno(),
            max_line_bytes=max_line_bytes,
            side_fd=stderr.fileno(),
            on_side=log,
            end_fd=self._end_fd,
        )
        _living.add(self)

    @property
    def taken(self) -> int:
        return self._channel.taken

    def send(self, number: int, method: str, params: dict[str, Any], until: float) -> None:
        self._channel.write(lines.request_line(number, method, params), until)

    def receive(self, until: float) -> Any:
        line = self._channel.read(until)
        return None if line is None else lines.message(line)

    def kill(self) -> None:
        if self._gone:
            return
        self._gone = True
        self._wait(0)  # Get the status of a process that ended by itself, without reaping it.
        # Kill the group before the leader is reaped: until then its number cannot be reused.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        end_session(self._process.pid)
        status = self._process.wait()
        self._returncode = status
        self._channel.drain_side(0.2)
        for stream in self._streams:
            with contextlib.suppress(OSError):
                stream.close()
        if self._end_fd is not None:
            os.close(self._end_fd)
        _living.discard(self)

    def finish(self, within: float) -> bool:
        if self._gone:
            return True
        with contextlib.suppress(OSError):
            self._streams[0].close()
        went = self._wait(within)
        self.kill()
        return went

    def last_words(self) -> tuple[int | None, str]:
        if not self._gone:
            # It closed its output: let it end by itself for a moment, so that its own exit status is reported.
            self._wait(1.0)
            self.kill()
        return self._returncode, self._log.tail()

    def _wait(self, within: float) -> bool:
        """Wait for the end of the process without reaping it (see `kill`). Returns False if it did not end in time."""
        until = time.monotonic() + within
        nap = 0.0005
        while True:
            if os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                return True
            left = until - time.monotonic()
            if left <= 0:
                return False
            self._channel.drain_side(0)
            time.sleep(min(nap, left))
            nap = min(nap * 2, 0.02)


def kill_the_living() -> None:
    """Kill every driver of this process at once, without waiting."""
    for link in list(_living):
        with contextlib.suppress(OSError):
            os.killpg(link._process.pid, signal.SIGKILL)


def outliving() -> str | None:
    """Return one sentence that lists the processes that drivers left running, each process once.

    None if there are none, or on a system where this is unknown.
    """
    left = [each for each in strays({link._process.pid for link in _living}) if each.pid not in _named]
    _named.update(each.pid for each in left)
    return strays_text(left) if left else None


def _end_of(pid: int) -> int | None:
    """Return a descriptor that is readable once the process has ended; None if the system has none."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


@atexit.register
def _kill_the_living() -> None:
    for link in list(_living):
        link.kill()
    left = outliving()
    if left is not None:
        with contextlib.suppress(OSError, ValueError, AttributeError):
            print(f"mqconform: {left}", file=sys.stderr, flush=True)


REFUSED = -32001
"""The JSON-RPC error with which a driver that listens refuses a connection: a wrong token, or too many."""

MIN_REDACTED = 8
"""Characters of the shortest token that is looked for in answers: a shorter one stands in many an innocent text."""
_REDACTED = "***"


class TcpLink:
    """A connection; see `lines.Link`. A new connection gets a new namespace, so it finds no earlier state."""

    keeps_state = False
    stops = False

    def __init__(self, host: str, port: int, *, max_line_bytes: int, within: float, token: str | None = None) -> None:
        """Connect within `within` seconds. token: what hello proves itself with. Raises DriverUnusable."""
        self._at, self._token, self._secret = f"{host}:{port}", token, (token or "").encode()
        try:
            self._socket = socket.create_connection((host, port), timeout=within)
        except OSError as wrong:
            reason = wrong.strerror or str(wrong)
            raise DriverUnusable(
                f"no driver answers at {host}:{port} ({reason}): start it, or correct the connector"
            ) from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        descriptor = self._socket.fileno()
        self._channel = lines.LineChannel(descriptor, descriptor, max_line_bytes=max_line_bytes)

    @property
    def taken(self) -> int:
        return self._channel.taken

    def send(self, number: int, method: str, params: dict[str, Any], until: float) -> None:
        # Added here, where it leaves: no record and no message of an error has seen it.
        if method == "hello" and self._token is not None:
            params = {**params, "token": self._token}
        self._channel.write(lines.request_line(number, method, params), until)

    def receive(self, until: float) -> Any:
        line = self._channel.read(until)
        if line is None:
            return None
        quoted = self._token is not None and len(self._token) >= MIN_REDACTED
        # Before the line is parsed, as a bad line is quoted; and behind it, as letters may be escaped.
        message = lines.message(line.replace(self._secret, _REDACTED.encode()) if quoted else line)
        if quoted and b"\\" in line:
            message = _without(self._token or "", message)
        error = message.get("error") if isinstance(message, dict) else None
        if isinstance(error, dict) and error.get("code") == REFUSED:
            raise DriverUnusable(f"the driver at {self._at} refuses: {str(error.get('message', ''))[:200]}")
        return message

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.close()

    def finish(self, within: float) -> bool:
        self.kill()
        return True

    def last_words(self) -> tuple[int | None, str]:
        self.kill()
        return None, ""


def _without(token: str, value: Any) -> Any:
    """Return a JSON value without the token: a driver that quotes it would put it into records, reports and logs."""
    if isinstance(value, str):
        return value.replace(token, _REDACTED)
    if isinstance(value, list):
        return [_without(token, one) for one in value]
    if isinstance(value, dict):
        return {_without(token, name): _without(token, one) for name, one in value.items()}
    return value


STOP_MS = 5_000  # for a graceful end: the answer to `stop`, then the exit
CLOSE_MS = 2_000  # the same at the end of the session
FIXED = ("protocol", "profile", "computer", "clock", "facets", "accepts")
"""Members of hello that must be the same in every epoch."""
_SHOWN_CHARS = 200  # characters of a changed member in a message


@dataclass(frozen=True, slots=True)
class Launcher:
    """A function that makes a link. label: name of the driver in messages before its hello.

    refusal_status: exit status with which one of our own hosts refuses its arguments; the message is on stderr.
    """

    label: str
    launch: Callable[[], Link]
    refusal_status: int | None = None


class Supervisor:
    """Keeps one session open. epoch: number of the driver process (or connection), from 1."""

    def __init__(
        self,
        launcher: Launcher,
        *,
        state_dir: Path,
        deadline_ms: int,
        hello_ms: int,
        restart_budget: int,
        namespace: str | None,
    ) -> None:
        """restart_budget: number of crashes before the driver is unusable; a time-out counts as ten."""
        self.epoch = 0
        self.hello: Hello | None = None
        self._launcher = launcher
        self._state_dir = state_dir
        self._deadline_ms = deadline_ms
        self._hello_ms = hello_ms
        self._budget = restart_budget
        self._left = restart_budget
        self._namespace = namespace
        self._session: Session | None = None
        self._next_number = 1
        self._unusable: DriverUnusable | None = None
        self._last_fault: DriverFault | None = None
        self._closed = False

    def session(self) -> Session:
        """Return the open session or a new one. Raises DriverUnusable, or DriverFault when a relaunch fails."""
        if self._session is None:
            self._session = self._open()
        return self._session

    def restart(self, *, kill: bool) -> bool:
        """End the driver, by force or gracefully, and launch it again on the same state.

        Returns True if it ended as requested. A graceful end that takes too long becomes a kill.
        """
        went = self._end(kill=kill, within_ms=STOP_MS)
        self.session()
        return went

    def close(self) -> bool:
        """End the driver gracefully, else by force. Returns True if it ended by itself (or there was none)."""
        self._closed = True
        return self._end(kill=False, within_ms=CLOSE_MS)

    def _end(self, *, kill: bool, within_ms: int) -> bool:
        session, self._session = self._session, None
        if session is None:
            return True
        until = time.monotonic() + within_ms / 1000
        went = True
        if not kill and session.link.stops:
            went = self._ask_to_stop(session, within_ms)
        self._next_number = session.next_number
        session.abandon()
        if kill:
            session.link.kill()
            return True
        return session.link.finish(max(until - time.monotonic(), 0.1)) and went

    def _ask_to_stop(self, session: Session, within_ms: int) -> bool:
        if self.hello is None or not self.hello.offers("stop"):
            return True  # The end of its input is the only signal it gets.
        try:
            session.start("stop", {"deadline_ms": within_ms}, within_ms).result()
        except DriverFault:
            return False
        return True

    def _open(self) -> Session:
        if self._closed:
            raise DriverUnusable("the session with the driver was closed")
        if self._unusable is not None:
            raise self._unusable
        if self._left < 0:
            self._unusable = DriverUnusable(
                f"{self._who()} broke too often (restart budget of {self._budget} spent); the last time: "
                f"{self._last_fault.sentence if self._last_fault else 'unknown'}"
            )
            raise self._unusable
        first = self.hello is None
        try:
            link = self._launcher.launch()
        except DriverUnusable as unusable:
            self._unusable = unusable
            raise
        self.epoch += 1
        session = Session(
            link,
            epoch=self.epoch,
            first_number=self._next_number,
            who=self._who(),
            deadline_ms=self._deadline_ms,
            on_end=self._ended,
        )
        self._session = session
        try:
            hello = self._greet(session)
            if self.hello is not None:
                _refuse_change(session, self.hello, hello)
            self.hello = hello
            session.who = self._who()
            session.can_lack = self.hello.protocol != "1.0"
            session.objects.typed = self.hello.offers("objects.advise")
            self._settle_in(session)
        except DriverFault as fault:
            if not first:
                raise
            if fault.returncode is not None and fault.returncode == self._launcher.refusal_status and fault.stderr:
                raise ConnectorError(fault.stderr.splitlines()[-1]) from fault
            self._unusable = DriverUnusable(_no_hello(fault, self._hello_ms))
            raise self._unusable from fault
        except DriverUnusable as unusable:
            self._session = None
            session.abandon()
            link.kill()
            self._unusable = unusable
            raise
        return session

    def _greet(self, session: Session) -> Hello:
        params = {
            "versions": list(protocol.VERSIONS),
            "harness": f"mqconform {conformance.__version__}",
            "state_dir": str(self._state_dir),
            "deadline_ms": self._hello_ms,
        }
        result = session.start("hello", params, self._hello_ms).result()
        if result.failure is not None:
            raise DriverUnusable(f"{session.who} refused hello: {result.failure.kind}: {result.failure.text}")
        hello = Hello.from_json(result.values)
        if hello.protocol not in protocol.VERSIONS:
            raise DriverUnusable(
                f"{session.who} speaks adapter protocol {hello.protocol}, this harness speaks "
                f"{', '.join(protocol.VERSIONS)}: use a driver or a harness of the other version"
            )
        age = protocol.VERSIONS.index
        for name, version in protocol.since("hello").items():
            if name in result.values and age(version) < age(hello.protocol):
                raise DriverUnusable(
                    f"{session.who} speaks adapter protocol {hello.protocol}, which has no {name} in hello: "
                    "answer a newer protocol among the versions offered, or leave it out"
                )
        return hello

    def _settle_in(self, session: Session) -> None:
        """Attach to our own namespace: the given one, and on a shared manager a new one for every connection."""
        assert self.hello is not None
        namespace = self._namespace
        if not session.link.keeps_state:
            namespace = f"{namespace or 'mqconform'}-{time.time_ns():x}-{self.epoch}"
        if namespace is not None and self.hello.offers("attach"):
            params = {"namespace": namespace, "deadline_ms": self._deadline_ms}
            result = session.start("attach", params, self._deadline_ms).result()
            if not result.ok:
                raise DriverUnusable(f"{session.who} refused attach: {result.to_json()}")
        elif self._namespace is not None and not session.link.keeps_state:
            raise DriverUnusable(f"{session.who} does not offer attach, which a shared manager needs: run one worker")

    def _ended(self, fault: DriverFault) -> None:
        if self._session is not None:
            self._next_number = self._session.next_number
        self._session = None
        self._last_fault = fault
        self._left -= fault.restart_cost

    def _who(self) -> str:
        return f"the driver {self.hello.name if self.hello else self._launcher.label}"


def _refuse_change(session: Session, before: Hello, now: Hello) -> None:
    """End the session if members of hello have changed: tests were selected and skipped by them."""
    for name in FIXED:
        if getattr(before, name) != getattr(now, name):
            session.fail(
                ProtocolViolation,
                f"changed {name} in hello after it was started again "
                f"({_short(getattr(before, name))} before, now {_short(getattr(now, name))})",
            )


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        value = {key: sorted(names) for key, names in sorted(value.items())}
    shown = ascii(value)
    return shown if len(shown) <= _SHOWN_CHARS else shown[:_SHOWN_CHARS] + "..."


def _no_hello(fault: DriverFault, hello_ms: int) -> str:
    if isinstance(fault, DriverTimeout):
        return f"{fault.sentence}: no hello within {hello_ms / 1000:g} s, so it was given up"
    if isinstance(fault, DriverCrashed):
        return f"{fault.sentence}: it never said hello, so it was not started again"
    return f"{fault.sentence}: it is not a driver for this protocol"
