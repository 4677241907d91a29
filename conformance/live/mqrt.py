"""A session for programs that use the flat API of Message Queuing: their calls, one manager, and the model as judge.

Programs speak the adapter protocol as the harness does. All their requests go to one implementation, one after
another, so that the model sees them in the order in which they take effect.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import stat
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, Final

from conformance.adapter.client import Client, PendingCall, Result
from conformance.adapter.connectors import connect
from conformance.adapter.errors import AdapterError, DriverFault, NotAccepted, NotOffered
from conformance.adapter.lines import BadLine, message
from conformance.adapter.protocol import VERSIONS, methods, validator
from conformance.command_options import BadInput, check_chosen, check_folder, check_words, prepare_folder
from conformance.files import scratch
from conformance.harness.connecting import known_faults
from conformance.histories.programs import Asked, Programs
from conformance.model import Model
from conformance.net.addresses import AddressError, near, place
from conformance.runlog import Header, RunWriter
from conformance.spec.catalogue import assignment, requirement
from conformance.spec.constants.codes import status_text
from conformance.spec.versions import DEFAULT_PROFILE, LEVELS
from conformance.verdict import ExitCode, Outcome, Verdict

MAX_LINE: Final = 8 << 20
MAX_CLIENTS: Final = 1_024
MAX_OPEN: Final = 10_000
"""Requests of one program without an answer."""
MAX_WRITING: Final = 64 << 20
"""Bytes that wait for one program to read them."""
_CHUNK: Final = 1 << 16
_TICK_S: Final = 0.1
_LATE_S: Final = 5.0
_BLOCK_MS: Final = 2_000
_FINDINGS: Final = 200
_OWN: Final = frozenset({"hello", "stop", "reset", "attach", "limits", "harden", "clock.advance"})
"""Methods of the manager as a whole: one program must not end what the others have."""
_HANDLES: Final = {
    "queues.open": "queue", "cursors.open": "cursor", "transactions.begin": "transaction",
    "messages.receive_begin": "read",
}  # fmt: skip
_ENDS: Final = {
    "queues.close": "queue", "cursors.close": "cursor", "transactions.commit": "transaction",
    "transactions.abort": "transaction", "messages.receive_end": "read",
}  # fmt: skip
_MEMBERS: Final = ("queue", "cursor", "transaction", "read", "destination")
_UNDONE: Final = (("read", "messages.receive_end"), ("transaction", "transactions.abort"),
                  ("cursor", "cursors.close"), ("queue", "queues.close"))  # fmt: skip
_NOT_FOUND, _INVALID, _GONE = -32601, -32602, -32000


@dataclass(frozen=True, slots=True)
class Wanted:
    """The wishes for a session. connector: the implementation; fault: names of deviations of `embedded`.

    clock: `real` or `virtual`; a virtual one passes as soon as every program only waits.
    """

    connector: str = "embedded"
    faults: Sequence[str] = ()
    clock: str = "real"
    profile: str | None = None
    level: str = "must"
    readings: str = "windows"
    chosen: Sequence[str] = ()
    out: Path | str | None = None
    command: Sequence[str] = ()
    deadline_ms: int = 10_000


@dataclass(slots=True)
class Told:
    """The outcome of a session. relied: by requirement, how often an answer showed that it holds.

    failures: calls that failed, by method and status. findings: what programs left undone. deviations: failed verdicts.
    not_judged: calls that were passed on only, and why since when.
    """

    programs: int = 0
    calls: int = 0
    judged: int = 0
    relied: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)
    deviations: list[Verdict] = field(default_factory=list)
    not_judged: int = 0
    why: str | None = None
    gone: str | None = None
    folder: Path | None = None

    @property
    def exit_code(self) -> ExitCode:
        """Return the code of the session: what deviates, then what is gone, then whether anything was judged."""
        if self.deviations:
            return ExitCode.DEVIATES
        if self.gone is not None:
            return ExitCode.UNUSABLE
        return ExitCode.CONFORMS if self.relied else ExitCode.NOTHING_JUDGED


@dataclass(slots=True)
class _Program:
    """A connection. owned: its handles by kind. waits: its reads that wait, by its own number of them."""

    number: int
    connection: socket.socket
    greeted: bool = False
    received: bytearray = field(default_factory=bytearray)
    lines: deque[bytes] = field(default_factory=deque)
    writing: bytearray = field(default_factory=bytearray)
    owned: dict[str, dict[Any, None]] = field(default_factory=lambda: {kind: {} for kind, _ in _UNDONE})
    waits: dict[Any, _Waiting] = field(default_factory=dict)
    over: bool = False


@dataclass(slots=True)
class _Waiting:
    """A read that waits. name: in the model, if it is judged."""

    program: _Program
    id: Any
    call: PendingCall
    name: str | None


class Session:
    """Serve programs at an address until `stop`. Use as a context manager: it ends the manager and the record."""

    def __init__(
        self, at: str, wanted: Wanted, *, on_deviation: Callable[[Verdict], object] = lambda verdict: None
    ) -> None:
        """at: a path of a socket, or HOST:PORT on loopback. Raises BadInput, ConnectorError and DriverUnusable."""
        check_words(profile=wanted.profile, level=wanted.level, readings=wanted.readings)
        accepted = assignment(wanted.readings, check_chosen(wanted.chosen))
        check_folder(wanted.out)
        if wanted.clock not in ("real", "virtual"):
            raise BadInput(f"--clock is real or virtual, not {wanted.clock[:20]!r}.")
        self.told, self._wanted, self._on_deviation = Told(), wanted, on_deviation
        connector = wanted.connector
        if wanted.faults:
            if connector != "embedded":
                raise BadInput("--fault is for the embedded queue manager: leave out --to.")
            connector = f"embedded+{','.join(wanted.faults)}"
        self._scratch = scratch("mqconform-mqrt-")
        self._listening, self.address = _listening(at)
        try:
            self._client: Client = connect(
                connector, state_dir=Path(self._scratch.__enter__()), deadline_ms=wanted.deadline_ms,
                known_faults=known_faults(connector), profile=wanted.profile,
            )  # fmt: skip
        except BaseException:
            self._unlisten()
            self._scratch.__exit__(None, None, None)
            raise
        hello = self._client.hello
        self._virtual = hello.clock == "virtual" and self._client.offers("clock.advance")
        if wanted.clock == "virtual" and not self._virtual:
            self.close()
            raise BadInput("The clock of this implementation is real: leave out --clock virtual.")
        if self._client.offers("reset"):
            self._client.call("reset")
        if wanted.clock == "real" and self._virtual and self._client.offers("clock.now"):
            self._set_clock()
        self.programs = Programs(hello.computer, Model(accepted), self._look)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listening, selectors.EVENT_READ, None)
        self._every: dict[int, _Program] = {}
        self._waiting: list[_Waiting] = []
        self._since, self._lag_s = time.monotonic(), 0.0
        folder = prepare_folder(wanted.out, kind="mqrt")
        self.told.folder = folder
        self._writer = RunWriter(folder)
        self._writer.header(
            Header(
                run_id=os.urandom(16).hex(), command=tuple(wanted.command), profile=wanted.profile or DEFAULT_PROFILE,
                level=wanted.level, reading_set=wanted.readings, readings=accepted, captures=(),
            )
        )  # fmt: skip

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End everything, and finish the record."""
        for program in list(getattr(self, "_every", {}).values()):
            self._leave(program)
        self._unlisten()
        with suppress(AdapterError):
            self._client.close()
        writer = getattr(self, "_writer", None)
        if writer is not None:
            self._record(writer)
        self._scratch.__exit__(None, None, None)

    def run(self, stop: Event, budget_s: float | None = None) -> Told:
        """Serve until the end: `stop` is set, the time is over, or the implementation is gone."""
        until = None if budget_s is None else time.monotonic() + budget_s
        while not stop.is_set() and self.told.gone is None and (until is None or time.monotonic() < until):
            self.step(_TICK_S)
        return self.told

    def step(self, within_s: float) -> None:
        """Serve what has come, and wait for more."""
        busy = any(program.lines for program in self._every.values())
        for key, events in self._selector.select(0 if busy else within_s):
            if key.data is None:
                self._accept()
            else:
                if events & selectors.EVENT_READ:
                    self._read(key.data)
                if events & selectors.EVENT_WRITE:
                    self._write(key.data)
        try:
            for program in list(self._every.values()):
                if program.lines and not program.over:
                    self._serve(program, program.lines.popleft())
            self._pass_time()
            self._poll()
        except DriverFault as fault:
            self._lost(fault.sentence)
        except AdapterError as error:
            self._lost(error.sentence)
        for program in [one for one in self._every.values() if one.over and not one.writing]:
            self._leave(program)

    # --- Connections

    def _accept(self) -> None:
        with suppress(OSError):
            connection, _ = self._listening.accept()
            if len(self._every) >= MAX_CLIENTS:
                connection.close()
                return
            connection.setblocking(False)
            if connection.family != socket.AF_UNIX:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.told.programs += 1
            program = _Program(self.told.programs, connection)
            self._every[program.number] = program
            self._selector.register(connection, selectors.EVENT_READ, program)

    def _read(self, program: _Program) -> None:
        try:
            data = program.connection.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._leave(program)
            return
        *lines, rest = data.split(b"\n")
        if lines:
            program.lines.append(bytes(program.received) + lines[0])
            program.lines.extend(lines[1:])
            program.received = bytearray()
        program.received += rest
        if len(program.received) > MAX_LINE or max(map(len, lines), default=0) > MAX_LINE:
            self._refuse(program, "it wrote a line of more than 8 MiB")
        elif len(program.lines) + len(program.waits) > MAX_OPEN:
            self._refuse(program, f"more than {MAX_OPEN:,} of its requests are without an answer")

    def _refuse(self, program: _Program, why: str) -> None:
        self._find(f"program {program.number} broke the protocol: {why}")
        self._tell(program, {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": why}})
        program.lines.clear()
        program.over = True

    def _tell(self, program: _Program, told: Mapping[str, Any]) -> None:
        program.writing += json.dumps(told, separators=(",", ":")).encode() + b"\n"
        self._write(program)

    def _write(self, program: _Program) -> None:
        try:
            sent = program.connection.send(program.writing) if program.writing else 0
            del program.writing[:sent]
        except BlockingIOError:
            pass
        except OSError:
            program.writing.clear()
            program.over = True
        if len(program.writing) > MAX_WRITING:
            self._find(f"program {program.number} does not read its answers")
            program.writing.clear()
            program.over = True
        if program.number in self._every:
            wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if program.writing else 0)
            self._selector.modify(program.connection, wanted, program)

    def _leave(self, program: _Program) -> None:
        """End a connection: what the program has left open is closed, as when its process ends."""
        if self._every.pop(program.number, None) is None:
            return
        self._selector.unregister(program.connection)
        program.connection.close()
        program.over = True
        left = {kind: len(found) for kind, found in program.owned.items() if found and kind in ("transaction", "read")}
        if left or program.waits:
            words = [f"{number} open {'transactions' if kind == 'transaction' else 'begun receives'}"
                     for kind, number in left.items()]  # fmt: skip
            words += [f"{len(program.waits)} waiting reads"] if program.waits else []
            self._find(f"program {program.number} ended with {' and '.join(words)}")
        if self.told.gone is not None:
            return
        try:
            for waiting in list(program.waits.values()):
                self._perform(program, "messages.cancel", {"request": waiting.call.id})
            for kind, method in _UNDONE:
                for handle in list(program.owned[kind]):
                    more = {"acknowledge": False} if kind == "read" else {}
                    if self._client.offers(method):
                        self._perform(program, method, {kind: handle, **more})
        except AdapterError as error:
            self._lost(error.sentence)

    def _lost(self, sentence: str) -> None:
        self.told.gone = sentence
        for waiting in self._waiting:
            self._fail(waiting.program, waiting.id, _GONE, "the queue manager is gone")
        self._waiting.clear()

    # --- Requests

    def _serve(self, program: _Program, line: bytes) -> None:
        try:
            asked = message(line)
        except BadLine as bad:
            self._refuse(program, f"it {bad}")
            return
        if not isinstance(asked, dict) or not isinstance(asked.get("method"), str) or "id" not in asked:
            self._refuse(program, "it wrote a line that is no request")
            return
        method, number, params = asked["method"], asked["id"], asked.get("params", {})
        if not isinstance(params, dict) or isinstance(number, (dict, list)) or number in program.waits:
            self._refuse(program, "it wrote a request with a number or parameters that cannot be")
            return
        if method == "hello" and not program.greeted:
            program.greeted = True
            self._tell(program, {"jsonrpc": "2.0", "id": number, "result": self._hello(params)})
            return
        if method in _OWN or method not in methods() or not program.greeted:
            self._fail(
                program, number, _NOT_FOUND, f"a session has no {method[:60]}" if program.greeted else "say hello"
            )
            return
        params = {name: value for name, value in params.items() if name not in ("deadline_ms", "as")}
        if method == "messages.cancel":
            waiting = program.waits.get(params.get("request"))
            params["request"] = -1 if waiting is None else waiting.call.id
        self.told.calls += 1
        try:
            validator(method, "params")(params)
            if self._foreign(program, method, params):
                raise ValueError("the handle is unknown")
            self._perform(program, method, params, number)
        except NotOffered:
            self._fail(program, number, _NOT_FOUND, f"the manager has no {method}")
        except NotAccepted as refused:
            failure = {"kind": "NotExpressible", "text": refused.what}
            self._tell(program, {"jsonrpc": "2.0", "id": number, "result": {"status": None, "failure": failure}})
        except ValueError as wrong:
            self._fail(program, number, _INVALID, str(wrong)[:300])

    def _hello(self, params: Mapping[str, Any]) -> dict[str, Any]:
        hello = self._client.hello
        spoken = [one for one in VERSIONS if one in params.get("versions", ())]
        offered = {facet: sorted(names) for facet, names in hello.facets.items()}
        offered = {facet: [name for name in names if name not in _OWN] for facet, names in offered.items()}
        own = {"queue_manager": hello.queue_manager} if hello.queue_manager else {}
        return {
            "status": 0, "protocol": (spoken or VERSIONS)[0], "name": hello.name, "version": hello.version,
            "profile": hello.profile, "computer": hello.computer, "facets": offered,
            "clock": "real" if self._wanted.clock == "real" else "virtual", "settle_ms": hello.settle_ms,
            "slack_ms": hello.slack_ms, "limits": dict(hello.limits), **own,
            **({"accepts": {kind: sorted(names) for kind, names in hello.accepts.items()}} if hello.accepts else {}),
        }  # fmt: skip

    def _foreign(self, program: _Program, method: str, params: Mapping[str, Any]) -> bool:
        """Tell whether a request has a handle that this program was not given."""
        for member in _MEMBERS:
            handle = params.get(member)
            kind = "queue" if member == "destination" else member
            if handle is not None and not isinstance(handle, (str, int)):
                return True
            if handle is not None and handle not in program.owned[kind]:
                return handle in {one for other in self._every.values() for one in other.owned[kind]}
        return False

    def _perform(self, program: _Program, method: str, params: dict[str, Any], number: Any = None) -> None:
        """Make a call, judge it, and answer the program. number: of its request; None: nobody waits for the answer."""
        waits = params.get("timeout_ms", 0)
        if self._virtual and (waits or self.programs.timed() or self._lag() > 0.05):
            self._catch_up()
        asked = self.programs.begin(method, params)
        call = self._client.start(method, **params)
        if waits:
            self._client.wait_blocked_or_done(call, _BLOCK_MS)
            if asked is not None:
                self.programs.begun_as(call.id, asked)
        result = call.result() if call.done or not waits else None
        ended = self._ended(asked)
        self._judged(asked, method, result, ended)
        if result is None:
            waiting = _Waiting(program, number, call, asked.call.name if asked is not None else None)
            program.waits[number] = waiting
            self._waiting.append(waiting)
            self._tell(program, {"jsonrpc": "2.0", "method": "pending", "params": {"id": number}})
        for waiting, one in ended:
            self._answer(waiting.program, waiting.id, waiting.call.method, one)
        if result is not None:
            self._keep(program, method, params, result)
            if number is not None:
                self._answer(program, number, method, result)

    def _ended(self, asked: Asked | None) -> list[tuple[_Waiting, Result]]:
        """Return the waiting reads that end with a call, and wait for those that have to."""
        if not self._waiting:
            return []
        self._client.poll(0)
        if asked is not None and self.programs.over is None:
            wanted, until = asked.pending.reads, time.monotonic() + _LATE_S
            while time.monotonic() < until and any(one.name in wanted and not one.call.done for one in self._waiting):
                self._client.poll(5)
        ended = [(one, one.call.result()) for one in self._waiting if one.call.done]
        self._waiting = [one for one in self._waiting if not one.call.done]
        for one, result in ended:
            one.program.waits.pop(one.id, None)
            if one.name is not None:
                self.programs.bind_ended(one.call.method, one.name, result)
            self._keep(one.program, one.call.method, {}, result)
        return ended

    def _look(self, format_name: str) -> list[Result]:
        """Return the answers to peeks at each message of a queue."""
        found: list[Result] = []
        if not (self._client.offers("messages.peek_next") and self._client.offers("cursors.open")):
            return found
        opened = self._client.call("queues.open", format_name=format_name, access="peek")
        if not opened.ok:
            return found
        where = {"queue": opened.values["queue"]}
        cursor = self._client.call("cursors.open", **where)
        while cursor.ok and len(found) < _FINDINGS:
            method = "messages.peek_next" if found else "messages.peek"
            one = self._client.call(method, **where, cursor=cursor.values["cursor"], timeout_ms=0)
            if not one.ok:
                break
            found.append(one)
        self._client.call("queues.close", **where)
        return found

    def _keep(self, program: _Program, method: str, params: Mapping[str, Any], result: Result) -> None:
        given, over = _HANDLES.get(method), _ENDS.get(method)
        if given is not None and result.ok and given in result.values:
            program.owned[given][result.values[given]] = None
        if over is not None and result.ok:
            program.owned[over].pop(params.get(over), None)
        if not result.ok:
            status = "without a code" if result.status is None else status_text(result.status)
            if len(self.told.failures) < _FINDINGS:
                self.told.failures[method, status] += 1

    def _answer(self, program: _Program, number: Any, method: str, result: Result) -> None:
        if not program.over and number is not None:
            self._tell(program, {"jsonrpc": "2.0", "id": number, "result": result.to_json()})

    def _fail(self, program: _Program, number: Any, code: int, why: str) -> None:
        if not program.over:
            self._tell(program, {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": why}})

    # --- Time

    def _lag(self) -> float:
        return time.monotonic() - self._since

    def _set_clock(self) -> None:
        """Let a virtual clock show the time of day: programs compare the times of messages with theirs."""
        told = self._client.call("clock.now").values
        behind = int(time.time() * 1000) - told.get("time_ms", 0)
        if behind > 0:
            self._client.call("clock.advance", by_ms=behind)

    def _catch_up(self) -> None:
        """Let the virtual clock pass as this machine's did."""
        ms = int(self._lag() * 1000)
        if ms > 0:
            self._since += ms / 1000
            self._advance(ms)

    def _advance(self, ms: int) -> None:
        asked = self.programs.passes(ms)
        result = self._client.call("clock.advance", by_ms=ms)
        ended = self._ended(asked)
        self._judged(asked, "clock.advance", result, ended)
        for waiting, one in ended:
            self._answer(waiting.program, waiting.id, waiting.call.method, one)

    def _pass_time(self) -> None:
        if not self._virtual or any(program.lines for program in self._every.values()):
            return
        if self._wanted.clock == "virtual":
            self._since = time.monotonic()
            deadlines = [one.deadline for one in self.programs.state.waiters if one.deadline is not None]
            idle = self._waiting and all(program.waits for program in self._every.values())
            if idle and deadlines and self.programs.over is None:
                self._advance(max(1, min(deadlines) - self.programs.state.now))
            return
        if self._waiting or self.programs.timed() or self._lag() > _TICK_S:
            self._catch_up()

    def _poll(self) -> None:
        """Pass on answers that come by themselves: on a real clock, a read ends at its time."""
        if self._virtual or not self._waiting:
            return
        for waiting, result in self._ended(None):
            self.programs.unfollowed("a read ended at a moment of a real clock")
            self._answer(waiting.program, waiting.id, waiting.call.method, result)

    # --- Verdicts

    def _judged(
        self, asked: Asked | None, method: str, result: Result | None, ended: list[tuple[_Waiting, Result]]
    ) -> None:
        if asked is None:
            self.programs.left_out(result is None or result.ok)
            self.told.not_judged += method != "clock.advance"
        else:
            completed = {one.name: found for one, found in ended if one.name is not None}
            # Time that ends no read shows nothing: where no program came, nothing is judged.
            shows = method != "clock.advance" or bool(ended)
            self._take(self.programs.end(asked, result, completed), shows)
            self.told.judged += shows
        if self.programs.over is not None and self.told.why is None:
            self.told.why = self.programs.over
            if not self.told.deviations:
                self._find(f"from call {self.told.calls} on nothing is judged: {self.programs.over}")

    def _take(self, verdicts: Sequence[Verdict], shows: bool) -> None:
        for verdict in verdicts:
            if not shows and verdict.outcome is not Outcome.FAIL:
                continue
            self.told.outcomes[verdict.outcome.value] += 1
            if verdict.outcome in (Outcome.PASS, Outcome.READING):
                self.told.relied[verdict.requirement] += 1
            elif verdict.outcome is Outcome.FAIL and self._counts(verdict):
                self.told.deviations.append(verdict)
                self._on_deviation(verdict)

    def _counts(self, verdict: Verdict) -> bool:
        """Tell whether a broken requirement is of a level that was chosen."""
        return LEVELS.index(requirement(verdict.requirement).level) <= LEVELS.index(self._wanted.level)

    def _find(self, what: str) -> None:
        if len(self.told.findings) < _FINDINGS:
            self.told.findings.append(what)

    def _record(self, writer: RunWriter) -> None:
        passes = ((Verdict(name, Outcome.PASS, "session"), number) for name, number in self.told.relied.items())
        for verdict, number in (*passes, *((one, 1) for one in self.told.deviations)):
            writer.verdict(verdict, suite="programs", test="session", count=number)
        for line in self.told.findings:
            writer.note(line)
        writer.footer("driver-unusable" if self.told.gone is not None else "completed")
        writer.close()

    def _unlisten(self) -> None:
        self._listening.close()
        if "/" in self.address:
            with suppress(OSError):
                Path(self.address).unlink()


def _listening(at: str) -> tuple[socket.socket, str]:
    """Listen at an address; return the socket, and the address in words. Raises BadInput."""
    if "/" in at or ":" not in at:
        path = Path(at).absolute()
        with suppress(OSError):
            if stat.S_ISSOCK(path.stat().st_mode):
                path.unlink()
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listening.bind(str(path))
        except OSError as error:
            listening.close()
            raise BadInput(f"{at[:80]} cannot be a socket ({error.strerror or error}): name another path.") from None
        path.chmod(0o600)
        words = str(path)
    else:
        try:
            found = place(at, free=True)
        except AddressError as error:
            raise BadInput(str(error)) from None
        if not near(found.host):
            raise BadInput(f"{found.host} is no loopback address: give a path, or a port of this machine.")
        try:
            listening = socket.create_server((found.host, found.port))
        except OSError as error:
            raise BadInput(f"{at} cannot be listened at ({error.strerror}): name another port.") from None
        words = f"{found.host}:{listening.getsockname()[1]}"
    listening.listen(128)
    listening.setblocking(False)
    return listening, words
