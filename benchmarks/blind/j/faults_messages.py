"""Faults of what a queue manager does with a message that comes, and of what it answers. Importing this module registers them."""

from __future__ import annotations

import base64

from conformance.embedded import packet_layout as lay
from conformance.embedded.entities import INFINITE
from conformance.embedded.network import layout as net
from conformance.embedded.network.acknowledging import Acknowledging
from conformance.embedded.network.faults.base import fault
from conformance.embedded.network.incoming import Receiver
from conformance.embedded.network.sequences import History

# Messages that come.


class DuplicateCounted(Receiver):
    def duplicate(self, arrived):
        found = super().duplicate(arrived)
        if found:
            arrived.session.count_received()
        return found


fault(
    __name__,
    "duplicate-counted",
    "A duplicate is discarded behind the count of messages received, which AckSequenceNumber then shows.",
    ("MQQB-3.1.5.8.1.duplicate",),
    ("receiver", DuplicateCounted),
)


class HistoryOfSession(Receiver):
    def duplicate(self, arrived):
        seen = arrived.session.__dict__.setdefault("seen", set())
        key = self.node.history.identifier(arrived.read)
        known = key in seen
        seen.add(key)
        return super().duplicate(arrived) and known


fault(
    __name__,
    "history-of-one-session",
    "A message is a duplicate only if it came before on the same session, so that one sent again after a reconnection is delivered twice.",
    ("MQQB-3.1.5.8.1.duplicate",),
    ("receiver", HistoryOfSession),
)


class HistoryByTime(History):
    def cleanup_over(self):
        self._stamps = dict(sorted(self._stamps.items(), key=lambda each: each[1]))
        for key in list(self._stamps):
            self._drop(key)


fault(
    __name__,
    "history-emptied-by-timer",
    "The cleanup timer drops all identifiers of received messages, also those that came a moment ago.",
    ("MQQB-3.1.5.8.1.duplicate",),
    ("history", HistoryByTime),
)


class OneAnswer(Receiver):
    def reject(self, arrived, reason):
        if arrived.asks("negative_arrival") and arrived.read.get("administration_queue"):
            self.node.acknowledging.administration(arrived.session, arrived.read, reason)
        elif arrived.transactional:
            self.node.acknowledging.final(arrived.session, arrived.read, reason)


fault(
    __name__,
    "administration-instead-of-final",
    "A rejected transactional message that asks for a negative acknowledgment has that one only, and no FinalAck.",
    ("MQQB-3.1.5.8.2.no-such-queue",),
    ("receiver", OneAnswer),
)


class RecoverableNeverLate(Receiver):
    def expired(self, read):
        return read["delivery"] == "express" and super().expired(read)


fault(
    __name__,
    "recoverable-comes-late",
    "A recoverable message that comes in behind its TimeToReachQueue is delivered; only an express one is not.",
    ("MQMQ-2.2.19.1.time-to-reach-queue-expired-receiver",),
    ("receiver", RecoverableNeverLate),
)


class OneHopOnly(Receiver):
    def pass_on(self, arrived):
        if arrived.read["hop_count"] >= lay.MAX_HOPS:
            self.reject(arrived, net.NACK_HOP_COUNT_EXCEEDED)
            return
        data = bytearray(base64.b64decode(lay.one_hop_further(base64.b64encode(arrived.packet).decode("ascii"))))
        at = lay.BASE.size + lay.USER.size - 4
        data[at] = data[at] & ~lay.USER_HOPS & 0xFF | 1
        onward = base64.b64encode(data).decode("ascii")
        self.node.post(arrived.read["destination"], {**arrived.read}, arrived.session.remote, packet=onward)


fault(
    __name__,
    "hop-count-begins-here",
    "A message that is passed on has a hop count of 1, whatever it had when it came.",
    ("MQQB-3.1.5.8.2.hop-count",),
    ("receiver", OneHopOnly),
)


class OneHopTooMany(Receiver):
    def pass_on(self, arrived):
        if arrived.read["hop_count"] > lay.MAX_HOPS:
            self.reject(arrived, net.NACK_HOP_COUNT_EXCEEDED)
            return
        onward = lay.one_hop_further(base64.b64encode(arrived.packet).decode("ascii"))
        self.node.post(arrived.read["destination"], {**arrived.read}, arrived.session.remote, packet=onward)


fault(
    __name__,
    "one-hop-too-many",
    "The hop count is compared before it is increased: a message with the largest valid one is passed on.",
    ("MQQB-3.1.5.8.2.hop-count-exceeded",),
    ("receiver", OneHopTooMany),
)


class OrdersWhatPasses(Receiver):
    def pass_on(self, arrived):
        if arrived.transactional:
            self.in_order(arrived)
        super().pass_on(arrived)


fault(
    __name__,
    "passing-message-ordered",
    "A queue manager on the way takes part in the sequence of a transactional message and sends an OrderAck of its own.",
    ("MQQB-3.1.1.5.passed-on", "MQMQ-2.2.18.1.6.order-ack-sender"),
    ("receiver", OrdersWhatPasses),
)


# Administration acknowledgments.


class _OfRemoval(Acknowledging):
    """Tells acknowledgments of what leaves a queue from those of what comes in."""

    removal = False

    def administration(self, session, read, kind, remote=b""):
        self.removal = session is None
        super().administration(session, read, kind, remote)
        self.removal = False


class ExpressRemoval(_OfRemoval):
    def delivery(self, read):
        return "express" if self.removal else super().delivery(read)


fault(
    __name__,
    "receipt-always-express",
    "The acknowledgment that a recoverable message was received from its queue is express; that of its arrival is recoverable.",
    ("MQQB-3.1.7.15.delivery",),
    ("acknowledging", ExpressRemoval),
)


class InheritedLifetime(Acknowledging):
    def administration_message(self, read, kind):
        made = super().administration_message(read, kind)
        lives = read.get("time_to_reach_queue", INFINITE)
        return {**made, "time_to_reach_queue": lives}


fault(
    __name__,
    "acknowledgment-lives-as-long",
    "An administration acknowledgment takes over TimeToReachQueue of a message that has a finite one.",
    ("MQQB-3.1.7.15.times",),
    ("acknowledging", InheritedLifetime),
)


class FirstOfList(Acknowledging):
    def response_queue(self, read):
        listed = read.get("destinations")
        return str(listed[0]) if listed else super().response_queue(read)


fault(
    __name__,
    "list-answers-with-its-first",
    "The response queue of an acknowledgment of a message to a distribution list is the first queue of the list, not the one that the message reached.",
    ("MQQB-3.1.7.15.response-queue",),
    ("acknowledging", FirstOfList),
)
