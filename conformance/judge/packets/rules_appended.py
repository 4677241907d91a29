"""Rules for the headers that MS-MQRR 2.2.5 appends to a message: ExtensionHeader and those it announces.

They judge any packet that shows these headers, however it came. `wire.appended` finds them.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.judge.expr import (
    ByteAt,
    Compare,
    Const,
    Expr,
    Field,
    Has,
    Masked,
    Not,
    Plus,
    Rest,
    at_most,
    both,
    either,
    eq,
    is_clear,
    is_set,
    one_of,
)
from conformance.judge.packets.rearranged import Rearranged
from conformance.judge.packets.rules_properties import CLASSES
from conformance.judge.rules import Mutation, Rule, Value

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


RULES: tuple[Rule, ...] = (
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
