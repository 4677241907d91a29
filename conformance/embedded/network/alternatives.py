"""Alternatives of readings: parts that follow a reading which a node does not follow by default."""

from __future__ import annotations

from typing import Any

from conformance.embedded.network import layout as net
from conformance.embedded.network.acknowledging import Acknowledging
from conformance.embedded.network.codec import EstablishConnection
from conformance.embedded.network.sequences import Incoming, Sequences
from conformance.embedded.network.session import Session

Json = Any


class _ReceivedWindow(Session):
    def send_window(self) -> int:
        return self.received_window or self.window


class _Replaced(Sequences):
    def rejected(self, state: Incoming, identifier: int, number: int) -> Incoming:
        return Incoming(identifier, number, state.rejects + 1)


class _NullRefused(Session):
    def valid_request(self, packet: EstablishConnection) -> bool:
        return packet.server == self.node.guid


class _Recoverable(Acknowledging):
    def order_delivery(self) -> str:
        return "recoverable"


class _ByQueue(Sequences):
    def key(self, session: Session, read: dict[str, Json]) -> str:
        return f"{session.remote.hex()}:{read['destination'].partition(chr(92))[2].lower() or read['destination']}"


class _Listed(Acknowledging):
    """No FinalAck has a class that 2.2.5 does not list."""

    def final_to(self, read: dict[str, Json], kind: int, remote: bytes, address: str, *, direct: bool) -> None:
        if kind not in (net.NACK_HOP_COUNT_EXCEEDED, 0xC004):
            super().final_to(read, kind, remote, address, direct=direct)


class _HeaderAlways(Session):
    def piggyback(self) -> bool:
        return self.owes_ack()


ALTERNATIVES: dict[str, tuple[str, type]] = {
    "R-MQQB-window=received": ("session", _ReceivedWindow),
    "R-MQQB-rejected-number=replaced": ("sequences", _Replaced),
    "R-MQQB-null-server-guid=refused": ("session", _NullRefused),
    "R-MQQB-order-ack-delivery=recoverable": ("acknowledging", _Recoverable),
    "R-MQQB-transactional-sequence-scope=queue": ("sequences", _ByQueue),
    "R-MQQB-final-ack-class=listed": ("acknowledging", _Listed),
    "R-MQQB-session-header-included=any": ("session", _HeaderAlways),
}
