"""Remote read and management as a client, against the embedded queue manager in a process of its own."""

from __future__ import annotations

import json
import random
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from conformance.adapter.connectors import connect
from conformance.adapter.errors import DriverUnusable, NotAccepted
from conformance.net.rpc.binding import (
    PASSWORD,
    PASSWORD_FILE,
    USER,
    Association,
    FaultError,
    RefusedError,
    RpcError,
    User,
    endpoint,
)
from conformance.net.rpc.management import MACHINE, QUEUE, Managed, Management, _variants
from conformance.net.rpc.ndr import NdrError, Reader, Writer
from conformance.net.rpc.plane import PLAYS
from conformance.net.rpc.remote_read import RECEIVE_ACCESS, Action, RemoteRead, SectionType, Wanted, _received
from conformance.spec.constants.hresults import (
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_OPERATION_CANCELLED,
    MQ_ERROR_QUEUE_NOT_FOUND,
)
from conformance.spec.rpc_interfaces import MANAGEMENT, REMOTE_READ, Interface

PLAIN = "mqconform-plain"
NAME = f"DIRECT=OS:HOST\\private$\\{PLAIN}"
_CONTEXT_MISMATCH = 0x1C00001A  # C706 appendix E
_DAMAGED = 5_000


class Process:
    """A running manager. port, ping, rpc: where it listens."""

    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-m", "conformance.embedded.network", "--listen", "127.0.0.1:0", "--ping-port", "0"]
        self.child = subprocess.Popen([*command, "--rpc", "0", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.child.stdout is not None
        ready = json.loads(self.child.stdout.readline())["ready"]
        self.port, self.ping, self.rpc = (int(ready[key].rpartition(":")[2]) for key in ("listen", "ping", "rpc"))

    def end(self) -> None:
        self.child.kill()
        self.child.communicate()


@pytest.fixture(scope="module")
def host() -> Iterator[Process]:
    made = Process("--queue", PLAIN, "--queue", f"{PLAIN}-2")
    yield made
    made.end()


def reading(host: Process) -> RemoteRead:
    return RemoteRead(Association("127.0.0.1", host.rpc, REMOTE_READ), uuid4())


def managing(host: Process) -> Management:
    return Management(Association("127.0.0.1", host.rpc, MANAGEMENT))


def adapter(host: Process) -> str:
    return f"wire:127.0.0.1?qm={host.port}&ping={host.ping}&rpc={host.rpc}&queues={PLAIN},{PLAIN}-2"


def test_a_context_is_of_all_connections_of_its_association_and_of_no_other(host: Process) -> None:
    read = reading(host)
    queue = read.open_queue(NAME, RECEIVE_ACCESS)
    waits: list[int] = []
    waiting = threading.Thread(
        target=lambda: waits.append(read.start_receive(queue, Wanted(Action.RECEIVE, 1, timeout_ms=60_000)).status)
    )
    waiting.start()
    while read.cancel_receive(queue, 1):  # On a second connection; until the read waits, there is none to cancel.
        pass
    waiting.join()
    assert waits == [MQ_ERROR_OPERATION_CANCELLED]
    with pytest.raises(FaultError) as fault:
        reading(host).purge_queue(queue)
    assert fault.value.status == _CONTEXT_MISMATCH
    assert read.close_queue(queue) == (0, bytes(20))
    read.association.close()


def test_refusals_have_the_status_of_the_host(host: Process) -> None:
    with pytest.raises(FaultError) as fault:
        reading(host).open_queue(f"{NAME}-none", RECEIVE_ACCESS)
    assert fault.value.status == MQ_ERROR_QUEUE_NOT_FOUND
    assert managing(host).action(Managed(MACHINE), "nothing") == MQ_ERROR_INVALID_PARAMETER


def test_management_tells_what_is_asked_in_its_order(host: Process) -> None:
    status, values = managing(host).get_info(Managed(QUEUE, NAME), [7, 1, 12])
    assert status == 0
    assert values[1:] == [{"vt": 31, "value": f"HOST\\private$\\{PLAIN}"}, {"vt": 1}]


def test_an_interface_that_is_not_there_is_refused(host: Process) -> None:
    with pytest.raises(RefusedError, match="does not take nobody"):
        Association("127.0.0.1", host.rpc, Interface("nobody", "", uuid4(), {})).connect()
    with pytest.raises(RpcError, match="Nothing takes calls"):
        Association("127.0.0.1", 1, REMOTE_READ).connect()


def test_the_endpoint_mapper_names_the_port() -> None:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        mapper = free.getsockname()[1]
    made = Process("--rpc-epm", str(mapper))
    try:
        assert endpoint("127.0.0.1", REMOTE_READ, mapper) == endpoint("127.0.0.1", MANAGEMENT, mapper) == made.rpc
        with pytest.raises(RefusedError, match="has no nobody"):
            endpoint("127.0.0.1", Interface("nobody", "", uuid4(), {}), mapper)
    finally:
        made.end()


def test_a_user_calls_with_packet_privacy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(USER, "somebody")
    monkeypatch.setenv(PASSWORD, "geheim")
    made = Process("--queue", PLAIN)
    try:
        user = User.of_environment()
        assert user is not None and "geheim" not in repr(user)
        read = RemoteRead(Association("127.0.0.1", made.rpc, REMOTE_READ, user), uuid4())
        assert read.start_receive(read.open_queue(NAME, RECEIVE_ACCESS), Wanted(Action.RECEIVE, 1)).status
        read.association.close()
        monkeypatch.delenv(PASSWORD)
        with pytest.raises(RefusedError, match="has no password"):
            User.of_environment()
        (tmp_path / "word").write_text("falsch\n", encoding="utf-8")
        monkeypatch.setenv(PASSWORD_FILE, str(tmp_path / "word"))
        assert User.of_environment() == User("somebody", "falsch")
        with pytest.raises(DriverUnusable):
            connect(adapter(made), state_dir=tmp_path / "state")
        monkeypatch.delenv(USER)
        with pytest.raises(DriverUnusable, match="--rpc-user"):
            connect(adapter(made), state_dir=tmp_path / "state")
    finally:
        made.end()


def test_a_run_is_lent_queues_and_sends_by_sessions(host: Process, tmp_path: Path) -> None:
    client = connect(adapter(host), state_dir=tmp_path)
    assert client.hello.plays == frozenset(PLAYS)
    for name in ("a", "b"):
        made = client.call("queues.create", path_name=f"HOST\\private$\\{name}")
        assert made.ok and made.values["format_name"] == f"DIRECT=OS:HOST\\private$\\{name}"
    with pytest.raises(NotAccepted, match="All 2 queues"):
        client.call("queues.create", path_name="HOST\\private$\\c")
    name = "DIRECT=OS:HOST\\private$\\a"
    send = client.call("queues.open", format_name=name, access="send").values["queue"]
    read = client.call("queues.open", format_name=name, access="receive").values["queue"]
    sent = client.call("messages.send", queue=send, message={"body": "aGk=", "label": "one", "priority": 5})
    came = client.call("messages.receive", queue=read, timeout_ms=0).values["message"]
    assert came["identifier"] == sent.values["identifier"]
    assert {name: came[name] for name in ("body", "label", "priority")} == {
        "body": "aGk=", "label": "one", "priority": 5,
    }  # fmt: skip
    assert "application_tag" not in came  # A default of the sender, which is none of the host.
    assert client.call("messages.receive", queue=read, timeout_ms=0).status == MQ_ERROR_IO_TIMEOUT
    answer = client.call("rpc.open", interface="RemoteRead")
    called = client.call("rpc.call", association=answer.values["association"], opnum=99, bytes="", timeout_ms=0)
    assert called.values["fault"] == 0x1C010002  # nca_s_op_rng_error
    client.close()


def test_what_the_driver_plays_is_not_judged(host: Process, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "conformance", "run", "--adapter", adapter(host), "--suite", "subqueues", "--json"]
    done = subprocess.run(
        [*command, "--out", str(out), "--max-examples", "1", "--", "-k", "walk"],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    record = "".join(path.read_text(encoding="utf-8") for path in out.glob("*.ndjson"))
    assert '"MQDMPR-3.1.7.1.16.moved"' in record
    assert '"subject":"messages.send"' not in record and '"subject":"queues.create"' not in record


def _answers() -> list[tuple[bytes, Callable[[Reader], Any]]]:
    """Answers that can be read, and how: a message in two sections, and values of each kind."""
    sections = Writer()
    sections.long(6)
    sections.hyper(7)
    for number in (2, 0x20000, 2):
        sections.long(number)
    for kind, size in ((SectionType.BINARY_FIRST, 8), (SectionType.BINARY_SECOND, 4)):
        sections.align(4)
        sections.short(kind)
        for number in (size, size, 0x20004):
            sections.long(number)
    for size in (8, 4):
        sections.long(size)
        sections.raw(bytes(size))
        sections.align(4)
    sections.long(0)
    values = Writer()
    for kind, number in ((19, 7), (31, 0x20000), (4127, 1)):
        values.align(8)
        values.short(kind)
        values.raw(bytes(6))
        values.short(kind)
        values.long(number)
    values.long(0x20004)
    values.wide("text")
    values.align(4)
    for number in (1, 0x20008):
        values.long(number)
    values.wide("one")
    return [(sections.octets(), _received), (values.octets(), lambda reader: _variants(reader, 3))]


def test_damaged_answers_are_read_or_refused() -> None:
    chance = random.Random(43)
    for data, read in _answers():
        read(Reader(data))
        for _ in range(_DAMAGED // 2):
            damaged = bytearray(data)
            for _ in range(chance.randrange(1, 4)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            with suppress(NdrError):
                read(Reader(bytes(damaged[: chance.randrange(len(damaged) + 1)])))


def test_damaged_pdus_of_a_host_are_errors_of_rpc(host: Process) -> None:
    chance = random.Random(44)
    good = _heard(host)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def answer() -> None:
            for _ in range(150):
                line, _ = listener.accept()
                damaged = bytearray(good)
                for _ in range(chance.randrange(1, 4)):
                    damaged[chance.randrange(len(damaged))] = chance.randrange(256)
                with line, suppress(OSError):
                    line.recv(4_096)
                    line.sendall(damaged)
                    line.recv(4_096)
                    line.sendall(damaged)

        threading.Thread(target=answer, daemon=True).start()
        for _ in range(150):
            made = Association("127.0.0.1", port, REMOTE_READ)
            with suppress(RpcError, NdrError):
                made.call(0, b"", 0.2)
            made.close()


def _heard(host: Process) -> bytes:
    """Return a bind_ack of a host."""
    syntax = REMOTE_READ.identifier.bytes_le + struct.pack("<HH", 1, 0)
    ndr = bytes.fromhex("045d888aeb1cc9119fe808002b104860") + struct.pack("<I", 2)
    body = struct.pack("<HHIBxxxHBx", 5840, 5840, 0, 1, 0, 1) + syntax + ndr
    head = struct.pack("<BBBB4sHHI", 5, 0, 11, 3, b"\x10\0\0\0", 16 + len(body), 0, 1)
    with socket.create_connection(("127.0.0.1", host.rpc), 10) as line:
        line.sendall(head + body)
        return line.recv(4_096)
