"""Dialogues about counts, times and acknowledgments of a session, sequences, and what is sent again."""

from __future__ import annotations

from typing import Final

from conformance.judge.dialogues.cases_opening import CONNECTING
from conformance.judge.dialogues.groups import (
    ACKS,
    ADMIN,
    AGAIN_MS,
    AT_ONCE,
    DUPLICATE,
    EXPRESS_MS,
    IN_TIME,
    KEPT,
    KEPT_MS,
    ORDERED,
    REACHED,
    kept,
    order,
    ordered,
    reaches,
    told,
)
from conformance.judge.dialogues.machine import Says
from conformance.judge.dialogues.packets import (
    PA,
    PLAIN,
    TRANSACTIONAL,
    Message,
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
    Quiet,
    Reconnects,
    Say,
    Stays,
    Stored,
    Tell,
    Wait,
    handshake,
)

_IDLE_MS: Final = EXPRESS_MS + 4_000
"""After so long an acknowledgment would come again, were there anything to acknowledge (MS-MQQB 3.1.6.4)."""
_SLOW: Final = handshake(parameters={"ConnectionParametersHeader.RecoverableAckTimeout": 6_000})
_SLOWLY: Final = (*_SLOW[:3], Wait(700), *_SLOW[3:])
"""A session of which the other end may believe that a round trip takes 750 ms."""
COUNTED: Final[tuple[Case, ...]] = (
    Case(
        "recoverable",
        (*told(*kept(1, 3)), Acknowledged(IN_TIME, KEPT_MS), Stored("MQMQ-2.2.20.4.recoverable-ack-flags")),
        (*ACKS, *KEPT),
        queues=(PLAIN,),
    ),
    Case(
        "express",
        (*told(Message("one"), Message("two")), Acknowledged(IN_TIME, EXPRESS_MS), Wait(_IDLE_MS)),
        ACKS,
        queues=(PLAIN,),
    ),
    Case(
        "mixed",
        (
            *told(Message("one"), *kept(1, 2), Message("two"), *kept(3, 1)),
            Acknowledged(IN_TIME, KEPT_MS),
            Tell(kept(4, 2)),
            Acknowledged(IN_TIME, KEPT_MS),
            Stored("MQMQ-2.2.20.4.recoverable-ack-flags"),
            Stays("MQQB-3.1.5.8.state-closes"),
        ),
        (*ACKS, *KEPT, "MQQB-3.1.1.6.1.never-decreases"),
        queues=(PLAIN,),
    ),
    Case(
        "more-than-flags",
        (
            *_SLOWLY,
            Tell(kept(1, 32)),
            Wait(100),
            Tell(kept(33, 1)),
            Acknowledged(AT_ONCE, AT_ONCE_MS, count=33),
            Acknowledged(IN_TIME, 6_000),
        ),
        ACKS,
        queues=(PLAIN,),
    ),
    Case(
        "counts-that-agree",
        (
            *handshake(),
            Tell(kept(1, 1), acknowledging=True),
            Acknowledged(IN_TIME, KEPT_MS),
            Say(Says.ORDER_ACK),
            Stays("MQQB-3.1.5.6.state-closes"),
        ),
        ACKS,
        queues=(PLAIN,),
    ),
    Case(
        "an-order-acknowledgment-with-reserved-bytes",
        (
            *handshake(),
            Say(Says.ORDER_ACK),
            Stays("MQQB-3.1.5.6.state-closes"),
            Say(Says.ORDER_ACK, values={"OrderAckBody.Reserved": b"\xff" * 20}),
            Stays("MQQB-2.2.4.1.reserved-ignored"),
        ),
        packets="odd",
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
            *told(Message("first", recoverable=True, asks=PA)),
            reaches("first"),
            Tell((Message("again", recoverable=True, asks=PA, again="first"), *kept(1, 1))),
            Never("UserMessage", "first", (DUPLICATE,), REACHED, most=1),
            Acknowledged(DUPLICATE, KEPT_MS, count=2),
        ),
        (*ADMIN, *CONNECTING),
        queues=(PLAIN,),
    ),
    Case(
        "after-a-cut",
        (
            *told(Message("first", recoverable=True, asks=PA)),
            reaches("first"),
            Close(how="reset"),
            *handshake("b"),
            Tell((Message("again", recoverable=True, asks=PA, again="first"), *kept(1, 1)), link="b"),
            Never("UserMessage", "first", (DUPLICATE,), REACHED, most=1),
        ),
        queues=(PLAIN,),
    ),
)
SEQUENCES: Final[tuple[Case, ...]] = (
    Case(
        "in-order",
        (*told(*ordered(1, 2, 3)), order("tx 1.3"), Acknowledged(IN_TIME, KEPT_MS)),
        (*ORDERED, *ACKS, *KEPT, *CONNECTING),
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "one-missing",
        (
            *told(*ordered(1, 2, 4)),
            order("tx 1.2"),
            Never("OrderAck", "tx 1.4", ("MQQB-3.1.1.6.2.in-order",)),
            Tell(ordered(3, 4)),
            order("tx 1.4", "MQQB-3.1.5.8.6.accepted"),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
        packets="odd",
    ),
    Case(
        "a-gap-that-is-bridged",
        (
            *told(*ordered(1)),
            order("tx 1.1"),
            Tell(ordered((3, 1))),
            order("tx 1.3", "MQQB-3.1.5.8.6.accepted"),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
        packets="odd",
    ),
    Case(
        "a-bridge-wider-than-the-gap",
        (
            *told(*ordered(1, 2)),
            order("tx 1.2"),
            Tell(ordered((3, 1))),
            order("tx 1.3", "MQQB-3.1.5.8.6.accepted"),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
        packets="odd",
    ),
    Case(
        "the-same-number-again",
        (
            *told(Message("first", TRANSACTIONAL, number=1, asks=PA)),
            order("first"),
            Tell((Message("again", TRANSACTIONAL, number=1, asks=PA, again="first"),)),
            Never("UserMessage", "first", ("MQQB-3.1.5.8.6.accepted",), REACHED, most=1),
        ),
        (*ORDERED, *ADMIN, "MQQB-3.1.1.6.2.never-decreases"),
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "a-newer-sequence",
        (
            *told(*ordered(1)),
            order("tx 1.1"),
            Tell(ordered(1, 2, sequence=2)),
            order("tx 2.2", "MQQB-3.1.5.8.6.accepted"),
        ),
        ORDERED,
        queues=(TRANSACTIONAL,),
    ),
    Case(
        "a-sequence-that-does-not-begin",
        (
            *told(*ordered(1)),
            order("tx 1.1"),
            Tell(ordered((3, 2), sequence=2)),
            Never("OrderAck", "tx 2.3", ("MQQB-3.1.5.8.6.accepted",)),
            Tell(ordered(1, sequence=2)),
            order("tx 2.1"),
        ),
        queues=(TRANSACTIONAL,),
        packets="odd",
    ),
    Case(
        "an-older-sequence",
        (
            *told(*ordered(1, sequence=3)),
            order("tx 3.1"),
            Tell((Message("older", TRANSACTIONAL, number=1, sequence=2, asks=PA),)),
            Never("UserMessage", "older", ("MQQB-3.1.5.8.6.accepted",), REACHED),
        ),
        queues=(TRANSACTIONAL,),
        packets="odd",
    ),
    Case(
        "again-after-a-cut",
        (
            *told(*ordered(1, 2)),
            Close(how="reset"),
            *handshake("b"),
            Tell(ordered(1, 2, 3), link="b"),
            order("tx 1.3"),
        ),
        queues=(TRANSACTIONAL,),
    ),
)


AGAIN: Final[tuple[Case, ...]] = (
    Case(
        "sent-again-after-a-cut",
        (
            *handshake(),
            Quiet(),
            Tell((Message("asked", recoverable=True, asks=PA),)),
            reaches("asked"),
            Close("*", how="reset"),
            Reconnects("MQQB-2.1.1.initiator-port"),
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
            reaches("asked"),
            Closes("MQQB-3.1.6.3.closes", 3_000, link="in-1", timer="session-ack-wait"),
            Quiet(on=False),
            Wait(1_500),
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
            Tell((*(Message(f"asked {at}", asks=PA) for at in range(40)), *kept(1, 1))),
            Acknowledged(IN_TIME, KEPT_MS),
            Tell(tuple(Message(f"asked {at}", asks=PA) for at in range(40, 70))),
            reaches("asked 0"),
            Wait(1_500),
            Quiet(on=False),
            Wait(1_500),
        ),
        (*ADMIN, "MQQB-3.1.7.1.window"),
        {"session-retry-connect": AGAIN_MS},
        queues=(PLAIN,),
    ),
)
