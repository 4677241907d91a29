"""Faults of transaction objects, and of the argument Transaction (MC-MQAC 3.6, 3.8, 3.9)."""

from __future__ import annotations

from functools import partial
from typing import Any

from conformance.embedded.entities import MqError, Transaction
from conformance.embedded.faults.base import fault, row
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.queue_reads import Perform
from conformance.embedded.objects.transaction_argument import TransactionArguments, Unit
from conformance.embedded.objects.transactions import DispenserObject, TransactionImpl, TransactionObject
from conformance.embedded.objects.variants import EMPTY, Variant
from conformance.spec.constants.hresults import MQ_ERROR_TRANSACTION_SEQUENCE, MQ_ERROR_TRANSACTION_USAGE

_COMMIT, _ABORT = "MQAC-3.8.4.1.1.", "MQAC-3.8.4.1.2."


_implements = partial(row, __name__, "transaction_implementation")


_objects = partial(row, __name__, "transaction_object")


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


@fault(
    "init-new-attaches-again", TransactionObject.init_new, "MQAC-3.9.4.2.1.variable-transaction-null",
    "MQAC-3.9.4.2.1.return-mq-error-transaction-usage",
)  # fmt: skip
def init_new_attaches_again(plain, self, given):
    """InitNew of an attached object attaches another transaction."""
    self.attached = None
    plain(given)


@fault(
    "init-new-looks-at-the-type-first", TransactionObject.init_new, "MQAC-3.9.4.2.1.return-mq-error-transaction-usage",
    "MQAC-3.9.4.2.1.variable-transaction-null",
)  # fmt: skip
def init_new_looks_at_the_type_first(plain, self, given):
    """InitNew of an attached object refuses a wrong type with E_INVALIDARG."""
    if given.vt not in ("UNKNOWN", "DISPATCH", "I4", "I8"):
        raise MqError(E_INVALIDARG)
    plain(given)


@fault(
    "init-new-attaches-anything", TransactionObject.init_new, "MQAC-3.9.4.2.1.return-e-invalidarg",
    "MQAC-3.9.4.2.1.return-e-invalidarg-0x80070057-var-transaction",
    "MQAC-3.9.4.2.1.var-transaction-vt-vt-i8-vt-byref",
)  # fmt: skip
def init_new_attaches_anything(plain, self, given):
    """InitNew makes a transaction of whatever it is given."""
    try:
        plain(given)
    except MqError as failure:
        if failure.status != E_INVALIDARG:
            raise
        self.attached = self.manager.parts.transaction_implementation(self.manager)


@fault(
    "init-new-attaches-nothing", TransactionObject.init_new, "MQAC-3.9.4.2.1.variable-transaction-object-previously",
    "MQAC-3.9.4.2.1.purpose",
)  # fmt: skip
def init_new_attaches_nothing(plain, self, given):
    """InitNew succeeds, and the object stays empty."""
    plain(given)
    self.attached = None


@fault(
    "empty-transaction-has-another-code", TransactionObject.needed, "MQAC-3.9.4.1.2.return-e-invalidarg",
    "MQAC-3.9.4.1.3.return-e-invalidarg",
)  # fmt: skip
def empty_transaction_has_another_code(plain, self):
    """The end of an empty object answers that the transaction has ended."""
    if self.attached is None:
        raise MqError(MQ_ERROR_TRANSACTION_SEQUENCE)
    return self.attached


@fault(
    "itransaction-is-empty", TransactionObject.itransaction, "MQAC-3.9.4.3.1.return-values-output-pvar-i-transaction"
)
def itransaction_is_empty(plain, self):
    """ITransaction of an attached object is VT_EMPTY."""
    return EMPTY


@fault(
    "dispenser-gives-an-empty-transaction", DispenserObject.begin,
    "MQAC-3.6.4.1.1.create-msmq-transaction-co-class-transaction", "MQAC-3.6.4.1.1.purpose",
)  # fmt: skip
def dispenser_gives_an_empty_transaction(plain, self):
    """BeginTransaction gives an object without a transaction."""
    return Variant("DISPATCH", self.manager.parts.transaction_object(self.manager))


class _Lenient(TransactionArguments):
    def unit(self, given: Variant) -> Unit:
        try:
            return super().unit(given)
        except MqError:
            return Unit(self.manager, None)


@fault(
    "read-takes-any-transaction", Perform.unit, "MQAC-3.11.4.1.14.return-error", "MQAC-3.11.4.1.16.return-error",
    "MQAC-3.11.4.1.21.return-error", "MQAC-3.11.4.1.7.return-error", "MQAC-3.11.4.1.24.return-error",
)  # fmt: skip
def read_takes_any_transaction(plain, self):
    """What is no transaction is taken for none, in receives."""
    return _Lenient(self.manager).unit(self.asked.named("Transaction"))


class _Outside(TransactionArguments):
    def enlisted(self, given: object) -> Transaction:
        super().enlisted(given)
        return self.manager.transactions.begin()


@fault(
    "read-leaves-the-transaction", Perform.unit, "MQAC-3.11.4.1.14.add-transactional-operation-transactional",
    "MQAC-3.11.4.1.14.state-suitable-message-property", "MQAC-3.11.4.1.24.add-transactional-operation-transactional",
    "MQAC-3.11.4.1.21.define-transaction-identifier", "MQAC-3.11.4.1.14.define-transaction-identifier",
)  # fmt: skip
def read_leaves_the_transaction(plain, self):
    """A message received in a transaction is gone at once."""
    found = _Outside(self.manager).unit(self.asked.named("Transaction"))
    found.own = True
    return found
