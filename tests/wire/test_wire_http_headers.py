"""Headers of HTTP messages and what MS-MQRR 2.2.5.2 appends: the layouts the documents leave open are told apart."""

from typing import Any

import pytest

from conformance.wire import dissect, encode, rebuild

S, E, C = "SoapHeader.", "SRMPEnvelopeHeader.", "CompoundMessageHeader."
DESTINATION: dict[str, Any] = {"UserHeader.DestinationQueue.DirectFormatName": "http://host/msmq/q"}
HTTP: dict[str, Any] = {E + "Data": "<e/>", C + "Data": b"POST /msmq"}


def read(values: dict[str, Any]) -> Any:
    found = dissect(encode("UserMessage", DESTINATION | values))
    assert (found.trouble, rebuild(found)) == ((), found.data)
    return found


@pytest.mark.parametrize(
    ("header", "body", "packed", "layout"),
    [
        ("abc", "abc", False, "either"),
        ("ab", "abc", False, "aligned"),
        ("ab", "abc", True, "packed"),
        ("abc", "ab", False, "aligned"),
        ("abc", "ab", True, "packed"),
        ("ab", "ab", True, "packed"),
    ],
)
def test_padding_between_the_two_texts_of_soap_is_told(header: str, body: str, packed: bool, layout: str) -> None:
    without = {S + "HeaderPadding": b"", S + "BodyPadding": b""} if packed else {}
    found = read({S + "Header": header, S + "Body": body} | without)
    assert found.fields[S + "Layout"] == layout
    assert (found.fields[S + "Header"], found.fields[S + "Body"]) == (header, body)
    assert found.fields["Packet.Unexplained"] == 0


def test_soap_without_padding_before_a_multi_queue_header() -> None:
    name = "MultiQueueFormatHeader.Destination.FormatNameList.0.DirectFormatName"
    found = read(
        {S + "Header": "ab", S + "Body": "abc", S + "HeaderPadding": b"", S + "BodyPadding": b"", name: "OS:h\\q"}
    )
    assert found.fields[S + "Layout"] == "packed"
    assert found.fields[name] == "OS:h\\q"


@pytest.mark.parametrize("unit", ["wchars", "bytes"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("size", [9, 10, 11, 12])
def test_the_unit_and_the_padding_of_srmp_headers_are_told(unit: str, packed: bool, size: int) -> None:
    values = HTTP | {C + "Data": bytes(size)}
    if unit == "bytes":
        values[E + "DataLength"] = 10
    if packed:
        values |= {E + "Padding": b"", C + "Padding": b""}
    found = read(values)
    assert (found.fields[E + "Unit"], found.fields[E + "Layout"]) == (unit, "packed" if packed else "aligned")
    assert found.fields[E + "Data"] == "<e/>"
    assert found.fields[C + "Data"] == bytes(size)


def test_headers_behind_the_packet_are_read() -> None:
    values: dict[str, Any] = {
        "SubqueueHeader.SubqueueName": "sub".encode("utf-16-le").ljust(64, b"\0"),
        "SubqueueHeader.Marks.AcknowledgementClass": 0x4000,
        "DeadLetterHeader.DeadLetterPathName": "OS:h\\dead\0".encode("utf-16-le"),
        "ExtendedAddressHeader.AddressType": 6,
    }
    found = read(values)
    assert {key: found.fields[key] for key in values} == values
    assert found.fields["ExtensionHeader.Flags"] == 0b10011
    assert found.fields["ExtensionHeader.RemainingHeadersSize"] == 148 + 24 + 28
    assert found.fields["Packet.Unexplained"] == found.fields["Packet.ExtensionEnd"] == 12 + 200


def test_what_only_looks_like_an_extension_is_not_read_beyond_the_packet() -> None:
    data = encode("UserMessage", DESTINATION | {"ExtensionHeader.Flags": 0x13, "ExtensionHeader.Flags.SQ": 0})
    found = dissect(data[:-4])
    assert found.trouble
    assert dissect(data).fields["ExtensionHeader.Flags.DL"] == 1
