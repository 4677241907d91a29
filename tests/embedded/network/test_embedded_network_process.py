"""The process: its arguments, its ports, its end, and what it does with hostile others, over real sockets."""

from __future__ import annotations

import json
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from embedded_network_peer import (
    CLIENT,
    ORDER_ACK,
    TRANSACTIONAL,
    Said,
    base,
    establish,
    header,
    parameters,
    read,
)
from embedded_network_process import COMMAND, PATIENCE, Process, is_closed, process, take, taken_again

from conformance.embedded.network.deviations import FAULTS


@pytest.fixture(scope="module")
def shared() -> Iterator[Process]:
    with process("--timer", "session-ack-send=0.1") as made:
        yield made


def test_a_message_is_acknowledged_over_real_sockets(shared: Process) -> None:
    with shared.open() as line:
        line.sendall(Said(number=1).packet())
        assert header(take(line)) == (1, 0, 0, 0, 0, 64)


def test_order_acknowledgments_come_to_our_own_listener(shared: Process) -> None:
    with socket.create_server(("127.0.0.2", shared.port)) as listener, shared.open() as line:
        listener.settimeout(PATIENCE)
        said = Said(f"TCP:127.0.0.1\\private$\\{TRANSACTIONAL}", 2, transaction=(9, 1, 1, 0, 0))
        line.sendall(said.packet())
        back, (host, _) = listener.accept()
        with back:
            back.settimeout(PATIENCE)
            assert host == "127.0.0.1"
            request = take(back)
            stamp, system = struct.unpack_from("<IH", request, 52)
            back.sendall(establish(request[20:36], CLIENT, stamp, system))
            back.sendall(take(back))
            assert read(take(back))["class"] == ORDER_ACK


def test_a_ping_is_answered(shared: Process) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(PATIENCE)
        line.sendto(struct.pack("<HHI", 1, 0x5548, 77) + CLIENT, ("127.0.0.1", shared.ping))
        answer, _ = line.recvfrom(100)
    assert answer[:8] == struct.pack("<HHI", 1, 0x5548, 77)


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        base(0xFFFFFFFF),
        base(0x00400000, 0x0003),
        establish() + parameters() + base(0x00400004, 0x0003),
        establish() + parameters() + Said(body=bytes(100)).packet()[:120] + bytes(200),
        bytes(100_000),
    ],
)
def test_the_hostile_are_cut_off_and_others_are_served(shared: Process, said: bytes) -> None:
    with shared.connect() as line:
        with suppress(ConnectionError):
            line.sendall(said)
        assert is_closed(line)
    with shared.open() as line:
        assert line


SERVE = (sys.executable, "-m", "conformance", "serve", "--json")
SILENT = (b"", establish()[:300], establish(), establish() + parameters()[:20])
"""What is said before silence: nothing, half a packet, a request, a request and half of what comes next."""


@pytest.mark.parametrize("command", [COMMAND, SERVE], ids=["child", "serve"])
def test_new_clients_are_taken_beside_300_silent_ones(command: tuple[str, ...], tmp_path: Path) -> None:
    given = ("--out", str(tmp_path)) if command is SERVE else ()
    with ExitStack() as stack:
        made = stack.enter_context(process("--timer", "session-ack-send=0.1", *given, command=command))
        lines = [stack.enter_context(made.connect()) for _ in range(300)]
        for number, line in enumerate(lines):
            with suppress(ConnectionError):
                line.sendall(SILENT[number % len(SILENT)])
        with made.open("127.0.0.3") as line:
            line.sendall(Said(number=1).packet())
            assert header(take(line))[0] == 1
        assert is_closed(lines[0])


def test_no_more_sessions_are_open_than_there_may_be(shared: Process) -> None:
    with ExitStack() as stack:
        for _ in range(64):
            stack.enter_context(shared.open())
        more = stack.enter_context(shared.connect())
        more.sendall(establish())
        assert take(more)[18] & 0x10
        assert is_closed(more)
    taken_again(shared)


def flood(number: int) -> bytes:
    """Messages that ask for acknowledgments, each at another host, or at the client, which never reads."""
    host = f"127.{number}.{{}}.{{}}" if number % 12 else "127.0.0.2"
    said = Said(asks=3, body=bytes(1000))
    packets = []
    for each in range(3_000):
        said.number, said.admin = 100_000 * number + each, f"TCP:{host.format(each >> 8, each & 255)}\\private$\\mine"
        packets.append(said.packet())
    return establish(bytes([number]) * 16) + parameters() + b"".join(packets)


