"""Faults of session acknowledgments: counts, times and windows (MS-MQQB 3.1.1.6.1, 3.1.5.5, 3.1.5.8, 3.1.6.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.embedded.network.codec import SessionHeader
from conformance.embedded.network.faults.base import also, fault
from conformance.embedded.network.incoming import Receiver
from conformance.embedded.network.sequences import History
from conformance.embedded.network.session import COUNT, FLAG_BITS, Session
from conformance.embedded.network.settings import Durations

Json = Any


@fault(
    "acknowledges-one-more", Session.header, "MQQB-3.1.1.6.1.acknowledged-were-sent",
    "MQMQ-2.2.20.4.ack-sequence-number",
)  # fmt: skip
def acknowledges_one_more(plain, self):
    """AckSequenceNumber counts a message that was not sent."""
    made = plain()
    return replace(made, received=made.received + 1 & COUNT)


@fault("acknowledges-since-last", Session.header, "MQQB-3.1.1.6.1.never-decreases", "MQMQ-2.2.20.4.ack-sequence-number")
def acknowledges_since_last(plain, self):
    """AckSequenceNumber counts from the last acknowledgment on."""
    return replace(plain(), received=self.unacked_received & COUNT)


@fault("counts-sent-wrong", Session.header, "MQQB-3.1.7.1.3.user-messages-sent", "MQQB-3.1.6.4.sent")
def counts_sent_wrong(plain, self):
    """UserMsgSequenceNumber is one more than was sent."""
    made = plain()
    return replace(made, sent=made.sent + 1 & COUNT)


@fault(
    "counts-recoverable-sent-wrong", Session.header, "MQQB-3.1.7.1.3.recoverable-messages-sent",
    "MQQB-3.1.6.4.recoverable-sent",
)  # fmt: skip
def counts_recoverable_sent_wrong(plain, self):
    """RecoverableMsgSeqNumber is one more than was sent."""
    made = plain()
    return replace(made, recoverable_sent=made.recoverable_sent + 1 & COUNT)


@fault(
    "recoverable-bits-missing", Session.header, "MQQB-3.1.6.4.recoverable-none", "MQMQ-2.2.20.4.recoverable-ack-flags"
)
def recoverable_bits_missing(plain, self):
    """RecoverableMsgAckFlags is zero although a message is acknowledged."""
    return replace(plain(), recoverable_bits=0)


@fault("recoverable-number-missing", Session.header, "MQQB-3.1.6.4.recoverable-none")
def recoverable_number_missing(plain, self):
    """RecoverableMsgAckSeqNumber is zero although bits are set."""
    return replace(plain(), recoverable=0)


@fault("recoverable-number-before", Session.header, "MQQB-3.1.6.4.recoverable-lowest")
def recoverable_number_before(plain, self):
    """RecoverableMsgAckSeqNumber names a message that was acknowledged before."""
    made = plain()
    if not made.recoverable_bits or made.recoverable < 2:
        return made
    return replace(made, recoverable=made.recoverable - 1, recoverable_bits=made.recoverable_bits << 1 & 0xFFFFFFFF)


@fault(
    "recoverable-first-skipped", Session.header, "MQQB-3.1.6.4.recoverable-lowest", "MQQB-3.1.6.4.recoverable-none",
    "MQMQ-2.2.20.4.recoverable-ack-flags",
)  # fmt: skip
def recoverable_first_skipped(plain, self):
    """Bit 0 of RecoverableMsgAckFlags is never set."""
    made = plain()
    return replace(made, recoverable_bits=made.recoverable_bits & ~1)


@fault("recoverable-acknowledged-again", "session", "MQQB-3.1.6.4.recoverable-once")
class RecoverableAcknowledgedAgain(Session):
    """Recoverable messages are acknowledged again each time."""

    before = (0, 0)

    def header(self) -> SessionHeader:
        made, (first, bits) = super().header(), self.before
        behind = made.recoverable - first
        if not made.recoverable_bits or not bits or not 0 < behind + made.recoverable_bits.bit_length() <= FLAG_BITS:
            return made
        return replace(made, recoverable=first, recoverable_bits=bits | made.recoverable_bits << behind)

    def acked(self) -> None:
        made = Session.header(self)
        self.before = (made.recoverable, made.recoverable_bits)
        super().acked()


@fault("recoverable-not-sent", Session.header, "MQQB-3.1.1.6.1.recoverable-were-sent")
def recoverable_not_sent(plain, self):
    """A recoverable message is acknowledged that was not sent."""
    made = plain()
    return replace(made, recoverable_bits=(made.recoverable_bits << 1 | 1) & 0xFFFFFFFF if made.recoverable else 0)


@fault(
    "never-acknowledges", Session.send_ack, "MQQB-3.1.5.8.2.acknowledged-in-time", "MQQB-3.1.5.8.7.recoverable-at-once"
)
def never_acknowledges(plain, self):
    """No SessionAck is ever sent."""
    self.acked()


@fault("express-not-acknowledged", Session.owes_ack, "MQQB-3.1.5.8.2.acknowledged-in-time")
def express_not_acknowledged(plain, self):
    """Express messages are not acknowledged."""
    return bool(self.bits)


@also("express-not-acknowledged", Session.window_is_full)
def express_not_acknowledged_window_is_full(plain, self):
    return False


@fault("acknowledges-late", Durations.ack_send, "MQQB-3.1.5.8.2.acknowledged-in-time")
def acknowledges_late(plain, self, ack_timeout_ms):
    """Acknowledgments take four times as long as they may."""
    return 4 * plain(ack_timeout_ms)


@also("acknowledges-late", Durations.recoverable_ack_send)
def acknowledges_late_recoverable_ack_send(plain, self, timeout_ms):
    return 4 * plain(timeout_ms)


@fault("recoverable-as-express", Session.count_recoverable, "MQQB-3.1.5.8.2.acknowledged-in-time")
def recoverable_as_express(plain, self):
    """A recoverable message is acknowledged when an express one would be."""
    running = self.ack_send.running
    plain()
    if running:
        self.ack_send.start(self.node.durations.ack_send(self.ack_timeout_ms))


@fault("recoverable-put-off", Session.count_recoverable, "MQQB-3.1.5.8.7.recoverable-at-once")
def recoverable_put_off(plain, self):
    """An acknowledgment is put off although 32 recoverable messages wait for it."""
    if self.marked() < 32:
        plain()
    else:
        self.recoverable_received = self.recoverable_received + 1 & COUNT


@also("recoverable-put-off", Session.window_is_full)
def recoverable_put_off_window_is_full(plain, self):
    return False


@fault("acknowledges-nothing", Session.ack_send_over, "MQQB-3.1.6.4.something-to-acknowledge")
def acknowledges_nothing(plain, self):
    """A SessionAck is sent when nothing has come since the last one."""
    if not self.owes_ack():
        self.send_ack()
    plain()


@fault("acknowledges-twice", Session.send_ack, "MQQB-3.1.6.4.something-to-acknowledge")
def acknowledges_twice(plain, self):
    """Each SessionAck is sent twice."""
    plain()
    plain()


@fault("window-wider", Session.header, "MQQB-3.1.6.4.window-size")
def window_wider(plain, self):
    """WindowSize of a SessionHeader is larger than that of the parameters."""
    return replace(plain(), window=2 * self.window)


@fault("window-none", Session.header, "MQMQ-2.2.20.4.window-size-range")
def window_none(plain, self):
    """WindowSize of a SessionHeader is zero."""
    return replace(plain(), window=0)


@fault("wrong-counts-accepted", Session.counts_agree, "MQQB-3.1.5.5.5.counts-closes")
def wrong_counts_accepted(plain, self, given):
    """A SessionHeader that counts otherwise leaves the session open."""
    return True


@fault("wrong-recoverable-counts-accepted", Session.counts_agree, "MQQB-3.1.5.5.5.counts-closes")
def wrong_recoverable_counts_accepted(plain, self, given):
    """A SessionHeader that counts recoverable messages otherwise is accepted."""
    return given.sent == self.received


@fault("recoverable-uncounted", Session.header, "MQMQ-2.2.20.4.ack-sequence-number", "MQQB-3.1.6.4.acknowledged")
def recoverable_uncounted(plain, self):
    """AckSequenceNumber leaves out recoverable messages."""
    made = plain()
    return replace(made, received=made.received - self.recoverable_received & COUNT)


@fault("duplicates-delivered", History.knows, "MQQB-3.1.5.8.1.duplicate")
def duplicates_delivered(plain, self, read):
    """A message whose identifier came before is delivered again."""
    return False


@fault("duplicates-counted", Receiver.duplicate, "MQQB-3.1.5.8.1.duplicate", "MQQB-3.1.6.4.acknowledged")
def duplicates_counted(plain, self, arrived):
    """A message that is discarded as a duplicate is counted."""
    found = plain(arrived)
    if found:
        arrived.session.count_received()
    return found


@fault("duplicates-by-body", History.identifier, "MQQB-3.1.5.8.1.duplicate")
def duplicates_by_body(plain, self, read):
    """Messages of the same label and body are taken for duplicates."""
    return f"{read['label']}:{read['body']}"
