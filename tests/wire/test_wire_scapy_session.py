"""Plain scapy reads whole streams: `sniff(session=TCPSession)` finds every packet, wherever segments end."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.sendrecv import sniff
from scapy.sessions import TCPSession
from scapy.utils import wrpcap

from conformance.wire import encode
from conformance.wire.layers import SectionLayer, SessionHeader, UserHeader


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
