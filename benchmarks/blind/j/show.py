"""`PYTHONPATH=. python benchmarks/blind/j/show.py [FAULT...]`: each fault on the wire, and the same without it.

It prints the name, what a peer observes without the fault, and with it. Exit code 1 if a fault is not to be seen, or
the manager without it does not do what the text says.
"""

from __future__ import annotations

import base64
import socket
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

from peer import CODEC, HOST, OWN, PLAIN, TRANSACTIONAL, Manager, Peer, classes

from conformance.embedded.network import layout as net
from conformance.embedded.network.codec import Ping, SessionAck

SEQUENCE = 1000 << 32 | 1
SCENARIOS = {}
QUICK = ("--timer", "session-ack-send=0.6")


def shows(fault, expected, *arguments):
    """Register what a manager without this fault is seen to do."""

    def put(scenario):
        SCENARIOS[fault] = (scenario, expected, arguments)
        return scenario

    return put


# The handshake.


def agreed(m, recoverable, ack):
    p = Peer(m)
    p.establish()
    p.receive()
    p.parameters(recoverable, ack)
    got = p.receive()
    return got.recoverable_ack_timeout, got.ack_timeout


@shows("recoverable-timeout-below-ack-timeout", ((500, 20_000), (30_000, 20_000)))
def _(m):
    return agreed(m, 500, 20_000), agreed(m, 30_000, 20_000)


def kind(packet):
    return packet if packet in (None, "closed") else type(packet).__name__


@shows("same-parameters-again-ignored", "closed")
def _(m):
    p = Peer(m).open()
    p.parameters()
    return kind(p.receive(1))


@shows("signature-checked-in-handshake-only", ("closed", "closed"))
def _(m):
    p = Peer(m)
    p.link.sendall(b"\x10\0\0\0RIOL" + bytes(8))
    q = Peer(m).open()
    data = base64.b64decode(q.writer.encode(q.message(m.private(PLAIN))))
    q.link.sendall(data[:4] + b"RIOL" + data[8:])
    return p.receive(1), q.receive(1)


# Session acknowledgments.


def acks(p, seconds):
    return [each.session for each in p.all(seconds, SessionAck)]


@shows("lowest-is-the-last", ((1, 1), (2, 7)))
def _(m):
    p = Peer(m).open()
    seen = []
    for count in (1, 3):
        for _ in range(count):
            p.send(p.message(m.private(PLAIN), delivery="recoverable"))
        (got,) = acks(p, 0.9)
        seen.append((got.recoverable, got.recoverable_bits))
    return tuple(seen)


@shows("carried-marks-stay", ("carried", 0, 0), "--timer", "session-ack-send=0.8")
def _(m):
    p, first = carried(m)
    p.send(p.message(m.private(PLAIN)))
    last = acks(p, 1.2)[-1]
    return ("carried" if first else "missing", last.recoverable, last.recoverable_bits)


def carried(m):
    """Return a peer and the SessionHeader of an acknowledgment made late enough to carry one."""
    p = Peer(m).open(recoverable=1600)
    p.send(p.message(m.private(PLAIN), delivery="recoverable"))
    time.sleep(1.35)
    p.send(p.message(m.private(PLAIN), acknowledgements=["positive_arrival"], administration_queue=p.own_queue()))
    got = p.receive(2)
    return p, got.get("session") if isinstance(got, dict) else None


@shows("carrier-not-counted", 1)
def _(m):
    return carried(m)[1]["user_message_sequence_number"]


@shows("window-grows-with-the-other", (64, 64), *QUICK)
def _(m):
    seen = []
    for window in (10, 200):
        p = Peer(m).open(window=window)
        p.send(p.message(m.private(PLAIN)))
        seen.append(acks(p, 0.9)[0].window)
    return tuple(seen)


@shows("ack-timer-restarted-by-each", [3], *QUICK)
def _(m):
    p = Peer(m).open()
    for _ in range(3):
        p.send(p.message(m.private(PLAIN)))
        time.sleep(0.25)
    return [each.received for each in acks(p, 0.15)]


