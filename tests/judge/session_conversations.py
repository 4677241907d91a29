"""Conversations of two queue managers that follow MS-MQQB, made at random: no rule may accuse any of them.

Written from the document with the packets of the fixtures, and shares nothing with the rules.
"""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass, field, replace

import build_packets as packets

from conformance.capture import Closed, Ended, Endpoint, Event, Frame, Opened, Side

START, MS = 1_700_000_000, 1_000_000
ACK_TIMEOUT, ORDER_ACK_TIMEOUT, WINDOW = 20_000, 500, 64
SIDES: tuple[Side, Side] = ("initiator", "acceptor")
REPLIES = "replies"


@dataclass
class Waiting:
    """A message that its sender still keeps. transactional: it waits for an OrderAck. place: its number in the session,
    0 when it was not sent on this one."""

    message: packets.Message
    transactional: bool = False
    answers: tuple[int, int] | None = None
    place: int = 0
    session_acknowledged: bool = False
    order_acknowledged: bool = False

    @property
    def recoverable(self) -> bool:
        return self.message.recoverable or self.message.transaction is not None

    @property
    def done(self) -> bool:
        return self.session_acknowledged and (self.order_acknowledged or not self.transactional)


@dataclass
class Manager:
    """A queue manager: what it has to send, and the transactional sequences from and to it."""

    name: str
    address: str
    guid: uuid.UUID
    uptime: int
    sequence: int
    identifier: int = 100
    transaction: int = 0
    number: int = 1
    queue: list[Waiting] = field(default_factory=list)
    arrived: set[tuple[uuid.UUID, int]] = field(default_factory=set)
    incoming: tuple[int, int] = (0, 0)
    order_due: int | None = None
    cookie: int = 0


@dataclass
class End:
    """One end of a session: its counts, and when its session acknowledgment is due, in ms."""

    manager: Manager
    sent: int = 0
    recoverable_sent: int = 0
    received: int = 0
    recoverable_received: int = 0
    last_recoverable: int = 0
    flags: int = 0
    owed: int = 0
    acknowledged: int = 0
    due: int | None = None
    late: int = 0  # When three quarters of the time up to `due` are gone.
    offset: int = 0


