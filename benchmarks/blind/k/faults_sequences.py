"""Faults of sequences, of order and final acknowledgments, and of what is sent again."""

from __future__ import annotations

import uuid
from dataclasses import replace

from conformance.embedded.entities import INFINITE
from conformance.embedded.network.acknowledging import Acknowledging
from conformance.embedded.network.faults.base import fault
from conformance.embedded.network.incoming import Receiver
from conformance.embedded.network.sender import Outgoing, Route
from conformance.embedded.network.sequences import Incoming, Sequences

# Sequences that are sent.


class NewestFirst(Route):
    def order_wait_over(self):
        numbered = [each for each in self.table.values() if each.tx_number]
        others = {each.key: each for each in self.table.values() if not each.tx_number}
        numbered.sort(key=lambda each: (each.tx_sequence, each.tx_number), reverse=True)
        self.table = {**others, **{each.key: each for each in numbered}}
        super().order_wait_over()


fault(
    __name__,
    "newest-sent-again-first",
    "Unacknowledged transactional messages are sent again with the highest number first.",
    ("MQQB-3.1.6.5.resend-order",),
    ("route", NewestFirst),
)


class SequenceForEachAck(Route):
    def next_sequence(self):
        before = self.sequence
        super().next_sequence()
        if self.sequence is before and before.identifier and before.last_acked:
            ordinal, stamp = (before.identifier & INFINITE) + 1, before.identifier >> 32
            self.sequence = Outgoing(stamp << 32 | ordinal, ack_count=before.ack_count)
            self.node.keep_route(self)


fault(
    __name__,
    "each-order-ack-ends-a-sequence",
    "An OrderAck that leaves messages of a sequence unacknowledged ends the sequence all the same.",
    ("MQQB-3.1.1.5.all-acknowledged",),
    ("route", SequenceForEachAck),
)


class NumbersGoOn(Route):
    def next_sequence(self):
        before = self.sequence
        super().next_sequence()
        if self.sequence is not before:
            self.sequence.number = before.number
            self.node.keep_route(self)


fault(
    __name__,
    "numbers-go-on-in-the-next-sequence",
    "A new transactional sequence goes on with the numbers of the one before.",
    ("MQQB-3.1.1.5.first-number", "MQMQ-2.2.20.5.first-has-no-previous", "MQMQ-2.2.20.5.previous-before"),
    ("route", NumbersGoOn),
)


class IdentifiersAnew(Acknowledging):
    began = False

    def plain(self, kind):
        if not self.began:
            self.began, self.node._message_id = True, 0
        return super().plain(kind)


fault(
    __name__,
    "identifiers-begin-anew",
    "A queue manager that is started again gives its messages the identifiers of those before.",
    ("MQQB-3.1.7.1.1.identifier", "MQQB-3.1.7.1.1.ordinal"),
    ("acknowledging", IdentifiersAnew),
)

# Sequences that come.


def _by_ordinal(identifier):
    return (identifier & INFINITE) << 32 | identifier >> 32


class OrdinalFirst(Sequences):
    def accepts(self, state, identifier, number, previous):
        turned = Incoming(_by_ordinal(state.identifier), state.number, state.rejects)
        return super().accepts(turned, _by_ordinal(identifier), number, previous)


fault(
    __name__,
    "sequences-compared-by-ordinal",
    "Of two incoming sequences the one with the higher Ordinal is the newer, whatever their times are.",
    ("MQQB-3.1.5.8.6.accepted",),
    ("sequences", OrdinalFirst),
)


class GreetsNewSequence(Receiver):
    def in_order(self, arrived):
        sequences, session = self.node.sequences, arrived.session
        key = sequences.key(session, arrived.read)
        before = sequences.of(key).identifier
        accepted = super().in_order(arrived)
        if accepted and before and sequences.of(key).identifier != before:
            session.order_ack.stop()
            session.order_ack_over()
        return accepted


fault(
    __name__,
    "next-sequence-acknowledged-at-once",
    "The first message of a sequence that follows another one has its OrderAck at once.",
    ("MQQB-3.1.2.7.order-ack-delay",),
    ("receiver", GreetsNewSequence),
)


class KeepsPrevious(Sequences):
    def take(self, session, read):
        accepted = super().take(session, read)
        if accepted:
            state = self.of(self.key(session, read))
            given = vars(self.node).setdefault("previous_numbers", {})
            given[state.identifier, state.number] = read["transaction"]["previous_sequence_number"]
        return accepted


class PreviousOfMessage(Acknowledging):
    def order_body(self, identifier, number):
        made = super().order_body(identifier, number)
        given = vars(self.node).get("previous_numbers", {})
        return replace(made, previous=given.get((identifier, number), made.previous))


fault(
    __name__,
    "order-ack-repeats-previous",
    "TxPreviousSequenceNumber of an OrderAck is the previous number that the message it acknowledges has named.",
    ("MQQB-2.2.4.1.previous",),
    ("sequences", KeepsPrevious),
    ("acknowledging", PreviousOfMessage),
)

# Final acknowledgments.


class SourceIsPeer(Acknowledging):
    def final_to(self, read, kind, remote, address, *, direct):
        source = {**read["identifier"], "source": str(uuid.UUID(bytes_le=remote))}
        super().final_to({**read, "identifier": source}, kind, remote, address, direct=direct)


fault(
    __name__,
    "final-ack-names-the-peer",
    "SourceGUID of a FinalAck is the queue manager at the other end of the session, not the message's own.",
    ("MQQB-2.2.5.1.source-guid",),
    ("acknowledging", SourceIsPeer),
)


class PrivateOnRemoval(Acknowledging):
    rejects = False

    def final(self, session, read, kind):
        self.rejects = True
        super().final(session, read, kind)
        self.rejects = False

    def final_to(self, read, kind, remote, address, *, direct):
        super().final_to(read, kind, remote, address, direct=direct and self.rejects)


fault(
    __name__,
    "removal-answered-to-private-queue",
    "The FinalAck of a message that leaves its queue goes to the private order queue, also for a direct name.",
    ("MQQB-3.1.7.17.destination-form",),
    ("acknowledging", PrivateOnRemoval),
)
