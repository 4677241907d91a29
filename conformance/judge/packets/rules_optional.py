"""Rules for rare headers: multi-queue, Soap and Debug (MS-MQMQ 2.2.20.1-3, 2.2.20.7, 2.2.20.8)."""

from __future__ import annotations

from conformance.judge.expr import Has, at_least, both, eq, ne, one_of
from conformance.judge.packets.rules_base import reserved_bits
from conformance.judge.packets.rules_properties import fits
from conformance.judge.rules import Mutation, Rule, Value

Q = "MultiQueueFormatHeader."
S = "SoapHeader."
D = "DebugHeader."
GUID = "909ea0fc-9078-4445-8f11-394c43cd8907"
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


RULES: tuple[Rule, ...] = (
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