@shows("recoverable-waits-for-express", (1, 1))
def _(m):
    p, q = Peer(m).open(), Peer(m).open()
    for each in (p, q):
        if each is q:
            each.send(each.message(m.private(PLAIN)))
        each.send(each.message(m.private(PLAIN), delivery="recoverable"))
    return len(acks(p, 1.0)), len(acks(q, 0.5))


@shows("ack-of-nothing", 1, *QUICK)
def _(m):
    p = Peer(m).open()
    p.send(p.message(m.private(PLAIN)))
    return len(acks(p, 1.6))


@shows("carried-counts-not-compared", ("closed", "closed"))
def _(m):
    p, q = Peer(m).open(), Peer(m).open()
    p.ack(sent=7)
    q.send(q.message(m.private(PLAIN)), q.header(sent=7))
    return p.receive(0.4), q.receive(0.4)


def receipt(p, **given):
    return {"acknowledgements": ["positive_arrival"], "administration_queue": p.own_queue(), **given}


@shows("ack-wait-closes-what-is-acknowledged", [], "--timer", "session-ack-wait=0.5")
def _(m):
    p = Peer(m).open()
    p.send(p.message(m.private(PLAIN), **receipt(p)))
    p.receive()
    p.ack()
    return [each for each in p.all(1.8) if each == "closed"]


# Messages that come.


@shows("duplicate-counted", [1], *QUICK)
def _(m):
    p = Peer(m).open()
    made = p.message(m.private(PLAIN))
    p.send(made)
    p.send(made)
    return [each.received for each in acks(p, 0.9)]


@shows("history-of-one-session", (1, 0, 0))
def _(m):
    p = Peer(m).open()
    made = p.message(m.private(PLAIN), **receipt(p))
    p.send(made)
    first = len(p.all(0.3, dict))
    p.ack()
    p.send(made)
    again = len(p.all(0.3, dict))
    p.close()
    q = Peer(m, p.guid).open()
    q.send(made)
    return first, again, len(q.all(0.5, dict))


@shows("history-emptied-by-timer", [2, 2], "--timer", "message-id-history-cleanup=1.5")
def _(m):
    p = Peer(m).open()
    p.send(p.message(m.private(PLAIN), **receipt(p)))
    time.sleep(1.2)
    made = p.message(m.private(PLAIN), **receipt(p))
    p.send(made)
    time.sleep(0.7)
    p.send(made)
    return classes(p.all(0.4))


@shows("administration-instead-of-final", ([0x8000], [0x8000, 0x8000]))
def _(m):
    seen = []
    for asked in ([], ["negative_arrival"]):
        p = Peer(m).open()
        given = {"acknowledgements": asked, "administration_queue": p.own_queue()}
        p.send(p.message(m.private(0x77), transaction=(SEQUENCE, 1, 0), **given))
        seen.append(classes(p.all(0.5)))
    return tuple(seen)


@shows("recoverable-comes-late", [0x8002, 0x8002])
def _(m):
    p = Peer(m).open()
    late = {"sent_time": int(time.time()) - 30, "time_to_reach_queue": 5}
    for delivery in ("express", "recoverable"):
        asked = ["positive_arrival", "negative_arrival"]
        p.send(p.message(m.private(PLAIN), delivery=delivery, **late, **receipt(p, acknowledgements=asked)))
    return classes(p.all(0.45))


def passed(m, **given):
    """Return what the next queue manager and the sender get of a message for the former."""
    p, q = Peer(m).open(), Peer(m).open()
    asked = {"acknowledgements": ["negative_arrival"], "administration_queue": p.own_queue()}
    p.send(p.message(q.own_queue(), **asked, **given))
    return q.all(0.6, dict), p.all(0.9, dict)


@shows("hop-count-begins-here", ([1], [6]))
def _(m):
    return tuple([each["hop_count"] for each in passed(m, hop_count=hops)[0]] for hops in (0, 5))


