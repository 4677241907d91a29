"""One protocol session: its initialization, its counts and its acknowledgments (MS-MQQB 3.1.1.3.1, 3.1.5, 3.1.6)."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Protocol

from conformance.embedded import packet_layout as lay
from conformance.embedded.network import codec as net
from conformance.embedded.network.codec import (
    ConnectionParameters,
    EstablishConnection,
    Frames,
    Internal,
    SessionAck,
    SessionHeader,
    head,
)
from conformance.embedded.network.settings import Timer
from conformance.embedded.packet_layout import Malformed, require

if TYPE_CHECKING:
    from conformance.embedded.network.node import Node
    from conformance.embedded.network.sender import Route

COUNT = 0xFFFF  # counts of a session have 16 bits
ACK_TIMEOUT_MS = 20_000  # AckWaitTimeout (3.1.3.2, note 51)
FLAG_BITS = 32  # bits of RecoverableMsgAckFlags
MAXIMUM_ORDER_ACK_DELAY = 10.0  # seconds


class State(Enum):
    """SessionState (3.1.1.3.1). REFUSED: WAITING_CP_MSG of an acceptor that has refused the connection."""

    WAITING_EC = "WAITING_EC_MSG"
    WAITING_ECR = "WAITING_ECR_MSG"
    WAITING_CP = "WAITING_CP_MSG"
    WAITING_CPR = "WAITING_CPR_MSG"
    REFUSED = "WAITING_CP_MSG after a refusal"
    OPEN = "OPEN"
    CLOSED = "CLOSED"


class Link(Protocol):
    """The transport connection of a session. address: of the other side, as text."""

    address: str

    def send(self, data: bytes) -> None:
        """Send bytes."""

    def close(self) -> None:
        """Close the connection, behind the bytes that were sent."""


class Session:
    """A session. route: what it was opened for; None for an acceptor.

    Counts are those of the data model: `sent` is MessageSentCount, and so on. most: of the sessions that others open
    at one time; window_size: WindowSize.
    """

    most: ClassVar[int] = 64
    window_size: ClassVar[int] = 64

    def __init__(self, node: Node, link: Link, route: Route | None = None) -> None:
        self.node = node
        self.link = link
        self.route = route
        self.initiates = route is not None
        self.state = State.WAITING_EC
        self.remote = bytes(16) if route is None else route.guid
        self.frames = Frames(self.announced)
        self.sent = self.recoverable_sent = self.received = self.recoverable_received = 0
        self.last_acked = self.bits = self.unacked_received = self.sent_acked = 0
        self.window = self.received_window = self.window_size
        self.active = self.received_ack = self.direct = False
        self.ack_timeout_ms, self.recoverable_ack_timeout_ms = ACK_TIMEOUT_MS, 0xFFFFFFFF
        self.last_order_ack = node.scheduler.time()
        self.ordered: dict[str, None] = {}
        timer = self._timer
        self.initialization = timer(self.initialization_over)
        self.cleanup = timer(self.cleanup_over)
        self.ack_wait = timer(self.ack_wait_over)
        self.ack_send = timer(self.ack_send_over)
        self.order_ack = timer(self.order_ack_over)
        self.timers = [self.initialization, self.cleanup, self.ack_wait, self.ack_send, self.order_ack]

    def _timer(self, action: Callable[[], None]) -> Timer:
        return Timer(self.node.scheduler, self.node.guarded(action))

    @property
    def open(self) -> bool:
        return self.state is State.OPEN

    @property
    def takes_place(self) -> bool:
        """True for one of the `most` sessions. One that says nothing more while it is initialized keeps nobody out."""
        return self.open

    @property
    def carries(self) -> list[Route]:
        """The routes whose messages are sent on it."""
        return [each for each in self.node.routes.values() if each.session is self]

    # The connection.

    def accepted(self) -> None:
        """Handle an incoming transport connection (3.1.5.10)."""
        self.cleanup.start(self.node.durations.fixed("session-cleanup"))
        self.initialization.start(self.node.durations.fixed("session-initialization"))

    def connected(self, *, pinged: bool) -> None:
        """Send an EstablishConnection request (3.1.5.2.3)."""
        self.cleanup.start(self.node.durations.fixed("session-cleanup"))
        self.state = State.WAITING_ECR
        self.write(self.establish_request(pinged=pinged))
        self.initialization.start(self.node.durations.fixed("session-initialization"))

    def data(self, data: bytes) -> None:
        """Take bytes that arrived; an incorrect packet closes the session (3.1.5.1.2, 3.1.5.1.3)."""
        self.frames.feed(data)
        try:
            while self.state is not State.CLOSED and (packet := self.frames.next()) is not None:
                self.packet(packet)
        except Malformed:
            self.incorrect()

    def incorrect(self) -> None:
        """Close the session, in which a packet breaks the layout or is out of its turn."""
        self.close()

    def announced(self, flags: int) -> None:
        """Refuse a packet by BaseHeader.Flags, so that nothing large is held for a session that is not open."""
        require(self.open or bool(flags & lay.BASE_INTERNAL))

    def packet(self, packet: bytes) -> None:
        """Process a packet. Raises Malformed for one that closes the session."""
        self.received_ack = True
        if int.from_bytes(packet[2:4], "little") & lay.BASE_INTERNAL:
            self.internal(self.node.codec.read(packet))
        else:
            self.node.incoming.user_message(self, packet)

    def internal(self, packet: Internal) -> None:
        """Process an internal packet. Raises Malformed for one that closes the session."""
        if isinstance(packet, EstablishConnection):
            require(self.state in self.establish_states())
            if self.state is State.WAITING_ECR:
                self.establish_response(packet)
            else:
                self.answer_establish(packet)
        elif isinstance(packet, ConnectionParameters):
            require(self.state in self.parameter_states())
            if self.state is State.WAITING_CPR:
                self.parameters_response(packet)
            else:
                self.answer_parameters(packet)
        else:
            self.session_ack(packet)

    def establish_states(self) -> tuple[State, ...]:
        """The states in which an EstablishConnection packet is not out of its turn (3.1.5.3)."""
        return (State.WAITING_EC, State.WAITING_ECR)

    def parameter_states(self) -> tuple[State, ...]:
        """The states in which a ConnectionParameters packet is not out of its turn (3.1.5.4)."""
        return (State.WAITING_CP, State.WAITING_CPR)

    def session_ack(self, packet: SessionAck) -> None:
        """Receive a SessionAck packet (3.1.5.5)."""
        require(self.open)
        self.acknowledge(packet.session)
        self.validate(packet.session)

    def write(self, packet: Internal) -> None:
        """Send an internal packet."""
        self.link.send(self.node.codec.write(packet))

    # Initialization, as initiator.

    def establish_request(self, *, pinged: bool) -> EstablishConnection:
        """Return the request of 3.1.5.2.3."""
        route = self.route
        server = bytes(16) if route is None or route.direct else route.guid
        system = net.SYSTEM_RESERVED | net.SERVER_CLASS | (0 if pinged else net.NOT_PINGED)
        return EstablishConnection(
            head(net.ESTABLISH_CONNECTION), self.node.guid, server, self.node.uptime_ms(), system
        )

    def establish_response(self, packet: EstablishConnection) -> None:
        """Receive an EstablishConnection response (3.1.5.3.2)."""
        if packet.server == self.node.guid and self.route is not None:
            self.node.met_itself(self.route)
        if not self.valid_response(packet):
            self.close()
            return
        self.remote = packet.server
        self.recoverable_ack_timeout_ms = self.round_trip_timeout(packet)
        self.state = State.WAITING_CPR
        self.write(self.parameters_request())

    def valid_response(self, packet: EstablishConnection) -> bool:
        """Return true for a response that accepts. The acceptor of a direct name is whoever answers."""
        direct = self.route is None or self.route.direct
        named = packet.server not in (bytes(16), self.node.guid) if direct else packet.server == self.remote
        return packet.client == self.node.guid and named and not packet.head.refused

    def round_trip_timeout(self, packet: EstablishConnection) -> int:
        """RecoverableAckSendTimeout: eight times the round trip, within its limits."""
        trip = (self.node.uptime_ms() - packet.time_stamp) & 0xFFFFFFFF
        return max(net.LEAST_RECOVERABLE_ACK, min(8 * trip, net.MOST_ACK))

    def parameters_request(self) -> ConnectionParameters:
        """Return the request of 3.1.5.3.2."""
        return ConnectionParameters(
            head(net.CONNECTION_PARAMETERS), self.recoverable_ack_timeout_ms, self.ack_timeout_ms, self.window
        )

    def parameters_response(self, packet: ConnectionParameters) -> None:
        """Receive a ConnectionParameters response (3.1.5.4.2)."""
        self.received_window = packet.window
        self.opened()

    # Initialization, as acceptor.

    def answer_establish(self, packet: EstablishConnection) -> None:
        """Receive an EstablishConnection request (3.1.5.3.1)."""
        self.remote = packet.client
        if self.node.full():
            self.turn_away(packet)
            return
        valid = self.valid_request(packet)
        self.write(self.establish_answer(packet, refused=not valid))
        self.state = State.WAITING_CP if valid else State.REFUSED
        self.initialization.start(self.node.durations.fixed("session-initialization"))

    def turn_away(self, packet: EstablishConnection) -> None:
        """Refuse a request because there are too many sessions (2.2.1, 3.1.5.3.1)."""
        self.write(self.establish_answer(packet, refused=True))
        self.close()

    def valid_request(self, packet: EstablishConnection) -> bool:
        """Return true for a request that names this queue manager or none."""
        return packet.server in (self.node.guid, bytes(16))

    def establish_answer(self, packet: EstablishConnection, *, refused: bool) -> EstablishConnection:
        """Return the response to a request."""
        system = net.SYSTEM_RESERVED | packet.system & (net.NOT_PINGED | net.SERVER_CLASS)
        return EstablishConnection(
            head(net.ESTABLISH_CONNECTION, refused=refused),
            packet.client,
            self.node.guid,
            packet.time_stamp,
            system,
            padding=net.RESPONSE_PADDING,
        )

    def answer_parameters(self, packet: ConnectionParameters) -> None:
        """Receive a ConnectionParameters request (3.1.5.4.1)."""
        require(self.within_limits(packet))
        self.received_window = packet.window
        self.ack_timeout_ms = packet.ack_timeout
        self.recoverable_ack_timeout_ms = packet.recoverable_ack_timeout
        self.write(self.parameters_answer(packet))
        self.opened()

    def within_limits(self, packet: ConnectionParameters) -> bool:
        """Return true if both timeouts lie in their valid ranges (2.2.2.1)."""
        recoverable = net.LEAST_RECOVERABLE_ACK <= packet.recoverable_ack_timeout <= net.MOST_ACK
        return recoverable and net.LEAST_ACK <= packet.ack_timeout <= net.MOST_ACK

    def parameters_answer(self, packet: ConnectionParameters) -> ConnectionParameters:
        """Return the response to a request."""
        return ConnectionParameters(
            head(net.CONNECTION_PARAMETERS), packet.recoverable_ack_timeout, packet.ack_timeout, self.window
        )

    def opened(self) -> None:
        """The session is initialized."""
        self.initialization.stop()
        self.state = State.OPEN
        self.node.opened(self)

    # What was received.

    def count_received(self) -> None:
        """Count a user message (3.1.5.8.2)."""
        self.received = self.received + 1 & COUNT
        self.unacked_received += 1
        self.ack_send.start_if_stopped(self.node.durations.ack_send(self.ack_timeout_ms))
        self.active = True

    def count_recoverable(self) -> None:
        """Count a recoverable message and mark it for the next acknowledgment (3.1.5.8.7)."""
        if self.marked() >= FLAG_BITS:
            self.send_ack()
        first = not self.bits
        self.recoverable_received = self.recoverable_received + 1 & COUNT
        if first:
            self.ack_send.start(self.node.durations.recoverable_ack_send(self.recoverable_ack_timeout_ms))
        self.bits |= 1 << self.marked() - 1

    def marked(self) -> int:
        """The number of recoverable messages since the last acknowledgment."""
        return self.recoverable_received - self.last_acked & COUNT

    def window_is_full(self) -> bool:
        """Return true if the other side may not send more before an acknowledgment (3.1.1.6.1)."""
        return self.unacked_received >= min(self.window, self.received_window or self.window)

    def processed(self) -> None:
        """Acknowledge at once if the window is full; called when a message has been processed."""
        if self.open and self.window_is_full():
            self.send_ack()

    def owes_ack(self) -> bool:
        """Return true if something was received that is not acknowledged."""
        return bool(self.unacked_received or self.bits)

    def header(self) -> SessionHeader:
        """Return a session acknowledgment (3.1.6.4)."""
        lowest = (self.last_acked + 1 & COUNT) if self.bits else 0
        return SessionHeader(self.received, lowest, self.bits, self.sent, self.recoverable_sent, self.window)

    def acked(self) -> None:
        """Note that a session acknowledgment was made."""
        self.bits = self.unacked_received = 0
        self.last_acked = self.recoverable_received

    def send_ack(self) -> None:
        """Send a SessionAck packet; what it acknowledges is on disk by then."""
        self.node.commit()
        self.write(SessionAck(head(net.SESSION_ACK), self.header()))
        self.acked()

    def piggyback(self) -> bool:
        """Return true if a user message made now carries a SessionHeader (3.1.7.11)."""
        return self.owes_ack() and self.ack_send.elapsed > 0.75

    def header_carried(self) -> None:
        """Note that a user message carries a session acknowledgment."""
        self.acked()
        self.ack_send.start(self.node.durations.ack_send(self.ack_timeout_ms))

    # What was sent.

    def acknowledge(self, given: SessionHeader) -> None:
        """Process the acknowledgments of a SessionHeader (3.1.5.5.1 to 3.1.5.5.4)."""
        if given.received - self.sent_acked & COUNT <= self.unacked_sent:
            self.sent_acked = given.received
        carried = self.carries
        for route in carried:
            route.acknowledged(given)
        for route in carried:
            route.pump()

    def validate(self, given: SessionHeader) -> None:
        """Close the session if the other side has counted otherwise (3.1.5.5.5)."""
        if not self.counts_agree(given):
            self.close()
        elif self.unacked_sent:
            self.ack_wait.start(self.node.durations.ack_wait(self.ack_timeout_ms))

    def counts_agree(self, given: SessionHeader) -> bool:
        """Return true if a SessionHeader counts what was received."""
        return given.sent == self.received and given.recoverable_sent == self.recoverable_received

    def count_sent(self, *, recoverable: bool) -> tuple[int, int]:
        """Count a message that is sent; return its number, and its recoverable number or 0 (3.1.7.1.3)."""
        self.sent = self.sent + 1 & COUNT
        self.recoverable_sent = self.recoverable_sent + recoverable & COUNT
        self.ack_wait.start_if_stopped(self.node.durations.ack_wait(self.ack_timeout_ms))
        self.active = True
        return self.sent, self.recoverable_sent if recoverable else 0

    def send_window(self) -> int:
        """The number of messages that may be under way (3.1.7.1)."""
        return self.window

    @property
    def unacked_sent(self) -> int:
        """UnAckedMessageCount: the packets without acknowledgment, also of a message that is sent again (3.1.6.5)."""
        return self.sent - self.sent_acked & COUNT

    def may_send(self) -> bool:
        """Return true if the window has room for one more message."""
        return self.open and self.unacked_sent < self.send_window()

    # Timer events.

    def initialization_over(self) -> None:
        """Session Initialization Timer Event (3.1.6.6)."""
        self.close()

    def cleanup_over(self) -> None:
        """Session Cleanup Timer Event (3.1.6.2)."""
        if not self.active:
            self.close()
            return
        self.active = False
        self.cleanup.start(self.node.durations.fixed("session-cleanup"))

    def ack_wait_over(self) -> None:
        """Session Ack Wait Timer Event (3.1.6.3)."""
        if not self.unacked_sent:
            self.received_ack = False
        elif not self.received_ack:
            self.close()
        else:
            self.received_ack = False
            self.ack_wait.start(self.node.durations.ack_wait(self.ack_timeout_ms))

    def ack_send_over(self) -> None:
        """Session Ack Send Timer Event (3.1.6.4)."""
        if self.owes_ack():
            self.send_ack()
            self.ack_send.start(self.node.durations.ack_send(self.ack_timeout_ms))

    def schedule_order_ack(self, sequence: str) -> None:
        """Schedule an OrderAck (3.1.5.8.6). sequence: which of the incoming sequences it is for."""
        self.ordered[sequence] = None
        duration = self.node.durations.fixed("order-ack-send")
        since = self.node.scheduler.time() - self.last_order_ack
        if not self.order_ack.running or since < MAXIMUM_ORDER_ACK_DELAY:
            self.order_ack.start(duration)

    def order_ack_over(self) -> None:
        """Order Ack Send Timer Event (3.1.6.9)."""
        sequences, self.ordered = list(self.ordered), {}
        for sequence in sequences:
            self.node.acknowledging.order(self, sequence)
        self.last_order_ack = self.node.scheduler.time()

    # The end.

    def close(self) -> None:
        """Close the session (3.1.5.9): no packet tells of it."""
        if self.state is not State.CLOSED:
            self.state = State.CLOSED
            self.link.close()
            self.over()

    def disconnected(self) -> None:
        """Handle a network disconnect (3.1.7.3)."""
        if self.state is not State.CLOSED:
            self.state = State.CLOSED
            self.over()

    def over(self) -> None:
        """Stop all timers, and tell the queue manager."""
        for timer in self.timers:
            timer.stop()
        self.frames = Frames(self.announced)
        self.node.closed(self)
