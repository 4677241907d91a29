"""The exchanges that show the faults of sequences, and of order and final acknowledgments."""

from __future__ import annotations

import base64
import tempfile
import uuid

from exchanges import ANSWERING, SEQUENCE, accepted, answered, messages, numbers, order_acks, receipt, registry
from peer import CODEC, PLAIN, TRANSACTIONAL, Manager, Peer

SCENARIOS, shows = registry()
OTHER = "11111111-2222-3333-4444-555555555555"

# Sequences that are sent.


@shows("newest-sent-again-first", ([1, 2, 3], [1, 2, 3]), *ANSWERING, "--timer", "transactional-ack-wait=3")
def _(m):
    p = Peer(m).open()
    first = [each[1] for each in answered(p, 1, 2, 3)]
    return first, [numbers(each)[1] for each in messages(p, 3, 8)]


@shows("each-order-ack-ends-a-sequence", (1, [(0, 3, 2)]), *ANSWERING)
def _(m):
    p = Peer(m).open()
    first, second = answered(p, 1, 2)
    p.ack()
    p.order_ack(first[0], 1)
    third = answered(p, 3)
    return second[1] - first[1], [(each[0] - first[0], *each[1:]) for each in third]


@shows("numbers-go-on-in-the-next-sequence", [(0, 1, 0), (1, 1, 0)], *ANSWERING)
def _(m):
    p = Peer(m).open()
    first = answered(p, 1)
    p.ack()
    p.order_ack(first[0][0], 1)
    return [(each[0] - first[0][0], *each[1:]) for each in (*first, *answered(p, 2))]


@shows("identifiers-begin-anew", [1, 2])
def _(m):
    seen = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            manager = Manager(m.faults, ("--state-dir", folder))
            try:
                p = Peer(manager).open()
                p.send(p.message(manager.private(PLAIN), **receipt(p)))
                seen += [each["identifier"]["ordinal"] for each in messages(p, 1)]
                p.ack()
                p.close()
            finally:
                manager.close()
    return seen


# Sequences that come.


def ordered(p, *given, seconds=2.0):
    """Send one message of a sequence; return the numbers of the OrderAcks."""
    p.send(p.message(p.manager.private(TRANSACTIONAL), transaction=given))
    return order_acks(p, seconds)


@shows("sequences-compared-by-ordinal", ([(1000 << 32 | 3, 1, 0)], [(2000 << 32 | 1, 1, 0)], [(2000 << 32 | 1, 1, 0)]))
def _(m):
    p = Peer(m).open()
    return tuple(ordered(p, each, 1, 0) for each in (1000 << 32 | 3, 2000 << 32 | 1, 1500 << 32 | 9))


@shows(
    "next-sequence-acknowledged-at-once",
    ([], [(SEQUENCE, 1, 0)], [], [(SEQUENCE + 1, 1, 0)]),
    "--timer",
    "order-ack-send=2",
)
def _(m):
    p, seen = Peer(m).open(), []
    for sequence in (SEQUENCE, SEQUENCE + 1):
        seen += [ordered(p, sequence, 1, 0, seconds=1), order_acks(p, 2.5)]
    return tuple(seen)


@shows("order-ack-repeats-previous", ([(SEQUENCE, 1, 0)], [(SEQUENCE, 4, 3)]))
def _(m):
    p = Peer(m).open()
    return ordered(p, SEQUENCE, 1, 0), ordered(p, SEQUENCE, 4, 1)


# Final acknowledgments.


@shows("final-ack-names-the-peer", [True, True])
def _(m):
    p, seen = Peer(m).open(), []
    for number, source in enumerate((p.guid, OTHER), 1):
        given = {"identifier": {"source": source, "ordinal": number}, "transaction": (SEQUENCE, number, number - 1)}
        p.send(p.message(m.private(PLAIN), **given))
        body = CODEC.read_final_body(base64.b64decode(messages(p, 1)[0]["body"]))
        seen.append(body.source == uuid.UUID(source).bytes_le)
    return seen


@shows(
    "removal-answered-to-private-queue",
    ["PRIVATE", "DIRECT"],
    "--consume",
    "transactional=0.1",
    "--timer",
    "order-ack-send=30",
)
def _(m):
    seen = []
    for name in (m.private(TRANSACTIONAL), m.direct("transactional")):
        p = Peer(m).open()
        p.send(p.message(name, transaction=(SEQUENCE, 1, 0), positive_journaling=True))
        got = messages(p, 1, 2)
        if not got:
            link = accepted(m, p)
            link.accept_handshake()
            got = messages(link, 1)
        seen += [each["destination"].partition("=")[0].upper() for each in got]
    return seen
