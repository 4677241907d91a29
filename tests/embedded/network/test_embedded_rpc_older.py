"""The older remote read (MS-MQQP with MS-MQMP), and management (MS-MQMR), over RPC."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from embedded_network_peer import PLAIN, SERVER, STARTED_MS, Desk, Said, desk
from embedded_rpc_older_peer import QUEUE, Answer, Application, answer, description, get, machine_object, queue_object
from embedded_rpc_peer import (
    FOREVER,
    LOOKUP_PEEK,
    LOOKUP_RECEIVE,
    NACK,
    NULL,
    PEEK,
    PEEK_NEXT,
    QM2QM,
    QMMGMT,
    Client,
    direct,
    machine,
    raised,
    status,
)

from conformance.embedded.packet_reading import PacketReader

INVALID, BAD_HANDLE, TIMEOUT, STATUS_INVALID = 0xC00E0006, 0xC00E0007, 0xC00E001B, 0xC000000D
CANCELLED = 0x400E03E9


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Desk]:
    with desk(tmp_path) as made:
        yield made


def fill(at: Desk, *bodies: bytes) -> None:
    peer = at.open()
    for number, body in enumerate(bodies, 1):
        peer.say(Said(number=number, body=body).packet())


def body(read: Answer) -> bytes:
    assert read.packet is not None
    return base64.b64decode(PacketReader().arrived(read.packet)["body"])


def test_an_older_receive(at: Desk) -> None:
    fill(at, b"one", b"two")
    app = Application(at)
    session, number = app.open()
    got = app.start(number)
    assert (got.status, body(got)) == (0, b"one")
    assert got.context != NULL
    assert got.packet is not None
    assert got.numbers == (number, 0, 0, 0, len(got.packet), number, 1, 1, STARTED_MS // 1000, 0)
    assert at.messages() == [b"one", b"two"]
    assert app.end(got.context) == 0
    assert at.messages() == [b"two"]
    got = app.start(number, PEEK)
    assert (got.context, body(got)) == (NULL, b"two")
    got = app.start(number)
    assert app.end(got.context, NACK) == 0
    assert at.messages() == [b"two"]
    assert raised(lambda: app.end(got.context)) == 0x1C00001A
    assert app.end(NULL) == BAD_HANDLE
    assert raised(lambda: app.end(NULL, 3)) == 0x1C000007
    assert app.reader.call(3, session) == NULL + bytes(4)
    assert app.start(number).status == INVALID


def test_receives_of_the_second_form(at: Desk) -> None:
    fill(at, b"one", b"two")
    app = Application(at)
    _, number = app.open()
    lookup = next(iter(at.node.manager.queues.find_local(f"DIRECT=OS:.\\private$\\{PLAIN}").positions)).lookup  # type: ignore[union-attr]
    head = struct.pack("<I4xQ", 9, 0)
    got = answer(app.reader.call(9, head + description(number)), wrapped=True)
    assert (got.status, body(got), got.sequence) == (0, b"one", lookup & (1 << 56) - 1)
    assert app.end(got.context, NACK) == 0
    for action, sought, expected in (
        (LOOKUP_PEEK, lookup, b"one"),
        (LOOKUP_PEEK + 1, lookup, b"two"),
        (LOOKUP_PEEK + 1, 0, b"one"),
        (LOOKUP_PEEK + 2, 0xFFFFFFFFFFFFFFFF, b"two"),
    ):
        got = answer(app.reader.call(10, struct.pack("<Q", sought) + head + description(number, action)), wrapped=True)
        assert (got.status, got.context, body(got)) == (0, NULL, expected)
    data = struct.pack("<Q", lookup) + head + description(number, LOOKUP_RECEIVE)
    got = answer(app.reader.call(10, data), wrapped=True)
    assert app.end(got.context) == 0
    assert answer(app.reader.call(10, data), wrapped=True).status == 0xC00E0088
    data = struct.pack("<Q", lookup) + head + description(number, LOOKUP_RECEIVE, timeout=1)
    assert answer(app.reader.call(10, data), wrapped=True).status == INVALID
    null = app.reader.call(9, struct.pack("<I4xQ", 0, 5))
    assert null == NULL + bytes(4) + struct.pack("<I4xQI", 0, 5, BAD_HANDLE)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"same": 0}, INVALID),
        ({"same": 5000}, INVALID),
        ({"action": PEEK_NEXT}, STATUS_INVALID),
        ({"action": 7}, INVALID),
        ({"cursor": 5000}, STATUS_INVALID),
        ({}, TIMEOUT),
    ],
)
def test_older_receives_that_fail(at: Desk, given: dict[str, int], expected: int) -> None:
    app = Application(at)
    _, number = app.open()
    got = app.start(number, **given)
    assert (got.status, got.context, got.packet) == (expected, NULL, None)


def test_an_older_read_waits_and_is_cancelled(at: Desk) -> None:
    app = Application(at)
    session, number = app.open()
    call = app.reader.send(0, description(number, timeout=FOREVER, request=7))
    assert app.reader.hear(call) is None
    other = Client(at, QM2QM)
    for numbers, expected in (
        ((number, 0, 7), INVALID),
        ((number, number + 1, 7), INVALID),
        ((5000, 5000, 7), BAD_HANDLE),
        ((number, number, 8), 0xC00E0001),
        ((number, number, 7), 0),
        ((number, number, 7), BAD_HANDLE),
    ):
        assert status(other.call(5, struct.pack("<III", *numbers))) == expected
    heard = app.reader.hear(call)
    assert isinstance(heard, bytes)
    assert answer(heard).status == CANCELLED
    call = app.reader.send(0, description(number, timeout=FOREVER, request=7))
    assert app.start(number, request=7).status == INVALID
    assert app.reader.call(3, session) == NULL + bytes(4)
    heard = app.reader.hear(call)
    assert isinstance(heard, bytes)
    assert answer(heard).status == CANCELLED


def test_an_older_read_waits_for_a_message(at: Desk) -> None:
    app = Application(at)
    _, number = app.open()
    call = app.reader.send(0, description(number, timeout=1000))
    fill(at, b"late")
    heard = app.reader.hear(call)
    assert isinstance(heard, bytes)
    assert body(answer(heard)) == b"late"
    assert app.end(answer(heard).context) == 0


def test_older_cursors(at: Desk) -> None:
    fill(at, b"one", b"two")
    app = Application(at)
    _, number = app.open()
    made = app.comm.call(4, bytes(64) + struct.pack("<I", number))
    cursor = int.from_bytes(made[:4], "little")
    assert status(made) == 0
    assert app.comm.call(4, bytes(64) + struct.pack("<I", 5000)) == struct.pack("<II", 0, BAD_HANDLE)
    assert body(app.start(number, PEEK, cursor=cursor)) == b"one"
    assert body(app.start(number, PEEK_NEXT, cursor=cursor)) == b"two"
    assert status(app.reader.call(4, struct.pack("<II", number, cursor + 1))) == BAD_HANDLE
    assert status(app.reader.call(4, struct.pack("<II", number, cursor))) == 0
    assert status(app.reader.call(4, struct.pack("<II", number, cursor))) == BAD_HANDLE


def test_older_opens(at: Desk) -> None:
    app = Application(at)
    context, number = app.remote(share=1)
    for what, failure in (
        (lambda: app.remote(), 0xC0000043),
        (lambda: app.remote(access=2), INVALID),
        (lambda: app.remote(share=2), INVALID),
        (lambda: app.remote(named=direct("OS:x\\private$\\none")), 0xC00E0003),
        (lambda: app.session(number, number + 1), INVALID),
        (lambda: app.session(0), INVALID),
        (lambda: app.session(5000), INVALID),
    ):
        with pytest.raises(OSError, match=str(failure)):
            what()
    assert app.comm.call(3, context) == NULL
    with pytest.raises(OSError, match=str(INVALID)):
        app.session(number)
    assert app.comm.call(3, NULL) == NULL
    for client, opnum in ((app.comm, 31), (app.reader, 7)):
        ports = [int.from_bytes(client.call(opnum, struct.pack("<I", kind)), "little") for kind in range(4)]
        assert ports == [at.node.planes.port] * 2 + [0, 0]
    assert raised(lambda: app.reader.call(7, struct.pack("<I", 4))) == 0x1C000007
    assert app.reader.call(8)[:2] == b"\6\1"


def test_older_purge_and_rundown(at: Desk) -> None:
    fill(at, b"one", b"two")
    app = Application(at)
    _, number = app.open()
    assert app.start(number).status == 0
    app.reader.close()
    app.comm.close()
    assert not at.node.manager.descriptors
    app = Application(at)
    _, number = app.open()
    assert body(app.start(number, PEEK)) == b"one"
    assert status(app.reader.call(6, struct.pack("<I", 5000))) == BAD_HANDLE
    assert status(app.reader.call(6, struct.pack("<I", number))) == 0
    assert at.messages() == []


# MS-MQMR.


def variant(values: bytes, kind: str, at: int = 4) -> tuple[Any, ...]:
    """The type and value of a variant that begins 8 bytes into the array."""
    found, tag = struct.unpack_from("<H6xH", values, at)
    assert found == tag
    return found, *struct.unpack_from(kind, values, at + 12)


def test_counts_over_rpc(at: Desk) -> None:
    fill(at, b"one", b"two")
    client = Client(at, QMMGMT)
    assert get(client, queue_object(direct(QUEUE)), 7) == (0, bytes(4) + struct.pack("<H6xHxxI", 19, 19, 2))
    code, values = get(client, queue_object(direct(QUEUE)), 3)
    assert code == 0
    kind, tag, pointer, most, offset, count = struct.unpack_from("<H6xHxxIIII", values, 4)
    assert (kind, tag, most, offset, count) == (31, 31, 8, 0, 8)
    assert pointer
    assert values[32:48].decode("utf-16-le") == "PRIVATE\0"
    code, values = get(client, machine_object(), 6)
    assert code == 0
    assert struct.unpack_from("<H6xHxxxxxxQ", values, 4)[:2] == (20, 20)
    code, values = get(client, machine_object(), 2)
    assert code == 0
    assert struct.unpack_from("<H6xHxxI", values, 4) == (0x101F, 0x101F, 5)
    assert get(client, queue_object(machine(SERVER, 0x82)), 7)[0] == 0


def test_management_that_fails(at: Desk) -> None:
    client = Client(at, QMMGMT)
    nothing = bytes(4) + struct.pack("<H6xH", 1, 1) + bytes(2)
    assert get(client, machine_object(), 99) == (0xC00E0039, nothing)
    assert get(client, struct.pack("<HHI", 3, 3, 0), 1) == (INVALID, nothing)
    assert get(client, queue_object(direct("OS:.\\private$\\none")), 7) == (0xC00E0003, nothing)
    assert get(client, struct.pack("<HHI", 2, 2, 0), 7)[0] == INVALID
    assert raised(lambda: get(client, struct.pack("<HHI", 4, 4, 0), 1)) == 0x1C000006
    assert raised(lambda: get(client, struct.pack("<HHI", 1, 2, 0), 1)) == 0x1C000006
    assert raised(lambda: get(client, machine_object())) == 0x1C000007
    assert raised(lambda: get(client, machine_object(), *range(129))) == 0x1C000007


def act(client: Client, target: bytes, action: str) -> int:
    wide = (action + "\0").encode("utf-16-le")
    stub = target + bytes(-len(target) % 4) + struct.pack("<III", len(wide) // 2, 0, len(wide) // 2) + wide
    return status(client.call(1, stub))


def test_actions_over_rpc(at: Desk) -> None:
    client = Client(at, QMMGMT)
    assert act(client, machine_object(), "tidy") == 0
    assert act(client, machine_object(), "DISCONNECT") == 0
    code, values = get(client, machine_object(), 4)
    assert code == 0
    assert values[32:].decode("utf-16-le").startswith("DISCONNECTED\0")
    assert act(client, machine_object(), "Connect") == 0
    assert act(client, machine_object(), "PAUSE") == INVALID
    assert act(client, machine_object(), "NONSENSE") == INVALID
    assert act(client, struct.pack("<HHI", 3, 3, 0), "TIDY") == INVALID
    assert act(client, queue_object(direct(QUEUE)), "PAUSE") == 0xC00E0020
