"""Dialogues with messages: counts, times and acknowledgments of sessions, sequences, rejections, expiry, pings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.judge.dialogues.cases_opening import CONNECTING
from conformance.judge.dialogues.conversation import ruled
from conformance.judge.dialogues.machine import Says
from conformance.judge.dialogues.packets import (
    ABSENT,
    AUTHENTICATED,
    NA,
    NR,
    PA,
    PLAIN,
    PR,
    PRIVATE,
    TRANSACTIONAL,
    Ends,
    Message,
    Values,
    session_ack,
    transactional_ack,
)
from conformance.judge.dialogues.steps import (
    AT_ONCE_MS,
    LOCAL_MS,
    Acknowledged,
    Case,
    Close,
    Closes,
    Comes,
    Never,
    Ping,
    Quiet,
    Reconnects,
    Say,
    Stays,
    Step,
    Stored,
    Tell,
    Wait,
    handshake,
)
from conformance.wire import encode

REACHED, RECEIVED, REPORT = 0x0002, 0x4000, 0x0001  # MS-MQMQ 2.2.18.1.6
BAD_QUEUE, LATE, TOO_MANY_HOPS, BAD_SIGNATURE, BAD_ENCRYPTION = 0x8000, 0x8002, 0x8005, 0x8006, 0x8007
NOT_TRANSACTIONAL_Q, NOT_TRANSACTIONAL_MSG, NOT_RECEIVED = 0x8009, 0x800A, 0xC002
_CLASS, _12, _QB = "MQMQ-2.2.18.1.6.", "MQDMPR-3.1.1.12.", "MQQB-"
_ACKNOWLEDGMENT: Final = encode(
    "UserMessage",
    {
        "BaseHeader.TimeToReachQueue": 0xFFFFFFFF, "UserHeader.Flags.DQ": 7, "UserHeader.Flags.RQ": 7,
        "UserHeader.DestinationQueue.DirectFormatName": "TCP:192.0.2.1\\private$\\a",
        "UserHeader.ResponseQueue.DirectFormatName": "TCP:192.0.2.2\\private$\\q",
        "MessagePropertiesHeader.MessageClass": REACHED,
    },
)  # fmt: skip
"""What an administration acknowledgment looks like, by which rules are found."""


def _transactional(kind: str) -> bytes:
    return transactional_ack(kind, Ends("", 0, "192.0.2.1", "192.0.2.2"), 1)


ACKS: Final = (
    *ruled(session_ack(1, 1, 1, 0, 0)),
    *(f"MQQB-2.2.6.{word}" for word in ("internal-flag", "session-header-flag", "packet-type", "size")),
    *("MQQB-3.1.1.6.1.acknowledged-were-sent", "MQQB-3.1.7.1.3.user-messages-sent", "MQQB-3.1.6.4.recoverable-none"),
    *("MQQB-3.1.7.1.3.recoverable-messages-sent", "MQQB-3.1.6.4.something-to-acknowledge", "MQQB-3.1.6.4.window-size"),
    *("MQMQ-2.2.20.4.ack-sequence-number", "MQQB-2.2.1.refused-elsewhere"),
)
"""What the rules of captures judge of acknowledgments of a session."""
KEPT: Final = (
    *("MQQB-3.1.6.4.recoverable-lowest", "MQQB-3.1.6.4.recoverable-once", "MQQB-3.1.1.6.1.recoverable-were-sent"),
    *("MQQB-3.1.5.8.2.acknowledged-in-time", "MQQB-3.1.5.8.7.recoverable-at-once"),
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
    *("MQQB-3.1.1.6.2.in-order", "MQQB-3.1.5.8.6.accepted", "MQQB-3.1.2.7.order-ack-delay"),
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
SEQUENCED: Final = (f"{_QB}3.1.6.9.sent", f"{_QB}3.1.1.6.2.scheduled")
_IN_TIME: Final = "MQQB-3.1.5.8.2.acknowledged-in-time"
_AT_ONCE: Final = "MQQB-3.1.5.8.7.recoverable-at-once"
_DUPLICATE: Final = "MQQB-3.1.5.8.1.duplicate"
_FOUND: Final = "MQDMPR-3.1.1.12.class-ack-reach-queue"
_KEPT_MS, _EXPRESS_MS = 500, 10_000  # RecoverableAckTimeout, and half of AckTimeout, of `handshake`
_AGAIN_MS: Final = 2_000


def _told(*messages: Message) -> tuple[Step, ...]:
    return (*handshake(), Tell(messages))


def _kept(first: int, count: int) -> tuple[Message, ...]:
    return tuple(Message(f"kept {first + at}", recoverable=True) for at in range(count))


def _ordered(*numbers: int | tuple[int, int], sequence: int = 1, queue: str = TRANSACTIONAL) -> tuple[Message, ...]:
    """Return transactional messages by number, or by number and previous number."""
    pairs = [one if isinstance(one, tuple) else (one, one - 1) for one in numbers]
    return tuple(
        Message(f"tx {sequence}.{number}", queue, number=number, previous=before, sequence=sequence)
        for number, before in pairs
    )


def _reaches(name: str) -> Comes:
    return Comes("UserMessage", name, (f"{_CLASS}ack-reach-queue",), REACHED)


def _order(about: str, *more: str) -> Comes:
    return Comes("OrderAck", about, (*SEQUENCED, *more), within_ms=AT_ONCE_MS)


COUNTED: Final[tuple[Case, ...]] = (
    Case(
        "recoverable",
        (*_told(*_kept(1, 3)), Acknowledged(_IN_TIME, _KEPT_MS), Stored("MQMQ-2.2.20.4.recoverable-ack-flags")),
        (*ACKS, *KEPT),
        queues=(PLAIN,),
    ),
    Case(
        "express",
        (*_told(Message("one"), Message("two")), Acknowledged(_IN_TIME, _EXPRESS_MS)),
        ACKS,
        queues=(PLAIN,),
    ),
    Case(
        "mixed",
        (
            *_told(Message("one"), *_kept(1, 2), Message("two"), *_kept(3, 1)),
            Acknowledged(_IN_TIME, _KEPT_MS),
            Tell(_kept(4, 2)),
            Acknowledged(_IN_TIME, _KEPT_MS),
            Stored("MQMQ-2.2.20.4.recoverable-ack-flags"),
            Stays("MQQB-3.1.5.8.state-closes"),
        ),
        (*ACKS, *KEPT, "MQQB-3.1.1.6.1.never-decreases"),
        queues=(PLAIN,),
    ),
    Case(
        "more-than-flags",
        (
            *handshake(parameters={"ConnectionParametersHeader.RecoverableAckTimeout": 6_000}),
            Tell(_kept(1, 32)),
            Wait(100),
            Tell(_kept(33, 1)),
            Acknowledged(_AT_ONCE, AT_ONCE_MS, count=33),
            Acknowledged(_IN_TIME, 6_000),
        ),
        ACKS,
        queues=(PLAIN,),
    ),
    Case(
        "counts-that-agree",
        (
            *handshake(),
            Tell(_kept(1, 1), acknowledging=True),
            Acknowledged(_IN_TIME, _KEPT_MS),
            Say(Says.ORDER_ACK),
            Stays("MQQB-3.1.5.6.state-closes"),
        ),
        ACKS,
        queues=(PLAIN,),
    ),
    Case(
        "counts-that-differ",
        (
            *handshake("control"),
            *handshake(),
            Tell((Message("counted", recoverable=True, asks=PA),), miscounted=True),
            Closes("MQQB-3.1.5.5.5.counts-closes"),
            Comes("UserMessage", "counted", ("MQMQ-2.2.20.4.user-msg-sequence-number-mismatch",), REACHED),
            *handshake("alive"),
        ),
        queues=(PLAIN,),
        packets="odd",
    ),
    Case(
        "the-same-again",
        (
            *_told(Message("first", recoverable=True, asks=PA)),
            _reaches("first"),
            Tell((Message("again", recoverable=True, asks=PA, again="first"), *_kept(1, 1))),
            Never("UserMessage", "first", (_DUPLICATE,), REACHED, most=1),
        ),
        (*ADMIN, *CONNECTING),
        queues=(PLAIN,),
    ),
    Case(
        "after-a-cut",
        (
            *_told(Message("first", recoverable=True, asks=PA)),
            _reaches("first"),
            Close(how="reset"),
            *handshake("b"),
            Tell((Message("again", recoverable=True, asks=PA, again="first"), *_kept(1, 1)), link="b"),
            Never("UserMessage", "first", (_DUPLICATE,), REACHED, most=1),
        ),
        queues=(PLAIN,),
    ),
)
SEQUENCES: Final[tuple[Case, ...]] = (
    Case(
        "in-order",
        (*_told(*_ordered(1, 2, 3)), _order("tx 1.3"), Acknowledged(_IN_TIME, _KEPT_MS)),
        (*ORDERED, *ACKS, *KEPT, *CONNECTING),
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "one-missing",
        (
            *_told(*_ordered(1, 2, 4)),
            _order("tx 1.2"),
            Never("OrderAck", "tx 1.4", ("MQQB-3.1.1.6.2.in-order",)),
            Tell(_ordered(3, 4)),
            _order("tx 1.4", "MQQB-3.1.5.8.6.accepted"),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "a-gap-that-is-bridged",
        (*_told(*_ordered(1, (3, 1))), _order("tx 1.3", "MQQB-3.1.5.8.6.accepted")),
        ORDERED,
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "the-same-number-again",
        (
            *_told(Message("first", TRANSACTIONAL, number=1, asks=PA)),
            _order("first"),
            Tell((Message("again", TRANSACTIONAL, number=1, asks=PA, again="first"),)),
            Never("UserMessage", "first", ("MQQB-3.1.5.8.6.accepted",), REACHED, most=1),
        ),
        (*ORDERED, *ADMIN, "MQQB-3.1.1.6.2.never-decreases"),
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "a-newer-sequence",
        (
            *_told(*_ordered(1)),
            _order("tx 1.1"),
            Tell(_ordered(1, 2, sequence=2)),
            _order("tx 2.2", "MQQB-3.1.5.8.6.accepted"),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "a-sequence-that-does-not-begin",
        (
            *_told(*_ordered(1)),
            _order("tx 1.1"),
            Tell(_ordered((3, 2), sequence=2)),
            Never("OrderAck", "tx 2.3", ("MQQB-3.1.5.8.6.accepted",)),
            Tell(_ordered(1, sequence=2)),
            _order("tx 2.1"),
        ),
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "an-older-sequence",
        (
            *_told(*_ordered(1, sequence=3)),
            _order("tx 3.1"),
            Tell((Message("older", TRANSACTIONAL, number=1, sequence=2, asks=PA),)),
            Never("UserMessage", "older", ("MQQB-3.1.5.8.6.accepted",), REACHED),
        ),
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "again-after-a-cut",
        (
            *_told(*_ordered(1, 2)),
            Close(how="reset"),
            *handshake("b"),
            Tell(_ordered(1, 2, 3), link="b"),
            _order("tx 1.3"),
        ),
        queues=(TRANSACTIONAL,),
    ),
)


_NO_DIRECTORY: Final = "no FinalAck came: it goes to a private name, whose host the directory has to have"


def _rejected(
    name: str, message: Message, message_class: int, requirements: tuple[str, ...], *, insecure: bool = False,
    judged: tuple[str, ...] = (), packets: str = "correct",
) -> Case:  # fmt: skip
    """A message that asks for word of its failure, and gets it; a transactional one also gets a FinalAck."""
    steps: list[Step] = [*handshake("control"), *handshake(), Tell((message,))]
    if message.number is not None:
        may = _NO_DIRECTORY if message.queue is None else None
        steps.append(Comes("FinalAck", message.name, requirements, message_class, may=may))
    steps.append(Comes("UserMessage", message.name, requirements, message_class, insecure=insecure))
    steps += [Never("UserMessage", message.name, (f"{_CLASS}ack-reach-queue",), REACHED, for_ms=300)]
    queues = tuple(one for one in (message.queue,) if one not in (None, ABSENT))
    of_class = (*ADMIN, "MQQB-3.1.7.15.body", *(FINAL if message.number is not None else ()))
    return Case(name, tuple(steps), (*of_class, *judged), queues=queues, packets=packets)


_SIGNED: Final[Values] = {
    "SecurityHeader.Flags.ST": 0,
    "SecurityHeader.Flags.AU": 1,
    "SecurityHeader.Flags.AI": 1,
    "SecurityHeader.Flags.DE": 1,
    "SecurityHeader.SecurityData.Signature": b"\x5a" * 128,
    "SecurityHeader.SecurityData.SenderCert": b"\x30\x03\x02\x01\x05",
}
_ENCRYPTED: Final[Values] = {
    "SecurityHeader.Flags.EB": 1,
    "SecurityHeader.Flags.AI": 1,
    "SecurityHeader.SecurityData.EncryptionKey": b"\x5a" * 64,
    "MessagePropertiesHeader.PrivacyLevel": 9,
}
_NO_QUEUE: Final = ("MQQB-3.1.5.8.2.no-such-queue", f"{_CLASS}nack-bad-dst-q")
_HOPS: Final = ("MQQB-3.1.5.8.2.hop-count-exceeded", f"{_12}class-nack-hop-count-exceeded")
_ONWARDS: Final[Values] = {"UserHeader.Flags.RC": 0x1D}  # the most that there may be, MS-MQMQ 2.2.19.2
_REPORTS: Final = "2e6a8c14-90d7-4f3b-b1a5-c7e9f3d80514"
_TRACED: Final[Values] = {
    "BaseHeader.Flags.TR": 1,
    "BaseHeader.Flags.DH": 1,
    "DebugHeader.Flags.QT": 1,
    "DebugHeader.Queue.QueueIdentifier": _REPORTS,
}
_NO_REPORT: Final = "no report came: its queue is a public one, and the directory has to have it"
REJECTED: Final[tuple[Case, ...]] = (
    _rejected("no-such-queue", Message("lost", ABSENT, recoverable=True, asks=NA), BAD_QUEUE, _NO_QUEUE, insecure=True),
    _rejected(
        "no-such-queue-transactional", Message("lost", ABSENT, number=1, asks=NA), BAD_QUEUE, _NO_QUEUE, insecure=True
    ),
    _rejected(
        "not-a-transactional-queue",
        Message("wrong", PLAIN, number=1, asks=NA),
        NOT_TRANSACTIONAL_Q,
        (f"{_CLASS}nack-not-transactional-q",),
        judged=("MQQB-3.1.5.8.2.not-transactional-queue",),
    ),
    _rejected(
        "not-a-transactional-message",
        Message("wrong", TRANSACTIONAL, recoverable=True, asks=NA),
        NOT_TRANSACTIONAL_MSG,
        (f"{_CLASS}nack-not-transactional-msg",),
        judged=("MQQB-3.1.5.8.2.not-transactional-message",),
    ),
    _rejected(
        "too-many-hops",
        Message("far", None, recoverable=True, asks=NA, manager="stranger", more=_ONWARDS),
        TOO_MANY_HOPS,
        _HOPS,
    ),
    _rejected(
        "too-many-hops-transactional",
        Message("far", None, number=1, asks=NA, manager="stranger", more=_ONWARDS),
        TOO_MANY_HOPS,
        _HOPS,
    ),
    _rejected(
        "a-signature-that-is-wrong",
        Message("signed", TRANSACTIONAL, number=1, asks=NA, more=_SIGNED),
        BAD_SIGNATURE,
        (f"{_CLASS}nack-bad-signature", f"{_12}class-nack-bad-signature"),
        insecure=True,
        packets="odd",
    ),
    _rejected(
        "an-unknown-privacy-level",
        Message("encrypted", TRANSACTIONAL, number=1, asks=NA, more=_ENCRYPTED),
        BAD_ENCRYPTION,
        (
            *("MQMQ-2.2.19.3.privacy-level-refused", "MQMQ-2.2.19.3.privacy-level-refused-code"),
            *(f"{_CLASS}nack-bad-encryption", f"{_12}class-nack-bad-encryption"),
        ),
        insecure=True,
        packets="odd",
    ),
    Case(
        "not-authenticated",
        (
            *_told(Message("control", asks=PA)),
            _reaches("control"),
            Tell((Message("unsigned", AUTHENTICATED, asks=PA),)),
            Never("UserMessage", "unsigned", ("MQDMPR-3.1.1.2.authentication",), REACHED),
        ),
        queues=(PLAIN, AUTHENTICATED),
    ),
    Case(
        "not-encrypted",
        (
            *_told(Message("control", asks=PA)),
            _reaches("control"),
            Tell((Message("clear", PRIVATE, asks=PA),)),
            Never("UserMessage", "clear", ("MQDMPR-3.1.1.2.privacy-level-body",), REACHED),
        ),
        queues=(PLAIN, PRIVATE),
    ),
)


def _headers() -> Iterable[tuple[str, str, Values]]:
    """Yield optional headers by name, and the demand that a message with one is taken."""
    yield "debug", f"{_12}tracing-not-requested", {"BaseHeader.Flags.DH": 1, "DebugHeader.Flags.QT": 0}
    yield "sender", f"{_12}class-ack-reach-queue", {
        "SecurityHeader.Flags.ST": 2, "SecurityHeader.Flags.AI": 1,
        "SecurityHeader.SecurityData.SecurityID": bytes(range(16)),
    }  # fmt: skip
    yield "soap", f"{_12}class-ack-reach-queue", {"SoapHeader.Header": "<h/>", "SoapHeader.Body": "<b/>"}
    yield "extension", f"{_12}class-ack-reach-queue", {"MessagePropertiesHeader.ExtensionData": b"\x01\x02\x03"}
    yield (
        "connector",
        f"{_12}class-ack-reach-queue",
        {"UserHeader.ConnectorType": _REPORTS},
    )


TAKEN: Final[tuple[Case, ...]] = (
    *(
        Case(
            f"with-{name}",
            (
                *_told(Message("bare", asks=PA), Message("more", asks=PA, more=values)),
                Comes("UserMessage", "bare", (_FOUND,), REACHED),
                Comes("UserMessage", "more", (requirement,), REACHED),
            ),
            ADMIN,
            queues=(PLAIN,),
        )
        for name, requirement, values in _headers()
    ),
    Case(
        "word-of-arrival",
        (
            *_told(
                Message("express", asks=PA),
                Message("recoverable", recoverable=True, asks=PA),
                Message("silent"),
                Message("by identifier", asks=PA, body=b"x" * 5_000),
            ),
            *map(_reaches, ("express", "recoverable", "by identifier")),
            Never("UserMessage", "silent", ("MQQB-3.1.7.15.requested",), for_ms=800),
        ),
        (*ADMIN, *CONNECTING),
        queues=(PLAIN,),
    ),
    Case(
        "word-of-a-transactional-arrival",
        (*_told(Message("first", TRANSACTIONAL, number=1, asks=PA)), _reaches("first"), _order("first")),
        (*ADMIN, *ORDERED),
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "word-of-a-receive",
        (
            *_told(Message("taken", recoverable=True, asks=PR | PA)),
            _reaches("taken"),
            Comes("UserMessage", "taken", (f"{_CLASS}ack-receive",), RECEIVED, within_ms=12_000),
        ),
        ADMIN,
        queues=(PLAIN,),
        consumed=(PLAIN,),
    ),
    Case(
        "a-final-acknowledgment",
        (
            *_told(Message("taken", TRANSACTIONAL, number=1, more={"TransactionHeader.Flags.FA": 1})),
            _order("taken"),
            Comes("FinalAck", "taken", (f"{_12}final-ack-sent",), RECEIVED, within_ms=12_000),
        ),
        (*FINAL, *ORDERED, "MQQB-3.1.7.2.2.wanted"),
        queues=(TRANSACTIONAL,),
        consumed=(TRANSACTIONAL,),
    ),
    Case(
        "traced",
        (
            *_told(Message("traced", asks=PA, more=_TRACED)),
            _reaches("traced"),
            Comes(
                "UserMessage", "traced",
                ("MQQB-3.1.5.8.9.sent", "MQQB-3.1.5.8.9.report-queue", f"{_12}class-report", f"{_12}tracing-requested"),
                REPORT, may=_NO_REPORT,
            ),
        ),
        queues=(PLAIN,),
    ),
    Case(
        "not-traced",
        (
            *_told(Message("untraced", asks=PA)),
            _reaches("untraced"),
            Never("UserMessage", "untraced", (f"{_12}tracing-not-requested",), REPORT, for_ms=500),
        ),
        queues=(PLAIN,),
    ),
)  # fmt: skip
_EXPIRED: Final = "MQMQ-2.2.19.1.time-to-reach-queue-expired-receiver"
EXPIRED: Final[tuple[Case, ...]] = (
    Case(
        "too-late",
        (
            *_told(Message("control", asks=PA, reach_s=60), Message("late", asks=PA | NA, reach_s=5, age_s=60)),
            _reaches("control"),
            Comes("UserMessage", "late", (f"{_CLASS}nack-reach-queue-timeout",), LATE),
            Never("UserMessage", "late", (_EXPIRED,), REACHED, for_ms=500),
        ),
        ADMIN,
        queues=(PLAIN,),
    ),
    Case(
        "never-too-late",
        (
            *_told(Message("old", asks=PA, age_s=3_000_000)),
            Comes("UserMessage", "old", ("MQMQ-2.2.19.1.time-to-reach-queue-infinite",), REACHED),
            Tell((Message("in time", asks=PA, reach_s=60, age_s=2),)),
            Comes("UserMessage", "in time", ("MQMQ-2.2.19.1.time-to-reach-queue-evaluated-receiver",), REACHED),
        ),
        ADMIN,
        queues=(PLAIN,),
    ),
    Case(
        "not-received-in-time",
        (
            *_told(Message("left", "mqconform-journal", recoverable=True, asks=PA | NR, receive_s=2)),
            _reaches("left"),
            Comes("UserMessage", "left", (f"{_CLASS}nack-receive-timeout",), NOT_RECEIVED, within_ms=8_000),
        ),
        (*ADMIN, "MQQB-3.1.7.15.body"),
        queues=("mqconform-journal",),
    ),
)
_RETAINED: Final = "MQQB-3.1.7.1.1.identifier"
AGAIN: Final[tuple[Case, ...]] = (
    Case(
        "sent-again-after-a-cut",
        (
            *handshake(),
            Quiet(),
            Tell((Message("asked", recoverable=True, asks=PA),)),
            _reaches("asked"),
            Close("*", how="reset"),
            Reconnects(_RETAINED),
            Quiet(on=False),
            Wait(800),
        ),
        (*ADMIN, "MQQB-3.1.7.1.window"),
        {"session-retry-connect": LOCAL_MS},
        queues=(PLAIN,),
    ),
    Case(
        "nothing-is-acknowledged",
        (
            *handshake(),
            Quiet(),
            Tell((Message("asked", recoverable=True, asks=PA),)),
            _reaches("asked"),
            Closes("MQQB-3.1.6.3.closes", 3_000, link="in-1", timer="session-ack-wait"),
        ),
        ADMIN,
        {"session-ack-wait": 10_000},
        queues=(PLAIN,),
    ),
    Case(
        "no-more-than-the-window",
        (
            *handshake(),
            Quiet(),
            Tell(tuple(Message(f"asked {at}", asks=PA) for at in range(70))),
            _reaches("asked 0"),
            Wait(1_500),
        ),
        (*ADMIN, "MQQB-3.1.7.1.window"),
        {"session-retry-connect": _AGAIN_MS},
        queues=(PLAIN,),
    ),
)
PINGS: Final[tuple[Case, ...]] = (
    Case(
        "answered",
        (
            *handshake(),
            Ping(control=True, wanted={"Ping.Flags.RF": (0, "MQQB-2.2.7.response-rf")}),
            Ping(wanted={"Ping.Flags.RC": (0, "MQQB-2.2.7.response-rc")}),
            Ping({"Ping.Flags.RC": 1}, {"Ping.Flags.RC": (1, "MQQB-2.2.7.response-rc")}),
        ),
        (
            *(f"MQQB-2.2.7.{word}" for word in ("response-cookie", "response-qm-guid", "signature", "size")),
            "MQQB-2.1.2.response-address",
        ),
    ),
    Case(
        "unused-bits",
        (
            Ping(control=True, wanted={"Ping.Flags.RF": (0, "MQQB-2.2.7.response-rf")}),
            Ping({"Ping.Flags.X": 0x3FFF}, {"Ping.Flags.RF": (0, "MQQB-2.2.7.flags-ignored")}),
        ),
        packets="odd",
    ),
    Case(
        "another-signature",
        (
            Ping(control=True, wanted={"Ping.Flags.RF": (0, "MQQB-2.2.7.response-rf")}),
            Ping({"Ping.Signature": 0x4855}, ignored="MQQB-2.2.7.signature-ignored"),
            Ping(wanted={"Ping.Flags.RF": (0, "MQQB-2.2.7.response-rf")}),
        ),
        packets="malformed",
    ),
)
