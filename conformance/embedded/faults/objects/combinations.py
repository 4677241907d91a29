"""Faults of objects that show under two conditions at once (MC-MQAC 3.11 and 3.17)."""

from __future__ import annotations

from conformance.embedded.faults.base import also, fault
from conformance.embedded.objects.message import MessageObject, MessageSending
from conformance.embedded.objects.queue import Perform, QueueObject
from conformance.embedded.objects.transactions import Unit

_RECEIVE, _CURRENT, _SEND = "MQAC-3.11.4.1.14.", "MQAC-3.11.4.1.16.", "MQAC-3.17.4.1.48."


@fault(
    "receive-joins-an-open-transaction", Perform.unit, _RECEIVE + "transaction-default",
    _CURRENT + "transaction-default", "MQAC-3.11.4.1.7.transaction-default", "MQAC-3.11.4.1.11.transaction-default",
    first_seen_as=("MQAC-3.9.4.1.3.purpose",), because="what was received outside comes back with the Abort",
)  # fmt: skip
def receive_joins_an_open_transaction(plain, self):
    """A receive without Transaction is part of the transaction that the client has begun last."""
    begun = list(self.manager.open_transactions.values())
    outside = self.asked.named("Transaction").left_out and self.queue.opened.queue.transactional and begun
    return Unit(self.manager, begun[-1]) if outside else plain()


@fault(
    "later-send-leaves-its-transaction", MessageSending.unit, _SEND + "define-transaction-identifier-i-transaction",
    first_seen_as=("MQAC-3.9.4.1.3.purpose",), because="what was sent outside is there after the Abort",
)  # fmt: skip
def later_send_leaves_its_transaction(plain, self):
    """The second message that is sent in a transaction is sent by itself."""
    unit = plain()
    if unit.own or unit.transaction is None or not unit.transaction.steps:
        return unit
    return Unit(self.manager, self.manager.transactions.begin(), own=True)


@fault(
    "send-takes-what-was-put-first", MessageSending.fields, "MQAC-3.17.4.1.48.purpose",
    first_seen_as=("MQAC-3.17.4.1.17.output-pl-app-specific",), because="the getter of the received message shows it",
)  # fmt: skip
def send_takes_what_was_put_first(plain, self):
    """A message is sent with the AppSpecific that was put first."""
    first = getattr(self.message, "first_put", None)
    return {**plain(), **({} if first is None else {"application_tag": first})}


@also("send-takes-what-was-put-first", MessageObject.write)
def _first_is_kept(plain, self, row, value):
    plain(row, value)
    if row.name == "AppSpecific" and not hasattr(self, "first_put"):
        self.first_put = self.values["application_tag"]


@fault("reset-works-once", QueueObject.reset, "MQAC-3.11.4.1.10.cursor-uninitialized-represented-variable")
def reset_works_once(plain, self):
    """Reset of an object that was reset before leaves its cursor where it is."""
    again, self.was_reset = getattr(self, "was_reset", False), True
    if again:
        self.check_usable()
    else:
        plain()


@fault(
    "journal-lacks-what-is-received-without-its-body", Perform.message,
    *(f"{section}copy-suitable-message-message-position-list" for section in (_RECEIVE, _CURRENT)),
)  # fmt: skip
def journal_lacks_what_is_received_without_its_body(plain, self, result, position):
    """A message that is received without WantBody leaves no copy in the journal."""
    queue = None if position is None else (position.queue.parent or position.queue).journal
    copies = [] if queue is None or not self.read.removes or self.asked.body else list(queue.positions)
    if copies and position.queue is not queue:
        self.manager.delivery.remove(copies[-1])
    return plain(result, position)


@fault("transactional-send-asks-for-no-dead-letter", MessageSending.fields, _SEND + "purpose")
def transactional_send_asks_for_no_dead_letter(plain, self):
    """A message that is sent in a transaction does not ask for the dead-letter queue."""
    alone = self.given.left_out or self.given.value in (0, 1, 2)
    return plain() if alone else {**plain(), "negative_journaling": False}
