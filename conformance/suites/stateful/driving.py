"""Turns abstract calls into requests to the implementation, and its answers into observations."""

from __future__ import annotations

import base64
import binascii
import json
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from conformance.model import Answer, Call, Observation, Scan, SeenMessage, State
from conformance.model.calls import INFINITE, LOOKUPS, READS
from conformance.model.keeping import ELSEWHERE, is_kept, is_remote
from conformance.model.matching import message_name
from conformance.suites.guard import DriverGone
from conformance.suites.stateful import keeping, outgoing
from conformance.suites.stateful.accepting import kind_of_name

if TYPE_CHECKING:
    from conformance.adapter.client import Call as Outstanding
    from conformance.adapter.client import Client, Result

MIN_WAIT_MS = 200  # a reader that must wake is given this long beside settle_ms and slack_ms before it is called asleep
BLOCK_MS = 2_000  # an answer, or word that the read waits, comes within this; without word it counts as waiting
_sorted = json.JSONEncoder(sort_keys=True).encode
MAX_SCAN = 200  # messages taken out of a queue to see what is in it


class Driving:
    """The implementation's handles by the harness's names. One for an example; `reset` comes before it."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.virtual = client.hello.clock == "virtual" and client.offers("clock.advance")
        self.pause_s = 0.0 if self.virtual else client.hello.settle_ms / 1000
        self.wait_ms = client.hello.settle_ms + max(client.hello.slack_ms, MIN_WAIT_MS)
        self.last: tuple[str, dict[str, Any]] = ("", {})
        self.packets: Sequence[str] = ()  # of the last transfer, in base64
        self.formats: dict[str, str] = {}
        # A driver that cannot be reset keeps the queues of earlier examples: ours need names of their own.
        self.own = "" if client.offers("reset") else f"-{_unique(client)}"
        self._time: Any = getattr(client, "time", time)  # what is judged again takes no time
        self._names: dict[str, Any] = {}  # handles, cursors and transactions
        self._waiting: dict[str, Outstanding] = {}
        self._requests: dict[str, int] = {}
        self._late: dict[str, float] = {}

    def perform(self, call: Call, state: State, due: Iterable[str] = ()) -> Observation:
        """Make the call, and see what came of it and of the reads that wait.

        due: the waiting reads that must end with it, which are given time to.
        """
        if call.method == "clock.advance":
            answer: Answer | None = self._advance(call, due)
        elif call.method == "restart":
            answer = self._restart(call)
        elif call.method in READS and call.timeout_ms > 0:
            answer = self._read(call)
        else:
            answer = self._simple(call, state)
        return Observation(answer, self._completed(call, due))

    def _simple(self, call: Call, state: State) -> Answer:
        method, params = self._request(call, state)
        self.last = (method, params)
        result = self.client.call(method, **params)
        answer = answer_of(result)
        if call.method == "outgoing.take":
            self.packets = result.values.get("packets", ())
            answer = outgoing.with_messages(answer, result.values, self._name_of)
        if not answer.failed:
            self._bind(call, result)
        if self.pause_s and call.method in ("messages.send", "transactions.commit", "transactions.abort"):
            self._time.sleep(self.pause_s)
        return answer

    def _read(self, call: Call) -> Answer | None:
        method, params = self._read_params(call)
        self.last = (method, params)
        outstanding = self.client.start(method, **params)
        self.client.wait_blocked_or_done(outstanding, BLOCK_MS if self.virtual else min(BLOCK_MS, self.wait_ms))
        assert call.name is not None
        self._requests[call.name] = outstanding.id
        if outstanding.done:
            self._bind_read(call.name, outstanding.result())
            return answer_of(outstanding.result())
        self._waiting[call.name] = outstanding
        return None

    def expire(self, call: Call) -> tuple[Observation, Observation, float]:
        """On a real clock: a read that is to run out of time, as a wait and its end, and the milliseconds it took."""
        method, params = self._read_params(call)
        self.last = (method, params)
        began = self._time.monotonic()
        answer = answer_of(self.client.call(method, **params))
        took_ms = (self._time.monotonic() - began) * 1000
        assert call.name is not None
        if not answer.failed or took_ms < call.timeout_ms / 2:
            return Observation(answer), Observation(Answer()), took_ms
        return Observation(None), Observation(Answer(), {call.name: answer}), took_ms

    def _advance(self, call: Call, due: Iterable[str]) -> Answer:
        self.last = ("clock.advance", {"by_ms": call.by_ms})
        if self.virtual:
            return answer_of(self.client.call("clock.advance", by_ms=call.by_ms))
        self._time.sleep(call.by_ms / 1000)
        return Answer()

    def _restart(self, call: Call) -> Answer:
        self.last = ("restart", {"kill": call.kill})
        self.client.restart(kill=call.kill)
        self._names.clear()
        self._waiting.clear()
        return Answer()

    def _completed(self, call: Call, due: Iterable[str]) -> dict[str, Answer]:
        ended: dict[str, Answer] = {}
        if not self._waiting:
            return ended
        for name in due:
            outstanding = self._waiting.get(name)
            if outstanding is not None and not outstanding.done:
                self.client.wait_done(outstanding, self.wait_ms)
        for name, outstanding in list(self._waiting.items()):
            if outstanding.done and name != call.name:
                self._bind_read(name, outstanding.result())
                ended[name] = answer_of(outstanding.result())
                del self._waiting[name]
        return ended

    def request(self, call: Call, state: State) -> tuple[str, dict[str, Any]]:
        """The protocol's method and parameters for a call, for who sends it himself: see `bind` and `note`."""
        return self._request(call, state)

    def bind(self, call: Call, result: Result) -> None:
        """Keep the handle that a call which succeeded gave."""
        self._bind(call, result)

    def note(self, call: Call, outstanding: Outstanding) -> None:
        """Remember a read that may wait, so that it can be cancelled."""
        self._requests[call.name or ""] = outstanding.id

    def format_of(self, queue: str) -> str:
        """The format name of a queue."""
        return self._format(queue)

    def restart(self, *, kill: bool) -> None:
        """End the manager and start it again; handles and waiting reads are gone."""
        self._restart(Call("restart", kill=kill))

    def leave(self) -> None:
        """Where there is no reset: close what is open, so that no read of this example waits on."""
        if self.own and self.client.offers("queues.close"):
            for name, handle in list(self._names.items()):
                if name[0] in "hrs":
                    self.client.call("queues.close", queue=handle)

    def scan(self, queue: str, handles: Iterable[str]) -> Scan | None:
        """Empty a queue and tell what was in it, or None when that cannot be done. handles: open for receive on it."""
        try:
            handle = next((self._names[name] for name in handles), None)
            if handle is None:
                opened = self.client.call("queues.open", format_name=self._format(queue), access="receive")
                if not opened.ok:
                    return None
                handle = opened.values["queue"]
            found: list[SeenMessage] = []
            while len(found) < MAX_SCAN:
                answer = answer_of(self.client.call("messages.receive", queue=handle, timeout_ms=0))
                if answer.failed or answer.message is None:
                    break
                found.append(answer.message)
        except DriverGone:
            return None
        return Scan(tuple(message_name(seen) for seen in found), queue, tuple(found))

    def _request(self, call: Call, state: State) -> tuple[str, dict[str, Any]]:
        """The protocol's method and parameters."""
        method = call.method
        if method in READS:
            return self._read_params(call)
        if method == "messages.send":
            return method, self._send_params(call)
        if method == "queues.create":
            params: dict[str, Any] = {"path_name": self._path(call.queue)}
            properties = keeping.properties(call)
            return method, params | ({"properties": properties} if properties else {})
        if method in keeping.METHODS:
            return keeping.request(call, self._format)
        if method == "queues.delete" or method in outgoing.METHODS:
            return method, {"format_name": self._format(call.queue)}
        if method == "queues.open":
            kind = kind_of_name(call.queue or "")
            if kind is not None:
                self.client.need("format_names", kind)
            params = {"format_name": self._format(call.queue), "access": call.access or "receive"}
            return method, params | ({"share": call.share} if call.share else {})
        if method in ("queues.close", "queues.purge", "cursors.open"):
            return method, {"queue": self._names[call.handle or ""]}
        if method == "cursors.close":
            return method, {"cursor": self._names[call.cursor or ""]}
        if method == "transactions.begin":
            return method, {}
        if method.startswith("transactions."):
            return method, {"transaction": self._names[call.transaction or ""]}
        if method == "messages.cancel":
            return method, {"request": self._requests[call.request or ""]}
        if method == "messages.receive_end":
            return method, {"read": self._names[call.read or ""], "acknowledge": call.acknowledge}
        if method == "messages.move":
            return method, self._move_params(call, state)
        assert method in LOOKUPS
        params = {
            "queue": self._names[call.handle or ""],
            "lookup_identifier": str(state.lookups.get(call.message or "", 0)),
            "action": call.action or "current",
        }
        return method, params | self._in_transaction(call)

    def _read_params(self, call: Call) -> tuple[str, dict[str, Any]]:
        params: dict[str, Any] = {"queue": self._names[call.handle or ""], "timeout_ms": call.timeout_ms}
        if call.cursor is not None:
            params["cursor"] = self._names[call.cursor]
        if call.timeout_ms == INFINITE:
            params["deadline_ms"] = None
        if call.transaction is not None:
            params["transaction"] = self._names[call.transaction]
        return call.method, params

    def _send_params(self, call: Call) -> dict[str, Any]:
        name = call.message or ""
        message: dict[str, Any] = {"label": name, "body": _body(name, call.size)}
        if call.priority is not None:
            message["priority"] = call.priority
        if call.delivery is not None:
            message["delivery"] = call.delivery
        message |= keeping.wishes(call, self._format)
        return {"queue": self._names[call.handle or ""], "message": message, **self._in_transaction(call)}

    def _move_params(self, call: Call, state: State) -> dict[str, Any]:
        return {
            "queue": self._names[call.handle or ""],
            "lookup_identifier": str(state.lookups.get(call.message or "", 0)),
            "destination": self._names[call.destination or ""],
            **self._in_transaction(call),
        }

    def _in_transaction(self, call: Call) -> dict[str, Any]:
        return {} if call.transaction is None else {"transaction": self._names[call.transaction]}

    def _path(self, queue: str | None) -> str:
        return f"{self.client.hello.computer}\\private$\\mqconform-{queue}{self.own}"

    def _format(self, queue: str | None) -> str:
        """The format name the creation gave, or a direct one for a queue that was never created."""
        if queue is not None and is_remote(queue):
            return outgoing.format_name(queue, self.own)
        if queue is not None and queue not in self.formats and ("," in queue or is_kept(queue) or queue == ELSEWHERE):
            return keeping.format_name(queue, self.client.hello.computer, self._format)
        parent, _, subqueue = (queue or "").partition(";")
        if subqueue:  # only direct names have subqueues
            return f"DIRECT=OS:{self._path(parent)};{subqueue}"
        return self.formats.get(queue or "", f"DIRECT=OS:{self._path(queue)}")

    def _name_of(self, format_name: str) -> str:
        """The name of a queue on another computer; any other format name as it is."""
        known = {self._format(queue).casefold(): queue for queue in ("remote1", "remote2", "remote3")}
        return known.get(format_name.casefold(), format_name)

    def _bind(self, call: Call, result: Result) -> None:
        values = result.values
        if call.method == "queues.create":
            self.formats[call.queue or ""] = values.get("format_name", self._format(call.queue))
        elif call.method == "queues.open":
            self._names[call.name or ""] = values["queue"]
        elif call.method == "cursors.open":
            self._names[call.name or ""] = values["cursor"]
        elif call.method == "transactions.begin":
            self._names[call.name or ""] = values["transaction"]
        elif call.method == "messages.receive_begin":
            self._bind_read(call.name, result)

    def _bind_read(self, name: str | None, result: Result) -> None:
        """A receive in two phases has a handle for its second."""
        if "read" in result.values and result.ok:
            self._names[name or ""] = result.values["read"]


