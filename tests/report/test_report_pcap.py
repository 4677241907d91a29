"""A packet as a capture file: our own reader and tshark find the same packet in it again."""

from __future__ import annotations

import shutil
import subprocess
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.capture import Frame, read_capture
from conformance.report.hexdump import SEGMENT, packet_capture, packet_of
from conformance.resources import resource
from conformance.verdict import Evidence


def frames(path: Path) -> list[Frame]:
    return [event for event in read_capture(path) if isinstance(event, Frame)]


def about(frame: Frame) -> dict[str, Any]:
    return {"source": str(frame.source), "destination": str(frame.destination), "time_ns": frame.time_ns}


@pytest.mark.parametrize("name", ["mqqb-4.1.pcapng", "ipv6-extensions.pcapng"])
def test_every_packet_is_found_again(name: str, tmp_path: Path) -> None:
    found = frames(resource(f"fixtures/captures/{name}"))
    assert found
    for number, frame in enumerate(found):
        path = tmp_path / f"{number}.pcap"
        path.write_bytes(packet_capture(frame.data, frame.transport, about(frame)))
        (again,) = frames(path)
        assert again.data == frame.data and again.transport == frame.transport
        assert about(again) == about(frame)


def test_a_long_packet_is_cut_into_segments(tmp_path: Path) -> None:
    (frame,) = [one for one in frames(resource("fixtures/captures/mqqb-4.1.pcapng")) if one.data[4:8] == b"LIOR"][:1]
    # PacketSize says how long the packet is; what follows the headers is then a body.
    data = frame.data[:8] + (3 * SEGMENT).to_bytes(4, "little") + frame.data[12:]
    data = data.ljust(3 * SEGMENT, b"Z")
    path = tmp_path / "long.pcap"
    path.write_bytes(packet_capture(data, "tcp", about(frame)))
    (again,) = frames(path)
    assert again.data == data


def test_tshark_reads_it(tmp_path: Path) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    frame = frames(resource("fixtures/captures/mqqb-4.1.pcapng"))[2]
    path = tmp_path / "packet.pcap"
    path.write_bytes(packet_capture(frame.data, frame.transport, about(frame)))
    fields = ("ip.src", "tcp.dstport", "tcp.payload", "ip.checksum.status", "_ws.malformed")
    done = subprocess.run(
        ["tshark", "-r", str(path), "-o", "ip.check_checksum:TRUE", "-T", "fields", *(f"-e{one}" for one in fields)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    source, _, port = about(frame)["destination"].rpartition(":")
    assert source
    start, packet = (line.split("\t") for line in done.stdout.splitlines())
    assert start[2] == "" and packet[1:] == [port, frame.data.hex(), "1", ""]


@settings(max_examples=30, deadline=None)
@given(
    st.binary(max_size=200),
    st.sampled_from(["tcp", "udp", "buffer"]),
    st.fixed_dictionaries(
        {},
        optional={
            "source": st.one_of(st.text(), st.integers(), st.sampled_from(["[::1]:9", "1.2.3.4:99999", "::1:²"])),
            "destination": st.one_of(st.text(), st.none(), st.just("192.0.2.7:1801")),
            "time_ns": st.one_of(st.integers(), st.floats(), st.booleans(), st.text()),
        },
    ),
)
def test_any_evidence_makes_a_capture(data: bytes, transport: str, told: dict[str, Any]) -> None:
    assert data in packet_capture(data, transport, told)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"base64": 7},
        {"base64": "no base64!"},
        {"packet": "é"},
        {"packet": ["AAAA"]},
        {"base64": "A" * ((16 << 20) * 4 // 3 + 4)},
    ],
)
def test_evidence_without_a_packet_has_none(data: dict[str, Any]) -> None:
    assert packet_of(Evidence("packet", "frame 1", data)) is None


def test_evidence_holds_its_packet_under_either_name() -> None:
    told = b64encode(b"abc").decode()
    assert packet_of(Evidence("packet", "frame 1", {"base64": told, "transport": "udp"})) == (b"abc", "udp")
    assert packet_of(Evidence("packet", "encoded", {"packet": told, "transport": "smoke"})) == (b"abc", "buffer")
    assert packet_of(Evidence("history", "encoded", {"packet": told})) is None
    assert packet_of(None) is None
