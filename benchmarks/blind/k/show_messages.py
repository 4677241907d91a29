"""The exchanges that show the faults of messages, and of the answers they ask for."""

from __future__ import annotations

import base64
import time
import uuid

from exchanges import SEQUENCE, messages, numbers, receipt, registry
from peer import PLAIN, TRANSACTIONAL, Peer, classes

from conformance.embedded.network import layout as net

SCENARIOS, shows = registry()
MISSING = 99
OTHER = "11111111-2222-3333-4444-555555555555"

# What is passed on.


def passed_on(m, *given):
    """Return the sender, and what the next queue manager gets of messages for it."""
    p, q = Peer(m).open(), Peer(m).open()
    for each in given:
        p.send(p.message(q.own_queue(), **each))
    return p, messages(q, len(given), 2)


@shows("session-header-passed-on", [False, False])
def _(m):
    p, q = Peer(m).open(), Peer(m).open()
    p.send(p.message(q.own_queue()))
    p.send(p.message(q.own_queue()), p.header(sent=2))
    return ["session" in each for each in messages(q, 2, 2)]


@shows("gap-closed-on-the-way", [(SEQUENCE, 1, 0), (SEQUENCE, 4, 1)])
def _(m):
    _, got = passed_on(m, {"transaction": (SEQUENCE, 1, 0)}, {"transaction": (SEQUENCE, 4, 1)})
    return [numbers(each) for each in got]


@shows("second-router-is-the-source", [True, True])
def _(m):
    p, got = passed_on(m, {"hop_count": 0}, {"hop_count": 3})
    return [each["identifier"]["source"] == p.guid for each in got]


@shows("duplicates-passed-on", 1)
def _(m):
    p, q = Peer(m).open(), Peer(m).open()
    made = p.message(q.own_queue())
    p.send(made)
    p.send(made)
    return len(messages(q, 2, 2))


@shows("once-sent-never-expires", (1, 0), "--timer", "session-retry-connect=60")
def _(m):
    p, q = Peer(m).open(), Peer(m).open()
    p.send(p.message(q.own_queue(), time_to_reach_queue=4))
    first = len(messages(q, 1, 2))
    q.close()
    time.sleep(5.2)
    return first, len(messages(Peer(m, q.guid).open(), 1, 2))


# What arrives.

ARRIVAL = ("positive_arrival", "negative_arrival")


@shows("rejected-may-come-again", [net.NACK_BAD_DST_Q])
def _(m):
    p = Peer(m).open()
    made = p.message(m.private(MISSING), **receipt(p, *ARRIVAL))
    p.send(made)
    p.send(made)
    return classes(p.all(2))


@shows("last-hop-is-too-many", [net.ACK_REACH_QUEUE, net.ACK_REACH_QUEUE])
def _(m):
    p = Peer(m).open()
    for hops in (0x1C, 0x1D):
        p.send(p.message(m.private(PLAIN), hop_count=hops, **receipt(p, *ARRIVAL)))
    return classes(messages(p, 2))


@shows("no-queue-is-no-transactional-one", [net.NACK_BAD_DST_Q, net.NACK_BAD_DST_Q])
def _(m):
    p = Peer(m).open()
    p.send(p.message(m.private(MISSING), transaction=(SEQUENCE, 1, 0), **receipt(p, *ARRIVAL)))
    return classes(messages(p, 2))


@shows("recoverable-is-transactional-enough", [net.NACK_NOT_TRANSACTIONAL_MSG] * 2)
def _(m):
    p = Peer(m).open()
    for delivery in ("express", "recoverable"):
        p.send(p.message(m.private(TRANSACTIONAL), delivery=delivery, **receipt(p, *ARRIVAL)))
    return classes(messages(p, 2))


# Administration acknowledgments.


@shows("receipt-copies-response-queue", [(2, True), (0x4000, True)], "--consume", "plain=0.2")
def _(m):
    p = Peer(m).open()
    asked = receipt(p, "positive_arrival", "positive_receive")
    made = p.send(p.message(m.private(PLAIN), response_queue=p.own_queue(0x22), **asked))
    got = messages(p, 2)
    return [(each["class"], each["response_queue"].lower() == made["destination"].lower()) for each in got]


@shows("body-returned-before-arrival-only", [(net.NACK_BAD_DST_Q, b"body"), (0xC002, b"body")])
def _(m):
    p = Peer(m).open()
    for number in (MISSING, PLAIN):
        asked = receipt(p, "negative_arrival", "negative_receive", time_to_be_received=1)
        p.send(p.message(m.private(number), **asked))
    return [(each["class"], base64.b64decode(each["body"])) for each in messages(p, 2)]


@shows("correlation-with-the-peer", [True, True])
def _(m):
    p, seen = Peer(m).open(), []
    for source in (p.guid, OTHER):
        p.send(p.message(m.private(PLAIN), identifier={"source": source, "ordinal": 7}, **receipt(p)))
        data = base64.b64decode(messages(p, 1)[0]["correlation_identifier"])
        seen.append(data[:16] == uuid.UUID(source).bytes_le)
    return seen


# Reports.

TRACED = {"trace": True, "trace_queue": OTHER}


def reports(p, count=1):
    return [each for each in messages(p, count, 2) if each["class"] == net.REPORT]


@shows("report-on-the-way-names-router", ([True], [True]))
def _(m):
    p, q = Peer(m).open(), Peer(m).open()
    p.send(p.message(m.private(PLAIN), **TRACED))
    p.send(p.message(q.own_queue(), **TRACED))
    name = f"received by {p.guid.upper()} "
    return tuple([name in each["label"] for each in reports(at, count)] for at, count in ((p, 1), (q, 2)))


@shows("report-target-as-on-the-wire", [True, True])
def _(m):
    p, seen = Peer(m).open(), []
    for name in (m.private(PLAIN), m.direct("plain")):
        p.send(p.message(name, **TRACED))
        (got,) = reports(p)
        text = base64.b64decode(got["body"]).decode("utf-16-le")
        seen.append(f"<TARGET QUEUE>{name}</TARGET QUEUE>".lower() in text.lower())
    return seen
