"""Faults of administration acknowledgments, reports and pings (MS-MQQB 3.1.5.8, 3.1.7.1.7, 3.1.7.7, 3.1.7.15)."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded.entities import Message, Queue, Reason
from conformance.embedded.network import layout as net
from conformance.embedded.network.acknowledging import Acknowledging
from conformance.embedded.network.codec import Codec, Ping
from conformance.embedded.network.faults.base import fault
from conformance.embedded.network.incoming import Arrived, Receiver
from conformance.embedded.network.local import NetworkDelivery
from conformance.embedded.network.pings import Address, Pings
from conformance.embedded.network.security import Security

Json = Any


class _CorrelationReversed(Acknowledging):
    def correlation(self, read: dict[str, Json]) -> str:
        data = base64.b64decode(super().correlation(read))
        return base64.b64encode(data[16:] + data[:16]).decode("ascii")


class _CorrelationOwn(Acknowledging):
    def correlation(self, read: dict[str, Json]) -> str:
        data = base64.b64decode(super().correlation(read))
        return base64.b64encode(self.node.guid + data[16:]).decode("ascii")


class _Express(Acknowledging):
    def delivery(self, read: dict[str, Json]) -> str:
        return "express"


class _Recoverable(Acknowledging):
    def delivery(self, read: dict[str, Json]) -> str:
        return "recoverable"


class _Made(Acknowledging):
    """Changes administration acknowledgments."""

    members: ClassVar[dict[str, Json]] = {}

    def administration_message(self, read: dict[str, Json], kind: int) -> dict[str, Json]:
        return super().administration_message(read, kind) | self.members


class _Expires(_Made):
    members: ClassVar[dict[str, Json]] = {"time_to_be_received": 3600}


class _Late(_Made):
    members: ClassVar[dict[str, Json]] = {"time_to_reach_queue": 345_600}


class _Asks(_Made):
    members: ClassVar[dict[str, Json]] = {"acknowledgements": ["negative_arrival"]}


class _Journaled(_Made):
    members: ClassVar[dict[str, Json]] = {"negative_journaling": True}


class _Bodiless(Acknowledging):
    def returned_body(self, read: dict[str, Json], kind: int) -> str:
        return ""


class _HalfBody(Acknowledging):
    def returned_body(self, read: dict[str, Json], kind: int) -> str:
        data = base64.b64decode(super().returned_body(read, kind))
        return base64.b64encode(data[: len(data) // 2]).decode("ascii")


class _ToResponse(Acknowledging):
    def administration_queue(self, read: dict[str, Json]) -> str | None:
        found = super().administration_queue(read)
        return str(read.get("response_queue", found)) if found else None


class _ResponseAdmin(Acknowledging):
    def response_queue(self, read: dict[str, Json]) -> str:
        return str(read["administration_queue"])


class _Unasked(Receiver):
    def insert(self, arrived: Arrived) -> None:
        super().insert(arrived)
        if not arrived.asks("positive_arrival"):
            self.node.acknowledging.administration(arrived.session, arrived.read, net.ACK_REACH_QUEUE)


class _NegativeUnasked(Receiver):
    def reject(self, arrived: Arrived, reason: int) -> None:
        super().reject(arrived, reason)
        if not arrived.asks("negative_arrival"):
            self.node.acknowledging.administration(arrived.session, arrived.read, reason)


class _ArrivalAsReceive(Acknowledging):
    """Arrival is told as if it were a receive."""

    def administration_message(self, read: dict[str, Json], kind: int) -> dict[str, Json]:
        told = net.ACK_RECEIVE if kind == net.ACK_REACH_QUEUE else kind
        return super().administration_message(read, told)


class _Insecure(Acknowledging):
    def permitted(self, kind: int) -> bool:
        return True


class _DirectUnacknowledged(Receiver):
    """Tells nothing of rejected messages."""

    def reject(self, arrived: Arrived, reason: int) -> None:
        return


class _Timeless(Receiver):
    def expired(self, read: dict[str, Json]) -> bool:
        return False


class _ZeroForever(Receiver):
    def expired(self, read: dict[str, Json]) -> bool:
        return read["time_to_reach_queue"] != 0 and super().expired(read)


class _AnyQueue(Receiver):
    """Delivers a transactional message to a queue that is not transactional, and the other way round."""

    def refusal(self, arrived: Arrived) -> int | None:
        reason = super().refusal(arrived)
        return None if reason in (net.NACK_NOT_TRANSACTIONAL_Q, net.NACK_NOT_TRANSACTIONAL_MSG) else reason


class _HopsKept(Receiver):
    def pass_on(self, arrived: Arrived) -> None:
        kept = base64.b64encode(arrived.packet).decode("ascii")
        self.node.post(arrived.read["destination"], {**arrived.read}, arrived.session.remote, packet=kept)


class _HopsUnlimited(Receiver):
    def pass_on(self, arrived: Arrived) -> None:
        super().pass_on(replace(arrived, read={**arrived.read, "hop_count": 0}))


class _ReceivesUntold(NetworkDelivery):
    def acknowledge_removal(self, message: Message, queue: Queue, reason: Reason) -> None:
        if reason is not Reason.RECEIVED:
            super().acknowledge_removal(message, queue, reason)


class _ExpiryUntold(NetworkDelivery):
    def acknowledge_removal(self, message: Message, queue: Queue, reason: Reason) -> None:
        if reason is Reason.RECEIVED:
            super().acknowledge_removal(message, queue, reason)


class _AnySender(Security):
    def authenticated_enough(self, read: dict[str, Json], queue: Queue) -> bool:
        return True


class _AnyPrivacy(Security):
    def private_enough(self, read: dict[str, Json], queue: Queue) -> bool:
        return True


class _TakesSigned(Security):
    def authentic(self, read: dict[str, Json]) -> bool:
        return True


class _TakesEncrypted(Security):
    def readable(self, read: dict[str, Json]) -> bool:
        return True


class _TakesPrivacy(Security):
    def known_privacy(self, read: dict[str, Json]) -> bool:
        return True


class _Reported(Acknowledging):
    """Changes reports."""

    label_changed: ClassVar[dict[str, str]] = {}

    def report_label(self, read: dict[str, Json]) -> str:
        label = super().report_label(read)
        for old, new in self.label_changed.items():
            label = label.replace(old, new)
        return label


class _ReportLabel(_Reported):
    label_changed: ClassVar[dict[str, str]] = {" received by ": " taken by "}


class _ReportHour(_Reported):
    label_changed: ClassVar[dict[str, str]] = {" AM ": " ", " PM ": " "}


class _ReportComputer(Acknowledging):
    def report_label(self, read: dict[str, Json]) -> str:
        own = {**read, "identifier": {**read["identifier"], "source": self.node.manager.guid}}
        return super().report_label(own)


class _ReportOther(Acknowledging):
    def report_body(self, read: dict[str, Json], next_hop: str | None) -> str:
        identifier = read["identifier"]
        other = {**identifier, "ordinal": identifier["ordinal"] ^ 1}
        return super().report_body({**read, "identifier": other}, next_hop)


class _ReportBody(Acknowledging):
    def report_body(self, read: dict[str, Json], next_hop: str | None) -> str:
        return super().report_body(read, next_hop).replace("TARGET QUEUE", "QUEUE")


class _ReportTarget(Acknowledging):
    def report_body(self, read: dict[str, Json], next_hop: str | None) -> str:
        return super().report_body({**read, "destination": f"{read['destination']}x"}, next_hop)


class _ReportLines(Acknowledging):
    def report_body(self, read: dict[str, Json], next_hop: str | None) -> str:
        return super().report_body(read, next_hop).replace("\r\n", "\n")


class _ReportRecoverable(Acknowledging):
    def report_message(self, read: dict[str, Json], next_hop: str | None) -> dict[str, Json]:
        return super().report_message(read, next_hop) | {"delivery": "recoverable"}


class _ReportElsewhere(Acknowledging):
    def report_queue(self, read: dict[str, Json]) -> str:
        made = super().report_queue(read)
        return made[:-1] + ("0" if made[-1] != "0" else "1")


class _NoReport(Receiver):
    def trace(self, arrived: Arrived) -> None:
        return


class _ReportsAll(Acknowledging):
    """A report goes out as a normal message."""

    def plain(self, kind: int) -> dict[str, Json]:
        return super().plain(net.NORMAL if kind == net.REPORT else kind)


class _Answers(Pings):
    """Changes ping responses."""

    def response(self, ping: Ping) -> Ping:
        return self.changed(super().response(ping))

    def changed(self, made: Ping) -> Ping:
        return made


class _PingCookie(_Answers):
    def changed(self, made: Ping) -> Ping:
        return replace(made, cookie=made.cookie + 1 & 0xFFFFFFFF)


class _PingClient(_Answers):
    def changed(self, made: Ping) -> Ping:
        return replace(made, flags=made.flags ^ net.PING_CLIENT)


class _PingRefused(_Answers):
    def changed(self, made: Ping) -> Ping:
        return replace(made, flags=made.flags | net.PING_REFUSED)


class _PingSignature(_Answers):
    def changed(self, made: Ping) -> Ping:
        return replace(made, signature=0x4855)


class _PingEcho(Pings):
    """Names the queue manager that asked."""

    def response(self, ping: Ping) -> Ping:
        return replace(super().response(ping), manager=ping.manager)


class _PingAny(Pings):
    def signed(self, ping: Ping) -> bool:
        return True


class _PingMute(Pings):
    def answer(self, ping: Ping, address: Address) -> None:
        if not ping.flags & ~(net.PING_CLIENT | net.PING_REFUSED):
            super().answer(ping, address)


class _PingLong(Codec):
    def ping(self, ping: Ping) -> bytes:
        return super().ping(ping) + bytes(4)


class _PingPort(Pings):
    def response_address(self, address: Address) -> Address:
        return address[0], address[1] % 65535 + 1


_TABLE = (
    ("correlation-reversed", "CorrelationID of an acknowledgment has the ordinal before the queue manager.",
     ("MQQB-3.1.7.15.correlation",), ("acknowledging", _CorrelationReversed)),
    ("correlation-own", "CorrelationID of an acknowledgment names the queue manager that acknowledges.",
     ("MQQB-3.1.7.15.correlation",), ("acknowledging", _CorrelationOwn)),
    ("acknowledgments-express", "Every administration acknowledgment is express.", ("MQQB-3.1.7.15.delivery",),
     ("acknowledging", _Express)),
    ("acknowledgments-recoverable", "Every administration acknowledgment is recoverable.",
     ("MQQB-3.1.7.15.delivery",), ("acknowledging", _Recoverable)),
    ("acknowledgments-expire", "An administration acknowledgment has a time to be received.",
     ("MQQB-3.1.7.15.times",), ("acknowledging", _Expires)),
    ("acknowledgments-late", "An administration acknowledgment has a time to reach its queue.",
     ("MQQB-3.1.7.15.times",), ("acknowledging", _Late)),
    ("acknowledgments-ask", "An administration acknowledgment asks for an acknowledgment.",
     ("MQQB-3.1.7.15.plain",), ("acknowledging", _Asks)),
    ("acknowledgments-journaled", "An administration acknowledgment asks for source journaling.",
     ("MQQB-3.1.7.15.plain",), ("acknowledging", _Journaled)),
    ("negative-without-body", "A negative administration acknowledgment has no body.", ("MQQB-3.1.7.15.body",),
     ("acknowledging", _Bodiless)),
    ("negative-with-half-body", "A negative administration acknowledgment returns half of the body.",
     ("MQQB-3.1.7.15.body",), ("acknowledging", _HalfBody)),
    ("acknowledgments-to-response-queue", "Administration acknowledgments go to the response queue.",
     ("MQQB-3.1.7.15.destination",), ("acknowledging", _ToResponse)),
    ("acknowledgments-name-themselves", "The response queue of an acknowledgment is the administration queue.",
     ("MQQB-3.1.7.15.response-queue",), ("acknowledging", _ResponseAdmin)),
    ("arrival-acknowledged-unasked", "An arrival is acknowledged to whoever names an administration queue.",
     ("MQQB-3.1.7.15.requested",), ("receiver", _Unasked)),
    ("rejection-acknowledged-unasked", "A rejection is acknowledged to whoever names an administration queue.",
     ("MQQB-3.1.7.15.requested",), ("receiver", _NegativeUnasked)),
    ("arrival-as-receive", "An arrival is acknowledged with the class of a receive.",
     ("MQQB-3.1.7.15.requested", "MQMQ-2.2.19.3.flags-pa"), ("acknowledging", _ArrivalAsReceive)),
    ("insecure-acknowledgments", "Negative acknowledgments about queues and rights are sent though nobody allowed it.",
     ("MQQB-3.1.7.15.insecure",), ("acknowledging", _Insecure)),
    ("rejections-untold", "A rejected message is not acknowledged, whatever it asks for.",
     ("MQQB-3.1.5.8.2.no-such-queue", "MQMQ-2.2.19.3.flags-na"), ("receiver", _DirectUnacknowledged)),
    ("late-messages-delivered", "A message is delivered although its time to reach the queue is over.",
     ("MQMQ-2.2.19.1.time-to-reach-queue-expired-receiver", "MQMQ-2.2.19.1.time-to-reach-queue-evaluated-receiver"),
     ("receiver", _Timeless)),
    ("time-zero-is-forever", "A time of zero to reach the queue is taken for an infinite one.",
     ("MQMQ-2.2.19.1.time-to-reach-queue-expired-receiver", "MQMQ-2.2.19.1.time-to-reach-queue-evaluated-receiver"),
     ("receiver", _ZeroForever)),
    ("transactions-to-any-queue", "Messages are delivered although only one of message and queue is transactional.",
     ("MQQB-3.1.5.8.2.not-transactional-queue", "MQQB-3.1.5.8.2.not-transactional-message"),
     ("receiver", _AnyQueue)),
    ("hops-not-counted", "A message is passed on with the hop count it came with.", ("MQQB-3.1.5.8.2.hop-count",),
     ("receiver", _HopsKept)),
    ("hops-unlimited", "A message with too many hops is passed on.", ("MQQB-3.1.5.8.2.hop-count-exceeded",),
     ("receiver", _HopsUnlimited)),
    ("receives-untold", "The receive of a message is not acknowledged, whatever it asks for.",
     ("MQMQ-2.2.19.3.flags-pr",), ("delivery", _ReceivesUntold)),
    ("expiry-untold", "A message that is never received is not acknowledged, whatever it asks for.",
     ("MQMQ-2.2.19.3.flags-nr",), ("delivery", _ExpiryUntold)),
    ("authentication-ignored", "A queue for authenticated messages takes others.",
     ("MQDMPR-3.1.1.2.authentication",), ("security", _AnySender)),
    ("privacy-ignored", "A queue for encrypted bodies takes others.", ("MQDMPR-3.1.1.2.privacy-level-body",),
     ("security", _AnyPrivacy)),
    ("signatures-unchecked", "A signed message is delivered although nobody knows its sender.",
     ("MQMQ-2.2.19.3.hash-algorithm-refused",), ("security", _TakesSigned)),
    ("encrypted-taken", "An encrypted message is delivered although it cannot be decrypted.",
     ("MQMQ-2.2.20.6.body-encrypted-receiver", "MQMQ-2.2.19.3.encryption-algorithm-refused"),
     ("security", _TakesEncrypted)),
    ("privacy-unchecked", "A message with an unknown privacy level whose body is not encrypted is delivered.",
     ("MQMQ-2.2.19.3.privacy-level-refused", "MQMQ-2.2.19.3.privacy-level-refused-code"),
     ("security", _TakesPrivacy)),
    ("report-label", "The label of a report has another word.", ("MQQB-3.1.7.1.7.label",),
     ("acknowledging", _ReportLabel)),
    ("report-hour", "The label of a report does not tell morning from evening.", ("MQQB-3.1.7.1.7.label",),
     ("acknowledging", _ReportHour)),
    ("report-computer", "The label of a report names the queue manager that makes it.",
     ("MQQB-3.1.7.1.7.computer",), ("acknowledging", _ReportComputer)),
    ("report-other-message", "Label and body of a report name two messages.", ("MQQB-3.1.7.1.7.message-id",),
     ("acknowledging", _ReportOther)),
    ("report-body", "The body of a report has another mark.", ("MQQB-3.1.7.1.7.body",),
     ("acknowledging", _ReportBody)),
    ("report-lines", "The lines of a report end without a carriage return.", ("MQQB-3.1.7.1.7.body",),
     ("acknowledging", _ReportLines)),
    ("report-target", "The body of a report names another queue.", ("MQQB-3.1.7.1.7.target",),
     ("acknowledging", _ReportTarget)),
    ("report-recoverable", "A report is recoverable.", ("MQQB-3.1.7.1.7.delivery",),
     ("acknowledging", _ReportRecoverable)),
    ("report-elsewhere", "A report goes to another queue than the traced message names.",
     ("MQQB-3.1.7.1.7.queue", "MQQB-3.1.5.8.9.report-queue"), ("acknowledging", _ReportElsewhere)),
    ("no-reports", "A traced message has no report.", ("MQQB-3.1.5.8.9.sent", "MQQB-3.1.5.8.9.report-queue"),
     ("receiver", _NoReport)),
    ("report-as-message", "A report has the class of a normal message.",
     ("MQQB-3.1.5.8.9.fields", "MQQB-3.1.5.8.9.sent"), ("acknowledging", _ReportsAll)),
    ("ping-cookie", "A ping response has the next cookie.", ("MQQB-2.2.7.response-cookie",), ("pings", _PingCookie)),
    ("ping-client-bit", "The RC bit of a ping response is not that of its request.", ("MQQB-2.2.7.response-rc",),
     ("pings", _PingClient)),
    ("ping-refuses", "A ping response refuses a session that would be accepted.", ("MQQB-2.2.7.response-rf",),
     ("pings", _PingRefused)),
    ("ping-signature", "A ping response has another signature.", ("MQQB-2.2.7.signature",),
     ("pings", _PingSignature)),
    ("ping-echo", "A ping response names the queue manager that asked.", ("MQQB-2.2.7.response-qm-guid",),
     ("pings", _PingEcho)),
    ("ping-unsigned-answered", "A datagram with another signature is answered.",
     ("MQQB-2.2.7.signature-ignored",), ("pings", _PingAny)),
    ("ping-flags-heeded", "A ping with an unused bit set is not answered.", ("MQQB-2.2.7.flags-ignored",),
     ("pings", _PingMute)),
    ("ping-too-long", "A ping response has 28 bytes.", ("MQQB-2.2.7.size",), ("codec", _PingLong)),
    ("ping-other-port", "A ping response goes to another port than its request came from.",
     ("MQQB-2.1.2.response-address",), ("pings", _PingPort)),
)  # fmt: skip
for _name, _says, _breaks, _part in _TABLE:
    fault(__name__, _name, _says, _breaks, _part)
