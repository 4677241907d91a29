"""The Transaction argument of reads and sends (MC-MQAC 2.2.2.1, 3.11.4.1.14, 3.17.4.1.48)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.embedded.entities import MqError, Transaction
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.transactions import TransactionObject
from conformance.embedded.objects.variants import Variant
from conformance.spec.constants.hresults import MQ_ERROR_TRANSACTION_USAGE

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

NO_TRANSACTION, MTS, XA, SINGLE_MESSAGE = 0, 1, 2, 3


class Unit:
    """The unit of work of one operation. own: it has the transaction to itself, and ends it."""

    def __init__(self, manager: Manager, transaction: Transaction | None, own: bool = False) -> None:
        """transaction: None for an operation without one."""
        self.manager = manager
        self.transaction = transaction
        self.own = own

    def succeeded(self) -> None:
        """Commit what was done, if the transaction is its own."""
        if self.own and self.transaction is not None and self.open:
            self.manager.transactions.commit(self.transaction)

    def failed(self) -> None:
        """Abort what was done, if the transaction is its own."""
        if self.own and self.transaction is not None and self.open:
            self.manager.transactions.abort(self.transaction)

    @property
    def open(self) -> bool:
        """True until the transaction has ended."""
        return self.transaction is not None and self.transaction.handle in self.manager.open_transactions


class TransactionArguments:
    """Reads Transaction arguments."""

    def __init__(self, manager: Manager) -> None:
        """Work for this queue manager."""
        self.manager = manager

    def unit(self, given: Variant) -> Unit:
        """Return the unit of work that an argument means. Raises MqError for one that means none."""
        if given.left_out:
            return self.numbered(self.default())
        if given.vt == "DISPATCH":
            if given.value is None:
                return Unit(self.manager, None)
            return Unit(self.manager, self.enlisted(given.value))
        if given.vt == "I4":
            return self.numbered(int(given.value))
        raise MqError(E_INVALIDARG)

    def default(self) -> int:
        """Return the value of an argument that is left out."""
        return MTS

    def numbered(self, number: int) -> Unit:
        """Return the unit of work of an MQTRANSACTION. There is no COM+ context, so MTS and XA mean none."""
        if number == SINGLE_MESSAGE:
            return Unit(self.manager, self.manager.transactions.begin(), own=True)
        if number not in (NO_TRANSACTION, MTS, XA):
            raise MqError(E_INVALIDARG)
        return Unit(self.manager, None)

    def enlisted(self, given: object) -> Transaction:
        """Return the transaction of an MSMQTransaction; one that is empty or has ended is refused."""
        if not isinstance(given, TransactionObject) or given.attached is None:
            raise MqError(E_INVALIDARG)
        if given.attached.completed:
            raise MqError(MQ_ERROR_TRANSACTION_USAGE)
        return self.manager.transaction(given.attached.transaction.handle)
