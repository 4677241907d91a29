"""Dispensers of transactions, MSMQTransaction, TransactionImpl, and the Transaction argument (MC-MQAC 3.6 to 3.9)."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from conformance.embedded.entities import MqError, Transaction
from conformance.embedded.objects.variants import (
    ANY,
    E_INVALIDARG,
    EMPTY,
    GET,
    METHOD,
    OPTIONAL,
    XACT_E_NOTSUPPORTED,
    ComObject,
    Variant,
    as_flag,
    as_integer,
    data,
    member,
)
from conformance.spec.constants.hresults import MQ_ERROR_TRANSACTION_SEQUENCE, MQ_ERROR_TRANSACTION_USAGE

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

XACTTC_SYNC = 2
_POINTERS = ("UNKNOWN", "DISPATCH", "I4", "I8")


class Authority(Protocol):
    """Whoever ends transactions. Its methods raise MqError."""

    def commit(self, transaction: Transaction) -> None:
        """Commit."""

    def abort(self, transaction: Transaction) -> None:
        """Abort."""


class TransactionImpl(ComObject):
    """An internal transaction (3.8). It has no IDispatch: only its GetTransactionInfo can be called."""

    CLASS = "TransactionImpl"
    INTERFACES = ("ITransaction",)
    NOT_IMPLEMENTED: ClassVar[tuple[tuple[str, str], ...]] = ()
    DISPATCHES: ClassVar[bool] = False

    def __init__(self, manager: Manager) -> None:
        """Create the transaction of the queue manager."""
        super().__init__(manager)
        self.transaction: Transaction = self.create()
        self.completed = False
        self._identifier = ""

    def create(self) -> Transaction:
        """Create Transaction (MS-MQDMPR 3.1.7.1.8)."""
        return self.manager.transactions.begin()

    def commit(self, retaining: bool, flags: int, resource_flags: int) -> None:
        """Commit (3.8.4.1.1). Raises MqError; a bad argument is told of a completed transaction too."""
        self.check_commit(retaining, flags, resource_flags)
        self.check_pending()
        self.finish(self.authority().commit)

    def abort(self, retaining: bool, asynchronous: bool) -> None:
        """Abort (3.8.4.1.2)."""
        self.check_abort(retaining, asynchronous)
        self.check_pending()
        self.finish(self.authority().abort)

    @member(METHOD, "GetTransactionInfo")
    def information(self) -> Variant:
        """Return XACTTRANSINFO (3.8.4.1.3, 2.2.3.2): 40 bytes."""
        uow = uuid.UUID(self.identifier()).bytes_le
        return data(uow + struct.pack("<iIIIII", *self.members()))

    def authority(self) -> Authority:
        """Return whoever ends the transaction."""
        return self.manager.transactions

    def identifier(self) -> str:
        """Return the TransactionIdentifier, made when somebody asks for it."""
        self._identifier = self._identifier or self.manager.new_identifier()
        return self._identifier

    def members(self) -> tuple[int, ...]:
        """Return the members of XACTTRANSINFO behind uow, which are 0 (3.8.4.1.3)."""
        return (0,) * 6

    def finish(self, end: Callable[[Transaction], None]) -> None:
        """Raise the event that ends the transaction. Raises MqError if the queue manager refuses it."""
        end(self.pending())
        self.completed = True

    def pending(self) -> Transaction:
        """Return the transaction. Raises MqError if the queue manager has none."""
        return self.manager.transaction(self.transaction.handle)

    def check_commit(self, retaining: bool, flags: int, resource_flags: int) -> None:
        """Refuse what an internal transaction does not support."""
        if resource_flags != 0 or retaining or flags != XACTTC_SYNC:
            raise MqError(XACT_E_NOTSUPPORTED)

    def check_abort(self, retaining: bool, asynchronous: bool) -> None:
        """Refuse what an internal transaction does not support."""
        if retaining or asynchronous:
            raise MqError(XACT_E_NOTSUPPORTED)

    def check_pending(self) -> None:
        """Refuse a transaction that has ended."""
        if self.completed:
            raise MqError(MQ_ERROR_TRANSACTION_SEQUENCE)


class ExternalTransaction(TransactionImpl):
    """A transaction of the coordinator, which is asked for its end and takes every argument."""

    def create(self) -> Transaction:
        """Begin a transaction of the coordinator, and create it here (3.7.4.1.1). Raises MqError."""
        return self.manager.coordination.create(self.manager.coordinator.begin())

    def identifier(self) -> str:
        """Return what the coordinator calls it."""
        return str(self.transaction.identifier)

    def members(self) -> tuple[int, ...]:
        """Ask the coordinator. What 2.2.3.2 reserves is 0 all the same."""
        told = self.manager.coordinator.information(self.transaction)
        return (*told[:3], 0, 0, 0)

    def authority(self) -> Authority:
        """Leave it to the coordinator."""
        return self.manager.coordinator

    def pending(self) -> Transaction:
        """Return it, whether or not the coordinator has ended it."""
        return self.transaction

    def check_commit(self, retaining: bool, flags: int, resource_flags: int) -> None:
        """Take whatever the coordinator is asked for."""

    def check_abort(self, retaining: bool, asynchronous: bool) -> None:
        """Take whatever the coordinator is asked for."""

    def check_pending(self) -> None:
        """Leave it to the coordinator."""


class TransactionObject(ComObject):
    """MSMQTransaction (3.9): empty until it is attached to a transaction."""

    CLASS = "MSMQTransaction"
    INTERFACES = ("IMSMQTransaction3", "IMSMQTransaction2", "IMSMQTransaction")
    NOT_IMPLEMENTED = ((GET, "Properties"), (GET, "Transaction"))

    def __init__(self, manager: Manager, attached: TransactionImpl | None = None) -> None:
        """Make an empty object, or one for a transaction."""
        super().__init__(manager)
        self.attached = attached

    @member(METHOD, "Commit", fRetaining=OPTIONAL, grfTC=OPTIONAL, grfRM=OPTIONAL)
    def commit(self, retaining: Variant, flags: Variant, resource_flags: Variant) -> None:
        """Commit (3.9.4.1.2)."""
        attached = self.needed()
        attached.commit(self.retaining(retaining), self.commit_flags(flags), self.resource_flags(resource_flags))

    @member(METHOD, "Abort", fRetaining=OPTIONAL, fAsync=OPTIONAL)
    def abort(self, retaining: Variant, asynchronous: Variant) -> None:
        """Abort (3.9.4.1.3)."""
        attached = self.needed()
        attached.abort(self.retaining(retaining), self.asynchronous(asynchronous))

    @member(METHOD, "InitNew", varTransaction=ANY)
    def init_new(self, given: Variant) -> None:
        """Attach an existing transaction (3.9.4.2.1)."""
        if self.attached is not None:
            raise MqError(MQ_ERROR_TRANSACTION_USAGE)
        if given.vt not in _POINTERS:
            raise MqError(E_INVALIDARG)
        self.attached = self.implementation(given.value)

    def implementation(self, given: Any) -> TransactionImpl:
        """Return the transaction that implements ITransaction. A number is no pointer that this process gave."""
        if not isinstance(given, TransactionImpl):
            raise MqError(E_INVALIDARG)
        return given

    @member(GET, "ITransaction")
    def itransaction(self) -> Variant:
        """Return the transaction, VT_EMPTY while there is none (3.9.4.3.1)."""
        return EMPTY if self.attached is None else Variant("UNKNOWN", self.attached)

    def needed(self) -> TransactionImpl:
        """Return the attached transaction. Raises MqError(E_INVALIDARG) if there is none."""
        if self.attached is None:
            raise MqError(E_INVALIDARG)
        return self.attached

    def retaining(self, given: Variant) -> bool:
        """Return fRetaining, False if it is left out."""
        return False if given.left_out else as_flag(given)

    def asynchronous(self, given: Variant) -> bool:
        """Return fAsync, False if it is left out."""
        return False if given.left_out else as_flag(given)

    def commit_flags(self, given: Variant) -> int:
        """Return grfTC, XACTTC_SYNC if it is left out."""
        return XACTTC_SYNC if given.left_out else as_integer(given)

    def resource_flags(self, given: Variant) -> int:
        """Return grfRM, 0 if it is left out."""
        return 0 if given.left_out else as_integer(given)


class DispenserObject(ComObject):
    """MSMQTransactionDispenser (3.6), which has no state."""

    CLASS = "MSMQTransactionDispenser"
    INTERFACES = ("IMSMQTransactionDispenser3", "IMSMQTransactionDispenser2", "IMSMQTransactionDispenser")

    @member(METHOD, "BeginTransaction")
    def begin(self) -> Variant:
        """Begin an internal transaction (3.6.4.1.1)."""
        parts = self.manager.parts
        return Variant(
            "DISPATCH", parts.transaction_object(self.manager, parts.transaction_implementation(self.manager))
        )


class CoordinatedDispenserObject(ComObject):
    """MSMQCoordinatedTransactionDispenser (3.7), which has no state."""

    CLASS = "MSMQCoordinatedTransactionDispenser"
    INTERFACES = (
        "IMSMQCoordinatedTransactionDispenser3",
        "IMSMQCoordinatedTransactionDispenser2",
        "IMSMQCoordinatedTransactionDispenser",
    )

    @member(METHOD, "BeginTransaction")
    def begin(self) -> Variant:
        """Begin an external transaction (3.7.4.1.1)."""
        parts = self.manager.parts
        return Variant("DISPATCH", parts.transaction_object(self.manager, parts.external_transaction(self.manager)))


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
        """Return the unit of work of an MQTRANSACTION: MTS and XA mean the context of the caller, if it has one."""
        if number == SINGLE_MESSAGE:
            return Unit(self.manager, self.manager.transactions.begin(), own=True)
        if number not in (NO_TRANSACTION, MTS, XA):
            raise MqError(E_INVALIDARG)
        context = self.manager.coordinator.context
        if number == NO_TRANSACTION or context is None:
            return Unit(self.manager, None)
        return Unit(self.manager, self.manager.coordination.enlist(context))

    def enlisted(self, given: object) -> Transaction:
        """Return the transaction of an MSMQTransaction; one that is empty or has ended is refused."""
        if not isinstance(given, TransactionObject) or given.attached is None:
            raise MqError(E_INVALIDARG)
        if given.attached.completed:
            raise MqError(MQ_ERROR_TRANSACTION_USAGE)
        return self.manager.transaction(given.attached.transaction.handle)
