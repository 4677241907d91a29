"""Hold outgoing queues, transfer their messages over sessions with the caller, and take acknowledgments."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import Message, MqError, Position, Queue, Reason, State
from conformance.embedded.store import MessageRow, QueueRow
from conformance.spec.constants.hresults import MQ_ERROR_INVALID_PARAMETER, MQ_ERROR_QUEUE_NOT_ACTIVE

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
MOST_TEXT = 7_000_000  # characters of base64 in one answer, which is one line of at most 8 MiB
_SAME = (  # members that message and packet have in the same form
    *("label", "body", "body_type", "priority", "delivery", "class", "application_tag", "correlation_identifier"),
    *("positive_journaling", "negative_journaling", "acknowledgements", "time_to_reach_queue", "time_to_be_received"),
    *("trace", "extension", "identifier", "sent_time"),
)


class Outgoing:
    """Holds outgoing queues and transfers their messages."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    def pause(self, format_name: str) -> None:
        """Pause Queue (3.1.4.14). Raises MqError if the queue is not an outgoing one."""
        self.hold(self.manager.queues.outgoing(format_name))

    def resume(self, format_name: str) -> None:
        """Resume Queue (3.1.4.15). Raises MqError if the queue is not an outgoing one."""
        self.let_go(self.manager.queues.outgoing(format_name))

    def hold(self, queue: Queue) -> None:
        """Pause Queue (3.1.7.2.3). The state ends with the process: 3.1.1.3 does not call it persistent."""
        queue.paused = True

    def let_go(self, queue: Queue) -> None:
        """Resume Queue (3.1.7.2.4)."""
        if queue.paused:
            self.manager.transfers.resumed(queue)
        queue.paused = False

    def on_hold(self, queue: Queue) -> bool:
        """Return true if no message may leave the queue."""
        return queue.paused

    def opened(self, queue: Queue) -> None:
        """Give a new outgoing queue its state (MS-MQDMPR 3.1.7.1.5)."""
        queue.locked = self.to_lock(queue)

    def started(self, queue: Queue, *, was_hardened: bool) -> None:
        """Give an outgoing queue of an earlier process its state (3.1.3). was_hardened: that process was."""
        queue.locked = self.to_lock(queue)
        if was_hardened and not queue.locked and not self.by_http(queue):
            self.manager.transfers.of(queue).state = WAITING

    def to_lock(self, queue: Queue) -> bool:
        """Return true for a queue from which hardened security keeps the messages (3.1.1.3)."""
        return self.manager.security.hardened and not self.by_http(queue)

    def by_http(self, queue: Queue) -> bool:
        """Return true if the messages of an outgoing queue travel by HTTP."""
        return self.manager.names.format_name(queue.path).parts.get("protocol") in ("HTTP", "HTTPS")

    def take(self, format_name: str) -> list[str]:
        """Transfer the messages of an outgoing queue: return their packets in base64, in order.

        None while the queue is locked or on hold.

        Takes as many as fit into an answer; the rest stay. Raises MqError if the queue is not an outgoing one.
        """
        queue = self.manager.queues.outgoing(format_name)
        if queue.locked or self.on_hold(queue):
            return []
        return self.transfer(queue, self.ready(queue))

    def ready(self, queue: Queue) -> list[Position]:
        """Return the messages to transfer, by priority, then by arrival (MS-MQDMPR 3.1.7.3.9).

        Messages sent by HTTP or multicast are not included: they do not travel in such packets (MS-MQQB 3.1.7.12).
        """
        if self.by_http(queue) or self.manager.names.format_name(queue.path).kind == "multicast":
            return []
        return [position for position in queue.positions if position.state is State.AVAILABLE]

    def transfer(self, queue: Queue, positions: list[Position]) -> list[str]:
        """Transfer these messages. A message that no packet can hold is not delivered."""
        packets: list[str] = []
        sequence = Sequence(self.manager)
        room = MOST_TEXT
        for position in positions:
            message = position.message
            try:
                packet = self.packet(queue, message, sequence)
            except MqError as failure:
                self.failed(queue, position, failure)
                continue
            room -= len(packet)
            if room < 0 and packets:
                break
            packets.append(packet)
            self.transferred(position)
        return packets

    def failed(self, queue: Queue, position: Position, failure: MqError) -> None:
        """Delete a message that no packet can hold, or that cannot be encrypted (MS-MQQB 3.1.7.1.5.1)."""
        self.manager.delivery.remove(position)
        self.manager.delivery.dead_letter(position.message)
        if position.message.fields["privacy"] != "none":
            transfers = self.manager.transfers
            transfers.record(transfers.of(queue), "certificate_validation_failure", failure.status)

    def transferred(self, position: Position) -> None:
        """Remove a message that the receiver has accepted (MS-MQQB 3.1.5.5).

        The source journal gets a copy; of a transactional message only when its receiver reports the outcome.
        """
        message = position.message
        self.manager.delivery.remove(position)
        if message.fields["positive_journaling"] and not message.transactional:
            self.manager.delivery.copy(self.manager.queues.system("journal"), message)

    def packet(self, queue: Queue, message: Message, sequence: Sequence) -> str:
        """Return the UserMessage packet of a message, in base64. Raises MqError if no packet can hold it."""
        carried = message.carried or {}
        if "packet" in carried:
            return str(carried["packet"])
        said = self.said(queue, message)
        self.manager.sealing.dress(said, message)
        if message.transactional:
            number = sequence.next()
            said["transaction"] = {
                "sequence_identifier": sequence.identifier,
                "sequence_number": number,
                "previous_sequence_number": sequence.previous,
                "index": carried.get("index", 0),
                "first": message.fields["first_in_transaction"],
                "last": message.fields["last_in_transaction"],
            }
        return self.manager.writer.encode(said)

    def said(self, queue: Queue, message: Message) -> dict[str, Json]:
        """Return the user_message of a message to a queue, without what its transfer adds."""
        carried = message.carried or {}
        said = {name: message.fields[name] for name in _SAME}
        said["destination"] = self.manager.queues.direct_name(queue)
        if "destinations" in carried:
            said["destinations"] = carried["destinations"]
        for name in ("administration_queue", "response_queue"):
            if name in message.fields:
                self._also(said, name, message.fields[name])
        return said

    def _also(self, said: dict[str, Json], name: str, text: str) -> None:
        """Say an administration or response queue, or several; a packet has no word for one that nobody can send to."""
        names = self.manager.names
        if "," in text:
            elements = names.multiple(text).parts["elements"]
            said.setdefault("destinations", [said["destination"]])
            said[f"{name}s"] = elements
            text = elements[0]
        parsed = names.format_name(text)
        if parsed.kind in ("direct", "public", "private") and not parsed.read_only:
            said[name] = text


