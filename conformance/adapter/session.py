"""The conversation with a driver in one epoch: sends requests, matches answers to calls, detects protocol violations.

A session belongs to one thread. It ends at the first fault, and calls in flight are lost: a late answer cannot be taken
for the next one, because nothing is read from an ended session.
"""

from __future__ import annotations

import gc
import json
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from conformance.adapter import protocol
from conformance.adapter.errors import (
    AdapterError,
    CallIndeterminate,
    DriverCrashed,
    DriverFault,
    DriverTimeout,
    NotAccepted,
    ProtocolViolation,
)
from conformance.adapter.lines import BadLine, Link, LinkClosed, LinkStalled, quoted
from conformance.adapter.near_misses import about_id, about_message
from conformance.adapter.protocol import ObjectHandles
from conformance.verdict import Json

_MAX_EVENTS = 10_000  # events kept until they are taken; more are a flood
_MAX_EVENT_BYTES = 4 << 20  # bytes of the lines of these events
_COLLECTED = 8 << 20
"""Bytes of messages after which garbage is collected: few objects in a cycle may hold large texts."""
_QUOTED = 200  # characters of a driver's text that a message quotes


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure of an API without HRESULTs: its own name for the error, and its message."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """An answered call. status: HRESULT as an unsigned number, None for an API without HRESULTs.

    values: the members other than status and failure. size: bytes of its line, 0 if it came without a line.
    """

    status: int | None
    values: Mapping[str, Json]
    failure: Failure | None
    size: int = field(default=0, compare=False, repr=False)

    @property
    def ok(self) -> bool:
        """True if the call succeeded."""
        return self.status is not None and protocol.succeeded(self.status)

    @property
    def lacking(self) -> str | None:
        """The driver's description of what its API cannot express, if it answered so; else None."""
        told = self.failure is not None and self.failure.kind == protocol.NOT_EXPRESSIBLE
        return self.failure.text if self.failure is not None and told else None

    @classmethod
    def from_json(cls, raw: Mapping[str, Json], size: int = 0) -> Result:
        """Build the value from a result object that fits its schema. size: bytes of its line."""
        values = dict(raw)
        status = values.pop("status")
        failure = values.pop("failure", None)
        # A JSON reader may return 0.0 for 0; the schema accepts both as integers.
        return cls(
            None if status is None else int(status),
            values,
            None if failure is None else Failure(failure["kind"], failure["text"]),
            size,
        )

    def to_json(self) -> dict[str, Json]:
        """Return the result object as the driver sent it."""
        out: dict[str, Json] = {"status": self.status, **self.values}
        if self.failure is not None:
            out["failure"] = {"kind": self.failure.kind, "text": self.failure.text}
        return out


@dataclass(frozen=True, slots=True)
class Event:
    """A callback of an MC-MQAC object."""

    object: str | int
    name: str
    arguments: tuple[Json, ...]


class PendingCall:
    """A request that was sent. blocked: the driver reported that it waits. done: it was answered."""

    __slots__ = ("_answer", "_lost", "_probe", "_session", "_until", "blocked", "done", "id", "method", "params")

    def __init__(
        self,
        session: Session,
        number: int,
        method: str,
        params: Mapping[str, Json],
        until: float,
        *,
        probe: bool = False,
    ) -> None:
        """until: `time.monotonic()` at which the driver is killed; infinity for a wait without end.

        probe: a JSON-RPC error is the expected answer.
        """
        self.id = number
        self.method = method
        self.params = params
        self.blocked = False
        self.done = False
        self._session = session
        self._until = until
        self._probe = probe
        self._answer: Any = None
        self._lost: AdapterError | None = None

    @property
    def indeterminate(self) -> bool:
        """True if the session ended before the answer: the call may have taken effect or not."""
        return self._lost is not None

    def result(self, within_ms: int | None = None) -> Result:
        """Wait for the answer. When `within_ms` or the call's own deadline passes, the driver is killed.

        Raises DriverFault, NotAccepted when the API cannot express the call, or CallIndeterminate when the harness
        restarted the driver meanwhile.
        """
        answer = self._wait(within_ms)
        if not isinstance(answer, Result):
            raise TypeError(f"{self.method} was a probe: it has no result")
        if self._session.can_lack and answer.lacking is not None:
            raise NotAccepted(answer.lacking, self._session.who)
        return answer

    def _wait(self, within_ms: int | None) -> Any:
        if not self.done:
            session = self._session
            until = self._until
            if within_ms is not None:
                until = min(until, time.monotonic() + within_ms / 1000)
            elif until == float("inf"):
                until = time.monotonic() + session.deadline_ms / 1000
            while not self.done:
                if self._lost is not None:
                    raise self._lost
                if not session.pump(until, self):
                    session.fail(DriverTimeout, f"did not answer {self.method} in time and was killed", self)
        return self._answer


