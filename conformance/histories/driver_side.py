"""Turn abstract calls into requests to the implementation, and its answers into observations and model answers."""

from __future__ import annotations

import base64
import binascii
import time
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from conformance.harness.guarded_client import DriverGone
from conformance.histories.operations.operation import Handles, Manner, Operation
from conformance.histories.operations.table import OPERATIONS
from conformance.model import Answer, BadCall, Call, Observation, Scan, SeenMessage, State
from conformance.model.calls import INFINITE
from conformance.model.expected import message_name
from conformance.model.journals import DEAD_LETTERS
from conformance.model.message_properties import name_without_body
from conformance.model.values import replace
from conformance.verdict import Json

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import OpenCall, Port

_COUNTS = frozenset({"messages", "bytes", "journal_messages", "journal_bytes", "time_ms"})
_IDENTIFIER_BYTES = 20  # MS-MQMQ 2.2.8: a GUID and a number of four bytes


def answer_of(result: Result) -> Answer:
    """Return an adapter's result as an answer of the model."""
    failed = not result.ok if result.status is not None else result.failure is not None
    text = f"{result.failure.kind}: {result.failure.text}" if result.failure is not None else ""
    values = result.values
    if not values:
        return Answer(result.status, failed, None, text)
    raw = values.get("message")
    seen = _message(raw) if raw is not None and not failed else None
    return Answer(result.status, failed, seen, text, _counts(values))


def _message(raw: Any) -> SeenMessage:
    lookup, identifier = raw.get("lookup_identifier"), raw.get("identifier")
    seen = SeenMessage(
        body=binascii.a2b_base64(raw.get("body", "")),
        label=raw.get("label"),
        priority=raw.get("priority"),
        delivery=raw.get("delivery"),
        lookup_identifier=int(lookup) if lookup is not None else None,
        identifier=_identifier(identifier) if identifier is not None else None,
        klass=raw.get("class"),
        correlation=_correlation(raw.get("correlation_identifier")),
        first_in_transaction=raw.get("first_in_transaction"),
        last_in_transaction=raw.get("last_in_transaction"),
        shown=raw,
    )
    return seen if seen.name else replace(seen, name=name_without_body(raw))


def _counts(values: Mapping[str, Any]) -> dict[str, Json]:
    """Return the values of an answer beside status, handles and messages: counts, times and the identifier."""
    found: dict[str, Json] = {name: values[name] for name in values if name in _COUNTS}
    identifier = values.get("identifier")
    if identifier is not None:
        found["identifier"] = _identifier(identifier)
    lookup = values.get("lookup_identifier")
    if lookup is not None:
        found["lookup_identifier"] = int(lookup)
    return found


def _identifier(raw: Mapping[str, Any]) -> str:
    return f"{raw['source'].lower()}\\{raw['ordinal']}"


def _correlation(raw: str | None) -> str | None:
    """Return the message identifier in a message's correlation identifier; None if it has none."""
    if not raw:
        return None
    try:
        value = base64.b64decode(raw)
    except (binascii.Error, ValueError):
        return None
    if len(value) != _IDENTIFIER_BYTES or not any(value):
        return None
    return f"{uuid.UUID(bytes_le=value[:16])}\\{int.from_bytes(value[16:], 'little')}"


MIN_WAIT_MS = 200  # least time for a woken reader to answer, in place of a smaller slack_ms; settle_ms is added
BLOCK_MS = 2_000  # a read must answer or report that it waits within this time; otherwise it counts as waiting
MAX_SCAN = 200  # most messages taken out of a queue to scan it
_CALL, _READ = Manner.CALL, Manner.READ
_NONE: Mapping[str, int] = {}

SLICE_MS = 10
LINE_MS = 30
"""Least time from a report that a read waits to the next call, on a real clock."""
LATE_MS = 5_000
"""Longest wait for an answer that has to come, on a real clock: a busy machine is not the implementation's fault."""
Endings: TypeAlias = Collection[frozenset[str]]
NOTHING_ENDS: Endings = (frozenset(),)


