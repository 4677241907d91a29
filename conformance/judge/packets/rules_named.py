"""Rules about values that name something, and that cannot be the name of anything, or call for what is not there.

MS-MQMQ 2.2.12, 2.2.18.1.7, 2.2.19, 2.2.20 and MS-MQQB 2.4.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.judge.expr import (
    Compare,
    Const,
    Field,
    Has,
    Rest,
    at_least,
    at_most,
    both,
    either,
    eq,
    is_clear,
    is_set,
    ne,
)
from conformance.judge.packets.names_told import LISTED, NAME, REPORT, TARGET
from conformance.judge.packets.rearranged import Rearranged
from conformance.judge.packets.rules_base import MESSAGE, ORDER, USUAL_WINDOWS, B
from conformance.judge.packets.rules_optional import MULTI, TRACED
from conformance.judge.packets.rules_properties import AES256, PRESENT, RC2, VECTOR, M
from conformance.judge.packets.rules_senders import CIPHERS, KEY, RC4, STANDARD, WITH_SID, encrypted, provided
from conformance.judge.packets.rules_user import ASKING, GUID, NULL, QUEUE_FIELDS, F, U
from conformance.judge.rules import Mutation, Rule, Value
from conformance.wire.base_header import INFINITE, MAXIMUM_SIZE
from conformance.wire.security_items import simple_blob

H, Q, D = "SecurityHeader.", "MultiQueueFormatHeader.", "DebugHeader."
VT_VARIANT, PUBLIC = 12, 5
_LIFETIME = "R-MQMQ-acknowledgment-lifetime"
_LEVELS = {1: ("privacy-base", RC2), 3: ("privacy-enhanced", RC2), 5: ("privacy-advanced", AES256)}
_BLOB = "SIMPLEBLOB."


def _public() -> Iterator[Rule]:
    """Make the rules that a public queue has an identifier."""
    for flag, field in QUEUE_FIELDS.items():
        key = f"{U}{field}.PublicQueueIdentifier"
        also: dict[str, Value] = {F + flag: PUBLIC, key: GUID, M + "Flags.PA": int(flag == "AQ")}
        if flag == "DQ":
            also[U + "QueueManagerAddress"] = GUID
        yield Rule(
            f"MQMQ-2.2.18.1.7.1.public-queue-identified/{field}",
            Has(key),
            ne(key, NULL),
            Mutation(also=also, without=U + "DestinationQueue" if flag == "DQ" else "", patch={key: NULL}),
        )
    key = D + "Queue.QueueIdentifier"
    yield Rule(
        "MQMQ-2.2.18.1.7.1.public-queue-identified/Debug",
        Has(key),
        ne(key, NULL),
        Mutation(also=TRACED, patch={key: NULL}),
    )


def _private() -> Iterator[Rule]:
    """Make the rules that a message with a level of privacy has what it is encrypted by."""
    for level, (word, algorithm) in _LEVELS.items():
        yield Rule(
            f"MQMQ-2.2.19.3.{word}",
            both(MESSAGE, eq(M + "PrivacyLevel", level)),
            is_set(F + "SH"),
            Rearranged(
                also=encrypted(algorithm, level),
                patch={F + "SH": 0},
                region=("SecurityHeader", "MessagePropertiesHeader"),
                order=("MessagePropertiesHeader",),
            ),
        )


def _padded() -> Iterator[Rule]:
    """Make the rule that the body of a block cipher has whole blocks."""
    for number, (_, privacy, block) in CIPHERS.items():
        if block == 1:
            continue
        word = CIPHERS[number][0]
        yield Rule(
            f"MQMQ-2.2.19.3.initialization-vector/{word.removeprefix('encryption-')}",
            both(is_set(H + "Flags.EB"), eq(M + "EncryptionAlgorithm", number), is_clear(F + "CQ")),
            {
                name: both(Compare("eq", Rest(Field(M + size), block), Const(0)), ne(M + size, 0))
                for name, size in (("message-size", "MessageSize"), ("allocation", "AllocationBodySize"))
            },
            Mutation(
                also=encrypted(number, privacy),
                given={M + "MessageBody": bytes(31)},
                also_breaks=(f"MQDMPR-3.1.1.12.{word}",),
            ),
            "R-MQMQ-body-room",
        )


_OTHER_LIST = b"\3\0" + "OS:other\\q\0".encode("utf-16-le")
_REPORT = "<MESSAGE ID>00000007</MESSAGE ID>\r\n<TARGET QUEUE>{}</TARGET QUEUE>\r\n"
_REPORTING: dict[str, Value] = {
    F + "DQ": PUBLIC,
    U + "DestinationQueue.DirectFormatName": b"",
    U + "DestinationQueue.PublicQueueIdentifier": GUID,
    U + "QueueManagerAddress": GUID,
    M + "MessageClass": REPORT,
    M + "MessageBody": _REPORT.format("DIRECT=OS:host\\q").encode("utf-16-le"),
}

RULES: tuple[Rule, ...] = (
    Rule(
        "MQMQ-2.2.20.1.destination-complete/itself",
        Has(LISTED),
        eq(LISTED, True),
        Mutation(also=MULTI, given={Q + "Destination.FormatNameList": _OTHER_LIST}),
    ),
    Rule(
        "MQQB-3.1.7.1.7.body/target-queue",
        Has(TARGET),
        eq(TARGET, NAME),
        Mutation(also=_REPORTING, given={M + "MessageBody": _REPORT.format("nonsense").encode("utf-16-le")}),
    ),
    Rule(
        "MQQB-3.1.3.2.window-size",
        Has("ConnectionParametersHeader.WindowSize"),
        eq("ConnectionParametersHeader.WindowSize", USUAL_WINDOWS[0]),
        Mutation(
            kind="ConnectionParameters",
            also={"ConnectionParametersHeader.WindowSize": 64},
            patch={"ConnectionParametersHeader.WindowSize": 5},
        ),
    ),
    Rule(
        "MQMQ-2.2.20.6.security-data-by-flags",
        both(MESSAGE, Has(H + "ProviderInfoSize"), is_set(H + "Flags.EB")),
        ne(H + "EncryptionKeySize", 0),
        Mutation(
            also=encrypted(RC4, 1) | {U + "ConnectorType": GUID},
            given={KEY: b"", M + "MessageBody": b"", H + "Flags.ST": 1, **WITH_SID},
        ),
    ),
    Rule(
        "MQMQ-2.2.19.2.source-queue-manager",
        both(MESSAGE, is_clear(F + "AH")),
        ne(U + "SourceQueueManager", NULL),
        Mutation(patch={U + "SourceQueueManager": NULL}),
    ),
    Rule(
        "MQMQ-2.2.12.vt-variant-vector",
        PRESENT,
        ne(M + "BodyType", VT_VARIANT),
        Mutation(patch={M + "BodyType": VT_VARIANT}),
    ),
    Rule(
        "MQMQ-2.2.12.vt-vector-combined",
        PRESENT,
        ne(M + "BodyType", VECTOR),
        Mutation(patch={M + "BodyType": VECTOR}),
    ),
    *_public(),
    *_private(),
    *_padded(),
    Rule(
        "MQMQ-2.2.19.2.response-type-same",
        both(MESSAGE, eq(F + "RQ", 1)),
        ne(F + "AQ", 0),
        Mutation(
            also={**ASKING, F + "RQ": 1},
            given={U + "AdminQueue.DirectFormatName": b"", F + "AQ": 0, M + "Flags.PA": 0},
        ),
    ),
    Rule(
        "MQMQ-2.2.19.1.time-to-reach-queue-internal/acknowledgments",
        both(MESSAGE, either(Has("OrderAckBody.TxSequenceNumber"), Has("FinalAckBody.TxSequenceNumber"))),
        {"infinite": eq(B + "TimeToReachQueue", INFINITE), "any": Has(B + "TimeToReachQueue")},
        Mutation(kind="OrderAck", also=ORDER, patch={B + "TimeToReachQueue": 60}),
        _LIFETIME,
    ),
    Rule(
        "MQMQ-2.2.19.3.allocation-body-size/maximum",
        PRESENT,
        at_most(M + "AllocationBodySize", MAXIMUM_SIZE),
        Mutation(patch={M + "AllocationBodySize": MAXIMUM_SIZE + 1}),
    ),
    Rule(
        "MQMQ-2.2.20.6.provider-name/there",
        both(Has(H + "ProviderInfoSize"), ne(H + "ProviderInfoSize", 0)),
        Has(H + "SecurityData.ProviderInfo.ProviderName"),
        Mutation(also=provided(STANDARD[0]), given={H + "SecurityData.ProviderInfo.ProviderName": b""}),
    ),
    Rule(
        "MQMQ-2.2.20.1.destination-complete/some",
        Has(Q + "Destination.ElementCount"),
        at_least(Q + "Destination.ElementCount", 1),
        Mutation(
            also=MULTI,
            given={Q + "Destination.ElementCount": 0, Q + "Destination.FormatNameList": b""},
        ),
    ),
    Rule(
        "MQQB-2.4.2.constants",
        both(is_set(H + "Flags.EB"), Has(_BLOB + "EncryptionAlgorithm"), is_clear(F + "CQ")),
        both(
            eq(_BLOB + "Type", 1),
            eq(_BLOB + "Version", 2),
            eq(_BLOB + "Reserved", 0),
            eq(_BLOB + "EncryptionAlgorithm", 0xA400),
        ),
        Mutation(also=encrypted(RC4, 1), given={KEY: b"\1\2\7\7" + simple_blob(RC4, bytes(range(64)))[4:]}),
    ),
)
