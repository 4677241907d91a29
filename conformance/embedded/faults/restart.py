"""Faults of what is left after a stop or a kill (MS-MQDMPR 3.1.1.11, 3.1.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.embedded.delivery import Delivery
from conformance.embedded.entities import Operation
from conformance.embedded.faults.base import fault
from conformance.embedded.receiving import Receiving
from conformance.embedded.store import MessageRow, Store
from conformance.embedded.transactions import Transactions

_Entry = tuple[str, tuple[Any, ...]]
LAG = 8  # calls between an answer and what it told being stored
_INSERT, _DELETE = "INSERT OR REPLACE INTO messages", "DELETE FROM messages WHERE row"
_QUEUE, _NO_QUEUE = "INSERT OR REPLACE INTO queues", "DELETE FROM"


class _Lagging(Store):
    """Holds some of what is to be written back for a few calls. A clean close writes all of it."""

    def lags(self, entry: _Entry, others: list[_Entry]) -> bool:
        raise AssertionError("every subclass says which")

    def flush(self) -> None:
        held: list[tuple[int, _Entry]] = getattr(self, "_held", [])
        turn: int = getattr(self, "_turn", 0) + 1
        now: list[_Entry] = []
        for entry in self._pending:
            twin = next((each for each in held if self._same_message(each[1], entry)), None)
            if twin is not None:
                held.remove(twin)  # it was never stored, and need not be
            elif self.lags(entry, self._pending):
                held.append((turn + LAG, entry))
            else:
                now.append(entry)
        self._pending = [entry for due, entry in held if due <= turn] + now
        self._held, self._turn = [each for each in held if each[0] > turn], turn
        super().flush()

    def clear(self) -> None:
        self._held = []
        super().clear()

    def close(self) -> None:
        self.flush()
        self._pending = [entry for _, entry in self._held]
        Store.flush(self)
        self._held = []
        super().close()

    @staticmethod
    def _same_message(held: _Entry, entry: _Entry) -> bool:
        inserted, deleted = held[0].startswith(_INSERT), entry[0].startswith(_DELETE)
        return inserted and deleted and held[1][0] == entry[1][0]


@fault("send-stored-late", "store", "MQDMPR-3.1.1.12.recoverable-survives", "MQMQ-2.2.19.2.recoverable-recovered")
class SendStoredLate(_Lagging):
    """A recoverable message is stored some calls after its send was answered."""

    def lags(self, entry: _Entry, others: list[_Entry]) -> bool:
        return entry[0].startswith(_INSERT)


@fault("received-message-revived", "store", "MQDMPR-3.1.1.12.received-not-redelivered", "MQDMPR-3.1.4.4.all-together")
class ReceivedMessageRevived(_Lagging):
    """A received recoverable message comes back after a kill that follows soon."""

    def lags(self, entry: _Entry, others: list[_Entry]) -> bool:
        return entry[0].startswith(_DELETE)


@fault("commit-stores-receives-first", "store", "MQDMPR-3.1.4.4.all-together", "MQDMPR-3.1.4.4.durable")
class CommitStoresReceivesFirst(_Lagging):
    """Only the receives of a transaction that received and sent are stored when a kill follows soon."""

    def lags(self, entry: _Entry, others: list[_Entry]) -> bool:
        return entry[0].startswith(_INSERT) and any(each[0].startswith(_DELETE) for each in others)


@fault("commit-stores-sends-first", "store", "MQDMPR-3.1.4.4.all-together", "MQDMPR-3.1.4.4.durable")
class CommitStoresSendsFirst(_Lagging):
    """Only the sends of a transaction that received and sent are stored when a kill follows soon."""

    def lags(self, entry: _Entry, others: list[_Entry]) -> bool:
        return entry[0].startswith(_DELETE) and any(each[0].startswith(_INSERT) for each in others)


@fault("commit-stores-first-send", "store", "MQDMPR-3.1.4.4.durable", "MQDMPR-3.1.4.4.all-together")
class CommitStoresFirstSend(_Lagging):
    """Only the first of several messages a transaction sent is stored when a kill follows soon."""

    def lags(self, entry: _Entry, others: list[_Entry]) -> bool:
        sends = [each for each in others if each[0].startswith(_INSERT)]
        return len(sends) > 1 and entry is not sends[0] and entry in sends


@fault(
    "purged-messages-revived", "store", "MQDMPR-3.1.7.1.7.available-deleted", "MQDMPR-3.1.1.11.recoverable-persistent"
)
class PurgedMessagesRevived(_Lagging):
    """The messages of a purge come back after a kill that follows soon."""

    def lags(self, entry: _Entry, others: list[_Entry]) -> bool:
        gone = [each for each in others if each[0].startswith(_DELETE)]
        return len(gone) > 1 and len(gone) == len(others)


@fault("deleted-queue-revived", "store", "MQDMPR-3.1.7.1.4.removed", "MQDMPR-3.1.7.1.4.messages-deleted")
class DeletedQueueRevived(_Lagging):
    """A deleted queue, with its messages, is back after a kill that follows soon."""

    def lags(self, entry: _Entry, others: list[_Entry]) -> bool:
        # A reset deletes every queue, those included that are made before the change is stored: it does not lag.
        return entry[0].startswith(_NO_QUEUE) and "queue" in entry[0] and bool(entry[1])


@fault(
    "set-properties-stored-late", "store", "MQDMPR-3.1.1.2.private-attributes-persistent",
    "MQDMPR-3.1.1.persistent-survives",
)  # fmt: skip
class SetPropertiesStoredLate(_Lagging):
    """Properties that were set have their former values after a kill that follows soon."""

    def lags(self, entry: _Entry, others: list[_Entry]) -> bool:
        if not entry[0].startswith(_QUEUE):
            return False
        known: set[str] = getattr(self, "_known", set())
        seen = entry[1][0] in known
        self._known = {*known, entry[1][0]}
        return seen


_FAR = 1 << 40


@fault("recovery-duplicates-last", Store.messages, "MQDMPR-3.1.7.1.9.once", "MQDMPR-3.1.1.persistent-survives")
def recovery_duplicates_last(plain, self):
    """After a start, the message that was stored last is in its queue twice."""
    last: MessageRow | None = None
    for row in plain():
        yield row
        last = row
    if last is not None:
        yield replace(last, row=last.row + _FAR, key=last.key + _FAR, lookup=last.lookup + _FAR)


@fault("recovery-reverses-order", Store.messages, "MQDMPR-3.1.1.12.recoverable-order")
def recovery_reverses_order(plain, self):
    """After a start, the messages of a queue stand in the reverse order."""
    rows = list(plain())
    places = {row.row: row for row in rows}
    for queue in {row.queue for row in rows}:
        mine = sorted((row for row in rows if row.queue == queue), key=lambda row: row.key)
        for row, other in zip(mine, reversed(mine), strict=True):
            places[row.row] = replace(row, key=other.key, lookup=other.lookup)
    yield from places.values()


@fault(
    "recovery-loses-priorities", Store.messages, "MQDMPR-3.1.1.12.recoverable-order",
    "MQDMPR-3.1.1.2.priority-before-arrival", "MQMQ-2.2.19.1.higher-priority-nearer-front",
)  # fmt: skip
def recovery_loses_priorities(plain, self):
    """After a start, messages stand in the order of their arrival, whatever their priority."""
    for row in plain():
        yield replace(row, key=row.row)


@fault(
    "recovery-loses-labels", Store.messages, "MQDMPR-3.1.1.12.recoverable-attributes-survive",
    "MQDMPR-3.1.1.12.label-unchanged",
)  # fmt: skip
def recovery_loses_labels(plain, self):
    """After a start, messages have neither label nor application tag."""
    for row in plain():
        yield replace(row, fields={**row.fields, "label": "", "application_tag": 0})


@fault("recovery-changes-lookup-ids", Store.messages, "MQDMPR-3.1.1.12.recoverable-attributes-survive")
def recovery_changes_lookup_ids(plain, self):
    """After a start, messages have other lookup identifiers."""
    for row in plain():
        yield replace(row, lookup=row.lookup + _FAR)


@fault("recovery-forgets-journals", Store.messages, "MQDMPR-3.1.1.2.system-queues-kept")
def recovery_forgets_journals(plain, self):
    """After a start, the journals of queues are empty."""
    return (row for row in plain() if not row.queue.endswith(";;journal"))


@fault("recovery-forgets-dead-letters", Store.messages, "MQDMPR-3.1.1.2.system-queues-kept")
def recovery_forgets_dead_letters(plain, self):
    """After a start, the journal and the dead-letter queues of the system are empty."""
    return (row for row in plain() if not row.queue.startswith("system;"))


@fault("recovery-stops-expiry", Store.messages, "MQDMPR-3.1.2.4.expires")
def recovery_stops_expiry(plain, self):
    """After a start, messages do not expire any more."""
    return (replace(row, expires_ms=None) for row in plain())


@fault(
    "recovery-forgets-subqueues", Store.queues, "MQDMPR-3.1.1.12.recoverable-survives",
    "MQDMPR-3.1.1.persistent-survives", "MQDMPR-3.1.1.2.subqueue-collection",
)  # fmt: skip
def recovery_forgets_subqueues(plain, self):
    """After a start, there are no subqueues, and their messages are gone."""
    return [row for row in plain() if row.kind != "subqueue"]


@fault(
    "uncommitted-send-survives", Delivery.place, "MQDMPR-3.1.3.uncommitted-send-lost",
    "MQDMPR-3.1.3.unfinished-transaction-aborted", "MQDMPR-3.1.3.abort-transaction",
)  # fmt: skip
def uncommitted_send_survives(plain, self, queue, message, *, uncommitted=False, limited=True):
    """After a start, the messages of a transaction that was never committed are in their queues."""
    position = plain(queue, message, uncommitted=uncommitted, limited=limited)
    if uncommitted:
        self.keep(position)
    return position


@fault(
    "prepared-send-survives", Transactions.prepare, "MQDMPR-3.1.3.uncommitted-send-lost",
    "MQDMPR-3.1.3.abort-transaction", "MQDMPR-3.1.7.1.9.uncommitted-locked",
)  # fmt: skip
def prepared_send_survives(plain, self, transaction):
    """After a start, the messages of a transaction that was prepared and not committed are in their queues."""
    plain(transaction)
    for step in transaction.steps:
        if step.operation is Operation.ENQUEUE:
            self.manager.delivery.keep(step.position)


@fault(
    "uncommitted-receive-lost", Receiving.take, "MQDMPR-3.1.1.11.uncommitted-receive-not-lost",
    "MQDMPR-3.1.3.unfinished-transaction-aborted", "MQDMPR-3.1.3.abort-transaction",
)  # fmt: skip
def uncommitted_receive_lost(plain, self, position, transaction):
    """After a start, a message that an open transaction had received is gone."""
    if transaction is not None:
        self.manager.store.drop_message(position.row)
    return plain(position, transaction)


@fault(
    "begun-read-lost", Receiving.begin, "MQDMPR-3.1.1.12.recoverable-survives",
    "MQDMPR-3.1.1.11.recoverable-persistent", "MQMQ-2.2.19.2.recoverable-recovered",
)  # fmt: skip
def begun_read_lost(plain, self, at, position):
    """After a start, a message whose read in two phases had begun is gone."""
    self.manager.store.drop_message(position.row)
    return plain(at, position)


@fault(
    "express-survives-maimed", Delivery.keep, "MQDMPR-3.1.1.12.express-may-survive", "MQDMPR-3.1.7.1.10.at-most-once",
    "MQDMPR-3.1.1.12.body-unchanged",
)  # fmt: skip
def express_survives_maimed(plain, self, position):
    """After a start, express messages are there, received ones too, and have lost label and body."""
    message = position.message
    if not message.recoverable and position.queue.kind in ("private", "public"):
        stored = replace(message, fields={**message.fields, "body": "", "label": "", "delivery": "recoverable"})
        position.message = stored
        plain(position)
        position.message = message
    else:
        plain(position)


@fault(
    "moved-message-returns", Transactions.relocate, "MQDMPR-3.1.7.1.16.moved", "MQDMPR-3.1.1.11.recoverable-persistent"
)
def moved_message_returns(plain, self, position, target):
    """After a start, a moved message is in the source, too."""
    source = position.queue
    before = MessageRow(
        position.row,
        source.id,
        position.lookup,
        position.key,
        position.arrival,
        position.message.size,
        position.message.sent_ms,
        position.message.expires_ms,
        position.message.transactional,
        position.message.fields,
    )
    plain(position, target)
    if position.message.recoverable:
        self.manager.store.put_message(before)
