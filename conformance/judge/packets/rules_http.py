"""Rules for messages sent over HTTP and for what MS-MQRR 2.2.5 appends to a message that is read remotely."""

from __future__ import annotations

from conformance.judge.expr import (
    Compare,
    Const,
    Expr,
    Field,
    Has,
    Plus,
    both,
    either,
    eq,
    is_clear,
    is_set,
    one_of,
)
from conformance.judge.packets.rules_base import MESSAGE
from conformance.judge.rules import Mutation, Rule, Value

E, C = "SRMPEnvelopeHeader.", "CompoundMessageHeader."
X, SUB, DEAD, ADDRESS = "ExtensionHeader.", "SubqueueHeader.", "DeadLetterHeader.", "ExtendedAddressHeader."
AH = "UserHeader.Flags.AH"
HTTP: dict[str, Value] = {E + "Data": "<e/>", C + "Data": b"POST"}
APPENDED: dict[str, Value] = {SUB + "AbortCounter": 0, ADDRESS + "AddressType": 1, ADDRESS + "AddressLength": 4}
DEAD_LETTER: dict[str, Value] = APPENDED | {DEAD + "DeadLetterPathName": "OS:h\\d\0\0".encode("utf-16-le")}


def _layouts(section: str) -> dict[str, Expr]:
    key = f"{section}Layout"
    return {name: either(eq(key, name), eq(key, "either")) for name in ("aligned", "packed")}


RULES: tuple[Rule, ...] = (
    Rule(
        "MQRR-2.2.5.1.2.srmp-headers-present",
        both(MESSAGE, is_set(AH)),
        both(Has(E + "DataLength"), Has(C + "MsgBodyOffset")),
        Mutation(also=HTTP, given={AH: 1}, sections=("MessagePropertiesHeader",)),
    ),
    Rule(
        "MQRR-2.2.5.1.2.1.data-length",
        Has(E + "Data"),
        both(eq(E + "Data.Terminated", True), eq(E + "Data.Inner", False)),
        Mutation(also=HTTP, given={E + "Data": "<e/>\0\0\0"}),
    ),
    Rule(
        "MQRR-2.2.5.1.2.2.message-body",
        Has(C + "MsgBodyOffset"),
        Compare("le", Plus(Field(C + "MsgBodySize"), Field(C + "MsgBodyOffset")), Field(C + "HTTPBodySize")),
        Mutation(also=HTTP, patch={C + "MsgBodySize": 5}),
    ),
    Rule(
        "MQRR-2.2.5.2.remaining-headers-size",
        Has(X + "RemainingHeadersSize"),
        Compare("eq", Plus(Field(X + "RemainingHeadersSize"), Const(12)), Field("Packet.ExtensionEnd")),
        Mutation(also=APPENDED, given={X + "RemainingHeadersSize": 0}),
    ),
    Rule(
        "MQRR-2.2.5.2.subqueue-flag",
        Has(X + "Flags"),
        is_set(X + "Flags.SQ"),
        Mutation(also=APPENDED, given={X + "Flags.SQ": 0}),
    ),
    Rule(
        "MQRR-2.2.5.2.extended-address-flag",
        Has(X + "Flags"),
        is_set(X + "Flags.EA"),
        Mutation(also=APPENDED, given={X + "Flags.EA": 0}),
    ),
    Rule(
        "MQRR-2.2.5.3.tm",
        Has(SUB + "Marks"),
        is_clear(SUB + "Marks.TM"),
        Mutation(also=APPENDED, patch={SUB + "Marks.TM": 1}),
    ),
    Rule(
        "MQRR-2.2.5.5.address-type",
        Has(ADDRESS + "AddressType"),
        one_of(ADDRESS + "AddressType", 0, 1, 6),
        Mutation(also=APPENDED, patch={ADDRESS + "AddressType": 2}),
    ),
    Rule(
        "MQRR-2.2.5.1.2.1.alignment",
        Has(E + "Layout"),
        _layouts(E),
        # Ten bytes of data with the next header immediately behind.
        Mutation(also=HTTP, given={E + "Padding": b""}),
        "R-MQRR-srmp-alignment",
    ),
    Rule(
        "MQRR-2.2.5.1.2.1.data-length-unit",
        Has(E + "Unit"),
        {name: eq(E + "Unit", name) for name in ("wchars", "bytes")},
        Mutation(also=HTTP, given={E + "DataLength": 10}),
        "R-MQRR-srmp-data-length",
    ),
)
