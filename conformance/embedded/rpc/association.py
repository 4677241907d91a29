"""Connections of clients, the association groups they form, and the calls on them (C706 9.3, MS-RPCE 3.3.1.5)."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from conformance.embedded.entities import MqError
from conformance.embedded.rpc import pdus
from conformance.embedded.rpc.ndr import BAD_STUB_DATA, HANDLE_SIZE, Damaged, Order, Reader, status_only
from conformance.embedded.rpc.pdus import ACCEPTED, NDR, NO_SYNTAX, Bind, Header, Offer, Request, Syntax, Verifier
from conformance.embedded.rpc.protection import OVERHEAD, PRIVACY, Protection

if TYPE_CHECKING:
    from conformance.embedded.rpc.planes import Planes

MOST_CONTEXTS = 64  # presentation contexts of one connection
MOST_CALLS = 64  # calls of one connection that are not answered
MOST_HANDLES = 1024  # context handles of one group
MOST_GROUPS = 256


class Link(Protocol):
    """The transport of a connection. address, local: of its two ends."""

    address: str
    local: str

    def send(self, data: bytes) -> None:
        """Send bytes."""

    def close(self) -> None:
        """End the connection when everything is sent."""


class Operation(NamedTuple):
    """A method of an interface. blank: bytes of its output parameters when it fails; None if failures are thrown."""

    method: str
    blank: int | None = 0


class Interface:
    """An interface that is served. Methods take a Call and return the bytes of its answer; None for later."""

    syntax: ClassVar[Syntax]
    operations: ClassVar[Mapping[int, Operation]]
    for_anybody: ClassVar[frozenset[int]] = frozenset()  # opnums that need no authentication

    def __init__(self, planes: Planes) -> None:
        self.planes = planes
        self.manager = planes.manager

    def perform(self, call: Call) -> None:
        """Answer a call, now or later. Raises Damaged for one that gets a fault."""
        operation = self.operations.get(call.opnum)
        if operation is None:
            raise Damaged(pdus.OPNUM_RANGE)
        call.operation = operation
        try:
            answer = getattr(self, operation.method)(call)
        except MqError as error:
            call.fail(error.status)
            return
        if answer is not None:
            call.answer(answer)

    def run_down(self, value: Any) -> None:
        """Give back what a context handle stands for, when the last connection of its client has ended."""


@dataclass(slots=True)
class Group:
    """An association group: connections that share context handles. handles: interface and value by handle."""

    number: int
    lines: list[Line] = field(default_factory=list)
    handles: dict[bytes, tuple[Interface, Any]] = field(default_factory=dict)

    def open(self, interface: Interface, value: Any) -> bytes:
        """Return a new handle. Raises Damaged when there are too many."""
        if len(self.handles) >= MOST_HANDLES:
            raise Damaged(pdus.TOO_BUSY)
        handle = bytes(HANDLE_SIZE - 16) + uuid.uuid4().bytes_le
        self.handles[handle] = interface, value
        return handle

    def value(self, interface: Interface, handle: bytes, kind: type) -> Any:
        """Return what a handle stands for. Raises Damaged for one that this interface has not given (strict)."""
        owner, found = self.handles.get(handle, (None, None))
        if owner is not interface or not isinstance(found, kind):
            raise Damaged(pdus.CONTEXT_MISMATCH)
        return found

    def close(self, value: Any) -> None:
        """Forget the handle of a value."""
        for handle in [handle for handle, (_, found) in self.handles.items() if found is value]:
            del self.handles[handle]


class Groups:
    """The association groups."""

    def __init__(self) -> None:
        self._groups: dict[int, Group] = {}
        self._numbers = itertools.count(0x1000)

    def join(self, number: int) -> Group | None:
        """Return the group of a number, a new one for 0; None if there is none, or there are too many."""
        if number:
            return self._groups.get(number)
        if len(self._groups) >= MOST_GROUPS:
            return None
        made = Group(next(self._numbers))
        self._groups[made.number] = made
        return made

    def leave(self, group: Group, line: Line) -> None:
        """Note that a connection has ended; the handles of a group are run down with its last one."""
        if line in group.lines:
            group.lines.remove(line)
        if group.lines:
            return
        self._groups.pop(group.number, None)
        while group.handles:
            _, (interface, value) = group.handles.popitem()
            interface.run_down(value)


class Call:
    """One call. reader: of its parameters. The first answer or fault takes effect.

    given_up: called when nobody waits for the answer any more.
    """

    operation = Operation("")

    def __init__(self, line: Line, number: int, request: Request, stub: bytes, order: Order) -> None:
        self.line = line
        self.number = number
        self.context, self.opnum = request.context, request.opnum
        self.reader = Reader(stub, order)
        self.open = True
        self.given_up: Callable[[], None] = lambda: None

    @property
    def group(self) -> Group:
        assert self.line.group is not None
        return self.line.group

    def read(self, take: Callable[[Reader], Any]) -> Any:
        """Read parameters. Raises Damaged."""
        try:
            return self.reader.construct(lambda: take(self.reader))
        except MqError:
            raise Damaged(BAD_STUB_DATA) from None

    def answer(self, stub: bytes) -> None:
        """Send the response."""
        if self._over():
            self.line.respond(self, stub)

    def fail(self, status: int) -> None:
        """Answer with a failure: as an HRESULT behind output parameters without values, or as a fault."""
        if self.operation.blank is None:
            self.fault(status)
        else:
            self.answer(bytes(self.operation.blank) + status_only(status))

    def fault(self, status: int, *, executed: bool = True) -> None:
        """Send a fault."""
        if self._over():
            self.line.send(pdus.fault(self.number, self.context, status, executed=executed))

    def give_up(self) -> None:
        """Note that nobody waits for the answer any more."""
        if self.open:
            self._over()
            self.given_up()

    def _over(self) -> bool:
        was, self.open = self.open, False
        if was:
            self.line.calls.pop(self.number, None)
        return was and self.line.alive


@dataclass(slots=True)
class Coming:
    """A request of which more fragments are to come."""

    head: Header
    request: Request
    stub: bytearray


class Line:
    """One connection, from its bytes to the calls of the interfaces and back."""

    def __init__(self, planes: Planes, link: Link) -> None:
        self.planes = planes
        self.link = link
        self.group: Group | None = None
        self.contexts: dict[int, Interface] = {}
        self.calls: dict[int, Call] = {}
        self.alive = True
        self.longest = pdus.MIN_FRAGMENT
        self._held = bytearray()
        self._coming: Coming | None = None
        self.protection: Protection | None = None

    @property
    def held(self) -> int:
        """Bytes of what is not complete."""
        return len(self._held) + (len(self._coming.stub) if self._coming is not None else 0)

    def data(self, data: bytes) -> None:
        """Take bytes of the client."""
        self._held += data
        while self.alive and len(self._held) >= pdus.HEADER_SIZE:
            try:
                head = pdus.header(bytes(self._held[: pdus.HEADER_SIZE]))
            except Damaged:
                self._refuse_header()
                return
            if len(self._held) < head.length:
                return
            whole = bytes(self._held[: head.length])
            del self._held[: head.length]
            self._take(head, whole)

    def disconnected(self) -> None:
        """Note that the connection has ended."""
        self.alive = False
        for call in list(self.calls.values()):
            call.give_up()
        self._held.clear()
        self._coming = None
        if self.group is not None:
            self.planes.groups.leave(self.group, self)
            self.group = None

    def send(self, data: bytes) -> None:
        """Send a PDU."""
        if self.alive:
            self.link.send(data)

    def end(self) -> None:
        """End the connection."""
        if self.alive:
            self.link.close()
            self.disconnected()

    def _refuse_header(self) -> None:
        """Answer a PDU of another version, or too long, and end the connection: nothing behind it can be read."""
        if self._held[2] == pdus.BIND:
            self.send(pdus.bind_nak(int.from_bytes(self._held[12:16], "little"), pdus.NAK_VERSION))
        self.end()

    def _take(self, head: Header, data: bytes) -> None:
        try:
            if head.kind in (pdus.BIND, pdus.ALTER):
                self._bind(head, pdus.read_bind(head, data))
            elif head.kind == pdus.REQUEST:
                request = pdus.read_request(head, data)
                self._request(head, request, self._stub(data, request))
            elif head.kind == pdus.AUTH3:
                self._authenticate(pdus.verifier(head, data))
            elif head.kind == pdus.ORPHANED:
                self._orphan(head.call)
            elif head.kind != pdus.CANCEL:
                raise Damaged(pdus.PROTOCOL_ERROR)
        except Damaged as damage:
            self._broken(head, damage.status)

    def _broken(self, head: Header, status: int) -> None:
        """Answer a PDU that breaks the protocol, and end the connection."""
        if head.kind == pdus.BIND:
            self.send(pdus.bind_nak(head.call, pdus.NAK_UNSPECIFIED))
        elif head.kind in (pdus.REQUEST, pdus.ALTER):
            self.send(pdus.fault(head.call, 0, status, executed=False))
        self.end()

    # Binding.

    def _bind(self, head: Header, bind: Bind) -> None:
        if (head.kind == pdus.BIND) != (self.group is None) or not bind.offers:
            raise Damaged(pdus.PROTOCOL_ERROR)
        auth = b""
        if bind.verifier is not None and self.protection is None:
            self.protection = self.planes.protection(bind.verifier)
            answer = self.protection.challenge(bind.verifier.value) if self.protection is not None else None
            if answer is None:
                self.send(pdus.bind_nak(head.call, pdus.NAK_AUTHENTICATION))
                self.end()
                return
            auth = answer
        elif bind.verifier is not None:
            self._authenticate(bind.verifier)
        port = ""
        if self.group is None:
            self.group = self.planes.groups.join(bind.group)
            if self.group is None:
                raise Damaged(pdus.PROTOCOL_ERROR)
            self.group.lines.append(self)
            self.longest = self.fragment_size(bind)
            port = self.secondary_address()
        results = [self.result(offer) for offer in bind.offers]
        kind = pdus.BIND_ACK if head.kind == pdus.BIND else pdus.ALTER_RESPONSE
        sizes = (self.longest, self.longest)
        flags = head.flags & (pdus.MULTIPLEXED | (pdus.HEADER_SIGNING if auth else 0))
        self.send(pdus.bind_ack(kind, head.call, self.group_number(), sizes, port, results, flags=flags, auth=auth))

    def _authenticate(self, verifier: Verifier | None) -> None:
        if self.protection is not None and verifier is not None:
            self.protection.authenticate(verifier.value)

    def _stub(self, data: bytes, request: Request) -> bytes:
        """Return the stub of a fragment, without its protection. Raises Damaged."""
        if self.protection is not None:
            return self.protection.unprotect(data, request)
        if request.verifier is not None:
            raise Damaged(pdus.PROTOCOL_ERROR)
        return request.stub

    def permitted(self, interface: Interface, opnum: int) -> bool:
        """Return true for a call that its client may make: where there is an account, with packet privacy alone."""
        level = 0 if self.protection is None else self.protection.level
        return self.planes.account is None or level >= PRIVACY or opnum in interface.for_anybody

    def fragment_size(self, bind: Bind) -> int:
        """Return the length of the longest fragments, in bytes: what both ends can take, a multiple of 8."""
        wanted = min(bind.receives or pdus.MAX_FRAGMENT, pdus.MAX_FRAGMENT)
        return max(wanted, pdus.MIN_FRAGMENT) // 8 * 8

    def group_number(self) -> int:
        """assoc_group_id of an answer."""
        assert self.group is not None
        return self.group.number

    def secondary_address(self) -> str:
        """sec_addr of a bind_ack: the port."""
        return str(self.planes.port)

    def result(self, offer: Offer) -> tuple[int, int, Syntax]:
        """Return result, reason and transfer syntax for an offered context; keep it if it is accepted."""
        if any(each.identifier.startswith(pdus.FEATURES) for each in offer.transfers):
            return pdus.NEGOTIATED, 0, NO_SYNTAX
        interface = self.planes.interface(offer.abstract)
        if interface is None:
            return pdus.PROVIDER_REJECTED, pdus.ABSTRACT_UNSUPPORTED, NO_SYNTAX
        if NDR not in offer.transfers:
            return pdus.PROVIDER_REJECTED, pdus.TRANSFER_UNSUPPORTED, NO_SYNTAX
        if len(self.contexts) >= MOST_CONTEXTS and offer.context not in self.contexts:
            return pdus.PROVIDER_REJECTED, pdus.LOCAL_LIMIT, NO_SYNTAX
        self.contexts[offer.context] = interface
        return ACCEPTED, 0, NDR

    # Requests.

    def _request(self, head: Header, request: Request, stub: bytes) -> None:
        if self.group is None:
            raise Damaged(pdus.PROTOCOL_ERROR)
        if head.flags & pdus.FIRST:
            if self._coming is not None or head.call in self.calls:
                raise Damaged(pdus.PROTOCOL_ERROR)
            self._coming = Coming(head, request, bytearray())
        coming = self._coming
        if coming is None or coming.head.call != head.call:
            raise Damaged(pdus.PROTOCOL_ERROR)
        coming.stub += stub
        if len(coming.stub) > pdus.MAX_REQUEST:
            raise Damaged(pdus.PROTOCOL_ERROR)
        if head.flags & pdus.LAST:
            self._coming = None
            self._call(Call(self, head.call, coming.request, bytes(coming.stub), coming.head.order))

    def _call(self, call: Call) -> None:
        interface = self.contexts.get(call.context)
        if interface is None:
            call.fault(self.unknown_context(), executed=False)
        elif not self.permitted(interface, call.opnum):
            call.fault(pdus.ACCESS_DENIED, executed=False)
        elif len(self.calls) >= MOST_CALLS:
            call.fault(pdus.TOO_BUSY, executed=False)
        else:
            self.calls[call.number] = call
            try:
                interface.perform(call)
            except Damaged as damage:
                call.fault(self.fault_status(damage.status))

    def unknown_context(self) -> int:
        """Status of the fault of a request in a context that was not accepted."""
        return pdus.UNKNOWN_INTERFACE

    def fault_status(self, status: int) -> int:
        """Status of the fault of a call that cannot be performed."""
        return status

    def _orphan(self, number: int) -> None:
        """The client gives a call up: it gets no answer."""
        if self._coming is not None and self._coming.head.call == number:
            self._coming = None
        call = self.calls.get(number)
        if call is not None:
            call.give_up()

    def respond(self, call: Call, stub: bytes) -> None:
        """Send a response, in as many fragments as it takes."""
        protection = self.protection
        room = self.longest - pdus.RESPONSE_HEAD - (OVERHEAD if protection is not None else 0)
        make = pdus.pdu if protection is None else protection.protect
        for flags, left, part in pdus.parts(stub, room):
            body = pdus.response_body(call.context, left, part)
            self.send(make(pdus.RESPONSE, call.number, body, flags))
