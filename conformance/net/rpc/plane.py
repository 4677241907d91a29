"""Queues, messages, cursors and management of a host by MS-MQRR and MS-MQMR, as facets of the adapter protocol.

RemoteRead creates no queue and sends nothing. A run is lent the queues that the owner has declared, under the names
that it asks for, and messages get there by MS-MQQB. What is so played is no doing of the host: `PLAYS` names it.
"""

from __future__ import annotations

import threading
import time
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from conformance.judge.packets.user_messages import DEFAULT_PRIORITY, plain_of_packet
from conformance.net.ends import MAX_BYTES, PREFIX
from conformance.net.rpc.binding import (
    FaultError,
    RpcError,
)
from conformance.net.rpc.facet import Associations, Call, Inexpressible, Params, Result, refusing
from conformance.net.rpc.management import MACHINE, QUEUE, SESSION, TEXT, Managed, Management, Variant
from conformance.net.rpc.ndr import NdrError
from conformance.net.rpc.remote_read import (
    MOVE_ACCESS,
    PEEK_ACCESS,
    RECEIVE_ACCESS,
    Action,
    Received,
    RemoteRead,
    Wanted,
)
from conformance.net.rpc.sending import MEMBERS, Sender
from conformance.spec.constants.hresults import (
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_QUEUE_EXISTS,
    STATUS_NOT_FOUND,
)
from conformance.wire import dissect

PLAYS: Final = ("queues.create", "messages.send")
ACCEPTS: Final = {
    "message": list(MEMBERS),
    "properties": [],
    "access": ["receive", "send", "peek", "move"],
    "format_names": ["journal", "subqueue"],
}
_ACCESS: Final = {"receive": RECEIVE_ACCESS, "peek": PEEK_ACCESS, "move": MOVE_ACCESS}
_SEEKS: Final = {
    "next": (Action.LOOKUP_PEEK_NEXT, Action.LOOKUP_RECEIVE_NEXT),
    "current": (Action.LOOKUP_PEEK_CURRENT, Action.LOOKUP_RECEIVE_CURRENT),
    "previous": (Action.LOOKUP_PEEK_PREV, Action.LOOKUP_RECEIVE_PREV),
}
_ACTIVE, PATH_NAMES = 1, 2  # Of a machine, MS-MQMQ 2.3.11.
_COUNT, _BYTES, _JOURNAL_COUNT, _JOURNAL_BYTES, _SUBQUEUE_COUNT, _SUBQUEUE_NAMES = 7, 8, 9, 10, 26, 27
"""Properties of a queue, MS-MQMQ 2.3.12."""
_COUNTS: Final = {
    _COUNT: "messages", _BYTES: "bytes", _JOURNAL_COUNT: "journal_messages", _JOURNAL_BYTES: "journal_bytes",
}  # fmt: skip
_QUEUE_MEMBERS: Final = ("administration_queue", "response_queue")
_SETTLE_MS: Final = 200
_MOST_BODY: Final = MAX_BYTES - 4_096  # With its headers, a packet that a host gets at once.
_PROBED_MS: Final = 2_000
_LABEL: Final = "mqconform"
_SEEN_S: Final = 0.3  # How long a send waits until the host counts its message.
_NEVER: Final = 0xFFFFFFFF
_NUMBER: Final = "number"  # In the parameters of a call that may wait: which call it is.
_LOW: Final = (1 << 56) - 1


LENT: Final = f"{PREFIX}plain"
"""Begins the names of the queues that a run is lent: not transactional, without journal and rights of their own."""


@dataclass(frozen=True, slots=True)
class Handle:
    """An open queue. context: None where it is opened for sending, which the host knows nothing of.

    destination: the number by which R_MoveMessage names it.
    """

    format_name: str
    access: str
    context: bytes | None
    destination: int = 0


@dataclass(frozen=True, slots=True)
class Cursor:
    """A cursor of an open queue."""

    queue: str
    number: int


@dataclass(frozen=True, slots=True)
class Read:
    """A receive that was begun."""

    context: bytes
    request: int


