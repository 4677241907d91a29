"""Faults of transaction objects, and of the argument Transaction (MC-MQAC 3.6, 3.8, 3.9)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.entities import MqError, Transaction
from conformance.embedded.faults.base import Fault, fault
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.queue_reads import Perform
from conformance.embedded.objects.transaction_argument import TransactionArguments, Unit
from conformance.embedded.objects.transactions import DispenserObject, TransactionImpl, TransactionObject
from conformance.embedded.objects.variants import EMPTY, Variant
from conformance.spec.constants.hresults import MQ_ERROR_TRANSACTION_SEQUENCE, MQ_ERROR_TRANSACTION_USAGE

_COMMIT, _ABORT = "MQAC-3.8.4.1.1.", "MQAC-3.8.4.1.2."


def _implements(name: str, story: str, breaks: tuple[str, ...], **methods: Any) -> None:
    deviating = type("_Deviating", (TransactionImpl,), methods)
    fault(__name__, name, story, breaks, ("transaction_implementation", deviating))


def _objects(name: str, story: str, breaks: tuple[str, ...], **methods: Any) -> None:
    deviating = type("_Deviating", (TransactionObject,), methods)
    fault(__name__, name, story, breaks, ("transaction_object", deviating))


def _nothing(self: Any, *given: Any) -> None:
    return


def _with_code(check: str, status: int) -> Any:
    def refuse(self: Any, *given: Any) -> None:
        try:
            getattr(TransactionImpl, check)(self, *given)
        except MqError:
            raise MqError(status) from None

    return refuse


def _pending_first(end: str, check: str) -> Any:
    def perform(self: Any, *given: Any) -> None:
        self.check_pending()
        getattr(TransactionImpl, end)(self, *given)

    return perform


_UNSUPPORTED = (_COMMIT + "return-xact-e-notsupported", _COMMIT + "input-grf-rm-f-retaining")
_UNSUPPORTED_ABORT = (_ABORT + "return-xact-e-notsupported", _ABORT + "input-f-retaining-f-async-parameter")
_implements("commit-supports-everything", "Commit ignores its arguments.", _UNSUPPORTED, check_commit=_nothing)
_implements("abort-supports-everything", "Abort ignores its arguments.", _UNSUPPORTED_ABORT, check_abort=_nothing)
_implements(
    "commit-refuses-with-another-code", "Commit refuses what it does not support with E_INVALIDARG.", _UNSUPPORTED[:1],
    check_commit=_with_code("check_commit", E_INVALIDARG),
)  # fmt: skip
_implements(
    "abort-refuses-with-another-code", "Abort refuses what it does not support with E_INVALIDARG.",
    _UNSUPPORTED_ABORT[:1], check_abort=_with_code("check_abort", E_INVALIDARG),
)  # fmt: skip
_implements(
    "ended-transaction-has-another-code", "The end of an ended transaction answers that its use is wrong.",
    (_COMMIT + "return-mq-error-transaction-sequence", _ABORT + "return-mq-error-transaction-sequence"),
    check_pending=_with_code("check_pending", MQ_ERROR_TRANSACTION_USAGE),
)  # fmt: skip
_implements(
    "commit-looks-at-the-end-first", "A wrong argument on an ended transaction answers that it has ended.",
    _UNSUPPORTED, commit=_pending_first("commit", "check_commit"),
)  # fmt: skip
_implements(
    "abort-looks-at-the-end-first", "A wrong argument on an ended transaction answers that it has ended.",
    _UNSUPPORTED_ABORT, abort=_pending_first("abort", "check_abort"),
)  # fmt: skip


def _forgiving(end: str) -> Any:
    def perform(self: Any, *given: Any) -> None:
        try:
            getattr(TransactionImpl, end)(self, *given)
        except MqError as failure:
            if failure.status != MQ_ERROR_TRANSACTION_SEQUENCE:
                raise

    return perform


_implements(
    "second-commit-succeeds", "Commit of an ended transaction answers success.",
    (_COMMIT + "variable-is-committedor-aborted-true-precondition", _COMMIT + "return-mq-error-transaction-sequence"),
    commit=_forgiving("commit"),
)  # fmt: skip
_implements(
    "second-abort-succeeds", "Abort of an ended transaction answers success.",
    (_ABORT + "variable-is-committedor-aborted-true-precondition", _ABORT + "return-mq-error-transaction-sequence"),
    abort=_forgiving("abort"),
)  # fmt: skip


def _ends_by(check: str, end: str) -> Any:
    def perform(self: Any, *given: Any) -> None:
        getattr(self, check)(*given)
        self.check_pending()
        getattr(self.manager.transactions, end)(self.manager.transaction(self.transaction.handle))
        self.completed = True

    return perform


_implements(
    "commit-object-aborts", "Commit of an object aborts.",
    (
        _COMMIT + "generate-transaction-commit-inputs",
        "MQAC-3.9.4.1.2.purpose",
        "MQAC-3.9.4.1.2.commit-i-transaction-f-retaining",
    ),
    commit=_ends_by("check_commit", "abort"),
)  # fmt: skip
_implements(
    "abort-object-commits", "Abort of an object commits.",
    (
        _ABORT + "generate-transaction-abort-inputs",
        "MQAC-3.9.4.1.3.purpose",
        "MQAC-3.9.4.1.3.abort-i-transaction-invoking",
    ),
    abort=_ends_by("check_abort", "commit"),
)  # fmt: skip


def _default(attribute: str, value: Any) -> Any:
    def read(self: Any, given: Variant) -> Any:
        return value if given.left_out else getattr(TransactionObject, attribute)(self, given)

    return read


for _name, _attribute, _value, _ids in (
    (
        "retains-by-default",
        "retaining",
        True,
        ("MQAC-3.9.4.1.2.f-retaining-default", "MQAC-3.9.4.1.3.f-retaining-default"),
    ),
    ("aborts-later-by-default", "asynchronous", True, ("MQAC-3.9.4.1.3.f-async-default",)),
    ("commits-as-none-by-default", "commit_flags", 0, ("MQAC-3.9.4.1.2.grf-tc-default",)),
    ("has-resources-by-default", "resource_flags", 1, ("MQAC-3.9.4.1.2.grf-rm-default",)),
):
    _objects(
        f"transaction-{_name}", f"An argument that is left out is {_value!r}.", _ids,
        **{_attribute: _default(_attribute, _value)},
    )  # fmt: skip


class _Relaxed(TransactionObject):
    def init_new(self, given: Variant) -> None:
        self.attached = None
        super().init_new(given)


class InitNewAttachesAgain(Fault):
    """InitNew of an attached object attaches another transaction."""

    name = "init-new-attaches-again"
    breaks = (
        "MQAC-3.9.4.2.1.variable-transaction-null",
        "MQAC-3.9.4.2.1.return-mq-error-transaction-usage",
    )
    replaces = ("transaction_object", _Relaxed)


class _TypeFirst(TransactionObject):
    def init_new(self, given: Variant) -> None:
        if given.vt not in ("UNKNOWN", "DISPATCH", "I4", "I8"):
            raise MqError(E_INVALIDARG)
        super().init_new(given)


class InitNewLooksAtTheTypeFirst(Fault):
    """InitNew of an attached object refuses a wrong type with E_INVALIDARG."""

    name = "init-new-looks-at-the-type-first"
    breaks = (
        "MQAC-3.9.4.2.1.return-mq-error-transaction-usage",
        "MQAC-3.9.4.2.1.variable-transaction-null",
    )
    replaces = ("transaction_object", _TypeFirst)


class _Trusting(TransactionObject):
    def init_new(self, given: Variant) -> None:
        try:
            super().init_new(given)
        except MqError as failure:
            if failure.status != E_INVALIDARG:
                raise
            self.attached = self.manager.parts.transaction_implementation(self.manager)


class InitNewAttachesAnything(Fault):
    """InitNew makes a transaction of whatever it is given."""

    name = "init-new-attaches-anything"
    breaks = (
        "MQAC-3.9.4.2.1.return-e-invalidarg",
        "MQAC-3.9.4.2.1.return-e-invalidarg-0x80070057-var-transaction",
        "MQAC-3.9.4.2.1.var-transaction-vt-vt-i8-vt-byref",
    )
    replaces = ("transaction_object", _Trusting)


class _Unattached(TransactionObject):
    def init_new(self, given: Variant) -> None:
        super().init_new(given)
        self.attached = None


class InitNewAttachesNothing(Fault):
    """InitNew succeeds, and the object stays empty."""

    name = "init-new-attaches-nothing"
    breaks = ("MQAC-3.9.4.2.1.variable-transaction-object-previously", "MQAC-3.9.4.2.1.purpose")
    replaces = ("transaction_object", _Unattached)


class _Other(TransactionObject):
    def needed(self) -> TransactionImpl:
        if self.attached is None:
            raise MqError(MQ_ERROR_TRANSACTION_SEQUENCE)
        return self.attached


class EmptyTransactionHasAnotherCode(Fault):
    """The end of an empty object answers that the transaction has ended."""

    name = "empty-transaction-has-another-code"
    breaks = ("MQAC-3.9.4.1.2.return-e-invalidarg", "MQAC-3.9.4.1.3.return-e-invalidarg")
    replaces = ("transaction_object", _Other)


class _Self(TransactionObject):
    def itransaction(self) -> Variant:
        return EMPTY


class ITransactionIsEmpty(Fault):
    """ITransaction of an attached object is VT_EMPTY."""

    name = "itransaction-is-empty"
    breaks = ("MQAC-3.9.4.3.1.return-values-output-pvar-i-transaction",)
    replaces = ("transaction_object", _Self)


class _Vacant(DispenserObject):
    def begin(self) -> Variant:
        return Variant("DISPATCH", self.manager.parts.transaction_object(self.manager))


class DispenserGivesAnEmptyTransaction(Fault):
    """BeginTransaction gives an object without a transaction."""

    name = "dispenser-gives-an-empty-transaction"
    breaks = (
        "MQAC-3.6.4.1.1.create-msmq-transaction-co-class-transaction",
        "MQAC-3.6.4.1.1.purpose",
    )
    replaces = ("transaction_dispenser", _Vacant)


class _Lenient(TransactionArguments):
    def unit(self, given: Variant) -> Unit:
        try:
            return super().unit(given)
        except MqError:
            return Unit(self.manager, None)


class _LenientRead(Perform):
    def unit(self) -> Unit:
        return _Lenient(self.manager).unit(self.asked.named("Transaction"))


class ReadTakesAnyTransaction(Fault):
    """What is no transaction is taken for none, in receives."""

    name = "read-takes-any-transaction"
    breaks = (
        "MQAC-3.11.4.1.14.return-error",
        "MQAC-3.11.4.1.16.return-error",
        "MQAC-3.11.4.1.21.return-error",
        "MQAC-3.11.4.1.7.return-error",
        "MQAC-3.11.4.1.24.return-error",
    )
    replaces = ("queue_reads", _LenientRead)


class _Outside(TransactionArguments):
    def enlisted(self, given: object) -> Transaction:
        super().enlisted(given)
        return self.manager.transactions.begin()


class _OutsideRead(Perform):
    def unit(self) -> Unit:
        found = _Outside(self.manager).unit(self.asked.named("Transaction"))
        found.own = True
        return found


class ReadLeavesTheTransaction(Fault):
    """A message received in a transaction is gone at once."""

    name = "read-leaves-the-transaction"
    breaks = (
        "MQAC-3.11.4.1.14.add-transactional-operation-transactional",
        "MQAC-3.11.4.1.14.state-suitable-message-property",
        "MQAC-3.11.4.1.24.add-transactional-operation-transactional",
        "MQAC-3.11.4.1.21.define-transaction-identifier",
        "MQAC-3.11.4.1.14.define-transaction-identifier",
    )
    replaces = ("queue_reads", _OutsideRead)