def _unique(client: Any) -> str:
    told = getattr(client, "unique", None)
    return str(told()) if told is not None else f"{time.monotonic_ns():x}"


@lru_cache(256)
def _body(name: str, size: int) -> str:
    return base64.b64encode(name.encode("ascii").ljust(size)).decode("ascii")


def answer_of(result: Result) -> Answer:
    """An adapter's result as the model sees it."""
    failed = not result.ok if result.status is not None else result.failure is not None
    text = f"{result.failure.kind}: {result.failure.text}" if result.failure is not None else ""
    values = result.values
    if not values:
        return Answer(result.status, failed, None, text)
    raw = values.get("message")
    seen = _seen(raw) if raw is not None and not failed else None
    return Answer(result.status, failed, seen, text, keeping.told(values))


def _seen(raw: Any) -> SeenMessage:
    lookup, identifier = raw.get("lookup_identifier"), raw.get("identifier")
    return SeenMessage(
        body=binascii.a2b_base64(raw.get("body", "")),
        label=raw.get("label"),
        priority=raw.get("priority"),
        delivery=raw.get("delivery"),
        lookup_identifier=int(lookup) if lookup is not None else None,
        identifier=_sorted(identifier) if identifier is not None else None,
        klass=raw.get("class"),
        correlation=keeping.correlation(raw.get("correlation_identifier")),
        first_in_transaction=raw.get("first_in_transaction"),
        last_in_transaction=raw.get("last_in_transaction"),
    )
