"""What never became a session: attempts to connect and pings without an answer; and who is at two addresses."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from tests_cli import mqconform

import conformance
from conformance.capture import Closed, Event, read_capture
from conformance.captures import replay_captures
from conformance.files import resource
from conformance.verdict import ExitCode

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
CLIENT, SERVER = 10, 20
Step = tuple[int, int, int, int]
"""Port of the client, sender, flags, and acknowledged or not."""


def ip(protocol: int, source: int, destination: int, body: bytes) -> bytes:
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), 0, 0x4000, 64, protocol, 0)
    return head + bytes([192, 0, 2, source, 192, 0, 2, destination]) + body


def segment(port: int, sender: int, flags: int, sequence: int, heard: int, data: bytes = b"") -> bytes:
    ports = (port, 1801) if sender == CLIENT else (1801, port)
    head = struct.pack(">HHIIBBHHH", *ports, sequence, heard, 5 << 4, flags, 65535, 0, 0)
    return ip(6, sender, CLIENT + SERVER - sender, head + data)


def written(path: Path, packets: list[bytes]) -> str:
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 101)
    for at, data in enumerate(packets):
        out += struct.pack("<IIII", 1_700_000_000 + at, 0, len(data), len(data)) + data
    path.write_bytes(out)
    return str(path)


def refused(port: int) -> list[bytes]:
    return [segment(port, CLIENT, SYN, 100, 0), segment(port, SERVER, RST | ACK, 0, 101)]


def unanswered(port: int) -> list[bytes]:
    return 3 * [segment(port, CLIENT, SYN, 100, 0)]


def given_up(port: int) -> list[bytes]:
    return [segment(port, CLIENT, SYN, 100, 0), segment(port, CLIENT, RST, 101, 0)]


def opened(port: int) -> list[bytes]:
    answer = segment(port, SERVER, SYN | ACK, 500, 101)
    return [segment(port, CLIENT, SYN, 100, 0), answer, segment(port, CLIENT, ACK, 101, 501)]


def reset(port: int) -> list[bytes]:
    return [*opened(port), segment(port, SERVER, RST | ACK, 501, 101)]


def closed(port: int) -> list[bytes]:
    ends = segment(port, CLIENT, FIN | ACK, 101, 501), segment(port, SERVER, FIN | ACK, 501, 102)
    return [*opened(port), *ends, segment(port, CLIENT, ACK, 102, 502)]


KINDS = {
    "refused": (refused, "were refused"),
    "unanswered": (unanswered, "were not answered"),
    "given up": (given_up, "were not answered"),
    "open": (opened, "were accepted, and carried no byte"),
    "reset": (reset, "were accepted, and reset without a byte"),
    "closed": (closed, "were accepted, and closed without a byte"),
}


def capture(path: Path, kind: str, times: int = 6) -> str:
    make, _ = KINDS[kind]
    return written(path, [each for port in range(50_000, 50_000 + times) for each in make(port)])


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_attempts_are_told_by_hosts(kind: str, columns: bool, tmp_path: Path) -> None:
    found = conformance.replay(capture(tmp_path / "a.pcap", kind), columns=columns)
    assert found.exit_code is ExitCode.NOTHING_JUDGED and found.sentence is not None
    assert f"6 attempts of 192.0.2.10 to connect to 192.0.2.20:1801 {KINDS[kind][1]}." in found.sentence


def test_one_attempt_is_told_in_the_singular(tmp_path: Path) -> None:
    found = conformance.replay(capture(tmp_path / "a.pcap", "refused", 1))
    assert "1 attempt of 192.0.2.10 to connect to 192.0.2.20:1801 was refused." in (found.sentence or "")


def test_a_connection_with_a_byte_or_without_its_beginning_is_no_attempt(tmp_path: Path) -> None:
    spoken = [*opened(50_000), segment(50_000, CLIENT, PSH | ACK, 101, 501, b"x"), *opened(50_001)[1:][1:]]
    events: list[Event] = list(read_capture(written(tmp_path / "a.pcap", spoken)))
    assert [one.attempt for one in events if isinstance(one, Closed)] == [None, None]
    for path in resource("fixtures/captures").glob("*session*.pcapng"):
        assert all(one.attempt is None for one in read_capture(path) if isinstance(one, Closed))


def test_the_console_has_rows_notes_and_the_sentence(tmp_path: Path) -> None:
    path = capture(tmp_path / "a.pcap", "refused")
    done = mqconform("replay", path, "--conversations", "--out", str(tmp_path / "out"))
    said = "6 attempts of 192.0.2.10 to connect to 192.0.2.20:1801 were refused"
    assert done.returncode == int(ExitCode.NOTHING_JUDGED)
    assert f"        {said}" in done.stdout and f"{path}: {said}" in done.stdout and said in done.stderr


def test_json_has_attempts_by_capture_and_as_a_row(tmp_path: Path) -> None:
    found = replay_captures(capture(tmp_path / "a.pcap", "refused"), conversations=True, out=tmp_path / "out")
    assert found.looked.conversations is not None
    (row,) = found.looked.conversations.rows
    assert (row.ends, row.attempts, row.came, row.stream) == (("192.0.2.10", "192.0.2.20:1801"), 6, "refused", 0)
    assert found.replay.captures[0].unheard == [("192.0.2.10", "192.0.2.20:1801", "refused", 6)]


def ping(source: int, cookie: int) -> bytes:
    data = struct.pack("<HHI", 0, 0x5548, cookie) + bytes(range(16))
    return ip(17, source, CLIENT + SERVER - source, struct.pack(">HHHH", 3527, 3527, 8 + len(data), 0) + data)


def test_pings_without_an_answer_are_told_and_answered_ones_not(tmp_path: Path) -> None:
    asked = [ping(CLIENT, number) for number in range(5)]
    silent = conformance.replay(written(tmp_path / "a.pcap", asked))
    sentence = "5 pings of 192.0.2.10 to 192.0.2.20:3527 were not answered"
    assert silent.replay.captures[0].unheard_sentences == [sentence]
    answered = conformance.replay(written(tmp_path / "b.pcap", [*asked, ping(SERVER, 4)]))
    assert answered.replay.captures[0].unheard_sentences == []


def test_one_queue_manager_at_two_addresses_is_a_hint_and_no_verdict(tmp_path: Path) -> None:
    whole = resource("fixtures/captures/consistent-session.pcapng").read_bytes()
    (tmp_path / "one.pcapng").write_bytes(whole)
    alone = conformance.replay(tmp_path / "one.pcapng", conversations=True)
    assert alone.looked.conversations is not None and list(alone.looked.conversations.hints()) == []
    address = bytes(map(int, alone.looked.conversations.rows[0].ends[0].partition(":")[0].split(".")))
    (tmp_path / "two.pcapng").write_bytes(whole.replace(address, address[:3] + b"\x63"))
    both = conformance.replay([tmp_path / "one.pcapng", tmp_path / "two.pcapng"], conversations=True)
    assert both.looked.conversations is not None
    (hint,) = [one for one in both.looked.conversations.hints() if "is at 2 addresses" in one]
    assert "192.0.2.99" in hint and both.exit_code is alone.exit_code
