"""Faults of objects in transactions of a coordinator (MC-MQAC 2.2.2.1, 3.7, 3.8, 3.11, 3.17.4.1.48)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from conformance.embedded.coordination import ABORTED, Coordination
from conformance.embedded.coordinator import INFORMATION, XACT_E_NOTRANSACTION
from conformance.embedded.entities import MqError, Transaction
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.objects.message import MessageSending
from conformance.embedded.objects.queue import Perform
from conformance.embedded.objects.transactions import (
    MTS,
    SINGLE_MESSAGE,
    XA,
    ExternalTransaction,
    TransactionArguments,
    TransactionObject,
    Unit,
)
from conformance.embedded.objects.variants import E_FAIL, E_INVALIDARG, EMPTY, data
from conformance.spec.constants.hresults import (
    MQ_ERROR_DTC_CONNECT,
    MQ_ERROR_TRANSACTION_ENLIST,
    MQ_ERROR_TRANSACTION_IMPORT,
)

_BEGIN, _COMMIT, _ABORT, _INFO = (f"MQAC-{one}." for one in ("3.7.4.1.1", "3.8.4.1.1", "3.8.4.1.2", "3.8.4.1.3"))
_ASKS: Final = {"commit": _COMMIT + "send-commit-request-transaction",
                "abort": _ABORT + "send-transaction-manager-queue-managers"}  # fmt: skip
_FAILS: Final = {"commit": _COMMIT + "errors-generated-distributed-transaction",
                 "abort": _ABORT + "errors-generated-distributed-transaction"}  # fmt: skip
_NUMBERS: Final = (*INFORMATION.values(), 0, 0, 0)

_external = partial(row, __name__, "external_transaction")
_internal = partial(row, __name__, "transaction_implementation")


# Begin.


def _begun_where(refusal: int) -> Any:
    """Begin although the coordinator refuses so."""

    def create(self: ExternalTransaction) -> Transaction:
        try:
            return ExternalTransaction.create(self)
        except MqError as failure:
            if failure.status != refusal:
                raise
        return _begun_alone(self)

    return create


def _begun_alone(self: ExternalTransaction) -> Transaction:
    return self.manager.coordination.create(self.manager.new_identifier())


def _begun_twice(self: ExternalTransaction) -> Transaction:
    self.manager.coordinator.begin()
    return ExternalTransaction.create(self)


def _begun_apart(self: ExternalTransaction) -> Transaction:
    self.manager.coordinator.begin()
    return _begun_alone(self)


def _unknown(self: ExternalTransaction) -> Transaction:
    made = self.manager.transactions.begin()
    made.identifier = self.manager.coordinator.begin()
    return made


_external("begin-without-a-coordinator-succeeds", "BeginTransaction succeeds though nobody can reach the coordinator.",
          (_BEGIN + "status",), create=_begun_where(MQ_ERROR_DTC_CONNECT))  # fmt: skip
_external("refused-begin-succeeds", "BeginTransaction succeeds though the coordinator refuses it.",
          (_BEGIN + "status",), create=_begun_where(E_FAIL))  # fmt: skip
_external("begin-asks-nobody", "BeginTransaction does not ask the coordinator.",
          (_BEGIN + "initiate-transaction-manager-new", _BEGIN + "retrieve-transaction-object-transaction-impl",
           _BEGIN + "status"), create=_begun_alone)  # fmt: skip
_external("begin-asks-twice", "BeginTransaction begins two transactions of the coordinator and gives one.",
          (_BEGIN + "initiate-transaction-manager-new",), create=_begun_twice)  # fmt: skip
_external("begun-transaction-has-an-identifier-of-its-own", "A transaction has another GUID than the coordinator gave.",
          (_BEGIN + "retrieve-transaction-object-transaction-impl",
           _BEGIN + "generate-create-transaction-inputs"), create=_begun_apart)  # fmt: skip
_external("begun-transaction-is-unknown-to-the-manager", "The manager takes no part in a transaction that was begun.",
          (_BEGIN + "generate-create-transaction-inputs",), create=_unknown)  # fmt: skip


@fault("itransaction-of-a-coordinator-is-empty", TransactionObject.itransaction,
       _BEGIN + "create-msmq-transaction-coclass")  # fmt: skip
def itransaction_of_a_coordinator_is_empty(plain, self):
    """ITransaction of a coordinated transaction is VT_EMPTY."""
    return EMPTY if isinstance(self.attached, ExternalTransaction) else plain()


@fault("coordinated-transaction-lacks-its-interface", "transaction_object.interfaces",
       _BEGIN + "invoke-i-unknown-query-interface")  # fmt: skip
def coordinated_transaction_lacks_its_interface(plain, self):
    """A coordinated transaction does not know IMSMQTransaction3."""
    return plain()[1:] if isinstance(self.attached, ExternalTransaction) else plain()


# The end.


def _unasked(end: str) -> Any:
    def perform(self: Any, *given: Any) -> None:
        coordination, identifier = self.manager.coordination, self.identifier()
        if identifier not in coordination._known:
            raise MqError(XACT_E_NOTRANSACTION)
        self.manager.coordinator.ended(identifier, ABORTED)
        coordination.prepare(identifier, single_phase=True) if end == "commit" else coordination.abort(identifier)

    return perform


def _where_refused(end: str, again: bool, acts: bool, fails: bool) -> Any:
    """Deviate where the coordinator refuses; `again`: because the transaction has ended."""

    def perform(self: Any, *given: Any) -> None:
        try:
            getattr(ExternalTransaction, end)(self, *given)
        except MqError:
            lives = self.identifier() in self.manager.coordination._known
            if acts and lives:
                _unasked(end)(self)
            if fails or lives is again:
                raise

    return perform


_external("coordinated-ends-ask-nobody", "Commit and Abort of a coordinated transaction do not ask the coordinator.",
          (_BEGIN + "variable-is-internal-created-transaction", *_ASKS.values(), *_FAILS.values()),
          commit=_unasked("commit"), abort=_unasked("abort"))  # fmt: skip
for _end in ("commit", "abort"):
    _external(f"coordinated-{_end}-asks-nobody", f"{_end.title()} of a coordinated transaction is done unasked.",
              (_ASKS[_end], _FAILS[_end]), **{_end: _unasked(_end)})  # fmt: skip
    for _name, _says, _more, _how in (
        (f"refused-{_end}-succeeds", "succeeds and does nothing where the coordinator refuses", (),
         (False, False, False)),
        (f"coordinated-{_end}-succeeds-again", "of what the coordinator has ended succeeds", (), (True, False, False)),
        (f"refused-{_end}-takes-effect", "that the coordinator refuses fails and ends the work", (_ASKS[_end],),
         (False, True, True)),
    ):  # fmt: skip
        _external(_name, f"{_end.title()} {_says}.", (_FAILS[_end], *_more), **{_end: _where_refused(_end, *_how)})


# GetTransactionInfo.


def _forgetting(self: Any) -> tuple[int, ...]:
    ExternalTransaction.members(self)
    return (0,) * 6


_external("information-asks-nobody", "GetTransactionInfo tells of a coordinated transaction without asking.",
          (_INFO + "send-transaction-manager-transaction-identifier",), members=lambda self: _NUMBERS)  # fmt: skip
_external("coordinated-information-is-0", "GetTransactionInfo tells zeros of a coordinated transaction.",
          (_INFO + "remaining-pinfo-properties-output-obtained",), members=_forgetting)  # fmt: skip
_internal("internal-information-is-not-0", "GetTransactionInfo tells numbers of an internal transaction.",
          (_INFO + "remaining-pinfo-properties-output-0",), members=lambda self: _NUMBERS)  # fmt: skip
for _kind, _part in (("coordinated", _external), ("internal", _internal)):
    _part(f"{_kind}-identifier-is-new-each-time", "GetTransactionInfo tells another GUID each time.",
          (_INFO + "uow-pinfo-transaction-after-variable-is-internal",),
          identifier=lambda self: self.manager.new_identifier())  # fmt: skip


def _of_information(name: str, says: str, change: Any) -> None:
    """Register a fault of what GetTransactionInfo gives, for either kind of transaction."""
    for kind, part in (("coordinated", "external_transaction"), ("internal", "transaction_implementation")):
        made = fault(f"{kind}-information-{name}", f"{part}.information", _INFO + "status", says=says)
        made(lambda plain, self, change=change: change(plain()))


def _refusing(given: Any) -> Any:
    raise MqError(E_FAIL)


_of_information("is-short", "XACTTRANSINFO has 36 bytes.", lambda given: data(given.value[:-4]))
_of_information("fails", "GetTransactionInfo fails.", _refusing)


# The Transaction argument of reads and of Send.

_CREATES: Final = "create-transaction-identifier-transaction-identifier"
_MEMBERS: Final = (
    ("Receive_v1", 7, "create-queue-manager-transaction-collection-new"),
    ("ReceiveCurrent_v1", 11, "create-transaction-identifier-transaction"),
    ("Receive", 14, _CREATES), ("ReceiveCurrent", 16, _CREATES), ("ReceiveByLookupId", 21, _CREATES),
    ("ReceiveNextByLookupId", 22, _CREATES), ("ReceivePreviousByLookupId", 23, _CREATES),
    ("ReceiveFirstByLookupId", 24, _CREATES), ("ReceiveLastByLookupId", 25, _CREATES),
    ("ReceiveByLookupIdAllowPeek", 33, _CREATES),
)  # fmt: skip
"""Receives, with the number of their section and the word of the transaction that they create."""
_SEND: Final = "MQAC-3.17.4.1.48."


def _alone(manager: Any) -> Unit:
    return Unit(manager, None)


def _in_another(manager: Any) -> Unit:
    return Unit(manager, manager.transactions.begin())


def _refused(manager: Any) -> Unit:
    raise MqError(E_INVALIDARG)


def _at_once(manager: Any) -> Unit:
    return Unit(manager, manager.transactions.begin(), own=True)


def _elsewhere(part: Any, given: Any, known: bool | None, change: Any) -> Any:
    """Return `unit` of a part, with another unit of work for the numbers of the context.

    given: returns the argument Transaction of the part, None for another member. known: whether the manager is in the
    transaction of the context; None for either.
    """

    def unit(self: Any) -> Any:
        context, argument = self.manager.coordinator.context, given(self)
        numbered = argument is not None and argument.vt == "I4" and argument.value in (MTS, XA)
        if context and numbered and known in (None, context in self.manager.coordination._known):
            return change(self.manager)
        return part.unit(self)

    return unit


def _argument(name: str) -> Any:
    return lambda read: read.asked.named("Transaction") if read.read.name == name else None


_IDENTIFIED: Final = "define-transaction-identifier-retrieve"
for _name, _number, _created in _MEMBERS:
    _section = f"MQAC-3.11.4.1.{_number}."
    for _known, _change, _word, _says, _id in (
        (True, _alone, "leaves-a-known-context", "is done alone in a context that is known", _IDENTIFIED),
        (True, _in_another, "joins-another-than-its-context", "is done in another transaction", _IDENTIFIED),
        (False, _refused, "refuses-a-new-context", "is refused in a context that is unknown", _created),
        (False, _in_another, "has-another-new-context", "is done elsewhere in a context that is unknown", _created),
    ):  # fmt: skip
        row(__name__, "queue_reads", f"{kebab(_name)}-{_word}", f"{_name} with MTS or XA {_says}.", (_section + _id,),
            unit=_elsewhere(Perform, _argument(_name), _known, _change))  # fmt: skip


_DEFINED, _WITHIN, _CREATED = (
    _SEND + "define-transaction-identifier-transaction-retrieve",
    _SEND + "true-transactional-send-after-define-transaction-identifier",
    _SEND + "generate-create-transaction-inputs",
)
for _word, _there, _change, _id in (
    ("joins-another-than-its-context", None, _in_another, _DEFINED),
    ("refuses-its-context", None, _refused, _WITHIN),
    ("leaves-its-context", None, _at_once, _WITHIN),
    ("refuses-a-new-context", False, _refused, _CREATED),
    ("leaves-a-new-context", False, _at_once, _CREATED),
    ("has-another-new-context", False, _in_another, _CREATED),
):  # fmt: skip
    row(__name__, "message_sending", f"send-{_word}", f"Send with MTS or XA {_word.replace('-', ' ')}.", (_id,),
        unit=_elsewhere(MessageSending, lambda send: send.given, _there, _change))  # fmt: skip


def _context_first(fits: Any) -> Any:
    def unit(self: Any) -> Any:
        context = self.manager.coordinator.context
        if context is None or not fits(self.asked.named("Transaction")):
            return Perform.unit(self)
        return Unit(self.manager, self.manager.coordination.enlist(context))

    return unit


for _word, _fits in (
    ("an-object", lambda given: given.vt == "DISPATCH" and given.value is not None),
    ("a-single-message", lambda given: given.vt == "I4" and given.value == SINGLE_MESSAGE),
):
    row(__name__, "queue_reads", f"context-goes-before-{_word}", f"In a context, a receive with {_word} belongs to it.",
        ("MQAC-3.11.server-client-transaction-use",), unit=_context_first(_fits))  # fmt: skip


_PERFORMED: Final = "MQAC-2.2.2.1.mq-mts-transaction-operation-msdtc-performed"


@fault("refused-enlistment-is-no-matter", TransactionArguments.numbered, _PERFORMED)
def refused_enlistment_is_no_matter(plain, self, number):
    """With MTS or XA, what the coordinator does not let into its transaction is done alone."""
    try:
        return plain(number)
    except MqError as failure:
        if failure.status not in (MQ_ERROR_TRANSACTION_ENLIST, MQ_ERROR_TRANSACTION_IMPORT, MQ_ERROR_DTC_CONNECT):
            raise
        return Unit(self.manager, None)


@fault("mts-is-done-alone", TransactionArguments.numbered, _PERFORMED, "MQAC-2.2.2.1.mq-mts-transaction",
       "MQAC-3.11.4.1.7.define-transaction-identifier-retrieve")  # fmt: skip
def mts_is_done_alone(plain, self, number):
    """MQ_MTS_TRANSACTION means no transaction."""
    return Unit(self.manager, None) if number == MTS else plain(number)


_REFUSED: Final = "MQMP-3.1.4.13.failure"


@fault("refused-enlistment-succeeds", Coordination.enlist, _REFUSED, first_seen_as=(_PERFORMED,),
       because="an operation is done in the transaction to which the coordinator has not let the manager")  # fmt: skip
def refused_enlistment_succeeds(plain, self, identifier):
    """The manager takes part in a transaction though the coordinator refuses it."""
    try:
        return plain(identifier)
    except MqError:
        return self.create(identifier)


@fault("refused-enlistment-takes-part", Coordination.enlist, _REFUSED)
def refused_enlistment_takes_part(plain, self, identifier):
    """The manager takes part in a transaction though it answers that it does not."""
    try:
        return plain(identifier)
    except MqError:
        self.create(identifier)
        raise
