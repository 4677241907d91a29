"""What the exchanges of the three parts of this set have in common."""

from __future__ import annotations

import base64
import socket

from peer import CODEC, HOST, OWN, PLAIN, TRANSACTIONAL, Peer

from conformance.embedded.network import layout as net
from conformance.embedded.network.codec import Ping, SessionAck

SEQUENCE = 1000 << 32 | 1
ANSWERING = ("--reply", "transactional", "--timer", "order-ack-send=30")


def registry():
    """Return a table of scenarios, and what registers one: what a manager without a fault is seen to do."""
    scenarios = {}

    def shows(fault, expected, *arguments):
        def put(scenario):
            scenarios[fault] = (scenario, expected, arguments)
            return scenario

        return put

    return scenarios, shows


def receipt(p, *asked, **given):
    """The members of a message that asks for administration acknowledgments, by default of its arrival."""
    return {"acknowledgements": list(asked or ("positive_arrival",)), "administration_queue": p.own_queue(), **given}


def kind(packet):
    return packet if packet in (None, "closed") else type(packet).__name__


def acks(p, seconds):
    """The SessionHeaders of the SessionAcks that come in that time."""
    return [each.session for each in p.all(seconds, SessionAck)]


def next_ack(p, seconds=4.0):
    """The SessionHeader of the next SessionAck; None in vain."""
    while (packet := p.receive(seconds)) is not None:
        if isinstance(packet, SessionAck):
            return packet.session
        if packet == "closed":
            return None
    return None


def messages(p, count, seconds=4.0):
    """The next messages, that many; fewer if one does not come within the time."""
    found = []
    while len(found) < count:
        packet = p.receive(seconds)
        if packet in (None, "closed"):
            break
        if isinstance(packet, dict):
            found.append(packet)
    return found


def asked_to_connect(m):
    """Have the manager want a session for a direct name; return the peer that has caused it."""
    p = Peer(m).open()
    name = f"DIRECT=TCP:{OWN}\\private$\\acks"
    p.send(p.message(m.private(PLAIN), **receipt(p, administration_queue=name)))
    return p


def accepted(m, p, seconds=8.0):
    """Return the connection that the manager opens, of the same queue manager; None in vain."""
    m.listener.settimeout(seconds)
    try:
        return Peer(m, p.guid, m.listener.accept()[0])
    except TimeoutError:
        return None


def udp(port=0):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind((OWN, port))
    made.settimeout(4)
    return made


def ping(m, flags):
    """Return the flags of the response to a ping."""
    with udp() as port:
        port.sendto(CODEC.ping(Ping(flags, 5, bytes(range(16)))), (HOST, m.ping_port))
        return CODEC.read_ping(port.recv(100)).flags


def answer_ping(port, p, flags=0):
    data, address = port.recvfrom(100)
    port.sendto(CODEC.ping(Ping(flags, CODEC.read_ping(data).cookie, p.guid_bytes)), address)


def numbers(message):
    """Sequence, number and previous number of a transactional message."""
    given = message["transaction"]
    sequence = given["sequence_identifier"]
    identifier = sequence["timestamp"] << 32 | sequence["ordinal"]
    return identifier, given["sequence_number"], given["previous_sequence_number"]


def answered(p, *wanted):
    """Send transactional messages to a queue that answers; return the numbers of the answers."""
    for number in wanted:
        given = {"transaction": (SEQUENCE, number, number - 1), "response_queue": p.own_queue()}
        p.send(p.message(p.manager.private(TRANSACTIONAL), **given))
    return [numbers(each) for each in messages(p, len(wanted))]


def order_acks(p, seconds):
    """Sequence, number and previous number of the OrderAcks that come in that time."""
    got = [each for each in p.all(seconds, dict) if each["class"] == net.ORDER_ACK]
    bodies = [CODEC.read_order_body(base64.b64decode(each["body"])) for each in got]
    return [(each.sequence, each.number, each.previous) for each in bodies]
