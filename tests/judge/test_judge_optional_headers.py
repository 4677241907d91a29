"""Lists of names, Soap texts and names in UserHeader, field by field: what a wrong encoder is blamed for."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from conformance.adapter.session import Result
from conformance.judge import optional_headers
from conformance.judge.optional_headers import compare_encoded, name_of, name_values
from conformance.spec.catalogue import assignment
from conformance.suites.packets import claims
from conformance.suites.packets.building import base64_of, list_values, packet_of
from conformance.suites.packets.cases import decode_lists_case, encode_case
from conformance.suites.packets.messages import messages_to_several_queues, soap_messages
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect, rebuild
from conformance.wire.elements import READINGS

sys.path.insert(0, str(Path(__file__).parent))
import packet_codecs as codecs
from test_packet_suite import FEW, OPTIONS, client, failing, quiet

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
    # The direct name takes 22 bytes, so that header and element alignment differ behind it.
    "destinations": list(KINDS.values()),
    "administration_queues": [KINDS["private"]],
    "response_queues": [KINDS["public"]],
    "multiple_destination_signature": base64_of(bytes(range(1, 21))),
}
SOAP: dict[str, Any] = {"destination": KINDS["direct"], "soap_header": "head", "soap_body": "body"}
Q, S, U, T = "MultiQueueFormatHeader.", "SoapHeader.", "UserHeader.", "TransactionHeader."
L = f"{Q}Destination.FormatNameList"
READINGS_SET = assignment("windows")


def compared(message: dict[str, Any], data: bytes) -> list[Verdict]:
    return compare_encoded(message, dissect(data, transport="buffer"), readings=READINGS_SET)


def swapped(*keys: str) -> Callable[[bytes], bytes]:
    """The bytes of fields in the other order."""

    def change(data: bytes) -> bytes:
        packet = dissect(data)
        for key in keys:
            at, length = packet.spans[key]
            data = data[:at] + data[at : at + length][::-1] + data[at + length :]
        return data

    return change


def exchanged(one: str, other: str) -> Callable[[bytes], bytes]:
    """Two fields of the same width in each other's place."""

    def change(data: bytes) -> bytes:
        spans = dissect(data).spans
        (a, width), (b, _) = spans[one], spans[other]
        out = bytearray(data)
        out[a : a + width], out[b : b + width] = data[b : b + width], data[a : a + width]
        return bytes(out)

    return change


def inserted(before: str, extra: bytes) -> Callable[[bytes], bytes]:
    """Bytes too many in front of a field."""

    def change(data: bytes) -> bytes:
        at, _ = dissect(data).spans[before]
        return data[:at] + extra + data[at:]

    return change


def cut_short(data: bytes) -> bytes:
    """The only name in Destination two bytes shorter, its size told right."""
    packet = dissect(data)
    raw = packet.fields[L]
    assert isinstance(raw, bytes)
    return rebuild(packet, {L: raw[:-2]})


def counted(data: bytes) -> bytes:
    """The only name in Destination with the size of its text in front, as in UserHeader."""
    packet = dissect(data)
    raw = packet.fields[L]
    assert isinstance(raw, bytes)
    return rebuild(packet, {L: raw[:2] + (len(raw) - 2).to_bytes(2, "little") + raw[2:]})


def retyped(kind: str, other: dict[str, Any]) -> Callable[[bytes], bytes]:
    """The packet an encoder makes that takes a name of one kind for another."""
    message = {**LISTED, "destinations": [KINDS[kind]]}

    def change(data: bytes) -> bytes:
        assert data == packet_of(message)
        values = list_values(message, READINGS[0])
        del values[L]
        return packet_of({"destination": LISTED["destination"]}, values | {f"{L}.0.{k}": v for k, v in other.items()})

    return change


def only(kind: str) -> dict[str, Any]:
    return {**LISTED, "destinations": [KINDS[kind]]}


# Requirement, message, the encoder's mistake. Declared from what the requirement says.
BROKEN: list[tuple[str, dict[str, Any], Callable[[bytes], bytes]]] = [
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
]


HEADED: list[tuple[str, dict[str, Any], str]] = [
    (
        "MQMQ-2.2.18.1.5.1.private-queue-identifier",
        {"destination": KINDS["private"]},
        "DestinationQueue.PrivateQueueIdentifier",
    ),
    (
        "MQMQ-2.2.18.1.7.1.public-queue-identifier",
        {"destination": KINDS["public"]},
        "DestinationQueue.PublicQueueIdentifier",
    ),
    (
        "MQMQ-2.2.18.1.7.2.private-queue-identifier",
        {"destination": KINDS["direct"], "response_queue": f"PRIVATE={OTHER}\\0000002a"},
        "ResponseQueue.PrivateQueueIdentifier",
    ),
]


def host(message: dict[str, Any]) -> dict[str, Any]:
    """The manager of the destination known, so that a private queue there is a number alone."""
    return message | ({"destination_queue_manager": GUID} if message["destination"] == KINDS["private"] else {})


@pytest.mark.parametrize(("requirement", "message", "change"), [pytest.param(*case, id=case[0]) for case in BROKEN])
def test_a_field_that_is_elsewhere_is_blamed(
    requirement: str, message: dict[str, Any], change: Callable[[bytes], bytes]
) -> None:
    right = packet_of(message)
    assert failing(compared(message, right)) == []
    assert requirement in {verdict.requirement for verdict in compared(message, right)}
    assert requirement in failing(compared(message, change(right)))


