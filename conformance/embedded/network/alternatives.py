"""Alternatives of readings: parts that follow a reading which a node does not follow by default."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.embedded import packet_layout as lay
from conformance.embedded.network import layout as net
from conformance.embedded.network.acknowledging import Acknowledging
from conformance.embedded.network.codec import Codec, ConnectionParameters, EstablishConnection, Head
from conformance.embedded.network.incoming import Arrived, Receiver
from conformance.embedded.network.sender import Route
from conformance.embedded.network.sequences import History, Incoming, Sequences
from conformance.embedded.network.session import Session, State

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


class _ByOrdinal(History):
    def identifier(self, read: dict[str, Json]) -> str:
        return str(read["identifier"]["ordinal"])


class _RejectedUncounted(Receiver):
    def rejected_recoverable(self, arrived: Arrived) -> None:
        return


class _TimerAlone(Session):
    def window_is_full(self) -> bool:
        return False


class _NumbersAnew(Route):
    def carried_by(self, session: Session) -> None:
        for entry in self.table.values():
            entry.tx_number = 0
        self.sequence.unacked.clear()
        super().carried_by(session)


class _RejectedTaken(Receiver):
    """A rejected transactional message takes its place in the sequence."""

    def reject(self, arrived: Arrived, reason: int) -> None:
        super().reject(arrived, reason)
        if arrived.transactional and arrived.own:
            self.in_order(arrived)


class _RepeatsTimeouts(Session):
    def within_limits(self, packet: ConnectionParameters) -> bool:
        return True


class _OpensRefused(Session):
    def parameter_states(self) -> tuple[State, ...]:
        return (*super().parameter_states(), State.REFUSED)


class _ExcludesHeader(Codec):
    """PacketSize of a SessionAck leaves out its SessionHeader."""

    def base(self, of: Head) -> bytes:
        left_out = lay.SESSION.size if of.packet_type == net.SESSION_ACK else 0
        return super().base(replace(of, size=of.size - left_out))


ALTERNATIVES: dict[str, tuple[str, type]] = {
    "R-MQQB-window=received": ("session", _ReceivedWindow),
    "R-MQQB-rejected-number=replaced": ("sequences", _Replaced),
    "R-MQQB-null-server-guid=refused": ("session", _NullRefused),
    "R-MQQB-order-ack-delivery=recoverable": ("acknowledging", _Recoverable),
    "R-MQQB-transactional-sequence-scope=queue": ("sequences", _ByQueue),
    "R-MQQB-final-ack-class=listed": ("acknowledging", _Listed),
    "R-MQQB-session-header-included=any": ("session", _HeaderAlways),
    "R-MQQB-duplicate-identifier=ordinal": ("history", _ByOrdinal),
    "R-MQQB-rejected-recoverable=uncounted": ("receiver", _RejectedUncounted),
    "R-MQQB-acknowledgment-at-window=timer": ("session", _TimerAlone),
    "R-MQQB-number-after-cut=anew": ("route", _NumbersAnew),
    "R-MQQB-rejected-in-sequence=taken": ("receiver", _RejectedTaken),
    "R-MQQB-timeout-out-of-range=repeats": ("session", _RepeatsTimeouts),
    "R-MQQB-parameters-after-refusal=opens": ("session", _OpensRefused),
    "R-MQMQ-packet-size-session-header=always-excludes": ("codec", _ExcludesHeader),
}