@shows("one-hop-too-many", ([0x1D], [], [0x8005]))
def _(m):
    near, far = passed(m, hop_count=0x1C), base64.b64encode(b"x").decode()
    p, q = Peer(m).open(), Peer(m).open()
    asked = {"acknowledgements": ["negative_arrival"], "administration_queue": p.own_queue()}
    p.send(p.message(q.own_queue(), hop_count=0x1D, body=far, **asked))
    q.link.settimeout(0.6)
    try:
        got = [bytes(q.link.recv(4096)[:1])]
    except TimeoutError:
        got = []
    return [each["hop_count"] for each in near[0]], got, classes(p.all(0.5))


@shows("passing-message-ordered", ([0], []))
def _(m):
    there, back = passed(m, transaction=(SEQUENCE, 1, 0))
    return classes(there), classes(back)


# Administration acknowledgments.


def both(m, delivery="recoverable", **given):
    """Return the peer, the message, and its acknowledgments of arrival and receipt."""
    p = Peer(m).open()
    asked = ["positive_arrival", "positive_receive"]
    made = p.send(p.message(m.private(PLAIN), delivery=delivery, **receipt(p, acknowledgements=asked), **given))
    return p, made, p.all(0.9, dict)


@shows("receipt-always-express", [(2, "recoverable"), (0x4000, "recoverable")], "--consume", "plain=0.2")
def _(m):
    return [(each["class"], each["delivery"]) for each in both(m)[2]]


@shows("acknowledgment-lives-as-long", [0xFFFFFFFF, 0xFFFFFFFF])
def _(m):
    p = Peer(m).open()
    for lives in (0xFFFFFFFF, 60):
        p.send(p.message(m.private(PLAIN), **receipt(p, time_to_reach_queue=lives)))
    return [each["time_to_reach_queue"] for each in p.all(0.6, dict)]


@shows("list-answers-with-its-first", [True, True])
def _(m):
    p = Peer(m).open()
    here, other = m.direct("plain"), "DIRECT=OS:elsewhere\\private$\\q"
    for given in ({}, {"destinations": [other, here], "administration_queues": [p.own_queue(), p.own_queue()]}):
        p.send(p.message(here, **receipt(p), **given))
    return [each["response_queue"] == here for each in p.all(0.6, dict)]


# Sequences, order and final acknowledgments.


def ordered(p, *messages, seconds=0.9):
    """Send messages of a sequence; return (sequence, number, previous) of the OrderAcks."""
    for given in messages:
        p.send(p.message(p.manager.private(TRANSACTIONAL), transaction=given))
    got = [each for each in p.all(seconds, dict) if each["class"] == net.ORDER_ACK]
    bodies = [CODEC.read_order_body(base64.b64decode(each["body"])) for each in got]
    return [(each.sequence, each.number, each.previous) for each in bodies]


@shows("no-order-ack-for-a-repetition", ([(SEQUENCE, 1, 0)], [(SEQUENCE, 1, 0)]))
def _(m):
    p = Peer(m).open()
    return ordered(p, (SEQUENCE, 1, 0)), ordered(p, (SEQUENCE, 1, 0))


@shows("new-sequence-from-one-only", ([(SEQUENCE, 1, 0)], [(SEQUENCE + 1, 3, 2)]))
def _(m):
    p = Peer(m).open()
    return ordered(p, (SEQUENCE, 1, 0)), ordered(p, (SEQUENCE + 1, 3, 0))


@shows("sequence-of-one-session", ([(SEQUENCE, 1, 0)], [(SEQUENCE, 2, 1)], [(SEQUENCE, 3, 2)]))
def _(m):
    p = Peer(m).open()
    first, second = ordered(p, (SEQUENCE, 1, 0)), ordered(p, (SEQUENCE, 2, 1))
    p.ack()
    p.close()
    return first, second, ordered(Peer(m, p.guid).open(), (SEQUENCE, 3, 2))


@shows("last-name-decides-order-queue", (["DIRECT"], ["DIRECT"]))
def _(m):
    seen = []
    for mixed in (False, True):
        p = Peer(m).open()
        p.send(p.message(m.direct("transactional"), transaction=(SEQUENCE, 1, 0)))
        if mixed:
            p.send(p.message(m.private(PLAIN)))
        seen.append([each["destination"].partition("=")[0] for each in everywhere(m, p, 1.2)])
        p.close()
    return tuple(seen)


