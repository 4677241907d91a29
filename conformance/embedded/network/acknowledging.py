"""Answer pings, and make administration, order and final acknowledgments, and reports (MS-MQQB 3.1.7.15)."""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from conformance.embedded.delivery import INSECURE
from conformance.embedded.entities import INFINITE
from conformance.embedded.network import codec as net
from conformance.embedded.network.codec import FinalAckBody, OrderAckBody, Ping
from conformance.embedded.network.settings import Timer
from conformance.embedded.packet_layout import Malformed

if TYPE_CHECKING:
    from conformance.embedded.network.node import Node
    from conformance.embedded.network.sender import Route
    from conformance.embedded.network.session import Session

Address = tuple[str, int]


class Pings:
    """The UDP port. send: sends a datagram to an address."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.send: Callable[[bytes, Address], None] = lambda data, address: None
        self.cookie = 0
        self._waiting: dict[int, tuple[Timer, Callable[[bool], None]]] = {}

    def datagram(self, data: bytes, address: Address) -> None:
        """Take a datagram. One that is no ping, or carries another signature, is ignored."""
        try:
            ping = self.node.codec.read_ping(data)
        except Malformed:
            return
        if not self.signed(ping):
            return
        waiting = self._waiting.pop(ping.cookie, None) if ping.manager != self.node.guid else None
        if waiting is not None and ping.cookie == self.cookie:
            timer, done = waiting
            timer.stop()
            done(not ping.flags & net.PING_REFUSED)
        elif waiting is None:
            self.answer(ping, address)

    def signed(self, ping: Ping) -> bool:
        """Return true for the signature of a ping."""
        return ping.signature == net.PING_SIGNATURE

    def answer(self, ping: Ping, address: Address) -> None:
        """Receive Ping Request (3.1.7.7)."""
        self.send(self.node.codec.ping(self.response(ping)), self.response_address(address))

    def response(self, ping: Ping) -> Ping:
        """Return the response to a request."""
        refused = net.PING_REFUSED if self.node.full() else 0
        return Ping(ping.flags & net.PING_CLIENT | refused, ping.cookie, self.node.guid)

    def response_address(self, address: Address) -> Address:
        """Return where a response goes: to where the request came from (2.1.2)."""
        return address

    def request(self, address: Address, done: Callable[[bool], None]) -> None:
        """Send Ping Request (3.1.7.6). done: called with whether a session would be accepted, now or in a second."""
        self.cookie = self.cookie + 1 & 0xFFFFFFFF
        cookie = self.cookie

        def over() -> None:
            self._waiting.pop(cookie, None)
            done(False)

        timer = Timer(self.node.scheduler, self.node.guarded(over))
        self._waiting[cookie] = (timer, done)
        timer.start(self.node.durations.fixed("ping-response"))
        self.send(self.node.codec.ping(Ping(0, cookie, self.node.guid)), address)


Json = Any
_POSITIVE = frozenset({net.ACK_REACH_QUEUE, net.ACK_RECEIVE})
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
VT_LPWSTR = 0x1F


class Acknowledging:
    """Makes the messages that answer a message, and gives them to the queue manager to send."""

    def __init__(self, node: Node, *, insecure: bool) -> None:
        self.node = node
        self.insecure = insecure  # SendInsecureNacks

    # Administration acknowledgments.

    def administration(self, session: Session | None, read: dict[str, Json], kind: int, remote: bytes = b"") -> None:
        """Send Administration Acknowledgment (3.1.7.15).

        remote: the queue manager that the message came from, for one whose session is not known.
        """
        name = self.administration_queue(read)
        if name is None or not self.permitted(kind):
            return
        self.node.post(name, self.administration_message(read, kind), session.remote if session else remote)

    def administration_queue(self, read: dict[str, Json]) -> str | None:
        """DestinationForAck: the administration queue of the message; None if it names none."""
        name = read.get("administration_queue")
        return str(name) if name else None

    def permitted(self, kind: int) -> bool:
        """Return true unless the class tells of queues and rights, and such acknowledgments are not sent."""
        return self.insecure or kind not in INSECURE

    def administration_message(self, read: dict[str, Json], kind: int) -> dict[str, Json]:
        """Return the acknowledgment of a message."""
        made = self.plain(kind)
        made |= {
            "correlation_identifier": self.correlation(read),
            "response_queue": self.response_queue(read),
            "delivery": self.delivery(read),
            "body": self.returned_body(read, kind),
        }
        if made["body"]:
            made["body_type"] = read.get("body_type", 0)
        return made

    def plain(self, kind: int) -> dict[str, Json]:
        """Return a message that never expires, asks for nothing, and is not signed or encrypted."""
        return {"class": kind, "time_to_reach_queue": INFINITE, "time_to_be_received": INFINITE, "priority": 3}

    def correlation(self, read: dict[str, Json]) -> str:
        """CorrelationID: the MessageIdentifier of the message that is acknowledged."""
        identifier = read["identifier"]
        data = uuid.UUID(identifier["source"]).bytes_le + int(identifier["ordinal"]).to_bytes(4, "little")
        return base64.b64encode(data).decode("ascii")

    def response_queue(self, read: dict[str, Json]) -> str:
        """ResponseQueue: the queue that the message was sent to."""
        return str(read["destination"])

    def delivery(self, read: dict[str, Json]) -> str:
        """Return how the acknowledgment is delivered: as the message was."""
        return str(read["delivery"])

    def returned_body(self, read: dict[str, Json], kind: int) -> str:
        """Return the body of a message that is rejected; nothing for a positive acknowledgment or a secret body."""
        return "" if kind in _POSITIVE or read.get("encrypted") else str(read["body"])

    # Transactional acknowledgments.

    def order(self, session: Session, sequence: str) -> None:
        """Send an OrderAck for what was accepted of a sequence; nothing was if its number is 0."""
        state = self.node.sequences.of(sequence)
        if state.number:
            body = self.node.codec.order_body(self.order_body(state.identifier, state.number))
            message = {**self.transactional(net.ORDER_ACK, body), "delivery": self.order_delivery()}
            self.to_order_queue(message, session.remote, session.link.address, direct=session.direct)

    def order_body(self, identifier: int, number: int) -> OrderAckBody:
        """Return the body of an OrderAck."""
        return OrderAckBody(identifier, number, number - 1)

    def order_delivery(self) -> str:
        """Return how an OrderAck is delivered (2.2.4)."""
        return "express"

    def final(self, session: Session, read: dict[str, Json], kind: int) -> None:
        """Send a negative FinalAck of a message that has just come."""
        self.final_to(read, kind, session.remote, session.link.address, direct=session.direct)

    def final_to(self, read: dict[str, Json], kind: int, remote: bytes, address: str, *, direct: bool) -> None:
        """Send a FinalAck to a queue manager."""
        body = self.node.codec.final_body(self.final_body(read))
        self.to_order_queue(self.transactional(kind, body), remote, address, direct=direct)

    def final_body(self, read: dict[str, Json]) -> FinalAckBody:
        """Return the body of a FinalAck: what the message says of itself."""
        given = read["transaction"]
        sequence = given["sequence_identifier"]["timestamp"] << 32 | given["sequence_identifier"]["ordinal"]
        return FinalAckBody(
            sequence,
            given["sequence_number"],
            given["previous_sequence_number"],
            uuid.UUID(read["identifier"]["source"]).bytes_le,
            read["identifier"]["ordinal"],
        )

    def transactional(self, kind: int, body: bytes) -> dict[str, Json]:
        """Return a transactional acknowledgment (3.1.7.17)."""
        return {
            **self.plain(kind),
            "priority": 0,
            "delivery": "recoverable",
            "label": net.LABEL,
            "body": base64.b64encode(body).decode("ascii"),
            "body_type": 0,
        }

    def to_order_queue(self, message: dict[str, Json], remote: bytes, address: str, *, direct: bool) -> None:
        """Send a transactional acknowledgment to the order queue of a queue manager."""
        self.node.post(self.order_queue(remote, address, direct=direct), message, remote)

    def route(self, name: str, message: dict[str, Json], remote: bytes) -> Route | None:
        """Return the route for a message to a queue. remote: the queue manager that caused it."""
        return self.node.route_to(name, remote)

    def order_queue(self, remote: bytes, address: str, *, direct: bool) -> str:
        """DestinationForAck (3.1.7.17)."""
        if direct:
            return f"DIRECT=TCP:{address}\\PRIVATE$\\{net.ORDER_QUEUE}"
        return f"PRIVATE={uuid.UUID(bytes_le=remote)}\\{net.ORDER_QUEUE_NUMBER:08x}"

    # Reports.

    def report(self, session: Session, read: dict[str, Json], next_hop: str | None = None) -> None:
        """Send a report of a traced message (3.1.5.8.9; 3.1.7.1.7 with the address of the next hop)."""
        self.node.post(self.report_queue(read), self.report_message(read, next_hop), session.remote)

    def report_queue(self, read: dict[str, Json]) -> str:
        """Return the queue that DebugHeader names."""
        return f"PUBLIC={read['trace_queue']}"

    def report_message(self, read: dict[str, Json], next_hop: str | None) -> dict[str, Json]:
        """Return the report of a message."""
        return {
            **self.plain(net.REPORT),
            "delivery": "express",
            "label": self.report_label(read),
            "body": base64.b64encode(self.report_body(read, next_hop).encode("utf-16-le")).decode("ascii"),
            "body_type": VT_LPWSTR,
        }

    def report_label(self, read: dict[str, Json]) -> str:
        """Return the label of a report."""
        source, number, hops = read["identifier"]["source"], read["identifier"]["ordinal"], read.get("hop_count", 0)
        return f"{source[:4].upper()}:{number:08X}:{hops:02X} received by {source.upper()} at {self.time_date()}"

    def report_body(self, read: dict[str, Json], next_hop: str | None) -> str:
        """Return the body of a report."""
        number, hops = read["identifier"]["ordinal"], read.get("hop_count", 0)
        lines = [f"<MESSAGE ID>{number:08X}</MESSAGE ID>", f"<TARGET QUEUE>{read['destination']}</TARGET QUEUE>"]
        if next_hop is not None:
            lines += [f"<NEXT HOP>{next_hop}</NEXT HOP>", f"<HOP COUNT>{hops:02X} </HOP COUNT>"]
        return "".join(f"{line}\r\n" for line in lines)

    def time_date(self) -> str:
        """Return the time as a report has it, such as `10:05:00 AM Fri,Nov 27 26`."""
        now = time.gmtime(self.node.now())
        hour = f"{now.tm_hour % 12 or 12:02}:{now.tm_min:02}:{now.tm_sec:02} {'AM' if now.tm_hour < 12 else 'PM'}"
        date = f"{_DAYS[now.tm_wday]},{_MONTHS[now.tm_mon - 1]} {now.tm_mday:02} {now.tm_year % 100:02}"
        return f"{hour} {date}"
