"""The transfer out of an outgoing queue: its session, its sequence, what is not acknowledged (MS-MQQB 3.1.1.3.1)."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.embedded.entities import Position

Json = Any
LONGEST_HISTORY = 1_000  # entries kept, the newest, so that an answer stays within one line
RESEND_SECONDS = (30, 30, 30, 300, 300, 300, 1_800, 1_800, 1_800, 21_600)  # ResendTimerTable, MS-MQQB 3.1.3.1

CONNECTED = "CONNECTED"
DISCONNECTED = "DISCONNECTED"
DISCONNECTING = "DISCONNECTING"
INACTIVE = "INACTIVE"
NEED_VALIDATION = "NEED VALIDATION"
ON_HOLD = "ONHOLD"
WAITING = "WAITING"

STATUS = {  # of an entry of the connection history: MS-MQDMPR 3.1.1.3, MS-MQMQ 2.3.12.25
    "in_process": 0x00000000,
    "establish_packet_received": 0x00000001,
    "established": 0x00000002,
    "unknown_failure": 0x80000000,
    "ping_failure": 0x80000001,
    "socket_create_failure": 0x80000002,
    "socket_bind_failure": 0x80000003,
    "socket_connect_failure": 0x80000004,
    "tcp_not_enabled": 0x80000005,
    "socket_send_failure": 0x80000006,
    "connection_not_ready": 0x80000007,
    "dns_failure": 0x80000008,
    "certificate_validation_failure": 0x80000009,
    "connection_limit_reached": 0x8000000A,
    "connection_refused": 0x8000000B,
    "routing_data_not_available": 0x8000000C,
    "low_resource": 0x8000000D,
}
UNRESOLVED = frozenset({"dns_failure", "routing_data_not_available"})  # the address is still to be found


@dataclass(frozen=True, slots=True)
class SequenceInfo:
    """A place in a transactional sequence (SEQUENCE_INFO, MS-MQMQ 2.2.5)."""

    ordinal: int
    timestamp: int
    number: int
    previous: int

    @property
    def sequence(self) -> tuple[int, int]:
        """Return the identifier of the sequence: ordinal and timestamp."""
        return self.ordinal, self.timestamp

    def packed(self) -> bytes:
        """Return the 16 bytes of MS-MQMQ 2.2.5.1: the ordinal is the low half of SeqID."""
        return struct.pack("<IIII", self.ordinal, self.timestamp, self.number, self.previous)


@dataclass(frozen=True, slots=True)
class Attempt:
    """An entry of the connection history (MS-MQDMPR 3.1.1.3). time: seconds since 1970. error: an HRESULT."""

    status: int
    time: int
    error: int
    addresses: tuple[str, ...]


@dataclass(slots=True)
class Sent:
    """The transfers of one message. place: its place in a sequence, if any. stored: it has a session acknowledgment."""

    place: SequenceInfo | None
    times: int = 0
    stored: bool = False


@dataclass(slots=True, eq=False)
class Transfer:
    """The transfer out of one outgoing queue.

    flight: what was transferred and not acknowledged, by row, in the order of the transfers. unread: what has an order
    acknowledgment and awaits its final one, by message identifier. numbered: messages with a place in the sequence that
    have no order acknowledgment, by number. The sequence and its numbers are durable, the session is not.
    """

    state: str = INACTIVE
    session: bool = False
    hops: list[str] = field(default_factory=list)
    addresses: tuple[str, ...] = ()
    history: list[Attempt] = field(default_factory=list)
    flight: dict[int, tuple[Position, Sent]] = field(default_factory=dict)
    numbered: dict[int, tuple[Position, Sent]] = field(default_factory=dict)
    unread: dict[tuple[str, int], Position] = field(default_factory=dict)
    ordinal: int = 0
    timestamp: int = 0
    number: int = 1
    last_ack: SequenceInfo | None = None
    last_ack_time: int = 0
    last_ack_count: int = 0
    last_times: int = 0
    resend_index: int = 0
    resend_time: int = 0

    @property
    def next_place(self) -> SequenceInfo:
        """The place of the next message (EodNextSeq)."""
        return SequenceInfo(self.ordinal, self.timestamp, self.number, self.number - 1)

    def saved(self) -> dict[str, Json]:
        """Return what survives the process (MS-MQQB 3.1.1.3.1)."""
        last = self.last_ack
        return {
            "sequence": [self.ordinal, self.timestamp, self.number],
            "last_ack": None if last is None else [last.ordinal, last.timestamp, last.number, last.previous],
            "last_ack_time": self.last_ack_time,
            "last_ack_count": self.last_ack_count,
        }

    @classmethod
    def restored(cls, saved: dict[str, Json]) -> Transfer:
        """Return the transfer that `saved` describes, without a session."""
        transfer = cls()
        if saved:
            transfer.ordinal, transfer.timestamp, transfer.number = saved["sequence"]
            transfer.last_ack = None if saved["last_ack"] is None else SequenceInfo(*saved["last_ack"])
            transfer.last_ack_time, transfer.last_ack_count = saved["last_ack_time"], saved["last_ack_count"]
        return transfer
