"""Rules for the two headers of a message that was sent over HTTP (MS-MQRR 2.2.5.1)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from conformance.judge.expr import (
    Compare,
    Expr,
    Field,
    Has,
    Plus,
    Times,
    at_least,
    at_most,
    both,
    either,
    eq,
    is_set,
    ne,
    one_of,
)
from conformance.judge.packets.envelopes import POSTED, RIGHT, RIGHT_POST, SOAP
from conformance.judge.packets.names_told import SENDER
from conformance.judge.packets.rearranged import Rearranged
from conformance.judge.packets.rules_base import MESSAGE
from conformance.judge.packets.rules_properties import fits
from conformance.judge.rules import Mutation, Rule, Value

E, C = "SRMPEnvelopeHeader.", "CompoundMessageHeader."
AH = "UserHeader.Flags.AH"
ID = "MQRR-2.2.5.1."
ORDER, COUNTED = "Packet.SrmpOrder", E + "Counted"
_NAMESPACE = "http://schemas.xmlsoap.org/soap/envelope/"
# An even number of characters: with its NUL it needs padding.
ENVELOPE = f'<se:Envelope xmlns:se="{_NAMESPACE}"><se:Header/><se:Body/></se:Envelope>'
POST = b"POST /msmq/q HTTP/1.1\r\n\r\n"
BODY = b"body of it."
HTTP: dict[str, Value] = {
    E + "Data": ENVELOPE,
    C + "Data": POST + BODY,
    C + "MsgBodyOffset": len(POST),
    C + "MsgBodySize": len(BODY),
}
IPV4, IPV6 = 1, 6
_AT = 32  # The place of QueueManagerAddress in a packet.


@dataclass(frozen=True, slots=True)
class Addressed(Mutation):
    """A mutation whose broken packet has these bytes at the beginning of QueueManagerAddress; in the valid one they are
    those of 10.0.0.1."""

    address: bytes = b""

    def valid(self) -> bytes:
        """Put a right address into the packet."""
        return _with_address(Mutation.valid(self), struct.pack("<HHI", 4, IPV4, 0) + bytes((10, 0, 0, 1)))

    def broken(self) -> bytes:
        """Put the wrong address into the packet."""
        return _with_address(Mutation.valid(self), self.address)


def _with_address(data: bytes, address: bytes) -> bytes:
    return data[:_AT] + address + data[_AT + len(address) :]


_NAMES = (E.removesuffix("."), C.removesuffix("."))


def _layouts(section: str) -> dict[str, Expr]:
    key = f"{section}Layout"
    return {name: either(eq(key, name), eq(key, "either")) for name in ("aligned", "packed")}


RULES: tuple[Rule, ...] = (
    Rule(
        ID + "2.srmp-headers-present",
        both(MESSAGE, is_set(AH)),
        Has(E + "DataLength"),
        Mutation(also=HTTP, given={AH: 1}, sections=("MessagePropertiesHeader",)),
    ),
    Rule(
        ID + "2.srmp-headers-present/second",
        both(MESSAGE, is_set(AH)),
        Has(C + "MsgBodyOffset"),
        Rearranged(also=HTTP, region=_NAMES, order=_NAMES[:1]),
    ),
    Rule(
        ID + "1.no-srmp-headers",
        either(Has(E + "HeaderId"), Has(C + "HeaderId")),
        is_set(AH),
        Mutation(also=HTTP, patch={AH: 0}),
    ),
    Rule(
        ID + "srmp-order",
        Has(ORDER),
        eq(ORDER, "told"),
        Rearranged(also=HTTP, region=_NAMES, order=_NAMES[::-1]),
    ),
    Rule(
        ID + "both-populated",
        both(Has(E + "DataLength"), Has(C + "MsgBodyOffset")),
        both(ne(E + "DataLength", 0), ne(C + "HTTPBodySize", 0)),
        Mutation(also=HTTP, given={C + "Data": b"", C + "MsgBodyOffset": 0, C + "MsgBodySize": 0}),
    ),
    Rule(
        ID + "2.1.data-length",
        Has(E + "DataLength"),
        both(
            fits(E + "Data", E + "DataLength"),
            either(eq(COUNTED, Field(E + "DataLength")), eq(COUNTED, Times(Field(E + "DataLength"), 2))),
        ),
        Mutation(also=HTTP, patch={E + "DataLength": 0x7FFFFFFF}),
    ),
    Rule(
        ID + "2.1.data-length/text",
        Has(E + "Data"),
        both(eq(E + "Data.Terminated", True), eq(E + "Data.Inner", False)),
        Mutation(also=HTTP, given={E + "Data": ENVELOPE + "\0\0\0"}),
    ),
    Rule(
        ID + "2.1.srmp-message",
        Has(SOAP),
        eq(SOAP, RIGHT),
        Mutation(also=HTTP, given={E + "Data": "<e/>"}),
    ),
    Rule(
        ID + "2.2.http-body-size",
        Has(C + "MsgBodyOffset"),
        both(fits(C + "Data", C + "HTTPBodySize"), eq(C + "HTTPBodySize", Field(C + "Counted"))),
        Mutation(also=HTTP, patch={C + "HTTPBodySize": len(POST)}),
    ),
    Rule(
        ID + "2.2.message-body-offset",
        Has(C + "Counted"),
        at_most(C + "MsgBodyOffset", Field(C + "Counted")),
        Mutation(also=HTTP, patch={C + "MsgBodyOffset": 37}, also_breaks=(ID + "2.2.message-body",)),
    ),
    Rule(
        ID + "2.2.message-body",
        Has(C + "Counted"),
        Compare("le", Plus(Field(C + "MsgBodySize"), Field(C + "MsgBodyOffset")), Field(C + "Counted")),
        Mutation(also=HTTP, patch={C + "MsgBodySize": len(BODY) + 1}),
    ),
    Rule(
        ID + "2.2.http-post",
        Has(POSTED),
        eq(POSTED, RIGHT_POST),
        Mutation(also=HTTP, given={C + "Data": b"GET" + POST[4:] + BODY + b"  ", C + "MsgBodyOffset": len(POST)}),
    ),
    Rule(
        "MQRR-2.2.5.1.address-type",
        Has(SENDER + "Type"),
        one_of(SENDER + "Type", IPV4, IPV6),
        Addressed(also={}, address=struct.pack("<HHI", 4, 2, 0) + bytes((10, 0, 0, 1))),
    ),
    Rule(
        "MQRR-2.2.5.1.address-length",
        both(Has(SENDER + "Type"), one_of(SENDER + "Type", IPV4, IPV6)),
        # The field holds half of an IPv6 address.
        either(
            both(eq(SENDER + "Type", IPV4), eq(SENDER + "Length", 4)),
            both(eq(SENDER + "Type", IPV6), one_of(SENDER + "Length", 8, 16)),
        ),
        Addressed(also={}, address=struct.pack("<HHI", 16, IPV4, 0) + bytes((10, 0, 0, 1))),
    ),
    Rule(
        "MQRR-2.2.5.1.address-scope",
        eq(SENDER + "Type", IPV4),
        eq(SENDER + "Scope", 0),
        Addressed(also={}, address=struct.pack("<HHI", 4, IPV4, 3) + bytes((10, 0, 0, 1))),
    ),
    Rule(
        "MQRR-2.2.5.1.time-to-reach-queue",
        MESSAGE,
        at_least("BaseHeader.TimeToReachQueue", Field("UserHeader.SentTime")),
        Mutation(also={"UserHeader.SentTime": 1_700_000_000}, patch={"BaseHeader.TimeToReachQueue": 60}),
    ),
    Rule(
        ID + "2.1.alignment",
        Has(E + "Layout"),
        _layouts(E),
        # The next header stands immediately behind a text that takes no multiple of 4.
        Mutation(also=HTTP, given={E + "Padding": b""}),
        "R-MQRR-srmp-alignment",
    ),
    Rule(
        ID + "2.1.data-length-unit",
        Has(E + "Unit"),
        {name: eq(E + "Unit", name) for name in ("wchars", "bytes")},
        Mutation(also=HTTP, given={E + "DataLength": 2 * len(ENVELOPE) + 2}),
        "R-MQRR-srmp-data-length",
    ),
)
