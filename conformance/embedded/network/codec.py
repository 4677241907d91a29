"""Cut the bytes of a connection into packets; the layout of the packets of MS-MQQB 2.2 but user messages."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import INFINITE
from conformance.embedded.packet_layout import Bytes, Malformed, require

INTERNAL = struct.Struct("<HH")  # reserved, flags
ESTABLISH = struct.Struct("<16s16sIHH512s")  # client, server, time stamp, operating system, reserved, padding
PARAMETERS = struct.Struct("<IIHH")  # recoverable acknowledgment timeout, acknowledgment timeout, reserved, window
ORDER_BODY = struct.Struct("<IIII20s")  # sequence (ordinal, timestamp), number, previous number, reserved
FINAL_BODY = struct.Struct("<IIII16sI")  # sequence (ordinal, timestamp), number, previous number, source, message id
PING = struct.Struct("<HHI16s")  # flags, signature, cookie, queue manager

# InternalHeader.Flags (2.2.1)
PACKET_TYPE = 0x000F
SESSION_ACK, ESTABLISH_CONNECTION, CONNECTION_PARAMETERS = 1, 2, 3
REFUSED = 1 << 4

# EstablishConnectionHeader.OperatingSystem (2.2.3.1)
SYSTEM_RESERVED = 0x0010
NOT_PINGED = 1 << 8
SERVER_CLASS = 1 << 9
RESPONSE_PADDING = b"\x5a" * 512

# Ping.Flags (2.2.7)
PING_SIGNATURE = 0x5548
PING_CLIENT = 1
PING_REFUSED = 2

# ConnectionParametersHeader (2.2.2.1), milliseconds
LEAST_RECOVERABLE_ACK, LEAST_ACK, MOST_ACK = 0x1F4, 0x4E20, 0x1D4C0

INTERNAL_FLAGS = 0x000B  # BaseHeader.Flags of an internal packet: IN, and the default priority
LABEL = "QM Ordering Ack"
ORDER_QUEUE = "order_queue$"
ORDER_QUEUE_NUMBER = 4
ACKNOWLEDGMENT_BODY = 36

# Message classes (MS-MQMQ 2.2.18.1.6)
NORMAL, REPORT, ACK_REACH_QUEUE, ORDER_ACK, ACK_RECEIVE = 0x0000, 0x0001, 0x0002, 0x00FF, 0x4000
NACK_BAD_DST_Q, NACK_REACH_QUEUE_TIMEOUT, NACK_Q_EXCEED_QUOTA = 0x8000, 0x8002, 0x8003
NACK_ACCESS_DENIED, NACK_HOP_COUNT_EXCEEDED, NACK_BAD_SIGNATURE = 0x8004, 0x8005, 0x8006
NACK_BAD_ENCRYPTION, NACK_NOT_TRANSACTIONAL_Q, NACK_NOT_TRANSACTIONAL_MSG = 0x8007, 0x8009, 0x800A
NACK_UNSUPPORTED_CRYPTO_PROVIDER = 0x800B


@dataclass(frozen=True, slots=True)
class Head:
    """BaseHeader and InternalHeader. base_reserved, reserved: of the first and of the second. size: PacketSize."""

    packet_type: int
    size: int
    refused: bool = False
    base_flags: int = INTERNAL_FLAGS
    base_reserved: int = 0
    time_to_reach_queue: int = INFINITE
    reserved: int = 0
    unused: int = 0


@dataclass(frozen=True, slots=True)
class EstablishConnection:
    """Packet of 2.2.3. client, server: 16 bytes each. time_stamp: milliseconds since the system was started."""

    head: Head
    client: bytes
    server: bytes
    time_stamp: int
    system: int
    reserved: int = 0
    padding: bytes = bytes(512)


@dataclass(frozen=True, slots=True)
class ConnectionParameters:
    """Packet of 2.2.2. The timeouts are in milliseconds."""

    head: Head
    recoverable_ack_timeout: int
    ack_timeout: int
    window: int
    reserved: int = 0


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """Header of MS-MQMQ 2.2.20.4. recoverable_bits: bit k stands for the recoverable message `recoverable` + k."""

    received: int
    recoverable: int
    recoverable_bits: int
    sent: int
    recoverable_sent: int
    window: int
    reserved: int = 0


@dataclass(frozen=True, slots=True)
class SessionAck:
    """Packet of 2.2.6."""

    head: Head
    session: SessionHeader


@dataclass(frozen=True, slots=True)
class OrderAckBody:
    """Body of 2.2.4.1. sequence: 64 bits, the time stamp in the high half."""

    sequence: int
    number: int
    previous: int
    reserved: bytes = bytes(20)


@dataclass(frozen=True, slots=True)
class FinalAckBody:
    """Body of 2.2.5.1."""

    sequence: int
    number: int
    previous: int
    source: bytes
    message: int


@dataclass(frozen=True, slots=True)
class Ping:
    """Packet of 2.2.7. manager: 16 bytes."""

    flags: int
    cookie: int
    manager: bytes
    signature: int = PING_SIGNATURE


Internal = EstablishConnection | ConnectionParameters | SessionAck
_SIZES = {
    ESTABLISH_CONNECTION: lay.BASE.size + INTERNAL.size + ESTABLISH.size,
    CONNECTION_PARAMETERS: lay.BASE.size + INTERNAL.size + PARAMETERS.size,
    SESSION_ACK: lay.BASE.size + INTERNAL.size + lay.SESSION.size,
}
INTERNAL_SIZES = frozenset({*_SIZES.values(), lay.BASE.size + INTERNAL.size})
"""PacketSize of an internal packet: a SessionAck may leave out its SessionHeader."""


def head(packet_type: int, *, refused: bool = False) -> Head:
    """Return the headers of an internal packet to send."""
    flags = INTERNAL_FLAGS | (lay.BASE_SESSION if packet_type == SESSION_ACK else 0)
    return Head(packet_type, _SIZES[packet_type], refused, flags)


class Codec:
    """Reads and writes packets. Malformed is raised for what breaks the layout."""

    def read(self, packet: bytes) -> Internal:
        """Return the packet of these bytes, whose BaseHeader has IN set. Raises Malformed."""
        source = Bytes(packet)
        version, base_reserved, base_flags, signature, size, reach = source.unpack(lay.BASE)
        require(version == lay.VERSION and signature == lay.SIGNATURE and bool(base_flags & lay.BASE_INTERNAL))
        reserved, flags = source.unpack(INTERNAL)
        kind = flags & PACKET_TYPE
        require(kind in _SIZES and len(packet) == _SIZES[kind])
        require(size == len(packet) or (kind == SESSION_ACK and size == len(packet) - lay.SESSION.size))
        refused, unused = bool(flags & REFUSED), flags & ~(PACKET_TYPE | REFUSED)
        found = Head(kind, size, refused, base_flags, base_reserved, reach, reserved, unused)
        if kind == ESTABLISH_CONNECTION:
            return EstablishConnection(found, *source.unpack(ESTABLISH))
        if kind == CONNECTION_PARAMETERS:
            recoverable, wait, spare, window = source.unpack(PARAMETERS)
            return ConnectionParameters(found, recoverable, wait, window, spare)
        require(bool(base_flags & lay.BASE_SESSION))
        header = SessionHeader(*source.unpack(lay.SESSION))
        require(header.window != 0)
        return SessionAck(found, header)

    def write(self, packet: Internal) -> bytes:
        """Return the bytes of a packet."""
        return self.base(packet.head) + self.internal(packet.head) + self.rest(packet)

    def base(self, of: Head) -> bytes:
        """BaseHeader (MS-MQMQ 2.2.19.1)."""
        return lay.BASE.pack(
            lay.VERSION, of.base_reserved, of.base_flags, lay.SIGNATURE, of.size, of.time_to_reach_queue
        )

    def internal(self, of: Head) -> bytes:
        """InternalHeader (2.2.1)."""
        return INTERNAL.pack(of.reserved, of.packet_type | REFUSED * of.refused | of.unused)

    def rest(self, packet: Internal) -> bytes:
        """Return the header that gives the packet its name."""
        if isinstance(packet, EstablishConnection):
            return self.establish(packet)
        if isinstance(packet, ConnectionParameters):
            return self.parameters(packet)
        return self.session(packet.session)

    def establish(self, packet: EstablishConnection) -> bytes:
        """EstablishConnectionHeader (2.2.3.1)."""
        return ESTABLISH.pack(
            packet.client, packet.server, packet.time_stamp, packet.system, packet.reserved, packet.padding
        )

    def parameters(self, packet: ConnectionParameters) -> bytes:
        """ConnectionParametersHeader (2.2.2.1)."""
        return PARAMETERS.pack(packet.recoverable_ack_timeout, packet.ack_timeout, packet.reserved, packet.window)

    def session(self, of: SessionHeader) -> bytes:
        """SessionHeader (MS-MQMQ 2.2.20.4)."""
        counts = (of.received, of.recoverable, of.recoverable_bits, of.sent, of.recoverable_sent)
        return lay.SESSION.pack(*counts, of.window, of.reserved)

    def order_body(self, body: OrderAckBody) -> bytes:
        """OrderAck Body (2.2.4.1)."""
        return ORDER_BODY.pack(*_halves(body.sequence), body.number, body.previous, body.reserved)

    def read_order_body(self, data: bytes) -> OrderAckBody:
        """Return the body of an OrderAck. Raises Malformed."""
        require(len(data) == ORDER_BODY.size)
        ordinal, stamp, number, previous, reserved = ORDER_BODY.unpack(data)
        return OrderAckBody(stamp << 32 | ordinal, number, previous, reserved)

    def final_body(self, body: FinalAckBody) -> bytes:
        """FinalAck Body (2.2.5.1)."""
        return FINAL_BODY.pack(*_halves(body.sequence), body.number, body.previous, body.source, body.message)

    def read_final_body(self, data: bytes) -> FinalAckBody:
        """Return the body of a FinalAck. Raises Malformed."""
        require(len(data) == FINAL_BODY.size)
        ordinal, stamp, number, previous, source, message = FINAL_BODY.unpack(data)
        return FinalAckBody(stamp << 32 | ordinal, number, previous, source, message)

    def ping(self, ping: Ping) -> bytes:
        """Ping Packet (2.2.7)."""
        return PING.pack(ping.flags, ping.signature, ping.cookie, ping.manager)

    def read_ping(self, data: bytes) -> Ping:
        """Return the ping of a datagram, whatever its signature. Raises Malformed."""
        require(len(data) == PING.size)
        flags, signature, cookie, manager = PING.unpack(data)
        return Ping(flags, cookie, manager, signature)


def _halves(sequence: int) -> tuple[int, int]:
    return sequence & INFINITE, sequence >> 32


_SIGNED = 8  # bytes that hold version and signature


class Frames:
    """Holds the bytes of a packet that is not complete. No more than one packet is held.

    announced: called once for each packet, with BaseHeader.Flags, when its size is known; it may raise Malformed.
    """

    def __init__(self, announced: Callable[[int], None]) -> None:
        self._held = bytearray()
        self._wanted = 0
        self._announced = announced

    @property
    def held(self) -> int:
        """The number of bytes held."""
        return len(self._held)

    def feed(self, data: bytes) -> None:
        """Add bytes that arrived."""
        self._held += data

    def next(self) -> bytes | None:
        """Return the next packet, SessionHeader included; None if it is not complete. Raises Malformed."""
        if not self._wanted and len(self._held) >= _SIGNED:
            self.signed(bytes(self._held[:_SIGNED]))
        if not self._wanted and len(self._held) >= lay.BASE.size:
            self._wanted = self.whole(bytes(self._held[: lay.BASE.size]))
        if not self._wanted or len(self._held) < self._wanted:
            return None
        packet = bytes(self._held[: self._wanted])
        del self._held[: self._wanted]
        self._wanted = 0
        return packet

    def signed(self, start: bytes) -> None:
        """Verify version and signature (3.1.5.1.2). Raises Malformed."""
        require(start[0] == lay.VERSION and int.from_bytes(start[4:8], "little") == lay.SIGNATURE)

    def whole(self, header: bytes) -> int:
        """Return the size of a packet with its SessionHeader, from its BaseHeader. Raises Malformed."""
        _, _, flags, _, size, _ = lay.BASE.unpack(header)
        internal = bool(flags & lay.BASE_INTERNAL)
        require(lay.BASE.size < size <= lay.MAX_PACKET and size % 4 == 0)
        require(not internal or size in INTERNAL_SIZES)
        self._announced(flags)
        apart = flags & lay.BASE_SESSION and (not internal or size == min(INTERNAL_SIZES))
        return int(size + (lay.SESSION.size if apart else 0))


__all__ = ["Frames", "Malformed"]
