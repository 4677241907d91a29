"""Further faults of dispensers and transactions, of sinks and of collections (MC-MQAC 3.6 to 3.9, 3.15, 3.16)."""

from __future__ import annotations

from typing import Any, Final

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
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


def _part(part: str, base: type, name: str, story: str, breaks: tuple[str, ...], **methods: Any) -> None:
    ids = tuple(f"MQAC-{each}" for each in breaks)
    fault(__name__, name, story, ids, (part, type("_Deviating", (base,), methods)))


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
    _part(_where, _base, f"{_word}-gives-nothing", "BeginTransaction gives NULL.", (_gives,),
          **_begun(_base, _nothing))  # fmt: skip
    _part(_where, _base, f"{_word}-gives-the-transaction-itself", "BeginTransaction gives an object without "
          "IDispatch.", (_section + "invoke-i-unknown-query-interface", _gives), **_begun(_base, _bare))  # fmt: skip
_COORDINATED = "3.7.4.1.1."
_part("coordinated_dispenser", CoordinatedDispenserObject, "coordinated-dispenser-fails", "BeginTransaction of a "
      "coordinated dispenser answers E_FAIL where it succeeds.", (_COORDINATED + "status",),
      **_begun(CoordinatedDispenserObject, _failing))  # fmt: skip
_part("coordinated_dispenser", CoordinatedDispenserObject, "coordinated-dispenser-begins-nothing", "A coordinated "
      "transaction has ended when it is given.", (_COORDINATED + "initiate-transaction-manager-new",),
      **_begun(CoordinatedDispenserObject, _ended))  # fmt: skip
_part("coordinated_dispenser", CoordinatedDispenserObject, "coordinated-dispenser-gives-an-empty-transaction",
      "A coordinated dispenser gives an MSMQTransaction without a transaction.",
      (_COORDINATED + "create-msmq-transaction-coclass", _COORDINATED + "retrieve-transaction-object-transaction-impl"),
      **_begun(CoordinatedDispenserObject, _empty))  # fmt: skip


def _internal(self: Any) -> Variant:
    parts = self.manager.parts
    return Variant("DISPATCH", parts.transaction_object(self.manager, parts.transaction_implementation(self.manager)))


def _external(self: Any) -> Variant:
    parts = self.manager.parts
    return Variant("DISPATCH", parts.transaction_object(self.manager, parts.external_transaction(self.manager)))


_part("coordinated_dispenser", CoordinatedDispenserObject, "coordinated-dispenser-begins-internal-transactions",
      "A coordinated dispenser begins an internal transaction.",
      (_COORDINATED + "variable-is-internal-created-transaction",), begin=_internal)  # fmt: skip
_part("transaction_dispenser", DispenserObject, "dispenser-begins-external-transactions",
      "A dispenser begins an external transaction.", ("3.6.4.1.1.variable-is-internal-transaction-object",),
      begin=_external)  # fmt: skip

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
    _part("transaction_implementation", TransactionImpl, f"{_method}-of-the-transaction-fails",
          f"ITransaction: {_method} ends the transaction and answers E_FAIL.", (_section + "status",),
          **_ends_and_fails(_method))  # fmt: skip
    _part("transaction_implementation", TransactionImpl, f"{_method}-twice-succeeds",
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
    _part("transaction_object", TransactionObject, f"init-new-refuses-vt-{_vt.lower()}",
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


def _unadvised_and_failed(self: Any, cookie: int) -> None:
    EventObject.unadvise(self, cookie)
    raise MqError(E_FAIL)


_A = "3.16.4.5."
_part("event", EventObject, "advise-fails", "Advise registers the sink and answers E_FAIL.", (_A + "3.status",),
      **_advising(_advised_and_failed))  # fmt: skip
_part("event", EventObject, "advise-takes-an-object-without-events", "Advise with an object without events succeeds.",
      (_A + "3.attempt-dmsmq-event-events-i-unknown",), **_advising(_advises_others))  # fmt: skip
_part("event", EventObject, "advise-takes-one-sink-alone", "A second sink is refused.",
      (_A + "3.purpose",), **_advising(_advises_one_alone))  # fmt: skip
_part("event", EventObject, "unadvise-fails", "Unadvise lets go of the sink and answers E_FAIL.", (_A + "4.status",),
      unadvise=_unadvised_and_failed)  # fmt: skip

# Collections.


def _by_number(self: Any, index: Variant) -> Variant:
    if index.vt == "I4" and 0 <= index.value < len(self.values):
        placed: list[Variant] = list(self.values.values())
        return placed[int(index.value)]
    found: Variant = CollectionObject.item(self, index)
    return found


def _once(self: Any, index: Variant) -> Variant:
    found = CollectionObject.item(self, index)
    del self.values[str(index.value)]
    return found


_part("collection", CollectionObject, "collection-forgets-what-it-gave", "Item gives a value once.",
      ("3.15.1.variant-collection-read-variant-collection",), item=_once)  # fmt: skip
_part("collection", CollectionObject, "collection-has-numbers-for-keys", "Item takes the place of a value for its key.",
      ("3.15.1.variant-collection-key-bstr-variant",), item=_by_number)  # fmt: skip
_part("collection", CollectionObject, "collection-gives-a-number-for-an-enumerator", "_NewEnum gives a VT_I4.",
      ("3.15.4.1.3.ppunk-output-ppunk-i-unknown",), new_enum=lambda self: long(0))  # fmt: skip