class Session:
    """The calls in flight over one link."""

    def __init__(
        self,
        link: Link,
        *,
        epoch: int,
        first_number: int,
        who: str,
        deadline_ms: int,
        on_end: Callable[[DriverFault], None],
    ) -> None:
        """who: name of the driver in messages. on_end: called with the fault that ends the session."""
        self.link = link
        self.epoch = epoch
        self.who = who
        self.deadline_ms = deadline_ms
        self.events: deque[Event] = deque()
        self.next_number = first_number
        self.objects = ObjectHandles()
        self.can_lack = False  # True if hello agreed that a result may report what the API cannot express
        self._first_number = first_number
        self._in_flight: dict[int, PendingCall] = {}
        self._on_end = on_end
        self._over = False
        self._taken = 0  # bytes received before the current message
        self._event_bytes = 0

    def taken_events(self) -> list[Event]:
        """Return the events since the last call of this method, in order."""
        taken = list(self.events)
        self.events.clear()
        self._event_bytes = 0
        return taken

    def start(
        self, method: str, params: dict[str, Json], deadline_ms: int | None, *, probe: bool = False
    ) -> PendingCall:
        """Send a request. deadline_ms: None for a wait without end."""
        number = self.next_number
        self.next_number += 1
        now = time.monotonic()
        until = float("inf") if deadline_ms is None else now + deadline_ms / 1000
        call = PendingCall(self, number, method, params, until, probe=probe)
        self._in_flight[number] = call
        try:
            self.link.send(number, method, params, min(until, now + self.deadline_ms / 1000))
        except LinkStalled:
            self.fail(DriverTimeout, f"does not read its input: {method} could not be sent in time", call)
        except BadLine as bad:
            self.fail(ProtocolViolation, str(bad), call)
        except LinkClosed:
            # Messages that it sent before it closed can still be read, and may explain more.
            while self.pump(now + 1.0, call):
                pass
            self.fail(DriverCrashed, f"closed its input before {method}", call)
        return call

    def pump(self, until: float, waiting: PendingCall | None = None) -> bool:
        """Process one message. Returns False when `until` passed without one. Raises DriverFault."""
        self._taken = self.link.taken
        message, wrong = None, ""
        kind: type[DriverFault] = ProtocolViolation
        try:
            message = self.link.receive(until)
        except LinkClosed as closed:
            kind = DriverCrashed
            wrong = f"ended during {waiting.method}" if waiting is not None else "ended"
            if closed.partial:
                wrong += f" in the middle of a line: {quoted(closed.partial)}"
        except BadLine as bad:
            wrong = str(bad)
        _weigh(self.link.taken - self._taken)
        if wrong:  # Raised here, so that the fault keeps no reference to the data being read.
            self.fail(kind, wrong, waiting)
        if message is None:
            return False
        self._dispatch(message, waiting)
        return True

    def fail(self, kind: type[DriverFault], what: str, waiting: PendingCall | None = None) -> NoReturn:
        """End the session: kill the driver, lose what was in flight, raise the fault."""
        if kind is not DriverCrashed:
            self.link.kill()  # A crash may end by itself for a moment, so that its own exit status is reported.
        returncode, tail = self.link.last_words()
        sentence = f"{self.who} {what}"
        if kind is DriverCrashed:
            if returncode is not None:
                sentence += f" ({_ending(returncode)})"
            if tail:
                sentence += f"; the last it wrote to stderr: {_one_line(tail.splitlines()[-1])}"
        method = waiting.method if waiting is not None else None
        fault = kind(sentence, method=method, returncode=returncode, stderr=tail)
        self._end(fault)
        self._on_end(fault)
        raise fault

    def abandon(self) -> None:
        """End the session from our side: calls in flight become indeterminate."""
        self._end(None)

    def _end(self, fault: DriverFault | None) -> None:
        self._over = True
        for call in self._in_flight.values():
            call._lost = fault or CallIndeterminate(call.method)
        self._in_flight.clear()

    def _dispatch(self, message: Any, waiting: PendingCall | None) -> None:
        if type(message) is not dict or message.get("jsonrpc") != "2.0":
            what = f"wrote JSON that is not a JSON-RPC 2.0 message{about_message(message)}"
            self.fail(ProtocolViolation, what, waiting)
        if "method" in message:
            self._notified(message, waiting)
            return
        number = message.get("id")
        call = self._in_flight.get(number) if type(number) is int else None
        if call is None:
            self._stray(message, number, waiting)
        elif len(message) != 3:
            both = "; it has result or error, not both" if "result" in message and "error" in message else ""
            self.fail(ProtocolViolation, f"answered {call.method} with members JSON-RPC does not have{both}", call)
        elif "result" in message:
            self._answered(call, message["result"])
        elif "error" in message:
            self._errored(call, message["error"])
        else:
            self.fail(ProtocolViolation, f"answered {call.method} with neither result nor error", call)

    def _answered(self, call: PendingCall, raw: Any) -> None:
        if call._probe:
            self.fail(ProtocolViolation, f"answered the unknown method {call.method} with a result, not an error", call)
        wrong: object
        try:
            protocol.validator(call.method, "result")(raw)
        except protocol.SchemaInvalid as invalid:
            wrong = invalid
        else:
            wrong = self.objects.wrong_answer(call.method, call.params, raw)
        if wrong is not None:
            what = f"answered {call.method} with a result the protocol does not allow: {wrong}"
            self.fail(ProtocolViolation, what + self._line(call.method, raw), call)
        del self._in_flight[call.id]
        call._answer = Result.from_json(raw, self.link.taken - self._taken)
        call.done = True

    @staticmethod
    def _line(method: str, told: Any) -> str:
        """Return what was told of objects as it stood in its line; other results are told by their wrong member."""
        return f"; it wrote {quoted(json.dumps(told).encode())}" if method.startswith("objects.") else ""

    def _errored(self, call: PendingCall, error: Any) -> None:
        if not (isinstance(error, dict) and type(error.get("code")) is int and isinstance(error.get("message"), str)):
            self.fail(ProtocolViolation, f"answered {call.method} with an ill-formed JSON-RPC error", call)
        if not call._probe:
            self.fail(
                ProtocolViolation,
                f"answered {call.method} with a JSON-RPC error (an MSMQ failure is a result): "
                f"{error['code']} {_one_line(error['message'])}",
                call,
            )
        del self._in_flight[call.id]
        call._answer = error
        call.done = True

    def _stray(self, message: Mapping[str, Any], number: Any, waiting: PendingCall | None) -> None:
        if number is None and isinstance(message.get("error"), dict):
            text = _one_line(str(message["error"].get("message", "")))
            self.fail(ProtocolViolation, f"could not read a request: {text}", waiting)
        if type(number) is int and self._first_number <= number < self.next_number:
            self.fail(ProtocolViolation, f"answered request {number} twice", waiting)
        near = about_id(number, self._in_flight)
        self.fail(ProtocolViolation, f"answered request {str(number)[:40]}, which was never made{near}", waiting)

    def _notified(self, message: Mapping[str, Any], waiting: PendingCall | None) -> None:
        params = message.get("params")
        if message["method"] == "pending" and isinstance(params, dict) and len(message) == 3:
            number = params.get("id")
            call = self._in_flight.get(number) if type(number) is int else None
            if call is None:
                self.fail(ProtocolViolation, f"said that request {str(number)[:40]} waits, which is not open", waiting)
            if call.blocked:
                self.fail(ProtocolViolation, f"said twice that {call.method} waits", waiting)
            call.blocked = True
            return
        if message["method"] == "event" and isinstance(params, dict) and len(message) == 3:
            source, name, arguments = params.get("object"), params.get("name"), params.get("arguments", [])
            if isinstance(source, str | int) and isinstance(name, str) and isinstance(arguments, list):
                wrong = self.objects.wrong_event(source, arguments)
                if wrong is not None:
                    self.fail(ProtocolViolation, f"sent {wrong}{self._line('objects.', params)}", waiting)
                self._event_bytes += self.link.taken - self._taken
                if len(self.events) >= _MAX_EVENTS:
                    self.fail(ProtocolViolation, f"flooded the harness with more than {_MAX_EVENTS} events", waiting)
                if self._event_bytes > _MAX_EVENT_BYTES:
                    flood = f"flooded the harness with events of more than {_MAX_EVENT_BYTES} bytes"
                    self.fail(ProtocolViolation, flood, waiting)
                self.events.append(Event(source, name, tuple(arguments)))
                return
        if "id" in message:
            self.fail(ProtocolViolation, f"sent a request of its own, {str(message['method'])[:40]!a}", waiting)
        self.fail(ProtocolViolation, "sent a notification that is neither pending nor event", waiting)


_uncollected = 0


def _weigh(size: int) -> None:
    """Count the bytes of a received message, over all sessions of this process, and collect garbage when due."""
    global _uncollected
    _uncollected += size
    if _uncollected > _COLLECTED:
        _uncollected = 0
        gc.collect()


def _one_line(text: str) -> str:
    return " ".join(text[:_QUOTED].split())


def _ending(returncode: int) -> str:
    return f"killed by signal {-returncode}" if returncode < 0 else f"exit status {returncode}"
