"""A queue manager that speaks MS-MQQB in virtual time, to test the suite `sessions`, with defects by name.

It is a driver (`python:session_peer:Peer`) and its queue manager in one; `defects` makes it wrong.
"""

from __future__ import annotations

import base64
import re
from typing import Any

from session_peer_sending import Sending
from session_peer_state import (
    ACK_WAIT_MS,
    CP,
    EC,
    EPOCH_MS,
    EXPRESS_MS,
    HISTORY_MS,
    MOST_ORDER_MS,
    MP,
    NULL,
    OPENING_MS,
    ORDER_MS,
    OWN,
    QUEUES,
    RESEND_MS,
    RETRY_MS,
    SE,
    TIMEOUT,
    TX,
    UH,
    Link,
)

from conformance.wire import Packet, dissect, encode, frame_length, patch

FLOOD = encode("SessionAck", {})[:8] + (16).to_bytes(4, "little") + b"\xff" * 4
"""A packet of the smallest size."""
_RESERVED = re.compile(r"\.(Reserved|X\d+)$")
"""Fields that mean nothing."""


class Peer(Sending):
    """The driver, and what comes to it."""

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
            "queues": [f"private$\\{name}" for name in list(QUEUES)[: 1 if self.has("one-queue") else None]],
            "timers_ms": {
                "session-retry-connect": RETRY_MS, "session-ack-wait": ACK_WAIT_MS, "session-ack-send": EXPRESS_MS,
                "transactional-ack-wait": RESEND_MS, "message-id-history-cleanup": HISTORY_MS,
                "session-cleanup": self.cleanup_ms, "session-initialization": OPENING_MS,
            },
            "replies": ["mqconform-transactional"],
            "consumes_ms": {
                name: one["consumes"] for name, one in QUEUES.items() if "consumes" in one and name not in self.unread
            },
            "max_message_ms": 60_000, "packets": "malformed", "now_ms": EPOCH_MS + self.now,
            "ack_timeout_ms": 20_000, "window_size": 64, "server_class": True,
        }  # fmt: skip

    def sessions_open(self, params: dict[str, Any]) -> dict[str, Any]:
        if params["role"] == "initiator":
            if self.has("driver-holds-no-more-sessions"):
                return {"status": None, "failure": {"kind": "NotExpressible", "text": "No more sessions are held."}}
            if self.has("does-not-listen"):
                return {"status": TIMEOUT}
            link = Link(f"S{len(self.links) + 1}")
        else:
            self.run(self.now + params["deadline_ms"], lambda: bool(self.knocking))
            if not self.knocking:
                return {"status": TIMEOUT}
            link = self.knocking.pop(0)
        self.links[link.name] = link
        self.held.add(link.name)
        ends = ("127.0.0.2:50000", "127.0.0.1:1801") if not link.outgoing else ("127.0.0.2:1801", "127.0.0.1:50001")
        pings = {"pings": self.pinged} if params.get("ping") and not self.has("hears-no-pings") else {}
        pings |= {"last_ping_rc": self.has("pings-as-a-client")} if pings.get("pings") else {}
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
        if params["how"] != "half":
            self.held.discard(link.name)
        link.gone = link.closed = True
        self.lost(link)
        return {"status": 0}

    def sessions_ping(self, params: dict[str, Any]) -> dict[str, Any]:
        packet = dissect(base64.b64decode(params["bytes"]), transport="udp")
        signed = packet.fields.get("Ping.Signature") == 0x5548 or self.has("answers-any-datagram")
        unused = bool(packet.fields.get("Ping.Flags.X"))
        odd = unused and self.has("minds-unused-ping-bits")
        self.now += 1
        if not signed or odd or self.has("answers-no-ping"):
            return {"status": 0, "answers": []}
        manager = NULL[:-1] + "9" if self.has("pings-as-another") else OWN
        values = {
            "Ping.Cookie": int(packet.fields["Ping.Cookie"]) + self.has("wrong-cookie"),
            "Ping.Flags.RC": self.client_class(packet, unused),
            "Ping.Flags.RF": self.would_refuse(packet, unused),
            "Ping.QMGuid": manager,
        }
        answer = encode("Ping", values)
        return {"status": 0, "answers": [{"bytes": base64.b64encode(answer).decode(), "at_ms": self.now}]}

    def client_class(self, packet: Packet, unused: bool) -> int:
        """Return RC of the answer to a ping."""
        asked = int(packet.fields["Ping.Flags.RC"])
        return 0 if unused and self.has("rc-is-all-flags") else asked ^ self.has("wrong-rc")

    def would_refuse(self, packet: Packet, unused: bool) -> int:
        """Return RF of the answer to a ping."""
        asked = packet.fields["Ping.Flags.RF"] and self.has("repeats-rf")
        busy = any(not one.closed for one in self.links.values()) and self.has("refuses-pings-beside-a-session")
        busy = busy or self.has("refuses-sessions") or self.has("has-no-room")
        return int(asked or busy or self.has("refuses-pings") or (unused and self.has("refuses-unused-ping-bits")))

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
        link.ack_seen = True  # ReceivedAck, MS-MQQB 3.1.5.1
        if packet.kind == "Malformed":
            return self.close(link, "stays-on-an-unknown-type")
        if not packet.whole:
            return self.close(link, "stays-on-malformed")
        expected = {
            "waiting-ec": "EstablishConnection", "waiting-ecr": "EstablishConnection",
            "waiting-cp": "ConnectionParameters", "waiting-cpr": "ConnectionParameters",
        }.get(link.state)  # fmt: skip
        if link.refused and packet.kind == "EstablishConnection" and self.has("takes-another-when-refused"):
            link.refused, link.state = False, "waiting-ec"
            return self.opening(link, packet)
        if link.refused and packet.kind == "UserMessage" and self.has("takes-messages-when-refused"):
            return None
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
        if link.state == "waiting-ec" and self.full(link):
            return self.close(link)
        if link.state == "waiting-ec":
            link.refused = fields[EC + "ServerGuid"] not in (NULL, OWN)
            self.asked = self.asked or packet
            strange = fields[EC + "ServerGuid"] not in (NULL, OWN) and not self.has("accepts-strangers")
            strange = strange or self.has("refuses-sessions")
            values = {
                "InternalHeader.Flags.CS": int(strange),
                EC + "ClientGuid": OWN if self.has("wrong-client-guid") else fields[EC + "ClientGuid"],
                EC + "ServerGuid": OWN,
                EC + "TimeStamp": self.repeated(packet, "TimeStamp") ^ self.has("wrong-time-stamp"),
                EC + "OperatingSystem.RE": 0x10,
                EC + "OperatingSystem.SE": self.repeated(packet, "OperatingSystem.SE") ^ self.has("wrong-se"),
                EC + "Padding": (b"\0" if self.has("wrong-padding") else b"\x5a") * 512,
            }
            link.state = "waiting-cp"
            self.opens(link)
            if not self.has("does-not-answer"):
                self.put(link, encode("EstablishConnection", values))
        elif link.state == "waiting-cp":
            self.agreed = self.agreed or packet
            of = self.agreed.fields if self.has("keeps-first-times") else fields
            link.times = int(of[CP + "RecoverableAckTimeout"]), int(of[CP + "AckTimeout"])
            link.window = int(fields[CP + "WindowSize"])
            values = {
                CP + "RecoverableAckTimeout": min(link.times) if self.has("caps-times") else link.times[0],
                CP + "AckTimeout": link.times[1] + self.has("wrong-ack-timeout"),
                CP + "WindowSize": 64 - self.has("accepts-with-another-window"),
            }
            self.opened(link)
            self.put(link, encode("ConnectionParameters", values))
            if self.has("closes-when-open"):
                self.close(link)
        elif link.state == "waiting-ecr":
            unused = bool(fields["InternalHeader.Flags.X5"]) and self.has("reads-cs-as-all-flags")
            refused = fields["InternalHeader.Flags.CS"] and not unused
            wrong = refused or fields[EC + "ClientGuid"] != OWN
            wrong = wrong and not (self.has("goes-on-when-refused-again") and self.refusals)
            self.refusals += bool(wrong)
            if wrong and not self.has("goes-on-when-refused"):
                return self.close(link)
            link.state = "waiting-cpr"
            trip = min(120_000, max(500, 8 * (self.now - int(fields[EC + "TimeStamp"]))))
            link.times = trip, 20_000
            values = {
                CP + "RecoverableAckTimeout": trip,
                CP + "AckTimeout": 20_000 + self.has("asks-for-another-timeout"),
                CP + "WindowSize": 64 - self.has("asks-for-another-window"),
            }
            self.put(link, encode("ConnectionParameters", values))
        else:
            link.window = int(fields[CP + "WindowSize"])
            self.opened(link)
            self.flush()
        return None

    def full(self, link: Link) -> bool:
        """Tell whether there is no room for a session (MS-MQQB 3.1.5.3.1)."""
        return self.has("has-no-room")

    def repeated(self, packet: Packet, field: str) -> int:
        """Return what an answer repeats of a request."""
        unused = packet.fields["InternalHeader.Flags.X5"] and self.has(f"repeats-no-{field}-beside-unused-bits")
        strange = packet.fields[EC + "ServerGuid"] not in (NULL, OWN) and self.has(f"repeats-no-{field}-when-refusing")
        of = self.asked if self.asked is not None and self.has(f"repeats-the-first-{field}") else packet
        return 0 if unused or strange else int(of.fields[EC + field])

    def header(self, link: Link, packet: Packet) -> None:
        fields = packet.fields
        counts = (fields[SE + "UserMsgSequenceNumber"], fields[SE + "RecoverableMsgSeqNumber"])
        kept = counts[1] if self.has("minds-no-recoverable-counts") else link.kept
        forgotten = link.rejected and self.has("closes-on-counts-behind-a-rejection")
        if counts != (link.received - forgotten, kept):
            return self.close(link, "stays-on-a-miscount")
        acknowledged = int(fields[SE + "AckSequenceNumber"]) - (link.sent - len(link.under_way))
        del link.under_way[: max(0, acknowledged)]
        if link is self.out:
            self.flush()
        return None

    def message(self, link: Link, packet: Packet) -> None:
        fields = packet.fields
        transactional = bool(fields[UH + "Flags.TH"])
        number = int(fields[UH + "MessageID"])
        source = NULL if self.has("knows-ordinals-alone") else str(fields[UH + "SourceQueueManager"])
        key = source, number
        looked = self.has("forgets-by-timer") and self.history.get(key, 0) // HISTORY_MS < self.now // HISTORY_MS
        plain = not transactional or self.has("ordinals-for-all-kinds")
        forgotten = self.has("knows-express-messages-of-one-session") and not fields[UH + "Flags.DM"]
        if forgotten or (self.has("knows-urgent-messages-of-one-session") and fields["BaseHeader.Flags.PR"] == 7):
            looked = looked or self.first_links.setdefault(key, link) is not link
        counted = fields.get(SE + "AckSequenceNumber") is not None and self.has("takes-duplicates-with-counts")
        if plain and key in self.history and not looked and not counted and not self.has("takes-duplicates"):
            link.received += self.has("counts-duplicates")
            return
        if not (transactional and self.has("transactions-leave-no-identifier")):
            self.history[key] = self.now
        question = self.has("counts-no-journaled-question") and fields[UH + "Flags.JP"] and fields[UH + "Flags.RQ"]
        link.received += not question
        link.active = True
        kept = bool(fields[UH + "Flags.DM"])
        if kept:
            over = link.kept - link.kept_acknowledged >= 32 and not self.has("never-at-once")
            if over:
                self.acknowledge(link)
            link.kept += 1
            first = not link.flags and not (link.due and self.has("waits-for-express"))
            first = first and not (link.due and link.acknowledged and self.has("shortens-the-first-round-only"))
            place = (
                link.received - link.acknowledged if self.has("marks-places") else link.kept - link.kept_acknowledged
            )
            if not (over and self.has("forgets-the-33rd")) and not (place > 16 and self.has("forgets-high-marks")):
                link.flags |= 1 << min(31, max(0, place - 1))
            if first:
                ms = link.times[0] + 3_000 * self.has("acknowledges-late")
                link.begun, link.due = self.now, self.now + ms
                self.at(ms, lambda: self.acknowledge_due(link))
        if not link.due or (self.has("restarts-the-timer") and not link.flags):
            slow = self.has("waits-for-express") or self.has("shortens-the-first-round-only")
            ms = link.times[1] // 2 if slow else min(EXPRESS_MS, link.times[1] // 2)
            link.due = self.now + ms
            self.at(ms, lambda: self.acknowledge_due(link))
        rejections = self.rejections
        self.deliver(link, packet, transactional)
        if self.rejections > rejections:
            kind = "transactional" if transactional else "recoverable" if kept else "express"
            link.received -= self.has(f"counts-no-rejected-{kind}")
            link.rejected = True
            if self.has("forgets-what-is-rejected"):
                del self.history[key]
        if fields[UH + "QueueManagerAddress"] not in (NULL, OWN) and self.has("passes-again"):
            del self.history[key]
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
        if int(fields[UH + "Flags.RC"]) >= 0x1D and self.has("counts-hops-of-its-own"):
            return self.reject(packet, 0x8005)
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
            return self.reject(packet, 0x8002, final=False)
        if transactional and not self.in_order(link, packet):
            return None
        self.nack(
            packet, 0x4000 if self.has("wrong-class-of-arrival") else 0x0002, 15 if self.has("always-acks") else 1
        )
        answers = fields.get(UH + "ResponseQueue.DirectFormatName")
        if transactional and answers:
            self.reply(answers)
        if "consumes" in queue and not any(queue is QUEUES[name] for name in self.unread):
            taken = 0xC002 if self.has("wrong-class-of-receipt") else 0x4000
            self.at(queue["consumes"], lambda: self.removed(packet, taken, 2))
        elif fields[UH + "TimeToBeReceived"] != 0xFFFFFFFF and not self.has("never-expires"):
            if not kept and self.has("expires-recoverable-alone"):
                return None
            self.at(int(fields[UH + "TimeToBeReceived"]) * 1000, lambda: self.removed(packet, 0xC002, 8))
        return None

    def passes(self, link: Link, packet: Packet, transactional: bool) -> None:
        """Pass a message on, to whom it came from: nobody else is there."""
        fields = packet.fields
        hops = 1 if self.has("hops-begin-here") else int(fields[UH + "Flags.RC"]) + 1
        hops -= self.has("express-hops-stay") and not fields[UH + "Flags.DM"]
        if self.has("acknowledges-what-passes"):
            self.nack(packet, 0x0002, 1)
        if hops > 0x1D + self.has("one-hop-too-many"):
            return self.reject(packet, 0x8000 if self.has("wrong-class-of-hops") else 0x8005)
        if transactional and self.has("orders-what-passes"):
            self.in_order(link, packet)
        last = int(fields[UH + "SentTime"]) + int(fields["BaseHeader.TimeToReachQueue"])

        def made(header: dict[str, Any]) -> bytes | None:
            late = self.now_s > last and not self.has("passes-what-is-late")
            if late and not self.has("hushes-on-its-way"):
                self.at(0, lambda: self.nack(packet, 0x8002, 4))
            return None if late else patch(packet, {UH + "Flags.RC": hops})

        self.send(link, made, kept=bool(fields[UH + "Flags.DM"]))
        return None

    def in_order(self, link: Link, packet: Packet) -> bool:
        fields = packet.fields
        if self.of_link is not link and self.has("sequences-of-one-session"):
            self.sequence, self.numbered = (0, 0), 0
        source = str(fields[UH + "SourceQueueManager"])
        if source != self.of_source and not self.has("one-sequence-for-all"):
            self.places[self.of_source] = self.sequence, self.numbered
            self.sequence, self.numbered = self.places.get(source, ((0, 0), 0))
        self.of_link, self.of_source = link, source
        sequence = int(fields[TX + "TxSequenceID.TimeStamp"]), int(fields[TX + "TxSequenceID.Ordinal"])
        number, before = int(fields[TX + "TxSequenceNumber"]), int(fields[TX + "PreviousTxSequenceNumber"])
        if self.has("compares-ordinals-alone"):
            sequence = 0, sequence[1]
        same = sequence == self.sequence and number > self.numbered and before <= self.numbered
        same = same and not (self.has("minds-wide-bridges") and before < self.numbered)
        newer = sequence > self.sequence and before == 0 and not (number > 1 and self.has("begins-with-1-alone"))
        newer = newer and not (number <= self.numbered and self.has("numbers-go-on-in-new-sequences"))
        old = self.numbers.get(sequence, 0)
        returns = self.has("returns-to-old-sequences") and before <= old < number and old > 0
        accepted = same or newer or returns or self.has("takes-any-order")
        if accepted:
            self.numbers[sequence] = number
        if accepted or (sequence == self.sequence and self.has("moves-on-rejection")):
            self.sequence, self.numbered = sequence, number
        again = not accepted and self.has("orders-no-repetition")
        beside = sum(not one.closed and not one.outgoing for one in self.links.values()) > 1
        never = self.has("never-orders") or (beside and self.has("never-orders-beside-another-session"))
        never = never or (link.outgoing and self.has("never-orders-on-its-own-session"))
        wait_ms = 50 if self.has("orders-too-soon") else ORDER_MS
        if not self.order_due and not again and not never:
            self.order_due, self.order_at = True, self.now + wait_ms
            self.at(wait_ms, self.order_ack)
        elif self.now - self.last_order < MOST_ORDER_MS:
            self.order_at = self.now + wait_ms
        return accepted