class Sequence:
    """A sequence of transactional messages to one computer (MS-MQQB 3.1.7.1.3).

    Its messages are numbered from 1, and each names the number before its own. It ends when all of them are
    acknowledged (MS-MQQB 3.1.5.6), so every transfer begins another, with a greater identifier than all before.
    """

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._number = 0
        self.previous = 0
        self.identifier: dict[str, int] = {}

    def next(self) -> int:
        """Return the number of the next message."""
        if not self._number:
            ordinal = self._manager.next_sequence() & 0xFFFFFFFF
            self.identifier = {"ordinal": ordinal, "timestamp": self._manager.clock.now_ms() // 1000}
        self.previous = self._number
        self._number += 1
        return self._number


LONGEST_HISTORY = 1_000  # entries kept, the newest, so that an answer stays within one line
RESEND_SECONDS = (30, 30, 30, 300, 300, 300, 1_800, 1_800, 1_800, 21_600)  # ResendTimerTable, MS-MQQB 3.1.3.1

CONNECTED = "CONNECTED"
DISCONNECTED = "DISCONNECTED"
DISCONNECTING = "DISCONNECTING"
INACTIVE = "INACTIVE"
LOCKED = "LOCKED"
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


RECEIVED = 0x4000  # MQMSG_CLASS_ACK_RECEIVE, MS-MQMQ 2.2.18.1.6
_UNREAD = "unread"  # mark of a stored message that awaits its final acknowledgment


class Transfers:
    """Plays the sessions of outgoing queues."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager

    def of(self, queue: Queue) -> Transfer:
        """Return the transfer of an outgoing queue."""
        if queue.transfer is None:
            queue.transfer = Transfer.restored(queue.properties)
        return queue.transfer

    # The session.

    def step(self, queue: Queue, step: str, addresses: tuple[str, ...] | None, error: int) -> None:
        """Take one step of the session. Raises MqError if a step lacks its addresses."""
        transfer = self.of(queue)
        if step == "closing":
            transfer.state = DISCONNECTING
            return
        if step == "closed":
            transfer.state = DISCONNECTED
            self.end_session(queue)
            return
        if addresses is None and step in ("in_process", "established"):
            raise MqError(MQ_ERROR_INVALID_PARAMETER)
        if addresses is not None:
            transfer.addresses = addresses
        self.record(transfer, step, error)
        if step == "in_process":
            self.end_session(queue)
            self.seek(transfer)
        elif step == "established":
            self.establish(transfer)
        elif step in UNRESOLVED and len(queue.positions):
            transfer.state = NEED_VALIDATION

    def record(self, transfer: Transfer, step: str, error: int) -> None:
        """Append an entry to the connection history."""
        now = self.manager.clock.now_ms() // 1000
        transfer.history.append(Attempt(STATUS[step], now, error, transfer.addresses))
        del transfer.history[:-LONGEST_HISTORY]

    def seek(self, transfer: Transfer) -> None:
        """Seek a connection to one of the addresses (MS-MQQB 3.1.5.2)."""
        transfer.hops = [hop(address) for address in transfer.addresses]
        transfer.state = WAITING

    def establish(self, transfer: Transfer) -> None:
        """Open the session with the first address (MS-MQQB 3.1.5.4.2)."""
        transfer.hops = [hop(address) for address in transfer.addresses[:1]]
        transfer.state = CONNECTED
        transfer.session = True

    def end_session(self, queue: Queue) -> None:
        """End the session: what it did not acknowledge is transferred again in the next (MS-MQQB 3.1.3.2)."""
        transfer = self.of(queue)
        transfer.session = False
        for position, sent in list(transfer.flight.values()):
            self.give_back(transfer, position, sent)

    def resumed(self, queue: Queue) -> None:
        """Resume Queue (MS-MQDMPR 3.1.7.2.4): the state is Inactive until a connection is sought again."""
        if queue.transfer is not None:
            queue.transfer.state = INACTIVE

    def resend(self, queue: Queue) -> None:
        """Resend Transactional Sequence: what has no order acknowledgment is transferred again."""
        transfer = self.of(queue)
        for position, sent in list(transfer.flight.values()):
            if sent.place is not None:
                self.give_back(transfer, position, sent)

    def give_back(self, transfer: Transfer, position: Position, sent: Sent) -> None:
        """Let a message that was transferred wait for another transfer, unless it is over or was purged meanwhile."""
        del transfer.flight[position.row]
        sent.stored = False
        if position.state is State.PURGE_PENDING:
            self.manager.delivery.delete(position, Reason.PURGED)
        elif position.state is State.LOCKED:
            self.manager.delivery.make_available(position)

    # The messages.

    def transfer(self, queue: Queue, count: int | None) -> list[str]:
        """Transfer at most `count` messages; return their packets in base64.

        None while the queue has no connection, is locked or on hold.
        """
        transfer = self.of(queue)
        if (
            queue.locked
            or self.manager.outgoing.on_hold(queue)
            or transfer.state != CONNECTED
            or not self.manager.connected
        ):
            return []
        if transfer.resend_time and transfer.resend_time * 1000 <= self.manager.clock.now_ms():
            self.resend(queue)
        packets: list[str] = []
        room = MOST_TEXT
        for position in self.manager.outgoing.ready(queue):
            if count is not None and len(packets) >= count:
                break
            sent = self.numbering(transfer, position)
            try:
                packet = self.manager.outgoing.packet(queue, position.message, _Placed(self.manager, sent.place))
            except MqError as failure:
                self.manager.outgoing.failed(queue, position, failure)
                continue
            room -= len(packet)
            if room < 0 and packets:
                break
            packets.append(packet)
            self.sent(queue, transfer, position, sent)
        self.save(queue)
        return packets

    def numbering(self, transfer: Transfer, position: Position) -> Sent:
        """Return the next place in the sequence for a transactional message; the place it has if it was sent before."""
        message = position.message
        carried = message.carried or {}
        if not message.transactional or "packet" in carried:
            return Sent(None)
        if "place" in carried:
            place = SequenceInfo(*carried["place"])
            known = transfer.numbered.get(place.number)
            last = transfer.last_ack
            acknowledged = last.number if last and (last.ordinal, last.timestamp) == place.sequence else 0
            before = max([acknowledged, *(each for each in unacknowledged(transfer) if each < place.number)])
            previous = SequenceInfo(place.ordinal, place.timestamp, place.number, before)
            return Sent(previous, known[1].times if known else 1)
        return Sent(self.next_place(transfer))

    def next_place(self, transfer: Transfer) -> SequenceInfo:
        """Return the place of the next message, in the first sequence if there was none yet (MS-MQQB 3.1.1.3.1)."""
        if not transfer.ordinal:
            transfer.ordinal, transfer.timestamp = 1, self.manager.next_timestamp()
        return transfer.next_place

    def sent(self, queue: Queue, transfer: Transfer, position: Position, sent: Sent) -> None:
        """Note that a message was transferred: it is locked until its acknowledgment."""
        position.state = State.LOCKED
        sent.times += 1
        transfer.flight[position.row] = (position, sent)
        if sent.place is None:
            return
        if sent.place.number not in transfer.numbered:
            transfer.number = max(transfer.number, sent.place.number + 1)
            self.remember(position, sent.place)
        transfer.numbered[sent.place.number] = (position, sent)
        if sent.place.number == transfer.number - 1:
            transfer.last_times = sent.times
        transfer.resend_time = self.manager.clock.now_ms() // 1000 + RESEND_SECONDS[transfer.resend_index]

    def remember(self, position: Position, place: SequenceInfo) -> None:
        """Keep the place of a message in its sequence, which survives the process."""
        message = position.message
        said = [place.ordinal, place.timestamp, place.number, place.previous]
        message.carried = {**(message.carried or {}), "place": said}
        self.manager.delivery.keep(position)

    # The acknowledgments.

    def acknowledge(self, queue: Queue, params: dict[str, Json]) -> None:
        """Take an acknowledgment. Raises MqError without a session, and if the kind lacks its member."""
        transfer = self.of(queue)
        if not transfer.session:
            raise MqError(MQ_ERROR_QUEUE_NOT_ACTIVE)
        try:
            if params["kind"] == "session":
                self.stored(queue, transfer, params["count"])
            elif params["kind"] == "order":
                self.ordered(queue, transfer, params["sequence_number"])
            else:
                self.final(transfer, params["identifier"], params["class"])
        except KeyError:
            raise MqError(MQ_ERROR_INVALID_PARAMETER) from None
        self.save(queue)

    def stored(self, queue: Queue, transfer: Transfer, count: int) -> None:
        """Receive a SessionAck for `count` messages more (MS-MQQB 3.1.5.5)."""
        waiting = [each for each in transfer.flight.values() if not each[1].stored]
        for position, sent in waiting[:count]:
            sent.stored = True
            if sent.place is None:
                del transfer.flight[position.row]
                self.manager.outgoing.transferred(position)

    def ordered(self, queue: Queue, transfer: Transfer, number: int) -> None:
        """Receive an OrderAck up to this number (MS-MQQB 3.1.5.6)."""
        transfer.last_ack_time = self.manager.clock.now_ms() // 1000
        self.count_order(transfer, number)
        for each in [each for each in transfer.numbered if each <= number]:
            position, _ = transfer.numbered.pop(each)
            transfer.flight.pop(position.row, None)
            self.delivered(queue, transfer, position)
        if unacknowledged(transfer):
            transfer.resend_index = min(transfer.resend_index + 1, len(RESEND_SECONDS) - 1)
            return
        transfer.numbered.clear()
        transfer.resend_index = transfer.resend_time = 0
        if transfer.number > 1:
            self.new_sequence(transfer)

    def count_order(self, transfer: Transfer, number: int) -> None:
        """Note the last order acknowledgment, and how often it has come (MS-MQDMPR 3.1.1.4)."""
        last = transfer.last_ack
        present = (transfer.ordinal, transfer.timestamp)
        if last is not None and number == last.number and (number not in transfer.numbered):
            transfer.last_ack_count += 1
        elif number in transfer.numbered:
            transfer.last_ack = SequenceInfo(*present, number, number - 1)
            transfer.last_ack_count = 1

    def new_sequence(self, transfer: Transfer) -> None:
        """Begin another sequence, since all of the last one is acknowledged (MS-MQQB 3.1.1.5)."""
        transfer.ordinal += 1
        transfer.number = 1

    def delivered(self, queue: Queue, transfer: Transfer, position: Position) -> None:
        """Remove a message that its destination has; one with source journaling awaits its final acknowledgment."""
        fields = position.message.fields
        self.manager.delivery.remove(position)
        if fields["positive_journaling"] or fields["negative_journaling"]:
            self.await_final(queue, transfer, position)

    def await_final(self, queue: Queue, transfer: Transfer, position: Position) -> None:
        """Keep a message that has left its queue until its final acknowledgment; the store keeps it too."""
        message = position.message
        message.carried = {**(message.carried or {}), _UNREAD: True}
        transfer.unread[_identity(message)] = position
        self.manager.store.put_message(
            MessageRow(
                position.row,
                queue.id,
                position.lookup,
                position.key,
                position.arrival,
                message.size,
                message.sent_ms,
                None,
                message.transactional,
                message.fields,
                message.carried,
            )
        )

    def final(self, transfer: Transfer, identifier: dict[str, Json], message_class: int) -> None:
        """Receive a FinalAck: the message was received, or it was not (MS-MQQB 3.1.5.7)."""
        position = transfer.unread.pop((identifier["source"].lower(), identifier["ordinal"]), None)
        if position is None:
            return
        self.manager.store.drop_message(position.row)
        message = position.message
        message.carried = None
        if message_class == RECEIVED:
            if message.fields["positive_journaling"]:
                self.manager.delivery.copy(self.manager.queues.system("journal"), message)
        else:
            self.manager.delivery.dead_letter(message)

    # What survives the process.

    def save(self, queue: Queue) -> None:
        """Store the sequence of the queue, if it has begun one."""
        if queue.transfer is not None and queue.transfer.ordinal:
            saved = queue.transfer.saved()
            if saved != queue.properties:
                queue.properties = saved
                self.manager.store.put_queue(QueueRow(queue.id, queue.kind, queue.path, queue.number, saved))

    def recover(self, position: Position) -> bool:
        """Take back a stored message: return true if it awaits its final acknowledgment, and so is in no queue."""
        carried = position.message.carried
        if not carried or position.queue.kind != "outgoing":
            return False
        transfer = self.of(position.queue)
        if _UNREAD in carried:
            position.state = State.DELETED
            transfer.unread[_identity(position.message)] = position
            return True
        if "place" in carried:
            place = SequenceInfo(*carried["place"])
            transfer.numbered[place.number] = (position, Sent(place, 1))
        return False


class _Placed(Sequence):
    """The sequence of one message, which has its place in it already."""

    def __init__(self, manager: Manager, place: SequenceInfo | None) -> None:
        super().__init__(manager)
        if place is not None:
            self.identifier = {"ordinal": place.ordinal, "timestamp": place.timestamp}
            self.previous = place.previous
            self._number = place.number

    def next(self) -> int:
        """Return the number of the message."""
        return self._number


def unacknowledged(transfer: Transfer) -> list[int]:
    """Return the numbers that have no order acknowledgment, of messages that are still there, in order."""
    return sorted(number for number, (position, _) in transfer.numbered.items() if position.state is not State.DELETED)


def hop(address: str) -> str:
    """Return an address as an element of the next hops (MS-MQMQ 2.3.12.12)."""
    return f"IPv6={address}" if ":" in address else f"IP={address}"


def _identity(message: Message) -> tuple[str, int]:
    identifier = message.fields["identifier"]
    return identifier["source"].lower(), identifier["ordinal"]
