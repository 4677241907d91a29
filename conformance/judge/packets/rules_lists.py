"""Rules for the lists of names in a MultiQueueFormatHeader (MS-MQMQ 2.2.18.1.4, 2.2.18.1.7, 2.2.20.2, 2.2.20.3)."""

from __future__ import annotations

from conformance.judge.expr import (
    Compare,
    Const,
    Expr,
    Field,
    Has,
    Masked,
    Rest,
    at_least,
    at_most,
    both,
    either,
    eq,
    ne,
    one_of,
)
from conformance.judge.packets.rules_properties import CLASSES, fits
from conformance.judge.rules import Mutation, Rule, Value
from conformance.wire.elements import SPARE, WAYS
from conformance.wire.multi_queue_format_header import ADDRESS_HEADER_SIZE, DISTRIBUTION_LIST, LISTS, PRIVATE, PUBLIC

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


def _rules_of_list(name: str) -> tuple[Rule, ...]:
    names = f"{Q}{name}.FormatNameList"
    count, size = f"{Q}{name}.ElementCount", f"{Q}{name}.HeaderSize"
    read = Has(f"{names}.Stopped")
    whole = eq(f"{names}.Stopped", "")
    some_way = either(*(eq(f"{names}.Fits.{way}", True) for way in WAYS))
    one = _names(name, _some("OS:host\\q"))
    first = f"{names}.0."

    def way(*ways: str) -> Expr:
        return either(*(eq(f"{names}.Fits.{each}", True) for each in ways))

    def bytes_of(raw: bytes) -> Mutation:
        """Encode one element by count, with these bytes."""
        without = {key: value for key, value in one.items() if not key.startswith(f"{names}.")}
        return Mutation(also=without | {names: _DIRECT, count: 1}, given={names: raw, count: 1})

    origin = {
        "header": way("header.packed", "header.aligned"),
        "element": way("element.packed", "element.aligned"),
    }
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
            both(read, either(both(whole, at_least(f"{names}.Elements", 1)), eq(f"{names}.Stopped", "short"))),
            ne(f"{names}.Stopped", "short"),
            bytes_of(b"\1\0" + bytes(15)),
        ),
        Rule(
            f"MQMQ-2.2.18.1.4.1.null-terminated/{name}",
            both(read, either(at_least(f"{names}.Of3", 1), eq(f"{names}.Stopped", "unterminated"))),
            ne(f"{names}.Stopped", "unterminated"),
            bytes_of(_DIRECT[:-2]),
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
        Rule(
            f"MQMQ-2.2.18.1.4.public-format-name/{name}",
            both(whole, at_least(f"{names}.Of{PUBLIC}", 1), some_way),
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
                both(whole, at_least(f"{names}.Of{kind}", 1), some_way),
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
        Rule(
            f"MQMQ-2.2.20.2.element-count/{name}",
            both(read, whole),
            eq(count, Field(f"{names}.Elements")),
            Mutation(also=one, given={count: 2}),
        ),
        Rule(
            f"MQMQ-2.2.20.2.format-name-list/{name}",
            both(read, whole),
            at_most(f"{names}.Left", SPARE),
            bytes_of(_DIRECT + bytes(4)),
        ),
        Rule(
            f"MQMQ-2.2.20.2.header-size/{name}-names",
            both(read, whole, at_most(f"{names}.Left", SPARE), at_least(size, ADDRESS_HEADER_SIZE)),
            {
                "without": eq(f"{names}.Left", 0),
                "with": Compare("eq", Rest(Field(size), 4), Const(0)),
            },
            bytes_of(_DIRECT + bytes(1)),
            "R-MQMQ-address-header-size",
        ),
    )


RULES: tuple[Rule, ...] = (
    *(rule for name in LISTS for rule in _rules_of_list(name)),
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
