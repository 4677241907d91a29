"""Mistakes of encoders in lists of names, Soap texts and names in UserHeader, each with the demand it breaks.

Each is declared from its requirement: a message, and how a mistaken encoder changes its right packet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from conformance.judge.packets.optional_headers import compare_encoded
from conformance.spec.catalogue import assignment
from conformance.suites.packets.building import base64_of, list_values, packet_of
from conformance.verdict import Outcome
from conformance.wire import dissect, rebuild
from conformance.wire.elements import READINGS

Change = Callable[[bytes], bytes]
GUID = "11ea26c6-b6e6-4997-9595-9150557358d1"
OTHER = "909ea0fc-9078-4445-8f11-394c43cd8907"
KINDS = {
    "public": f"PUBLIC={GUID}",
    "private": f"PRIVATE={GUID}\\0000002a",
    "direct": "DIRECT=OS:host\\q",
    "distribution-list": f"DL={GUID}",
}
LISTED: dict[str, Any] = {
    "destination": KINDS["direct"],
    # The direct name takes 22 bytes, so that header alignment and element alignment differ after it.
    "destinations": list(KINDS.values()),
    "administration_queues": [KINDS["private"]],
    "response_queues": [KINDS["public"]],
    # A connector made the message, so its signature need not verify.
    "connector_type": GUID,
    "multiple_destination_signature": base64_of(bytes(range(1, 21))),
}
SOAP: dict[str, Any] = {"destination": KINDS["direct"], "soap_header": "head", "soap_body": "body"}
Q, S, U, T = "MultiQueueFormatHeader.", "SoapHeader.", "UserHeader.", "TransactionHeader."
L = f"{Q}Destination.FormatNameList"


@dataclass(frozen=True, slots=True)
class Mistake:
    """requirement: the demand it breaks. message: of the adapter protocol. change: spoils the right bytes."""

    requirement: str
    message: Mapping[str, Any]
    change: Change

    def right(self) -> bytes:
        """Return the right packet of the message."""
        return packet_of(self.message)

    def blamed(self, data: bytes) -> list[str]:
        """Compare the message with these bytes and return the broken demands."""
        packet = dissect(data, transport="buffer")
        verdicts = compare_encoded(self.message, packet, readings=assignment("windows"))
        return [verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL]


def swapped(*keys: str) -> Change:
    """Return a change that reverses the bytes of fields."""

    def change(data: bytes) -> bytes:
        packet = dissect(data)
        for key in keys:
            at, length = packet.spans[key]
            data = data[:at] + data[at : at + length][::-1] + data[at + length :]
        return data

    return change


def exchanged(one: str, other: str) -> Change:
    """Return a change that exchanges two fields of the same width."""

    def change(data: bytes) -> bytes:
        spans = dissect(data).spans
        (a, width), (b, _) = spans[one], spans[other]
        out = bytearray(data)
        out[a : a + width], out[b : b + width] = data[b : b + width], data[a : a + width]
        return bytes(out)

    return change


def inserted(before: str, extra: bytes) -> Change:
    """Return a change that inserts extra bytes before a field."""

    def change(data: bytes) -> bytes:
        at, _ = dissect(data).spans[before]
        return data[:at] + extra + data[at:]

    return change


def cut_short(data: bytes) -> bytes:
    """Shorten the only name in Destination by two bytes, with the right size."""
    packet = dissect(data)
    raw = packet.fields[L]
    assert isinstance(raw, bytes)
    return rebuild(packet, {L: raw[:-2]})


def counted(data: bytes) -> bytes:
    """Put the size of its text before the only name in Destination, as in UserHeader."""
    packet = dissect(data)
    raw = packet.fields[L]
    assert isinstance(raw, bytes)
    return rebuild(packet, {L: raw[:2] + (len(raw) - 2).to_bytes(2, "little") + raw[2:]})


def retyped(kind: str, other: dict[str, Any]) -> Change:
    """Return the change of an encoder that takes a name of one kind for another."""
    message = {**LISTED, "destinations": [KINDS[kind]]}

    def change(data: bytes) -> bytes:
        assert data == packet_of(message)
        values = list_values(message, READINGS[0])
        del values[L]
        return packet_of({"destination": LISTED["destination"]}, values | {f"{L}.0.{k}": v for k, v in other.items()})

    return change


def only(kind: str) -> dict[str, Any]:
    return {**LISTED, "destinations": [KINDS[kind]]}


_OF_HEADERS: tuple[tuple[str, dict[str, Any], Change], ...] = (
    ("MQMQ-2.2.20.2.header-size-layout", LISTED, swapped(f"{Q}Destination.HeaderSize")),
    ("MQMQ-2.2.20.2.header-id-layout", LISTED, exchanged(f"{Q}Destination.HeaderID", f"{Q}Destination.Reserved")),
    ("MQMQ-2.2.20.2.reserved-layout", LISTED, exchanged(f"{Q}Destination.HeaderID", f"{Q}Destination.Reserved")),
    ("MQMQ-2.2.20.2.element-count-layout", LISTED, swapped(f"{Q}Destination.ElementCount")),
    ("MQMQ-2.2.20.2.format-name-list-layout", LISTED, inserted(f"{L}.0.FormatType", bytes(4))),
    ("MQMQ-2.2.20.1.destination-layout", LISTED, swapped(f"{Q}Destination.HeaderID")),
    ("MQMQ-2.2.20.1.administration-layout", LISTED, swapped(f"{Q}Administration.HeaderID")),
    ("MQMQ-2.2.20.1.response-layout", LISTED, swapped(f"{Q}Response.HeaderID")),
    ("MQMQ-2.2.20.1.signature-layout", LISTED, swapped(f"{Q}Signature.ID")),
    ("MQMQ-2.2.20.3.id-layout", LISTED, swapped(f"{Q}Signature.ID")),
    ("MQMQ-2.2.20.3.reserved-layout", LISTED, exchanged(f"{Q}Signature.ID", f"{Q}Signature.Reserved")),
    ("MQMQ-2.2.20.3.size-layout", LISTED, swapped(f"{Q}Signature.Size")),
    ("MQMQ-2.2.20.3.signature-layout", LISTED, swapped(f"{Q}Signature.Signature")),
    ("MQMQ-2.2.18.1.4.format-type", LISTED, swapped(f"{L}.0.FormatType")),
    *(
        (f"MQMQ-2.2.18.1.4.format-type-{kind}", only(kind), retyped(kind, other))
        for kind, other in (
            ("public", {"DistributionListIdentifier": GUID}),
            ("private", {"DistributionListIdentifier": GUID}),
            ("direct", {"PublicQueueIdentifier": GUID}),
            ("distribution-list", {"PublicQueueIdentifier": GUID}),
        )
    ),
    *(
        (requirement, only(kind), cut_short)
        for kind, layout in (
            ("public", "MQMQ-2.2.18.1.7.1.layout"),
            ("private", "MQMQ-2.2.18.1.7.2.layout"),
            ("direct", "MQMQ-2.2.18.1.4.1.layout"),
            ("distribution-list", "MQMQ-2.2.18.1.4.2.layout"),
        )
        for requirement in (layout, f"MQMQ-2.2.18.1.4.{kind}-format-name", "MQMQ-2.2.18.1.4.format-name")
    ),
    ("MQMQ-2.2.18.1.7.1.public-queue-identifier", LISTED, swapped(f"{L}.0.PublicQueueIdentifier")),
    ("MQMQ-2.2.18.1.7.2.private-queue-identifier", LISTED, swapped(f"{L}.1.PrivateQueueIdentifier")),
    ("MQMQ-2.2.18.1.7.2.layout", LISTED, swapped(f"{L}.1.SourceQueueManager")),
    ("MQMQ-2.2.18.1.4.1.alignment", only("direct"), counted),
    ("MQMQ-2.2.18.1.4.1.layout", only("direct"), counted),
    ("MQMQ-2.2.18.1.4.2.layout", LISTED, swapped(f"{L}.3.DistributionListIdentifier")),
    ("MQMQ-2.2.20.7.header-section-id-layout", SOAP, swapped(f"{S}HeaderSectionID")),
    ("MQMQ-2.2.20.7.reserved-layout", SOAP, exchanged(f"{S}HeaderSectionID", f"{S}Reserved")),
    ("MQMQ-2.2.20.7.header-data-length-layout", SOAP, swapped(f"{S}HeaderDataLength")),
    ("MQMQ-2.2.20.7.header-layout", SOAP, swapped(f"{S}Header")),
    ("MQMQ-2.2.20.7.body-section-id-layout", SOAP, swapped(f"{S}BodySectionID")),
    ("MQMQ-2.2.20.7.reserved1-layout", SOAP, exchanged(f"{S}BodySectionID", f"{S}Reserved1")),
    ("MQMQ-2.2.20.7.body-data-length-layout", SOAP, swapped(f"{S}BodyDataLength")),
    ("MQMQ-2.2.20.7.body-layout", SOAP, swapped(f"{S}Body")),
)
_PRIVATE_AT_HOME = {"destination": KINDS["private"], "destination_queue_manager": GUID}
_PUBLIC: dict[str, Any] = {"destination": KINDS["public"]}
_SEQUENCE: dict[str, Any] = {
    "destination": KINDS["direct"],
    "transaction": {
        "sequence_identifier": {"ordinal": 0x01020304, "timestamp": 0x05060708},
        "sequence_number": 2,
        "previous_sequence_number": 1,
        "index": 1,
        "first": True,
        "last": False,
    },
}
_OF_NAMES: tuple[tuple[str, dict[str, Any], Change], ...] = (
    (
        "MQMQ-2.2.18.1.5.1.private-queue-identifier",
        _PRIVATE_AT_HOME,
        swapped(U + "DestinationQueue.PrivateQueueIdentifier"),
    ),
    ("MQMQ-2.2.18.1.5.1.layout", _PRIVATE_AT_HOME, inserted(U + "DestinationQueue.PrivateQueueIdentifier", bytes(2))),
    ("MQMQ-2.2.18.1.5.2.layout", {"destination": KINDS["direct"]}, swapped(U + "DestinationQueue.Count")),
    ("MQMQ-2.2.18.1.2.ordinal", _SEQUENCE, swapped(T + "TxSequenceID")),
    ("MQMQ-2.2.18.1.2.time-stamp", _SEQUENCE, swapped(T + "TxSequenceID")),
)
MISTAKES: tuple[Mistake, ...] = tuple(Mistake(*each) for each in (*_OF_HEADERS, *_OF_NAMES))


@cache
def caught() -> frozenset[str]:
    """Return the requirements that fail for a mistake whose right packet fails nothing."""
    return frozenset(
        one.requirement
        for one in MISTAKES
        if not one.blamed(one.right()) and one.requirement in one.blamed(one.change(one.right()))
    )
