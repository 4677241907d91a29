"""Rules for BaseHeader (MS-MQMQ 2.2.19.1) and SessionHeader (2.2.20.4)."""

from __future__ import annotations

from dataclasses import replace

from conformance.judge.expr import (
    ALWAYS,
    Compare,
    Const,
    Field,
    Has,
    Masked,
    Not,
    at_least,
    at_most,
    both,
    either,
    eq,
    is_clear,
    is_set,
    ne,
    one_of,
)
from conformance.judge.rules import Mutation, Rule, Value
from conformance.wire.base_header import INFINITE, MAXIMUM_SIZE, SIGNATURE, VERSION

B = "BaseHeader."
S = "SessionHeader."
# A packet is what it is recognised as, whatever IN says (`wire.recognition`).
_MESSAGE_FLAGS, _INTERNAL_FLAGS = Has("UserHeader.Flags"), Has("InternalHeader.Flags")
_ACKNOWLEDGES = either(Has("OrderAckBody.TxSequenceNumber"), Has("FinalAckBody.TxSequenceNumber"))
INTERNAL = either(_INTERNAL_FLAGS, both(is_set(B + "Flags.IN"), Not(_MESSAGE_FLAGS)))
# BaseHeader announces a user message, and can be believed.
USER_MESSAGE = both(
    is_clear(B + "Flags.IN"),
    Not(_INTERNAL_FLAGS),
    eq(B + "Signature", SIGNATURE),
    at_least(B + "PacketSize", 16),
    at_most(B + "PacketSize", MAXIMUM_SIZE),
)
MESSAGE = _MESSAGE_FLAGS
PLACEMENT = "Packet.SessionHeaderPlacement"
INSIDE, AFTER = eq(PLACEMENT, "inside"), eq(PLACEMENT, "after")
# The default, and what the acknowledgment of a paused queue has to say (MS-MQQB 3.1.7.13).
USUAL_WINDOWS = (64, 1)
WITH_SESSION = {S + "WindowSize": 64}
# An OrderAck to the order queue of a queue manager.
ORDER: dict[str, Value] = {
    "UserHeader.SourceQueueManager": "11ea26c6-b6e6-4997-9595-9150557358d1",
    "UserHeader.DestinationQueue.DirectFormatName": "TCP:192.0.2.1\\PRIVATE$\\order_queue$",
    "OrderAckBody.TxSequenceNumber": 1,
}
WITH_DEBUG = {"DebugHeader.Flags.QT": 0}


