"""Packets with changed bytes, cut and lengthened: each ends in a state of the protocol, and nothing is left behind."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
from embedded_network_peer import (
    ADMIN,
    CLIENT,
    ENCRYPTED,
    ORDER_ACK,
    ORDER_QUEUE,
    PLAIN,
    SERVER,
    TRANSACTIONAL,
    Desk,
    Said,
    establish,
    parameters,
    session_ack,
    session_header,
)

from conformance.embedded.network.node import MOST_ROUTES

SEEDS = (
    establish(),
    parameters(),
    session_ack(0),
    Said(asks=15, admin=ADMIN, response=ADMIN).packet(),
    Said(f"TCP:127.0.0.1\\private$\\{TRANSACTIONAL}", 2, transaction=(5, 1, 1, 0, 2), asks=15, admin=ADMIN).packet(),
    Said(trace=CLIENT, label="traced").packet(),
    Said(security=ENCRYPTED, privacy=3, session=session_header(0, sent=1)).packet(),
    Said(destination=(3, bytes(4)), manager=CLIENT).packet(),
    Said(ORDER_QUEUE, 4, bytes(36), "QM Ordering Ack", kind=ORDER_ACK).packet(),
    Said(ORDER_QUEUE, 5, bytes(36), "QM Ordering Ack", kind=0x4000).packet(),
)


def changed(packet: bytes, choice: random.Random) -> bytes:
    made = bytearray(packet)
    for _ in range(choice.choice((0, 1, 1, 2, 4))):
        kind = choice.random()
        if kind < 0.7 and len(made) > 17:
            at = choice.randrange(choice.choice((0, 16, 16)), len(made))
            made[at] = choice.choice((0, 1, 255, choice.randrange(256)))
        elif kind < 0.8:
            del made[choice.randrange(len(made) + 1) :]
        elif kind < 0.9:
            made += bytes(choice.randrange(40))
        else:
            made[8:12] = struct.pack("<I", choice.choice((len(made), 0, 16, 20, 36, 4 * choice.randrange(400))))
    return bytes(made)


@pytest.mark.parametrize("seed", range(4))
def test_changed_packets_leave_nothing_behind(seed: int, tmp_path: Path) -> None:
    choice = random.Random(seed)
    consumes = {PLAIN: 1.0, TRANSACTIONAL: 1.0}
    desk = Desk(tmp_path, insecure_nacks=True, consumes=consumes, replies=frozenset({PLAIN, TRANSACTIONAL}))
    for _ in range(100):
        peer = desk.accept(choice.choice(("127.0.0.1", "127.0.0.2")))
        peer.say(establish(), parameters())
        for _ in range(3):
            if not peer.line.closed:
                peer.say(changed(choice.choice(SEEDS), choice))
        peer.session.disconnected()
        desk.clock.turn(choice.random())
    assert desk.node.sessions == []
    held = [entry for route in desk.node.routes.values() for entry in route.table.values()]
    assert desk.node.held_bytes == sum(entry.size for entry in held)
    peer = desk.open(client=SERVER.bytes_le[::-1])
    assert peer.session.open


def test_hosts_without_number_are_forgotten(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    peer = desk.open()
    for number in range(1, 600):
        peer.say(Said(number=number, asks=1, admin=f"TCP:127.1.{number >> 8}.{number & 255}\\private$\\admin").packet())
        for route, _ in desk.dialled[:-200]:
            route.failed()
            desk.dialled.remove((route, False))
    assert len(desk.node.routes) == MOST_ROUTES
    held = [entry for route in desk.node.routes.values() for entry in route.table.values()]
    assert len(held) == MOST_ROUTES
    assert desk.node.held_bytes == sum(entry.size for entry in held)
