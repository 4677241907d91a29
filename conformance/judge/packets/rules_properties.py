"""Rules for MessagePropertiesHeader (MS-MQMQ 2.2.19.3)."""

from __future__ import annotations

from conformance.judge.expr import (
    Compare,
    Const,
    Expr,
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
from conformance.judge.packets.rules_senders import encrypted
from conformance.judge.rules import Mutation, Rule

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

RULES: tuple[Rule, ...] = (
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
