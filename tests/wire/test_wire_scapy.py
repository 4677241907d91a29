"""The scapy layers: bound to the ports, the same bytes as the plain encoder, computed fields."""

import pytest
from printed_frames import PING_REQUEST, SESSION_ACK, USER_MESSAGE
from scapy.layers.inet import IP, TCP, UDP
from scapy.packet import Raw

import conformance.wire
from conformance.wire import dissect, encode
from conformance.wire.layers import (
    LAYER,
    BaseHeader,
    InternalHeader,
    MessagePropertiesHeader,
    Ping,
    SessionHeader,
    TransactionHeader,
    UserHeader,
)


@pytest.mark.parametrize("port", ["sport", "dport"])
def test_layers_are_bound_to_the_ports(port: str) -> None:
    assert conformance.wire.layers.TCP_PORT == 1801
    over_tcp = IP(bytes(IP() / TCP(**{port: 1801}) / Raw(SESSION_ACK)))
    assert over_tcp.haslayer(SessionHeader)
    over_udp = IP(bytes(IP() / UDP(**{port: 3527}) / Raw(PING_REQUEST)))
    assert over_udp[Ping].Cookie == 4


@pytest.mark.parametrize("data", [SESSION_ACK, USER_MESSAGE, USER_MESSAGE[:1650], USER_MESSAGE[:70]])
def test_what_was_read_is_written_again(data: bytes) -> None:
    assert bytes(BaseHeader(data)) == data


def test_headers_of_a_user_message_follow_each_other() -> None:
    names = [layer.__name__ for layer in BaseHeader(USER_MESSAGE).layers()]
    assert names == ["BaseHeader", "UserHeader", "SecurityHeader", "MessagePropertiesHeader"]


def test_building_computes_what_is_not_set() -> None:
    built = bytes(
        BaseHeader()
        / UserHeader(DestinationQueue_DirectFormatName="OS:a\\q")
        / TransactionHeader(ID=5, TxSequenceNumber=2)
        / MessagePropertiesHeader(Label="hi", MessageBody=b"12345")
        / SessionHeader()
    )
    assert built == encode(
        "UserMessage",
        {
            "UserHeader.DestinationQueue.DirectFormatName": "OS:a\\q",
            "TransactionHeader.Flags.ID": 5,
            "TransactionHeader.TxSequenceNumber": 2,
            "MessagePropertiesHeader.Label": "hi",
            "MessagePropertiesHeader.MessageBody": b"12345",
            "SessionHeader.WindowSize": 64,
        },
    )


def test_a_session_ack_counts_its_session_header() -> None:
    built = bytes(BaseHeader(Reserved=0xCD) / InternalHeader() / SessionHeader(AckSequenceNumber=1))
    assert built == SESSION_ACK


def test_each_computed_field_can_be_overridden() -> None:
    built = bytes(BaseHeader(PacketSize=9, SH=1) / UserHeader(TH=1) / MessagePropertiesHeader(MessageSize=400))
    packet = dissect(built)
    assert packet.fields["BaseHeader.PacketSize"] == 9
    assert packet.fields["BaseHeader.Flags.SH"] == 1
    assert BaseHeader(built).TH == 1


def test_setting_a_field_of_a_packet_that_was_read_rewrites_it() -> None:
    packet = BaseHeader(SESSION_ACK)
    packet[SessionHeader].WindowSize = 1
    assert dissect(bytes(packet)).fields["SessionHeader.WindowSize"] == 1


@pytest.mark.parametrize("name", sorted(LAYER))
def test_every_layer_builds_and_reads_its_defaults(name: str) -> None:
    layer = LAYER[name]
    data = bytes(layer())
    assert bytes(layer(data)) == data
    layer(data).show(dump=True)
