"""The RemoteRead interface (MS-MQRR 3.1): open, read in two phases, move and purge the queues of a manager."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from conformance.embedded.clock import Timer
from conformance.embedded.entities import (
    INFINITE,
    Cursor,
    Descriptor,
    MqError,
    OpenRead,
    Operation,
    Position,
    Result,
    Transaction,
    UndoStep,
)
from conformance.embedded.receiving import Caller, ShownMessage
from conformance.embedded.rpc.association import Call, Interface
from conformance.embedded.rpc.association import Operation as Method
from conformance.embedded.rpc.ndr import HANDLE_SIZE, NULL_HANDLE, Reader, Writer, encoded, status_only, with_status
from conformance.embedded.rpc.packets import Section
from conformance.embedded.rpc.pdus import Syntax
from conformance.spec.constants.hresults import (
    MQ_ERROR_DTC_CONNECT,
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_MESSAGE_NOT_FOUND,
    MQ_ERROR_TRANSACTION_SEQUENCE,
    MQ_ERROR_TRANSACTION_USAGE,
)

if TYPE_CHECKING:
    from conformance.embedded.rpc.planes import Planes

STATUS_INVALID_HANDLE = 0xC0000008
STATUS_INVALID_PARAMETER = 0xC000000D
STATUS_ACCESS_DENIED = 0xC0000022
SEVERITY = 0x80000000

RECEIVE_ACCESS, MOVE_ACCESS, PEEK_ACCESS = 0x01, 0x04, 0x20
ACCESS = MappingProxyType({RECEIVE_ACCESS: "receive", PEEK_ACCESS: "peek"})
SHARE = ("deny_none", "deny_receive")

RECEIVE, PEEK_CURRENT, PEEK_NEXT = 0x00000000, 0x80000000, 0x80000001
LOOKUP_PEEK, LOOKUP_RECEIVE = 0x40000010, 0x40000020
PEEKS = (PEEK_CURRENT, PEEK_NEXT, LOOKUP_PEEK, LOOKUP_PEEK + 1, LOOKUP_PEEK + 2)
LOOKUPS: Mapping[int, tuple[bool, str]] = MappingProxyType(
    {
        base + step: (base == LOOKUP_RECEIVE, action)
        for base in (LOOKUP_PEEK, LOOKUP_RECEIVE)
        for step, action in enumerate(("current", "next", "previous"))
    }
)
"""Destructive or not, and what is sought, by ulAction."""

NACK, ACK = 1, 2
REJECTED = 0xC004
SEQUENCE_BITS = 56
MOST_CURSORS = 1024  # of one handle
MOST_TOKEN = 131_072
NO_TRANSACTION = bytes(16)


@dataclass(slots=True, eq=False)
class Pending:
    """A PendingRequestEntry (3.1.1.2). read: None until a message is found. transaction: None outside of one."""

    read: OpenRead | None = None
    transaction: Transaction | None = None
    timer: Timer | None = None


@dataclass(slots=True, eq=False)
class OpenQueue:
    """The open queue of a context handle. move: pMoveContext, for a handle that messages are moved to."""

    at: Descriptor
    move: int = 0
    pending: dict[int, Pending] = field(default_factory=dict)
    transactions: dict[bytes, Transaction] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The parameters of a receive. most: bytes of the body to return."""

    lookup: int
    cursor: int
    action: int
    timeout_ms: int
    request: int
    most: int

    @property
    def valid(self) -> bool:
        """True for parameters that go together (3.1.4.7)."""
        if self.lookup:
            return self.action in LOOKUPS and not self.cursor and not self.timeout_ms
        return self.action in (RECEIVE, PEEK_CURRENT) or (self.action == PEEK_NEXT and self.cursor != 0)

    @property
    def destructive(self) -> bool:
        """True for an action of the type Receive."""
        return self.action == RECEIVE or LOOKUPS.get(self.action, (False, ""))[0]


