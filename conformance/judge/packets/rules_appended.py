"""Rules for the headers that remote reading and HTTP add to a message (MS-MQRR 2.2.5)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from conformance.judge.packets.header_order import Rearranged
from conformance.judge.packets.message_facts import POSTED, RIGHT, RIGHT_POST, SENDER, SOAP
from conformance.judge.packets.rules_base import CLASSES, MESSAGE, fits
from conformance.judge.rules import (
    ByteAt,
    Compare,
    Const,
    Expr,
    Field,
    Has,
    Masked,
    Mutation,
    Not,
    Plus,
    Rest,
    Rule,
    Times,
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

X, SUB, DEAD, ADDRESS = "ExtensionHeader.", "SubqueueHeader.", "DeadLetterHeader.", "ExtendedAddressHeader."
ID = "MQRR-2.2.5."
NAME, TARGET, PATH = SUB + "SubqueueName", SUB + "TargetSubqueueName", DEAD + "DeadLetterPathName"
TYPE, LENGTH, SCOPE = ADDRESS + "AddressType", ADDRESS + "AddressLength", ADDRESS + "AddressScope"
CLASS = SUB + "Marks.AcknowledgementClass"
IPV4, IPV6 = 1, 6
_NAMES = tuple(one.removesuffix(".") for one in (SUB, DEAD, ADDRESS))


def _filled(text: str) -> bytes:
    return text.encode("utf-16-le").ljust(64, b"\0")


APPENDED: dict[str, Value] = {
    SUB + "AbortCounter": 0,
    TYPE: IPV4,
    LENGTH: 4,
    ADDRESS + "Address": bytes((192, 0, 2, 1)).ljust(16, b"\0"),
}
NAMED: dict[str, Value] = APPENDED | {NAME: _filled("held"), TARGET: _filled("done")}
DEAD_LETTER: dict[str, Value] = APPENDED | {PATH: "OS:h\\dea\0\0".encode("utf-16-le")}


def _size(section: str, word: str, size: int) -> Rule:
    key = section + "HeaderSize"
    return Rule(f"{ID}{word}.header-size", Has(key), eq(key, size), Mutation(also=APPENDED, patch={key: size + 1}))


def _name(word: str, key: str) -> Rule:
    broken = _filled("held")[:-2] + b"x\0"
    return Rule(
        f"{ID}3.{word}",
        Has(key),
        both(eq(key + ".Ended", True), eq(key + ".Zeros", True)),
        Mutation(also=NAMED, patch={key: broken}),
    )


def _filled_bytes(first: int, last: int) -> Iterator[Expr]:
    """Yield for each of these bytes of Address that it is not 0."""
    return (Compare("ne", ByteAt(ADDRESS + "Address", at), Const(0)) for at in range(first, last))


def _told(flag: str, there: str) -> Expr:
    """The flag is set exactly when the header is there."""
    return either(both(is_set(X + flag), Has(there)), both(is_clear(X + flag), Not(Has(there))))


APPENDED_RULES: tuple[Rule, ...] = (
    _size(X, "2", 12),
    Rule(
        ID + "2.dead-letter-flag",
        Has(X + "Flags"),
        _told("Flags.DL", DEAD + "HeaderSize"),
        Mutation(also=DEAD_LETTER, patch={X + "Flags.DL": 0}),
    ),
    Rule(
        ID + "2.subqueue-flag",
        Has(X + "Flags"),
        is_set(X + "Flags.SQ"),
        Mutation(also=APPENDED, patch={X + "Flags.SQ": 0}),
    ),
    Rule(
        ID + "2.subqueue-flag/absent",
        is_set(X + "Flags.SQ"),
        Has(SUB + "HeaderSize"),
        Rearranged(also=APPENDED, region=(_NAMES[0],), order=()),
    ),
    Rule(
        ID + "2.extended-address-flag",
        Has(X + "Flags"),
        is_set(X + "Flags.EA"),
        Mutation(also=DEAD_LETTER, patch={X + "Flags.EA": 0}),
    ),
    Rule(
        ID + "2.extended-address-flag/absent",
        is_set(X + "Flags.EA"),
        Has(ADDRESS + "HeaderSize"),
        Rearranged(also=APPENDED, region=(_NAMES[2],), order=()),
    ),
    Rule(
        ID + "2.dead-letter-invalid-flag",
        both(Has(X + "Flags"), Not(Has(DEAD + "HeaderSize"))),
        {"clear": is_clear(X + "Flags.DI"), "any": Has(X + "Flags.DI")},
        Mutation(also=APPENDED, patch={X + "Flags.DI": 1}),
        "R-MQRR-dead-letter-invalid",
    ),
    Rule(
        ID + "order",
        Has("Packet.ExtensionOrder"),
        eq("Packet.ExtensionOrder", "told"),
        Rearranged(also=DEAD_LETTER, region=_NAMES, order=(_NAMES[1], _NAMES[0], _NAMES[2])),
    ),
    Rule(
        ID + "2.remaining-headers-size",
        Has("Packet.ExtensionEnd"),
        Compare("eq", Plus(Field(X + "RemainingHeadersSize"), Const(12)), Field("Packet.ExtensionEnd")),
        Mutation(also=APPENDED, given={X + "RemainingHeadersSize": 0}),
    ),
    _size(SUB, "3", 148),
    Rule(
        ID + "3.tm",
        Has(SUB + "Marks"),
        is_clear(SUB + "Marks.TM"),
        Mutation(also=APPENDED, patch={SUB + "Marks.TM": 1}),
    ),
    Rule(
        ID + "3.acknowledgement-class",
        Has(SUB + "Marks"),
        either(one_of(CLASS, *CLASSES), Compare("eq", Masked(Field(CLASS), 0x1E00), Const(0))),
        Mutation(also=APPENDED, patch={CLASS: 0x0200}),
    ),
    Rule(
        ID + "3.last-move-time-never",
        both(Has(SUB + "LastMoveTime"), eq(SUB + "MoveCounter", 0)),
        eq(SUB + "LastMoveTime", 0),
        Mutation(also=APPENDED, patch={SUB + "LastMoveTime": 5}),
    ),
    _name("subqueue-name", NAME),
    _name("target-subqueue-name", TARGET),
    Rule(
        ID + "4.header-size",
        Has(DEAD + "Counted"),
        eq(DEAD + "HeaderSize", Field(DEAD + "Counted")),
        Mutation(also=DEAD_LETTER, patch={DEAD + "HeaderSize": 20}),
    ),
    Rule(
        ID + "4.path-terminated",
        Has(PATH),
        eq(PATH + ".Ended", True),
        Mutation(also=DEAD_LETTER, given={PATH: "OS:h\\dead!".encode("utf-16-le")}),
    ),
    Rule(
        ID + "4.path-padding",
        Has(PATH),
        both(
            Compare("eq", Rest(Field(DEAD + "Counted"), 4), Const(0)),
            eq(PATH + ".Zeros", True),
            at_most(PATH + ".Behind", 3),
        ),
        Mutation(also=DEAD_LETTER, given={PATH: "OS:h\\dea\0x".encode("utf-16-le")}),
    ),
    _size(ADDRESS, "5", 28),
    Rule(
        ID + "5.address-type",
        Has(TYPE),
        one_of(TYPE, 0, IPV4, IPV6),
        Mutation(also=APPENDED, patch={TYPE: 2}),
    ),
    Rule(
        ID + "5.address-length",
        one_of(TYPE, IPV4, IPV6),
        either(both(eq(TYPE, IPV4), eq(LENGTH, 4)), both(eq(TYPE, IPV6), eq(LENGTH, 16))),
        Mutation(also=APPENDED, patch={LENGTH: 16}),
    ),
    Rule(
        ID + "5.address",
        one_of(TYPE, IPV4, IPV6),
        # No host has the address 0.0.0.0, nor ::.
        either(
            *_filled_bytes(0, 4),
            both(
                eq(TYPE, IPV6),
                either(*_filled_bytes(4, 16)),
            ),
        ),
        Mutation(also=APPENDED, patch={ADDRESS + "Address": bytes(16)}),
    ),
    Rule(
        ID + "5.address-scope",
        eq(TYPE, IPV4),
        eq(SCOPE, 0),
        Mutation(also=APPENDED, patch={SCOPE: 3}),
    ),
)

E, C = "SRMPEnvelopeHeader.", "CompoundMessageHeader."
AH = "UserHeader.Flags.AH"
HTTP_ID = "MQRR-2.2.5.1."
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


_HTTP_NAMES = (E.removesuffix("."), C.removesuffix("."))


def _layouts(section: str) -> dict[str, Expr]:
    key = f"{section}Layout"
    return {name: either(eq(key, name), eq(key, "either")) for name in ("aligned", "packed")}


HTTP_RULES: tuple[Rule, ...] = (
    Rule(
        HTTP_ID + "2.srmp-headers-present",
        both(MESSAGE, is_set(AH)),
        Has(E + "DataLength"),
        Mutation(also=HTTP, given={AH: 1}, sections=("MessagePropertiesHeader",)),
    ),
    Rule(
        HTTP_ID + "2.srmp-headers-present/second",
        both(MESSAGE, is_set(AH)),
        Has(C + "MsgBodyOffset"),
        Rearranged(also=HTTP, region=_HTTP_NAMES, order=_HTTP_NAMES[:1]),
    ),
    Rule(
        HTTP_ID + "1.no-srmp-headers",
        either(Has(E + "HeaderId"), Has(C + "HeaderId")),
        is_set(AH),
        Mutation(also=HTTP, patch={AH: 0}),
    ),
    Rule(
        HTTP_ID + "srmp-order",
        Has(ORDER),
        eq(ORDER, "told"),
        Rearranged(also=HTTP, region=_HTTP_NAMES, order=_HTTP_NAMES[::-1]),
    ),
    Rule(
        HTTP_ID + "both-populated",
        both(Has(E + "DataLength"), Has(C + "MsgBodyOffset")),
        both(ne(E + "DataLength", 0), ne(C + "HTTPBodySize", 0)),
        Mutation(also=HTTP, given={C + "Data": b"", C + "MsgBodyOffset": 0, C + "MsgBodySize": 0}),
    ),
    Rule(
        HTTP_ID + "2.1.data-length",
        Has(E + "DataLength"),
        both(
            fits(E + "Data", E + "DataLength"),
            either(eq(COUNTED, Field(E + "DataLength")), eq(COUNTED, Times(Field(E + "DataLength"), 2))),
        ),
        Mutation(also=HTTP, patch={E + "DataLength": 0x7FFFFFFF}),
    ),
    Rule(
        HTTP_ID + "2.1.data-length/text",
        Has(E + "Data"),
        both(eq(E + "Data.Terminated", True), eq(E + "Data.Inner", False)),
        Mutation(also=HTTP, given={E + "Data": ENVELOPE + "\0\0\0"}),
    ),
    Rule(
        HTTP_ID + "2.1.srmp-message",
        Has(SOAP),
        eq(SOAP, RIGHT),
        Mutation(also=HTTP, given={E + "Data": "<e/>"}),
    ),
    Rule(
        HTTP_ID + "2.2.http-body-size",
        Has(C + "MsgBodyOffset"),
        both(fits(C + "Data", C + "HTTPBodySize"), eq(C + "HTTPBodySize", Field(C + "Counted"))),
        Mutation(also=HTTP, patch={C + "HTTPBodySize": len(POST)}),
    ),
    Rule(
        HTTP_ID + "2.2.message-body-offset",
        Has(C + "Counted"),
        at_most(C + "MsgBodyOffset", Field(C + "Counted")),
        Mutation(also=HTTP, patch={C + "MsgBodyOffset": 37}, also_breaks=(HTTP_ID + "2.2.message-body",)),
    ),
    Rule(
        HTTP_ID + "2.2.message-body",
        Has(C + "Counted"),
        Compare("le", Plus(Field(C + "MsgBodySize"), Field(C + "MsgBodyOffset")), Field(C + "Counted")),
        Mutation(also=HTTP, patch={C + "MsgBodySize": len(BODY) + 1}),
    ),
    Rule(
        HTTP_ID + "2.2.http-post",
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
        HTTP_ID + "2.1.alignment",
        Has(E + "Layout"),
        _layouts(E),
        # The next header stands immediately behind a text that takes no multiple of 4.
        Mutation(also=HTTP, given={E + "Padding": b""}),
        "R-MQRR-srmp-alignment",
    ),
    Rule(
        HTTP_ID + "2.1.data-length-unit",
        Has(E + "Unit"),
        {name: eq(E + "Unit", name) for name in ("wchars", "bytes")},
        Mutation(also=HTTP, given={E + "DataLength": 2 * len(ENVELOPE) + 2}),
        "R-MQRR-srmp-data-length",
    ),
)
