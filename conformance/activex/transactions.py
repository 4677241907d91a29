"""Transactions: what their objects answer, told from what each stands for (MC-MQAC 3.6, 3.8, 3.9).

Several MSMQTransaction objects may stand for one transaction, which ends once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from conformance.activex.expected import Invoke, Readings, Seen
from conformance.activex.members import requirements
from conformance.activex.queue_info import accepted
from conformance.activex.queue_store import Names
from conformance.activex.step import Choice, Option, Shape, one, refused
from conformance.activex.tables import CLASSES
from conformance.activex.values import E_INVALIDARG, S_OK, TRANSACTION_USAGE, Variant, hollow
from conformance.spec.constants import hresults

TRANSACTION: Final = "MSMQTransaction"
DISPENSER: Final = "MSMQTransactionDispenser"
IMPLEMENTATION: Final = "TransactionImpl"
NONE_READING: Final = "R-MQAC-commit-behaviour-none"
XACT_E_NOTSUPPORTED: Final = 0x8004D00F
_SYNC, _NONE = 2, 0
_TYPES: Final = frozenset({"UNKNOWN", "DISPATCH", "I4", "I8"})


@dataclass(frozen=True, slots=True)
class Transactions:
    """Transactions of a plan. stands_for: object to its transaction, None for none. ended: transaction to the member
    that ended it. handles: object that is a transaction's ITransaction, to the transaction. attached: objects that
    InitNew has attached.
    """

    stands_for: Mapping[str, str | None] = field(default_factory=dict)
    ended: Mapping[str, str] = field(default_factory=dict)
    handles: Mapping[str, str] = field(default_factory=dict)
    attached: frozenset[str] = frozenset()


def cell(coclass: str, member: str, *columns: str) -> Names:
    """Return the requirements of some columns of a member."""
    row = CLASSES[coclass][member]
    return requirements(row, row.slots[0].kind, *columns)


def demands(
    name: str, state: Transactions, call: Invoke, known: Collection[str], readings: Readings
) -> Iterator[Choice]:
    """Yield what the text demands of the answer to a call of a dispenser or a transaction object."""
    if call.member == "BeginTransaction":
        objects = tuple(known)
        value = Shape(
            Variant("DISPATCH", "new"),
            lambda seen: seen.vt in ("DISPATCH", "UNKNOWN") and bool(seen.value) and seen.value not in objects,
            "a new object",
        )
        yield one(cell(DISPENSER, "BeginTransaction", "success", "gives"), S_OK, value)
    elif call.member == "ITransaction":
        yield from _handle(name, state)
    elif call.member == "InitNew":
        yield from _init_new(name, state, call)
    else:
        yield from _end(name, state, call, readings)


def _handle(name: str, state: Transactions) -> Iterator[Choice]:
    of = state.stands_for.get(name)
    yield one(cell(TRANSACTION, "ITransaction", "success"))
    names = cell(TRANSACTION, "ITransaction", "gives")
    if of is None:
        yield one(names, S_OK, Shape(Variant("EMPTY"), hollow, "VT_EMPTY"))
        return
    if name in state.attached:
        names = (*cell(TRANSACTION, "InitNew", "attaches"), *names)
    else:
        names = (*names, *cell(DISPENSER, "BeginTransaction", "interface"))
    same = {handle for handle, transaction in state.handles.items() if transaction == of}
    others = set(state.handles) - same

    def holds(seen: Variant) -> bool:
        if seen.vt != "UNKNOWN" or not seen.value or seen.value in others:
            return False
        return not same or seen.value in same

    yield one(names, S_OK, Shape(Variant("UNKNOWN", min(same, default="new")), holds, "its ITransaction"))


def _init_new(name: str, state: Transactions, call: Invoke) -> Iterator[Choice]:
    value = call.arguments[0]
    if state.stands_for.get(name) is not None:
        yield from refused(cell(TRANSACTION, "InitNew", "check:attached"), TRANSACTION_USAGE)
    elif value.vt not in _TYPES:
        yield from refused(cell(TRANSACTION, "InitNew", "check:type"), E_INVALIDARG)
    elif value.vt in ("UNKNOWN", "DISPATCH") and value.value not in state.handles:
        yield one(cell(TRANSACTION, "InitNew", "check:not-transaction"), E_INVALIDARG)
    elif value.value in state.handles:
        yield one(cell(TRANSACTION, "InitNew", "success", f"type:{value.vt}"))


def _end(name: str, state: Transactions, call: Invoke, readings: Readings) -> Iterator[Choice]:
    of = state.stands_for.get(name)
    if of is None:
        yield from refused(cell(TRANSACTION, call.member, "check:empty", "initial"), E_INVALIDARG)
        return
    forwards = cell(TRANSACTION, call.member, "forwards")
    given = _given(call)
    wrong = [argument for argument, value in given.items() if value != _needed(argument)]
    if wrong == ["grfTC"] and given["grfTC"] == _NONE:
        words = accepted(readings, NONE_READING, "refused", "default")
        if len(words) > 1 or words == ("default",):
            return
    if wrong:
        internal = cell(DISPENSER, "BeginTransaction", "internal")
        more = cell(IMPLEMENTATION, "Commit", "check:grf-rm") if "grfRM" in wrong else ()
        names = (*cell(IMPLEMENTATION, call.member, "check:not-supported"), *more, *forwards, *internal)
        yield from refused(names, XACT_E_NOTSUPPORTED)
    elif of in state.ended:
        completes = cell(IMPLEMENTATION, state.ended[of], "completes")
        names = (*cell(IMPLEMENTATION, call.member, "check:completed"), *completes, *forwards)
        yield from refused(names, hresults.MQ_ERROR_TRANSACTION_SEQUENCE)
    else:
        names = (*cell(TRANSACTION, call.member, "success"), *forwards, *cell(IMPLEMENTATION, call.member, "success"))
        rows = CLASSES[TRANSACTION][call.member].slots[0].arguments
        out = [row.name for row, value in zip(rows, call.arguments, strict=False) if value.vt == "ERROR"]
        left_out = cell(TRANSACTION, call.member, *(f"argument:{name}" for name in out))
        begins = cell(DISPENSER, "BeginTransaction", "begins")
        attaches = cell(TRANSACTION, "InitNew", "attaches") if name in state.attached else ()
        empty = attaches or (*cell(DISPENSER, "BeginTransaction", "gives"), *begins)
        fresh = cell(DISPENSER, "BeginTransaction", "fresh") if state.ended else ()
        blames = ((E_INVALIDARG, empty), (hresults.MQ_ERROR_TRANSACTION_SEQUENCE, fresh))
        yield (Option((*left_out, *names, *begins, *fresh, *attaches), blames=blames),)


def _given(call: Invoke) -> dict[str, int]:
    rows = CLASSES[TRANSACTION][call.member].slots[0].arguments
    given = {row.name: int(row.default.value) for row in rows if row.default is not None}
    for row, value in zip(rows, call.arguments, strict=False):
        if value.vt != "ERROR":
            given[row.name] = int(bool(value.value)) if row.name.startswith("f") else int(value.value)
    return given


def _needed(argument: str) -> int:
    return _SYNC if argument == "grfTC" else 0


def after(name: str, state: Transactions, call: Invoke, seen: Seen, gives: str | None) -> Transactions:
    """Return the transactions as an answered call has left them. gives: the name of the object it hands out."""
    if seen.status != S_OK:
        return state
    if call.member == "BeginTransaction" and gives is not None:
        return replace(state, stands_for={**state.stands_for, gives: gives})
    of = state.stands_for.get(name)
    if call.member == "ITransaction" and gives is not None and of is not None:
        return replace(state, handles={**state.handles, gives: of})
    if call.member == "InitNew" and call.arguments[0].value in state.handles:
        stands_for = {**state.stands_for, name: state.handles[call.arguments[0].value]}
        return replace(state, stands_for=stands_for, attached=state.attached | {name})
    if call.member in ("Commit", "Abort") and of is not None and of not in state.ended:
        return replace(state, ended={**state.ended, of: call.member})
    return state
