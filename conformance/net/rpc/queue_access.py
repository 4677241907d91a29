"""The calls of qm2qm (MS-MQQP 3.1.4), and those of qmcomm that open queues and cursors for it (MS-MQMP 3.1.4.2-4).

Each is made as it is sent; what comes back is read, and not judged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar
from uuid import UUID

from conformance.net.rpc.binding import Association, asked
from conformance.net.rpc.names import write_queue
from conformance.net.rpc.ndr import NULL_CONTEXT, NdrError, Reader, Writer, context
from conformance.net.rpc.remote_read import RR_ACK, RR_NACK, within_s
from conformance.spec.rpc_interfaces import COMMON, QUEUE_ACCESS
from conformance.wire.transfer_buffer import MEMBERS, NUMBERS

_T = TypeVar("_T")
_BUFFER: Final = (4, 4, 4, 4, *(NUMBERS.get(each.kind, 4) for each in MEMBERS))
"""Sizes of the members of a CACTransferBufferV1 that is all zeros: of a send, with null pointers."""


@dataclass(frozen=True, slots=True)
class OpenQueue:
    """The answer of R_QMOpenRemoteQueue (MS-MQMP 3.1.4.2): pphContext, pdwContext, dwpQueue, phQueue."""

    status: int
    handle: bytes = NULL_CONTEXT
    context: int = 0
    place: int = 0
    queue: int = 0


@dataclass(frozen=True, slots=True)
class Description:
    """REMOTEREADDESC (MS-MQQP 2.2.2.1). place: dwQueue. buffer: of an answer, None for a null pointer.

    sequence: SequentialId of the REMOTEREADDESC2 around it (2.2.2.2).
    """

    queue: int
    place: int
    action: int
    request: int
    cursor: int = 0
    timeout_ms: int = 0
    size: int = 0
    reserved: int = 0
    arrived_s: int = 0
    acknowledgment: int = 0
    buffer: bytes | None = None
    sequence: int = 0

    def write(self, body: Writer) -> None:
        """Write the structure."""
        with body.structure():
            for number in (
                *(self.queue, self.cursor, self.action, self.timeout_ms, self.size, self.place, self.request),
                *(self.reserved, self.arrived_s),
            ):
                body.long(number)
            body.short(self.acknowledgment)  # An enumeration has 16 bits (C706 14.2.6).
            body.pointer(None)


@dataclass(frozen=True, slots=True)
class Begun:
    """The answer of a call that starts a receive. handle: of the read; zeros where none was begun."""

    status: int
    handle: bytes
    description: Description | None


@dataclass(frozen=True, slots=True)
class Common:
    """The calls of qmcomm. client: pLicGuid."""

    association: Association
    client: UUID

    def open_queue(self, format_name: str, access: int, *, alone: int = 0) -> OpenQueue:
        """R_QMOpenRemoteQueue. alone: 1 if nobody else may receive."""
        body = Writer()
        body.long(0x00020000)
        write_queue(body, format_name)
        for number in (0, access, alone):
            body.long(number)
        body.guid(self.client)
        body.long(0)  # dwMQS
        return asked(self.association, COMMON, "R_QMOpenRemoteQueue", body, _opened)

    def close_context(self, handle: bytes) -> bytes:
        """R_QMCloseRemoteQueueContext: the context handle that comes back."""
        return asked(self.association, COMMON, "R_QMCloseRemoteQueueContext", _of(handle), context)

    def create_cursor(self, queue: int) -> tuple[int, int]:
        """R_QMCreateRemoteCursor: the status, and the cursor. A buffer is ignored; a minimal one is sent."""
        body = Writer()
        for size in _BUFFER:
            body.number(size, 0)
        body.long(queue)
        return asked(
            self.association,
            COMMON,
            "R_QMCreateRemoteCursor",
            body,
            lambda reader: (reader.long(), reader.long())[::-1],
        )


@dataclass(frozen=True, slots=True)
class QueueAccess:
    """The calls of qm2qm. client: pLicGuid."""

    association: Association
    client: UUID

    def start(self, description: Description) -> Begun:
        """RemoteQMStartReceive."""
        body = Writer()
        description.write(body)
        return self._start("RemoteQMStartReceive", body, description, lambda reader: _description(reader, 0))

    def start_2(self, description: Description | None) -> Begun:
        """RemoteQMStartReceive2. None: a null pointer for the description."""
        body = Writer()
        _write_2(body, description)
        return self._start("RemoteQMStartReceive2", body, description, _description_2)

    def start_by_lookup(self, lookup: int, description: Description | None) -> Begun:
        """RemoteQMStartReceiveByLookupId."""
        body = Writer()
        body.hyper(lookup)
        _write_2(body, description)
        return self._start("RemoteQMStartReceiveByLookupId", body, description, _description_2)

    def end(self, handle: bytes, *, acknowledge: bool) -> tuple[int, bytes]:
        """RemoteQMEndReceive: the status, and the context handle that comes back."""
        return self._call("RemoteQMEndReceive", _of(handle, RR_ACK if acknowledge else RR_NACK), _status_of_handle)

    def open_queue(self, queue: int, place: int, context_number: int) -> tuple[int, bytes]:
        """RemoteQMOpenQueue: the status, and the handle of the session."""
        body = Writer()
        body.guid(self.client)
        for number in (0, queue, place, context_number):
            body.long(number)
        return self._call("RemoteQMOpenQueue", body, _status_of_handle)

    def close_queue(self, handle: bytes) -> tuple[int, bytes]:
        """RemoteQMCloseQueue: the status, and the context handle that comes back."""
        return self._call("RemoteQMCloseQueue", _of(handle), _status_of_handle)

    def close_cursor(self, queue: int, cursor: int) -> int:
        """RemoteQMCloseCursor: the status."""
        return self._call("RemoteQMCloseCursor", _of(b"", queue, cursor), _status)

    def cancel(self, queue: int, place: int, request: int) -> int:
        """RemoteQMCancelReceive: the status."""
        return self._call("RemoteQMCancelReceive", _of(b"", queue, place, request), _status)

    def purge(self, queue: int) -> int:
        """RemoteQMPurgeQueue: the status."""
        return self._call("RemoteQMPurgeQueue", _of(b"", queue), _status)

    def server_port(self, kind: int) -> int:
        """RemoteQMGetQMQMServerPort: the port; 0 for none. kind: dwPortType."""
        return self._call("RemoteQMGetQMQMServerPort", _of(b"", kind), _status)

    def version(self) -> tuple[int, int, int]:
        """RemoteQmGetVersion: major, minor and build."""
        return self._call(
            "RemoteQmGetVersion", Writer(), lambda reader: (reader.number(1), reader.number(1), reader.short())
        )

    def _start(
        self, method: str, body: Writer, description: Description | None, read: Callable[[Reader], Description | None]
    ) -> Begun:
        wait = within_s(description.timeout_ms if description is not None else 0)

        def answer(reader: Reader) -> Begun:
            handle, found = context(reader), read(reader)
            return Begun(reader.long(), handle, found)

        return self._call(method, body, answer, wait)

    def _call(self, method: str, body: Writer, read: Callable[[Reader], _T], within: float = 10.0) -> _T:
        return asked(self.association, QUEUE_ACCESS, method, body, read, within)


def _of(handle: bytes, *numbers: int) -> Writer:
    body = Writer()
    body.raw(handle)
    for number in numbers:
        body.long(number)
    return body


def _cursor(reader: Reader) -> tuple[int, int]:
    number = reader.long()
    return reader.long(), number


def _version(reader: Reader) -> tuple[int, int, int]:
    return reader.number(1), reader.number(1), reader.short()


def _status(reader: Reader) -> int:
    return reader.long()


def _status_of_handle(reader: Reader) -> tuple[int, bytes]:
    handle = context(reader)
    return reader.long(), handle


def _opened(reader: Reader) -> OpenQueue:
    handle, number, place, queue = context(reader), reader.long(), reader.long(), reader.long()
    return OpenQueue(reader.long(), handle, number, place, queue)


def _write_2(body: Writer, description: Description | None) -> None:
    with body.structure(8):
        body.pointer(None if description is None else lambda: description.write(body))
        body.hyper(0)


def _description_2(reader: Reader) -> Description | None:
    reader.align(8)
    pointer, sequence = reader.long(), reader.hyper()
    return _description(reader, sequence) if pointer else None


def _description(reader: Reader, sequence: int) -> Description:
    reader.align(4)
    queue, cursor, action, timeout, size, place, request, reserved, arrived = (reader.long() for _ in range(9))
    acknowledgment, buffer = reader.short(), None
    if reader.long():
        most, offset, actual = reader.long(), reader.long(), reader.count()
        if most != size or offset or actual != size:
            raise NdrError(f"a buffer of {size} octets has {actual} of {most} from {offset} on")
        buffer = reader.raw(actual)
    return Description(
        queue, place, action, request, cursor, timeout, size, reserved, arrived, acknowledgment, buffer, sequence
    )
