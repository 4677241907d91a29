"""Headers of MS-MQRR 2.2.5 with one mistake among them: the others are read where they stand."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.capture import Frame, read_capture
from conformance.resources import resource
from conformance.wire import Packet, dissect, encode

CAPTURES = Path(resource("fixtures/captures"))
PATH, DATA = "DeadLetterHeader.DeadLetterPathName", "SRMPEnvelopeHeader.Data"


def messages(capture: str) -> Iterator[Packet]:
    for event in read_capture(CAPTURES / capture):
        if isinstance(event, Frame) and dissect(event.data).kind == "UserMessage":
            yield dissect(event.data)


def trouble(packet: Packet) -> set[str]:
    return {one.code for one in packet.trouble}


def test_each_appended_header_is_found_whatever_is_wrong_about_another() -> None:
    right = list(messages("appended-headers.pcapng"))
    assert [packet.trouble for packet in right] == [()] * 3
    order, unannounced, lacking, miscounted, resized, *values = messages("appended-headers-wrong.pcapng")
    for packet in (order, unannounced, miscounted, resized):
        assert packet.fields[PATH] == right[2].fields[PATH]
        assert packet.fields["ExtendedAddressHeader.Address"] == right[2].fields["ExtendedAddressHeader.Address"]
    assert not lacking.has("SubqueueHeader") and lacking.fields["ExtendedAddressHeader.AddressLength"] == 4
    assert [trouble(one) for one in (order, unannounced, resized)] == [{"appended"}] * 3
    assert [trouble(one) for one in (lacking, miscounted, *values)] == [set()] * 4


def test_each_header_of_http_is_found_whatever_is_wrong_about_another() -> None:
    small, _ = messages("http-headers.pcapng")
    assert small.trouble == ()
    counted, beyond, order, first, neither, _, resized, *_, unannounced = messages("http-headers-wrong.pcapng")
    for packet in (counted, beyond, order, first, resized, unannounced):
        assert packet.fields[DATA] == small.fields[DATA]
        assert "srmp" in trouble(packet)
    assert trouble(beyond) == {"srmp", "overrun"}
    assert unannounced.fields["CompoundMessageHeader.Data"] == small.fields["CompoundMessageHeader.Data"]
    assert not first.has("CompoundMessageHeader") and not neither.has("SRMPEnvelopeHeader")


@pytest.mark.parametrize(
    "behind", [bytes(24), b"\x10" * 48, bytes(8) + b"<\0e\0/\0>\0" + bytes(20), b"\x0d" + bytes(11)]
)
def test_other_bytes_behind_a_message_are_no_headers(behind: bytes) -> None:
    values: dict[str, Any] = {"MessagePropertiesHeader.Padding": behind}
    packet = dissect(encode("UserMessage", values))
    assert packet.fields["Packet.Unexplained"]
    assert not packet.has("SRMPEnvelopeHeader") and not packet.has("ExtensionHeader")
