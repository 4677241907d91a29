"""The calls of a story, made over the facet `rpc`: one client of MS-MQRR, and one of MS-MQQP with the same verbs."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from conformance.net.rpc.binding import FaultError
from conformance.net.rpc.management import MACHINE, QUEUE, SESSION, Managed, Management
from conformance.net.rpc.ndr import NULL_CONTEXT, NdrError
from conformance.net.rpc.queue_access import Begun, Common, Description, QueueAccess
from conformance.net.rpc.remote_read import RECEIVE_ACCESS, RemoteRead, Section, Wanted
from conformance.spec.rpc_interfaces import MANAGEMENT, QUEUE_ACCESS, REMOTE_READ, Interface
from conformance.suites.story_table import Untold

if TYPE_CHECKING:
    from conformance.adapter.session import Result
    from conformance.harness.port import OpenCall, Port

_SPARE_S: Final = 5.0  # of `within_s`
LOOKUPS: Final = 0x40000000
"""The bit of ulAction that every action by lookup identifier has, and no other."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call. fault: as a fault PDU. trouble: why it cannot be read, miscounted: what is counted wrongly
    in it. handle: the context handle in it.

    value: the cursor, port or number in it. description: of MS-MQQP 2.2.2.1. took_s: until it came.
    """

    status: int = 0
    fault: bool = False
    trouble: str = ""
    miscounted: str = ""
    packet: bytes = b""
    sections: tuple[Section, ...] = ()
    arrived_s: int = 0
    sequence: int = 0
    value: Any = None
    handle: bytes = b""
    description: Description | None = None
    took_s: float = 0.0

    @property
    def told(self) -> str:
        """The answer in a few words."""
        if self.trouble:
            return f"no answer that can be read: {self.trouble}"
        return ("fault " if self.fault else "") + ("ok" if not self.status else f"{self.status:#010x}")


class StillOpen(Exception):
    """A call was begun, and its answer is not there yet."""


class Facet:
    """An association over the facet, for the clients of `conformance.net.rpc`."""

    def __init__(self, mq: Port, name: str) -> None:
        self.mq, self.name = mq, name

    def parameters(self, opnum: int, body: bytes, within_s: float) -> dict[str, Any]:
        """Return the parameters of `rpc.call`."""
        wait_ms = int(max(0.0, within_s - _SPARE_S) * 1000)
        bytes_ = b64encode(body).decode("ascii")
        return {"association": self.name, "opnum": int(opnum), "bytes": bytes_, "timeout_ms": wait_ms}

    def call(self, opnum: int, body: bytes, within_s: float = _SPARE_S) -> bytes:
        """Make a call. Raises FaultError, and Untold where the driver has none."""
        return octets(self.mq.call("rpc.call", **self.parameters(opnum, body, within_s)))


def octets(result: Result) -> bytes:
    """Return the octets of a response. Raises FaultError for a fault, and Untold where there is neither."""
    fault = result.values.get("fault")
    if fault is not None:
        raise FaultError(int(fault))
    if "bytes" not in result.values:
        raise Untold(f"the driver made no call ({result.lacking or result.status})")
    return b64decode(result.values["bytes"])


class Line:
    """The associations of one client process, by interface."""

    def __init__(self, mq: Port) -> None:
        self.mq = mq
        self.made: dict[str, Facet] = {}

    def of(self, interface: str) -> Any:
        """Return the association with an interface. Raises Untold where it cannot be formed."""
        if interface not in self.made:
            made = self.mq.call("rpc.open", interface=interface)
            if not made.ok:
                raise Untold(f"no association with {interface} can be formed ({made.lacking or made.status})")
            self.made[interface] = Facet(self.mq, str(made.values["association"]))
        return self.made[interface]

    def drop(self) -> None:
        """Close the connections."""
        for each in self.made.values():
            self.mq.call("rpc.close", association=each.name)
        self.made.clear()


class Held:
    """A line on which a call is begun; made once more after it is answered, the same call reads its answer."""

    def __init__(self, line: Line) -> None:
        self.line, self.interface = line, ""
        self.pending: OpenCall | None = None

    def of(self, interface: str) -> Any:
        """Return itself as the association."""
        self.interface = interface
        return self

    def call(self, opnum: int, body: bytes, within_s: float = _SPARE_S) -> bytes:
        """Begin the call and raise StillOpen, or return the answer."""
        if self.pending is None:
            facet = self.line.of(self.interface)
            self.pending = facet.mq.start("rpc.call", **facet.parameters(opnum, body, within_s))
            raise StillOpen
        return octets(self.pending.result())


@dataclass
class Altered:
    """A line on which the octets of each call are changed before they are sent."""

    line: Line
    alter: Callable[[bytes], bytes]
    facet: Any = None

    def of(self, interface: str) -> Any:
        """Return itself as the association."""
        self.facet = self.line.of(interface)
        return self

    def call(self, opnum: int, body: bytes, within_s: float = _SPARE_S) -> bytes:
        """Make the call."""
        found: bytes = self.facet.call(opnum, self.alter(body), within_s)
        return found


@dataclass
class Opened:
    """An open queue of a story. handle: the context handle. number, place, context: as MS-MQMP 3.1.4.2 has them."""

    handle: bytes
    number: int = 0
    place: int = 0
    context: bytes = NULL_CONTEXT


_METHODS: Final = {
    REMOTE_READ: {
        "port": "R_GetServerPort", "open": "R_OpenQueue", "close": "R_CloseQueue", "cursor": "R_CreateCursor",
        "close-cursor": "R_CloseCursor", "purge": "R_PurgeQueue", "read": "R_StartReceive", "cancel": "R_CancelReceive",
        "end": "R_EndReceive", "move": "R_MoveMessage", "open-move": "R_OpenQueueForMove",
        "enlist": "R_QMEnlistRemoteTransaction", "classify": "R_SetUserAcknowledgementClass",
        "end-transactional": "R_EndTransactionalReceive",
    },
    QUEUE_ACCESS: {
        "read": "RemoteQMStartReceive", "end": "RemoteQMEndReceive", "open": "RemoteQMOpenQueue",
        "take": "RemoteQMOpenQueue", "close": "RemoteQMCloseQueue", "close-cursor": "RemoteQMCloseCursor",
        "cancel": "RemoteQMCancelReceive", "purge": "RemoteQMPurgeQueue", "port": "RemoteQMGetQMQMServerPort",
        "version": "RemoteQmGetVersion", "lookup": "RemoteQMStartReceiveByLookupId",
    },
    MANAGEMENT: {"get": "R_QMMgmtGetInfo", "act": "R_QMMgmtAction"},
}  # fmt: skip
"""The method of each verb of a story."""


def _verbs(interface: Interface, **others: str) -> dict[str, tuple[str, str]]:
    """Return where the document has the method of each verb, and its name."""
    return {verb: (interface.section(name), name) for verb, name in (_METHODS[interface] | others).items()}


class RemoteReadCalls:
    """The verbs by MS-MQRR. transaction: None for R_StartReceive, else of R_StartTransactionalReceive (zeros: none)."""

    document = "MQRR"

    def __init__(self, transaction: bytes | None = None) -> None:
        self.transaction = transaction
        self.client = uuid4()
        self.verbs = _verbs(REMOTE_READ, **({} if transaction is None else {"read": "R_StartTransactionalReceive"}))
        self.uses = "MQRR" if transaction is None else "MQRR-13"

    def _on(self, line: Any, **peculiar: Any) -> RemoteRead:
        return RemoteRead(line.of("RemoteRead"), **{"client": self.client, **peculiar})

    def open(
        self, line: Any, name: str, access: int = RECEIVE_ACCESS, share: int = 0, **peculiar: Any
    ) -> tuple[Answer, Opened]:
        """Open a queue. peculiar: members of `RemoteRead`."""
        handle = self._on(line, **peculiar).open_queue(name, access, alone=share)
        return Answer(handle=handle), Opened(handle)

    def open_move(self, line: Any, name: str, **peculiar: Any) -> tuple[Answer, Opened]:
        """Open a queue that messages are moved to."""
        number, handle = self._on(line, **peculiar).open_queue_for_move(name)
        return Answer(handle=handle, value=number), Opened(handle, number)

    def close(self, line: Any, opened: Opened) -> Answer:
        """Close a queue."""
        status, handle = self._on(line).close_queue(opened.handle)
        return Answer(status, handle=handle)

    def cursor(self, line: Any, opened: Opened) -> Answer:
        """Create a cursor, which is the value."""
        status, cursor = self._on(line).create_cursor(opened.handle)
        return Answer(status, value=cursor)

    def close_cursor(self, line: Any, opened: Opened, cursor: int) -> Answer:
        """Close a cursor."""
        return Answer(self._on(line).close_cursor(opened.handle, cursor))

    def purge(self, line: Any, opened: Opened) -> Answer:
        """Purge a queue."""
        return Answer(self._on(line).purge_queue(opened.handle))

    def read(self, line: Any, opened: Opened, transaction: bytes | None = None, **wanted: Any) -> Answer:
        """Peek or begin to receive. wanted: members of `Wanted`."""
        within = transaction if transaction is not None else self.transaction
        got = self._on(line).start_receive(opened.handle, Wanted(**wanted, transaction=within))
        return Answer(
            got.status, packet=got.packet, sections=got.sections, arrived_s=got.arrived_s, sequence=got.sequence
        )

    def end(self, line: Any, opened: Opened, request: int, acknowledge: bool, **_: Any) -> Answer:
        """End a receive."""
        return Answer(self._on(line).end_receive(opened.handle, request, acknowledge=acknowledge))

    def end_transactional(self, line: Any, opened: Opened, request: int, acknowledge: bool) -> Answer:
        """End a receive within a transaction."""
        status = self._on(line).end_receive(opened.handle, request, acknowledge=acknowledge, transactional=True)
        return Answer(status)

    def cancel(self, line: Any, opened: Opened, request: int) -> Answer:
        """Cancel a read that waits."""
        return Answer(self._on(line).cancel_receive(opened.handle, request))

    def move(self, line: Any, opened: Opened, destination: int, lookup: int, transaction: bytes = bytes(16)) -> Answer:
        """Move a message."""
        return Answer(self._on(line).move_message(opened.handle, destination, lookup, transaction))

    def classify(self, line: Any, opened: Opened, lookup: int, message_class: int) -> Answer:
        """Set the class of the acknowledgment of a message."""
        return Answer(self._on(line).set_user_acknowledgement_class(opened.handle, lookup, message_class))

    def enlist(self, line: Any, opened: Opened, transaction: bytes, token: bytes, name: str) -> Answer:
        """Enlist a transaction."""
        return Answer(self._on(line).enlist_remote_transaction(transaction, token, name))

    def stray(self, line: Any, opened: Opened) -> Answer:
        """Close the queue by a method of another interface."""
        return Answer(QueueAccess(line.of("qm2qm"), self.client).close_queue(opened.handle)[0])

    def port(self, line: Any, opened: Opened | None = None) -> Answer:
        """Ask for the port, which is the value."""
        return Answer(value=self._on(line).server_port())


class QueueAccessCalls:
    """The verbs by MS-MQQP, with queues and cursors of MS-MQMP. second: reads by RemoteQMStartReceive2."""

    document = "MQQP"

    def __init__(self, *, second: bool = False) -> None:
        self.second = second
        self.client = uuid4()
        self.verbs = _verbs(QUEUE_ACCESS, **({"read": "RemoteQMStartReceive2"} if second else {}))
        self.verbs["cursor"] = "MQMP", "R_QMCreateRemoteCursor"
        self.uses = "MQQP-9" if second else "MQQP"

    def _on(self, line: Any) -> QueueAccess:
        return QueueAccess(line.of("qm2qm"), self.client)

    def open(self, line: Any, name: str, access: int = RECEIVE_ACCESS, share: int = 0) -> tuple[Answer, Opened]:
        """Open a queue by qmcomm, and take it over by qm2qm. A failure of the former is a fault of the answer."""
        common = Common(line.of("qmcomm"), self.client).open_queue(name, access, alone=share)
        if common.status:
            return Answer(common.status), Opened(NULL_CONTEXT)
        status, handle = self._on(line).open_queue(common.queue, common.place, common.context)
        return Answer(status, handle=handle), Opened(handle, common.queue, common.place, common.handle)

    def release(self, line: Any, opened: Opened) -> Answer:
        """Close the context of qmcomm by which the queue was opened."""
        return Answer(handle=Common(line.of("qmcomm"), self.client).close_context(opened.context))

    def take(self, line: Any, opened: Opened, **numbers: int) -> Answer:
        """Take over a queue by numbers of its own: queue, place and context."""
        context = numbers.get("context", opened.place)
        status, handle = self._on(line).open_queue(
            numbers.get("queue", opened.number), numbers.get("place", opened.place), context
        )
        return Answer(status, handle=handle)

    def close(self, line: Any, opened: Opened) -> Answer:
        """Close a queue."""
        status, handle = self._on(line).close_queue(opened.handle)
        return Answer(status, handle=handle)

    def cursor(self, line: Any, opened: Opened) -> Answer:
        """Create a cursor, which is the value."""
        status, cursor = Common(line.of("qmcomm"), self.client).create_cursor(opened.number)
        return Answer(status, value=cursor)

    def close_cursor(self, line: Any, opened: Opened, cursor: int, queue: int | None = None) -> Answer:
        """Close a cursor."""
        return Answer(self._on(line).close_cursor(opened.number if queue is None else queue, cursor))

    def purge(self, line: Any, opened: Opened) -> Answer:
        """Purge a queue."""
        return Answer(self._on(line).purge(opened.number))

    def read(self, line: Any, opened: Opened, action: int, request: int, lookup: int = 0, **wanted: Any) -> Answer:
        """Peek or begin to receive. wanted: members of `Description`."""
        described = (
            None
            if wanted.pop("none", False)
            else Description(
                wanted.pop("queue", opened.number), wanted.pop("place", opened.place), action, request, **wanted
            )
        )
        calls = self._on(line)
        if action & LOOKUPS:
            return _of(calls.start_by_lookup(lookup, described))
        if self.second or described is None:
            return _of(calls.start_2(described))
        return _of(calls.start(described))

    def end(self, line: Any, opened: Opened, request: int, acknowledge: bool, handle: bytes = NULL_CONTEXT) -> Answer:
        """End the receive of a handle."""
        status, after = self._on(line).end(handle, acknowledge=acknowledge)
        return Answer(status, handle=after)

    def cancel(self, line: Any, opened: Opened, request: int, place: int | None = None) -> Answer:
        """Cancel a read that waits."""
        return Answer(self._on(line).cancel(opened.number, opened.place if place is None else place, request))

    def port(self, line: Any, opened: Opened | None = None, kind: int = 1) -> Answer:
        """Ask for a port, which is the value."""
        return Answer(value=self._on(line).server_port(kind))

    def version(self, line: Any, opened: Opened | None = None) -> Answer:
        """Ask for the version, which is the value."""
        return Answer(value=list(self._on(line).version()))


class ManagementCalls:
    """The verbs by MS-MQMR. A target is `machine`, `session` or a format name."""

    document = uses = "MQMR"
    verbs: Final = _verbs(MANAGEMENT)

    def get(self, line: Any, opened: Opened, target: str, properties: list[int]) -> Answer:
        """Read properties; the values are the value."""
        status, values = Management(line.of("qmmgmt")).get_info(_managed(target), properties)
        return Answer(status, value=values)

    def act(self, line: Any, opened: Opened, target: str, action: str) -> Answer:
        """Perform an action."""
        return Answer(Management(line.of("qmmgmt")).action(_managed(target), action))


def _managed(target: str) -> Managed:
    types = {"machine": MACHINE, "session": SESSION}
    return Managed(types[target]) if target in types else Managed(QUEUE, target)


Calls = RemoteReadCalls | QueueAccessCalls | ManagementCalls


def _of(begun: Begun) -> Answer:
    found = begun.description
    if found is None:
        return Answer(begun.status, handle=begun.handle)
    return Answer(
        begun.status, packet=found.buffer or b"", arrived_s=found.arrived_s, sequence=found.sequence,
        handle=begun.handle, description=found,
    )  # fmt: skip


def answered(call: Callable[[], Answer]) -> Answer:
    """Make a call, and return its answer; a fault and what cannot be read are answers too."""
    try:
        return call()
    except FaultError as fault:
        return Answer(fault.status, fault=True)
    except NdrError as trouble:
        return Answer(trouble=str(trouble), miscounted=getattr(trouble, "of", ""))


@dataclass
class Names:
    """The names that a story has given so far."""

    lines: dict[str, Line] = field(default_factory=dict)
    queues: dict[str, tuple[str, Opened]] = field(default_factory=dict)
    cursors: dict[str, int] = field(default_factory=dict)
    reads: dict[tuple[str, int], bytes] = field(default_factory=dict)
    lookups: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, tuple[Any, float]] = field(default_factory=dict)
