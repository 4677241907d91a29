"""The PDUs of connection-oriented DCE/RPC, version 5.0 (C706 chapter 12, MS-RPCE 2.2.2): read and written."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.embedded.rpc.ndr import Damaged, Order, Reader, decoded

REQUEST, RESPONSE, FAULT = 0, 2, 3
BIND, BIND_ACK, BIND_NAK, ALTER, ALTER_RESPONSE, AUTH3 = 11, 12, 13, 14, 15, 16
SHUTDOWN, CANCEL, ORPHANED = 17, 18, 19

FIRST, LAST, PENDING_CANCEL, MULTIPLEXED, NOT_EXECUTED, OBJECT = 0x01, 0x02, 0x04, 0x10, 0x20, 0x80
HEADER_SIGNING = PENDING_CANCEL  # the same bit in a bind (MS-RPCE 2.2.2.3)

# Statuses of faults (C706 appendix E).
ACCESS_DENIED = 0x00000005
CALL_CANCELLED = 0x1C00000D
CONTEXT_MISMATCH = 0x1C00001A
INVALID_CONTEXT_ID = 0x1C00001C
OPNUM_RANGE = 0x1C010002
UNKNOWN_INTERFACE = 0x1C010003
PROTOCOL_ERROR = 0x1C01000B
TOO_BUSY = 0x1C010014

# Results of an offered context, and reasons (C706 12.6.3.1).
ACCEPTED, USER_REJECTED, PROVIDER_REJECTED, NEGOTIATED = range(4)
ABSTRACT_UNSUPPORTED, TRANSFER_UNSUPPORTED, LOCAL_LIMIT = 1, 2, 3
# Reasons of a bind_nak (C706 12.6.4.5, MS-RPCE 2.2.2.5).
NAK_UNSPECIFIED, NAK_LOCAL_LIMIT, NAK_VERSION, NAK_AUTHENTICATION = 0, 2, 4, 8

MAX_FRAGMENT = 5840  # bytes of a PDU here
MIN_FRAGMENT = 1432  # bytes that every end can take (C706 12.6.3.1)
MAX_REQUEST = 1 << 18  # bytes of a request put together
HEADER_SIZE, TRAILER_SIZE = 16, 8
RESPONSE_HEAD = 24
_LITTLE = b"\x10\0\0\0"


@dataclass(frozen=True, slots=True)
class Header:
    """The common head of PDUs. order: of the numbers of its sender, by the label. length: of the whole PDU."""

    kind: int
    flags: int
    order: Order
    length: int
    auth_length: int
    call: int
    minor: int = 0


@dataclass(frozen=True, slots=True)
class Syntax:
    """An abstract or transfer syntax. version: the major one in the low 16 bits."""

    identifier: str
    version: int = 1

    def packed(self) -> bytes:
        return uuid.UUID(self.identifier).bytes_le + self.version.to_bytes(4, "little")


NDR = Syntax("8a885d04-1ceb-11c9-9fe8-08002b104860", 2)
NO_SYNTAX = Syntax("00000000-0000-0000-0000-000000000000", 0)
FEATURES = "6cb71c2c-9812-4540-"  # begins the transfer syntax that negotiates features (MS-RPCE 3.3.1.5.3)


@dataclass(frozen=True, slots=True)
class Offer:
    """A presentation context that a client offers."""

    context: int
    abstract: Syntax
    transfers: tuple[Syntax, ...]


@dataclass(frozen=True, slots=True)
class Verifier:
    """The authentication at the end of a PDU (MS-RPCE 2.2.2.11). padding: of the stub in front of it."""

    kind: int
    level: int
    padding: int
    context: int
    value: bytes

    def head(self) -> bytes:
        return struct.pack("<BBBBI", self.kind, self.level, self.padding, 0, self.context)


@dataclass(frozen=True, slots=True)
class Bind:
    """A bind or an alter_context. transmits, receives: bytes of the longest PDU of the client."""

    transmits: int
    receives: int
    group: int
    offers: tuple[Offer, ...]
    verifier: Verifier | None


@dataclass(frozen=True, slots=True)
class Request:
    """A fragment of a request. at: where its stub begins in the PDU."""

    context: int
    opnum: int
    stub: bytes
    at: int
    verifier: Verifier | None


def header(data: bytes) -> Header:
    """Return the header of a PDU, of which 16 bytes are given. Raises Damaged."""
    version, minor, kind, flags, label, _ = struct.unpack("<BBBBB3s", data[:8])
    if version != 5 or minor > 1 or label >> 4 > 1:
        raise Damaged(PROTOCOL_ERROR)
    order: Order = "little" if label >> 4 else "big"
    length, auth_length, call = struct.unpack("<HHI" if label >> 4 else ">HHI", data[8:16])
    if not HEADER_SIZE <= length <= MAX_FRAGMENT:
        raise Damaged(PROTOCOL_ERROR)
    return Header(kind, flags, order, length, auth_length, call, minor)


def verifier(of: Header, data: bytes) -> Verifier | None:
    """Return the verifier of a PDU; None if it has none. Raises Damaged."""
    if not of.auth_length:
        return None
    at = len(data) - of.auth_length - TRAILER_SIZE
    if at < HEADER_SIZE:
        raise Damaged(PROTOCOL_ERROR)
    kind, level, padding, _ = data[at : at + 4]
    context = int.from_bytes(data[at + 4 : at + 8], of.order)
    return Verifier(kind, level, padding, context, data[at + TRAILER_SIZE :])


def read_bind(of: Header, data: bytes) -> Bind:
    """Return the content of a bind or an alter_context. Raises Damaged."""
    return decoded(data, of.order, lambda source: _bind(source, verifier(of, data)), HEADER_SIZE)


def _bind(source: Reader, found: Verifier | None) -> Bind:
    transmits, receives, group = source.number(2), source.number(2), source.number(4)
    count, _ = source.number(1), source.raw(3)
    offers = []
    for _ in range(count):
        context, transfers = source.number(2), source.number(1)
        source.raw(1)
        abstract = _syntax(source)
        source.room(transfers, 20)
        offers.append(Offer(context, abstract, tuple(_syntax(source) for _ in range(transfers))))
    return Bind(transmits, receives, group, tuple(offers), found)


def _syntax(source: Reader) -> Syntax:
    return Syntax(source.guid(), source.number(4))


def read_request(of: Header, data: bytes) -> Request:
    """Return the content of a request. Raises Damaged."""
    found = verifier(of, data)
    end = len(data) - (of.auth_length + TRAILER_SIZE + found.padding if found else 0)

    def read(source: Reader) -> Request:
        source.raw(4)  # the hint of the whole size is no promise
        context, opnum = source.number(2), source.number(2)
        source.raw(16 if of.flags & OBJECT else 0)
        if source.at > end:
            raise Damaged(PROTOCOL_ERROR)
        return Request(context, opnum, data[source.at : end], source.at, found)

    return decoded(data, of.order, read, HEADER_SIZE)


def pdu(kind: int, call: int, body: bytes, flags: int = FIRST | LAST, auth: bytes = b"") -> bytes:
    """Return a PDU. auth: its verifier, head included."""
    size = max(0, len(auth) - TRAILER_SIZE)
    length = HEADER_SIZE + len(body) + len(auth)
    return struct.pack("<BBBB4sHHI", 5, 0, kind, flags, _LITTLE, length, size, call) + body + auth


def bind_ack(
    kind: int,
    call: int,
    group: int,
    sizes: tuple[int, int],
    address: str,
    results: Sequence[tuple[int, int, Syntax]],
    *,
    flags: int = 0,
    auth: bytes = b"",
) -> bytes:
    """Return a bind_ack or alter_context_resp. address: the port as text, for the first. sizes: sent, received."""
    port = address.encode("ascii") + b"\0" if address else b""
    body = struct.pack("<HHIH", *sizes, group, len(port)) + port
    body += bytes(-len(body) % 4) + struct.pack("<BBH", len(results), 0, 0)
    for result, reason, transfer in results:
        body += struct.pack("<HH", result, reason) + transfer.packed()
    return pdu(kind, call, body, FIRST | LAST | flags, auth)


def bind_nak(call: int, reason: int) -> bytes:
    """Return a bind_nak that tells the version spoken here: 5.0 (C706 12.6.4.5)."""
    return pdu(BIND_NAK, call, struct.pack("<HBBB", reason, 1, 5, 0) + bytes(3))


def fault(call: int, context: int, status: int, *, executed: bool = True) -> bytes:
    """Return a fault. executed: false if the operation was not begun."""
    body = struct.pack("<IHBBII", 0, context, 0, 0, status, 0)
    return pdu(FAULT, call, body, FIRST | LAST | (0 if executed else NOT_EXECUTED))


def parts(stub: bytes, room: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield flags, bytes left and bytes of each fragment of a response. room: bytes of stub in one of them."""
    room -= room % 8
    for at in range(0, len(stub) or 1, room):
        flags = (FIRST if at == 0 else 0) | (LAST if at + room >= len(stub) else 0)
        yield flags, len(stub) - at, stub[at : at + room]


def response_body(context: int, left: int, part: bytes) -> bytes:
    """Return the body of a response."""
    return struct.pack("<IHBB", left, context, 0, 0) + part
