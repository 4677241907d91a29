"""The older remote read: the qm2qm interface (MS-MQQP 3.1), and what of qmcomm it needs (MS-MQMP 3.1.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from conformance.embedded.entities import INFINITE, Cursor, Descriptor, MqError, OpenRead, Position, Result
from conformance.embedded.receiving import Caller, ShownMessage
from conformance.embedded.rpc.association import Call, Interface, Operation
from conformance.embedded.rpc.ndr import HANDLE_SIZE, NULL_HANDLE, Reader, Writer, encoded, status_only, with_status
from conformance.embedded.rpc.pdus import Syntax
from conformance.embedded.rpc.remote_read import (
    ACCESS,
    ACK,
    LOOKUPS,
    MOST_CURSORS,
    NACK,
    PEEK_CURRENT,
    PEEK_NEXT,
    RECEIVE,
    SEQUENCE_BITS,
    SHARE,
    STATUS_INVALID_PARAMETER,
    cursor_number,
)
from conformance.spec.constants.hresults import (
    MQ_ERROR,
    MQ_ERROR_INSUFFICIENT_RESOURCES,
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_SHARING_VIOLATION,
)

if TYPE_CHECKING:
    from conformance.embedded.rpc.planes import Planes

STATUS_SHARING_VIOLATION = 0xC0000043
CANCELLED_BY_CLIENT = 0x400E03E9
MOST_BUFFER = 4_325_376
IP_HANDSHAKE, IP_READ = 0, 1
BY_SERVER = 1  # Reserved of a REMOTEREADDESC that the server returns
VERSION = bytes((6, 1)) + (7601).to_bytes(2, "little")


@dataclass(slots=True, eq=False)
class RemoteOpen:
    """A queue opened for remote reads, known by the number of its handle. ready: RemoteReadState is ReadyForRead."""

    at: Descriptor
    ready: bool = False


@dataclass(slots=True, eq=False)
class Session:
    """An OpenQueueEntry (MS-MQQP 3.1.1.4)."""

    number: int
    opened: RemoteOpen


@dataclass(slots=True, eq=False)
class Entry:
    """A RemoteReadEntry (MS-MQQP 3.1.1.2). read: of a receive whose message is locked."""

    number: int
    request: int
    opened: RemoteOpen
    read: OpenRead | None = None


class Opened:
    """The queues opened for remote reads, which both interfaces know by number."""

    def __init__(self) -> None:
        self.by_number: dict[int, RemoteOpen] = {}

    def add(self, at: Descriptor) -> RemoteOpen:
        """Note a queue that was opened."""
        made = self.by_number[handle_number(at)] = RemoteOpen(at)
        return made

    def cursor(self, number: int, cursor: int) -> Cursor | None:
        """Return a cursor of an open queue; None if there is none."""
        found = self.by_number.get(number)
        cursors = found.at.cursors if found is not None else []
        return next((each for each in cursors if cursor_number(each) == cursor), None)

    def forget(self, at: Descriptor) -> None:
        """Note that a queue was closed."""
        self.by_number.pop(handle_number(at), None)


def handle_number(at: Descriptor) -> int:
    """Return the number that an open queue has as a handle of 32 bits."""
    return int(at.handle[1:])


class QmComm(Interface):
    """The part of qmcomm for readers of another queue manager: open, close, create a cursor, and the ports."""

    syntax: ClassVar[Syntax] = Syntax("fdb3a030-065f-11d1-bb9b-00a024ea5525")
    for_anybody: ClassVar[frozenset[int]] = frozenset({31})
    operations: ClassVar[Mapping[int, Operation]] = {
        2: Operation("open_remote_queue", HANDLE_SIZE + 12),
        3: Operation("close_remote_queue_context", HANDLE_SIZE),
        4: Operation("create_remote_cursor", 4),
        31: Operation("server_port"),
    }

    def open_remote_queue(self, call: Call) -> bytes:
        """R_QMOpenRemoteQueue (MS-MQMP 3.1.4.2)."""
        named, access, share = call.read(self._opening)
        if access not in ACCESS or share >= len(SHARE):
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        name = self.planes.structures.format_name(named)
        try:
            at = self.manager.queues.open(name, ACCESS[access], SHARE[share])
        except MqError as error:
            shared = error.status == MQ_ERROR_SHARING_VIOLATION
            raise MqError(STATUS_SHARING_VIOLATION) if shared else error from None
        opened = self.planes.opened.add(at)
        try:
            handle = call.group.open(self, opened)
        except Exception:
            self.run_down(opened)
            raise
        return handle + handle_number(at).to_bytes(4, "little") * 3 + status_only(0)

    def _opening(self, source: Reader) -> tuple[Any, int, int]:
        named: Any = None
        if source.number(4):
            named = source.construct(lambda: self.planes.structures.read_queue_format(source))
        _, access, share = source.numbers(3)
        source.guid()
        source.number(4)
        return named, access, share

    def close_remote_queue_context(self, call: Call) -> bytes:
        """R_QMCloseRemoteQueueContext (MS-MQMP 3.1.4.3)."""
        handle = call.read(Reader.handle)
        if handle != NULL_HANDLE:
            opened = call.group.value(self, handle, RemoteOpen)
            call.group.close(opened)
            self.run_down(opened)
        return NULL_HANDLE

    def run_down(self, value: RemoteOpen) -> None:
        """Close the queue, unless a reader has taken it over."""
        if not value.ready:
            self.planes.opened.forget(value.at)
            self.manager.queues.close(value.at)

    def create_remote_cursor(self, call: Call) -> bytes:
        """R_QMCreateRemoteCursor (MS-MQMP 3.1.4.4). hQueue is the last parameter; what is in front is ignored."""
        _, number = call.read(lambda source: (source.raw(source.left - 4), source.number(4)))
        found = self.planes.opened.by_number.get(number)
        if found is None:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        if len(found.at.cursors) >= MOST_CURSORS:
            raise MqError(MQ_ERROR_INSUFFICIENT_RESOURCES)
        return cursor_number(self.manager.cursors.open(found.at)).to_bytes(4, "little") + status_only(0)

    def server_port(self, call: Call) -> bytes:
        """R_QMGetRTQMServerPort (MS-MQMP 3.1.4.24)."""
        kind = call.read(lambda source: source.number(4))
        return status_only(self.planes.port if kind in (IP_HANDSHAKE, IP_READ) else 0)


@dataclass(frozen=True, slots=True)
class Description:
    """A REMOTEREADDESC (MS-MQQP 2.2.2.1). buffer: None for a null pointer."""

    buffer: bytes | None
    queue: int
    cursor: int
    action: int
    timeout_ms: int
    size: int
    same_queue: int
    request: int
    reserved: int
    arrived: int
    acknowledged: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A receive of qm2qm. wrapped: in a REMOTEREADDESC2. lookup: None for one by place."""

    description: Description | None
    wrapped: bool
    lookup: int | None = None
    sequence: int = 0


