"""Faults of administration acknowledgments, reports and pings (MS-MQQB 3.1.5.8, 3.1.7.1.7, 3.1.7.7, 3.1.7.15)."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any, ClassVar

from conformance.embedded.admission import Coming
from conformance.embedded.entities import Reason
from conformance.embedded.network import codec as net
from conformance.embedded.network.acknowledging import Acknowledging, Pings
from conformance.embedded.network.codec import Codec, Ping
from conformance.embedded.network.faults import fault
from conformance.embedded.network.incoming import Receiver, Security

Json = Any


@fault("correlation-reversed", Acknowledging.correlation, "MQQB-3.1.7.15.correlation")
def correlation_reversed(plain, self, read):
    """CorrelationID of an acknowledgment has the ordinal before the queue manager."""
    data = base64.b64decode(plain(read))
    return base64.b64encode(data[16:] + data[:16]).decode("ascii")


@fault("correlation-own", Acknowledging.correlation, "MQQB-3.1.7.15.correlation")
def correlation_own(plain, self, read):
    """CorrelationID of an acknowledgment names the queue manager that acknowledges."""
    data = base64.b64decode(plain(read))
    return base64.b64encode(self.node.guid + data[16:]).decode("ascii")


@fault("acknowledgments-express", Acknowledging.delivery, "MQQB-3.1.7.15.delivery")
def acknowledgments_express(plain, self, read):
    """Every administration acknowledgment is express."""
    return "express"


@fault("acknowledgments-recoverable", Acknowledging.delivery, "MQQB-3.1.7.15.delivery")
def acknowledgments_recoverable(plain, self, read):
    """Every administration acknowledgment is recoverable."""
    return "recoverable"


class _Made(Acknowledging):
    """Changes administration acknowledgments."""

    members: ClassVar[dict[str, Json]] = {}

    def administration_message(self, read: dict[str, Json], kind: int) -> dict[str, Json]:
        return super().administration_message(read, kind) | self.members


@fault("acknowledgments-expire", "acknowledging", "MQQB-3.1.7.15.times")
class AcknowledgmentsExpire(_Made):
    """An administration acknowledgment has a time to be received."""

    members: ClassVar[dict[str, Json]] = {"time_to_be_received": 3600}


@fault("acknowledgments-late", "acknowledging", "MQQB-3.1.7.15.times")
class AcknowledgmentsLate(_Made):
    """An administration acknowledgment has a time to reach its queue."""

    members: ClassVar[dict[str, Json]] = {"time_to_reach_queue": 345_600}


@fault("acknowledgments-ask", "acknowledging", "MQQB-3.1.7.15.plain")
class AcknowledgmentsAsk(_Made):
    """An administration acknowledgment asks for an acknowledgment."""

    members: ClassVar[dict[str, Json]] = {"acknowledgements": ["negative_arrival"]}


@fault("acknowledgments-journaled", "acknowledging", "MQQB-3.1.7.15.plain")
class AcknowledgmentsJournaled(_Made):
    """An administration acknowledgment asks for source journaling."""

    members: ClassVar[dict[str, Json]] = {"negative_journaling": True}


@fault("negative-without-body", Acknowledging.returned_body, "MQQB-3.1.7.15.body")
def negative_without_body(plain, self, read, kind):
    """A negative administration acknowledgment has no body."""
    return ""


@fault("negative-with-half-body", Acknowledging.returned_body, "MQQB-3.1.7.15.body")
def negative_with_half_body(plain, self, read, kind):
    """A negative administration acknowledgment returns half of the body."""
    data = base64.b64decode(plain(read, kind))
    return base64.b64encode(data[: len(data) // 2]).decode("ascii")


@fault("acknowledgments-to-response-queue", Acknowledging.administration_queue, "MQQB-3.1.7.15.destination")
def acknowledgments_to_response_queue(plain, self, read):
    """Administration acknowledgments go to the response queue."""
    found = plain(read)
    return str(read.get("response_queue", found)) if found else None


@fault("acknowledgments-name-themselves", Acknowledging.response_queue, "MQQB-3.1.7.15.response-queue")
def acknowledgments_name_themselves(plain, self, read):
    """The response queue of an acknowledgment is the administration queue."""
    return str(read["administration_queue"])


@fault("arrival-acknowledged-unasked", Receiver.insert, "MQQB-3.1.7.15.requested")
def arrival_acknowledged_unasked(plain, self, arrived):
    """An arrival is acknowledged to whoever names an administration queue."""
    plain(arrived)
    if not arrived.asks("positive_arrival"):
        self.node.acknowledging.administration(arrived.session, arrived.read, net.ACK_REACH_QUEUE)


@fault("rejection-acknowledged-unasked", Receiver.reject, "MQQB-3.1.7.15.requested")
def rejection_acknowledged_unasked(plain, self, arrived, reason):
    """A rejection is acknowledged to whoever names an administration queue."""
    plain(arrived, reason)
    if not arrived.asks("negative_arrival"):
        self.node.acknowledging.administration(arrived.session, arrived.read, reason)


@fault("arrival-as-receive", Acknowledging.administration_message, "MQQB-3.1.7.15.requested", "MQMQ-2.2.19.3.flags-pa")
def arrival_as_receive(plain, self, read, kind):
    """An arrival is acknowledged with the class of a receive."""
    told = net.ACK_RECEIVE if kind == net.ACK_REACH_QUEUE else kind
    return plain(read, told)


@fault("insecure-acknowledgments", Acknowledging.permitted, "MQQB-3.1.7.15.insecure")
def insecure_acknowledgments(plain, self, kind):
    """Negative acknowledgments about queues and rights are sent though nobody allowed it."""
    return True


@fault("rejections-untold", Receiver.reject, "MQQB-3.1.5.8.2.no-such-queue", "MQMQ-2.2.19.3.flags-na")
def rejections_untold(plain, self, arrived, reason):
    """A rejected message is not acknowledged, whatever it asks for."""


@fault(
    "late-messages-delivered", Receiver.expired, "MQMQ-2.2.19.1.time-to-reach-queue-expired-receiver",
    "MQMQ-2.2.19.1.time-to-reach-queue-evaluated-receiver",
)  # fmt: skip
def late_messages_delivered(plain, self, read):
    """A message is delivered although its time to reach the queue is over."""
    return False


@fault(
    "time-zero-is-forever", Receiver.expired, "MQMQ-2.2.19.1.time-to-reach-queue-expired-receiver",
    "MQMQ-2.2.19.1.time-to-reach-queue-evaluated-receiver",
)  # fmt: skip
def time_zero_is_forever(plain, self, read):
    """A time of zero to reach the queue is taken for an infinite one."""
    return read["time_to_reach_queue"] != 0 and plain(read)


@fault(
    "transactions-to-any-queue", Receiver.refusal, "MQQB-3.1.5.8.2.not-transactional-queue",
    "MQQB-3.1.5.8.2.not-transactional-message",
)  # fmt: skip
def transactions_to_any_queue(plain, self, arrived):
    """Messages are delivered although only one of message and queue is transactional."""
    reason = plain(arrived)
    return None if reason in (net.NACK_NOT_TRANSACTIONAL_Q, net.NACK_NOT_TRANSACTIONAL_MSG) else reason


@fault("hops-not-counted", Receiver.pass_on, "MQQB-3.1.5.8.2.hop-count")
def hops_not_counted(plain, self, arrived):
    """A message is passed on with the hop count it came with."""
    kept = base64.b64encode(arrived.packet).decode("ascii")
    self.node.post(arrived.read["destination"], {**arrived.read}, arrived.session.remote, packet=kept)


@fault("hops-unlimited", Receiver.pass_on, "MQQB-3.1.5.8.2.hop-count-exceeded")
def hops_unlimited(plain, self, arrived):
    """A message with too many hops is passed on."""
    plain(replace(arrived, read={**arrived.read, "hop_count": 0}))


@fault("receives-untold", "delivery.acknowledge_removal", "MQMQ-2.2.19.3.flags-pr")
def receives_untold(plain, self, message, queue, reason):
    """The receive of a message is not acknowledged, whatever it asks for."""
    if reason is not Reason.RECEIVED:
        plain(message, queue, reason)


@fault("expiry-untold", "delivery.acknowledge_removal", "MQMQ-2.2.19.3.flags-nr")
def expiry_untold(plain, self, message, queue, reason):
    """A message that is never received is not acknowledged, whatever it asks for."""
    if reason is Reason.RECEIVED:
        plain(message, queue, reason)


@fault("authentication-ignored", "security.authenticated_enough", "MQDMPR-3.1.1.2.authentication")
def authentication_ignored(plain, self, coming):
    """A queue for authenticated messages takes others."""
    return True


@fault("privacy-ignored", "security.private_enough", "MQDMPR-3.1.1.2.privacy-level-body")
def privacy_ignored(plain, self, coming):
    """A queue for encrypted bodies takes others."""
    return True


@fault("signatures-unchecked", "security", "MQMQ-2.2.19.3.hash-algorithm-refused")
class _Unchecked(Security):
    """A signed message is delivered although nobody knows its sender."""

    def authentic(self, coming: Coming) -> bool:
        return True

    def identified(self, coming: Coming) -> bool:
        return True


@fault(
    "encrypted-taken", "security.readable", "MQMQ-2.2.20.6.body-encrypted-receiver",
    "MQMQ-2.2.19.3.encryption-algorithm-refused",
)  # fmt: skip
def encrypted_taken(plain, self, coming):
    """An encrypted message is delivered although it cannot be decrypted."""
    return True


@fault(
    "privacy-unchecked", "security.known_privacy", "MQMQ-2.2.19.3.privacy-level-refused",
    "MQMQ-2.2.19.3.privacy-level-refused-code",
)  # fmt: skip
def privacy_unchecked(plain, self, coming):
    """A message with an unknown privacy level whose body is not encrypted is delivered."""
    return True


class _Reported(Acknowledging):
    """Changes reports."""

    label_changed: ClassVar[dict[str, str]] = {}

    def report_label(self, read: dict[str, Json]) -> str:
        label = super().report_label(read)
        for old, new in self.label_changed.items():
            label = label.replace(old, new)
        return label


@fault("report-label", "acknowledging", "MQQB-3.1.7.1.7.label")
class ReportLabel(_Reported):
    """The label of a report has another word."""

    label_changed: ClassVar[dict[str, str]] = {" received by ": " taken by "}


@fault("report-hour", "acknowledging", "MQQB-3.1.7.1.7.label")
class ReportHour(_Reported):
    """The label of a report does not tell morning from evening."""

    label_changed: ClassVar[dict[str, str]] = {" AM ": " ", " PM ": " "}


@fault("report-computer", Acknowledging.report_label, "MQQB-3.1.7.1.7.computer")
def report_computer(plain, self, read):
    """The label of a report names the queue manager that makes it."""
    own = {**read, "identifier": {**read["identifier"], "source": self.node.manager.guid}}
    return plain(own)


@fault("report-other-message", Acknowledging.report_body, "MQQB-3.1.7.1.7.message-id")
def report_other_message(plain, self, read, next_hop):
    """Label and body of a report name two messages."""
    identifier = read["identifier"]
    other = {**identifier, "ordinal": identifier["ordinal"] ^ 1}
    return plain({**read, "identifier": other}, next_hop)


@fault("report-body", Acknowledging.report_body, "MQQB-3.1.7.1.7.body")
def report_body(plain, self, read, next_hop):
    """The body of a report has another mark."""
    return plain(read, next_hop).replace("TARGET QUEUE", "QUEUE")


@fault("report-target", Acknowledging.report_body, "MQQB-3.1.7.1.7.target")
def report_target(plain, self, read, next_hop):
    """The body of a report names another queue."""
    return plain({**read, "destination": f"{read['destination']}x"}, next_hop)


@fault("report-lines", Acknowledging.report_body, "MQQB-3.1.7.1.7.body")
def report_lines(plain, self, read, next_hop):
    """The lines of a report end without a carriage return."""
    return plain(read, next_hop).replace("\r\n", "\n")


@fault("report-recoverable", Acknowledging.report_message, "MQQB-3.1.7.1.7.delivery")
def report_recoverable(plain, self, read, next_hop):
    """A report is recoverable."""
    return plain(read, next_hop) | {"delivery": "recoverable"}


@fault("report-elsewhere", Acknowledging.report_queue, "MQQB-3.1.7.1.7.queue", "MQQB-3.1.5.8.9.report-queue")
def report_elsewhere(plain, self, read):
    """A report goes to another queue than the traced message names."""
    made = plain(read)
    return made[:-1] + ("0" if made[-1] != "0" else "1")


@fault("no-reports", Receiver.trace, "MQQB-3.1.5.8.9.sent", "MQQB-3.1.5.8.9.report-queue")
def no_reports(plain, self, arrived):
    """A traced message has no report."""


@fault("report-as-message", Acknowledging.plain, "MQQB-3.1.5.8.9.fields", "MQQB-3.1.5.8.9.sent")
def report_as_message(plain, self, kind):
    """A report has the class of a normal message."""
    return plain(net.NORMAL if kind == net.REPORT else kind)


class _Answers(Pings):
    """Changes ping responses."""

    def response(self, ping: Ping) -> Ping:
        return self.changed(super().response(ping))

    def changed(self, made: Ping) -> Ping:
        return made


@fault("ping-cookie", "pings", "MQQB-2.2.7.response-cookie")
class PingCookie(_Answers):
    """A ping response has the next cookie."""

    def changed(self, made: Ping) -> Ping:
        return replace(made, cookie=made.cookie + 1 & 0xFFFFFFFF)


@fault("ping-client-bit", "pings", "MQQB-2.2.7.response-rc")
class PingClientBit(_Answers):
    """The RC bit of a ping response is not that of its request."""

    def changed(self, made: Ping) -> Ping:
        return replace(made, flags=made.flags ^ net.PING_CLIENT)


@fault("ping-refuses", "pings", "MQQB-2.2.7.response-rf")
class PingRefuses(_Answers):
    """A ping response refuses a session that would be accepted."""

    def changed(self, made: Ping) -> Ping:
        return replace(made, flags=made.flags | net.PING_REFUSED)


@fault("ping-signature", "pings", "MQQB-2.2.7.signature")
class PingSignature(_Answers):
    """A ping response has another signature."""

    def changed(self, made: Ping) -> Ping:
        return replace(made, signature=0x4855)


@fault("ping-echo", Pings.response, "MQQB-2.2.7.response-qm-guid")
def ping_echo(plain, self, ping):
    """A ping response names the queue manager that asked."""
    return replace(plain(ping), manager=ping.manager)


@fault("ping-unsigned-answered", Pings.signed, "MQQB-2.2.7.signature-ignored")
def ping_unsigned_answered(plain, self, ping):
    """A datagram with another signature is answered."""
    return True


@fault("ping-flags-heeded", Pings.answer, "MQQB-2.2.7.flags-ignored")
def ping_flags_heeded(plain, self, ping, address):
    """A ping with an unused bit set is not answered."""
    if not ping.flags & ~(net.PING_CLIENT | net.PING_REFUSED):
        plain(ping, address)


@fault("ping-too-long", Codec.ping, "MQQB-2.2.7.size")
def ping_too_long(plain, self, ping):
    """A ping response has 28 bytes."""
    return plain(ping) + bytes(4)


@fault("ping-other-port", Pings.response_address, "MQQB-2.1.2.response-address")
def ping_other_port(plain, self, address):
    """A ping response goes to another port than its request came from."""
    return address[0], address[1] % 65535 + 1
