"""A fault of the identifiers that transactions are given (MS-MQDMPR 3.1.1.14)."""

from __future__ import annotations

from conformance.embedded.entities import Transaction
from conformance.embedded.faults.base import Fault
from conformance.embedded.transactions import Transactions


class _OneTransaction(Transactions):
    def begin(self) -> Transaction:
        present = self.manager.open_transactions
        return next(iter(present.values())) if present else super().begin()


class TransactionsShareAnIdentifier(Fault):
    """A transaction that begins while another is open has the other's identifier."""

    name = "transactions-share-an-identifier"
    breaks = ("MQDMPR-3.1.1.14.identifier-unique",)
    replaces = ("transactions", _OneTransaction)