class Qm2Qm(Interface):
    """The methods of qm2qm, by opnum."""

    syntax: ClassVar[Syntax] = Syntax("1088a980-eae5-11d0-8d9b-00a02453c337")
    for_anybody: ClassVar[frozenset[int]] = frozenset({7})
    operations: ClassVar[Mapping[int, Operation]] = {
        0: Operation("start_receive"),
        1: Operation("end_receive", HANDLE_SIZE),
        2: Operation("open_queue", HANDLE_SIZE),
        3: Operation("close_queue", HANDLE_SIZE),
        4: Operation("close_cursor"),
        5: Operation("cancel_receive"),
        6: Operation("purge_queue"),
        7: Operation("server_port"),
        8: Operation("version"),
        9: Operation("start_receive2"),
        10: Operation("start_receive_by_lookup_id"),
    }

    def __init__(self, planes: Planes) -> None:
        super().__init__(planes)
        self.sessions: list[Session] = []
        self.entries: list[Entry] = []

    # Opening and closing.

    def open_queue(self, call: Call) -> bytes:
        """RemoteQMOpenQueue (3.1.4.3). hQueue is ignored; a queue that qmcomm has not opened is refused."""
        queue, context = call.read(self._opening)
        opened = self.planes.opened.by_number.get(context)
        if queue != context or opened is None:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        session = Session(context, opened)
        handle = call.group.open(self, session)
        opened.ready = True
        self.sessions.append(session)
        return handle + status_only(0)

    def _opening(self, source: Reader) -> tuple[int, int]:
        source.guid()
        source.ranged(0, 16)
        _, queue, context = source.numbers(3)
        return queue, context

    def close_queue(self, call: Call) -> bytes:
        """RemoteQMCloseQueue (3.1.4.4)."""
        handle = call.read(Reader.handle)
        if handle == NULL_HANDLE:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        session = call.group.value(self, handle, Session)
        call.group.close(session)
        self.run_down(session)
        return NULL_HANDLE + status_only(0)

    def run_down(self, value: Session | Entry) -> None:
        """Give back what a handle stands for: a message that is not acknowledged, or an open queue (3.1.6)."""
        if isinstance(value, Entry):
            try:
                self.finish(value, acknowledge=False)
            except MqError:
                return
            return
        if value in self.sessions:
            self.sessions.remove(value)
        for entry in [each for each in self.entries if each.number == value.number]:
            self.cancel(entry)
        self.planes.opened.forget(value.opened.at)
        self.manager.queues.close(value.opened.at)

    def close_cursor(self, call: Call) -> bytes:
        """RemoteQMCloseCursor (3.1.4.5)."""
        queue, number = call.read(lambda source: source.numbers(2))
        found = self.planes.opened.cursor(queue, number)
        if found is None:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        self.manager.cursors.close(found)
        return status_only(0)

    def purge_queue(self, call: Call) -> bytes:
        """RemoteQMPurgeQueue (3.1.4.7)."""
        session = self.session(call.read(lambda source: source.number(4)))
        if session is None:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        self.manager.queues.purge(session.opened.at)
        return status_only(0)

    def session(self, number: int) -> Session | None:
        """Return the OpenQueueEntry of a queue that is still open."""
        known = number in self.planes.opened.by_number
        return next((each for each in self.sessions if known and each.number == number), None)

    def server_port(self, call: Call) -> bytes:
        """RemoteQMGetQMQMServerPort (3.1.4.8)."""
        kind = call.read(lambda source: source.ranged(0, 3))
        return status_only(self.planes.port if kind in (IP_HANDSHAKE, IP_READ) else 0)

    def version(self, call: Call) -> bytes:
        """RemoteQmGetVersion (3.1.4.9)."""
        return VERSION

    # Reading.

    def start_receive(self, call: Call) -> None:
        """RemoteQMStartReceive (3.1.4.1)."""
        self.start(call, Asked(call.read(_description), wrapped=False))

    def start_receive2(self, call: Call) -> None:
        """RemoteQMStartReceive2 (3.1.4.10)."""
        self.start(call, call.read(_wrapped))

    def start_receive_by_lookup_id(self, call: Call) -> None:
        """RemoteQMStartReceiveByLookupId (3.1.4.11)."""
        self.start(call, call.read(lambda source: _wrapped(source, source.number(8))))

    def start(self, call: Call, asked: Asked) -> None:
        """Check a receive, and let the queue find a message, now or later."""
        try:
            entry, cursor = self.check(asked)
            self.entries.append(entry)
            try:
                self.read(call, asked, entry, cursor)
            except MqError:
                self._forget(entry)
                raise
        except MqError as error:
            call.answer(self.answer(asked, NULL_HANDLE, error.status))

    def check(self, asked: Asked) -> tuple[Entry, Cursor | None]:
        """Return the RemoteReadEntry and the cursor of a receive. Raises MqError, in the order of the text."""
        given = asked.description
        if given is None:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        if asked.lookup is not None:
            wrong = not given.queue or given.timeout_ms or given.cursor or given.action not in LOOKUPS
            if wrong or (not asked.lookup and LOOKUPS[given.action][1] != "next"):
                raise MqError(MQ_ERROR_INVALID_PARAMETER)
        elif not given.same_queue or given.same_queue != given.queue or self.in_use(given):
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        elif given.action == PEEK_NEXT and not given.cursor:
            raise MqError(STATUS_INVALID_PARAMETER)
        session = self.session(given.queue)
        if session is None or (asked.lookup is None and given.action not in (RECEIVE, PEEK_CURRENT, PEEK_NEXT)):
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        cursor = self.planes.opened.cursor(given.queue, given.cursor) if given.cursor else None
        if given.cursor and cursor is None:
            raise MqError(STATUS_INVALID_PARAMETER)
        return Entry(given.queue, given.request, session.opened), cursor

    def in_use(self, given: Description) -> bool:
        """Return true for a dwRequestID of a read that waits on the same queue."""
        return any((each.number, each.request) == (given.queue, given.request) for each in self.entries)

    def read(self, call: Call, asked: Asked, entry: Entry, cursor: Cursor | None) -> None:
        """Read at once, or wait."""
        given, at, reading = asked.description, entry.opened.at, self.manager.reading
        assert given is not None
        caller = Caller(entry, entry.request, lambda result: self.found(call, asked, entry, result), lambda: None)
        call.given_up = lambda: self.cancel(entry)
        if asked.lookup is not None:
            destructive, action = LOOKUPS[given.action]
            queue = reading.readable_queue(at, destructive=destructive)
            position = reading.seek(queue, asked.lookup, action, destructive)
            caller.answer(reading.begin(at, position) if destructive else reading.peeked(position))
        elif given.action == RECEIVE:
            reading.receive_begin(caller, at, cursor, given.timeout_ms)
        elif given.action == PEEK_NEXT:
            reading.peek_next(caller, at, cursor, given.timeout_ms)
        else:
            reading.peek(caller, at, cursor, given.timeout_ms)

    def found(self, call: Call, asked: Asked, entry: Entry, result: Result) -> None:
        """Answer a read that has ended: with the message, which stays locked in a receive, or with a failure."""
        self._forget(entry)
        shown = result.get("message")
        if shown is None:
            call.answer(self.answer(asked, NULL_HANDLE, int(result["status"])))
            return
        assert isinstance(shown, ShownMessage)
        if "read" in result:
            entry.read = self.manager.open_reads[result["read"]]
        handle = NULL_HANDLE
        try:
            packet = self.packet(shown.position)
            handle = call.group.open(self, entry) if entry.read is not None else handle
        except Exception as error:
            self.run_down(entry)
            if not isinstance(error, MqError):
                raise
            call.answer(self.answer(asked, NULL_HANDLE, error.status))
            return
        call.answer(self.answer(self.filled(asked, shown.position, packet), handle, 0))

    def packet(self, position: Position) -> bytes:
        """Return the UserMessage packet: lpBuffer."""
        return self.planes.packets.user_message(position)

    def filled(self, asked: Asked, position: Position, packet: bytes) -> Asked:
        """Return what was asked with what the server puts into it."""
        assert asked.description is not None
        arrived = position.arrival & INFINITE
        described = replace(asked.description, size=len(packet), reserved=BY_SERVER, arrived=arrived, buffer=packet)
        return replace(asked, description=described, sequence=position.lookup & (1 << SEQUENCE_BITS) - 1)

    def answer(self, asked: Asked, handle: bytes, status: int) -> bytes:
        """Return the output parameters of a receive."""
        given = asked.description

        def write(out: Writer) -> None:
            out.raw(handle)
            if not asked.wrapped:
                assert given is not None
                _describe(out, given)
                return
            out.align(8)
            out.pointer(None if given is None else lambda: _describe(out, given))
            out.number(asked.sequence, 8)

        return with_status(encoded(write), status)

    def end_receive(self, call: Call) -> bytes:
        """RemoteQMEndReceive (3.1.4.2)."""
        handle, ack = call.read(lambda source: (source.handle(), source.ranged(NACK, ACK)))
        if handle == NULL_HANDLE:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        entry = call.group.value(self, handle, Entry)
        call.group.close(entry)
        self.finish(entry, acknowledge=ack == ACK)
        return NULL_HANDLE + status_only(0)

    def finish(self, entry: Entry, *, acknowledge: bool) -> None:
        """Dequeue Message End. Raises MqError if the queue or its message has gone."""
        read = entry.read
        if read is None or read.handle not in self.manager.open_reads:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        self.manager.reading.end(read, acknowledge=acknowledge)

    def cancel_receive(self, call: Call) -> bytes:
        """RemoteQMCancelReceive (3.1.4.6)."""
        queue, same, request = call.read(lambda source: source.numbers(3))
        if not same or same != queue:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        entries = [each for each in self.entries if each.number == queue]
        if not entries:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        found = next((each for each in entries if each.request == request), None)
        if found is None:
            raise MqError(MQ_ERROR)
        self.cancel(found)
        return status_only(0)

    def cancel(self, entry: Entry) -> None:
        """Let a read that waits end with the status that says so."""
        queue = entry.opened.at.queue
        waiting = [] if queue is None else [each for each in queue.waiters if each.tag == (entry, entry.request)]
        self.manager.reading.cancel_all(waiting, self.cancelled_status())
        self._forget(entry)

    def cancelled_status(self) -> int:
        """The status of a cancelled read (MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT)."""
        return CANCELLED_BY_CLIENT

    def _forget(self, entry: Entry) -> None:
        if entry in self.entries:
            self.entries.remove(entry)