ACCEPTED = {}


def everywhere(m, p, seconds):
    """Return the messages that come on the peer's session, or on one that the manager opens meanwhile."""
    link = ACCEPTED.get(id(m))
    if link is None:
        m.listener.settimeout(seconds)
        try:
            link = Peer(m, p.guid, m.listener.accept()[0])
            link.accept_handshake()
            ACCEPTED[id(m)] = link
        except TimeoutError:
            return p.all(0.3, dict)
    return link.all(seconds, dict) + p.all(0.3, dict)


@shows("negative-journal-without-final", ([0x4000], [0x4000], []), "--consume", "transactional=0.1")
def _(m):
    seen = []
    for given in ({"positive_journaling": True}, {"negative_journaling": True}, {}):
        p = Peer(m).open()
        p.send(p.message(m.private(TRANSACTIONAL), transaction=(SEQUENCE, 1, 0), **given))
        seen.append([each for each in classes(p.all(0.9)) if each != net.ORDER_ACK])
    return tuple(seen)


@shows("final-ack-bridges-nothing", [(1, 0), (4, 1)], "--consume", "transactional=0.1")
def _(m):
    p = Peer(m).open()
    for number, previous in ((1, 0), (4, 1)):
        p.send(p.message(m.private(TRANSACTIONAL), transaction=(SEQUENCE, number, previous, "final")))
    got = [each for each in p.all(0.9, dict) if each["class"] == 0x4000]
    bodies = [CODEC.read_final_body(base64.b64decode(each["body"])) for each in got]
    return [(each.number, each.previous) for each in bodies]


# What is sent, and sent again.

RESEND = ("--reply", "transactional", "--timer", "transactional-ack-wait=1.2", "--timer", "order-ack-send=5")


def answered(p, *numbers):
    """Send transactional messages to a queue that answers; return (sequence, number, previous) of the answers."""
    for number in numbers:
        given = {"transaction": (SEQUENCE, number, number - 1), "response_queue": p.own_queue()}
        p.send(p.message(p.manager.private(TRANSACTIONAL), **given))
    return replies(p, 0.5)


def replies(p, seconds):
    given = [each["transaction"] for each in p.all(seconds, dict) if "transaction" in each]
    return [
        (
            each["sequence_identifier"]["timestamp"] << 32 | each["sequence_identifier"]["ordinal"],
            each["sequence_number"],
            each["previous_sequence_number"],
        )
        for each in given
    ]


@shows("session-ack-ends-resending", ([1], [1]), *RESEND)
def _(m):
    p = Peer(m).open()
    first = answered(p, 1)
    p.ack()
    return [each[1] for each in first], [each[1] for each in replies(p, 1.1)]


@shows("order-ack-for-all", ([1, 2, 3], [2, 3]), *RESEND)
def _(m):
    p = Peer(m).open()
    first = answered(p, 1, 2, 3)
    p.ack()
    p.order_ack(first[0][0], 1)
    return [each[1] for each in first], [each[1] for each in replies(p, 1.1)]


@shows("next-sequence-of-a-new-time", (1, 1), *RESEND)
def _(m):
    p = Peer(m).open()
    ((first, _, _),) = answered(p, 1)
    p.ack()
    p.order_ack(first, 1)
    ((second, number, _),) = answered(p, 2)
    return second - first, number


@shows("window-plus-one", 64)
def _(m):
    p = Peer(m).open()
    for _ in range(70):
        p.send(p.message(m.private(PLAIN), **receipt(p)))
    return len(p.all(0.8, dict))


@shows("passing-message-never-expires", (["stays"], []))
def _(m):
    p, q = Peer(m).open(), Peer(m).open()
    m.listener.close()
    q.close()
    time.sleep(0.2)
    p.send(p.message(q.own_queue(), time_to_reach_queue=1, label="goes"))
    p.send(p.message(q.own_queue(), time_to_reach_queue=60, label="stays"))
    time.sleep(2.6)
    again = Peer(m, q.guid).open()
    labels = [each["label"] for each in again.all(0.9, dict)]
    return [each for each in labels if each == "stays"], [each for each in labels if each == "goes"]


