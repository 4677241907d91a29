"""A client of the RPC planes, made from C706 chapters 12 and 14, MS-MQRR, MS-MQMR, MS-MQQP and MS-MQMP alone."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from embedded_network_peer import Desk

NDR = uuid.UUID("8a885d04-1ceb-11c9-9fe8-08002b104860")
NDR64 = uuid.UUID("71710533-beba-4937-8319-b5dbef9ccc36")
FEATURES = uuid.UUID("6cb71c2c-9812-4540-0300-000000000000")
REMOTE_READ = uuid.UUID("1a9134dd-7b39-45ba-ad88-44d01ca47f28")
QMMGMT = uuid.UUID("41208ee0-e970-11d1-9b9e-00e02c064c39")
QM2QM = uuid.UUID("1088a980-eae5-11d0-8d9b-00a02453c337")
QMCOMM = uuid.UUID("fdb3a030-065f-11d1-bb9b-00a024ea5525")
EPM = uuid.UUID("e1af8308-5d1f-11c9-91a4-08002b14a0fa")

REQUEST, RESPONSE, FAULT, BIND, BIND_ACK, BIND_NAK, ALTER, ALTER_RESPONSE = 0, 2, 3, 11, 12, 13, 14, 15
NULL = bytes(20)
RECEIVE, PEEK, PEEK_NEXT = 0, 0x80000000, 0x80000001
LOOKUP_PEEK, LOOKUP_RECEIVE = 0x40000010, 0x40000020
RECEIVE_ACCESS, MOVE_ACCESS, PEEK_ACCESS = 1, 4, 0x20
NACK, ACK = 1, 2
FOREVER = 0xFFFFFFFF


class Fault(Exception):
    """The server answers with a fault. status, flags: of the PDU."""

    def __init__(self, status: int, flags: int = 0) -> None:
        super().__init__(f"0x{status:08X}")
        self.status, self.flags = status, flags


def pdu(kind: int, call: int, body: bytes, flags: int = 3, *, big: bool = False, version: int = 5) -> bytes:
    order = ">" if big else "<"
    label = (0 if big else 0x10).to_bytes(1, "little") + bytes(3)
    return struct.pack(f"{order}BBBB4sHHI", version, 0, kind, flags, label, 16 + len(body), 0, call) + body


def syntax(identifier: uuid.UUID, version: int, *, big: bool = False) -> bytes:
    return (identifier.bytes if big else identifier.bytes_le) + version.to_bytes(4, "big" if big else "little")


Offer = tuple[int, uuid.UUID, int, tuple[tuple[uuid.UUID, int], ...]]


def bind(*offers: Offer, group: int = 0, kind: int = BIND, call: int = 1, size: int = 5840, big: bool = False) -> bytes:
    order = ">" if big else "<"
    body = struct.pack(f"{order}HHIBBH", size, size, group, len(offers), 0, 0)
    for context, abstract, version, transfers in offers:
        body += struct.pack(f"{order}HBB", context, len(transfers), 0) + syntax(abstract, version, big=big)
        body += b"".join(syntax(each, number, big=big) for each, number in transfers)
    return pdu(kind, call, body, big=big)


@dataclass
class Wire:
    """The link of a connection, with what was sent on it."""

    address: str = "127.0.0.2"
    local: str = "127.0.0.1"
    sent: bytearray = field(default_factory=bytearray)
    closed: bool = False

    def send(self, data: bytes) -> None:
        assert not self.closed
        self.sent += data

    def close(self) -> None:
        self.closed = True

    def take(self) -> list[bytes]:
        """Take the PDUs that were sent."""
        found = []
        while self.sent:
            length = int.from_bytes(self.sent[8:10], "little")
            assert 16 <= length <= len(self.sent)
            found.append(bytes(self.sent[:length]))
            del self.sent[:length]
        return found


@dataclass
class Client:
    """One connection, bound to an interface. big: it writes numbers with the first byte first."""

    desk: Desk
    interface: uuid.UUID = REMOTE_READ
    version: int = 1
    group: int = 0
    big: bool = False
    fragment: int = 4000
    number: int = 1
    answers: dict[int, bytes | Fault] = field(default_factory=dict)
    parts: dict[int, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.wire = Wire()
        self.line = self.desk.node.planes.accepted(self.wire)
        offer: Offer = (0, self.interface, self.version, ((NDR, 2),))
        (answer,) = self.say(bind(offer, group=self.group, big=self.big))
        assert answer[2] == BIND_ACK
        self.longest = int.from_bytes(answer[16:18], "little")
        self.group = int.from_bytes(answer[20:24], "little")
        at = 26 + int.from_bytes(answer[24:26], "little")
        at += -at % 4
        assert answer[at] == 1
        assert struct.unpack_from("<HH", answer, at + 4) == (0, 0)
        assert answer[at + 8 : at + 28] == syntax(NDR, 2)

    def say(self, data: bytes) -> list[bytes]:
        self.line.data(data)
        self.desk.node.commit()
        return self.wire.take()

    @property
    def order(self) -> str:
        return ">" if self.big else "<"

    def send(self, opnum: int, stub: bytes, context: int = 0) -> int:
        """Send a request, in fragments; return its number."""
        self.number += 1
        for at in range(0, len(stub) or 1, self.fragment):
            part = stub[at : at + self.fragment]
            flags = (1 if at == 0 else 0) | (2 if at + self.fragment >= len(stub) else 0)
            head = struct.pack(f"{self.order}IHH", len(stub) - at, context, opnum)
            self.line.data(pdu(REQUEST, self.number, head + part, flags, big=self.big))
        self.desk.node.commit()
        return self.number

    def hear(self, number: int) -> bytes | Fault | None:
        """Return the answer of a call; None if there is none yet."""
        for said in self.wire.take():
            kind, flags, call = said[2], said[3], int.from_bytes(said[12:16], "little")
            assert len(said) <= max(self.longest, 1432)
            if kind == FAULT:
                self.answers[call] = Fault(int.from_bytes(said[24:28], "little"), flags)
                continue
            assert kind == RESPONSE
            assert bool(flags & 1) == (call not in self.parts)
            self.parts[call] = self.parts.get(call, b"") + said[24:]
            if flags & 2:
                self.answers[call] = self.parts.pop(call)
        return self.answers.pop(number, None)

    def call(self, opnum: int, stub: bytes = b"", context: int = 0) -> bytes:
        """Call a method that answers at once. Raises Fault."""
        answer = self.hear(self.send(opnum, stub, context))
        if isinstance(answer, Fault):
            raise answer
        assert answer is not None
        return answer

    def close(self) -> None:
        self.line.disconnected()
        self.desk.node.commit()

    # MS-MQRR.

    def open(
        self, queue: str, access: int = RECEIVE_ACCESS, share: int = 0, *, named: bytes | None = None, opnum: int = 2
    ) -> bytes:
        named = direct(queue, order=self.order) if named is None else named
        answer = self.call(opnum, opening(named, access, share, order=self.order))
        return answer[8:28] if opnum == 11 else answer[:20]

    def start(self, handle: bytes, action: int = RECEIVE, **given: Any) -> Read:
        """R_StartReceive, or R_StartTransactionalReceive with a transaction."""
        answer = self.call(13 if "transaction" in given else 7, receive(handle, action, order=self.order, **given))
        return read_answer(answer)

    def end(self, handle: bytes, request: int = 1, ack: int = ACK, opnum: int = 9) -> int:
        return status(self.call(opnum, handle + struct.pack(f"{self.order}II", ack, request)))

    def move(self, source: bytes, target: bytes, lookup: int, transaction: bytes = bytes(16)) -> int:
        return status(self.call(10, source + bytes(4) + target + struct.pack("<Q", lookup) + transaction))


def direct(text: str, kind: int = 3, suffix: int = 0, *, order: str = "<") -> bytes:
    """A QUEUE_FORMAT with a direct name, without `DIRECT=`."""
    wide = (text + "\0").encode("utf-16-le" if order == "<" else "utf-16-be")
    head = struct.pack(f"{order}BBHB3xI", kind, suffix, 0, kind, 0x20000)
    named = head + struct.pack(f"{order}III", len(wide) // 2, 0, len(wide) // 2) + wide
    return named + bytes(-len(named) % 4)


def private(manager: uuid.UUID, number: int, suffix: int = 0) -> bytes:
    return struct.pack("<BBHB3x", 2, suffix, 0, 2) + manager.bytes_le + struct.pack("<I", number)


def machine(manager: uuid.UUID, suffix: int) -> bytes:
    return struct.pack("<BBHB3x", 4, suffix, 0, 4) + manager.bytes_le


def opening(named: bytes, access: int, share: int, *, order: str = "<") -> bytes:
    return named + struct.pack(f"{order}II16sIBBHI", access, share, bytes(range(16)), 1, 6, 1, 7601, 1)


def receive(
    handle: bytes,
    action: int = RECEIVE,
    *,
    lookup: int = 0,
    cursor: int = 0,
    timeout: int = 0,
    request: int = 1,
    most: int = FOREVER,
    transaction: bytes = b"",
    order: str = "<",
) -> bytes:
    numbers = struct.pack(f"{order}QIIIIII", lookup, cursor, action, timeout, request, most, FOREVER)
    return handle + bytes(4) + numbers + transaction


@dataclass
class Read:
    """What a receive returns."""

    status: int
    arrived: int = 0
    sequence: int = 0
    sections: list[tuple[int, int, bytes]] = field(default_factory=list)

    @property
    def packet(self) -> bytes:
        return b"".join(data for _, _, data in self.sections)


def read_answer(answer: bytes) -> Read:
    """Take the output parameters of a receive apart."""
    arrived, sequence, count, pointer = struct.unpack_from("<I4xQII", answer)
    if not pointer:
        assert (arrived, sequence, count, len(answer)) == (0, 0, 0, 28)
        return Read(status(answer))
    assert struct.unpack_from("<I", answer, 24)[0] == count
    at, heads, sections = 28, [], []
    for _ in range(count):
        heads.append(struct.unpack_from("<HxxIII", answer, at))
        at += 16
    for kind, whole, size, referent in heads:
        assert referent
        assert struct.unpack_from("<I", answer, at)[0] == size
        sections.append((kind, whole, answer[at + 4 : at + 4 + size]))
        at += 4 + size
        at += -at % 4
    assert at + 4 == len(answer)
    return Read(status(answer), arrived, sequence, sections)


def status(answer: bytes) -> int:
    return int.from_bytes(answer[-4:], "little")


def raised(action: Callable[[], object]) -> int:
    """Return the status of the fault that an action ends with."""
    try:
        action()
    except Fault as fault:
        return fault.status
    raise AssertionError("no fault")
