"""Rules for UserHeader (MS-MQMQ 2.2.19.2), queue names in it (2.2.18.1.5) and TransactionHeader (2.2.20.5)."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.judge.expr import (
    Begins,
    Compare,
    Field,
    Has,
    Not,
    Spelled,
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
from conformance.judge.packets.odd import is_no_cause
from conformance.judge.packets.rules_base import MESSAGE, USER_MESSAGE, reserved_bits
from conformance.judge.packets.rules_http import HTTP
from conformance.judge.rules import Mutation, Rule, Value
from conformance.wire.security_items import sid_bytes

U = "UserHeader."
F = "UserHeader.Flags."
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
        also: dict[str, Value] = {F + flag: number, **{prefix + key: value for key, value in QUEUES[number].items()}}
        if flag == "AQ":
            also["MessagePropertiesHeader.Flags.PA"] = 1
        if word == "response-private-admin":
            also |= ASKING
        if flag == "DQ" and number != DIRECT:
            also[U + "QueueManagerAddress"] = GUID
        yield Rule(
            f"MQMQ-2.2.19.2.{word}",
            both(MESSAGE, eq(F + flag, number)),
            Has(prefix + last),
            Mutation(
                also=also,
                without=f"{prefix}DirectFormatName" if number != DIRECT else "",
                given={F + "MP": 1},
                sections=(),
                cut=WIDTHS[last],
            ),
        )


RULES: tuple[Rule, ...] = (
    *_queue_names("DestinationQueue", {}),
    *_queue_names("AdminQueue", ASKING),
    *_queue_names("ResponseQueue", {U + "ResponseQueue.DirectFormatName": "OS:host\\r"}),
    *_queue_types(),
    Rule(
        "MQMQ-2.2.20.required-headers",
        USER_MESSAGE,
        Has(F[:-1]),
        Mutation(without=U + "Dest", given={F + "MP": 1}, sections=(), cut=BARE),
    ),
    Rule("MQMQ-2.2.19.2.hop-count", MESSAGE, at_most(F + "RC", 0x1D), Mutation(patch={F + "RC": 0x1E})),
    Rule("MQMQ-2.2.19.2.delivery-mode", MESSAGE, one_of(F + "DM", 0, 1), Mutation(patch={F + "DM": 2})),
    Rule("MQMQ-2.2.19.2.destination-type", MESSAGE, one_of(F + "DQ", 0, 3, 5, 7), Mutation(patch={F + "DQ": 1})),
    Rule("MQMQ-2.2.19.2.admin-type", MESSAGE, one_of(F + "AQ", 0, 2, 3, 5, 6, 7), Mutation(patch={F + "AQ": 4})),
    Rule(
        "MQMQ-2.2.19.2.message-properties-flag",
        MESSAGE,
        is_set(F + "MP"),
        Mutation(patch={F + "MP": 0}),
    ),
    Rule(
        "MQMQ-2.2.19.2.message-properties-present",
        both(MESSAGE, is_set(F + "MP")),
        Has("MessagePropertiesHeader.ExtensionSize"),
        Mutation(given={F + "MP": 1}, sections=()),
    ),
    Rule(
        "MQMQ-2.2.19.2.transaction-header-present",
        both(MESSAGE, is_set(F + "TH")),
        Has(T + "PreviousTxSequenceNumber"),
        Mutation(
            also=TRANSACTION,
            given={F + "TH": 1, F + "MP": 1, F + "DM": 1, "BaseHeader.Flags.PR": 0},
            sections=(),
        ),
    ),
    Rule(
        "MQMQ-2.2.19.2.security-header-present",
        both(MESSAGE, is_set(F + "SH")),
        Has("SecurityHeader.ProviderInfoSize"),
        Mutation(
            also={"SecurityHeader.Flags.ST": 1, "SecurityHeader.SecurityData.SecurityID": sid_bytes("S-1-5-32-544")},
            given={F + "SH": 1, F + "MP": 1},
            sections=(),
        ),
    ),
    Rule(
        "MQMQ-2.2.19.2.connector-type-present",
        both(MESSAGE, is_set(F + "CQ")),
        Has(U + "ConnectorType"),
        Mutation(also={U + "ConnectorType": GUID}, given={F + "MP": 1}, sections=(), cut=16),
    ),
    Rule(
        "MQMQ-2.2.19.2.multi-queue-header-present",
        both(MESSAGE, is_set(F + "MQ")),
        Has("MultiQueueFormatHeader.Signature.Size"),
        Mutation(
            also={
                "MultiQueueFormatHeader.Destination.FormatNameList": b"\3\0" + "OS:host\\q\0".encode("utf-16-le"),
                "MultiQueueFormatHeader.Destination.ElementCount": 1,
            },
            given={F + "MQ": 1},
            sections=MPH_ONLY,
        ),
    ),
    Rule(
        "MQMQ-2.2.19.2.soap-header-present",
        both(MESSAGE, is_set(F + "HH")),
        Has("SoapHeader.BodyDataLength"),
        Mutation(also={"SoapHeader.Header": "h"}, given={F + "HH": 1}, sections=MPH_ONLY),
    ),
    Rule(
        "MQMQ-2.2.19.2.http-flag",
        MESSAGE,
        is_clear(F + "AH"),
        Mutation(given=HTTP),
    ),
    Rule(
        "MQMQ-2.2.19.2.transactional-recoverable",
        both(MESSAGE, is_set(F + "TH")),
        ne(F + "DM", 0),
        Mutation(also=TRANSACTION, patch={F + "DM": 0}),
    ),
    *reserved_bits("UserHeader", "MQMQ-2.2.19.2", "X1 X2 X3 X4", Mutation()),
    Rule(
        "MQMQ-2.2.19.2.address-direct",
        both(MESSAGE, eq(F + "DQ", 7)),
        eq(U + "QueueManagerAddress", NULL),
        Mutation(patch={U + "QueueManagerAddress": GUID}),
    ),
    Rule(
        "MQMQ-2.2.19.2.address-host",
        both(is_clear("BaseHeader.Flags.IN"), one_of(F + "DQ", 3, 5)),
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
        {"coupled": ne(F + "AQ", 0), "free": Has(F + "AQ")},
        Mutation(also=ASKING, given={U + "AdminQueue.DirectFormatName": b"", F + "AQ": 0}),
        "R-MQMQ-administration-queue",
    ),
    Rule(
        "MQMQ-2.2.19.2.admin-queue-absent",
        both(MESSAGE, eq("MessagePropertiesHeader.Flags", 0)),
        {"coupled": eq(F + "AQ", 0), "free": Has(F + "AQ")},
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
            given={F + "MP": 1},
            sections=("TransactionHeader",),
            cut=16,
        ),
    ),
    *reserved_bits("TransactionHeader", "MQMQ-2.2.20.5", "X1 X2 X3 X4 X5 X6 X7 X8", Mutation(also=TRANSACTION)),
)
