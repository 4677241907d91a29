"""Further faults of dispensers and transactions, of sinks and of collections (MC-MQAC 3.6 to 3.9, 3.15, 3.16)."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault, row
from conformance.embedded.objects.codes import E_FAIL, E_INVALIDARG, E_NOINTERFACE
from conformance.embedded.objects.collection import CollectionObject
from conformance.embedded.objects.events import EventObject
from conformance.embedded.objects.transactions import (
    CoordinatedDispenserObject,
    DispenserObject,
    TransactionImpl,
    TransactionObject,
)
from conformance.embedded.objects.variants import NOTHING, Variant, long

DISPENSERS: Final = (
    ("transaction_dispenser", DispenserObject, "dispenser", "3.6.4.1.1."),
    ("coordinated_dispenser", CoordinatedDispenserObject, "coordinated-dispenser", "3.7.4.1.1."),
)


_part = partial(row, __name__)


# Dispensers.


def _begun(base: Any, change: Any) -> Any:
    return {"begin": lambda self: change(self, base.begin(self))}


def _nothing(self: Any, begun: Variant) -> Variant:
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
          **_begun(_base, _nothing))  # fmt: skip
    _part(_where, f"{_word}-gives-the-transaction-itself", "BeginTransaction gives an object without "
          "IDispatch.", (_section + "invoke-i-unknown-query-interface", _gives), **_begun(_base, _bare))  # fmt: skip
_COORDINATED = "3.7.4.1.1."
_part("coordinated_dispenser", "coordinated-dispenser-fails", "BeginTransaction of a "
      "coordinated dispenser answers E_FAIL where it succeeds.", (_COORDINATED + "status",),
      **_begun(CoordinatedDispenserObject, _failing))  # fmt: skip
_part("coordinated_dispenser", "coordinated-dispenser-begins-nothing", "A coordinated "
      "transaction has ended when it is given.", (_COORDINATED + "initiate-transaction-manager-new",),
      **_begun(CoordinatedDispenserObject, _ended))  # fmt: skip
_part("coordinated_dispenser", "coordinated-dispenser-gives-an-empty-transaction",
      "A coordinated dispenser gives an MSMQTransaction without a transaction.",
      (_COORDINATED + "create-msmq-transaction-coclass", _COORDINATED + "retrieve-transaction-object-transaction-impl"),
      **_begun(CoordinatedDispenserObject, _empty))  # fmt: skip


@fault(
    "coordinated-dispenser-begins-internal-transactions", CoordinatedDispenserObject.begin,
    _COORDINATED + "variable-is-internal-created-transaction",
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