def reserved_bits(section: str, requirement: str, names: str, breaks: Mutation) -> tuple[Rule, ...]:
    """Make a rule for each reserved bit of a flags word: the sender clears it."""
    return tuple(
        Rule(
            f"{requirement}.flags-{name.lower()}",
            Has(f"{section}.Flags"),
            is_clear(f"{section}.Flags.{name}"),
            replace(breaks, patch={f"{section}.Flags.{name}": 1}),
        )
        for name in names.split()
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "MQMQ-2.2.19.1.version-number",
        ALWAYS,
        eq(B + "VersionNumber", VERSION),
        Mutation(patch={B + "VersionNumber": 0x11}),
    ),
    Rule(
        "MQMQ-2.2.19.1.signature",
        ALWAYS,
        eq(B + "Signature", SIGNATURE),
        Mutation(patch={B + "Signature": 0x4C494F52}),
    ),
    Rule(
        "MQMQ-2.2.19.1.internal-set",
        _INTERNAL_FLAGS,
        is_set(B + "Flags.IN"),
        Mutation(kind="SessionAck", patch={B + "Flags.IN": 0}),
    ),
    Rule(
        "MQMQ-2.2.19.1.internal-clear",
        both(MESSAGE, _ACKNOWLEDGES),
        is_clear(B + "Flags.IN"),
        Mutation(kind="OrderAck", also=ORDER, patch={B + "Flags.IN": 1}),
    ),
    Rule(
        "MQMQ-2.2.20.not-internal",
        both(MESSAGE, Not(_ACKNOWLEDGES)),
        is_clear(B + "Flags.IN"),
        Mutation(patch={B + "Flags.IN": 1}),
    ),
    Rule(
        "MQMQ-2.2.19.1.packet-size",
        Has(B + "TimeToReachQueue"),
        eq(B + "PacketSize", Field("Packet.Counted")),
        Mutation(patch={B + "PacketSize": 48}, also_breaks=("MQMQ-2.2.20.required-headers",)),
    ),
    Rule(
        "MQMQ-2.2.19.1.packet-size-maximum",
        ALWAYS,
        at_most(B + "PacketSize", MAXIMUM_SIZE),
        Mutation(body=MAXIMUM_SIZE),
    ),
    Rule(
        "MQMQ-2.2.19.1.packet-size-session-header",
        Has(S + "Reserved"),
        {
            "messages-exclude": either(both(INTERNAL, INSIDE), both(MESSAGE, AFTER)),
            "always-includes": INSIDE,
            "always-excludes": AFTER,
        },
        # No placement breaks the rule in every reading; under `strict` a counted SessionHeader does.
        Mutation(also=WITH_SESSION, given={B + "Reserved": 1}, placement="inside"),
        "R-MQMQ-packet-size-session-header",
    ),
    Rule(
        "MQMQ-2.2.19.1.packet-size-headers",
        both(MESSAGE, Has("Packet.HeadersEnd")),
        {
            "none": eq("Packet.Unexplained", 0),
            "extension": either(
                eq("Packet.Unexplained", 0),
                both(Has("ExtensionHeader.Flags"), eq("Packet.Unexplained", Field("Packet.ExtensionEnd"))),
            ),
        },
        Mutation(given={"MessagePropertiesHeader.Padding": bytes(6)}),
        "R-MQMQ-trailing-headers",
    ),
    Rule(
        "MQMQ-2.2.19.1.session-header-present",
        is_set(B + "Flags.SH"),
        Has(S + "Reserved"),
        Mutation(also=WITH_SESSION, given={B + "Flags.SH": 1}, sections=("MessagePropertiesHeader",)),
    ),
    Rule(
        "MQMQ-2.2.19.1.debug-header-present",
        both(MESSAGE, is_set(B + "Flags.DH")),
        Has("DebugHeader.Reserved"),
        Mutation(also=WITH_DEBUG, given={B + "Flags.DH": 1}, sections=("MessagePropertiesHeader",)),
    ),
    Rule(
        "MQMQ-2.2.19.1.debug-header-user-message-only",
        INTERNAL,
        is_clear(B + "Flags.DH"),
        Mutation(kind="SessionAck", patch={B + "Flags.DH": 1}),
    ),
    Rule(
        "MQMQ-2.2.19.1.trace-debug-header",
        is_set(B + "Flags.TR"),
        is_set(B + "Flags.DH"),
        Mutation(
            also={B + "Flags.TR": 1, **WITH_DEBUG}, given={B + "Flags.DH": 0}, sections=("MessagePropertiesHeader",)
        ),
    ),
    Rule(
        "MQMQ-2.2.19.1.time-to-reach-queue-internal",
        INTERNAL,
        eq(B + "TimeToReachQueue", INFINITE),
        Mutation(kind="SessionAck", patch={B + "TimeToReachQueue": 60}),
    ),
    Rule(
        "MQMQ-2.2.19.1.transactional-priority-zero",
        both(MESSAGE, is_set("UserHeader.Flags.TH")),
        is_clear(B + "Flags.PR"),
        Mutation(also={"TransactionHeader.TxSequenceNumber": 1}, patch={B + "Flags.PR": 3}),
    ),
    *reserved_bits("BaseHeader", "MQMQ-2.2.19.1", "X0 X1 X2 X3 X4 X5 X6 X8 X9", Mutation()),
    Rule(
        "MQMQ-2.2.20.4.recoverable-ack-none",
        Has(S + "Reserved"),
        # Number 65536 may be sent as 0, with its own bit set: only the session tells (MQQB-3.1.6.4.recoverable-none).
        either(
            both(ne(S + "RecoverableMsgAckSeqNumber", 0), ne(S + "RecoverableMsgAckFlags", 0)),
            both(
                eq(S + "RecoverableMsgAckSeqNumber", 0),
                either(
                    eq(S + "RecoverableMsgAckFlags", 0),
                    Compare("eq", Masked(Field(S + "RecoverableMsgAckFlags"), 1), Const(1)),
                ),
            ),
        ),
        Mutation(kind="SessionAck", patch={S + "RecoverableMsgAckFlags": 2}),
    ),
    Rule(
        "MQMQ-2.2.20.4.recoverable-ack-first-bit",
        both(Has(S + "Reserved"), ne(S + "RecoverableMsgAckSeqNumber", 0), ne(S + "RecoverableMsgAckFlags", 0)),
        Compare("eq", Masked(Field(S + "RecoverableMsgAckFlags"), 1), Const(1)),
        Mutation(
            kind="SessionAck",
            also={S + "RecoverableMsgAckSeqNumber": 3, S + "RecoverableMsgAckFlags": 5},
            patch={S + "RecoverableMsgAckFlags": 4},
        ),
    ),
    Rule(
        "MQMQ-2.2.20.4.window-size-range",
        Has(S + "Reserved"),
        at_least(S + "WindowSize", 1),
        # No number outside the range is the default.
        Mutation(kind="SessionAck", patch={S + "WindowSize": 0}, also_breaks=("MQMQ-2.2.20.4.window-size-default",)),
    ),
    Rule(
        "MQMQ-2.2.20.4.window-size-default",
        Has(S + "Reserved"),
        one_of(S + "WindowSize", *USUAL_WINDOWS),
        Mutation(kind="SessionAck", patch={S + "WindowSize": 65}),
    ),
)
