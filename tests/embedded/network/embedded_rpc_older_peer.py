"""The application of an older remote read, and what its calls answer."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from embedded_network_peer import PLAIN, Desk
from embedded_rpc_peer import (
    NULL,
    QM2QM,
    QMCOMM,
    RECEIVE,
    Client,
    direct,
    status,
)

QUEUE = f"TCP:127.0.0.1\\private$\\{PLAIN}"


@dataclass
class Application:
    """An application that opens, and the supporting server that reads for it."""

    desk: Desk

    def __post_init__(self) -> None:
        self.comm, self.reader = Client(self.desk, QMCOMM), Client(self.desk, QM2QM)

    def remote(self, access: int = 1, share: int = 0, named: bytes = direct(QUEUE)) -> tuple[bytes, int]:
        stub = struct.pack("<I", 9) + named + struct.pack("<III16sI", 0, access, share, bytes(16), 0x200)
        answer = self.comm.call(2, stub)
        context, numbers = answer[:20], struct.unpack("<III", answer[20:32])
        if status(answer):
            assert answer[:32] == bytes(32)
            raise OSError(status(answer))
        assert len(set(numbers)) == 1
        return context, numbers[0]

    def open(self, access: int = 1) -> tuple[bytes, int]:
        context, number = self.remote(access)
        session = self.session(number)
        assert self.comm.call(3, context) == NULL
        return session, number

    def session(self, number: int, context: int | None = None) -> bytes:
        numbers = (0, 0, number, number if context is None else context)
        answer = self.reader.call(2, bytes(16) + struct.pack("<IIII", *numbers))
        assert len(answer) == 24
        if status(answer):
            raise OSError(status(answer))
        return answer[:20]

    def start(self, number: int, action: int = RECEIVE, **given: int) -> Answer:
        return answer(self.reader.call(0, description(number, action, **given)))

    def end(self, context: bytes, ack: int = 2) -> int:
        said = self.reader.call(1, context + struct.pack("<I", ack))
        assert said[:20] == NULL
        return status(said)


def description(
    number: int, action: int = RECEIVE, *, cursor: int = 0, timeout: int = 0, request: int = 1, same: int | None = None
) -> bytes:
    same = number if same is None else same
    return struct.pack("<IIIIIIIIIHxxI", number, cursor, action, timeout, 0, same, request, 0, 0, 0, 0)


@dataclass
class Answer:
    """What a receive of qm2qm returns."""

    status: int
    context: bytes
    numbers: tuple[int, ...]
    packet: bytes | None
    sequence: int = 0


def answer(data: bytes, *, wrapped: bool = False) -> Answer:
    sequence, at = 0, 20
    if wrapped:
        pointer, sequence = struct.unpack_from("<I4xQ", data, 24)
        assert pointer
        at = 40
    *numbers, pointer = struct.unpack_from("<IIIIIIIIIHxxI", data, at)
    packet = None
    if pointer:
        most, offset, size = struct.unpack_from("<III", data, at + 44)
        assert most == size == numbers[4]
        assert offset == 0
        packet = data[at + 56 : at + 56 + size]
        at += 12 + size + -size % 4
    assert len(data) == at + 44 + 4
    return Answer(status(data), data[:20], tuple(numbers), packet, sequence)


def machine_object() -> bytes:
    return struct.pack("<HHI", 1, 1, 0)


def queue_object(named: bytes) -> bytes:
    return struct.pack("<HHI", 2, 2, 9) + named


def get(client: Client, target: bytes, *numbers: int) -> tuple[int, bytes]:
    stub = target + bytes(-len(target) % 4) + struct.pack("<I", len(numbers))
    stub += struct.pack(f"<I{len(numbers)}I", len(numbers), *numbers) + struct.pack("<I", len(numbers))
    for _ in numbers:
        stub += bytes(-len(stub) % 8) + struct.pack("<H6xH", 1, 1)
    said = client.call(0, stub)
    assert struct.unpack_from("<I", said)[0] == len(numbers)
    return status(said), said[4:-4]
