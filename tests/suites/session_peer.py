"""A queue manager that speaks MS-MQQB in virtual time, to test the suite `sessions`, with defects by name.

It is a driver (`python:session_peer:Peer`) and its queue manager in one; `defects` makes it wrong.
"""

from __future__ import annotations

import base64
import heapq
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import UUID

from conformance.wire import Packet, dissect, encode, frame_length, patch

OWN = "6b1d0f3a-3c1e-4c56-9a8e-0d5b1f2e3c4d"
NULL = str(UUID(int=0))
TIMEOUT = 0xC00E001B
EPOCH_MS = 1_800_000_000_000
RETRY_MS, ORDER_MS, ACK_WAIT_MS = 500, 500, 2000
EXPRESS_MS, RESEND_MS, HISTORY_MS = 800, 2000, 4000
EC, CP, UH, MP, TX, SE = (
    f"{name}."
    for name in (
        "EstablishConnectionHeader", "ConnectionParametersHeader", "UserHeader", "MessagePropertiesHeader",
        "TransactionHeader", "SessionHeader",
    )
)  # fmt: skip
QUEUES = {
    "mqconform-plain": {"consumes": 1000},
    "mqconform-transactional": {"transactional": True, "consumes": 1000},
    "mqconform-journal": {},
    "mqconform-authenticated": {"authenticated": True},
    "mqconform-private": {"private": True},
}

FLOOD = encode("SessionAck", {})[:8] + (16).to_bytes(4, "little") + b"\xff" * 4
"""A packet of the smallest size."""


_HEADERS: dict[str, dict[str, Any]] = {
    "acks-with-a-connector": {UH + "ConnectorType": OWN},
    "acks-in-a-transaction": {TX + "TxSequenceID.Ordinal": 1, TX + "TxSequenceNumber": 1},
    "acks-with-security": {"SecurityHeader.Flags.ST": 0},
    "acks-as-private": {MP + "PrivacyLevel": 1},
    "acks-with-another-hash": {MP + "HashAlgorithm": 0x8003},
    "acks-with-another-cipher": {MP + "EncryptionAlgorithm": 0x6602},
}
"""What acknowledgments should not have."""

_RESERVED = re.compile(r"\.(Reserved|X\d+)$")
"""Fields that mean nothing."""

Made = Callable[[dict[str, Any]], bytes | None]
"""Makes a packet with a SessionHeader, which is empty mostly; None for a message whose time is over."""


@dataclass(eq=False)
class Link:
    """A connection. outgoing: this end has made it."""

    name: str
    outgoing: bool = False
    state: str = "waiting-ec"
    inbound: bytes = b""
    outbox: list[tuple[int, bytes]] = field(default_factory=list)
    closed: bool = False
    gone: bool = False
    received: int = 0
    kept: int = 0
    acknowledged: int = 0
    kept_acknowledged: int = 0
    flags: int = 0
    sent: int = 0
    sent_kept: int = 0
    due: int = 0
    times: tuple[int, int] = (500, 20000)
    under_way: list[tuple[Made, bool]] = field(default_factory=list)
    ack_seen: bool = False
    window: int = 64
    begun: int = 0


