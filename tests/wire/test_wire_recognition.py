"""Packets are recognised and framed; what does not fit is told."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from columns_beside import Beside
from printed_frames import CONNECTION_PARAMETERS, PING_REQUEST, SESSION_ACK, USER_MESSAGE

from conformance.capture import Frame, read_capture
from conformance.files import resource
from conformance.wire import Packet, dissect, encode, frame_length, rebuild, settle
from conformance.wire.columns.packets import shapes_and_code

SHAPES, _ = shapes_and_code()
INTERNAL = ("SessionAck", "EstablishConnection", "ConnectionParameters")
MPH, DESTINATION = "MessagePropertiesHeader", "UserHeader.DestinationQueue"
WRONG: dict[str, dict[str, Any]] = {
    "destination": {f"{DESTINATION}.PrivateQueueIdentifier": 5},
    "label": {f"{MPH}.Label": "QM ordering ack"},
    "size": {f"{MPH}.MessageBody": bytes(35)},
    "class": {f"{MPH}.MessageClass": 0},
}
NAMED = {"FinalAckBody.MessageID": 7, "UserHeader.Flags.DM": 1}


def acknowledgment(kind: str) -> bytes:
    return encode(kind, NAMED if kind == "FinalAck" else {})


def changed(data: bytes, changes: dict[str, Any]) -> bytes:
    return rebuild(dissect(data), changes)


def kinds(*packets: bytes) -> list[str]:
    """What each packet is taken for; columns, where they decide at all, decide alike."""
    Beside(tuple(SHAPES.places)).compare_fields(list(packets))
    return [dissect(one, transport="tcp").kind for one in packets]


@pytest.mark.parametrize("kind", ["OrderAck", "FinalAck"])
def test_an_acknowledgment_with_one_wrong_mark_is_still_one(kind: str) -> None:
    whole = acknowledgment(kind)
    assert kinds(whole, *(changed(whole, change) for change in WRONG.values())) == [kind] * 5


@pytest.mark.parametrize("kind", ["OrderAck", "FinalAck"])
def test_two_wrong_marks_make_a_message(kind: str) -> None:
    whole = acknowledgment(kind)
    pairs = [{**one, **other} for one in WRONG.values() for other in WRONG.values() if one is not other]
    assert set(kinds(*(changed(whole, pair) for pair in pairs))) == {"UserMessage"}


def test_an_express_acknowledgment_that_names_no_message_has_a_wrong_class() -> None:
    wrong = [changed(encode("OrderAck"), {f"{MPH}.MessageClass": number}) for number in (0x4000, 0x8003, 0x1234)]
    assert kinds(*wrong) == ["OrderAck"] * 3
    assert kinds(changed(acknowledgment("FinalAck"), {"UserHeader.Flags.DM": 0})) == ["FinalAck"]


@pytest.mark.parametrize("kind", INTERNAL)
def test_an_internal_packet_without_its_flag_is_still_one(kind: str) -> None:
    data = encode(kind)
    flags = struct.unpack_from("<H", data, 2)[0]
    assert flags & 8
    assert kinds(data[:2] + struct.pack("<H", flags ^ 8) + data[4:]) == [kind]


@pytest.mark.parametrize("kind", INTERNAL)
def test_the_size_tells_an_internal_packet_of_a_wrong_type(kind: str) -> None:
    data = encode(kind)
    wrong = [data[:18] + bytes([number]) + data[19:] for number in (1, 2, 3)]
    assert kinds(*wrong) == [kind] * 3
    assert kinds(data[:18] + b"\x04" + data[19:]) == ["Malformed"]


def test_a_size_of_no_packet_leaves_the_type() -> None:
    data = encode("ConnectionParameters")
    for size in (20, 31, 36, 600):
        cut = data[:size].ljust(size, b"\0")
        assert kinds(cut[:8] + struct.pack("<I", size) + cut[12:]) == ["ConnectionParameters"]


def test_a_message_of_the_size_of_an_internal_packet_is_a_message() -> None:
    for label in ("", "x"):
        short = encode("UserMessage", {f"{MPH}.Label": label})
        body = bytes(572 - len(short))
        assert kinds(changed(short, {f"{MPH}.MessageBody": body})) == ["UserMessage"]


PLAIN = encode("UserMessage", {"UserHeader.DestinationQueue.DirectFormatName": "OS:a\\q"})
WITH_SESSION = {"UserHeader.DestinationQueue.DirectFormatName": "OS:a\\q", "SessionHeader.WindowSize": 64}


def test_an_ordinary_packet_has_one_length() -> None:
    assert frame_length(PLAIN[:16]).lengths == (len(PLAIN),)


def test_a_session_ack_is_as_long_as_it_says() -> None:
    assert frame_length(encode("SessionAck")[:16]).lengths == (36,)


@pytest.mark.parametrize("placement", ["after", "inside"])
@pytest.mark.parametrize("behind", [b"", PLAIN, PLAIN[:8]])
def test_a_session_header_behind_a_message_is_found_by_what_follows(placement: str, behind: bytes) -> None:
    data = encode("UserMessage", WITH_SESSION, placement=placement)
    lengths = frame_length(data).lengths
    assert len(lengths) == 2
    assert settle(lengths, data + behind, 0, final=True) == len(data)


def test_more_bytes_are_awaited_while_the_end_is_not_certain() -> None:
    data = encode("UserMessage", WITH_SESSION, placement="inside")
    assert settle(frame_length(data).lengths, data, 0, final=False) is None
    assert settle((40,), b"x" * 39, 0, final=True) is None


@pytest.mark.parametrize(
    ("head", "code"),
    [
        (PLAIN[:15], "truncated"),
        (b"", "truncated"),
        (PLAIN[:4] + b"LIOS" + PLAIN[8:16], "signature"),
        (b"\x11" + PLAIN[1:16], "version"),
        (PLAIN[:8] + bytes(4) + PLAIN[12:16], "packet-size"),
        (PLAIN[:8] + b"\xff" * 4 + PLAIN[12:16], "packet-size"),
        (PLAIN[:8] + (0x400001).to_bytes(4, "little") + PLAIN[12:16], "packet-size"),
    ],
)
def test_a_head_that_cannot_be_framed_says_why(head: bytes, code: str) -> None:
    answer = frame_length(head)
    assert answer.lengths == ()
    assert answer.trouble is not None
    assert answer.trouble.code == code


def test_the_largest_packet_is_allowed() -> None:
    assert frame_length(PLAIN[:8] + (0x400000).to_bytes(4, "little") + PLAIN[12:16]).lengths == (0x400000,)


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


def test_ping_request() -> None:
    packet = dissect(PING_REQUEST)
    assert (packet.kind, packet.trouble) == ("Ping", ())
    assert packet.fields["Ping.Flags.RC"] == 1
    assert packet.fields["Ping.Flags.RF"] == 0
    assert packet.fields["Ping.Cookie"] == 4
    assert packet.fields["Ping.QMGuid"] == "557358d1-9150-9595-4997-b6e611ea26c6"
    assert packet.spans["Ping.Cookie"] == (4, 4)


def test_session_ack_counts_its_session_header() -> None:
    packet = dissect(SESSION_ACK)
    assert (packet.kind, packet.trouble) == ("SessionAck", ())
    assert packet.fields["BaseHeader.Flags.IN"] == packet.fields["BaseHeader.Flags.SH"] == 1
    assert packet.fields["BaseHeader.Reserved"] == 0xCD
    assert packet.fields["SessionHeader.AckSequenceNumber"] == 1
    assert packet.fields["SessionHeader.WindowSize"] == 64
    assert packet.fields["Packet.SessionHeaderPlacement"] == "inside"


def test_connection_parameters() -> None:
    packet = dissect(CONNECTION_PARAMETERS)
    assert (packet.kind, packet.trouble) == ("ConnectionParameters", ())
    assert packet.fields["ConnectionParametersHeader.AckTimeout"] == 20000
    assert packet.fields["ConnectionParametersHeader.WindowSize"] == 64


def test_user_message_bits_are_counted_from_the_lowest() -> None:
    fields = dissect(USER_MESSAGE).fields
    assert fields["UserHeader.Flags"] == 0x00281C00
    assert [fields[f"UserHeader.Flags.{bit}"] for bit in ("DQ", "SH", "MP", "TH", "AQ", "DM")] == [7, 1, 1, 0, 0, 0]
    assert fields["BaseHeader.Flags.PR"] == 3


def test_user_message_texts_and_sizes() -> None:
    packet = dissect(USER_MESSAGE)
    assert (packet.kind, packet.trouble) == ("UserMessage", ())
    fields = packet.fields
    assert fields["UserHeader.DestinationQueue.DirectFormatName"] == "OS:a04bm02\\q"
    assert fields["UserHeader.DestinationQueue.Count"] == 26
    assert fields["MessagePropertiesHeader.LabelLength"] == 15
    assert fields["MessagePropertiesHeader.Label"] == "mqsender label"
    assert packet.spans["MessagePropertiesHeader.MessageBody"] == (222, 2000)
    assert packet.spans["MessagePropertiesHeader.Padding"] == (2222, 2)
    assert packet.spans["MessagePropertiesHeader"] == (136, 2088)


def test_security_data_is_there_although_flags_ai_is_clear() -> None:
    packet = dissect(USER_MESSAGE)
    assert packet.fields["SecurityHeader.Flags.AI"] == 0
    assert packet.spans["SecurityHeader.SecurityData.SecurityID"] == (108, 28)


def test_truncated_user_message_keeps_what_could_be_read() -> None:
    packet = dissect(USER_MESSAGE[:1650])
    assert packet.kind == "UserMessage"
    assert [trouble.code for trouble in packet.trouble] == ["truncated", "truncated"]
    assert packet.trouble[1].field == "MessagePropertiesHeader.MessageBody"
    assert packet.fields["MessagePropertiesHeader.Label"] == "mqsender label"
    assert "MessagePropertiesHeader.MessageBody" not in packet.fields


@pytest.mark.parametrize("data", [PING_REQUEST, SESSION_ACK, CONNECTION_PARAMETERS, USER_MESSAGE])
def test_rebuilding_changes_nothing(data: bytes) -> None:
    assert rebuild(dissect(data)) == data


def test_establish_connection_flags_word_is_not_swapped_with_reserved() -> None:
    data = encode(
        "EstablishConnection",
        {"EstablishConnectionHeader.OperatingSystem": 0x0310, "EstablishConnectionHeader.TimeStamp": 501140046},
    )
    fields = dissect(data).fields
    assert len(data) == 572
    assert data[56:60] == bytes.fromhex("10030000")
    assert [fields[f"EstablishConnectionHeader.OperatingSystem.{bit}"] for bit in ("RE", "SE", "OS", "QS")] == [
        0x10,
        1,
        1,
        0,
    ]
