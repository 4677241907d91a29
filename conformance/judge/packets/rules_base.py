"""Rules for BaseHeader, SessionHeader and MessagePropertiesHeader (MS-MQMQ 2.2.19.1, 2.2.19.3, 2.2.20.4)."""

from __future__ import annotations

from dataclasses import replace

from conformance.judge.packets.rules_signatures import encrypted
from conformance.judge.rules import (
    ALWAYS,
    Compare,
    Const,
    Expr,
    Field,
    Has,
    Masked,
    Mutation,
    Not,
    Rule,
    Value,
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
from conformance.wire.headers import INFINITE, MAXIMUM_SIZE, SIGNATURE, VERSION

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


BASE_RULES: tuple[Rule, ...] = (
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

M = "MessagePropertiesHeader."
PRESENT = Has(M + "ExtensionSize")
NO_ENCRYPTION, RC2, RC4, AES128, AES192, AES256 = 0, 0x6602, 0x6801, 0x660E, 0x660F, 0x6610
AES = (AES128, AES192, AES256)
ALGORITHMS = (RC2, RC4, *AES)
NO_HASH = 0
HASHES = (0x8001, 0x8002, 0x8003, 0x8004, 0x800C, 0x800E)
# MS-MQMQ 2.2.18.1.6, in the document's order.
CLASSES = (
    0x0000,
    0x0001,
    0x0002,
    0x00FF,
    0x4000,
    0x8000,
    0x8001,
    0x8002,
    0x8003,
    0x8004,
    0x8005,
    0x8006,
    0x8007,
    0x8009,
    0x800A,
    0x800B,
    0xC000,
    0xC001,
    0xC002,
    0xC004,
)
# MS-MQMQ 2.2.12; VT_VECTOR (0x1000) is combined with the others.
BODY_TYPES = (0, 1, 2, 3, 11, 12, 16, 17, 18, 19, 20, 21, 31, 65, 72)
VECTOR = 0x1000
_KEY_ALGORITHM = "SIMPLEBLOB.SessionKeyAlgorithm"
_FOREIGN = "909ea0fc-9078-4445-8f11-394c43cd8907"  # With a connector's key nothing else is compared.


def fits(key: str, size: str) -> Expr:
    """The field is present, its size is zero, or it is absent for a reason other than the end of the packet."""
    return either(Has(key), eq(size, 0), ne("Packet.Overrun", key))


# The key of the body is one for the algorithm; a connector's own is not looked at.
_BY_ITS_KEY = either(
    is_set("UserHeader.Flags.CQ"),
    Not(Has(_KEY_ALGORITHM)),
    Compare("eq", Field(_KEY_ALGORITHM), Field(M + "EncryptionAlgorithm")),
)

PROPERTIES_RULES: tuple[Rule, ...] = (
    Rule(
        "MQMQ-2.2.19.3.label-length-maximum",
        PRESENT,
        at_most(M + "LabelLength", 0xFA),
        Mutation(given={M + "Label": "x" * 250}),
    ),
    Rule(
        "MQMQ-2.2.19.3.label-length",
        both(PRESENT, ne(M + "LabelLength", 0)),
        both(fits(M + "Label", M + "LabelLength"), eq(M + "Label.Terminated", True)),
        Mutation(given={M + "Label": "label".encode("utf-16-le")}),
    ),
    Rule(
        "MQMQ-2.2.19.3.label-format",
        Has(M + "Label"),
        eq(M + "Label.Inner", False),
        Mutation(given={M + "Label": "la\0el"}),
    ),
    Rule(
        "MQMQ-2.2.19.3.message-class",
        PRESENT,
        {
            "predefined": one_of(M + "MessageClass", *CLASSES),
            "custom": either(
                one_of(M + "MessageClass", *CLASSES),
                Compare("eq", Masked(Field(M + "MessageClass"), 0x1E00), Const(0)),
            ),
            "any": Has(M + "MessageClass"),
        },
        Mutation(patch={M + "MessageClass": 0x0003}),
        "R-MQMQ-message-class",
    ),
    Rule(
        "MQMQ-2.2.19.3.body-type",
        PRESENT,
        {
            "listed": either(
                one_of(M + "BodyType", *BODY_TYPES), one_of(M + "BodyType", *(VECTOR | t for t in BODY_TYPES))
            ),
            "any": Has(M + "BodyType"),
        },
        Mutation(patch={M + "BodyType": 8}),
        "R-MQMQ-body-type",
    ),
    Rule(
        "MQMQ-2.2.19.3.message-size",
        PRESENT,
        fits(M + "MessageBody", M + "MessageSize"),
        Mutation(patch={M + "MessageSize": 400, M + "AllocationBodySize": 400}),
    ),
    Rule(
        "MQMQ-2.2.19.3.allocation-body-size",
        PRESENT,
        at_least(M + "AllocationBodySize", Field(M + "MessageSize")),
        Mutation(patch={M + "AllocationBodySize": 9}),
    ),
    Rule(
        "MQMQ-2.2.19.3.extension-size",
        PRESENT,
        fits(M + "ExtensionData", M + "ExtensionSize"),
        Mutation(patch={M + "ExtensionSize": 400}),
    ),
    Rule(
        "MQMQ-2.2.19.3.privacy-level",
        PRESENT,
        one_of(M + "PrivacyLevel", 0, 1, 3, 5),
        Mutation(patch={M + "PrivacyLevel": 2}),
    ),
    Rule(
        "MQMQ-2.2.19.3.hash-algorithm",
        PRESENT,
        {
            "listed": one_of(M + "HashAlgorithm", *HASHES),
            "zero-allowed": either(
                one_of(M + "HashAlgorithm", *HASHES),
                both(
                    eq(M + "HashAlgorithm", NO_HASH),
                    Not(Has("SecurityHeader.SecurityData.Signature")),
                    Not(Has("MultiQueueFormatHeader.Signature.Signature")),
                ),
            ),
        },
        Mutation(patch={M + "HashAlgorithm": 0x8005}),
        "R-MQMQ-hash-algorithm-unused",
    ),
    Rule(
        "MQMQ-2.2.19.3.encryption-algorithm",
        PRESENT,
        {
            "listed": one_of(M + "EncryptionAlgorithm", *ALGORITHMS),
            "zero-allowed": either(
                one_of(M + "EncryptionAlgorithm", *ALGORITHMS),
                both(eq(M + "PrivacyLevel", 0), eq(M + "EncryptionAlgorithm", NO_ENCRYPTION)),
            ),
        },
        Mutation(patch={M + "EncryptionAlgorithm": 0x6601}),
        "R-MQMQ-encryption-algorithm-unused",
    ),
    Rule(
        "MQMQ-2.2.19.3.encryption-by-privacy",
        both(PRESENT, one_of(M + "PrivacyLevel", 1, 3, 5)),
        {
            "table": either(
                both(one_of(M + "PrivacyLevel", 1, 3), one_of(M + "EncryptionAlgorithm", RC2, RC4)),
                both(eq(M + "PrivacyLevel", 5), one_of(M + "EncryptionAlgorithm", *AES)),
            ),
            "by-key": either(
                both(one_of(M + "PrivacyLevel", 1, 3), one_of(M + "EncryptionAlgorithm", RC2, RC4)),
                both(one_of(M + "PrivacyLevel", 1, 3), one_of(M + "EncryptionAlgorithm", *AES), _BY_ITS_KEY),
                both(eq(M + "PrivacyLevel", 5), one_of(M + "EncryptionAlgorithm", *AES)),
            ),
        },
        Mutation(
            also={"UserHeader.ConnectorType": _FOREIGN, **encrypted(AES256, 5)},
            patch={M + "EncryptionAlgorithm": RC2},
        ),
        "R-MQMQ-encryption-by-privacy",
    ),
    Rule(
        "MQMQ-2.2.19.3.padding",
        Has(M + "Padding.Complete"),
        eq(M + "Padding.Complete", True),
        Mutation(given={M + "Padding": b"", M + "MessageBody": b"body of it!"}),
    ),
    Rule(
        "MQMQ-2.2.19.3.flags-unused",
        PRESENT,
        is_clear(M + "Flags.X"),
        Mutation(
            also={M + "Flags.PA": 1, "UserHeader.AdminQueue.DirectFormatName": "OS:h\\a"}, patch={M + "Flags.X": 8}
        ),
    ),
)
