"""Faults of the objects of transactions (MC-MQAC 3.6 to 3.9)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from conformance.embedded.entities import MqError, Transaction
from conformance.embedded.faults.base import fault, row
from conformance.embedded.objects.events import EventObject
from conformance.embedded.objects.management import CollectionObject
from conformance.embedded.objects.queue import Perform
from conformance.embedded.objects.transactions import (
    CoordinatedDispenserObject,
    DispenserObject,
    TransactionArguments,
    TransactionImpl,
    TransactionObject,
    Unit,
)
from conformance.embedded.objects.variants import E_FAIL, E_INVALIDARG, E_NOINTERFACE, EMPTY, NOTHING, Variant, long
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
    """A receive takes a value that is no transaction for none."""
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


DISPENSERS: Final = (
    ("transaction_dispenser", DispenserObject, "dispenser", "3.6.4.1.1."),
    ("coordinated_dispenser", CoordinatedDispenserObject, "coordinated-dispenser", "3.7.4.1.1."),
)

_part = partial(row, __name__)


# Dispensers.
def _begun(base: Any, change: Any) -> Any:
    return {"begin": lambda self: change(self, base.begin(self))}


def _do_nothing(self: Any, begun: Variant) -> Variant:
    return NOTHING


def _bare(self: Any, begun: Variant) -> Variant:
    return Variant("UNKNOWN", begun.value.attached)


def _failing(self: Any, begun: Variant) -> Variant:
    raise MqError(E_FAIL)


def _ended(self: Any, begun: Variant) -> Variant:
    begun.value.abort(Variant("BOOL", False), Variant("BOOL", False))
    return begun


def _empty(self: Any, begun: Variant) -> Variant:
    return Variant("DISPATCH", self.manager.parts.transaction_object(self.manager))


for _where, _base, _word, _section in DISPENSERS:
    _gives = _section + "output-ptransaction-imsmq-transaction3-variable"
    _part(_where, f"{_word}-gives-nothing", "BeginTransaction gives NULL.", (_gives,),
          **_begun(_base, _do_nothing))  # fmt: skip
    _part(_where, f"{_word}-gives-the-transaction-itself", "BeginTransaction gives an object without "
          "IDispatch.", (_section + "invoke-i-unknown-query-interface", _gives), **_begun(_base, _bare))  # fmt: skip
_COORDINATED = "3.7.4.1.1."
_part("coordinated_dispenser", "coordinated-dispenser-fails", "BeginTransaction of a "
      "coordinated dispenser answers E_FAIL where it succeeds.", (_COORDINATED + "status",),
      **_begun(CoordinatedDispenserObject, _failing))  # fmt: skip
_part("coordinated_dispenser", "coordinated-dispenser-begins-nothing", "A coordinated "
      "transaction has ended when it is given.", (_COORDINATED + "initiate-transaction-manager-new",
      _COORDINATED + "generate-create-transaction-inputs"),
      **_begun(CoordinatedDispenserObject, _ended))  # fmt: skip
_part("coordinated_dispenser", "coordinated-dispenser-gives-an-empty-transaction",
      "A coordinated dispenser gives an MSMQTransaction without a transaction.",
      (_COORDINATED + "create-msmq-transaction-coclass", _COORDINATED + "retrieve-transaction-object-transaction-impl"),
      **_begun(CoordinatedDispenserObject, _empty))  # fmt: skip


@fault(
    "coordinated-dispenser-begins-internal-transactions", CoordinatedDispenserObject.begin,
    _COORDINATED + "variable-is-internal-created-transaction", _COORDINATED + "initiate-transaction-manager-new",
)  # fmt: skip
def coordinated_dispenser_begins_internal_transactions(plain, self):
    """A coordinated dispenser begins an internal transaction."""
    parts = self.manager.parts
    return Variant("DISPATCH", parts.transaction_object(self.manager, parts.transaction_implementation(self.manager)))


@fault(
    "dispenser-begins-external-transactions", DispenserObject.begin, "3.6.4.1.1.variable-is-internal-transaction-object"
)
def dispenser_begins_external_transactions(plain, self):
    """A dispenser begins an external transaction."""
    parts = self.manager.parts
    return Variant("DISPATCH", parts.transaction_object(self.manager, parts.external_transaction(self.manager)))


# The transaction.
def _ends_and_fails(method: str) -> Any:
    def perform(self: Any, *given: Any) -> None:
        getattr(TransactionImpl, method)(self, *given)
        raise MqError(E_FAIL)

    return {method: perform}


def _ends_twice(method: str) -> Any:
    def perform(self: Any, *given: Any) -> None:
        ended, self.completed = self.completed, False
        if not ended:
            getattr(TransactionImpl, method)(self, *given)
        else:
            self.completed = True

    return {method: perform}


for _method, _section in (("commit", "3.8.4.1.1."), ("abort", "3.8.4.1.2.")):
    _part("transaction_implementation", f"{_method}-of-the-transaction-fails",
          f"ITransaction: {_method} ends the transaction and answers E_FAIL.", (_section + "status",),
          **_ends_and_fails(_method))  # fmt: skip
    _part("transaction_implementation", f"{_method}-twice-succeeds",
          f"ITransaction: {_method} of a transaction that has ended succeeds.",
          (_section + "variable-is-committedor-aborted-true-step",), **_ends_twice(_method))  # fmt: skip


def _attaching(refused: str) -> Any:
    def init_new(self: Any, given: Variant) -> None:
        if self.attached is None and given.vt == refused and isinstance(given.value, TransactionImpl):
            raise MqError(E_INVALIDARG)
        TransactionObject.init_new(self, given)

    init_new.com = TransactionObject.init_new.com  # type: ignore[attr-defined]
    return init_new


for _vt, _id in (("UNKNOWN", "var-transaction-vt-vt-unknown-var-transaction-punk-val"),
                 ("DISPATCH", "var-transaction-vt-vt-dispatch-var-transaction-pdisp-val")):  # fmt: skip
    _part("transaction_object", f"init-new-refuses-vt-{_vt.lower()}",
          f"InitNew refuses a transaction in a VT_{_vt}.", (f"3.9.4.2.1.{_id}",), init_new=_attaching(_vt))  # fmt: skip


# Sinks.
def _advising(change: Any) -> Any:
    return {"advise": lambda self, sink, listener, handle: change(self, sink, listener, handle)}


def _advised_and_failed(self: Any, sink: str, listener: Any, handle: str) -> int:
    EventObject.advise(self, sink, listener, handle)
    raise MqError(E_FAIL)


def _advises_others(self: Any, sink: str, listener: Any, handle: str) -> int:
    return 0 if sink == "other" else EventObject.advise(self, sink, listener, handle)


def _advises_one_alone(self: Any, sink: str, listener: Any, handle: str) -> int:
    if self.connections:
        raise MqError(E_NOINTERFACE)
    return EventObject.advise(self, sink, listener, handle)


_A = "3.16.4.5."
_part("event", "advise-fails", "Advise registers the sink and answers E_FAIL.", (_A + "3.status",),
      **_advising(_advised_and_failed))  # fmt: skip
_part("event", "advise-takes-an-object-without-events", "Advise with an object without events succeeds.",
      (_A + "3.attempt-dmsmq-event-events-i-unknown",), **_advising(_advises_others))  # fmt: skip
_part("event", "advise-takes-one-sink-alone", "A second sink is refused.",
      (_A + "3.purpose",), **_advising(_advises_one_alone))  # fmt: skip


@fault("unadvise-fails", EventObject.unadvise, _A + "4.status")
def unadvise_fails(plain, self, cookie):
    """Unadvise lets go of the sink and answers E_FAIL."""
    plain(cookie)
    raise MqError(E_FAIL)


# Collections.
@fault("collection-forgets-what-it-gave", CollectionObject.item, "3.15.1.variant-collection-read-variant-collection")
def collection_forgets_what_it_gave(plain, self, index):
    """Item gives a value once."""
    found = plain(index)
    del self.values[str(index.value)]
    return found


@fault("collection-has-numbers-for-keys", CollectionObject.item, "3.15.1.variant-collection-key-bstr-variant")
def collection_has_numbers_for_keys(plain, self, index):
    """Item takes the place of a value for its key."""
    if index.vt == "I4" and 0 <= index.value < len(self.values):
        placed: list[Variant] = list(self.values.values())
        return placed[int(index.value)]
    found: Variant = plain(index)
    return found


@fault(
    "collection-gives-a-number-for-an-enumerator", CollectionObject.new_enum, "3.15.4.1.3.ppunk-output-ppunk-i-unknown"
)
def collection_gives_a_number_for_an_enumerator(plain, self):
    """_NewEnum gives a VT_I4."""
    return long(0)
