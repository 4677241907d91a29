"""Requirements that rules judge together in dialogues, numbers of classes, and the messages that cases are made of."""

from __future__ import annotations

from typing import Final

from conformance.judge.dialogues.conversation import ruled
from conformance.judge.dialogues.packets import (
    TRANSACTIONAL,
    Ends,
    Message,
    session_ack,
    transactional_ack,
)
from conformance.judge.dialogues.steps import (
    AT_ONCE_MS,
    Comes,
    Step,
    Tell,
    handshake,
)
from conformance.spec.catalogue import reading_id
from conformance.wire import encode

REACHED, RECEIVED, REPORT = 0x0002, 0x4000, 0x0001  # MS-MQMQ 2.2.18.1.6
BAD_QUEUE, LATE, TOO_MANY_HOPS, BAD_SIGNATURE, BAD_ENCRYPTION = 0x8000, 0x8002, 0x8005, 0x8006, 0x8007
NOT_TRANSACTIONAL_Q, NOT_TRANSACTIONAL_MSG, NOT_RECEIVED = 0x8009, 0x800A, 0xC002
CLASS, ATTRIBUTE, BINARY = "MQMQ-2.2.18.1.6.", "MQDMPR-3.1.1.12.", "MQQB-"
_ACKNOWLEDGMENT: Final = encode(
    "UserMessage",
    {
        "BaseHeader.TimeToReachQueue": 0xFFFFFFFF, "UserHeader.Flags.DQ": 7, "UserHeader.Flags.RQ": 7,
        "UserHeader.DestinationQueue.DirectFormatName": "TCP:192.0.2.1\\private$\\a",
        "UserHeader.ResponseQueue.DirectFormatName": "TCP:192.0.2.2\\private$\\q",
        "MessagePropertiesHeader.MessageClass": REACHED,
    },
)  # fmt: skip
"""The look of an administration acknowledgment, by which rules are found."""


def _transactional(kind: str) -> bytes:
    return transactional_ack(kind, Ends("", 0, "192.0.2.1", "192.0.2.2"), 1)


DUE: Final = "MQQB-3.1.6.4.expired"
ACKS: Final = (
    *ruled(session_ack(1, 1, 1, 0, 0)),
    *(f"MQQB-2.2.6.{word}" for word in ("internal-flag", "session-header-flag", "packet-type", "size")),
    *("MQQB-3.1.1.6.1.acknowledged-were-sent", "MQQB-3.1.7.1.3.user-messages-sent", "MQQB-3.1.6.4.recoverable-none"),
    *("MQQB-3.1.7.1.3.recoverable-messages-sent", "MQQB-3.1.6.4.something-to-acknowledge", "MQQB-3.1.6.4.window-size"),
    *("MQMQ-2.2.20.4.ack-sequence-number", "MQQB-2.2.1.refused-elsewhere"),
)
"""The entries of acknowledgments of a session that the rules of captures judge."""
KEPT: Final = (
    *("MQQB-3.1.6.4.recoverable-lowest", "MQQB-3.1.6.4.recoverable-once", "MQQB-3.1.1.6.1.recoverable-were-sent"),
    *("MQQB-3.1.5.8.2.acknowledged-in-time", "MQQB-3.1.5.8.7.recoverable-at-once", DUE),
)
ORDERED: Final = (
    *(
        f"MQQB-2.2.4.{word}"
        for word in (
            *("address", "base-flags", "user-flags", "delivery", "destination", "destination-type", "label"),
            *("properties-flags", "message-size", "body-type", "message-class"),
        )
    ),
    *(f"MQQB-2.2.4.1.{word}" for word in ("previous", "number", "sequence", "reserved")),
    *("MQQB-3.1.1.6.2.in-order", "MQQB-3.1.5.8.6.accepted", "MQQB-3.1.3.2.order-ack-delay"),
    *("MQQB-3.1.7.17.destination-form", "MQQB-3.1.7.17.privacy-level"),
    *ruled(_transactional("OrderAck")),
)
FINAL: Final = (
    *(
        f"MQQB-2.2.5.{word}"
        for word in (
            *("address", "base-flags", "user-flags", "destination", "destination-type", "label"),
            *("properties-flags", "message-size", "body-type", "message-class"),
        )
    ),
    *(f"MQQB-2.2.5.1.{word}" for word in ("previous", "number", "sequence", "sequence-number")),
    *("MQQB-2.2.5.1.source-guid", "MQQB-2.2.5.1.message-id", "MQQB-3.1.7.17.destination-form"),
    *ruled(_transactional("FinalAck")),
)
ADMIN: Final = (
    *(
        f"MQQB-3.1.7.15.{word}"
        for word in (
            *("correlation", "delivery", "times", "plain", "unsigned", "requested", "destination", "response-queue"),
        )
    ),
    *("MQQB-3.1.7.1.1.identifier", "MQQB-3.1.5.8.2.hop-count"),
    *ruled(_ACKNOWLEDGMENT),
)
SEQUENCED: Final = (f"{BINARY}3.1.6.9.sent", f"{BINARY}3.1.1.6.2.scheduled")
IN_TIME: Final = "MQQB-3.1.5.8.2.acknowledged-in-time"
AT_ONCE: Final = "MQQB-3.1.5.8.7.recoverable-at-once"
DUPLICATE: Final = "MQQB-3.1.5.8.1.duplicate"
REPEATED: Final = (reading_id("R-MQQB-repeated-count"), "uncounted", "counted")
FOUND: Final = "MQDMPR-3.1.1.12.class-ack-reach-queue"
KEPT_MS, EXPRESS_MS = 500, 10_000  # RecoverableAckTimeout, and half of AckTimeout, of `handshake`
AGAIN_MS: Final = 2_000


def opening_with(*messages: Message) -> tuple[Step, ...]:
    return (*handshake(), Tell(messages))


def recoverable_messages(first: int, count: int) -> tuple[Message, ...]:
    return tuple(Message(f"kept {first + at}", recoverable=True) for at in range(count))


def ordered(*numbers: int | tuple[int, int], sequence: int = 1, queue: str = TRANSACTIONAL) -> tuple[Message, ...]:
    """Return transactional messages by number, or by number and previous number."""
    pairs = [one if isinstance(one, tuple) else (one, one - 1) for one in numbers]
    return tuple(
        Message(f"tx {sequence}.{number}", queue, number=number, previous=before, sequence=sequence)
        for number, before in pairs
    )


def reaches(name: str) -> Comes:
    return Comes("UserMessage", name, (f"{CLASS}ack-reach-queue", "MQMQ-2.2.19.3.flags-pa"), REACHED)


def order(about: str, *more: str) -> Comes:
    """Wait for an OrderAck. more: what is broken if it does not come, although another one has come before."""
    return Comes("OrderAck", about, more or SEQUENCED, within_ms=AT_ONCE_MS)
