"""Faults of session acknowledgments: counts, times and windows (MS-MQQB 3.1.1.6.1, 3.1.5.5, 3.1.5.8, 3.1.6.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.embedded.network.codec import SessionHeader
from conformance.embedded.network.faults.base import fault
from conformance.embedded.network.incoming import Arrived, Receiver
from conformance.embedded.network.sequences import History
from conformance.embedded.network.session import COUNT, FLAG_BITS, Session
from conformance.embedded.network.timers import Durations

Json = Any


class _Ahead(Session):
    def header(self) -> SessionHeader:
        made = super().header()
        return replace(made, received=made.received + 1 & COUNT)


class _SinceLast(Session):
    """Counts from the last acknowledgment on."""

    def header(self) -> SessionHeader:
        return replace(super().header(), received=self.unacked_received & COUNT)


class _SentOne(Session):
    def header(self) -> SessionHeader:
        made = super().header()
        return replace(made, sent=made.sent + 1 & COUNT)


class _RecoverableSentOne(Session):
    def header(self) -> SessionHeader:
        made = super().header()
        return replace(made, recoverable_sent=made.recoverable_sent + 1 & COUNT)


class _BitsMissing(Session):
    def header(self) -> SessionHeader:
        return replace(super().header(), recoverable_bits=0)


class _NumberMissing(Session):
    def header(self) -> SessionHeader:
        return replace(super().header(), recoverable=0)


class _LowestBefore(Session):
    """Names the last number acknowledged before, and begins the bits behind it."""

    def header(self) -> SessionHeader:
        made = super().header()
        if not made.recoverable_bits or made.recoverable < 2:
            return made
        return replace(made, recoverable=made.recoverable - 1, recoverable_bits=made.recoverable_bits << 1 & 0xFFFFFFFF)


class _FirstSkipped(Session):
    def header(self) -> SessionHeader:
        made = super().header()
        return replace(made, recoverable_bits=made.recoverable_bits & ~1)


class _Again(Session):
    """Acknowledges recoverable messages together with those of the last acknowledgment, as far as the bits reach."""

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


class _OneBitMore(Session):
    def header(self) -> SessionHeader:
        made = super().header()
        return replace(made, recoverable_bits=(made.recoverable_bits << 1 | 1) & 0xFFFFFFFF if made.recoverable else 0)


class _Silent(Session):
    def send_ack(self) -> None:
        self.acked()


class _SilentAboutExpress(Session):
    def owes_ack(self) -> bool:
        return bool(self.bits)

    def window_is_full(self) -> bool:
        return False


class _Late(Durations):
    def ack_send(self, ack_timeout_ms: int) -> float:
        return 4 * super().ack_send(ack_timeout_ms)

    def recoverable_ack_send(self, timeout_ms: int) -> float:
        return 4 * super().recoverable_ack_send(timeout_ms)


class _RecoverableAsExpress(Session):
    def count_recoverable(self) -> None:
        running = self.ack_send.running
        super().count_recoverable()
        if running:
            self.ack_send.start(self.node.durations.ack_send(self.ack_timeout_ms))


class _Patient(Session):
    """Does not acknowledge at once when 32 recoverable messages wait."""

    def count_recoverable(self) -> None:
        if self.marked() < 32:
            super().count_recoverable()
        else:
            self.recoverable_received = self.recoverable_received + 1 & COUNT

    def window_is_full(self) -> bool:
        return False


class _Chatty(Session):
    """Acknowledges nothing, again and again."""

    def ack_send_over(self) -> None:
        if not self.owes_ack():
            self.send_ack()
        super().ack_send_over()


class _Twice(Session):
    def send_ack(self) -> None:
        super().send_ack()
        super().send_ack()


class _WideWindow(Session):
    def header(self) -> SessionHeader:
        return replace(super().header(), window=2 * self.window)


class _NoWindow(Session):
    def header(self) -> SessionHeader:
        return replace(super().header(), window=0)


class _Trusting(Session):
    def counts_agree(self, given: SessionHeader) -> bool:
        return True


class _TrustsRecoverable(Session):
    def counts_agree(self, given: SessionHeader) -> bool:
        return given.sent == self.received


class _RecoverableUncounted(Session):
    """AckSequenceNumber counts express messages alone."""

    def header(self) -> SessionHeader:
        made = super().header()
        return replace(made, received=made.received - self.recoverable_received & COUNT)


class _NoHistory(History):
    def knows(self, read: dict[str, Json]) -> bool:
        return False


class _DuplicatesCounted(Receiver):
    def duplicate(self, arrived: Arrived) -> bool:
        found = super().duplicate(arrived)
        if found:
            arrived.session.count_received()
        return found


class _ByBody(History):
    """Takes messages of the same label and body for duplicates."""

    def identifier(self, read: dict[str, Json]) -> str:
        return f"{read['label']}:{read['body']}"


_TABLE = (
    ("acknowledges-one-more", "AckSequenceNumber counts a message that was not sent.",
     ("MQQB-3.1.1.6.1.acknowledged-were-sent", "MQMQ-2.2.20.4.ack-sequence-number"), ("session", _Ahead)),
    ("acknowledges-since-last", "AckSequenceNumber counts from the last acknowledgment on.",
     ("MQQB-3.1.1.6.1.never-decreases", "MQMQ-2.2.20.4.ack-sequence-number"), ("session", _SinceLast)),
    ("counts-sent-wrong", "UserMsgSequenceNumber is one more than was sent.",
     ("MQQB-3.1.7.1.3.user-messages-sent", "MQQB-3.1.6.4.sent"), ("session", _SentOne)),
    ("counts-recoverable-sent-wrong", "RecoverableMsgSeqNumber is one more than was sent.",
     ("MQQB-3.1.7.1.3.recoverable-messages-sent", "MQQB-3.1.6.4.recoverable-sent"), ("session", _RecoverableSentOne)),
    ("recoverable-bits-missing", "RecoverableMsgAckFlags is zero although a message is acknowledged.",
     ("MQQB-3.1.6.4.recoverable-none", "MQMQ-2.2.20.4.recoverable-ack-flags"), ("session", _BitsMissing)),
    ("recoverable-number-missing", "RecoverableMsgAckSeqNumber is zero although bits are set.",
     ("MQQB-3.1.6.4.recoverable-none",), ("session", _NumberMissing)),
    ("recoverable-number-before", "RecoverableMsgAckSeqNumber names a message that was acknowledged before.",
     ("MQQB-3.1.6.4.recoverable-lowest",), ("session", _LowestBefore)),
    ("recoverable-first-skipped", "Bit 0 of RecoverableMsgAckFlags is never set.",
     ("MQQB-3.1.6.4.recoverable-lowest", "MQQB-3.1.6.4.recoverable-none", "MQMQ-2.2.20.4.recoverable-ack-flags"),
     ("session", _FirstSkipped)),
    ("recoverable-acknowledged-again", "Recoverable messages are acknowledged again each time.",
     ("MQQB-3.1.6.4.recoverable-once",), ("session", _Again)),
    ("recoverable-not-sent", "A recoverable message is acknowledged that was not sent.",
     ("MQQB-3.1.1.6.1.recoverable-were-sent",), ("session", _OneBitMore)),
    ("never-acknowledges", "No SessionAck is ever sent.",
     ("MQQB-3.1.5.8.2.acknowledged-in-time", "MQQB-3.1.5.8.7.recoverable-at-once"), ("session", _Silent)),
    ("express-not-acknowledged", "Express messages are not acknowledged.",
     ("MQQB-3.1.5.8.2.acknowledged-in-time",), ("session", _SilentAboutExpress)),
    ("acknowledges-late", "Acknowledgments take four times as long as they may.",
     ("MQQB-3.1.5.8.2.acknowledged-in-time",), ("durations", _Late)),
    ("recoverable-as-express", "A recoverable message is acknowledged when an express one would be.",
     ("MQQB-3.1.5.8.2.acknowledged-in-time",), ("session", _RecoverableAsExpress)),
    ("recoverable-put-off", "An acknowledgment is put off although 32 recoverable messages wait for it.",
     ("MQQB-3.1.5.8.7.recoverable-at-once",), ("session", _Patient)),
    ("acknowledges-nothing", "A SessionAck is sent when nothing has come since the last one.",
     ("MQQB-3.1.6.4.something-to-acknowledge",), ("session", _Chatty)),
    ("acknowledges-twice", "Each SessionAck is sent twice.",
     ("MQQB-3.1.6.4.something-to-acknowledge",), ("session", _Twice)),
    ("window-wider", "WindowSize of a SessionHeader is larger than that of the parameters.",
     ("MQQB-3.1.6.4.window-size",), ("session", _WideWindow)),
    ("window-none", "WindowSize of a SessionHeader is zero.", ("MQMQ-2.2.20.4.window-size-range",),
     ("session", _NoWindow)),
    ("wrong-counts-accepted", "A SessionHeader that counts otherwise leaves the session open.",
     ("MQQB-3.1.5.5.5.counts-closes",), ("session", _Trusting)),
    ("wrong-recoverable-counts-accepted", "A SessionHeader that counts recoverable messages otherwise is accepted.",
     ("MQQB-3.1.5.5.5.counts-closes",), ("session", _TrustsRecoverable)),
    ("recoverable-uncounted", "AckSequenceNumber leaves out recoverable messages.",
     ("MQMQ-2.2.20.4.ack-sequence-number", "MQQB-3.1.6.4.acknowledged"), ("session", _RecoverableUncounted)),
    ("duplicates-delivered", "A message whose identifier came before is delivered again.",
     ("MQQB-3.1.5.8.1.duplicate",), ("history", _NoHistory)),
    ("duplicates-counted", "A message that is discarded as a duplicate is counted.",
     ("MQQB-3.1.5.8.1.duplicate", "MQQB-3.1.6.4.acknowledged"), ("receiver", _DuplicatesCounted)),
    ("duplicates-by-body", "Messages of the same label and body are taken for duplicates.",
     ("MQQB-3.1.5.8.1.duplicate",), ("history", _ByBody)),
)  # fmt: skip
for _name, _says, _breaks, _part in _TABLE:
    fault(__name__, _name, _says, _breaks, _part)
