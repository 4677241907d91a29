"""What the queue manager of `session_peer` sends of itself: acknowledgments, answers, and its own connections."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from session_peer_state import ACK_WAIT_MS, EC, MP, NULL, OWN, RESEND_MS, RETRY_MS, SE, TX, UH, Link, Made, State

from conformance.wire import Packet, encode

_HEADERS: dict[str, dict[str, Any]] = {
    "acks-with-a-connector": {UH + "ConnectorType": OWN},
    "acks-in-a-transaction": {TX + "TxSequenceID.Ordinal": 1, TX + "TxSequenceNumber": 1},
    "acks-with-security": {"SecurityHeader.Flags.ST": 0},
    "acks-as-private": {MP + "PrivacyLevel": 1},
    "acks-with-another-hash": {MP + "HashAlgorithm": 0x8003},
    "acks-with-another-cipher": {MP + "EncryptionAlgorithm": 0x6602},
}
"""What acknowledgments should not have."""


class Sending(State):
    """The sender."""

    def order_ack(self) -> None:
        if self.now < self.order_at:
            self.at(self.order_at - self.now, self.order_ack)
            return
        self.order_due, self.last_order = False, self.now
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
            TX + "PreviousTxSequenceNumber": number, TX + "Flags.FM": int(not self.has("marks-no-first")),
            TX + "Flags.LM": 1,
            TX + "Flags.ID": 7 if self.has("one-transaction") else self.next_id,
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
        if self.has("any-order-ack-counts"):
            stamp, ordinal = self.outgoing[:2]
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

    def reject(self, packet: Packet, message_class: int, *, final: bool = True) -> None:
        self.rejections += 1
        unasked = self.has("finals-where-asked") and not int(packet.fields[MP + "Flags"]) & 4
        nowhere = self.has("finals-need-an-administration-queue") and not packet.fields[UH + "Flags.AQ"]
        if packet.fields[UH + "Flags.TH"] and final and not unasked and not nowhere:
            self.final_ack(packet, message_class)
        insecure = message_class in (0x8000, 0x8006, 0x8007) and self.has("no-insecure-nacks")
        if not insecure:
            self.nack(packet, message_class, 15 if self.has("tells-of-any-rejection") else 4)

    def removed(self, packet: Packet, message_class: int, asked: int) -> None:
        self.nack(packet, message_class, asked)
        negative = bool(packet.fields[UH + "Flags.JN"]) and not self.has("minds-no-negative-journal")
        asked_for = packet.fields.get(TX + "Flags.FA") or packet.fields[UH + "Flags.JP"] or negative
        if int(packet.fields[MP + "Flags"]) & 2 and self.has("one-word-of-a-receipt"):
            return
        if packet.fields[UH + "Flags.TH"] and (asked_for or self.has("always-final")):
            self.final_ack(packet, message_class)

    def nack(self, packet: Packet, message_class: int, asked: int) -> None:
        fields = packet.fields
        flags = int(fields[MP + "Flags"])
        wanted = flags & asked or (self.has("always-acks") and message_class == 2)
        wanted = wanted and not (self.has("knows-single-bits") and flags != asked)
        wanted = wanted and not (self.has("no-arrivals-with-nr") and message_class == 2 and flags & 8)
        express = not fields[UH + "Flags.DM"]
        wanted = wanted and not (self.has("no-receipts-of-express") and message_class == 0x4000 and express)
        if UH + "AdminQueue.DirectFormatName" not in fields:
            return
        full = self.out is not None and len(self.out.under_way) >= self.out.window
        if full and message_class == 0x800A and self.has("tells-of-no-rejection-when-full"):
            return
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
            MP + "MessageBody": b"" if bodiless else fields.get(MP + "MessageBody", b""),
        }  # fmt: skip
        if self.has("even-bodies"):
            values[MP + "MessageBody"] = values[MP + "MessageBody"][: len(values[MP + "MessageBody"]) & ~1]
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
        if fields[UH + "Flags.DQ"] == 3:
            values[UH + "Flags.RQ"] = 6
            values[UH + "ResponseQueue.SourceQueueManager"] = fields[UH + "QueueManagerAddress"]
            identifier = fields[UH + "DestinationQueue.PrivateQueueIdentifier"]
            values[UH + "ResponseQueue.PrivateQueueIdentifier"] = identifier
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
        link.active = True
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
        if (self.out is None or self.out.closed) and self.has("sends-on-sessions-that-exist"):
            self.out = next(
                (one for one in reversed(self.links.values()) if one.state == "open" and not one.closed), None
            )
        link = self.out
        if link is None or link.closed:
            self.connect(0)
            return
        most = 1_000 if self.has("knows-no-window") else min(64, link.window)
        while link.state == "open" and self.waiting and len(link.under_way) < most:
            made, kept = self.waiting.pop(0)
            self.send(link, made, kept=kept)
            self.wait_for_ack(link)

    def wait_for_ack(self, link: Link) -> None:
        """Start the Session Ack Wait Timer, if it has stopped (MS-MQQB 3.1.7.1.3)."""
        if not link.waits:
            link.waits = True
            self.at(ACK_WAIT_MS, lambda: self.ack_wait(link))

    def ack_wait(self, link: Link) -> None:
        link.waits = False
        if link.closed or self.has("waits-for-ever"):
            return
        if self.has("closes-what-is-acknowledged") or (link.under_way and not link.ack_seen):
            self.close(link)
            self.lost(link)
        elif link.under_way:
            self.wait_for_ack(link)
        link.ack_seen = False

    def connect(self, ms: int) -> None:
        if self.connecting or not self.waiting:
            return
        self.connecting = True
        self.again = ms > 0
        self.at(ms, self.connected)

    def connected(self) -> None:
        self.connecting = False
        if self.has("never-connects"):
            return
        link = self.out = Link(f"S{1000 + next(self.order)}", outgoing=True, state="waiting-ecr")
        self.knocking.append(link)
        pings = self.has("pings-first") and not self.again  # A retry has none.
        self.pinged += pings
        after_ping = (pings or (self.again and self.has("tells-of-an-earlier-ping"))) and not self.has(
            "forgets-its-pings"
        )
        after_ping = after_ping or self.has("connects-as-after-a-ping")
        values = {
            EC + "ClientGuid": OWN, EC + "TimeStamp": self.now,
            EC + "ServerGuid": OWN if self.has("names-itself") else NULL,
            EC + "OperatingSystem.RE": 0x10, EC + "OperatingSystem.SE": int(not after_ping),
            "InternalHeader.Flags.CS": int(self.has("refuses-its-own-request")),
        }  # fmt: skip
        if not self.has("hangs-up"):
            self.opens(link)
            self.put(link, encode("EstablishConnection", values))
        else:
            link.closed = True

    def lost(self, link: Link) -> None:
        left = [one for one in link.under_way if one[1] and not self.has("sends-no-rest-again")]
        if link is self.out:
            self.out = None
            self.waiting = left + self.waiting
            self.connect(RETRY_MS)
        else:
            link.under_way.clear()
            self.at(5_500, lambda: self.passed_again(left))

    def passed_again(self, left: list[tuple[Made, bool]]) -> None:
        self.waiting += left
        self.flush()

    def acknowledge_due(self, link: Link) -> None:
        silent = self.has("never-acknowledges") or (link.outgoing and self.has("acknowledges-on-no-session-of-its-own"))
        if link.due and self.now >= link.due and not silent:
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
