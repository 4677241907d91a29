"""Transactions that a coordinator outside ends, and what of them outlives a restart (MS-MQDMPR 3.1.4.6 to 3.1.4.11)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.embedded.entities import MqError, Operation, Position, State, Transaction, UndoStep
from conformance.embedded.store import PreparedRow, PreparedStep
from conformance.spec.constants.hresults import MQ_ERROR_DTC_CONNECT

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

PREPARED, COMMITTED, ABORTED = "prepared", "committed", "aborted"


class Coordination:
    """Enlists the manager in transactions of the coordinator, and does what it decides about them.

    A transaction goes when it ends, so the coordinator can say the same twice, or speak of one that was never here.
    """

    def __init__(self, manager: Manager) -> None:
        self.manager = manager
        self._known: dict[str, Transaction] = {}
        self._doubtful: set[str] = set()
        self._stored: dict[int, tuple[str, int, PreparedStep]] = {}  # of a start: row -> transaction and place in it
        self._recovered: dict[str, dict[int, UndoStep]] = {}

    def enlist(self, identifier: str) -> Transaction:
        """Enlist (MS-MQMP 3.1.4.13). A manager that is in the transaction already stays in it.

        Raises MqError if the coordinator refuses it.
        """
        found = self._known.get(identifier.lower())
        if found is None:
            self.manager.coordinator.take_part(identifier.lower())
            found = self.create(identifier)
        return found

    def create(self, identifier: str) -> Transaction:
        """Create Transaction (3.1.7.1.8) with the identifier of the coordinator."""
        made = self.manager.transactions.begin()
        made.identifier = identifier.lower()
        self._known[made.identifier] = made
        return made

    def prepare(self, identifier: str, *, single_phase: bool) -> str:
        """DTC Transaction Prepare (3.1.4.6). Returns what the coordinator is told."""
        found = self._known.get(identifier.lower())
        if found is None:
            return self.abort(identifier)
        self.manager.transactions.prepare(found)
        if single_phase:
            return self.commit(identifier)
        self.keep(found)
        return PREPARED

    def commit(self, identifier: str) -> str:
        """DTC Transaction Commit (3.1.4.7), which answers the same whatever became of it."""
        found = self._known.get(identifier.lower())
        if found is not None:
            self.forget_one(found)
            self.manager.transactions.commit(found)
        return COMMITTED

    def abort(self, identifier: str) -> str:
        """DTC Transaction Abort (3.1.4.8), which answers the same whatever became of it."""
        found = self._known.get(identifier.lower())
        if found is not None:
            self.forget_one(found)
            self.manager.transactions.abort(found)
        return ABORTED

    def holds_work(self, identifier: str) -> bool:
        """Return true if a transaction has sent, received or moved something."""
        found = self._known.get(identifier.lower())
        return found is not None and bool(found.steps)

    def in_doubt(self) -> list[str]:
        """Return the transactions whose outcome this process asks the coordinator for (MS-MQDMPR 3.1.3)."""
        return sorted(self._doubtful)

    def outcome(self, identifier: str, outcome: str) -> None:
        """DTC Reenlistment Commit, Abort or Timeout (3.1.4.9 to 3.1.4.11). Raises MqError for the last."""
        if outcome == "timeout":
            raise MqError(MQ_ERROR_DTC_CONNECT)
        if identifier.lower() in self._doubtful:
            (self.commit if outcome == COMMITTED else self.abort)(identifier)

    def keep(self, transaction: Transaction) -> None:
        """Store a prepared transaction with its operations; they are persistent (3.1.1.13, 3.1.1.14)."""
        steps = [self._row_of(step) for step in transaction.steps if step.position.state is not State.DELETED]
        self.manager.store.put_prepared(PreparedRow(str(transaction.identifier), transaction.index, steps))

    def _row_of(self, step: UndoStep) -> PreparedStep:
        if step.operation is Operation.ENQUEUE:
            self.manager.delivery.keep(step.position)
        return PreparedStep(step.position.row, step.operation.value, step.target.id if step.target else None)

    def forget_one(self, transaction: Transaction) -> None:
        """Remove a transaction that ends, from the store too."""
        identifier = str(transaction.identifier)
        del self._known[identifier]
        self._doubtful.discard(identifier)
        self.manager.store.drop_prepared(identifier)
        for step in transaction.steps:
            if step.operation is Operation.ENQUEUE and transaction.prepared:
                self.manager.store.drop_message(step.position.row)  # a commit stores it again

    def forget(self) -> None:
        """Forget every transaction; the store was cleared."""
        self._known.clear()
        self._doubtful.clear()

    # A start.

    def awaits(self) -> None:
        """Read what was prepared when the last process ended."""
        for row in self.manager.store.prepared():
            found = self.create(row.identifier)
            found.prepared, found.index = True, row.index
            self._doubtful.add(row.identifier)
            self._recovered[row.identifier] = {}
            for number, step in enumerate(row.steps):
                self._stored[step.row] = row.identifier, number, step

    def holds(self, position: Position, *, purged: bool) -> bool:
        """Return true for a message that a transaction in doubt has sent, received or moved; it stays as it was."""
        found = self._stored.get(position.row)
        if found is None:
            return False
        identifier, number, step = found
        operation = Operation(step.operation)
        position.uncommitted = operation is Operation.ENQUEUE
        position.state = State.PURGE_PENDING if purged else State.LOCKED
        target = None if step.target is None else self.manager.queues.by_id(step.target)
        self._recovered[identifier][number] = UndoStep(operation, position, target)
        return True

    def recovered(self) -> None:
        """Give the transactions in doubt their operations, in order."""
        for identifier, steps in self._recovered.items():
            self._known[identifier].steps = [steps[number] for number in sorted(steps)]
