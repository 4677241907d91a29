"""Keep, send and resend what goes to another queue manager (MS-MQQB 3.1.5.5 to 3.1.5.7, 3.1.6.5, 3.1.7.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import INFINITE
from conformance.embedded.network import codec as net
from conformance.embedded.network.codec import FinalAckBody, OrderAckBody, SessionHeader
from conformance.embedded.network.session import COUNT, FLAG_BITS, Session
from conformance.embedded.network.settings import RESENDS, Timer

if TYPE_CHECKING:
    from conformance.embedded.network.node import Node

Json = Any


@dataclass(slots=True, eq=False)
class Entry:
    """An OutgoingMessagePosition (3.1.1.3.1.2). message: a user_message; packet: one that is passed on, in base64.

    key: its row in the state that is kept. origin: the queue manager whose message caused it, in hex.
    tx_sequence, tx_number: 0 for what is not transactional or never sent.
    """

    key: int
    message: dict[str, Json]
    size: int
    packet: str | None = None
    origin: str = ""
    number: int = 0
    recoverable_number: int = 0
    tx_sequence: int = 0
    tx_number: int = 0
    awaiting: bool = False
    session_acked: bool = False
    order_acked: bool = False
    transmitted: bool = False

    @property
    def recoverable(self) -> bool:
        return bool(self.message["delivery"] == "recoverable")

    @property
    def transactional(self) -> bool:
        """True for a transactional message of this queue manager: it takes no part in the sequences of others."""
        return self.packet is None and bool(self.message.get("transactional"))

    def asks_journal(self) -> bool:
        """Return true for a message with source journaling."""
        return bool(self.message.get("positive_journaling") or self.message.get("negative_journaling"))

    def stored(self) -> dict[str, Json]:
        """Return what is kept of it."""
        return {
            "message": self.message,
            "size": self.size,
            "packet": self.packet,
            "origin": self.origin,
            "tx_sequence": self.tx_sequence,
            "tx_number": self.tx_number,
            "order_acked": self.order_acked,
        }


@dataclass(slots=True)
class Outgoing:
    """The outgoing transactional sequence of a route. identifier: 64 bits. number: of the next message."""

    identifier: int
    number: int = 1
    last_acked: int = 0
    ack_count: int = 0
    resend: int = 0
    unacked: list[int] = field(default_factory=list)


class Route:
    """Everything for one other queue manager: OutgoingMessageTable, sequence, and the session that carries it.

    address: where to connect; None if it is not known. guid: 16 bytes, zeros unless known. direct: named by address.
    """

    def __init__(self, node: Node, key: str, address: str | None, guid: bytes, *, direct: bool) -> None:
        self.node = node
        self.key = key
        self.address = address
        self.guid = guid
        self.direct = direct
        self.session: Session | None = None
        self.dialling = False
        self.table: dict[int, Entry] = {}
        self.awaiting_final: dict[int, Entry] = {}
        self.sequence = Outgoing(0)
        self.retry = Timer(node.scheduler, node.guarded(self.retry_over))
        self.order_wait = Timer(node.scheduler, node.guarded(self.order_wait_over))

    @property
    def idle(self) -> bool:
        """True if nothing is left to do for this route."""
        return self.session is None and not self.dialling and not self.table and not self.awaiting_final

    def add(self, entry: Entry) -> None:
        """Append a message (3.1.7.12), and send it if it can be sent."""
        self.table[entry.key] = entry
        self.go()

    def move(self, entry: Entry, other: Route | None) -> None:
        """Let another route send a message; there may be none."""
        del self.table[entry.key]
        if other is None:
            self.node.drop_entry(entry)
            return
        entry.awaiting = entry.session_acked = False
        self.node.keep_entry(other, entry)
        other.add(entry)

    def go(self) -> None:
        """Send what can be sent; establish a session if there is none (3.1.5.2)."""
        if self.session is not None:
            self.pump()
        elif self.table and not self.dialling and not self.retry.running:
            self.connect(again=False)

    def connect(self, *, again: bool) -> None:
        """Establish a session. again: it was tried before, so there is no ping (3.1.5.2.2)."""
        if self.node.carry(self):
            return
        if self.address is None:
            self.start_retry()
            return
        self.dialling = True
        self.node.dial(self, again=again)

    def may_use(self, session: Session) -> bool:
        """Return true if an open session may carry it: one with its queue manager, which has nothing of another route.

        A direct name has a connection of its own, in which ServerGuid is zero (3.1.5.2.3).
        """
        return not self.direct and session.remote == self.guid and session.route in (None, self)

    def failed(self) -> None:
        """Note that no connection could be made."""
        self.dialling = False
        self.start_retry()

    def start_retry(self) -> None:
        """Start the Session Retry Connect Timer if there is something to send."""
        if self.table:
            self.retry.start(self.node.durations.fixed("session-retry-connect"))

    def retry_over(self) -> None:
        """Session Retry Connect Timer Event (3.1.6.1)."""
        if self.table and self.session is None and not self.dialling:
            self.connect(again=True)

    def carried_by(self, session: Session) -> None:
        """Use an open session (3.1.5.4): nothing of the table has been sent on it (3.1.3.2)."""
        self.session = session
        self.dialling = False
        self.retry.stop()
        for entry in self.table.values():
            entry.awaiting = entry.session_acked = False
            entry.number = entry.recoverable_number = 0
        self.pump()

    def lost(self, session: Session) -> None:
        """Note that a session is closed; what is not acknowledged goes over another one."""
        if self.session is session or session.initiates:
            self.session = None
            self.dialling = False
            self.order_wait.stop()
            self.start_retry()

    # Sending (3.1.7.1).

    def pump(self) -> None:
        """Send what waits, in order, as far as the window has room."""
        session = self.session
        while session is not None and session.may_send():
            waiting = (each for each in self.table.values() if self.waits(each))
            entries = list(islice(waiting, session.send_window()))
            for entry in entries:
                if self.expired(entry):
                    self.expire(entry)
                elif session.may_send():
                    self.send(session, entry)
            if not entries:
                return

    def waits(self, entry: Entry) -> bool:
        """Return true for a message that is to be sent on this session."""
        return not (entry.awaiting or entry.session_acked or entry.order_acked)

    def expired(self, entry: Entry) -> bool:
        """Return true if the time to reach the queue is over (3.1.7.1.2)."""
        lives = entry.message.get("time_to_reach_queue", INFINITE)
        return bool(lives != INFINITE and self.node.now() - entry.message["sent_time"] > lives)

    def expire(self, entry: Entry) -> None:
        """Delete an expired message, with the acknowledgment and the copy that it asks for."""
        self.remove(entry)
        self.node.not_delivered(entry, net.NACK_REACH_QUEUE_TIMEOUT)

    def send(self, session: Session, entry: Entry) -> None:
        """Send one message (3.1.7.1.3, 3.1.7.1.6)."""
        message = {name: value for name, value in entry.message.items() if name != "transactional"}
        if entry.transactional:
            message["transaction"] = self.transaction(entry)
        header = session.piggyback()
        entry.number, entry.recoverable_number = session.count_sent(recoverable=entry.recoverable)
        entry.awaiting = True
        if header:
            self.node.commit()
        session.link.send(self.node.packet(message, entry.packet, session.header() if header else None))
        entry.transmitted = True
        if header:
            session.header_carried()
        self.node.sent(self, entry)

    def transaction(self, entry: Entry) -> dict[str, Json]:
        """Return the TransactionHeader: a number of its own for a message that has none, a bridge for one that has."""
        if not entry.tx_number:
            if not self.sequence.identifier:
                self.sequence.identifier = self.node.new_sequence()
            entry.tx_sequence, entry.tx_number = self.sequence.identifier, self.sequence.number
            self.sequence.unacked.append(entry.tx_number)
            self.sequence.number += 1
            previous = entry.tx_number - 1
            self.node.keep_entry(self, entry)
        else:
            previous = self.previous(entry)
        self.order_wait.start_if_stopped(self.node.durations.resend(self.sequence.resend))
        return {
            "sequence_identifier": {"ordinal": entry.tx_sequence & INFINITE, "timestamp": entry.tx_sequence >> 32},
            "sequence_number": entry.tx_number,
            "previous_sequence_number": previous,
            "index": entry.message["identifier"]["ordinal"] & lay.TX_INDEX_MAX,
            "first": True,
            "last": True,
        }

    def previous(self, entry: Entry) -> int:
        """Return the number of the transactional message before this one in the table; 0 for the first."""
        before = [each.tx_number for each in self.table.values() if each.tx_number and each.tx_number < entry.tx_number]
        acked = self.sequence.last_acked
        return max([*before, *([acked] if acked < entry.tx_number else [])], default=0)

    # Acknowledgments.

    def acknowledged(self, given: SessionHeader) -> None:
        """Mark and delete what a SessionHeader acknowledges (3.1.5.5.1 to 3.1.5.5.3)."""
        for entry in list(self.table.values()):
            if entry.number and entry.awaiting and not entry.session_acked and _up_to(entry.number, given.received):
                entry.session_acked = True
            if not entry.number or not entry.session_acked:
                continue
            if not entry.recoverable_number or (not entry.tx_number and self.stored_there(entry, given)):
                self.delivered(entry)
            elif entry.order_acked:
                self.ordered(entry)

    def stored_there(self, entry: Entry, given: SessionHeader) -> bool:
        """Return true if a SessionHeader acknowledges a recoverable message as stored."""
        behind = (entry.recoverable_number - given.recoverable) & COUNT
        marked = behind < FLAG_BITS and bool(given.recoverable_bits >> behind & 1)
        return marked or bool(given.recoverable and _up_to(entry.recoverable_number, given.recoverable))

    def delivered(self, entry: Entry) -> None:
        """Delete a message that a session acknowledgment has acknowledged; log it if it asks for that (3.1.5.5.4)."""
        self.remove(entry)
        if entry.message.get("positive_journaling"):
            self.node.log(entry, "journal")

    def order_ack(self, body: OrderAckBody) -> None:
        """Receive an OrderAck packet (3.1.5.6)."""
        sequence = self.sequence
        if body.sequence != sequence.identifier:
            return
        sequence.resend = min(sequence.resend + 1, len(RESENDS) - 1)
        sequence.last_acked = max(sequence.last_acked, body.number)
        sequence.unacked = [number for number in sequence.unacked if number > sequence.last_acked]
        if not sequence.unacked:
            sequence.resend = 0
            self.order_wait.stop()
        sequence.ack_count += 1
        for entry in list(self.table.values()):
            if entry.tx_number and entry.tx_number <= body.number:
                entry.order_acked = True
                if entry.session_acked:
                    self.ordered(entry)
        self.next_sequence()

    def ordered(self, entry: Entry) -> None:
        """Delete a message with an order acknowledgment, or let it await its final one."""
        self.remove(entry)
        if entry.asks_journal():
            self.node.held_bytes += entry.size
            self.awaiting_final[entry.key] = entry
            self.node.keep_entry(self, entry)

    def next_sequence(self) -> None:
        """Begin a new sequence if every message of this one is acknowledged."""
        if self.sequence.identifier and not any(entry.tx_number for entry in self.table.values()):
            ordinal = (self.sequence.identifier & INFINITE) + 1
            stamp = self.sequence.identifier >> 32
            self.sequence = Outgoing(stamp << 32 | ordinal, ack_count=self.sequence.ack_count)
            self.node.keep_route(self)

    def final_ack(self, body: FinalAckBody, message_class: int) -> None:
        """Receive a FinalAck packet (3.1.5.7)."""
        for entry in [*self.table.values(), *self.awaiting_final.values()]:
            if entry.transactional and entry.message["identifier"]["ordinal"] == body.message:
                self.remove(entry)
                self.sequence.unacked = [each for each in self.sequence.unacked if each != entry.tx_number]
                positive = message_class == net.ACK_RECEIVE
                if positive and entry.message.get("positive_journaling"):
                    self.node.log(entry, "journal")
                if not positive and entry.message.get("negative_journaling"):
                    self.node.log(entry, "deadxact")
                return

    def order_wait_over(self) -> None:
        """Transactional Ack Wait Timer Event (3.1.6.5)."""
        if self.session is None or not any(entry.tx_number for entry in self.table.values()):
            return
        for entry in self.table.values():
            if entry.tx_number and not entry.order_acked:
                entry.awaiting = entry.session_acked = False
        self.sequence.resend = min(self.sequence.resend + 1, len(RESENDS) - 1)
        self.order_wait.start(self.node.durations.resend(self.sequence.resend))
        self.pump()

    def forget(self) -> None:
        """Give up: no message is kept any longer."""
        for entry in [*self.table.values(), *self.awaiting_final.values()]:
            self.remove(entry)
        self.retry.stop()

    def remove(self, entry: Entry) -> None:
        """Take a message out of the table, and out of what is kept."""
        self.table.pop(entry.key, None)
        self.awaiting_final.pop(entry.key, None)
        self.node.drop_entry(entry)


def _up_to(number: int, acknowledged: int) -> bool:
    """Return true if a count of 16 bits has reached a number, across its overflow."""
    return (acknowledged - number & COUNT) < 0x8000