# The handshake of an initiator.


def asked_to_connect(m):
    """Have the manager open a session for a direct name; return the peer that accepts it."""
    p = Peer(m).open()
    name = f"DIRECT=TCP:{OWN}\\private$\\acks"
    p.send(p.message(m.private(PLAIN), **receipt(p, administration_queue=name)))
    return Peer(m, p.guid, m.listener.accept()[0])


@shows("two-round-trips", True)
def _(m):
    _, got = asked_to_connect(m).accept_handshake(delay=0.4)
    return 3200 <= got.recoverable_ack_timeout < 8000


@shows("direct-server-remembered", (bytes(16), bytes(16)), "--timer", "session-retry-connect=0.3")
def _(m):
    p = asked_to_connect(m)
    first, _ = p.accept_handshake()
    p.close()  # the acknowledgment was not acknowledged: it needs another session
    again = Peer(m, p.guid, m.listener.accept()[0]).receive()
    return first.server, again.server


# Pings.


def ping(m, flags=0, cookie=5, signature=net.PING_SIGNATURE):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port:
        port.bind((OWN, 0))
        port.settimeout(0.5)
        port.sendto(CODEC.ping(Ping(flags, cookie, bytes(range(16)), signature)), (HOST, m.ping_port))
        try:
            return CODEC.read_ping(port.recv(100))
        except TimeoutError:
            return None


@shows("ping-cookie-of-16-bits", (5, 0x12345678))
def _(m):
    return ping(m).cookie, ping(m, cookie=0x12345678).cookie


@shows("ping-cookie-begins-anew", 1, "--ping-first", "--timer", "session-retry-connect=0.3")
def _(m):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port:
        port.bind((OWN, m.ping_port))
        port.settimeout(4)
        p = Peer(m).open()
        cookies = []
        for _ in (1, 2):
            name = f"DIRECT=TCP:{OWN}\\private$\\acks"
            p.send(p.message(m.private(PLAIN), **receipt(p, administration_queue=name)))
            data, address = port.recvfrom(100)
            asked = CODEC.read_ping(data)
            cookies.append(asked.cookie)
            port.sendto(CODEC.ping(Ping(0, asked.cookie, p.guid_bytes)), address)
            link = Peer(m, p.guid, m.listener.accept()[0])
            link.accept_handshake()
            link.receive()
            link.ack()
            time.sleep(0.2)
            link.close()
            time.sleep(0.2)
        return cookies[1] - cookies[0]


# Reports.


def report(m, **given):
    p = Peer(m).open()
    traced = {"trace": True, "trace_queue": "11111111-2222-3333-4444-555555555555"}
    p.send(p.message(m.private(PLAIN), **traced, **given))
    return next(each for each in p.all(0.45, dict) if each["class"] == net.REPORT)


@shows("report-hops-in-decimal", ("02", "0B"))
def _(m):
    return tuple(report(m, hop_count=hops)["label"][14:16] for hops in (2, 11))


@shows("report-as-recoverable-as-message", ("express", "express"))
def _(m):
    return tuple(report(m, delivery=each)["delivery"] for each in ("express", "recoverable"))


def observe(fault, faults):
    scenario, _, arguments = SCENARIOS[fault]
    manager = Manager(faults, arguments)
    try:
        return scenario(manager)
    except Exception as wrong:
        return f"{type(wrong).__name__}: {wrong} {traceback.extract_tb(wrong.__traceback__)[-1].lineno}"
    finally:
        ACCEPTED.pop(id(manager), None)
        manager.close()


def main(names):
    names = names or list(SCENARIOS)
    missed = 0
    with ThreadPoolExecutor(3) as pool:
        pairs = pool.map(lambda name: (observe(name, ()), observe(name, (name,))), names)
        for name, (without, fault) in zip(names, pairs, strict=True):
            right = without == SCENARIOS[name][1] and fault != without
            missed += not right
            print(f"{'shown' if right else 'NOT SHOWN'}  {name}: without {without}, with {fault}", flush=True)
    print(f"{len(names) - missed} of {len(names)} shown")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