@dataclass(slots=True)
class Patience:
    """Time that may be spent on answers that do not come: 30 s, and a tenth of the time since the start.

    An implementation that wakes no reader would otherwise cost LATE_MS in each of hundreds of examples.
    """

    spent_ms: float = 0.0
    began: float = field(default_factory=time.monotonic)

    def left_ms(self) -> int:
        """Return the milliseconds that the next wait may take."""
        earned = 30_000 + (time.monotonic() - self.began) * 100
        return int(max(0.0, min(LATE_MS, earned - self.spent_ms)))


PATIENCE = Patience()


class Driving:
    """Driver side of one example: it makes the calls, after a `reset`."""

    def __init__(self, client: Port) -> None:
        self.client = client
        self.virtual = client.hello.clock == "virtual" and client.offers("clock.advance")
        self.pause_s = 0.0 if self.virtual else client.hello.settle_ms / 1000
        self.wait_ms = client.hello.settle_ms + max(client.hello.slack_ms, MIN_WAIT_MS)
        self.last: tuple[str, dict[str, Any]] = ("", {})
        self.packets: Sequence[str] = ()  # of the last transfer, in base64
        self._at_once = False
        self.killing = False  # a kill comes directly after the next call, which gets neither a pause nor the time
        self._unsettled = False  # a pause was left out so
        self.answered = False  # the last call was made; what is refused from then on was another one
        self.took_ms: float | None = None  # of a read with a time-out that was answered, on a real clock
        self._labels = client.hello.takes("message", "label")
        # A driver without reset keeps the queues of earlier examples, so this example needs unique names.
        self.handles = Handles(client, "" if client.offers("reset") else f"-{client.unique()}")
        self._sent: set[Json] = set()  # the identifiers of this example's messages; names of those without one
        self._time = client.time
        self._waiting: dict[str, tuple[Call, OpenCall]] = {}

    def perform(
        self, call: Call, state: State, endings: Endings = NOTHING_ENDS, *, answered: bool = False
    ) -> Observation:
        """Make the call and return its answer with those of the waiting reads that ended.

        endings: each set of waiting reads that may end with it. answered: it may not wait. What has to come gets time.
        """
        self._at_once, self.took_ms = answered, None
        operation = OPERATIONS[call.method]
        self.answered = False
        watched = state.properties is not None or state.management is not None
        timed = operation.timed and watched and not self.killing
        answer = (self._timed if timed else self._answer)(operation, call, state)
        self.answered = True
        return Observation(answer, self._completed(call, endings))

    def _timed(self, operation: Operation, call: Call, state: State) -> Answer | None:
        """Return the answer with the implementation's clock before and after the call, if it offers its clock."""
        began = self._now()
        answer = self._answer(operation, call, state)
        ended = self._now() if began is not None else None
        if answer is None or began is None or ended is None:
            return answer
        return replace(answer, values={**answer.values, "began_ms": began, "ended_ms": ended})

    def _now(self) -> int | None:
        if not self.client.offers("clock.now"):
            return None
        result = self.client.call("clock.now")
        return int(result.values["time_ms"]) if result.ok else None

    def _answer(self, operation: Operation, call: Call, state: State) -> Answer | None:
        manner = operation.manner
        if manner is _CALL or (manner is _READ and not call.timeout_ms):
            return self._simple(operation, call, state)
        if manner is _READ:
            return self._read(call)
        if operation.performed is not None:
            self.last = (call.method, {})
            return operation.performed(self.client, call, self.handles)
        return self._advance(call) if manner is Manner.TIME else self._restart(call)

    def _simple(self, operation: Operation, call: Call, state: State) -> Answer:
        method, params = self.last = self.request(call, state.lookups)
        result = self.client.call(method, **params)
        answer = self.answer(result)
        if "carries" in operation.members:
            self._sent.add(answer.values.get("identifier") or call.message)
        takes = operation.manner is _READ and "transaction" in operation.members
        for _ in range(MAX_SCAN if takes else 0):
            if not self._of_others(call, state, answer):
                break
            answer = self.answer(result := self.client.call(method, **params))
        if operation.answer is not None:
            self.packets = result.values.get("packets", ())
            answer = self._unlabelled(operation.answer(answer, call, result.values, self.handles))
        if not answer.failed:
            operation.bind(call, result.values, self.handles)
        if operation.settles:
            self._settle()
        return answer

    def _of_others(self, call: Call, state: State, answer: Answer) -> bool:
        """Tell whether a dead-letter queue gave what an earlier example or another program has left there.

        A message is told by its identifier where sends answer one, otherwise by its name.
        """
        seen, handle = answer.message, state.handles.get(call.handle or "")
        if seen is None or handle is None or handle.queue not in DEAD_LETTERS:
            return False
        return seen.identifier not in self._sent and message_name(seen) not in self._sent

    def _read(self, call: Call) -> Answer | None:
        method, params = self.last = self.request(call)
        began = self._time.monotonic()
        outstanding = self.client.start(method, **params)
        self.client.wait_blocked_or_done(outstanding, BLOCK_MS if self.virtual else min(BLOCK_MS, self.wait_ms))
        if not self.virtual and not outstanding.done:
            # `pending` may come from a timer of the driver: the read may be answered soon, or not stand in line yet.
            within_ms = PATIENCE.left_ms() if self._at_once else LINE_MS
            late = not self._until(lambda: outstanding.done, [outstanding], within_ms)
            PATIENCE.spent_ms += within_ms if late and self._at_once else 0
        self.note(call, outstanding)
        if outstanding.done:
            self.took_ms = None if self.virtual else (self._time.monotonic() - began) * 1000
            return self._ended(call, outstanding)
        self._waiting[call.name or ""] = call, outstanding
        return None

    def _ended(self, call: Call, outstanding: OpenCall) -> Answer:
        result = outstanding.result()
        if result.ok:
            self.bind(call, result)
        return self.answer(result)

    def expire(self, call: Call) -> tuple[Observation, Observation, float]:
        """On a real clock, make a read that times out; return its wait, its end, and the milliseconds it took."""
        self.answered = False
        method, params = self.last = self.request(call)
        began = self._time.monotonic()
        answer = self.answer(self.client.call(method, **params))
        self.took_ms = took_ms = (self._time.monotonic() - began) * 1000
        assert call.name is not None
        if not answer.failed or took_ms < call.timeout_ms / 2:
            return Observation(answer), Observation(Answer()), took_ms
        return Observation(None), Observation(Answer(), {call.name: answer}), took_ms

    def _advance(self, call: Call) -> Answer:
        method, params = self.last = self.request(call)
        if self.virtual:
            return answer_of(self.client.call(method, **params))
        self._time.sleep(call.by_ms / 1000)
        return Answer()

    def _restart(self, call: Call) -> Answer:
        self.last = self.request(call)
        self.client.restart(kill=call.kill)
        self.handles.known.clear()
        self._waiting.clear()
        if self._unsettled:
            self._settle()
        return Answer()

    def _settle(self) -> None:
        """Wait until what was done is visible; before a kill leave that for the start after it."""
        self._unsettled = self.killing
        if self.pause_s and not self.killing:
            self._time.sleep(self.pause_s)

    def _completed(self, call: Call, endings: Endings) -> dict[str, Answer]:
        ended: dict[str, Answer] = {}
        if not self._waiting:
            return ended
        self._await(endings)
        for name, (read, outstanding) in list(self._waiting.items()):
            if outstanding.done and name != call.name:
                ended[name] = self._ended(read, outstanding)
                del self._waiting[name]
        return ended

    def _await(self, endings: Endings) -> None:
        """Give the reads that end with a call time to be answered: the answers of several threads come in any order."""
        open_calls = {name: outstanding for name, (_, outstanding) in self._waiting.items()}

        def ended() -> frozenset[str]:
            return frozenset(name for name, outstanding in open_calls.items() if outstanding.done)

        def over() -> bool:
            return not any(ended() < ending & open_calls.keys() for ending in endings)

        def fits() -> bool:
            return over() or ended() in endings

        calls = list(open_calls.values())
        within_ms = self.wait_ms if self.virtual else max(self.wait_ms, PATIENCE.left_ms())
        if not self._until(fits, calls, within_ms):
            PATIENCE.spent_ms += within_ms
        elif not self.virtual:
            self._until(over, calls, self.wait_ms)

    def _until(self, condition: Callable[[], bool], calls: Sequence[OpenCall], within_ms: int) -> bool:
        """Process the driver's messages until the condition holds or the time is over; tell whether it holds.

        Counted in slices, as time stands still where a stored example is judged.
        """
        for _ in range(max(1, within_ms // SLICE_MS)):
            waiting = next((call for call in calls if not call.done), None)
            if waiting is None or condition():
                break
            self.client.wait_done(waiting, SLICE_MS)
        return condition()

    def request(self, call: Call, lookups: Mapping[str, int] = _NONE) -> tuple[str, dict[str, Any]]:
        """Return the protocol's method and parameters. lookups: the observed lookup identifiers, by message.

        Raises BadCall for a name that the implementation has given no handle for.
        """
        self.handles.lookups = lookups
        try:
            params = OPERATIONS[call.method].request(call, self.handles)
        except KeyError as lost:  # the implementation gave no handle by this name, or a restart took it away
            raise BadCall(f"the implementation has nothing by the name {lost}") from None
        if call.timeout_ms == INFINITE:
            params["deadline_ms"] = None
        if not self._labels and "message" in params:
            params["message"].pop("label", None)  # its body tells a message too
        return call.method, params

    def answer(self, result: Result) -> Answer:
        """Return a result as an answer of the model. A label that could not be given is not looked at."""
        answer = answer_of(result)
        reports = "" if answer.message is None else result.values["message"].get("administration_queue", "")
        if answer.message is not None and reports:
            seen = replace(answer.message, admin=self.handles.spelled.get(reports, reports))
            answer = replace(answer, message=seen)
        return self._unlabelled(answer)

    def _unlabelled(self, answer: Answer) -> Answer:
        if self._labels:
            return answer
        if answer.message is not None:
            answer = replace(answer, message=replace(answer.message, label=None))
        if answer.messages is not None:
            answer = replace(answer, messages=tuple(replace(seen, label=None) for seen in answer.messages))
        return answer

    def bind(self, call: Call, result: Result) -> None:
        """Keep the handle that a successful call returned."""
        OPERATIONS[call.method].bind(call, result.values, self.handles)

    def note(self, call: Call, outstanding: OpenCall) -> None:
        """Keep the number of a read that may wait, so that it can be cancelled."""
        self.handles.requests[call.name or ""] = outstanding.id

    def restart(self, *, kill: bool) -> None:
        """End the manager and start it again; forget handles and waiting reads."""
        self._restart(Call("restart", kill=kill))

    def leave(self) -> None:
        """If the driver has no reset, close all handles, so that no read of this example goes on waiting."""
        if self.handles.own and self.client.offers("queues.close"):
            for name, handle in list(self.handles.known.items()):
                if name[0] in "hrs":
                    self.client.call("queues.close", queue=handle)

    def scan(self, queue: str, handles: Iterable[str]) -> Scan | None:
        """Empty a queue and return its content, None if that fails. handles: names of its receive handles."""
        try:
            handle = next((self.handles.known[name] for name in handles), None)
            if handle is None:
                opened = self.client.call("queues.open", format_name=self.handles.format(queue), access="receive")
                if not opened.ok:
                    return None
                handle = opened.values["queue"]
            found: list[SeenMessage] = []
            while len(found) < MAX_SCAN:
                answer = self.answer(self.client.call("messages.receive", queue=handle, timeout_ms=0))
                if answer.failed or answer.message is None:
                    break
                found.append(answer.message)
        except DriverGone:
            return None
        return Scan(tuple(message_name(seen) for seen in found), queue, tuple(found))