class RemoteRead(Interface):
    """The methods, by opnum."""

    syntax: ClassVar[Syntax] = Syntax("1a9134dd-7b39-45ba-ad88-44d01ca47f28")
    for_anybody: ClassVar[frozenset[int]] = frozenset({0})
    operations: ClassVar[Mapping[int, Method]] = {
        0: Method("get_server_port"),
        2: Method("open_queue", None),
        3: Method("close_queue", HANDLE_SIZE),
        4: Method("create_cursor", 4),
        5: Method("close_cursor"),
        6: Method("purge_queue"),
        7: Method("start_receive", 24),
        8: Method("cancel_receive"),
        9: Method("end_receive"),
        10: Method("move_message"),
        11: Method("open_queue_for_move", None),
        12: Method("enlist_remote_transaction"),
        13: Method("start_transactional_receive", 24),
        14: Method("set_user_acknowledgement_class"),
        15: Method("end_transactional_receive"),
    }

    def __init__(self, planes: Planes) -> None:
        super().__init__(planes)
        self._moves: dict[int, OpenQueue] = {}

    # Opening and closing.

    def get_server_port(self, call: Call) -> bytes:
        """R_GetServerPort (3.1.4.1)."""
        return status_only(self.server_port())

    def server_port(self) -> int:
        """The port of this interface."""
        return self.planes.port

    def open_queue(self, call: Call) -> bytes:
        """R_OpenQueue (3.1.4.2)."""
        named, access, share = call.read(self._opening)
        opened = OpenQueue(self.opened(named, self.access(access), self.share(share)))
        return self._handle(call, opened)

    def open_queue_for_move(self, call: Call) -> bytes:
        """R_OpenQueueForMove (3.1.4.11)."""
        named, access, share = call.read(self._opening)
        if access != MOVE_ACCESS:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        opened = OpenQueue(self.opened(named, "move", self.share(share)), self.move_context())
        handle = self._handle(call, opened)
        self._moves[opened.move] = opened
        return opened.move.to_bytes(8, "little") + handle

    def move_context(self) -> int:
        """Return a random number that is not 0."""
        return secrets.randbits(63) | 1

    def _handle(self, call: Call, opened: OpenQueue) -> bytes:
        try:
            return call.group.open(self, opened)
        except Exception:
            self.manager.queues.close(opened.at)
            raise

    def _opening(self, source: Reader) -> tuple[Any, int, int]:
        named = source.construct(lambda: self.planes.structures.read_queue_format(source))
        access, share = source.numbers(2)
        source.guid()
        source.number(4)  # fNonRoutingServer; it, the version and fWorkgroup are ignored
        source.raw(2)
        source.number(2)
        source.number(4)
        return named, access, share

    def access(self, number: int) -> str:
        """Return the access of dwAccess. Raises MqError."""
        if number not in ACCESS:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        return ACCESS[number]

    def share(self, number: int) -> str:
        """Return the share mode of dwShareMode. Raises MqError."""
        if number >= len(SHARE):
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        return SHARE[number]

    def opened(self, named: Any, access: str, share: str) -> Descriptor:
        """Open Queue for the queue of a QUEUE_FORMAT. Raises MqError."""
        return self.manager.queues.open(self.planes.structures.format_name(named), access, share)

    def close_queue(self, call: Call) -> bytes:
        """R_CloseQueue (3.1.4.3). A null handle is none of an open queue."""
        handle = call.read(Reader.handle)
        if handle == NULL_HANDLE:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        opened = call.group.value(self, handle, OpenQueue)
        call.group.close(opened)
        self.run_down(opened)
        return self.closed_handle(handle) + status_only(0)

    def closed_handle(self, handle: bytes) -> bytes:
        """pphContext after a close."""
        return NULL_HANDLE

    def run_down(self, value: OpenQueue) -> None:
        """Queue Context Handles Rundown Routine (3.1.6.2): what was begun is undone, cursors and queue are closed."""
        self._moves.pop(value.move, None)
        for pending in value.pending.values():
            if pending.timer is not None:
                pending.timer.cancel()
        value.pending.clear()
        self.manager.queues.close(value.at)
        for transaction in value.transactions.values():
            if transaction.handle in self.manager.open_transactions:
                self.manager.transactions.abort(transaction)

    def _queue(self, call: Call, handle: bytes) -> OpenQueue:
        found = call.group.value(self, handle, OpenQueue)
        assert isinstance(found, OpenQueue)
        return found

    # Cursors, and whole queues.

    def create_cursor(self, call: Call) -> bytes:
        """R_CreateCursor (3.1.4.4)."""
        opened = self._queue(call, call.read(Reader.handle))
        if len(opened.at.cursors) >= MOST_CURSORS:
            raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
        return cursor_number(self.manager.cursors.open(opened.at)).to_bytes(4, "little") + status_only(0)

    def close_cursor(self, call: Call) -> bytes:
        """R_CloseCursor (3.1.4.5)."""
        handle, number = call.read(lambda source: (source.handle(), source.number(4)))
        opened = self._queue(call, handle)
        cursor = next((each for each in opened.at.cursors if cursor_number(each) == number), None)
        if cursor is None:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        self.manager.cursors.close(cursor)
        return status_only(0)

    def purge_queue(self, call: Call) -> bytes:
        """R_PurgeQueue (3.1.4.6)."""
        opened = self._queue(call, call.read(Reader.handle))
        if opened.at.access != "receive":
            raise MqError(STATUS_ACCESS_DENIED)
        self.manager.queues.purge(opened.at)
        return status_only(0)

    # Reading.

    def start_receive(self, call: Call) -> None:
        """R_StartReceive (3.1.4.7)."""
        handle, wanted = call.read(lambda source: (source.handle(), _wanted(source)))
        self.start(call, self._queue(call, handle), wanted)

    def start_transactional_receive(self, call: Call) -> None:
        """R_StartTransactionalReceive (3.1.4.13). An XACTUOW of zeros is the null one: this pointer cannot be null."""
        handle, wanted, identifier = call.read(lambda source: (source.handle(), _wanted(source), source.raw(16)))
        opened = self._queue(call, handle)
        if identifier == NO_TRANSACTION:
            self.start(call, opened, wanted)
            return
        self.check(opened, wanted)
        cursor = self.cursor(wanted.cursor)
        if opened.at.queue is None or not opened.at.queue.transactional or wanted.action in PEEKS:
            raise MqError(MQ_ERROR_TRANSACTION_USAGE)
        found = opened.transactions.get(identifier)
        if found is None or found.handle not in self.manager.open_transactions:
            found = opened.transactions[identifier] = self.manager.transactions.begin()
        self.read(call, opened, wanted, cursor, found)

    def start(self, call: Call, opened: OpenQueue, wanted: Wanted) -> None:
        """Peek or receive outside of a transaction."""
        self.check(opened, wanted)
        self.read(call, opened, wanted, self.cursor(wanted.cursor), None)

    def check(self, opened: OpenQueue, wanted: Wanted) -> None:
        """Raise MqError for parameters that do not go together, or a dwRequestId that is in use."""
        if not wanted.valid or wanted.request in opened.pending:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)

    def cursor(self, number: int) -> Cursor | None:
        """Return the cursor of hCursor; None for 0. Raises MqError."""
        if not number:
            return None
        found = self.manager.cursor_handles.get(f"c{number}")
        if found is None:
            raise MqError(STATUS_INVALID_HANDLE)
        return found

    def read(
        self, call: Call, opened: OpenQueue, wanted: Wanted, cursor: Cursor | None, transaction: Transaction | None
    ) -> None:
        """Let the queue find a message, now or later."""
        reading, at = self.manager.reading, opened.at
        if wanted.destructive:
            opened.pending[wanted.request] = Pending(transaction=transaction)
        caller = Caller(opened, wanted.request, lambda result: self.found(call, opened, wanted, result), lambda: None)
        call.given_up = lambda: self.given_up(opened, wanted)
        try:
            if wanted.lookup:
                destructive, action = LOOKUPS[wanted.action]
                queue = reading.readable_queue(at, destructive=destructive)
                position = reading.seek(queue, self.lookup(wanted), action, destructive)
                caller.answer(reading.begin(at, position) if destructive else reading.peeked(position))
            elif wanted.action == RECEIVE:
                reading.receive_begin(caller, at, cursor, self.timeout_ms(wanted))
            elif wanted.action == PEEK_NEXT:
                reading.peek_next(caller, at, cursor, self.timeout_ms(wanted))
            else:
                reading.peek(caller, at, cursor, self.timeout_ms(wanted))
        except MqError:
            if wanted.destructive:
                opened.pending.pop(wanted.request, None)
            raise

    def timeout_ms(self, wanted: Wanted) -> int:
        """Return the milliseconds to wait for a message."""
        return wanted.timeout_ms

    def lookup(self, wanted: Wanted) -> int:
        """Return the LookupIdentifier that is sought."""
        return wanted.lookup

    def found(self, call: Call, opened: OpenQueue, wanted: Wanted, result: Result) -> None:
        """Answer a read that has ended: with the message, which stays locked in a receive, or with a failure."""
        pending = opened.pending.get(wanted.request) if wanted.destructive else None
        status = int(result.get("status", 0))
        if status & SEVERITY:
            opened.pending.pop(wanted.request, None)
            call.fail(self.failure(status))
            return
        shown = result["message"]
        assert isinstance(shown, ShownMessage)
        position = shown.position
        if pending is not None:
            pending.read = self.manager.open_reads[result["read"]]
            self._start_cleanup(opened, wanted.request, pending)
        try:
            sections = self.planes.packets.sections(position, wanted.most)
        except MqError as error:
            self._undo(opened, wanted.request)
            call.fail(error.status)
            return
        call.answer(self.message(position, sections))

    def failure(self, status: int) -> int:
        """Status of a read that found nothing."""
        return status

    def message(self, position: Position, sections: list[Section]) -> bytes:
        """Return the output parameters for a message."""

        def write(out: Writer) -> None:
            out.number(self.arrival_time(position), 4)
            out.number(self.sequence_identifier(position), 8)
            out.number(len(sections), 4)
            out.pointer(lambda: self._sections(out, sections))

        return with_status(encoded(write))

    def arrival_time(self, position: Position) -> int:
        """pdwArriveTime: seconds since 1970."""
        return position.arrival & INFINITE

    def sequence_identifier(self, position: Position) -> int:
        """pSequenceId: the least significant seven bytes of the LookupIdentifier."""
        return position.lookup & (1 << SEQUENCE_BITS) - 1

    def _sections(self, out: Writer, sections: list[Section]) -> None:
        out.maximum(len(sections))
        for section in sections:
            self._section(out, section)

    def _section(self, out: Writer, section: Section) -> None:
        def referent() -> None:
            out.maximum(len(section.data))
            out.raw(section.data)

        out.align(4)
        out.number(section.kind, 2)
        out.number(section.whole, 4)
        out.number(len(section.data), 4)
        out.pointer(referent)

    def given_up(self, opened: OpenQueue, wanted: Wanted) -> None:
        """Nobody waits for a read any more: let it find nothing."""
        try:
            self.manager.reading.cancel((opened, wanted.request))
        except MqError:
            return

    def cancel_receive(self, call: Call) -> bytes:
        """R_CancelReceive (3.1.4.8). A peek that waits is cancelled as well."""
        handle, request = call.read(lambda source: (source.handle(), source.number(4)))
        self.manager.reading.cancel((self._queue(call, handle), request))
        return status_only(0)

    def end_receive(self, call: Call) -> bytes:
        """R_EndReceive (3.1.4.9)."""
        opened, request, acknowledge = self._ending(call)
        pending = self.take(opened, request, transactional=False)
        self.finish(opened, pending, acknowledge=acknowledge)
        return status_only(0)

    def end_transactional_receive(self, call: Call) -> bytes:
        """R_EndTransactionalReceive (3.1.4.15): an acknowledged message stays locked until its transaction ends."""
        opened, request, acknowledge = self._ending(call)
        pending = self.take(opened, request, transactional=True)
        if pending.transaction is None or not acknowledge:
            self.finish(opened, pending, acknowledge=acknowledge)
            return status_only(0)
        read = pending.read
        assert read is not None
        self.manager.open_reads.pop(read.handle, None)
        if pending.transaction.handle not in self.manager.open_transactions:
            self.manager.delivery.make_available(read.position)
            raise MqError(MQ_ERROR_TRANSACTION_SEQUENCE)
        pending.transaction.steps.append(UndoStep(Operation.DEQUEUE, read.position))
        return status_only(0)

    def _ending(self, call: Call) -> tuple[OpenQueue, int, bool]:
        handle, ack, request = call.read(lambda source: (source.handle(), source.ranged(NACK, ACK), source.number(4)))
        return self._queue(call, handle), request, ack == ACK

    def take(self, opened: OpenQueue, request: int, *, transactional: bool) -> Pending:
        """Remove and return the entry of a receive. Raises MqError if there is none, or it has no message yet.

        transactional: false where a receive in a transaction is not meant.
        """
        if not opened.pending:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        pending = opened.pending.get(request)
        if pending is None or pending.read is None or (pending.transaction is not None and not transactional):
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        del opened.pending[request]
        if pending.timer is not None:
            pending.timer.cancel()
        return pending

    def finish(self, opened: OpenQueue, pending: Pending, *, acknowledge: bool) -> None:
        """Dequeue Message End. Raises MqError if the message or its queue has gone."""
        read = pending.read
        if read is None or read.handle not in self.manager.open_reads:
            raise MqError(MQ_ERROR_MESSAGE_NOT_FOUND)
        self.manager.reading.end(read, acknowledge=acknowledge)

    def _start_cleanup(self, opened: OpenQueue, request: int, pending: Pending) -> None:
        """Start the Pending Request Cleanup Timer (3.1.2.2), which counts from when the message was found."""
        clock = self.manager.clock
        due = clock.now_ms() + self.planes.settings.cleanup_ms
        pending.timer = clock.at(due, lambda: self.cleanup(opened, request))

    def cleanup(self, opened: OpenQueue, request: int) -> None:
        """Pending Request Cleanup Timer Event (3.1.5.1)."""
        self._undo(opened, request)

    def _undo(self, opened: OpenQueue, request: int) -> None:
        pending = opened.pending.pop(request, None)
        if pending is None or pending.read is None:
            return
        if pending.timer is not None:
            pending.timer.cancel()
        try:
            self.finish(opened, pending, acknowledge=False)
        except MqError:
            return

    # Moving, and transactions.

    def move_message(self, call: Call) -> bytes:
        """R_MoveMessage (3.1.4.10)."""
        handle, target, lookup, identifier = call.read(
            lambda source: (source.handle(), source.number(8), source.number(8), source.raw(16))
        )
        opened, destination = self._queue(call, handle), self._moves.get(target)
        if destination is None:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        transaction = None if identifier == NO_TRANSACTION else self.enlisted(opened, identifier)
        try:
            self.manager.transactions.move(opened.at, lookup, destination.at, transaction)
        except MqError as error:
            unrelated = error.status == MQ_ERROR_INVALID_PARAMETER
            raise MqError(STATUS_INVALID_PARAMETER) if unrelated else error from None
        return status_only(0)

    def enlisted(self, opened: OpenQueue, identifier: bytes) -> Transaction:
        """Return the transaction of an identifier; one with a failure if there is none."""
        found = opened.transactions.get(identifier)
        return self.manager.transactions.claimed(found.handle if found is not None else None)

    def enlist_remote_transaction(self, call: Call) -> bytes:
        """R_QMEnlistRemoteTransaction (3.1.4.12), which fails: there is no coordinator here (MS-DTCO)."""
        call.read(self._token)
        raise MqError(MQ_ERROR_DTC_CONNECT)

    def _token(self, source: Reader) -> None:
        source.raw(16)
        size = source.ranged(0, MOST_TOKEN)
        source.maximum(size)
        source.raw(size)
        source.construct(lambda: self.planes.structures.read_queue_format(source))

    def set_user_acknowledgement_class(self, call: Call) -> bytes:
        """R_SetUserAcknowledgementClass (3.1.4.14)."""
        handle, lookup, number = call.read(lambda source: (source.handle(), source.number(8), source.number(2)))
        opened = self._queue(call, handle)
        if number not in (0, REJECTED):
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        queue = opened.at.queue
        position = None if queue is None else queue.positions.find(lookup)
        if position is None:
            raise MqError(MQ_ERROR_MESSAGE_NOT_FOUND)
        steps = (step for each in self.manager.open_transactions.values() for step in each.steps)
        if all(step.position is not position for step in steps):
            raise MqError(MQ_ERROR_TRANSACTION_USAGE)
        return status_only(0)  # the transaction cannot commit here: nothing would tell of the rejection


def _wanted(source: Reader) -> Wanted:
    lookup = source.number(8)
    cursor, action, timeout_ms, request, most, _ = source.numbers(6)
    return Wanted(lookup, cursor, action, timeout_ms, request, most)


def cursor_number(cursor: Cursor) -> int:
    """Return the number that a cursor has as a handle of 32 bits."""
    return int(cursor.handle[1:])
