"""Layers and sessions for Scapy."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from printed_frames import PING_REQUEST, SESSION_ACK, USER_MESSAGE
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.sendrecv import sniff
from scapy.sessions import TCPSession
from scapy.utils import wrpcap

import conformance.wire
from conformance.wire import dissect, encode
from conformance.wire.layers import (
    LAYER,
    BaseHeader,
    InternalHeader,
    MessagePropertiesHeader,
    Ping,
    SectionLayer,
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


@pytest.mark.parametrize("most", [40, 300, 1400])
def test_every_packet_of_a_stream_is_found(most: int, tmp_path: Path) -> None:
    sizes = random.Random(most)
    stream = b"".join(
        encode(
            "UserMessage",
            {
                "UserHeader.MessageID": number,
                "MessagePropertiesHeader.MessageBody": bytes(number * 7 % 400),
                **({"SessionHeader.WindowSize": 64} if number % 3 == 0 else {}),
            },
        )
        for number in range(60)
    )
    records, at, ip = [], 0, IP(src="192.0.2.1", dst="192.0.2.2")
    while at < len(stream):
        size = sizes.randint(1, most)
        tcp = TCP(sport=50000, dport=1801, seq=1000 + at, ack=1, flags="PA")
        # With addresses of its own: scapy would ask the network for them.
        records.append(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / ip / tcp / stream[at : at + size])
        at += size
    path = tmp_path / "stream.pcap"
    wrpcap(str(path), records)
    layers: list[SectionLayer] = []
    sniff(offline=str(path), session=TCPSession, prn=lambda one: layers.extend(one.iterpayloads()), store=False)
    assert [one.MessageID for one in layers if isinstance(one, UserHeader)] == list(range(60))
    assert sum(isinstance(one, SessionHeader) for one in layers) == 20
