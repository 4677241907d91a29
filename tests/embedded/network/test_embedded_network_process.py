"""The process: its arguments, its ports, its end, and what it does with hostile others, over real sockets."""

from __future__ import annotations

import json
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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

from conformance.embedded.network.deviations import FAULTS

COMMAND = (sys.executable, "-m", "conformance.embedded.network")
PATIENCE = 20.0


class Process:
    """A running process. port, ping: where it listens."""

    def __init__(self, *arguments: str) -> None:
        given = (*COMMAND, "--listen", "127.0.0.1:0", "--ping-port", "0", *arguments)
        self.child = subprocess.Popen(given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.child.stdout is not None
        ready = json.loads(self.child.stdout.readline())["ready"]
        self.port = int(ready["listen"].rpartition(":")[2])
        self.ping = int(ready["ping"].rpartition(":")[2])
        self.guid = ready["guid"]

    def connect(self, address: str = "127.0.0.2") -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE, (address, 0))

    def open(self, address: str = "127.0.0.2") -> socket.socket:
        made = self.connect(address)
        made.sendall(establish())
        take(made)
        made.sendall(parameters())
        take(made)
        return made

    def end(self) -> int:
        assert self.child.stdin is not None
        self.child.stdin.close()
        return self.child.wait(PATIENCE)


@contextmanager
def process(*arguments: str) -> Iterator[Process]:
    made = Process(*arguments)
    try:
        yield made
    finally:
        made.child.kill()
        made.child.wait()
        for pipe in (made.child.stdin, made.child.stdout):
            assert pipe is not None
            pipe.close()


def take(line: socket.socket) -> bytes:
    """Receive one packet."""
    data = exactly(line, 16)
    size, flags = int.from_bytes(data[8:12], "little"), int.from_bytes(data[2:4], "little")
    return data + exactly(line, size - 16 + (16 if flags & 0x10 and not flags & 8 else 0))


def exactly(line: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = line.recv(count - len(data))
        assert more, "the connection was closed"
        data += more
    return data


def is_closed(line: socket.socket) -> bool:
    """Read on until the connection is closed. Raises TimeoutError if it is not."""
    with suppress(ConnectionError):
        while line.recv(65536):
            continue
    return True


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


def test_connections_without_number_are_bounded(shared: Process) -> None:
    lines = []
    try:
        for _ in range(140):
            lines.append(shared.connect())
        assert is_closed(lines[-1])
    finally:
        for line in lines:
            line.close()
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            shared.open().close()
            return
        except (AssertionError, OSError):
            assert time.monotonic() < deadline


def test_a_flood_that_never_reads_is_served_in_bounded_memory(shared: Process) -> None:
    with shared.open("127.0.0.1") as line:
        packet = Said(asks=1, admin="TCP:127.0.0.1\\private$\\mine", body=bytes(2000))
        packets = []
        for number in range(5000, 7000):
            packet.number = number
            packets.append(packet.packet())
        with suppress(OSError):
            line.sendall(b"".join(packets))
    status = Path(f"/proc/{shared.child.pid}/status").read_text(encoding="ascii")
    resident = int(status.partition("VmRSS:")[2].split()[0])
    assert resident < 400_000


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
    listed = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["name"] for each in listed] == list(FAULTS)
    assert all(set(each) == {"name", "breaks", "says"} for each in listed)
