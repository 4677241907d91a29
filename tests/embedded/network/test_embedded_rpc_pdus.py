"""The PDUs of the RPC planes: bindings, fragments, faults, groups, and bytes that are none of them."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import tracemalloc
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from embedded_network_peer import PLAIN, Desk, Said, desk
from embedded_rpc_older_peer import Application, description
from embedded_rpc_peer import (
    ALTER,
    ALTER_RESPONSE,
    BIND,
    BIND_ACK,
    BIND_NAK,
    EPM,
    FAULT,
    FEATURES,
    FOREVER,
    NDR,
    NDR64,
    QM2QM,
    QMCOMM,
    QMMGMT,
    REMOTE_READ,
    REQUEST,
    Client,
    Wire,
    bind,
    direct,
    opening,
    pdu,
    raised,
    receive,
    syntax,
)

QUEUE = f"TCP:127.0.0.1\\private$\\{PLAIN}"
PROTOCOL = 0x1C01000B


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Desk]:
    with desk(tmp_path) as made:
        yield made


def say(at: Desk, *data: bytes) -> tuple[list[bytes], Wire]:
    wire = Wire()
    line = at.node.planes.accepted(wire)
    for each in data:
        if not wire.closed:
            line.data(each)
    return wire.take(), wire


def results(answer: bytes) -> list[tuple[int, int, bytes]]:
    at = 26 + int.from_bytes(answer[24:26], "little")
    at += -at % 4
    count = answer[at]
    assert len(answer) == at + 4 + 24 * count
    starts = range(at + 4, len(answer), 24)
    return [(*struct.unpack_from("<HH", answer, start), answer[start + 4 : start + 24]) for start in starts]


def test_a_bind_by_its_bytes(at: Desk) -> None:
    """The bytes of a bind_ack are those of C706 12.6.4.4."""
    at.node.planes.port = 2103
    said = bytes.fromhex(
        "05000b03100000004800000001000000d016d0160000000001000000"
        "00000100dd34911a397bba45ad8844d01ca47f2801000000"
        "045d888aeb1cc9119fe808002b10486002000000"
    )
    assert said == bind((0, REMOTE_READ, 1, ((NDR, 2),)))
    (answer,), _ = say(at, said)
    assert answer == bytes.fromhex(
        "05000c03100000003c00000001000000d016d01600100000"
        "05003231303300" + "00" + "01000000"
        "00000000045d888aeb1cc9119fe808002b10486002000000"
    )


def test_contexts_are_answered_one_by_one(at: Desk) -> None:
    offers = (
        (0, REMOTE_READ, 1, ((NDR64, 1),)),
        (1, REMOTE_READ, 1, ((FEATURES, 1),)),
        (2, uuid.UUID(int=5), 1, ((NDR, 2),)),
        (3, QMMGMT, 1, ((NDR64, 1), (NDR, 2))),
        (4, REMOTE_READ, 2, ((NDR, 2),)),
        (5, REMOTE_READ, 1, ((NDR, 2),)),
    )
    (answer,), _ = say(at, bind(*offers))
    none, ndr = bytes(20), syntax(NDR, 2)
    assert results(answer) == [(2, 2, none), (3, 0, none), (2, 1, none), (0, 0, ndr), (2, 1, none), (0, 0, ndr)]


def test_another_context_of_a_connection(at: Desk) -> None:
    client = Client(at)
    assert raised(lambda: client.call(0, context=1)) == 0x1C010003
    (answer,) = client.say(bind((1, QMMGMT, 1, ((NDR, 2),)), kind=ALTER, call=9))
    assert (answer[2], results(answer)) == (ALTER_RESPONSE, [(0, 0, syntax(NDR, 2))])
    assert raised(lambda: client.call(2, context=1)) == 0x1C010002
    assert len(client.call(0)) == 4


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (pdu(BIND, 1, b"\x05"), BIND_NAK),
        (bind(), BIND_NAK),
        (bind((0, REMOTE_READ, 1, ((NDR, 2),)), group=99), BIND_NAK),
        (pdu(BIND, 1, bytes(20), version=4), BIND_NAK),
        (bind((0, REMOTE_READ, 1, ((NDR, 2),)), kind=ALTER), FAULT),
        (pdu(REQUEST, 1, bytes(8)), FAULT),
        (pdu(17, 1, b""), None),
        (pdu(99, 1, b""), None),
        (pdu(REQUEST, 1, bytes(8), version=6), None),
        (pdu(REQUEST, 1, bytes(6000)), None),
        (b"\x05\0\0\x03\x10\0\0\0\x08\0\0\0\1\0\0\0", None),
    ],
)
def test_what_ends_a_connection(at: Desk, data: bytes, kind: int | None) -> None:
    answers, wire = say(at, data)
    assert [each[2] for each in answers] == ([] if kind is None else [kind])
    assert wire.closed


def test_authentication_is_not_taken(at: Desk) -> None:
    body = bind((0, REMOTE_READ, 1, ((NDR, 2),)))[16:] + struct.pack("<BBBBI", 10, 6, 0, 0, 0) + b"NTLMSSP\0"
    data = pdu(BIND, 1, body)
    data = data[:10] + struct.pack("<H", 8) + data[12:]
    (answer,), wire = say(at, data)
    assert (answer[2], int.from_bytes(answer[16:18], "little")) == (BIND_NAK, 8)
    assert wire.closed


@pytest.mark.parametrize("flags", [(1, 1), (0,), (2,)])
def test_fragments_out_of_their_order(at: Desk, flags: tuple[int, ...]) -> None:
    client = Client(at)
    for number, each in enumerate(flags):
        if not client.wire.closed:
            client.line.data(pdu(REQUEST, 5 + number, struct.pack("<IHH", 0, 0, 0), each))
    (answer,) = client.wire.take()
    assert (answer[2], answer[3] & 0x20, int.from_bytes(answer[24:28], "little")) == (FAULT, 0x20, PROTOCOL)
    assert client.wire.closed


def test_a_request_is_bounded(at: Desk) -> None:
    client = Client(at)
    client.line.data(pdu(REQUEST, 5, struct.pack("<IHH", FOREVER, 0, 0) + bytes(5800), 1))
    for _ in range(300):
        if not client.wire.closed:
            client.line.data(pdu(REQUEST, 5, struct.pack("<IHH", FOREVER, 0, 0) + bytes(5800), 0))
    assert client.wire.closed
    assert client.line.held == 0


def test_an_orphaned_call_has_no_answer(at: Desk) -> None:
    client = Client(at)
    handle = client.open(QUEUE)
    call = client.send(7, receive(handle, timeout=1000))
    client.line.data(pdu(18, call, b""))
    assert client.line.calls.keys() == {call}
    client.line.data(pdu(19, call, b""))
    assert not client.line.calls
    at.clock.turn(2)
    assert client.hear(call) is None


def test_calls_of_a_connection_are_bounded(at: Desk) -> None:
    client = Client(at)
    handle = client.open(QUEUE)
    for number in range(64):
        client.send(7, receive(handle, timeout=1000, request=number))
    call = client.send(7, receive(handle, timeout=1000, request=64))
    answer = client.hear(call)
    assert getattr(answer, "status", None) == 0x1C010014
    client.close()


def test_handles_of_a_group_are_bounded(at: Desk) -> None:
    client = Client(at)
    for _ in range(1024):
        client.open(QUEUE)
    assert raised(lambda: client.open(QUEUE)) == 0x1C010014
    assert len(at.node.manager.descriptors) == 1024
    client.close()
    assert not at.node.manager.descriptors


def test_where_an_interface_is(at: Desk) -> None:
    at.node.planes.port = 2103
    client = Client(at, EPM, 3)

    def ask(interface: uuid.UUID) -> bytes:
        floor = struct.pack("<HB16sHHH", 19, 0x0D, interface.bytes_le, 1, 2, 0)
        tower = struct.pack("<H", 5) + floor + floor + bytes.fromhex("01000b020000000100070200000001000904000000000000")
        tower = tower[: 2 + 25 * 2 + 7 + 7 + 9]
        stub = struct.pack("<IIII", 0, 1, len(tower), len(tower)) + tower
        stub += bytes(-len(stub) % 4) + bytes(20) + struct.pack("<I", 4)
        return client.call(3, stub)

    answer = ask(REMOTE_READ)
    count, most, offset, actual, referent, size, length = struct.unpack_from("<IIIIIII", answer, 20)
    assert (count, most, offset, actual, size) == (1, 4, 0, 1, length)
    assert referent
    tower = answer[48 : 48 + length]
    assert tower[-20:-9].endswith(struct.pack("<HBH", 1, 7, 2) + struct.pack(">H", 2103))
    assert tower[-9:] == struct.pack("<HBH", 1, 9, 4) + bytes((127, 0, 0, 1))
    assert answer[-4:] == bytes(4)
    answer = ask(uuid.UUID(int=3))
    assert struct.unpack_from("<I", answer, 20)[0] == 0
    assert struct.unpack("<I", answer[-4:])[0] == 0x16C9A0D6


def stories(at: Desk) -> list[tuple[uuid.UUID, bytes]]:
    """Requests whose parameters are whole."""
    client, app = Client(at), Application(at)
    handle, (_, number) = client.open(QUEUE), app.open()
    named, head = direct(QUEUE), struct.pack("<I4xQ", 9, 0)
    machine = struct.pack("<HHI", 1, 1, 0)
    variants = struct.pack("<II", 2, 2) + struct.pack("<II", 1, 6) + struct.pack("<I", 2) + b"\1\0\0\0\0\0\0\0\1\0" * 3
    return [
        (REMOTE_READ, struct.pack("<IHH", 0, 0, opnum) + stub)
        for opnum, stub in (
            (2, opening(named, 1, 0)),
            (7, receive(handle, 0x80000000, timeout=50)),
            (8, handle + struct.pack("<I", 1)),
            (9, handle + struct.pack("<II", 2, 1)),
            (10, handle + bytes(4) + bytes(32)),
            (11, opening(named, 4, 0)),
            (12, bytes(16) + struct.pack("<II", 4, 4) + b"tokn" + named),
            (13, receive(handle, transaction=bytes(16))),
            (14, handle + bytes(4) + struct.pack("<QH", 5, 0)),
        )
    ] + [
        (QMMGMT, struct.pack("<IHH", 0, 0, 0) + machine + variants),
        (QMMGMT, struct.pack("<IHH", 0, 0, 1) + struct.pack("<HHI", 2, 2, 9) + named + struct.pack("<III", 1, 0, 1)),
        (QMCOMM, struct.pack("<IHHI", 0, 0, 2, 9) + named + struct.pack("<III16sI", 0, 1, 0, bytes(16), 0)),
        (QMCOMM, struct.pack("<IHH64xI", 0, 0, 4, number)),
        (QM2QM, struct.pack("<IHH16sIIII", 0, 0, 2, bytes(16), 0, 0, number, number)),
        (QM2QM, struct.pack("<IHH", 0, 0, 0) + description(number, timeout=20)),
        (QM2QM, struct.pack("<IHH", 0, 0, 9) + head + description(number, 0x80000000)),
        (QM2QM, struct.pack("<IHHQ", 0, 0, 10, 0) + head + description(number, 0x40000011)),
        (QM2QM, struct.pack("<IHHIII", 0, 0, 5, number, number, 1)),
        (EPM, struct.pack("<IHH", 0, 0, 3) + struct.pack("<IIII", 0, 1, 75, 75) + bytes(100)),
    ]


def test_damaged_bytes_are_answered_or_ended(at: Desk) -> None:
    """5,000 damaged PDUs: no exception, and memory does not grow with what they claim."""
    chance = random.Random(43)
    peer = at.open()
    peer.say(Said(number=1, body=b"one").packet())
    given = stories(at)
    versions = {EPM: 3}
    kinds: Counter[int] = Counter()
    tracemalloc.start()
    for number in range(5_000):
        interface, body = chance.choice(given)
        wire = Wire()
        line = at.node.planes.accepted(wire)
        said = bytearray(bind((0, interface, versions.get(interface, 1), ((NDR, 2),))) + pdu(REQUEST, 2, body))
        for _ in range(chance.randrange(1, 4)):
            where = chance.randrange(len(said)) if chance.random() < 0.3 else chance.randrange(72, len(said))
            how = chance.randrange(4)
            if how == 0:
                said[where] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            elif how == 1:
                said[where : where + 4] = chance.choice((b"\xff\xff\xff\xff", b"\0\0\0\x80", bytes(4)))
            elif how == 2:
                del said[where : where + chance.randrange(1, 9)]
            else:
                said[where:where] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9)))
        while said and not wire.closed:
            part = said[: chance.randrange(1, 200)]
            del said[: len(part)]
            line.data(bytes(part))
        if number % 50 == 0:
            at.node.commit()
        kinds.update(each[2] for each in wire.take())
        line.disconnected()
        at.clock.turn(0.01)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 16 << 20
    assert min(kinds[2], kinds[FAULT]) > 500
    assert len(at.node.manager.descriptors) <= 2


def test_tshark_reads_what_is_said(at: Desk, tmp_path: Path) -> None:
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed")
    peer = at.open()
    peer.say(Said(number=1, body=bytes(9000)).packet())
    packets: list[tuple[bool, bytes]] = []

    class Recorded(Client):
        def say(self, data: bytes) -> list[bytes]:
            packets.append((True, data))
            found = super().say(data)
            packets.extend((False, each) for each in found)
            return found

        def call(self, opnum: int, stub: bytes = b"", context: int = 0) -> bytes:
            self.number += 1
            data = pdu(REQUEST, self.number, struct.pack("<IHH", len(stub), context, opnum) + stub)
            found = self.say(data)
            return b"".join(each[24:] for each in found)

    client = Recorded(at)
    handle = client.open(QUEUE)
    client.start(handle)
    client.call(16)
    client.say(bind((1, QMCOMM, 1, ((NDR64, 1), (NDR, 2))), kind=ALTER, call=99))
    client.call(3, handle)
    file = tmp_path / "said.pcap"
    file.write_bytes(capture(packets))
    done = subprocess.run(
        [
            *(program, "-r", str(file), "-d", "tcp.port==2103,dcerpc", "-T", "fields", "-e", "frame.protocols"),
            *("-e", "dcerpc.pkt_type", "-e", "_ws.malformed", "-e", "_ws.expert.message", "-E", "separator=|"),
        ],
        capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert len(lines) == len(packets)
    assert all("dcerpc" in line.split("|")[0] for line in lines)
    assert not [line for line in lines if "alformed" in line.split("|", 2)[2]]
    kinds = {int(line.split("|")[1].split(",")[0]) for line in lines}
    assert {0, 2, 3, 11, BIND_ACK, ALTER, ALTER_RESPONSE} == kinds


def capture(packets: list[tuple[bool, bytes]]) -> bytes:
    """A capture file (pcap, raw IPv4) of one TCP connection."""
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 228)
    sequence = {True: 1, False: 1}
    for time, (ours, packet) in enumerate(packets):
        ports = (40_000, 2103) if ours else (2103, 40_000)
        tcp = struct.pack(">HHIIBBHHH", *ports, sequence[ours], sequence[not ours], 0x50, 0x18, 8192, 0, 0) + packet
        sequence[ours] += len(packet)
        addresses = bytes((127, 0, 0, 2, 127, 0, 0, 1)) if ours else bytes((127, 0, 0, 1, 127, 0, 0, 2))
        ip = struct.pack(">BBHHHBBH8s", 0x45, 0, 20 + len(tcp), time, 0, 64, 6, 0, addresses) + tcp
        data += struct.pack("<IIII", 1_800_000_000 + time, 0, len(ip), len(ip)) + ip
    return data
