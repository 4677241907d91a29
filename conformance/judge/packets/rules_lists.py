"""Rules for MultiQueueFormatHeader and its name lists, SoapHeader and DebugHeader (MS-MQMQ 2.2.20)."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.judge.packets.rules_base import CLASSES, fits, reserved_bits
from conformance.judge.rules import (
    Compare,
    Const,
    Expr,
    Field,
    Has,
    Masked,
    Mutation,
    Rest,
    Rule,
    Value,
    at_least,
    at_most,
    both,
    either,
    eq,
    ne,
    one_of,
)
from conformance.wire.elements import SPARE, WAYS
from conformance.wire.headers import ADDRESS_HEADER_SIZE, DISTRIBUTION_LIST, LISTS, PRIVATE, PUBLIC

Q = "MultiQueueFormatHeader."
GUID = "909ea0fc-9078-4445-8f11-394c43cd8907"
_DIRECT = b"\3\0" + "OS:host\\q\0".encode("utf-16-le")  # 20 bytes
_CLASS = "MessagePropertiesHeader.MessageClass"


def _some(text: str) -> dict[str, Value]:
    return {"DirectFormatName": text}


_PUBLIC: dict[str, Value] = {"PublicQueueIdentifier": GUID}
_PRIVATE: dict[str, Value] = {"SourceQueueManager": GUID, "PrivateQueueIdentifier": 5}
_LIST: dict[str, Value] = {"DistributionListIdentifier": GUID}


def _names(name: str, *elements: dict[str, Value]) -> dict[str, Value]:
    """Return the values of a message with these elements in one list, and one element in Destination."""
    out = {
        f"{Q}{name}.FormatNameList.{at}.{inner}": value
        for at, one in enumerate(elements)
        for inner, value in one.items()
    }
    if name != "Destination":
        out |= _names("Destination", _some("OS:host\\q"))
    return out


@dataclass(frozen=True, slots=True)
class _List:
    """The keys of one list of names, and the conditions and mutations that its rules share."""

    name: str

    @property
    def key(self) -> str:
        return f"{Q}{self.name}.FormatNameList"

    @property
    def count(self) -> str:
        return f"{Q}{self.name}.ElementCount"

    @property
    def read(self) -> Expr:
        return Has(f"{self.key}.Stopped")

    @property
    def whole(self) -> Expr:
        return eq(f"{self.key}.Stopped", "")

    @property
    def one(self) -> dict[str, Value]:
        return _names(self.name, _some("OS:host\\q"))

    def way(self, *ways: str) -> Expr:
        return either(*(eq(f"{self.key}.Fits.{each}", True) for each in ways))

    def bytes_of(self, raw: bytes) -> Mutation:
        """Encode one element by count, with these bytes."""
        without = {key: value for key, value in self.one.items() if not key.startswith(f"{self.key}.")}
        return Mutation(also=without | {self.key: _DIRECT, self.count: 1}, given={self.key: raw, self.count: 1})


def _element_rules(of: _List) -> tuple[Rule, ...]:
    """Return the rules about the elements of a list."""
    name, names, read, one = of.name, of.key, of.read, of.one
    first = f"{names}.0."
    return (
        Rule(
            f"MQMQ-2.2.18.1.4.format-type-values/{name}",
            both(read, either(at_least(f"{names}.Elements", 1), eq(f"{names}.Stopped", "type"))),
            {
                "listed": ne(f"{names}.Stopped", "type"),
                "queue-format-types": either(ne(f"{names}.Stopped", "type"), one_of(f"{names}.StoppedType", 5, 7)),
            },
            Mutation(also=one, patch={first + "FormatType": 4}),
            "R-MQMQ-element-types",
        ),
        Rule(
            f"MQMQ-2.2.18.1.4.format-name-structure/{name}",
            both(read, either(both(of.whole, at_least(f"{names}.Elements", 1)), eq(f"{names}.Stopped", "short"))),
            ne(f"{names}.Stopped", "short"),
            of.bytes_of(b"\1\0" + bytes(15)),
        ),
        Rule(
            f"MQMQ-2.2.18.1.4.1.null-terminated/{name}",
            both(read, either(at_least(f"{names}.Of3", 1), eq(f"{names}.Stopped", "unterminated"))),
            ne(f"{names}.Stopped", "unterminated"),
            of.bytes_of(_DIRECT[:-2]),
        ),
        Rule(
            f"MQMQ-2.2.18.1.4.1.direct-format-name/{name}",
            both(read, at_least(f"{names}.Of3", 1)),
            {
                "without": both(eq(f"{names}.Prefixed", 0), eq(f"{names}.Foreign", 0)),
                "with": both(eq(f"{names}.Plain", 0), eq(f"{names}.Foreign", 0)),
            },
            Mutation(also=one, given=_names(name, _some("DIRECT=OS:host\\q"))),
            "R-MQMQ-direct-prefix",
        ),
        Rule(
            f"MQMQ-2.2.18.1.4.1.direct-format-name/{name}-grammar",
            both(read, at_least(f"{names}.Of3", 1), eq(f"{names}.Foreign", 0)),
            eq(f"{names}.Misspelled", 0),
            Mutation(also=one, given=_names(name, _some("OS:host\\q"), _some("OS:server"))),
        ),
        Rule(
            f"MQMQ-2.2.18.1.4.1.direct-format-name/{name}-letters",
            both(read, at_least(f"{names}.Of3", 1), eq(f"{names}.Foreign", 0)),
            either(eq(f"{names}.Outdated", 0), ne(f"{names}.Misspelled", 0)),
            Mutation(also=one, given=_names(name, _some("OS:host\\q"), _some("OS:server\\a+b"))),
            since="msmq-2.0",
        ),
    )


def _alignment_rules(of: _List) -> tuple[Rule, ...]:
    """Return the rules about the bytes that align an element."""
    name, names, way = of.name, of.key, of.way
    first, some_way = f"{names}.0.", way(*WAYS)
    origin = {
        "header": way("header.packed", "header.aligned"),
        "element": way("element.packed", "element.aligned"),
    }
    return (
        Rule(
            f"MQMQ-2.2.18.1.4.public-format-name/{name}",
            both(of.whole, at_least(f"{names}.Of{PUBLIC}", 1), some_way),
            {
                # An unaligned list is the subject of the other names.
                "packed": way("header.packed", "element.packed", "none"),
                "aligned": way("header.aligned", "element.aligned"),
            },
            Mutation(
                also=_names(name, _PUBLIC, _some("OS:host\\q")),
                given={first + "Padding": bytes(2)},
            ),
            "R-MQMQ-public-element-alignment",
        ),
        *(
            Rule(
                f"{requirement}/{name}",
                both(of.whole, at_least(f"{names}.Of{kind}", 1), some_way),
                origin,
                Mutation(
                    also=_names(name, _some("OS:h\\q"), element, _some("OS:host\\q")),
                    given={f"{names}.1.Padding": b""},
                ),
                "R-MQMQ-element-alignment",
            )
            for requirement, kind, element in (
                ("MQMQ-2.2.18.1.7.2.source-queue-manager", PRIVATE, _PRIVATE),
                ("MQMQ-2.2.18.1.4.2.alignment", DISTRIBUTION_LIST, _LIST),
            )
        ),
    )


def _length_rules(of: _List) -> tuple[Rule, ...]:
    """Return the rules about the length of a list."""
    name, names, size = of.name, of.key, f"{Q}{of.name}.HeaderSize"
    read, whole = of.read, of.whole
    return (
        Rule(
            f"MQMQ-2.2.20.2.element-count/{name}",
            both(read, whole),
            eq(of.count, Field(f"{names}.Elements")),
            Mutation(also=of.one, given={of.count: 2}),
        ),
        Rule(
            f"MQMQ-2.2.20.2.format-name-list/{name}",
            both(read, whole),
            at_most(f"{names}.Left", SPARE),
            of.bytes_of(_DIRECT + bytes(4)),
        ),
        Rule(
            f"MQMQ-2.2.20.2.header-size/{name}-names",
            both(read, whole, at_most(f"{names}.Left", SPARE), at_least(size, ADDRESS_HEADER_SIZE)),
            {
                "without": eq(f"{names}.Left", 0),
                "with": Compare("eq", Rest(Field(size), 4), Const(0)),
            },
            of.bytes_of(_DIRECT + bytes(1)),
            "R-MQMQ-address-header-size",
        ),
    )


LIST_RULES: tuple[Rule, ...] = (
    *(rule for of in map(_List, LISTS) for rule in (*_element_rules(of), *_alignment_rules(of), *_length_rules(of))),
    Rule(
        "MQMQ-2.2.20.3.size",
        Has(Q + "Signature.Size"),
        fits(Q + "Signature.Signature", Q + "Signature.Size"),
        Mutation(also=_names("Destination", _some("OS:host\\q")), patch={Q + "Signature.Size": 400}),
    ),
    Rule(
        "MQMQ-2.2.18.1.6.custom-class",
        Has(_CLASS),
        either(one_of(_CLASS, *CLASSES), Compare("eq", Masked(Field(_CLASS), 0x1E00), Const(0))),
        # A class that is neither listed nor application-defined is no class at all.
        Mutation(patch={_CLASS: 0x0203}, also_breaks=("MQMQ-2.2.19.3.message-class",)),
    ),
)

S = "SoapHeader."
D = "DebugHeader."
# A list with the destination of `PLAIN` alone.
LISTED = b"\3\0" + "OS:host\\q\0".encode("utf-16-le")
MULTI: dict[str, Value] = {
    Q + "Destination.FormatNameList": LISTED,
    Q + "Destination.ElementCount": 1,
}
SOAP: dict[str, Value] = {S + "Header": "header", S + "Body": "body"}
TRACED: dict[str, Value] = {"BaseHeader.Flags.TR": 1, D + "Queue.QueueIdentifier": GUID}
HEADER_IDS = {"Destination": 0x0064, "Administration": 0x00C8, "Response": 0x012C}


def _address_header(name: str, header_id: int) -> tuple[Rule, ...]:
    present = Has(f"{Q}{name}.ElementCount")
    return (
        Rule(
            f"MQMQ-2.2.20.2.header-size/{name}",
            present,
            both(at_least(f"{Q}{name}.HeaderSize", 12), ne("Packet.Overrun", f"{Q}{name}.FormatNameList")),
            Mutation(also=MULTI, patch={f"{Q}{name}.HeaderSize": 11}),
        ),
        Rule(
            f"MQMQ-2.2.20.2.header-id/{name}",
            present,
            eq(f"{Q}{name}.HeaderID", header_id),
            Mutation(also=MULTI, patch={f"{Q}{name}.HeaderID": 0x015E}),
        ),
        Rule(
            f"MQMQ-2.2.20.2.reserved/{name}",
            present,
            eq(f"{Q}{name}.Reserved", 0),
            Mutation(also=MULTI, patch={f"{Q}{name}.Reserved": 1}),
        ),
    )


def _soap_text(name: str, length: str, requirement: str) -> Rule:
    return Rule(
        requirement,
        both(Has(S + length), ne(S + length, 0)),
        both(fits(S + name, S + length), eq(f"{S}{name}.Terminated", True), eq(f"{S}{name}.Inner", False)),
        Mutation(also=SOAP, given={S + name: "text".encode("utf-16-le")}),
    )


OPTIONAL_RULES: tuple[Rule, ...] = (
    *(rule for name, header_id in HEADER_IDS.items() for rule in _address_header(name, header_id)),
    Rule(
        "MQMQ-2.2.20.3.id",
        Has(Q + "Signature.Size"),
        eq(Q + "Signature.ID", 0x015E),
        Mutation(also=MULTI, patch={Q + "Signature.ID": 0x0064}),
    ),
    Rule(
        "MQMQ-2.2.20.3.reserved",
        Has(Q + "Signature.Size"),
        eq(Q + "Signature.Reserved", 0),
        Mutation(also=MULTI, patch={Q + "Signature.Reserved": 1}),
    ),
    Rule(
        "MQMQ-2.2.20.7.header-section-id",
        Has(S + "HeaderDataLength"),
        eq(S + "HeaderSectionID", 0x0320),
        Mutation(also=SOAP, patch={S + "HeaderSectionID": 0x0321}),
    ),
    Rule(
        "MQMQ-2.2.20.7.body-section-id",
        Has(S + "BodyDataLength"),
        eq(S + "BodySectionID", 0x0384),
        Mutation(also=SOAP, patch={S + "BodySectionID": 0x0385}),
    ),
    _soap_text("Header", "HeaderDataLength", "MQMQ-2.2.20.7.header-terminated"),
    _soap_text("Body", "BodyDataLength", "MQMQ-2.2.20.7.body-terminated"),
    Rule(
        "MQMQ-2.2.20.7.reserved",
        Has(S + "HeaderDataLength"),
        eq(S + "Reserved", 0),
        Mutation(also=SOAP, patch={S + "Reserved": 1}),
    ),
    Rule(
        "MQMQ-2.2.20.7.reserved1",
        Has(S + "BodyDataLength"),
        eq(S + "Reserved1", 0),
        Mutation(also=SOAP, patch={S + "Reserved1": 1}),
    ),
    Rule(
        "MQMQ-2.2.20.8.queue-type",
        Has(D + "Flags"),
        one_of(D + "Flags.QT", 0, 1),
        Mutation(also=TRACED, patch={D + "Flags.QT": 2}),
    ),
    Rule(
        "MQMQ-2.2.20.8.queue-identifier-present",
        eq(D + "Flags.QT", 1),
        Has(D + "Queue.QueueIdentifier"),
        Mutation(also=TRACED, cut=16),
    ),
    Rule(
        "MQMQ-2.2.20.8.reserved",
        Has(D + "Reserved"),
        eq(D + "Reserved", 0),
        Mutation(also=TRACED, patch={D + "Reserved": 1}),
    ),
    *reserved_bits("DebugHeader", "MQMQ-2.2.20.8", " ".join(f"X{at}" for at in range(2, 16)), Mutation(also=TRACED)),
)
