"""The frames printed in MS-MQQB 4.1, decoded: values asserted are those of the bytes, where the print differs too."""

import pytest
from printed_frames import CONNECTION_PARAMETERS, PING_REQUEST, SESSION_ACK, USER_MESSAGE

from conformance.wire import dissect, encode, rebuild


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
