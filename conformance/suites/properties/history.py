"""One history of property calls: each is driven, told, judged, and followed by a look at what the queue is like."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from conformance.model.properties import ROWS
from conformance.model.property_calls import (
    ADVANCE,
    CREATE,
    DELETE,
    GET,
    RESTART,
    SET,
    USE,
    PropertyAnswer,
    PropertyCall,
)
from conformance.model.property_judging import GET_SUCCEEDS, RETURNED, PropertyModel
from conformance.model.property_state import PropertyState, shown_in
from conformance.spec.catalogue import requirement_id
from conformance.spec.constants.hresults import MQ_ERROR_Q_DNS_PROPERTY_NOT_SUPPORTED
from conformance.verdict import Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Client, Result
    from conformance.suites.guard import GuardedClient
    from conformance.suites.judging import Judge

PRIVATE_TYPE = requirement_id("MQDMPR-3.1.7.1.3.private-type")
PRIVATE_NUMBER = requirement_id("MQDMPR-3.1.7.1.3.private-queue-number")
FORMAT = 1
KIND = "properties"
QUEUES = ("q1", "q2", "q3")
NEEDS = ("queues.create", "queues.get")
_PROBE = "probe"
_LOCAL = ("PROPID_Q_SCOPE", "PROPID_Q_QMID")  # not in the table of MS-MQMP 3.1.1.12: a manager may not show them


class PropertyHistory:
    """A history from a fresh start of the implementation. Raises ConformanceFailure at the first broken requirement.

    shown: the properties the manager shows, where an earlier history found that out.
    """

    def __init__(
        self, client: Client | GuardedClient, judge: Judge, *, own: str = "", shown: tuple[str, ...] | None = None
    ) -> None:
        self.client = client
        self.judge = judge
        self.calls: list[dict[str, Any]] = []
        judge.begin_example(KIND, {"format": FORMAT, "calls": self.calls})
        if client.offers("reset"):
            client.call("reset")
        else:
            unique = getattr(client, "unique", None)
            own = f"{own}-{unique() if unique is not None else format(time.monotonic_ns(), 'x')}"
        stem = f"{client.hello.computer}\\private$\\mqconform-p"
        self.paths = {name: f"{stem}{name}{own}" for name in (*QUEUES, _PROBE)}
        self.formats: dict[str, str] = {}
        self.shown = self._probe() if shown is None else shown
        self.model = PropertyModel(judge.readings, self.shown, self.paths, client.hello.queue_manager or None)
        self.state = PropertyState()

    def run(self, *calls: PropertyCall) -> None:
        """Several calls in turn."""
        for call in calls:
            self.do(call)

    def do(self, call: PropertyCall) -> None:
        """Make a call, judge it, and read every queue that it may have changed."""
        call = self._fitting(call)
        if self.judge.muted or (call.method == SET and not call.values) or (call.method == GET and not call.names):
            return
        self.calls.append(call.to_json())
        self._step(call)
        if call.method in (CREATE, SET, DELETE):
            self._look(call.queue)
        if call.method in (SET, RESTART):
            for other in sorted(self.state.queues):
                if other != call.queue:
                    self._look(other)

    def _fitting(self, call: PropertyCall) -> PropertyCall:
        """The call without the properties that the driver cannot be given."""
        hello = self.client.hello
        if not hello.accepts:
            return call
        return replace(
            call,
            values={name: value for name, value in call.values.items() if hello.takes("properties", name)},
            names=tuple(name for name in call.names if hello.takes("properties", name)),
        )

    def _look(self, queue: str) -> None:
        self._step(PropertyCall(GET, queue, names=self.shown))

    def _step(self, call: PropertyCall) -> None:
        if self.judge.muted:
            return
        answer = self._perform(call)
        self.state, verdicts = self.model.step(self.state, call, answer)
        self.judge.record(*verdicts)

    def _perform(self, call: PropertyCall) -> PropertyAnswer:
        if call.method == RESTART:
            self.client.restart(kill=call.kill)
            self.judge.step("the manager is killed and started again" if call.kill else "the manager is restarted")
            return PropertyAnswer(0, False)
        if call.method == USE:
            return self._use(call)
        began = self._now()
        params = self._params(call)
        result = self.client.call(call.method, **params)
        ended = self._now() if began is not None else None
        if call.method == CREATE and result.ok:
            self._returned(call.queue, str(result.values["format_name"]))
        answer = _answer(result, began, ended)
        told = {"status": answer.status} if answer.failed or call.method != GET else {"properties": answer.values}
        self.judge.step(_words(call, answer), {"method": call.method, "params": params}, told)
        return answer

    def _returned(self, queue: str, name: str) -> None:
        """The name of a new queue: its own, of a private queue, and where it shows a number, with one of its own."""
        others = [self.formats[other].casefold() for other in self.state.queues if other != queue]
        self.formats[queue] = name
        kind, taken = name.partition("=")[0].casefold(), name.casefold() in others
        demands = {PRIVATE_TYPE: kind != "public", RETURNED: not taken}
        if kind == "private":
            demands = {PRIVATE_TYPE: True, PRIVATE_NUMBER: not taken}
        for demand, holds in demands.items():
            outcome = Outcome.PASS if holds else Outcome.FAIL
            self.judge.record(Verdict(demand, outcome, f"create {queue}", {"a private queue's own": True}, name))

    def _params(self, call: PropertyCall) -> dict[str, Any]:
        if call.method == ADVANCE:
            return {"by_ms": call.by_ms}
        if call.method == CREATE:
            given = {"properties": dict(call.values)} if call.values else {}
            return {"path_name": self.paths[call.queue], **given}
        params: dict[str, Any] = {"format_name": self.format_of(call.queue)}
        if call.method == SET:
            params["properties"] = dict(call.values)
        if call.method == GET:
            params["properties"] = list(call.names)
        return params

    def format_of(self, queue: str) -> str:
        """The format name of a queue: the one its creation gave, or a direct one."""
        return self.formats.get(queue, f"DIRECT=OS:{self.paths[queue]}")

    def _use(self, call: PropertyCall) -> PropertyAnswer:
        """Send a message and take it out again; whatever comes of it is judged elsewhere."""
        handles = []
        for access in ("send", "receive"):
            opened = self.client.call("queues.open", format_name=self.format_of(call.queue), access=access)
            handles.append(opened.values["queue"] if opened.ok else None)
        if handles[0] is not None:
            self.client.call("messages.send", queue=handles[0], message={"label": "used"})
        if handles[1] is not None:
            self.client.call("messages.receive", queue=handles[1], timeout_ms=0)
        for handle in handles:
            if handle is not None:
                self.client.call("queues.close", queue=handle)
        self.judge.step(f"send a message to {call.queue} and receive it")
        return PropertyAnswer(0, False)

    def _now(self) -> int | None:
        if not self.client.offers("clock.now"):
            return None
        result = self.client.call("clock.now")
        return int(result.values["time_ms"]) if result.ok else None

    def _probe(self) -> tuple[str, ...]:
        """The properties this manager shows. One of MS-MQMP's table that a manager with HRESULTs lacks is a failure."""
        wanted = shown_in(self.judge.profile)
        created = self.client.call("queues.create", path_name=self.paths[_PROBE])
        if not created.ok:
            return wanted
        name = str(created.values["format_name"])
        found = []
        for each in wanted:
            if not self.client.hello.takes("properties", each):
                continue
            params = {"format_name": name, "properties": [each]}
            result = self.client.call("queues.get", **params)
            if result.ok:
                found.append(each)
                continue
            lacking = each in _LOCAL or result.status in (None, MQ_ERROR_Q_DNS_PROPERTY_NOT_SUPPORTED)
            if not lacking:
                self.judge.step(f"read {each}", {"method": GET, "params": params}, {"status": result.status})
                wrong = {"fails": True, "status": result.status}
                self.judge.record(Verdict(GET_SUCCEEDS, Outcome.FAIL, f"get {each}", {"fails": False}, wrong))
        if self.client.offers("queues.delete"):
            self.client.call("queues.delete", format_name=name)
        return tuple(found)


def _answer(result: Result, began: int | None, ended: int | None) -> PropertyAnswer:
    failed = not result.ok if result.status is not None else result.failure is not None
    values = result.values.get("properties", {}) if not failed else {}
    return PropertyAnswer(result.status, failed, values, began, ended)


def _words(call: PropertyCall, answer: PropertyAnswer) -> str:
    """The line of the story."""
    outcome = "fails" if answer.failed else "succeeds"
    if answer.failed and answer.status is not None:
        outcome = f"fails with 0x{answer.status:08X}"
    if call.method == GET:
        known = [name.removeprefix("PROPID_Q_") for name in call.names if name in ROWS]
        what = "all properties" if len(known) == len(call.names) > 1 else ", ".join(call.names)
        return f"read {what} of {call.queue}: {outcome}"
    if call.method == ADVANCE:
        return f"{call.by_ms} ms pass"
    written = ", ".join(f"{name} = {value!r:.80}" for name, value in call.values.items())
    verb = {CREATE: "create", SET: "set", DELETE: "delete"}[call.method]
    return f"{verb} {call.queue}" + (f" with {written}" if written else "") + f": {outcome}"


__all__ = ["FORMAT", "KIND", "NEEDS", "QUEUES", "PropertyHistory"]
