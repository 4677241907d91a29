"""Alternatives of readings about rights and security descriptors."""

from __future__ import annotations

from dataclasses import replace

from conformance.embedded.alternatives.base import follows
from conformance.embedded.delivery import Sending
from conformance.embedded.entities import Descriptor
from conformance.embedded.queues import Queues
from conformance.embedded.receiving import Receiving
from conformance.embedded.security import DACL, GROUP, OWNER, SACL, Security
from conformance.embedded.transactions import Transactions

_EACH_CALL = "R-MQMQ-right-checked-at=each-call"


@follows(_EACH_CALL, "security")
class _AtEachCall(Security):
    """The rights to read and write messages are looked at whenever a handle is used, and not only at its opening."""

    def need_to_use(self, descriptor: Descriptor) -> None:
        """Raise MqError if the caller has not the right for which a handle was opened."""
        for each in descriptor.elements or [descriptor]:
            if each.queue is not None and not each.queue.deleted:
                self.need_to_open(each.queue, each.access)


@follows(
    _EACH_CALL, Receiving.receive, Receiving.peek, Receiving.peek_next, Receiving.receive_begin, Receiving.by_lookup_id
)
def _reads(plain, self, caller, descriptor, *given, **named):
    self.manager.security.need_to_use(descriptor)
    plain(caller, descriptor, *given, **named)


@follows(_EACH_CALL, Sending.send, Queues.purge)
def _uses(plain, self, descriptor, *given):
    self.manager.security.need_to_use(descriptor)
    return plain(descriptor, *given)


@follows(_EACH_CALL, Transactions.move)
def _moves(plain, self, source, lookup, destination, transaction):
    for each in (source, destination):
        self.manager.security.need_to_use(each)
    plain(source, lookup, destination, transaction)


@follows("descriptor-owner=letter", Security.default)
def descriptor_owner_letter(plain, self, creator, supplied):
    """A finished descriptor has no owner."""
    return replace(plain(creator, supplied), owner=None)


@follows("supplied-owner=kept", Security.default)
def supplied_owner_kept(plain, self, creator, supplied):
    """An owner that was supplied is that of the queue, whoever it is."""
    made = plain(creator, supplied)
    return made if supplied is None or supplied.owner is None else replace(made, owner=supplied.owner)


@follows("descriptor-order=replaced", Security.default)
def descriptor_order_replaced(plain, self, creator, supplied):
    """A descriptor that was supplied is the whole descriptor."""
    return plain(creator, supplied) if supplied is None else supplied


@follows("R-MQMP-security-information=first", Security.shown)
def mqmp_security_information_first(plain, self, descriptor, information):
    """The first of several parts that are asked for is read."""
    return plain(descriptor, next((part for part in (OWNER, GROUP, DACL, SACL) if information & part), 0))
