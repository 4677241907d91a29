"""What MSMQ uses beside its two ports is counted by its name, by both readers alike."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest
from both_readers import same
from encapsulated import OUTER, VXLAN, ended, tcp, udp, written
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nightly import fewer

from conformance.capture.services import MAX_BEGUN, MAX_NAMES, SRMP, TCP_PORTS, UDP_PORTS, tcp_name

SYN, ACK, PUSH = 0x02, 0x10, 0x18
BIND = b"\5\0\x0b\3" + bytes(28) + UUID("fdb3a030-065f-11d1-bb9b-00a024ea5525").bytes_le
QMCOMM = "RPC of MSMQ by its interface qmcomm (MS-MQMP)"
POST = b"POST /MSMQ/private$/q HTTP/1.1\r\n\r\n"


def pdu(kind: int, call: int, rest: bytes, auth: int = 0) -> bytes:
    """Return a PDU of DCE/RPC in one fragment (C706 12.6.3)."""
    size = (16 + len(rest)).to_bytes(2, "little") + auth.to_bytes(2, "little")
    return bytes([5, 0, kind, 3, 0x10, 0, 0, 0]) + size + call.to_bytes(4, "little") + rest


def answer(payload: bytes) -> bytes:
    """Return a frame of port 49664 back to the client."""
    frame = tcp(50000, PUSH, payload, source=49664)
    at = frame.index(OUTER)
    return frame[:at] + OUTER[4:] + OUTER[:4] + frame[at + 8 :]


def services(tmp_path: Path, *frames: bytes) -> dict[str, tuple[int, int, int]]:
    path = written(tmp_path / "in.pcap", 1, [(bytes(8), frame) for frame in frames])
    same(path)
    found = ended(path)
    assert found.skipped == (("other ports", len(frames)),)
    return {name: (connections, records, size) for name, connections, records, size in found.services}


@pytest.mark.parametrize("port", TCP_PORTS)
def test_a_port_of_msmq_has_its_connections_records_and_bytes(tmp_path: Path, port: int) -> None:
    frames = (
        tcp(port, SYN),
        tcp(port, SYN),  # Sent again.
        tcp(port, SYN, sequence=8),
        tcp(port, SYN, source=50001),
        tcp(50000, SYN | ACK, source=port),
        tcp(port, PUSH, bytes(100)),
        tcp(50000, PUSH, bytes(30), source=port),
    )
    assert services(tmp_path, *frames) == {tcp_name(port): (3, 7, 130)}


def test_a_port_in_a_tunnel_counts_too(tmp_path: Path) -> None:
    frame = udp(VXLAN + tcp(2103, PUSH, bytes(5)), 4789)
    assert services(tmp_path, frame, tcp(2103, PUSH, bytes(5))) == {tcp_name(2103): (0, 2, 10)}


@pytest.mark.parametrize("port", UDP_PORTS)
def test_a_port_of_udp(tmp_path: Path, port: int) -> None:
    assert services(tmp_path, udp(bytes(9), port)) == {f"UDP port {port} ({UDP_PORTS[port]})": (0, 1, 9)}


@pytest.mark.parametrize(("payload", "name"), [(POST, SRMP), (BIND, QMCOMM), (b"\5\0\x0e" + BIND[3:], QMCOMM)])
def test_a_segment_of_any_port_tells_what_it_is(tmp_path: Path, payload: bytes, name: str) -> None:
    assert services(tmp_path, tcp(49664, PUSH, payload)) == {name: (0, 1, len(payload))}


@pytest.mark.parametrize(
    "payload",
    [b"POST /other HTTP/1.1\r\n\r\n/msmq", b"GET /msmq HTTP/1.1\r\n", b"\5\0", b"\5\0\x0b" + bytes(60), b"PO", b""],
)
def test_a_segment_of_something_else_is_of_other_ports_alone(tmp_path: Path, payload: bytes) -> None:
    assert services(tmp_path, tcp(49664, PUSH, payload)) == {}


def test_calls_are_named_with_their_method_and_their_outcome(tmp_path: Path) -> None:
    interface = UUID("1a9134dd-7b39-45ba-ad88-44d01ca47f28").bytes_le + bytes([1, 0, 0, 0])
    bind = pdu(11, 1, bytes(8) + bytes([2, 0, 0, 0, 0, 0, 1, 0]) + bytes(40) + bytes([5, 0, 0, 0]) + interface)
    frames = [
        tcp(49664, PUSH, bind),
        tcp(49664, PUSH, pdu(0, 2, bytes(4) + bytes([5, 0, 6, 0]))),
        answer(pdu(2, 2, bytes(8) + bytes.fromhex("07000ec0"))),
        tcp(49664, PUSH, pdu(0, 3, bytes(4) + bytes([5, 0, 2, 0]))),
        answer(pdu(3, 3, bytes(8) + bytes.fromhex("03000ec0"))),
        tcp(49664, PUSH, pdu(0, 4, bytes(4) + bytes([5, 0, 77, 0]))),
        answer(pdu(2, 4, bytes(28), auth=16)),
        answer(pdu(2, 4, bytes(28))),  # The answer to nothing.
        tcp(49664, PUSH, pdu(0, 5, bytes(4) + bytes([4, 0, 6, 0]))),  # Of another interface.
    ]
    name = "RPC of MSMQ, RemoteRead (MS-MQRR): "
    assert {key: count[1] for key, count in services(tmp_path, *frames).items()} == {
        "RPC of MSMQ by its interface RemoteRead (MS-MQRR)": 1,
        f"{name}R_PurgeQueue called": 1,
        f"{name}R_PurgeQueue returned 0xc00e0007": 1,
        f"{name}R_OpenQueue called": 1,
        f"{name}R_OpenQueue refused with the fault 0xc00e0003": 1,
        f"{name}opnum 77 called": 1,
        f"{name}opnum 77 answered": 1,
    }


def test_a_message_over_http_tells_its_queue_and_its_identifier(tmp_path: Path) -> None:
    body = b"<path><to>http://mq1/msmq/private$/q</to><id>uuid:7@8d6f0b52-4f0e-4b9d-9a57-0c2e5f1a7d33</id></path>"
    payload = POST.replace(b"\r\n\r\n", b"\r\nHost: mq1.lab\r\n\r\n") + body
    name = f"{SRMP}, to mq1.lab/MSMQ/private$/q, message uuid:7@8d6f0b52-4f0e-4b9d-9a57-0c2e5f1a7d33"
    assert services(tmp_path, tcp(8080, PUSH, payload)) == {name: (0, 1, len(payload))}


def test_names_are_counted_up_to_a_bound(tmp_path: Path) -> None:
    frames = [tcp(80, PUSH, b"POST /msmq/%d HTTP/1.1\r\nHost: a\r\n\r\n" % number) for number in range(MAX_NAMES + 8)]
    found = services(tmp_path, *frames)
    assert len(found) == MAX_NAMES + 1 and found[SRMP][1] == 9  # The port has a name, too.


def test_a_segment_cut_by_the_recorder_counts_with_all_its_bytes(tmp_path: Path) -> None:
    whole = tcp(2105, PUSH, bytes(100))
    assert services(tmp_path, whole[:-40], tcp(2105, PUSH, BIND)[:-30]) == {tcp_name(2105): (0, 2, 100 + len(BIND))}


def test_requests_to_connect_are_remembered_up_to_a_bound(tmp_path: Path) -> None:
    frames = [tcp(135, SYN, source=port) for port in range(10000, 10000 + MAX_BEGUN + 1)]
    count = services(tmp_path, *frames, frames[-1], frames[0])[tcp_name(135)][0]
    assert count == MAX_BEGUN + 2  # The last one was repeated; the first is forgotten.


_SEGMENTS = st.builds(
    tcp,
    st.sampled_from([80, 135, 443, 1802, 2103, 49664]),
    st.sampled_from([SYN, SYN | ACK, ACK, PUSH]),
    st.sampled_from([b"", b"P", b"PO", POST, BIND, BIND[:40], bytes(9)]),
    st.sampled_from([50000, 135, 88, 3527]),
    st.integers(1, 3),
)


@settings(max_examples=fewer(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frames=st.lists(st.tuples(_SEGMENTS, st.integers(0, 80)), min_size=1, max_size=30))
def test_both_readers_count_the_same(tmp_path: Path, frames: list[tuple[bytes, int]]) -> None:
    path = written(tmp_path / "in.pcap", 1, [(bytes(8), frame[: max(20, len(frame) - cut)]) for frame, cut in frames])
    same(path)
