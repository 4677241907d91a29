"""Faults that only a kill shows: a change is stored some calls after its answer, so a normal stop hides the fault."""

from __future__ import annotations

from typing import Any

from conformance.embedded.faults.base import fault
from conformance.embedded.store import Store

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
    """Of a transaction that received and sent, only the receives are stored when a kill follows soon."""

    def lags(self, entry: _Entry, others: list[_Entry]) -> bool:
        return entry[0].startswith(_INSERT) and any(each[0].startswith(_DELETE) for each in others)


@fault("commit-stores-sends-first", "store", "MQDMPR-3.1.4.4.all-together", "MQDMPR-3.1.4.4.durable")
class CommitStoresSendsFirst(_Lagging):
    """Of a transaction that received and sent, only the sends are stored when a kill follows soon."""

    def lags(self, entry: _Entry, others: list[_Entry]) -> bool:
        return entry[0].startswith(_DELETE) and any(each[0].startswith(_INSERT) for each in others)


@fault("commit-stores-first-send", "store", "MQDMPR-3.1.4.4.durable", "MQDMPR-3.1.4.4.all-together")
class CommitStoresFirstSend(_Lagging):
    """Of several messages a transaction sent, only the first is stored when a kill follows soon."""

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
