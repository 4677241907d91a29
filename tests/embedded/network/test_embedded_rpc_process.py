"""The RPC planes of the process, over real sockets: their port, their faults, and how many may come."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
from contextlib import ExitStack

from embedded_network_peer import PLAIN, Said
from embedded_network_process import COMMAND, PATIENCE, Process, exactly, is_closed, process, take
from embedded_rpc_peer import NDR, REMOTE_READ, bind, direct, opening, pdu, read_answer, receive, status

from conformance.embedded.rpc.faults import FAULTS

QUEUE = f"OS:localhost\\private$\\{PLAIN}"
PATIENCE_MS = 20_000


def connect(made: Process, port: int | None = None) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port or made.rpc), PATIENCE)


def hear(line: socket.socket) -> bytes:
    """Receive one PDU."""
    head = exactly(line, 16)
    return head + exactly(line, int.from_bytes(head[8:10], "little") - 16)


def bound(line: socket.socket) -> socket.socket:
    line.sendall(bind((0, REMOTE_READ, 1, ((NDR, 2),))))
    assert hear(line)[2] == 12
    return line


def call(line: socket.socket, opnum: int, stub: bytes = b"") -> bytes:
    line.sendall(pdu(0, 7, struct.pack("<IHH", len(stub), 0, opnum) + stub))
    said = hear(line)
    assert (said[2], said[3]) == (2, 3)
    return said[24:]


def test_a_remote_read_of_what_came_over_a_session() -> None:
    with process("--rpc", "0", "--rpc-cleanup", "1", "--fault", "server-port-zero") as made:
        with made.open() as session:
            session.sendall(Said(number=1, body=b"over the network").packet())
            take(session)
        with connect(made) as line:
            bound(line)
            assert call(line, 0) == bytes(4)
            handle = call(line, 2, opening(direct(QUEUE), 1, 0))
            line.sendall(pdu(0, 8, struct.pack("<IHH", 0, 0, 7) + receive(handle)))
            got = read_answer(hear(line)[24:])
            assert b"over the network" in got.packet
            line.sendall(pdu(0, 8, struct.pack("<IHH", 0, 0, 7) + receive(handle, timeout=PATIENCE_MS, request=2)))
            assert b"over the network" in read_answer(hear(line)[24:]).packet  # given back by the cleanup timer
            assert status(call(line, 9, handle + struct.pack("<II", 2, 2))) == 0
        assert made.end() == 0


def test_connections_are_bounded_and_the_end_is_orderly() -> None:
    with process("--rpc", "127.0.0.1:0") as made, ExitStack() as stack:
        lines = [stack.enter_context(connect(made)) for _ in range(128)]
        bound(lines[-1])
        assert is_closed(stack.enter_context(connect(made)))
        lines[0].sendall(b"\xff" * 16)
        assert is_closed(lines[0])
        bound(stack.enter_context(connect(made)))
        assert made.end() == 0


def test_a_port_of_the_mapper() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = [*COMMAND, "--listen", "127.0.0.1:0", "--ping-port", "0", "--rpc", str(port)]
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)
        assert (done.returncode, f"127.0.0.1:{port}" in done.stderr) == (2, True)
    with process("--rpc", "0", "--rpc-epm", str(port)) as made, connect(made, port) as other:
        assert call(bound(other), 0) == struct.pack("<I", made.rpc)


def test_faults_are_listed_with_their_plane() -> None:
    done = subprocess.run([*COMMAND, "--faults"], capture_output=True, text=True, check=True)
    listed = [json.loads(line) for line in done.stdout.splitlines()]
    assert {each["name"] for each in listed if each.get("plane") == "rpc"} == FAULTS.keys()
