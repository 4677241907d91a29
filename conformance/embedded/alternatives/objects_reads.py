"""Alternatives of readings about reads, and the transactions they are part of (MC-MQAC 3.11.4.1, 3.17.4.1.48)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.embedded.alternatives.base import follows
from conformance.embedded.entities import MqError, Transaction
from conformance.embedded.objects.dispatch import GET, PUT, PUTREF
from conformance.embedded.objects.message import MessageObject
from conformance.embedded.objects.queue_reads import Asked, Perform
from conformance.embedded.objects.transaction_argument import TransactionArguments, Unit
from conformance.embedded.objects.transactions import TransactionImpl, TransactionObject
from conformance.embedded.objects.variants import Variant
from conformance.embedded.receiving import Caller
from conformance.spec.constants.hresults import (
    MQ_ERROR_IO_TIMEOUT,
    MQ_ERROR_PROPERTY,
    MQ_ERROR_TRANSACTION_SEQUENCE,
)

Json = Any


@follows("R-MQAC-read-timeout=error", "queue_reads")
class _Fails(Perform):
    """A read that finds no message in time fails."""

    def timed_out(self, status: int) -> dict[str, Json]:
        return {"status": self.nothing_came()}

    def not_found(self, failure: MqError) -> Variant | None:
        if not self.read.seek:
            raise MqError(self.nothing_came())
        return super().not_found(failure)

    def nothing_came(self) -> int:
        """Return the status of a read whose time is over."""
        return self.nothing_found() if self.asked.timeout_ms == 0 else MQ_ERROR_IO_TIMEOUT


@follows("R-MQAC-property-not-wanted=fails", "message_object")
class _Lacks(MessageObject):
    """The getter of a property that was not wanted fails, until the property is put or the message is sent."""

    lacking: frozenset[str] = frozenset()

    def wanted(self, asked: Asked) -> None:
        super().wanted(asked)
        asks = {"body": asked.body, "destinationqueueinfo": asked.destination, "connectortypeguid": asked.connector}
        self.lacking = frozenset(name for name, is_wanted in asks.items() if not is_wanted)

    def invoke(self, name: str, kind: str, given: list[Variant], caller: Caller | None) -> Variant | None:
        if kind == GET and name.lower() in self.lacking:
            raise MqError(MQ_ERROR_PROPERTY)
        found = super().invoke(name, kind, given, caller)
        sets = {"send": "destinationqueueinfo"}.get(name.lower(), name.lower() if kind in (PUT, PUTREF) else "")
        self.lacking -= {sets}
        return found


@follows("R-MQAC-ended-transaction=new", TransactionArguments.enlisted)
def mqac_ended_transaction_new(plain, self, given):
    """A transaction that has ended is created anew under its identifier."""
    if not isinstance(given, TransactionObject) or given.attached is None or not given.attached.completed:
        return plain(given)
    handle = given.attached.transaction.handle
    return self.manager.open_transactions.setdefault(handle, Transaction(handle))


@follows("R-MQAC-ended-transaction=new", "transaction_implementation", "external_transaction")
class _EndsOnce(TransactionImpl):
    """The object of a transaction that has ended does not end the new one."""

    def finish(self, end: Callable[[Transaction], None]) -> None:
        if self.completed:
            raise MqError(MQ_ERROR_TRANSACTION_SEQUENCE)
        super().finish(end)


@follows("R-MQAC-empty-transaction=none", TransactionArguments.unit)
def mqac_empty_transaction_none(plain, self, given):
    """An MSMQTransaction that has no transaction means none."""
    empty = isinstance(given.value, TransactionObject) and given.value.attached is None
    return Unit(self.manager, None) if given.vt == "DISPATCH" and empty else plain(given)