@dataclass(slots=True)
class Plane:
    """See the module. port: of all interfaces, None where the mapper knows.
    queues: names of the declared queues. management: None where the host has not got it. asked: members of the messages
    that were sent, by their number. stale: queues that are lent and have subqueues of earlier tests."""

    read: RemoteRead
    management: Management | None
    port: int | None
    sender: Sender
    computer: str
    queues: tuple[str, ...]
    lent: dict[str, str] = field(default_factory=dict)
    handles: dict[str, Handle] = field(default_factory=dict)
    cursors: dict[str, Cursor] = field(default_factory=dict)
    reads: dict[str, Read] = field(default_factory=dict)
    made: Associations = field(init=False)
    _numbers: count[int] = field(default_factory=lambda: count(1))
    asked: dict[int, frozenset[str]] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)
    _high: bool | None = None
    _tried: bool = False
    _waiting: dict[int, tuple[bytes, int]] = field(default_factory=dict)
    _broken: RpcError | NdrError | None = None

    def __post_init__(self) -> None:
        self.made = Associations(self.read.association, self.port)

    def hello(self) -> Result:
        """Return the members of `hello` that are of this plane."""
        return {
            "computer": self.computer,
            "plays": list(PLAYS),
            "accepts": {kind: list(names) for kind, names in ACCEPTS.items()},
            "settle_ms": 0 if self.management is not None else _SETTLE_MS,
            **({} if self.sender.pace is None else {"limits": {"max_body_bytes": _MOST_BODY}}),
        }

    def handle(self, method: str, params: Params, number: int, reply: Callable[[Result], None]) -> None:
        """Answer a call, in a thread of its own where it may wait. number: of the call, by which it is cancelled.

        Raises RpcError and NdrError, also those of a read that waited: the host then counts as crashed.
        """
        if self._broken is not None:
            raise self._broken
        call = self.calls()[method]
        if not params.get("timeout_ms"):
            reply(call(params))
            return

        def wait() -> None:
            try:
                reply(call({**params, _NUMBER: number}))
            except (RpcError, NdrError) as error:
                self._broken = error
            finally:
                self._waiting.pop(number, None)

        threading.Thread(target=wait, daemon=True).start()

    def calls(self) -> dict[str, Call]:
        """Return what answers each method, by its name."""
        found: dict[str, Call] = {
            "reset": self._reset,
            "queues.create": self._create,
            "queues.open": self._open,
            "queues.close": self._close,
            "queues.purge": self._purge,
            "messages.send": self._send,
            "messages.receive": self._receive,
            "messages.peek": lambda params: self._peek(params, Action.PEEK_CURRENT),
            "messages.peek_next": lambda params: self._peek(params, Action.PEEK_NEXT),
            "messages.receive_by_lookup_id": lambda params: self._look_up(params, receive=True),
            "messages.peek_by_lookup_id": lambda params: self._look_up(params, receive=False),
            "messages.receive_begin": self._receive_begin,
            "messages.receive_end": self._receive_end,
            "messages.move": self._move,
            "messages.cancel": self._cancel,
            "cursors.open": self._open_cursor,
            "cursors.close": self._close_cursor,
            **self.made.calls(),
        }
        if self.management is not None:
            found |= {"queues.counts": self._counts, "management.get": self._get, "management.act": self._act}
        return {method: refusing(call) for method, call in found.items()}

    def real(self, format_name: str) -> str:
        """Return the host's name of a queue that the run names: one that is lent, or else one that nobody has made."""
        queue = _queue_of(format_name)
        absent = queue if queue.lower().startswith(PREFIX) else f"{PREFIX}no-{queue}"
        return _renamed(format_name, self.lent.get(queue.lower(), absent))

    def close(self) -> None:
        """Purge what was lent, and close all connections."""
        self._reset({})
        self.sender.close()
        self.read.association.close()
        if self.management is not None:
            self.management.association.close()

    def _reset(self, params: Params) -> Result:
        for waiting in list(self._waiting.values()):
            with suppress(FaultError):
                self.read.cancel_receive(*waiting)
        for read in self.reads.values():
            with suppress(FaultError):
                self.read.end_receive(read.context, read.request, acknowledge=False)
        for handle in self.handles.values():
            if handle.context is not None:
                with suppress(FaultError):
                    self.read.close_queue(handle.context)
        self.made.close()
        for table in (self.reads, self.cursors, self.handles):
            table.clear()
        for queue in set(self.lent.values()):
            self._empty(queue)
        self.lent.clear()
        self.asked.clear()
        return {"status": 0}

    def _empty(self, queue: str) -> None:
        """Purge a queue, its journal and its subqueues. What cannot be purged shows in the next story."""
        name = self._format_name(queue)
        subqueues = self._subqueues(name)
        (self.stale.add if subqueues else self.stale.discard)(queue)
        for suffix in ("", ";JOURNAL", *(f";{each}" for each in subqueues)):
            try:
                context = self.read.open_queue(f"{name}{suffix}", RECEIVE_ACCESS)
            except FaultError:
                continue
            self.read.purge_queue(context)
            self.read.close_queue(context)

    def _subqueues(self, name: str) -> list[str]:
        if self.management is None:
            return []
        values = self.management.get_info(Managed(QUEUE, name), [_SUBQUEUE_NAMES])[1]
        found = values[0].get("value") or []
        return [_queue_of(each["value"] if isinstance(each, dict) else each).rpartition(";")[2] for each in found]

    def _format_name(self, queue: str) -> str:
        return f"DIRECT=OS:{self.computer}\\private$\\{queue}"

    def _create(self, params: Params) -> Result:
        computer, _, queue = params["path_name"].lower().rpartition("\\")
        wanted = params.get("properties", {})
        if computer != f"{self.computer.lower()}\\private$" or any(wanted.values()):
            raise Inexpressible("Only plain private queues of the host are lent.")
        if queue in self.lent:
            return {"status": MQ_ERROR_QUEUE_EXISTS}
        free = [each for each in self.queues if each not in self.lent.values()]
        if not free:
            raise Inexpressible(f"All {len(self.queues)} queues of the host that are lent are in use.")
        real = queue if queue in free else free[0]
        if not self._tried:
            self._tried = True
            self._look_at_identifiers(self._format_name(real))
        self._empty(real)
        self.lent[queue] = real
        return {"status": 0, "format_name": f"DIRECT=OS:{self.computer}\\private$\\{queue}"}

    def _open(self, params: Params) -> Result:
        name, access = self.real(params["format_name"]), params["access"]
        if access == "send":
            if ";" in name:
                raise Inexpressible("A session of MS-MQQB opens nothing, so it refuses no subqueue.")
            if name.rpartition("\\")[2].lower() not in self.lent.values():
                raise Inexpressible("A session of MS-MQQB opens nothing, so it refuses no queue that is not there.")
            return self._handle(Handle(name, access, None))
        if access == "move":
            destination, context = self.read.open_queue_for_move(name)
            return self._handle(Handle(name, access, context, destination))
        alone = params.get("share") == "deny_receive"
        return self._handle(Handle(name, access, self.read.open_queue(name, _ACCESS[access], alone=alone)))

    def _handle(self, handle: Handle) -> Result:
        key = f"q{next(self._numbers)}"
        self.handles[key] = handle
        return {"status": 0, "queue": key}

    def _close(self, params: Params) -> Result:
        handle = self.handles.pop(params["queue"], None)
        if handle is None:
            return {"status": MQ_ERROR_INVALID_HANDLE}
        for key in [key for key, cursor in self.cursors.items() if cursor.queue == params["queue"]]:
            del self.cursors[key]
        return {"status": 0 if handle.context is None else self.read.close_queue(handle.context)[0]}

    def _context(self, params: Params) -> bytes:
        """Return the context of an open queue. A queue that the host does not hold is refused as a closed one is."""
        handle = self.handles.get(params["queue"])
        if handle is None:
            raise FaultError(MQ_ERROR_INVALID_HANDLE)
        if handle.context is None:
            raise Inexpressible("The host holds no queue that is open for sending.")
        return handle.context

    def _purge(self, params: Params) -> Result:
        return {"status": self.read.purge_queue(self._context(params))}

    def _counts(self, params: Params) -> Result:
        status, counted = self._counted(self.real(params["format_name"]))
        return {"status": status, **counted}

    def _counted(self, name: str) -> tuple[int, dict[str, int]]:
        assert self.management is not None
        status, values = self.management.get_info(Managed(QUEUE, name), list(_COUNTS))
        found = zip(_COUNTS.values(), values, strict=True)
        return status, {key: value["value"] for key, value in found if isinstance(value.get("value"), int)}

    def _send(self, params: Params) -> Result:
        handle = self.handles.get(params["queue"])
        if handle is None or handle.access != "send":
            raise Inexpressible("A session of MS-MQQB has no handle that it could refuse.")
        before = self._size(handle.format_name)
        message = dict(params["message"])
        for name in _QUEUE_MEMBERS:
            if name in message:
                if not message[name].upper().startswith("DIRECT=") or "," in message[name]:
                    raise Inexpressible("A message from here names its queues by one direct format name.")
                message[name] = _renamed(message[name], self.lent.get(_queue_of(message[name]).lower()))
        if message.get("acknowledgements") and self.computer.lower() not in message["administration_queue"].lower():
            raise Inexpressible("Acknowledgments are asked to queues of the host alone, which connects to no other.")
        identifier = self.sender.send(message, handle.format_name)
        self.asked[identifier["ordinal"]] = frozenset(message)
        until = time.monotonic() + _SEEN_S
        while not self._waiting and self._size(handle.format_name) <= before and time.monotonic() < until:
            time.sleep(0.002)
        return {"status": 0, "identifier": identifier}

    def _size(self, name: str) -> int:
        return -1 if self.management is None else self._counted(name)[1].get("messages", -1)

    def _cancel(self, params: Params) -> Result:
        found = self._waiting.get(params["request"])
        if found is None:
            return {"status": STATUS_NOT_FOUND}
        return {"status": self.read.cancel_receive(*found)}

    def _started(self, params: Params, action: Action) -> tuple[bytes, Wanted, Received]:
        """Start to read, and note how the read is cancelled while it waits."""
        context, wanted = self._context(params), self._wanted(params, action)
        if _NUMBER in params:
            self._waiting[params[_NUMBER]] = context, wanted.request
        return context, wanted, self.read.start_receive(context, wanted)

    def _wanted(self, params: Params, action: Action) -> Wanted:
        cursor = 0
        if params.get("cursor") is not None:
            found = self.cursors.get(params["cursor"])
            if found is None:
                raise FaultError(MQ_ERROR_INVALID_HANDLE)
            cursor = found.number
        return Wanted(action, next(self._numbers), cursor, timeout_ms=params["timeout_ms"])

    def _peek(self, params: Params, action: Action) -> Result:
        return self._answer(self._started(params, action)[2])

    def _receive(self, params: Params) -> Result:
        return self._ended(*self._started(params, Action.RECEIVE))

    def _ended(self, context: bytes, wanted: Wanted, begun: Received) -> Result:
        """Acknowledge what was begun to receive."""
        answer = self._answer(begun)
        if answer["status"]:
            return answer
        status = self.read.end_receive(context, wanted.request, acknowledge=True)
        return answer if not status else {"status": status}

    def _look_up(self, params: Params, *, receive: bool) -> Result:
        if params["action"] not in _SEEKS:
            raise Inexpressible("R_StartReceive seeks neither the first message nor the last (MS-MQRR 3.1.4.7).")
        context, action = self._context(params), _SEEKS[params["action"]][receive]
        wanted = Wanted(action, next(self._numbers), lookup=int(params["lookup_identifier"]))
        received = self.read.start_receive(context, wanted)
        return self._ended(context, wanted, received) if receive else self._answer(received)

    def _receive_begin(self, params: Params) -> Result:
        context, wanted, received = self._started(params, Action.RECEIVE)
        answer = self._answer(received)
        if answer["status"]:
            return answer
        key = f"r{wanted.request}"
        self.reads[key] = Read(context, wanted.request)
        return {**answer, "read": key}

    def _receive_end(self, params: Params) -> Result:
        read = self.reads.pop(params["read"], None)
        if read is None:
            raise Inexpressible("A read that has ended has no request any more.")
        return {"status": self.read.end_receive(read.context, read.request, acknowledge=params["acknowledge"])}

    def _move(self, params: Params) -> Result:
        destination = self.handles.get(params["destination"])
        if destination is None:
            raise FaultError(MQ_ERROR_INVALID_HANDLE)
        context, lookup = self._context(params), int(params["lookup_identifier"])
        return {"status": self.read.move_message(context, destination.destination, lookup)}

    def _open_cursor(self, params: Params) -> Result:
        status, number = self.read.create_cursor(self._context(params))
        if status:
            return {"status": status}
        key = f"c{next(self._numbers)}"
        self.cursors[key] = Cursor(params["queue"], number)
        return {"status": 0, "cursor": key}

    def _close_cursor(self, params: Params) -> Result:
        cursor = self.cursors.pop(params["cursor"], None)
        if cursor is None:
            return {"status": MQ_ERROR_INVALID_HANDLE}
        return {"status": self.read.close_cursor(self._context({"queue": cursor.queue}), cursor.number)}

    def _get(self, params: Params) -> Result:
        assert self.management is not None
        managed, properties = self._managed(params["target"]), params["properties"]
        queue = _queue_of(managed.format_name or "").lower()
        if (
            managed.type == MACHINE
            and _ACTIVE in properties
            and any(not each.context for each in self.handles.values())
        ):
            raise Inexpressible("The host holds no queue that is open for sending, so it cannot list it.")
        if (
            managed.type == QUEUE
            and queue in self.stale
            and not {_SUBQUEUE_COUNT, _SUBQUEUE_NAMES}.isdisjoint(properties)
        ):
            raise Inexpressible("The queue that is lent has subqueues of earlier tests.")
        status, values = self.management.get_info(managed, properties)
        return (
            {"status": status} if status >> 31 else {"status": status, "values": [self._under(each) for each in values]}
        )

    def _under(self, value: Variant) -> Variant:
        """Return a value with the run's names of queues."""
        found = value.get("value")
        if isinstance(found, str) and value["vt"] == TEXT:
            return {**value, "value": self._asked(found)}
        if isinstance(found, list) and value["vt"] & TEXT == TEXT:
            return {**value, "value": [self._asked(each) for each in found]}
        return value

    def _act(self, params: Params) -> Result:
        assert self.management is not None
        managed = self._managed(params["target"])
        if managed.type == MACHINE:
            raise Inexpressible("An action on the whole host is left to its owner: TIDY purges every queue (MS-MQMR).")
        return {"status": self.management.action(managed, params["action"])}

    def _managed(self, target: Params) -> Managed:
        if target["type"] != "queue":
            return Managed(MACHINE if target["type"] == "machine" else SESSION)
        return Managed(QUEUE, self.real(target["format_name"]))

    def _answer(self, received: Received) -> Result:
        if received.status >> 31:
            return {"status": received.status}
        return {"status": received.status, "message": self._message(received)}

    def _message(self, received: Received) -> Result:
        """Return a message of the adapter protocol, without what the packet does not show, and without defaults.

        The defaults of a message that was sent from here are none of the host's.
        """
        plain = plain_of_packet(dissect(received.packet, transport="buffer"))
        asked = self.asked.get(plain["ordinal"], MEMBERS) if plain["source"] == self.sender.source_id else MEMBERS
        told = {name: plain[name] for name in ("body", *asked) if plain.get(name) is not None}
        for name in ("body", "extension", "correlation_identifier"):
            if name in told:
                told[name] = b64encode(bytes.fromhex(told[name])).decode("ascii")
        for name in _QUEUE_MEMBERS:
            if name in told:
                told[name] = self._asked(told[name])
        if plain["source"] is not None and plain["ordinal"] is not None:
            told["identifier"] = {"source": plain["source"], "ordinal": plain["ordinal"]}
        if plain["sent_time"] is not None:
            told["sent_time"] = plain["sent_time"]
            if told.get("time_to_reach_queue", _NEVER) != _NEVER:  # The packet has when it is over (MS-MQRR 3.1.4.7).
                told["time_to_reach_queue"] = (told["time_to_reach_queue"] - plain["sent_time"]) & _NEVER
        told["arrival_time"] = received.arrived_s
        if self._high is not None and isinstance(plain["priority"], int):
            high = 7 - plain["priority"] if self._high else 0
            told["lookup_identifier"] = str(high << 56 | received.sequence & _LOW)
        return told

    def _asked(self, format_name: str) -> str:
        """Return the run's name of a queue that the host names."""
        asked = {real: name for name, real in self.lent.items()}
        return _renamed(format_name, asked.get(_queue_of(format_name).lower()))

    def _look_at_identifiers(self, name: str) -> None:
        """Note whether the high octet of a lookup identifier has the priority: R_StartReceive leaves that octet out.

        MS-MQDMPR 3.1.7.1.9 and products differ, so a message is looked up under both. Without this, none is told.
        """
        self.sender.send({"label": _LABEL}, name)
        context = self.read.open_queue(name, PEEK_ACCESS)
        wanted = Wanted(Action.PEEK_CURRENT, next(self._numbers), timeout_ms=_PROBED_MS)
        received = self.read.start_receive(context, wanted)
        if not received.status:
            highs = (7 - DEFAULT_PRIORITY << 56, 0)
            found = [not self._peeked(context, high | received.sequence & _LOW) for high in highs]
            self._high = found[0] if sum(found) == 1 else None
        self.read.close_queue(context)

    def _peeked(self, context: bytes, lookup: int) -> int:
        wanted = Wanted(Action.LOOKUP_PEEK_CURRENT, next(self._numbers), lookup=lookup)
        return self.read.start_receive(context, wanted).status


def _queue_of(name: str) -> str:
    """Return the last part of a format name or path name, without suffix."""
    return name.partition(";")[0].rpartition("\\")[2]


def _renamed(name: str, queue: str | None) -> str:
    """Return a name with another queue in its last part; None leaves it."""
    if queue is None:
        return name
    head, mark, suffix = name.partition(";")
    return "".join((*head.rpartition("\\")[:2], queue, mark, suffix))
