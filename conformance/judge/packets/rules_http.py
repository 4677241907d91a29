"""Rules for the two headers of a message that was sent over HTTP (MS-MQRR 2.2.5.1)."""

from __future__ import annotations

from conformance.judge.expr import (
    Compare,
    Expr,
    Field,
    Has,
    Plus,
    both,
    either,
    eq,
    is_set,
)
from conformance.judge.packets.rules_base import MESSAGE
from conformance.judge.rules import Mutation, Rule, Value

E, C = "SRMPEnvelopeHeader.", "CompoundMessageHeader."
AH = "UserHeader.Flags.AH"
HTTP: dict[str, Value] = {E + "Data": "<e/>", C + "Data": b"POST"}


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
