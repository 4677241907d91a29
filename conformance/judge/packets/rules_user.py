"""Rules for UserHeader, TransactionHeader and values that name something (MS-MQMQ 2.2.18.1.5, 2.2.19.2, 2.2.20.5)."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.judge.packets.header_order import Rearranged
from conformance.judge.packets.message_facts import LISTED, NAME, REPORT, TARGET, is_no_cause
from conformance.judge.packets.rules_appended import HTTP
from conformance.judge.packets.rules_base import (
    AES256,
    MESSAGE,
    ORDER,
    PRESENT,
    RC2,
    USER_MESSAGE,
    USUAL_WINDOWS,
    VECTOR,
    B,
    M,
    reserved_bits,
)
from conformance.judge.packets.rules_lists import MULTI, TRACED
from conformance.judge.packets.rules_signatures import CIPHERS, KEY, PLAIN_SID, RC4, STANDARD, encrypted, provided
from conformance.judge.rules import (
    PLAIN,
    Begins,
    Compare,
    Const,
    Field,
    Has,
    Mutation,
    Not,
    Rest,
    Rule,
    Spelled,
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
from conformance.wire.headers import INFINITE, MAXIMUM_SIZE
from conformance.wire.security_items import sid_bytes, simple_blob

U = "UserHeader."
USER_FLAGS = "UserHeader.Flags."
T = "TransactionHeader."
NULL = "00000000-0000-0000-0000-000000000000"
GUID = "909ea0fc-9078-4445-8f11-394c43cd8907"
TRANSACTION: dict[str, Value] = {T + "TxSequenceNumber": 2, T + "PreviousTxSequenceNumber": 1}
DIRECT = 7
QUEUE_FIELDS = {"DQ": "DestinationQueue", "AQ": "AdminQueue", "RQ": "ResponseQueue"}
# Type to the values of such a queue.
QUEUES: dict[int, dict[str, Value]] = {
    **{number: {"PrivateQueueIdentifier": 5} for number in (2, 3, 4)},
    5: {"PublicQueueIdentifier": GUID},
    6: {"SourceQueueManager": GUID, "PrivateQueueIdentifier": 5},
    DIRECT: {"DirectFormatName": "OS:host\\q"},
}
_LAST = dict.fromkeys((2, 3, 4, 6), "PrivateQueueIdentifier") | {5: "PublicQueueIdentifier", DIRECT: "Count"}
# Bytes from the last fixed field of a queue to the end of the queue.
WIDTHS = {"PrivateQueueIdentifier": 4, "PublicQueueIdentifier": 16, "Count": 24}
# Flag and type to the word of the requirement, and the last field of fixed size.
QUEUE_TYPES: dict[tuple[str, int], tuple[str, str]] = {
    (flag, number): (f"{name}-{word}", _LAST[number])
    for flag, name, words in (
        ("DQ", "destination", {3: "private", 5: "public", DIRECT: "direct"}),
        (
            "AQ",
            "admin",
            {2: "private-source", 3: "private-destination", 5: "public", 6: "private-other", DIRECT: "direct"},
        ),
        (
            "RQ",
            "response",
            {
                2: "private-source",
                3: "private-destination",
                4: "private-admin",
                5: "public",
                6: "private-other",
                DIRECT: "direct",
            },
        ),
    )
    for number, word in words.items()
}
# The bytes of a UserHeader without queues.
BARE = 48
MPH_ONLY = ("MessagePropertiesHeader",)
ASKING: dict[str, Value] = {
    "MessagePropertiesHeader.Flags.PA": 1,
    U + "AdminQueue.DirectFormatName": "OS:host\\admin",
}


def _queue_names(field: str, also: dict[str, Value]) -> tuple[Rule, ...]:
    """Make the rules for a direct format name in one of the three queue fields of the header."""
    name = f"{U}{field}.DirectFormatName"
    present = Has(name)
    text = "OS:host\\q"
    whole = both(present, eq(f"{name}.Terminated", True), eq(f"{name}.Odd", False))
    return (
        Rule(
            f"MQMQ-2.2.18.1.5.2.count/{field}",
            Has(f"{U}{field}.Count"),
            both(present, eq(f"{name}.Odd", False), is_no_cause("MQMQ-2.2.18.1.5.2.count")),
            Mutation(also={**also, name: text}, patch={f"{U}{field}.Count": 2 * len(text)}),
        ),
        Rule(
            f"MQMQ-2.2.18.1.5.2.null-terminated/{field}",
            present,
            both(eq(f"{name}.Inner", False), eq(f"{name}.Terminated", True)),
            Mutation(also=also, given={name: text.encode("utf-16-le")}),
        ),
        Rule(
            f"MQMQ-2.2.18.1.5.2.direct-format-name/{field}",
            present,
            {"without": Not(Begins(name, "DIRECT=")), "with": Begins(name, "DIRECT=")},
            Mutation(also=also, given={name: "DIRECT=OS:host\\q"}),
            "R-MQMQ-direct-prefix",
        ),
        Rule(
            f"MQMQ-2.2.18.1.5.2.direct-format-name/{field}-grammar",
            both(whole, eq(f"{name}.Inner", False)),
            Spelled(name),
            Mutation(also=also, given={name: "FTP:server\\q"}),
        ),
        Rule(
            f"MQMQ-2.2.18.1.5.2.direct-format-name/{field}-letters",
            both(whole, eq(f"{name}.Inner", False)),
            either(Spelled(name, late=True), Not(Spelled(name))),
            Mutation(also=also, given={name: "OS:host\\a+b"}),
            since="msmq-2.0",
        ),
    )


def _queue_types() -> Iterator[Rule]:
    """Make the rules that a queue field has the form its type calls for."""
    for (flag, number), (word, last) in QUEUE_TYPES.items():
        prefix = f"{U}{QUEUE_FIELDS[flag]}."
        also: dict[str, Value] = {
            USER_FLAGS + flag: number,
            **{prefix + key: value for key, value in QUEUES[number].items()},
        }
        if flag == "AQ":
            also["MessagePropertiesHeader.Flags.PA"] = 1
        if word == "response-private-admin":
            also |= ASKING
        if flag == "DQ" and number != DIRECT:
            also[U + "QueueManagerAddress"] = GUID
        yield Rule(
            f"MQMQ-2.2.19.2.{word}",
            both(MESSAGE, eq(USER_FLAGS + flag, number)),
            Has(prefix + last),
            Mutation(
                also=also,
                without=f"{prefix}DirectFormatName" if number != DIRECT else "",
                given={USER_FLAGS + "MP": 1},
                sections=(),
                cut=WIDTHS[last],
            ),
        )


USER_RULES: tuple[Rule, ...] = (
    *_queue_names("DestinationQueue", {}),
    *_queue_names("AdminQueue", ASKING),
    *_queue_names("ResponseQueue", {U + "ResponseQueue.DirectFormatName": "OS:host\\r"}),
    *_queue_types(),
    Rule(
        "MQMQ-2.2.20.required-headers",
        USER_MESSAGE,
        Has(USER_FLAGS[:-1]),
        Mutation(without=U + "Dest", given={USER_FLAGS + "MP": 1}, sections=(), cut=BARE),
    ),
    Rule(
        "MQMQ-2.2.19.2.hop-count", MESSAGE, at_most(USER_FLAGS + "RC", 0x1D), Mutation(patch={USER_FLAGS + "RC": 0x1E})
    ),
    Rule(
        "MQMQ-2.2.19.2.delivery-mode", MESSAGE, one_of(USER_FLAGS + "DM", 0, 1), Mutation(patch={USER_FLAGS + "DM": 2})
    ),
    Rule(
        "MQMQ-2.2.19.2.destination-type",
        MESSAGE,
        one_of(USER_FLAGS + "DQ", 0, 3, 5, 7),
        Mutation(patch={USER_FLAGS + "DQ": 1}),
    ),
    Rule(
        "MQMQ-2.2.19.2.admin-type",
        MESSAGE,
        one_of(USER_FLAGS + "AQ", 0, 2, 3, 5, 6, 7),
        Mutation(patch={USER_FLAGS + "AQ": 4}),
    ),
    Rule(
        "MQMQ-2.2.19.2.message-properties-flag",
        MESSAGE,
        is_set(USER_FLAGS + "MP"),
        Mutation(patch={USER_FLAGS + "MP": 0}),
    ),
    Rule(
        "MQMQ-2.2.19.2.message-properties-present",
        both(MESSAGE, is_set(USER_FLAGS + "MP")),
        Has("MessagePropertiesHeader.ExtensionSize"),
        Mutation(given={USER_FLAGS + "MP": 1}, sections=()),
    ),
    Rule(
        "MQMQ-2.2.19.2.transaction-header-present",
        both(MESSAGE, is_set(USER_FLAGS + "TH")),
        Has(T + "PreviousTxSequenceNumber"),
        Mutation(
            also=TRANSACTION,
            given={USER_FLAGS + "TH": 1, USER_FLAGS + "MP": 1, USER_FLAGS + "DM": 1, "BaseHeader.Flags.PR": 0},
            sections=(),
        ),
    ),
    Rule(
        "MQMQ-2.2.19.2.security-header-present",
        both(MESSAGE, is_set(USER_FLAGS + "SH")),
        Has("SecurityHeader.ProviderInfoSize"),
        Mutation(
            also={"SecurityHeader.Flags.ST": 1, "SecurityHeader.SecurityData.SecurityID": sid_bytes("S-1-5-32-544")},
            given={USER_FLAGS + "SH": 1, USER_FLAGS + "MP": 1},
            sections=(),
        ),
    ),
    Rule(
        "MQMQ-2.2.19.2.connector-type-present",
        both(MESSAGE, is_set(USER_FLAGS + "CQ")),
        Has(U + "ConnectorType"),
        Mutation(also={U + "ConnectorType": GUID}, given={USER_FLAGS + "MP": 1}, sections=(), cut=16),
    ),
    Rule(
        "MQMQ-2.2.19.2.multi-queue-header-present",
        both(MESSAGE, is_set(USER_FLAGS + "MQ")),
        Has("MultiQueueFormatHeader.Signature.Size"),
        Mutation(
            also={
                "MultiQueueFormatHeader.Destination.FormatNameList": b"\3\0" + "OS:host\\q\0".encode("utf-16-le"),
                "MultiQueueFormatHeader.Destination.ElementCount": 1,
            },
            given={USER_FLAGS + "MQ": 1},
            sections=MPH_ONLY,
        ),
    ),
    Rule(
        "MQMQ-2.2.19.2.soap-header-present",
        both(MESSAGE, is_set(USER_FLAGS + "HH")),
        Has("SoapHeader.BodyDataLength"),
        Mutation(also={"SoapHeader.Header": "h"}, given={USER_FLAGS + "HH": 1}, sections=MPH_ONLY),
    ),
    Rule(
        "MQMQ-2.2.19.2.http-flag",
        MESSAGE,
        is_clear(USER_FLAGS + "AH"),
        Mutation(given=HTTP),
    ),
    Rule(
        "MQMQ-2.2.19.2.transactional-recoverable",
        both(MESSAGE, is_set(USER_FLAGS + "TH")),
        ne(USER_FLAGS + "DM", 0),
        Mutation(also=TRANSACTION, patch={USER_FLAGS + "DM": 0}),
    ),
    *reserved_bits("UserHeader", "MQMQ-2.2.19.2", "X1 X2 X3 X4", Mutation()),
    Rule(
        "MQMQ-2.2.19.2.address-direct",
        both(MESSAGE, eq(USER_FLAGS + "DQ", 7)),
        eq(U + "QueueManagerAddress", NULL),
        Mutation(patch={U + "QueueManagerAddress": GUID}),
    ),
    Rule(
        "MQMQ-2.2.19.2.address-host",
        both(is_clear("BaseHeader.Flags.IN"), one_of(USER_FLAGS + "DQ", 3, 5)),
        ne(U + "QueueManagerAddress", NULL),
        Mutation(
            kind="OrderAck",
            also={U + "SourceQueueManager": GUID, U + "QueueManagerAddress": GUID},
            patch={U + "QueueManagerAddress": NULL},
        ),
    ),
    Rule(
        "MQMQ-2.2.19.2.admin-queue-required",
        both(MESSAGE, ne("MessagePropertiesHeader.Flags", 0)),
        {"coupled": ne(USER_FLAGS + "AQ", 0), "free": Has(USER_FLAGS + "AQ")},
        Mutation(also=ASKING, given={U + "AdminQueue.DirectFormatName": b"", USER_FLAGS + "AQ": 0}),
        "R-MQMQ-administration-queue",
    ),
    Rule(
        "MQMQ-2.2.19.2.admin-queue-absent",
        both(MESSAGE, eq("MessagePropertiesHeader.Flags", 0)),
        {"coupled": eq(USER_FLAGS + "AQ", 0), "free": Has(USER_FLAGS + "AQ")},
        Mutation(given={U + "AdminQueue.DirectFormatName": "OS:host\\admin"}),
        "R-MQMQ-administration-queue",
    ),
    Rule(
        "MQMQ-2.2.20.5.sequence-number-range",
        Has(T + "PreviousTxSequenceNumber"),
        at_least(T + "TxSequenceNumber", 1),
        Mutation(also=TRANSACTION, patch={T + "TxSequenceNumber": 0, T + "PreviousTxSequenceNumber": 0}),
    ),
    Rule(
        "MQMQ-2.2.20.5.previous-before",
        both(Has(T + "PreviousTxSequenceNumber"), at_least(T + "TxSequenceNumber", 2)),
        Compare("lt", Field(T + "PreviousTxSequenceNumber"), Field(T + "TxSequenceNumber")),
        Mutation(also=TRANSACTION, patch={T + "PreviousTxSequenceNumber": 2}),
    ),
    Rule(
        "MQMQ-2.2.20.5.first-has-no-previous",
        both(Has(T + "PreviousTxSequenceNumber"), eq(T + "TxSequenceNumber", 1)),
        eq(T + "PreviousTxSequenceNumber", 0),
        Mutation(
            also={T + "TxSequenceNumber": 1},
            patch={T + "PreviousTxSequenceNumber": 1},
        ),
    ),
    Rule(
        "MQMQ-2.2.20.5.connector-present",
        is_set(T + "Flags.CG"),
        Has(T + "ConnectorQMGuid"),
        Mutation(
            also={**TRANSACTION, T + "ConnectorQMGuid": GUID},
            given={USER_FLAGS + "MP": 1},
            sections=("TransactionHeader",),
            cut=16,
        ),
    ),
    *reserved_bits("TransactionHeader", "MQMQ-2.2.20.5", "X1 X2 X3 X4 X5 X6 X7 X8", Mutation(also=TRANSACTION)),
)

RULES_HOSTS_F = U + "Flags."
OTHER = 6
_OTHER_GUID = "5f3b6c3a-7d2e-4a51-8f0c-2b8f5c9a6d10"
_SOURCE, _DESTINATION = U + "SourceQueueManager", U + "QueueManagerAddress"
_QUEUES = (("AQ", "AdminQueue", "admin-private-other"), ("RQ", "ResponseQueue", "response-private-other"))


def _elsewhere() -> Iterator[Rule]:
    """Make the rules that a queue on another host is on no host that has a type of its own."""
    for flag, field, word in _QUEUES:
        host = f"{U}{field}.SourceQueueManager"
        also: dict[str, Value] = {
            RULES_HOSTS_F + flag: OTHER,
            host: GUID,
            f"{U}{field}.PrivateQueueIdentifier": 5,
            "MessagePropertiesHeader.Flags.PA": int(flag == "AQ"),
        }
        for which, known in (("source", _SOURCE), ("destination", _DESTINATION)):
            with_address = {**also, RULES_HOSTS_F + "DQ": 3, U + "DestinationQueue.PrivateQueueIdentifier": 5}
            addressed = {**with_address, _DESTINATION: _OTHER_GUID}
            yield Rule(
                f"MQMQ-2.2.19.2.{word}/{which}",
                both(is_clear("BaseHeader.Flags.IN"), eq(RULES_HOSTS_F + flag, OTHER), Has(host)),
                Compare("ne", Field(host), Field(known)),
                Mutation(also=also, patch={host: PLAIN[_SOURCE]})
                if which == "source"
                else Mutation(
                    also=addressed,
                    without=U + "DestinationQueue.DirectFormatName",
                    patch={host: addressed[_DESTINATION]},
                ),
            )
    admin, response = U + "AdminQueue.SourceQueueManager", U + "ResponseQueue.SourceQueueManager"
    both_other: dict[str, Value] = {
        **{RULES_HOSTS_F + flag: OTHER for flag, _, _ in _QUEUES},
        admin: GUID,
        response: _OTHER_GUID,
        U + "AdminQueue.PrivateQueueIdentifier": 5,
        U + "ResponseQueue.PrivateQueueIdentifier": 6,
        "MessagePropertiesHeader.Flags.PA": 1,
    }
    yield Rule(
        "MQMQ-2.2.19.2.response-private-other/administration",
        both(
            is_clear("BaseHeader.Flags.IN"),
            eq(RULES_HOSTS_F + "RQ", OTHER),
            eq(RULES_HOSTS_F + "AQ", OTHER),
            Has(admin),
            Has(response),
        ),
        Compare("ne", Field(response), Field(admin)),
        Mutation(also=both_other, patch={response: GUID}),
    )


HOST_RULES: tuple[Rule, ...] = (
    *_elsewhere(),
    Rule(
        "MQMQ-2.2.19.2.response-queue-admin-host",
        both(is_clear("BaseHeader.Flags.IN"), eq(RULES_HOSTS_F + "RQ", 4)),
        ne(RULES_HOSTS_F + "AQ", 0),
        Mutation(
            also={
                RULES_HOSTS_F + "RQ": 4,
                U + "ResponseQueue.PrivateQueueIdentifier": 5,
                "MessagePropertiesHeader.Flags.PA": 1,
                U + "AdminQueue.DirectFormatName": "OS:host\\admin",
            },
            given={
                U + "AdminQueue.DirectFormatName": b"",
                RULES_HOSTS_F + "AQ": 0,
                "MessagePropertiesHeader.Flags.PA": 0,
            },
        ),
    ),
)

H, Q, D = "SecurityHeader.", "MultiQueueFormatHeader.", "DebugHeader."
VT_VARIANT, PUBLIC = 12, 5
_LIFETIME = "R-MQMQ-acknowledgment-lifetime"
_LEVELS = {1: ("privacy-base", RC2), 3: ("privacy-enhanced", RC2), 5: ("privacy-advanced", AES256)}
_BLOB = "SIMPLEBLOB."


def _public() -> Iterator[Rule]:
    """Make the rules that a public queue has an identifier."""
    for flag, field in QUEUE_FIELDS.items():
        key = f"{U}{field}.PublicQueueIdentifier"
        also: dict[str, Value] = {USER_FLAGS + flag: PUBLIC, key: GUID, M + "Flags.PA": int(flag == "AQ")}
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
            is_set(USER_FLAGS + "SH"),
            Rearranged(
                also=encrypted(algorithm, level),
                patch={USER_FLAGS + "SH": 0},
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
            both(is_set(H + "Flags.EB"), eq(M + "EncryptionAlgorithm", number), is_clear(USER_FLAGS + "CQ")),
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
    USER_FLAGS + "DQ": PUBLIC,
    U + "DestinationQueue.DirectFormatName": b"",
    U + "DestinationQueue.PublicQueueIdentifier": GUID,
    U + "QueueManagerAddress": GUID,
    M + "MessageClass": REPORT,
    M + "MessageBody": _REPORT.format("DIRECT=OS:host\\q").encode("utf-16-le"),
}

NAME_RULES: tuple[Rule, ...] = (
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
            given={KEY: b"", M + "MessageBody": b"", H + "Flags.ST": 1, **PLAIN_SID},
        ),
    ),
    Rule(
        "MQMQ-2.2.19.2.source-queue-manager",
        both(MESSAGE, is_clear(USER_FLAGS + "AH")),
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
        both(MESSAGE, eq(USER_FLAGS + "RQ", 1)),
        ne(USER_FLAGS + "AQ", 0),
        Mutation(
            also={**ASKING, USER_FLAGS + "RQ": 1},
            given={U + "AdminQueue.DirectFormatName": b"", USER_FLAGS + "AQ": 0, M + "Flags.PA": 0},
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
        both(is_set(H + "Flags.EB"), Has(_BLOB + "EncryptionAlgorithm"), is_clear(USER_FLAGS + "CQ")),
        both(
            eq(_BLOB + "Type", 1),
            eq(_BLOB + "Version", 2),
            eq(_BLOB + "Reserved", 0),
            eq(_BLOB + "EncryptionAlgorithm", 0xA400),
        ),
        Mutation(also=encrypted(RC4, 1), given={KEY: b"\1\2\7\7" + simple_blob(RC4, bytes(range(64)))[4:]}),
    ),
)