def _description(source: Reader) -> Description:
    buffer: list[bytes] = []
    size = 0

    def referent() -> None:
        source.maximum(size)
        buffer.append(source.raw(source.variance(size, size)))

    def read() -> list[int]:
        nonlocal size
        source.align(4)
        numbers = source.numbers(4)
        size = source.ranged(0, MOST_BUFFER)
        numbers += [size, *source.numbers(4), source.number(2)]
        source.pointer(referent)
        return numbers

    numbers = source.construct(read)
    return Description(buffer[0] if buffer else None, *numbers)


def _wrapped(source: Reader, lookup: int | None = None) -> Asked:
    found: list[Description] = []

    def read() -> int:
        source.align(8)
        source.pointer(lambda: found.append(_description(source)))
        return source.number(8)

    sequence = source.construct(read)
    return Asked(found[0] if found else None, wrapped=True, lookup=lookup, sequence=sequence)


def _describe(out: Writer, given: Description) -> None:
    def referent() -> None:
        data = given.buffer or b""
        out.maximum(len(data))
        out.variance(len(data))
        out.raw(data)

    out.align(4)
    numbers = (given.queue, given.cursor, given.action, given.timeout_ms, given.size)
    for number in (*numbers, given.same_queue, given.request, given.reserved, given.arrived):
        out.number(number, 4)
    out.number(given.acknowledged, 2)
    out.pointer(None if given.buffer is None else referent)