@pytest.mark.parametrize(("requirement", "message", "field"), HEADED)
def test_a_name_in_user_header_that_is_wrong_is_blamed(requirement: str, message: dict[str, Any], field: str) -> None:
    message = host(message)
    right = packet_of(message)
    assert failing(compared(message, right)) == []
    assert failing(compared(message, swapped(U + field)(right))) == [requirement]


@pytest.mark.parametrize("field", ["DestinationQueue.Count"])
def test_a_count_that_lies_breaks_the_layout_of_a_direct_name(field: str) -> None:
    message = {"destination": KINDS["direct"]}
    assert failing(compared(message, swapped(U + field)(packet_of(message)))) == ["MQMQ-2.2.18.1.5.2.layout"]


def test_each_half_of_a_sequence_identifier_has_its_place() -> None:
    message = {"destination": KINDS["direct"], "transaction": {**codecs.TRANSACTION}}
    right = packet_of(message)
    assert failing(compared(message, right)) == []
    wrong = failing(compared(message, swapped(T + "TxSequenceID")(right)))
    assert wrong == ["MQMQ-2.2.18.1.2.ordinal", "MQMQ-2.2.18.1.2.time-stamp"]


def test_every_claimed_comparison_has_a_mistake_that_it_catches() -> None:
    caught = {case[0] for case in BROKEN}
    of_other_fields = {*optional_headers._WRITES.values(), optional_headers._FLAG, optional_headers._HEADER}
    assert {*optional_headers.LIST_DEMANDS, *optional_headers.SOAP_DEMANDS} - of_other_fields == caught


def test_a_message_without_its_lists_breaks_what_asks_for_them() -> None:
    without = {name: value for name, value in LISTED.items() if name == "destination"}
    assert failing(compared(LISTED, packet_of(without))) == [
        "MQDMPR-3.1.7.1.30.multi-queue-header-flag",
        "MQDMPR-3.1.7.1.30.multi-queue-format-header",
    ]
    less = {**LISTED, "response_queues": [KINDS["direct"]], "administration_queues": []}
    wrong = failing(compared(LISTED, packet_of(less)))
    assert {f"MQDMPR-3.1.7.1.32.multi-queue-format-header-{name}" for name in ("administration", "response")} < {*wrong}


@pytest.mark.parametrize("way", READINGS)
def test_any_defensible_alignment_is_compared_by_its_own_measure(way: str) -> None:
    data = packet_of(LISTED, list_values(LISTED, way))
    assert failing(compared(LISTED, data)) == []


@pytest.mark.parametrize("name", KINDS.values())
def test_names_and_elements_are_each_others_inverse(name: str) -> None:
    assert name_of(name_values(name)) == name


@FEW
@given(messages_to_several_queues() | soap_messages())
def test_a_right_codec_passes(message: dict[str, Any]) -> None:
    verdicts = list(encode_case(client(codecs.Codec()), message, OPTIONS, quiet))
    if message.get("destinations"):
        verdicts += decode_lists_case(client(codecs.Codec()), message, OPTIONS, quiet)
    assert {verdict.outcome for verdict in verdicts} <= {Outcome.PASS}
    named = {verdict.requirement for verdict in verdicts}
    if message.get("destinations"):
        assert {*claims.LISTS_DECODED} <= named


class AlignsFromTheElement(codecs.Codec):
    """Reads and writes lists of names with their alignment counted from each element."""

    def encode(self, message: Any) -> bytes:
        return packet_of(message, list_values(message, "element.packed"))

    def call(self, method: str, /, **params: Any) -> Result:
        if method == "packets.decode":
            message = self.decode(codecs.base64.b64decode(params["packet"]))
            data = self.encode(message) if message else b""
            known = base64_of(data) == params["packet"]
            return Result(0, {"message": message}, None) if known else Result(codecs.REFUSED, {}, None)
        return super().call(method, **params)


def test_a_reader_that_aligns_otherwise_follows_a_reading() -> None:
    # Two direct names of 42 bytes: the GUID of the next name is elsewhere in each way.
    message = {**LISTED, "destinations": [KINDS["direct"], "DIRECT=OS:abc\\q", KINDS["private"]]}
    verdicts = list(decode_lists_case(client(AlignsFromTheElement()), message, OPTIONS, quiet))
    assert failing(verdicts) == []
    readings = [pair for verdict in verdicts if verdict.outcome is Outcome.READING for pair in verdict.readings]
    assert ("R-MQMQ-element-alignment", "element") in readings
    encoded = list(encode_case(client(AlignsFromTheElement()), message, OPTIONS, quiet))
    assert failing(encoded) == []
    assert any(("R-MQMQ-element-alignment", "element") in verdict.readings for verdict in encoded)


class ForgetsTheLastName(codecs.Codec):
    """Leaves the last destination of several out."""

    def decode(self, data: bytes) -> dict[str, Any] | None:
        message = super().decode(data)
        return message and message | {"destinations": message.get("destinations", [])[:-1]}


def test_a_reader_that_loses_a_name_is_blamed_for_its_attribute() -> None:
    verdicts = decode_lists_case(client(ForgetsTheLastName()), LISTED, OPTIONS, quiet)
    assert failing(list(verdicts)) == ["MQDMPR-3.1.7.1.31.destination-multi-queue-format-name-attribute"]