def hostile(number: int) -> bytes:
    """Return what one of many hostile clients says."""
    opened = establish(bytes([number]) * 16) + parameters()
    large = Said(body=bytes(4_000_000)).packet()
    return (
        flood(number),
        opened + large[:-1],
        base(0xFFFFFFFF) + bytes(100_000),
        opened + base(0x00400000, 0x0003) + bytes(4_000_000),
        opened * 100,
        bytes(1_000_000),
    )[number % 6]


def test_33_hostile_clients_are_bounded() -> None:
    with ExitStack() as stack:
        made = stack.enter_context(process("--timer", "session-ack-send=0.1", "--consume", "mqconform-plain=1"))
        for number in range(1, 34):
            line = stack.enter_context(made.connect())
            line.settimeout(0.5)
            with suppress(OSError):
                line.sendall(hostile(number))
        with made.open("127.0.0.3") as line:
            line.sendall(Said(number=1).packet())
            assert header(take(line))[0] == 1
        assert made.resident_kb() < 400_000


def test_a_flood_that_never_reads_is_served_in_bounded_memory(shared: Process) -> None:
    with shared.open("127.0.0.1") as line:
        packet = Said(asks=1, admin="TCP:127.0.0.1\\private$\\mine", body=bytes(2000))
        packets = []
        for number in range(5000, 7000):
            packet.number = number
            packets.append(packet.packet())
        with suppress(OSError):
            line.sendall(b"".join(packets))
    assert shared.resident_kb() < 400_000


def test_recoverable_messages_and_identity_survive_a_kill(tmp_path: Path) -> None:
    state = ("--state-dir", str(tmp_path), "--timer", "session-ack-send=0.1", "--consume", "mqconform-plain=1")
    said = Said(number=5, recoverable=True, asks=2, admin="TCP:127.0.0.1\\private$\\mine")
    with process(*state) as first, first.open("127.0.0.1") as line:
        line.sendall(said.packet())
        assert header(take(line))[:3] == (1, 1, 1)
        first.child.kill()
        first.child.wait()
    with process(*state) as second:
        assert second.guid == first.guid
        with second.open("127.0.0.1") as line:
            assert read(take(line))["class"] == 0x4000


def test_the_process_ends_with_its_input() -> None:
    with process() as made:
        assert made.end() == 0


def test_the_process_ends_on_a_signal() -> None:
    with process() as made:
        made.child.send_signal(signal.SIGTERM)
        assert made.child.wait(PATIENCE) == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--listen", "127.0.0.1"), "--listen needs HOST:PORT"),
        (("--listen", "127.0.0.1:70000"), "--listen needs HOST:PORT"),
        (("--listen", "127.0.0.1:0", "--timer", "session-clean=2"), "did you mean session-cleanup"),
        (("--listen", "127.0.0.1:0", "--timer", "session-cleanup=soon"), "--timer needs session-cleanup=SECONDS"),
        (("--listen", "127.0.0.1:0", "--timer", "session-cleanup=nan"), "--timer needs session-cleanup=SECONDS"),
        (("--listen", "127.0.0.1:0", "--fault", "ping-cooky"), "did you mean ping-cookie"),
        (("--listen", "127.0.0.1:0", "--queue", "q,transactionl"), "there is no queue word"),
        (("--listen", "127.0.0.1:0", "--consume", "q=1"), "there is no queue q"),
        (("--listen", "127.0.0.1:0", "--reading", "R-MQQB-window=mine"), "there is no alternative"),
        (("--listen", "127.0.0.1:0", "--ping-port", "-1"), "--ping-port needs a port"),
        (("--listen", "127.0.0.1:0", "--way", "bussy"), "did you mean busy"),
        (("--listen", "127.0.0.1:0", "--way", "busy", "--way", "busy"), "one server cannot have all of busy, busy"),
    ],
)
def test_a_bad_argument_is_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    done = subprocess.run((*COMMAND, *arguments), capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_port_that_is_taken_is_one_sentence(shared: Process) -> None:
    where = f"127.0.0.1:{shared.port}"
    done = subprocess.run((*COMMAND, "--listen", where, "--ping-port", "0"), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert where in done.stderr
    assert done.stderr.count("\n") == 1


def test_faults_are_listed() -> None:
    done = subprocess.run((*COMMAND, "--faults"), capture_output=True, text=True, timeout=60, check=True)
    listed = [each for each in map(json.loads, done.stdout.splitlines()) if "plane" not in each]
    assert [each["name"] for each in listed] == list(FAULTS)
    assert all(set(each) == {"name", "breaks", "says"} for each in listed)
