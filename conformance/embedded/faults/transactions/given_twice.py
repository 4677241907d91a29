"""A fault of the identifiers that transactions are given (MS-MQDMPR 3.1.1.14)."""

from __future__ import annotations

from conformance.embedded.faults.base import fault
from conformance.embedded.transactions import Transactions


@fault("transactions-share-an-identifier", Transactions.begin, "MQDMPR-3.1.1.14.identifier-unique")
def transactions_share_an_identifier(plain, self):
    """A transaction that begins while another is open has the other's identifier."""
    present = self.manager.open_transactions
    return next(iter(present.values())) if present else plain()