class Conversation:
    """Two queue managers that talk, as the events of a capture."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.now = 0
        self.events: list[Event] = []
        self.frames = self.connection = 0
        self.managers = [
            Manager(name, f"192.0.2.{50 + at}", uuid.UUID(int=self.chance.getrandbits(128)),
                    self.chance.randrange(1 << 32), self.chance.getrandbits(31) << 32 | 1)
            for at, name in enumerate(("a", "b"))
        ]  # fmt: skip
        self.ends: list[End] = []
        self.window, self.recoverable_ms = WINDOW, 500
        self.direct = True
        self.discards = self.chance.random() < 0.3

    def run(self) -> list[Event]:
        for _ in range(self.chance.randint(1, 3)):
            self.session()
            self.now += self.chance.randint(10, 90_000)
        self.events.append(Ended(self.frames, ()))
        return self.events

    # --- one session

    def session(self) -> None:
        chance = self.chance
        managers = self.managers[:] if chance.random() < 0.7 else self.managers[::-1]
        waiting = [one.message for manager in self.managers for one in manager.queue]
        self.direct = any(one.public is None for one in waiting) or (not waiting and chance.random() < 0.8)
        self.window = chance.choice((2, 5, 64, 64, 200))
        self.ends = [End(manager) for manager in managers]
        for manager in managers:
            manager.order_due = None
            for one in manager.queue:
                one.place, one.session_acknowledged = 0, False
            manager.queue.sort(key=lambda one: one.message.number)
        self.opening(chance.random() < 0.5)
        for _ in range(chance.randint(1, 14)):
            for _ in range(chance.choice((0, 1, 1, 3, 40))):
                self.wants(chance.choice(self.ends).manager)
            self.advance(chance.choice((0, 3, 200, 700, 4_000, 21_000)))
        if chance.random() < 0.6:
            for _ in range(12):
                self.advance(21_000)
        self.events.append(Closed(self.connection, self.time(), chance.choice((*SIDES, None)), "fin"))

    def opening(self, pinged: bool) -> None:
        initiator, acceptor = (end.manager for end in self.ends)
        trip = self.chance.randint(1, 300)
        if pinged:
            initiator.cookie += 1
            ports = (Endpoint(initiator.address, 4_000), Endpoint(acceptor.address, 3_527))
            self.datagram(*ports, packets.ping(True, initiator.cookie, initiator.guid))
            self.now += trip
            self.datagram(*ports[::-1], packets.ping(False, initiator.cookie, acceptor.guid))
            self.now += 1
        self.connection += 1
        ends = Endpoint(initiator.address, 50_000 + self.connection), Endpoint(acceptor.address, 1801)
        self.events.append(Opened(self.connection, self.time(), *ends, True))
        asked = packets.NULL_GUID if self.direct else acceptor.guid
        stamp = (initiator.uptime + self.now) & 0xFFFFFFFF
        system = {"session": int(not pinged), "server_class": 1}
        self.frame(0, packets.establish(initiator.guid, asked, stamp, **system))
        self.now += trip
        self.frame(1, packets.establish(initiator.guid, acceptor.guid, stamp, **system, fill=0x5A))
        self.recoverable_ms = min(120_000, max(500, 8 * trip))
        self.frame(0, packets.parameters(self.recoverable_ms, ACK_TIMEOUT, self.window))
        self.now += trip
        self.frame(1, packets.parameters(self.recoverable_ms, ACK_TIMEOUT, self.window))

    def wants(self, manager: Manager) -> None:
        """An application sends a message to the other queue manager."""
        chance = self.chance
        other = next(one for one in self.managers if one is not manager)
        kind = chance.choice(("express", "recoverable", "transactional")) if self.direct else "express"
        asks = self.direct and chance.random() < 0.2
        message = self.made(manager, f"OS:{other.name}\\private$\\{kind}", chance.randbytes(chance.randint(0, 80)))
        message = replace(
            message, label="x" * chance.randint(0, 3), recoverable=kind == "recoverable", acks=int(asks),
            admin_queue=f"OS:{manager.name}\\private$\\{REPLIES}" if asks else None,
        )  # fmt: skip
        if not self.direct:
            message = replace(message, public=uuid.UUID(int=5), host=other.guid)
        manager.queue.append(Waiting(message, kind == "transactional"))
        self.pump()

    def made(self, manager: Manager, queue: str, body: bytes) -> packets.Message:
        manager.identifier += 1
        return packets.Message(
            manager.guid, manager.identifier, START + self.now // 1000, queue, "", body,
            time_to_reach_queue=packets.INFINITE, priority=3,
        )  # fmt: skip

    # --- sending

    def pump(self) -> None:
        """Send what the windows have room for."""
        for side, end in enumerate(self.ends):
            for one in end.manager.queue:
                if not one.place and end.sent - end.acknowledged < self.window:
                    self.send(side, one)

    def send(self, side: int, one: Waiting) -> None:
        end, manager = self.ends[side], self.ends[side].manager
        if one.transactional and one.message.transaction is None:
            manager.transaction = (manager.transaction + 1) & 0xFFFFF
            header = packets.Transaction(
                manager.sequence, manager.number, manager.number - 1, True, True, manager.transaction
            )
            manager.number += 1
            one.message = replace(one.message, transaction=header)
        end.sent += 1
        end.recoverable_sent += one.recoverable
        one.place = end.sent
        message = one.message
        if end.owed and self.now >= end.late and one.answers is None and self.chance.random() < 0.6:
            message = packets.with_session(message, *self.counts(end))
            self.frame(side, message.bytes())
            self.acknowledged(side)
        else:
            self.frame(side, message.bytes())
        self.arrives(1 - side, one)

    def counts(self, end: End) -> tuple[int, ...]:
        lowest = end.last_recoverable + 1 if end.flags else 0
        return end.received, lowest, end.flags, end.sent, end.recoverable_sent, self.window

    def acknowledge(self, side: int) -> None:
        """Send a SessionAck."""
        self.frame(side, packets.session_ack(*self.counts(self.ends[side])))
        self.acknowledged(side)

    def acknowledged(self, side: int) -> None:
        """A SessionHeader was sent from this side: both ends take it over."""
        end, other = self.ends[side], self.ends[1 - side]
        end.owed, end.flags, end.due, end.last_recoverable = 0, 0, None, end.recoverable_received
        other.acknowledged = end.received
        for one in other.manager.queue:
            if 0 < one.place <= end.received:
                one.session_acknowledged = True
        self.forget(other.manager)

    def forget(self, manager: Manager) -> None:
        manager.queue[:] = [one for one in manager.queue if not one.done]

    # --- receiving

    def arrives(self, side: int, one: Waiting) -> None:
        end, manager, message = self.ends[side], self.ends[side].manager, one.message
        name = (message.source, message.number)
        known = name in manager.arrived
        manager.arrived.add(name)
        if known and message.transaction is None and self.discards:
            return
        end.received += 1
        end.owed += 1
        if end.due is None:
            end.due, end.late = self.now + ACK_TIMEOUT // 2, self.now + ACK_TIMEOUT * 3 // 8
        if one.recoverable:
            if end.recoverable_received - end.last_recoverable >= 32:
                self.acknowledge(side)
            end.recoverable_received += 1
            if not end.flags:
                end.due, end.late = self.now + self.recoverable_ms, self.now + self.recoverable_ms * 3 // 4
            end.flags |= 1 << (end.recoverable_received - end.last_recoverable - 1)
        if message.transaction is not None:
            header, (sequence, number) = message.transaction, manager.incoming
            follows = header.sequence == sequence and header.number > number >= header.previous
            if follows or (header.sequence > sequence and header.previous == 0):
                manager.incoming = header.sequence, header.number
            manager.order_due = self.now + ORDER_ACK_TIMEOUT
        if one.answers is not None:
            self.order_acknowledged(manager, *one.answers)
        if message.acks and not known:
            self.answer(manager, message)

    def order_acknowledged(self, manager: Manager, sequence: int, number: int) -> None:
        for one in manager.queue:
            header = one.message.transaction
            if header is not None and header.sequence == sequence and header.number <= number:
                one.order_acknowledged = True
        self.forget(manager)
        # All of a sequence is acknowledged: the next message begins another one.
        open_ = any(one.message.transaction for one in manager.queue)
        if not open_ and (manager.sequence, manager.number) == (sequence, number + 1):
            manager.sequence, manager.number = manager.sequence + 1, 1

    def answer(self, manager: Manager, of: packets.Message) -> None:
        """Tell the administration queue that a message has reached its queue."""
        reply = self.made(manager, of.admin_queue or "", b"")
        recoverable = of.recoverable or of.transaction is not None
        manager.queue.append(Waiting(replace(
            reply, recoverable=recoverable, message_class=packets.ACK_REACH_QUEUE, response_queue=of.queue,
            correlation=of.source.bytes_le + of.number.to_bytes(4, "little"),
        )))  # fmt: skip

    def order_ack(self, manager: Manager) -> None:
        other = next(one for one in self.managers if one is not manager)
        sequence, number = manager.incoming
        manager.order_due = None
        if not number:
            return
        body = sequence.to_bytes(8, "little") + number.to_bytes(4, "little") + (number - 1).to_bytes(4, "little")
        message = replace(
            self.made(manager, f"TCP:{other.address}\\PRIVATE$\\order_queue$", body + bytes(20)), body_type=0,
            label="QM Ordering Ack", message_class=packets.ORDER_ACK, priority=0,
        )  # fmt: skip
        manager.queue.append(Waiting(message, answers=(sequence, number)))

    # --- time and bytes

    def advance(self, milliseconds: int) -> None:
        """Let time pass, with every timer that ends in it."""
        until = self.now + milliseconds
        while True:
            self.pump()
            timers = [(end.due, 0, side) for side, end in enumerate(self.ends) if end.due is not None]
            timers += [
                (end.manager.order_due, 1, side)
                for side, end in enumerate(self.ends)
                if end.manager.order_due is not None
            ]
            due = min(timers, default=None)
            if due is None or due[0] > until:
                break
            self.now = max(self.now, due[0]) + self.chance.choice((0, 0, 7, 90))
            end = self.ends[due[2]]
            if due[1]:
                self.order_ack(end.manager)
            elif end.owed or end.flags:
                self.acknowledge(due[2])
            else:
                end.due = None
        self.now = max(self.now, until)

    def time(self) -> int:
        return START * 1000 * MS + self.now * MS

    def datagram(self, source: Endpoint, destination: Endpoint, data: bytes) -> None:
        self.frames += 1
        self.events.append(Frame(self.frames, self.frames, self.time(), source, destination, "udp", data))

    def frame(self, side: int, data: bytes) -> None:
        self.frames += 1
        mine, other = self.ends[side], self.ends[1 - side]
        opened = next(one for one in reversed(self.events) if isinstance(one, Opened))
        ends = (opened.initiator, opened.acceptor) if side == 0 else (opened.acceptor, opened.initiator)
        self.events.append(
            Frame(self.frames, self.frames, self.time(), *ends, "tcp", data, self.connection, SIDES[side],
                  mine.offset, other.offset)
        )  # fmt: skip
        mine.offset += len(data)


def conversation(seed: int) -> list[Event]:
    """The events of a valid conversation; the same for the same seed."""
    return Conversation(seed).run()
