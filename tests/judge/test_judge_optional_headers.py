"""Lists of names, Soap texts and names in UserHeader, field by field: what a wrong encoder is blamed for."""

from typing import Any

import packet_codecs as codecs
import pytest
from cases import all_of
from codec_runs import FEW, OPTIONS, client, failing, quiet
from hypothesis import given

from conformance.adapter.session import Result
from conformance.judge.packets import optional_headers
from conformance.judge.packets.optional_headers import compare_encoded, name_of, name_values
from conformance.spec.catalogue import assignment
from conformance.suites.packets import claims
from conformance.suites.packets.cases import decode_lists_case, encode_case
from conformance.suites.packets.messages import (
    base64_of,
    list_values,
    messages_to_several_queues,
    packet_of,
    soap_messages,
)
from conformance.suites.packets.mistakes import GUID, KINDS, LISTED, MISTAKES, OTHER, Mistake, caught, swapped
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect
from conformance.wire.elements import READINGS

READINGS_SET = assignment("windows")


def compared(message: dict[str, Any], data: bytes) -> list[Verdict]:
    return compare_encoded(message, dissect(data, transport="buffer"), readings=READINGS_SET)


@all_of("mistake", [pytest.param(one, id=one.requirement) for one in MISTAKES])
def test_a_field_that_is_elsewhere_is_blamed(mistake: Mistake) -> None:
    right = mistake.right()
    assert mistake.blamed(right) == []
    assert mistake.requirement in {verdict.requirement for verdict in compared(dict(mistake.message), right)}
    assert mistake.requirement in mistake.blamed(mistake.change(right))


@pytest.mark.parametrize(
    ("requirement", "message", "field"),
    [
        (
            "MQMQ-2.2.18.1.5.1.private-queue-identifier",
            {"destination": KINDS["private"], "destination_queue_manager": GUID},
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
        ("MQMQ-2.2.18.1.5.2.layout", {"destination": KINDS["direct"]}, "DestinationQueue.Count"),
    ],
)
def test_a_name_in_user_header_that_is_wrong_is_blamed_alone(
    requirement: str, message: dict[str, Any], field: str
) -> None:
    right = packet_of(message)
    assert failing(compared(message, right)) == []
    assert failing(compared(message, swapped(f"UserHeader.{field}")(right))) == [requirement]


def test_every_claimed_comparison_has_a_mistake_that_it_catches() -> None:
    of_other_fields = {*optional_headers._WRITES.values(), optional_headers._FLAG, optional_headers._HEADER}
    claimed = {
        *optional_headers.LIST_DEMANDS,
        *optional_headers.SOAP_DEMANDS,
        *optional_headers.SEQUENCE_DEMANDS,
        *optional_headers.USER_HEADER_DEMANDS,
    }
    assert claimed - of_other_fields == caught() == {one.requirement for one in MISTAKES}


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
    message["identifier"] = {"source": "11ea26c6-b6e6-4997-9595-9150557358d1", "ordinal": 7}
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