class Peer:
    """The driver. defects: what it does wrong."""

    def __init__(self, state_dir: str = "") -> None:
        self.defects: set[str] = set()
        self.now = 1_000
        self.events: list[tuple[int, int, Any]] = []
        self.order = count()
        self.links: dict[str, Link] = {}
        self.knocking: list[Link] = []
        self.waiting: list[tuple[Made, bool]] = []
        self.out: Link | None = None
        self.connecting = False
        self.history: dict[int, int] = {}
        self.outgoing: tuple[int, int, int] = (0, 0, 0)
        self.unordered: list[tuple[tuple[int, int, int], dict[str, Any]]] = []
        self.of_link: Link | None = None
        self.of_source = NULL
        self.direct = self.direct_last = False
        self.sequence = (0, 0)
        self.numbered = 0
        self.next_id = 900
        self.order_due = False

    # --- The driver

    def handle(self, method: str, params: dict[str, Any], reply: Any, pending: Any) -> None:
        reply(getattr(self, method.replace(".", "_"))(params))

    def hello(self, params: dict[str, Any]) -> dict[str, Any]:
        names = ["about", "open", "send", "received", "close", "ping"]
        return {
            "status": 0, "protocol": "1.2", "name": "peer", "version": "1", "profile": "msmq-4.0", "computer": "PEER",
            "facets": {"manager": ["hello", "stop", "reset"], "sessions": names}, "clock": "real",
        }  # fmt: skip

    def stop(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"status": 0}

    def reset(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"status": 0}

    def sessions_about(self, params: dict[str, Any]) -> dict[str, Any]:
        return {
            "status": 0, "host": "127.0.0.1", "listener": "127.0.0.2",
            "queues": [f"private$\\{name}" for name in QUEUES],
            "timers_ms": {
                "session-retry-connect": RETRY_MS, "session-ack-wait": ACK_WAIT_MS, "session-ack-send": EXPRESS_MS,
                "transactional-ack-wait": RESEND_MS, "message-id-history-cleanup": HISTORY_MS,
            },
            "replies": ["mqconform-transactional"],
            "consumes_ms": {name: one["consumes"] for name, one in QUEUES.items() if "consumes" in one},
            "max_message_ms": 60_000, "packets": "malformed", "now_ms": EPOCH_MS + self.now,
        }  # fmt: skip

    def sessions_open(self, params: dict[str, Any]) -> dict[str, Any]:
        if params["role"] == "initiator":
            if self.has("does-not-listen"):
                return {"status": TIMEOUT}
            link = Link(f"S{len(self.links) + 1}")
        else:
            self.run(self.now + params["deadline_ms"], lambda: bool(self.knocking))
            if not self.knocking:
                return {"status": TIMEOUT}
            link = self.knocking.pop(0)
        self.links[link.name] = link
        ends = ("127.0.0.2:50000", "127.0.0.1:1801") if not link.outgoing else ("127.0.0.2:1801", "127.0.0.1:50001")
        pings = {"pings": 0} if params.get("ping") and not self.has("hears-no-pings") else {}
        return {"status": 0, "session": link.name, "local": ends[0], "remote": ends[1], **pings}

    def sessions_send(self, params: dict[str, Any]) -> dict[str, Any]:
        link, at = self.links[params["session"]], self.now
        if not link.closed:
            self.take(link, base64.b64decode(params["bytes"]))
        return {"status": 0, "at_ms": at}

    def sessions_received(self, params: dict[str, Any]) -> dict[str, Any]:
        link = self.links[params["session"]]
        if self.has("floods"):
            link.outbox += [(self.now, FLOOD)] * 200
        if self.has("drips"):
            self.run(self.now + 40, lambda: False)
            link.outbox.append((self.now, encode("SessionAck", {})))
        self.run(self.now + params["wait_ms"], lambda: bool(link.outbox) or link.closed)
        packets = [{"bytes": base64.b64encode(data).decode(), "at_ms": at} for at, data in link.outbox]
        link.outbox.clear()
        return {"status": 0, "packets": packets, "ended": "closed" if link.closed else None}

    def sessions_close(self, params: dict[str, Any]) -> dict[str, Any]:
        link = self.links[params["session"]]
        link.gone = link.closed = True
        self.lost(link)
        return {"status": 0}

    def sessions_ping(self, params: dict[str, Any]) -> dict[str, Any]:
        packet = dissect(base64.b64decode(params["bytes"]), transport="udp")
        signed = packet.fields.get("Ping.Signature") == 0x5548 or self.has("answers-any-datagram")
        odd = packet.fields.get("Ping.Flags.X") and self.has("minds-unused-ping-bits")
        self.now += 1
        if not signed or odd or self.has("answers-no-ping"):
            return {"status": 0, "answers": []}
        manager = NULL[:-1] + "9" if self.has("pings-as-another") else OWN
        values = {
            "Ping.Cookie": int(packet.fields["Ping.Cookie"]) + self.has("wrong-cookie"),
            "Ping.Flags.RC": int(packet.fields["Ping.Flags.RC"]) ^ self.has("wrong-rc"),
            "Ping.Flags.RF": int(self.has("refuses-pings")),
            "Ping.QMGuid": manager,
        }
        answer = encode("Ping", values)
        return {"status": 0, "answers": [{"bytes": base64.b64encode(answer).decode(), "at_ms": self.now}]}

    # --- Time

    def has(self, defect: str) -> bool:
        return defect in self.defects

    def at(self, ms: int, do: Any) -> None:
        heapq.heappush(self.events, (self.now + ms, next(self.order), do))

    def run(self, until: int, done: Any) -> None:
        while not done():
            if not self.events or self.events[0][0] > until:
                self.now = until
                return
            when, _, do = heapq.heappop(self.events)
            self.now = max(self.now, when)
            do()

    # --- Packets in

    def take(self, link: Link, data: bytes) -> None:
        link.inbound += data
        while len(link.inbound) >= 16 and not link.closed:
            head = frame_length(link.inbound[:16])
            if head.trouble is not None:
                link.inbound = b""
                self.close(link, "stays-on-a-wrong-signature")
                return
            length = next((one for one in sorted(head.lengths, reverse=True) if one <= len(link.inbound)), None)
            if length is None:
                return
            raw, link.inbound = link.inbound[:length], link.inbound[length:]
            self.packet(link, dissect(raw))

    def packet(self, link: Link, packet: Packet) -> None:
        if packet.kind == "Malformed":
            return self.close(link, "stays-on-an-unknown-type")
        if not packet.whole:
            return self.close(link, "stays-on-malformed")
        expected = {
            "waiting-ec": "EstablishConnection", "waiting-ecr": "EstablishConnection",
            "waiting-cp": "ConnectionParameters", "waiting-cpr": "ConnectionParameters",
        }.get(link.state)  # fmt: skip
        if expected is not None and packet.kind != expected:
            return self.close(link, f"takes-{packet.kind}-early")
        if expected is None and packet.kind in ("EstablishConnection", "ConnectionParameters"):
            return self.close(link, f"takes-{packet.kind}-late")
        if expected is not None:
            return self.opening(link, packet)
        if packet.kind == "SessionAck" and self.has("closes-late"):
            self.at(400, lambda: self.close(link))
        if packet.kind == "SessionAck":
            return self.header(link, packet)
        if packet.kind == "UserMessage":
            return self.message(link, packet)
        link.received += 1
        if packet.kind == "OrderAck":
            self.ordered(packet)
        if self.has("minds-reserved") and any(packet.fields.get("OrderAckBody.Reserved", b"")):
            self.close(link)
        return None

    def opening(self, link: Link, packet: Packet) -> None:
        fields = packet.fields
        if self.has("minds-reserved") and any(map(fields.get, filter(_RESERVED.search, fields))):
            return self.close(link)
        if link.state == "waiting-ec":
            strange = fields[EC + "ServerGuid"] not in (NULL, OWN) and not self.has("accepts-strangers")
            values = {
                "InternalHeader.Flags.CS": int(strange),
                EC + "ClientGuid": OWN if self.has("wrong-client-guid") else fields[EC + "ClientGuid"],
                EC + "ServerGuid": OWN,
                EC + "TimeStamp": int(fields[EC + "TimeStamp"]) ^ self.has("wrong-time-stamp"),
                EC + "OperatingSystem.RE": 0x10,
                EC + "OperatingSystem.SE": int(fields[EC + "OperatingSystem.SE"]) ^ self.has("wrong-se"),
                EC + "Padding": (b"\0" if self.has("wrong-padding") else b"\x5a") * 512,
            }
            link.state = "waiting-cp"
            if not self.has("does-not-answer"):
                self.put(link, encode("EstablishConnection", values))
        elif link.state == "waiting-cp":
            link.times = int(fields[CP + "RecoverableAckTimeout"]), int(fields[CP + "AckTimeout"])
            link.window = int(fields[CP + "WindowSize"])
            values = {
                CP + "RecoverableAckTimeout": min(link.times) if self.has("caps-times") else link.times[0],
                CP + "AckTimeout": link.times[1] + self.has("wrong-ack-timeout"),
            }
            link.state = "open"
            self.put(link, encode("ConnectionParameters", values))
            if self.has("closes-when-open"):
                self.close(link)
        elif link.state == "waiting-ecr":
            wrong = fields["InternalHeader.Flags.CS"] or fields[EC + "ClientGuid"] != OWN
            if wrong and not self.has("goes-on-when-refused"):
                return self.close(link)
            link.state = "waiting-cpr"
            trip = min(120_000, max(500, 8 * (self.now - int(fields[EC + "TimeStamp"]))))
            self.put(link, encode("ConnectionParameters", {CP + "RecoverableAckTimeout": trip}))
        else:
            link.state = "open"
            self.flush()
        return None

    def header(self, link: Link, packet: Packet) -> None:
        fields = packet.fields
        counts = (fields[SE + "UserMsgSequenceNumber"], fields[SE + "RecoverableMsgSeqNumber"])
        kept = counts[1] if self.has("minds-no-recoverable-counts") else link.kept
        if counts != (link.received, kept):
            return self.close(link, "stays-on-a-miscount")
        acknowledged = int(fields[SE + "AckSequenceNumber"]) - (link.sent - len(link.under_way))
        del link.under_way[: max(0, acknowledged)]
        link.ack_seen = True
        if link is self.out:
            self.flush()
        return None

    def message(self, link: Link, packet: Packet) -> None:
        fields = packet.fields
        transactional = bool(fields[UH + "Flags.TH"])
        number = int(fields[UH + "MessageID"])
        looked = self.has("forgets-by-timer") and self.history.get(number, 0) // HISTORY_MS < self.now // HISTORY_MS
        if not transactional and number in self.history and not looked and not self.has("takes-duplicates"):
            link.received += self.has("counts-duplicates")
            return
        self.history[number] = self.now
        link.received += 1
        kept = bool(fields[UH + "Flags.DM"])
        if kept:
            if link.kept - link.kept_acknowledged >= 32 and not self.has("never-at-once"):
                self.acknowledge(link)
            link.kept += 1
            first = not link.flags and not (link.due and self.has("waits-for-express"))
            link.flags |= 1 << max(0, link.kept - link.kept_acknowledged - 1)
            if first:
                link.begun, link.due = self.now, self.now + link.times[0]
                self.at(link.times[0], lambda: self.acknowledge_due(link))
        if not link.due or (self.has("restarts-the-timer") and not link.flags):
            ms = link.times[1] // 2 if self.has("waits-for-express") else min(EXPRESS_MS, link.times[1] // 2)
            link.due = self.now + ms
            self.at(ms, lambda: self.acknowledge_due(link))
        self.deliver(link, packet, transactional)
        if fields["BaseHeader.Flags.SH"]:
            self.header(link, packet)

    def deliver(self, link: Link, packet: Packet, transactional: bool) -> None:
        fields = packet.fields
        self.direct_last = fields[UH + "Flags.DQ"] == 7
        self.direct = self.direct or self.direct_last
        if fields[UH + "QueueManagerAddress"] not in (NULL, OWN):
            return self.passes(link, packet, transactional)
        if self.has("null-is-nobody") and fields[UH + "QueueManagerAddress"] == NULL:
            return None
        name = str(fields.get(UH + "DestinationQueue.DirectFormatName", "")).rpartition("\\")[2]
        queue: dict[str, Any] | None = QUEUES.get(name)
        if queue is None:
            return self.reject(packet, 0x8001 if self.has("wrong-class-of-no-queue") else 0x8000)
        if transactional != bool(queue.get("transactional")) and not self.has("takes-any-for-any-queue"):
            return self.reject(packet, 0x8009 if transactional else 0x800A)
        if fields.get("SecurityHeader.SecurityData.Signature") and not self.has("takes-wrong-signatures"):
            return self.reject(packet, 0x8006)
        if fields.get("SecurityHeader.Flags.EB") and not self.has("decrypts-anything"):
            return self.reject(packet, 0x8006 if self.has("privacy-as-signature") else 0x8007)
        if fields[MP + "PrivacyLevel"] == 9 and not self.has("minds-no-privacy-of-clear-bodies"):
            return self.reject(packet, 0x8006)
        if (queue.get("authenticated") or queue.get("private")) and not self.has("minds-no-security"):
            return None
        age = self.now_s - int(fields[UH + "SentTime"])
        late = age > int(fields["BaseHeader.TimeToReachQueue"]) or (age > 1_000 and self.has("knows-no-infinite-time"))
        late = late or (self.has("knows-no-time-left") and fields["BaseHeader.TimeToReachQueue"] != 0xFFFFFFFF)
        kept = bool(fields[UH + "Flags.DM"])
        if late and not (self.has("takes-late-messages") or (kept and self.has("takes-recoverable-late"))):
            return self.nack(packet, 0x8002, 4)
        if transactional and not self.in_order(link, packet):
            return None
        self.nack(
            packet, 0x4000 if self.has("wrong-class-of-arrival") else 0x0002, 15 if self.has("always-acks") else 1
        )
        answers = fields.get(UH + "ResponseQueue.DirectFormatName")
        if transactional and answers:
            self.reply(answers)
        if "consumes" in queue:
            taken = 0xC002 if self.has("wrong-class-of-receipt") else 0x4000
            self.at(queue["consumes"], lambda: self.removed(packet, taken, 2))
        elif fields[UH + "TimeToBeReceived"] != 0xFFFFFFFF and not self.has("never-expires"):
            self.at(int(fields[UH + "TimeToBeReceived"]) * 1000, lambda: self.removed(packet, 0xC002, 8))
        return None

    @property
    def now_s(self) -> int:
        wrong = 10_800 * (self.has("clock-ahead") - self.has("clock-behind"))
        return (EPOCH_MS + self.now) // 1000 + wrong

    def passes(self, link: Link, packet: Packet, transactional: bool) -> None:
        """Pass a message on, to whom it came from: nobody else is there."""
        fields = packet.fields
        hops = 1 if self.has("hops-begin-here") else int(fields[UH + "Flags.RC"]) + 1
        if hops > 0x1D + self.has("one-hop-too-many"):
            return self.reject(packet, 0x8000 if self.has("wrong-class-of-hops") else 0x8005)
        if transactional and self.has("orders-what-passes"):
            self.in_order(link, packet)
        last = int(fields[UH + "SentTime"]) + int(fields["BaseHeader.TimeToReachQueue"])

        def made(header: dict[str, Any]) -> bytes | None:
            late = self.now_s > last and not self.has("passes-what-is-late")
            return None if late else patch(packet, {UH + "Flags.RC": hops})

        self.send(link, made, kept=bool(fields[UH + "Flags.DM"]))
        return None

    def in_order(self, link: Link, packet: Packet) -> bool:
        fields = packet.fields
        if self.of_link is not link and self.has("sequences-of-one-session"):
            self.sequence, self.numbered = (0, 0), 0
        self.of_link, self.of_source = link, str(fields[UH + "SourceQueueManager"])
        sequence = int(fields[TX + "TxSequenceID.TimeStamp"]), int(fields[TX + "TxSequenceID.Ordinal"])
        number, before = int(fields[TX + "TxSequenceNumber"]), int(fields[TX + "PreviousTxSequenceNumber"])
        same = sequence == self.sequence and number > self.numbered and before <= self.numbered
        same = same and not (self.has("minds-wide-bridges") and before < self.numbered)
        newer = sequence > self.sequence and before == 0 and not (number > 1 and self.has("begins-with-1-alone"))
        accepted = same or newer or self.has("takes-any-order")
        if accepted:
            self.sequence, self.numbered = sequence, number
        again = not accepted and self.has("orders-no-repetition")
        if not self.order_due and not again and not self.has("never-orders"):
            self.order_due = True
            self.at(50 if self.has("orders-too-soon") else ORDER_MS, self.order_ack)
        return accepted

    # --- Packets out

    def order_ack(self) -> None:
        self.order_due = False
        if not self.numbered:
            return
        values = self.system() | {
            "OrderAckBody.TxSequenceID.TimeStamp": self.sequence[0],
            "OrderAckBody.TxSequenceID.Ordinal": self.sequence[1],
            "OrderAckBody.TxSequenceNumber": self.numbered,
            "OrderAckBody.TxPreviousSequenceNumber": self.numbered - (0 if self.has("wrong-previous-in-order") else 1),
        }
        if not (self.direct_last if self.has("last-name-decides") else self.direct):
            del values[UH + "DestinationQueue.DirectFormatName"]
            values |= {UH + "Flags.DQ": 3, UH + "DestinationQueue.PrivateQueueIdentifier": 4}
            values[UH + "QueueManagerAddress"] = self.of_source
            assert self.of_link is not None  # It is for the queue manager at the other end of this session.
            self.send(self.of_link, lambda header: encode("OrderAck", values | header), kept=False)
            return
        self.deliver_out("OrderAck", values, kept=False)

    def reply(self, queue: str) -> None:
        """Send an answer in a transaction of its own."""
        stamp, ordinal, number = self.outgoing
        if not self.unordered:
            new = not stamp or self.has("new-time-of-sequences")
            stamp, ordinal, number = (self.now_s + ordinal if new else stamp), ordinal + 1, 0
        self.outgoing = stamp, ordinal, number + 1
        values = self.system() | {
            "BaseHeader.TimeToReachQueue": 0xFFFFFFFF, UH + "Flags.DM": 1,
            UH + "DestinationQueue.DirectFormatName": queue, TX + "TxSequenceID.TimeStamp": stamp,
            TX + "TxSequenceID.Ordinal": ordinal, TX + "TxSequenceNumber": number + 1,
            TX + "PreviousTxSequenceNumber": number, TX + "Flags.FM": 1, TX + "Flags.LM": 1,
            TX + "Flags.ID": self.next_id,
        }  # fmt: skip
        if not self.unordered:
            self.at(self.resend_ms, self.resend)
        self.unordered.append((self.outgoing, values))
        self.deliver_out("UserMessage", values, kept=True)

    @property
    def resend_ms(self) -> int:
        return RESEND_MS // 10 if self.has("resends-soon") else RESEND_MS

    def resend(self) -> None:
        if self.has("never-resends"):
            return
        for _, values in self.unordered[:: -1 if self.has("resends-backwards") else 1]:
            self.deliver_out("UserMessage", values, kept=True)
        if self.unordered:
            self.at(self.resend_ms, self.resend)

    def ordered(self, packet: Packet) -> None:
        body, names = "OrderAckBody.", ("TxSequenceID.TimeStamp", "TxSequenceID.Ordinal", "TxSequenceNumber")
        stamp, ordinal, number = (int(packet.fields[body + name]) for name in names)
        if (stamp, ordinal) == self.outgoing[:2] and self.has("order-acks-for-all"):
            self.unordered.clear()
        if not self.has("takes-no-order-acks"):
            self.unordered = [one for one in self.unordered if one[0][:2] != (stamp, ordinal) or one[0][2] > number]

    def final_ack(self, packet: Packet, message_class: int) -> None:
        fields = packet.fields
        values = self.system(fields) | {
            MP + "MessageClass": message_class,
            UH + "Flags.DM": 1,
            "FinalAckBody.TxSequenceID": fields[TX + "TxSequenceID"],
            "FinalAckBody.TxSequenceNumber": fields[TX + "TxSequenceNumber"],
            "FinalAckBody.TxPreviousSequenceNumber": int(fields[TX + "TxSequenceNumber"]) - 1
            if self.has("final-bridges-nothing")
            else fields[TX + "PreviousTxSequenceNumber"],
            "FinalAckBody.SourceGUID": fields[UH + "SourceQueueManager"],
            "FinalAckBody.MessageID": fields[UH + "MessageID"],
        }
        if fields[UH + "Flags.DQ"] == 7 and not self.has("never-final"):  # no directory finds the host of another
            self.deliver_out("FinalAck", values, kept=True)

    def system(self, fields: Any = None) -> dict[str, Any]:
        self.next_id += 1
        common = {UH + "SourceQueueManager": OWN, UH + "MessageID": self.next_id}
        common[UH + "SentTime"] = self.now_s
        name = "TCP:127.0.0.2\\PRIVATE$\\order_queue$"
        return common | {UH + "Flags.DQ": 7, UH + "DestinationQueue.DirectFormatName": name}

    def reject(self, packet: Packet, message_class: int) -> None:
        if packet.fields[UH + "Flags.TH"]:
            self.final_ack(packet, message_class)
        insecure = message_class in (0x8000, 0x8006, 0x8007) and self.has("no-insecure-nacks")
        if not insecure:
            self.nack(packet, message_class, 15 if self.has("tells-of-any-rejection") else 4)

    def removed(self, packet: Packet, message_class: int, asked: int) -> None:
        self.nack(packet, message_class, asked)
        negative = bool(packet.fields[UH + "Flags.JN"]) and not self.has("minds-no-negative-journal")
        asked_for = packet.fields.get(TX + "Flags.FA") or packet.fields[UH + "Flags.JP"] or negative
        if packet.fields[UH + "Flags.TH"] and (asked_for or self.has("always-final")):
            self.final_ack(packet, message_class)

    def nack(self, packet: Packet, message_class: int, asked: int) -> None:
        fields = packet.fields
        wanted = int(fields[MP + "Flags"]) & asked or (self.has("always-acks") and message_class == 2)
        if not wanted or self.has("never-acks") or (self.has("goes-dumb") and self.next_id > 900):
            return
        lineage = UUID(NULL if self.has("wrong-correlation") else str(fields[UH + "SourceQueueManager"])).bytes_le
        self.next_id += 1
        bodiless = message_class in (2, 0x4000) or fields.get("SecurityHeader.Flags.EB") or self.has("no-body")
        values = {
            "BaseHeader.TimeToReachQueue": 0xFFFFFFFF, UH + "SourceQueueManager": OWN, UH + "MessageID": self.next_id,
            UH + "SentTime": self.now_s - 7_200 * self.has("wrong-sent-time"),
            UH + "Flags.DM": int(fields[UH + "Flags.DM"]) ^ self.has("wrong-delivery"), UH + "Flags.DQ": 7,
            UH + "DestinationQueue.DirectFormatName": fields[UH + "AdminQueue.DirectFormatName"],
            UH + "Flags.RQ": int(fields[UH + "Flags.DQ"]), MP + "MessageClass": message_class,
            MP + "CorrelationID": lineage + int(fields[UH + "MessageID"]).to_bytes(4, "little"),
            MP + "MessageBody": b"" if bodiless else fields[MP + "MessageBody"],
        }  # fmt: skip
        values |= next((more for defect, more in _HEADERS.items() if self.has(defect)), {})
        traced = bool(fields.get("DebugHeader.Flags.QT"))
        if message_class == 2 and self.has("reports-a-rejection" if traced else "reports-what-is-not-traced"):
            body = f"<MESSAGE ID>{int(fields[UH + 'MessageID']):08X}".encode("utf-16-le")
            report = {MP + "MessageClass": 0x8001 if traced else 1, MP + "MessageBody": body}
            self.deliver_out("UserMessage", values | report, kept=False)
        answers = fields.get(UH + "ResponseQueue.DirectFormatName")
        if answers and self.has("answers-to-the-response-queue"):
            values[UH + "DestinationQueue.DirectFormatName"] = answers
        for name in ("DirectFormatName", "PublicQueueIdentifier"):
            if UH + "DestinationQueue." + name in fields:
                values[UH + "ResponseQueue." + name] = fields[UH + "DestinationQueue." + name]
        listed = fields.get("MultiQueueFormatHeader.Destination.FormatNameList.0.DirectFormatName")
        if listed and self.has("answers-with-the-first"):
            values[UH + "ResponseQueue.DirectFormatName"] = listed
        self.deliver_out("UserMessage", values, kept=bool(values[UH + "Flags.DM"]))

    def deliver_out(self, kind: str, values: dict[str, Any], *, kept: bool) -> None:
        self.waiting.append((lambda header: encode(kind, values | header), kept))
        self.flush()

    def send(self, link: Link, made: Made, *, kept: bool) -> None:
        """Send a message, which carries what is acknowledged where three quarters of the time for it are gone."""
        link.sent += 1
        link.sent_kept += kept
        late = link.flags and self.now - link.begun > link.times[0] * 3 // 4
        flags = link.flags
        header = self.marks(link) if late else {}
        if late and self.has("carried-marks-stay"):
            link.flags, link.kept_acknowledged = flags, link.kept - flags.bit_length()
        if late and self.has("carrier-not-counted"):
            header[SE + "UserMsgSequenceNumber"] -= 1
        data = made(header)
        if data is None:
            link.sent, link.sent_kept = link.sent - 1, link.sent_kept - kept
            return
        link.under_way.append((made, kept))
        self.put(link, data)

    def flush(self) -> None:
        link = self.out
        if link is None or link.closed:
            self.connect(0)
            return
        most = 1_000 if self.has("knows-no-window") else 64
        while link.state == "open" and self.waiting and len(link.under_way) < most:
            made, kept = self.waiting.pop(0)
            self.send(link, made, kept=kept)
            link.ack_seen = False
            self.at(ACK_WAIT_MS, lambda: self.ack_wait(link))

    def ack_wait(self, link: Link) -> None:
        waits = (link.under_way and not link.ack_seen) or self.has("closes-what-is-acknowledged")
        if waits and not link.closed and not self.has("waits-for-ever"):
            self.close(link)
            self.lost(link)

    def connect(self, ms: int) -> None:
        if self.connecting or not self.waiting:
            return
        self.connecting = True
        self.at(ms, self.connected)

    def connected(self) -> None:
        self.connecting = False
        if self.has("never-connects"):
            return
        link = self.out = Link(f"S{1000 + next(self.order)}", outgoing=True, state="waiting-ecr")
        self.knocking.append(link)
        values = {
            EC + "ClientGuid": OWN, EC + "TimeStamp": self.now,
            EC + "ServerGuid": OWN if self.has("names-itself") else NULL,
            EC + "OperatingSystem.RE": 0x10, EC + "OperatingSystem.SE": int(not self.has("connects-as-after-a-ping")),
            "InternalHeader.Flags.CS": int(self.has("refuses-its-own-request")),
        }  # fmt: skip
        if not self.has("hangs-up"):
            self.put(link, encode("EstablishConnection", values))
        else:
            link.closed = True

    def lost(self, link: Link) -> None:
        if link is self.out:
            self.out = None
            self.waiting = [one for one in link.under_way if one[1]] + self.waiting
            self.connect(RETRY_MS)
        else:
            left = [one for one in link.under_way if one[1]]
            link.under_way.clear()
            self.at(5_500, lambda: self.passed_again(left))

    def passed_again(self, left: list[tuple[Made, bool]]) -> None:
        self.waiting += left
        self.flush()

    def acknowledge_due(self, link: Link) -> None:
        if link.due and self.now >= link.due and not self.has("never-acknowledges"):
            self.acknowledge(link)

    def acknowledge(self, link: Link) -> None:
        link.due = 0
        if self.has("acknowledges-nothing"):
            self.at(10_000, lambda: self.acknowledge(link))
        elif link.received == link.acknowledged:
            return
        self.put(link, encode("SessionAck", self.marks(link)))

    def marks(self, link: Link) -> dict[str, Any]:
        """Return the values of a SessionHeader, and note that all is acknowledged."""
        link.due = 0
        lowest = link.kept_acknowledged + 1 if link.flags else 0
        values = {
            SE + "AckSequenceNumber": link.received - self.has("counts-one-less"),
            SE + "RecoverableMsgAckSeqNumber": lowest + (link.flags.bit_length() - 1) * self.has("lowest-is-the-last"),
            SE + "RecoverableMsgAckFlags": link.flags & (~1 if self.has("leaves-out-the-lowest") else -1)
            & (1 if self.has("one-flag-only") else -1),
            SE + "UserMsgSequenceNumber": link.sent + self.has("counts-one-sent-more"),
            SE + "RecoverableMsgSeqNumber": link.sent_kept,
            SE + "WindowSize": max(64, link.window) if self.has("window-follows") else 64,
        }  # fmt: skip
        link.acknowledged, link.kept_acknowledged, link.flags = link.received, link.kept, 0
        return values

    def put(self, link: Link, data: bytes) -> None:
        if not link.closed and self.has("slow-line"):
            self.at(100, lambda: link.outbox.append((self.now, data)))
        elif not link.closed:
            link.outbox.append((self.now, data))

    def close(self, link: Link, unless: str = "") -> None:
        if not self.has(unless):
            link.closed = True
            self.lost(link)
