"""The calls of RemoteRead (MS-MQRR 3.1.4), each as it is sent; what comes back is read, and not judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeVar
from uuid import UUID

from conformance.net.rpc.binding import Association, asked
from conformance.net.rpc.names import write_queue
from conformance.net.rpc.ndr import CONTEXT, CountError, Reader, Writer, context
from conformance.spec.rpc_interfaces import REMOTE_READ

_T = TypeVar("_T")
RECEIVE_ACCESS, MOVE_ACCESS, PEEK_ACCESS = 0x1, 0x4, 0x20
RR_NACK, RR_ACK = 1, 2
_VERSION: Final = (6, 3, 9600)  # Major, minor and build of the client, which a server ignores.
_MAX_BODY: Final = 0xFFFFFFFF
INFINITE: Final = 0xFFFFFFFF
"""A time-out that never comes."""
_SPARE_S: Final = 5.0
_EVER_S: Final = 1e6  # More than a run takes, and as many milliseconds as a socket can wait.


class Action(IntEnum):
    """ulAction of R_StartReceive (MS-MQRR 3.1.4.7)."""

    RECEIVE = 0x00000000
    PEEK_CURRENT = 0x80000000
    PEEK_NEXT = 0x80000001
    LOOKUP_PEEK_CURRENT = 0x40000010
    LOOKUP_PEEK_NEXT = 0x40000011
    LOOKUP_PEEK_PREV = 0x40000012
    LOOKUP_RECEIVE_CURRENT = 0x40000020
    LOOKUP_RECEIVE_NEXT = 0x40000021
    LOOKUP_RECEIVE_PREV = 0x40000022


class SectionType(IntEnum):
    """MS-MQRR 2.2.7."""

    FULL_PACKET = 0
    BINARY_FIRST = 1
    BINARY_SECOND = 2
    SRMP_FIRST = 3
    SRMP_SECOND = 4


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a message packet (MS-MQRR 2.2.6). size: octets that it has without the limit of the call."""

    type: int
    size: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Received:
    """The answer of R_StartReceive. arrived_s: seconds since 1970. sequence: the low 56 bits of the lookup identifier.

    Only `status` counts where it is a failure.
    """

    status: int
    arrived_s: int = 0
    sequence: int = 0
    sections: tuple[Section, ...] = ()

    @property
    def packet(self) -> bytes:
        """The message packet (MS-MQRR 2.2.5), as far as it was sent."""
        return b"".join(one.data for one in self.sections)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which message R_StartReceive returns. cursor, lookup: 0 for none. timeout_ms: how long it waits for one.

    transaction: 16 octets for R_StartTransactionalReceive, zeros for none.
    """

    action: int
    request: int
    cursor: int = 0
    lookup: int = 0
    timeout_ms: int = 0
    max_body: int = _MAX_BODY
    max_compound: int = _MAX_BODY
    transaction: bytes | None = None


@dataclass(frozen=True, slots=True)
class RemoteRead:
    """The interface of one host. client: identifier of the queue manager as which the calls are made.

    version: its major, minor and build. routing: it is a routing server.
    """

    association: Association
    client: UUID
    version: tuple[int, int, int] = _VERSION
    routing: bool = False

    def server_port(self) -> int:
        """R_GetServerPort: the TCP port of the interface; 0 for a failure."""
        return self._call("R_GetServerPort", Writer(), lambda reader: reader.long())

    def open_queue(self, format_name: str, access: int, *, alone: int = 0) -> bytes:
        """R_OpenQueue: the context handle. alone: 1 if nobody else may receive. Raises FaultError with the HRESULT."""
        return self._call("R_OpenQueue", self._opening(format_name, access, alone=alone), context)

    def open_queue_for_move(self, format_name: str) -> tuple[int, bytes]:
        """R_OpenQueueForMove: the number by which R_MoveMessage names the queue, and the context handle."""
        body = self._opening(format_name, MOVE_ACCESS, alone=0)
        return self._call("R_OpenQueueForMove", body, lambda reader: (reader.hyper(), context(reader)))

    def close_queue(self, handle: bytes) -> tuple[int, bytes]:
        """R_CloseQueue: the status, and the context handle that comes back."""
        return self._call("R_CloseQueue", _of(handle), lambda reader: (context(reader), reader.long())[::-1])

    def create_cursor(self, handle: bytes) -> tuple[int, int]:
        """R_CreateCursor: the status, and the cursor."""
        return self._call("R_CreateCursor", _of(handle), lambda reader: (reader.long(), reader.long())[::-1])

    def close_cursor(self, handle: bytes, cursor: int) -> int:
        """R_CloseCursor: the status."""
        return self._call("R_CloseCursor", _of(handle, cursor), _status)

    def purge_queue(self, handle: bytes) -> int:
        """R_PurgeQueue: the status."""
        return self._call("R_PurgeQueue", _of(handle), _status)

    def start_receive(self, handle: bytes, wanted: Wanted) -> Received:
        """R_StartReceive: peek or begin to receive a message; waits as long as the call asks for."""
        body = _of(handle)
        body.hyper(wanted.lookup)
        for number in (
            wanted.cursor, wanted.action, wanted.timeout_ms, wanted.request, wanted.max_body, wanted.max_compound,
        ):  # fmt: skip
            body.long(number)
        body.raw(wanted.transaction or b"")  # XACTUOW (MS-MQMQ 2.2.18.1.8), an array of octets.
        method = "R_StartReceive" if wanted.transaction is None else "R_StartTransactionalReceive"
        return self._call(method, body, _received, within_s(wanted.timeout_ms))

    def cancel_receive(self, handle: bytes, request: int) -> int:
        """R_CancelReceive: the status."""
        return self._call("R_CancelReceive", _of(handle, request), _status)

    def end_receive(self, handle: bytes, request: int, *, acknowledge: bool, transactional: bool = False) -> int:
        """R_EndReceive or R_EndTransactionalReceive: the status."""
        method = "R_EndTransactionalReceive" if transactional else "R_EndReceive"
        return self._call(method, _of(handle, RR_ACK if acknowledge else RR_NACK, request), _status)

    def enlist_remote_transaction(self, transaction: bytes, token: bytes, format_name: str) -> int:
        """R_QMEnlistRemoteTransaction: the status."""
        body = Writer()
        body.raw(transaction)
        for number in (len(token), len(token)):
            body.long(number)
        body.raw(token)
        write_queue(body, format_name)
        return self._call("R_QMEnlistRemoteTransaction", body, _status)

    def move_message(self, handle: bytes, destination: int, lookup: int, transaction: bytes = bytes(16)) -> int:
        """R_MoveMessage: the status. destination: of `open_queue_for_move`. transaction: zeros for none."""
        body = _of(handle)
        body.hyper(destination)
        body.hyper(lookup)
        body.raw(transaction)
        return self._call("R_MoveMessage", body, _status)

    def set_user_acknowledgement_class(self, handle: bytes, lookup: int, message_class: int) -> int:
        """R_SetUserAcknowledgementClass: the status."""
        body = _of(handle)
        body.hyper(lookup)
        body.short(message_class)
        return self._call("R_SetUserAcknowledgementClass", body, _status)

    def _opening(self, format_name: str, access: int, *, alone: int) -> Writer:
        body = Writer()
        write_queue(body, format_name)
        body.long(access)
        body.long(alone)
        body.guid(self.client)
        body.long(not self.routing)
        major, minor, build = self.version
        body.number(1, major)
        body.number(1, minor)
        body.short(build)
        body.long(1)  # fWorkgroup
        return body

    def _call(self, method: str, body: Writer, read: Callable[[Reader], _T], within_s: float = 10.0) -> _T:
        return asked(self.association, REMOTE_READ, method, body, read, within_s)


def within_s(timeout_ms: int) -> float:
    """Return the seconds within which a call is answered that waits so long."""
    return _EVER_S if timeout_ms == INFINITE else timeout_ms / 1000 + _SPARE_S


def _of(handle: bytes, *numbers: int) -> Writer:
    body = Writer()
    body.raw(handle[: CONTEXT.size])
    for number in numbers:
        body.long(number)
    return body


def _status(reader: Reader) -> int:
    return reader.long()


def _received(reader: Reader) -> Received:
    """Read the answer of R_StartReceive: the pointer to an array of sections, whose octets come behind all of them."""
    arrived_s, sequence, count = reader.long(), reader.hyper(), reader.long()
    sections: list[Section] = []
    if reader.long():
        heads = [_head(reader) for _ in range(reader.count(16))]
        sections = [Section(kind, most, reader.octets(size) if pointer else b"") for kind, most, size, pointer in heads]
    if count != len(sections):
        raise CountError(f"{count} sections are named, and {len(sections)} follow", "number")
    return Received(reader.long(), arrived_s, sequence, tuple(sections))


def _head(reader: Reader) -> tuple[int, int, int, int]:
    reader.align(4)
    return reader.short(), reader.long(), reader.long(), reader.long()
