"""The exchanges that show the faults of sessions."""

from __future__ import annotations

import time

from exchanges import (
    ANSWERING,
    accepted,
    acks,
    answer_ping,
    answered,
    asked_to_connect,
    kind,
    messages,
    next_ack,
    ping,
    receipt,
    registry,
    udp,
)
from peer import PLAIN, Peer

from conformance.embedded.network import layout as net
from conformance.embedded.network.codec import SessionAck

SCENARIOS, shows = registry()
MISSING = 99

# The initialization of sessions.


@shows("no-ping-before-a-null-server", (False, False))
def _(m):
    seen = []
    for server in (m.guid_bytes, bytes(16)):
        p = Peer(m)
        p.establish(server=server, system=net.SYSTEM_RESERVED)
        seen.append(bool(p.receive().system & net.NOT_PINGED))
    return tuple(seen)


@shows("parameters-of-the-first-session", [(500, 20_000), (700, 30_000)])
def _(m):
    first, seen = Peer(m), []
    for p, wanted in ((first, (500, 20_000)), (Peer(m, first.guid), (700, 30_000))):
        p.establish()
        p.receive()
        p.parameters(*wanted)
        got = p.receive()
        seen.append((got.recoverable_ack_timeout, got.ack_timeout))
        p.close()
    return seen


@shows("refused-may-ask-again", (True, "closed"))
def _(m):
    p = Peer(m)
    p.establish(server=bytes(range(16)))
    first = p.receive()
    p.establish(server=m.guid_bytes)
    return first.head.refused, kind(p.receive(2))


@shows("direct-client-not-compared", "closed")
def _(m):
    link = accepted(m, asked_to_connect(m))
    return kind(link.accept_handshake(client=bytes(range(16)))[1])


@shows("retry-says-pinged", (False, True), "--ping-first", "--timer", "session-retry-connect=0.5")
def _(m):
    seen = []
    with udp(m.ping_port) as port:
        p = asked_to_connect(m)
        answer_ping(port, p)
        for _ in range(2):
            link = accepted(m, p)
            seen.append(bool(link.receive().system & net.NOT_PINGED))
            link.close()
    return tuple(seen)


# Pings.


@shows("client-bit-alone-repeated", (0, 1, 1, 0))
def _(m):
    return tuple(ping(m, flags) for flags in (0, 1, 1 | 4, 4))


@shows("refusal-is-the-whole-field", None, "--ping-first")
def _(m):
    with udp(m.ping_port) as port:
        p = asked_to_connect(m)
        answer_ping(port, p, net.PING_REFUSED | 8)
        return accepted(m, p, 2) and "connection"


# Session acknowledgments that are sent.


def marked(m, deliveries):
    """First number and marks of the acknowledgment of these messages."""
    p = Peer(m).open(recoverable=1500)
    for delivery in deliveries:
        p.send(p.message(m.private(PLAIN), delivery=delivery))
    got = next_ack(p)
    return got.recoverable, got.recoverable_bits


@shows("sixteen-marks", [(1, (1 << 16) - 1), (1, (1 << 20) - 1)])
def _(m):
    return [marked(m, ["recoverable"] * count) for count in (16, 20)]


@shows("marks-count-express-between", [(1, 3), (1, 3)])
def _(m):
    return [
        marked(m, each)
        for each in (("express", "recoverable", "recoverable"), ("recoverable", "express", "recoverable"))
    ]


@shows("lowest-behind-all-messages", [(1, 1), (2, 1)])
def _(m):
    p, seen = Peer(m).open(), []
    for deliveries in (("express", "recoverable"), ("recoverable",)):
        for delivery in deliveries:
            p.send(p.message(m.private(PLAIN), delivery=delivery))
        got = next_ack(p)
        seen.append((got.recoverable, got.recoverable_bits))
    return seen


@shows("sent-again-not-counted", (True, [0]), *ANSWERING, "--timer", "transactional-ack-wait=1")
def _(m):
    p = Peer(m).open()
    answered(p, 1)
    again = messages(p, 1)
    p.send(p.message(m.private(PLAIN), delivery="recoverable"))
    while not isinstance(packet := p.receive(), SessionAck):
        assert packet not in (None, "closed")
    return bool(again), [packet.session.sent - p.received]


@shows("express-alone-carries", (True, True), "--timer", "session-ack-send=0.8")
def _(m):
    peers = [Peer(m).open(recoverable=4000) for _ in range(2)]
    for p in peers:
        p.send(p.message(m.private(PLAIN), delivery="recoverable"))
    time.sleep(3.4)
    seen = []
    for p, delivery in zip(peers, ("express", "recoverable"), strict=True):
        p.send(p.message(m.private(PLAIN), delivery=delivery, **receipt(p)))
        seen.append("session" in messages(p, 1)[0])
    return tuple(seen)


@shows("rejected-express-not-counted", [2], "--timer", "session-ack-send=0.8")
def _(m):
    p = Peer(m).open()
    for number in (MISSING, PLAIN):
        p.send(p.message(m.private(number)))
    return [each.received for each in acks(p, 2)]


@shows("recoverable-hurries-once", [True, True])
def _(m):
    p, seen = Peer(m).open(), []
    for _ in range(2):
        p.send(p.message(m.private(PLAIN), delivery="recoverable"))
        seen.append(next_ack(p, 3) is not None)
    return seen


# Session acknowledgments that are received.


@shows("one-acknowledgment-is-enough", "closed", "--timer", "session-ack-wait=0.8")
def _(m):
    p = Peer(m).open()
    for acknowledged in (True, False):
        p.send(p.message(m.private(PLAIN), **receipt(p)))
        messages(p, 1)
        if acknowledged:
            p.ack()
    return kind(p.receive(5))


@shows("recoverable-count-compared-with-marks", ("closed", "closed"))
def _(m):
    p, q = Peer(m).open(), Peer(m).open()
    p.send(p.message(m.private(PLAIN), delivery="recoverable", **receipt(p)))
    messages(p, 1)
    p.ack(recoverable_sent=2)
    q.ack(recoverable_sent=2)
    return p.all(2)[-1], kind(q.receive(2))


@shows("any-acknowledgment-empties-window", (64, 1))
def _(m):
    p = Peer(m).open()
    for _ in range(100):
        p.send(p.message(m.private(PLAIN), **receipt(p)))
    first = len(messages(p, 100, 2))
    p.ack(received=1)
    return first, len(messages(p, 100, 2))
