"""A concurrent history as it would be if each commit took effect message by message, not all at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from conformance.model.linearizability.history import Operation
from conformance.model.linearizability.search import linearize
from conformance.model.step import Model

_BEGIN, _COMMIT = "transactions.begin", "transactions.commit"
_OF_ALL = frozenset({"transactions.prepare", _COMMIT})


def explained_by_pieces(model: Model, small: Sequence[Operation], whole: Sequence[Operation], *, nodes: int) -> bool:
    """Tell whether an order explains a history only if some commits take effect in pieces.

    small: a history that no order explains, a part of `whole`. nodes: see `linearize`. The messages that a transaction
    sent must still appear in the order of their sends, so a commit that reverses them is none in pieces.
    """
    parts = _parts(small, whole)
    if not parts:
        return False
    found = linearize(model, _in_pieces(small, parts), nodes=nodes)
    if found.order is None:
        return False
    placed = [effect.operation.call.transaction for effect in found.order if effect.operation.call.method == _COMMIT]
    sends = {op.message for op in small if op.call.method == "messages.send"}
    for transaction, messages in parts.items():
        sent = [_name(transaction, message) for message in messages if message in sends]
        places = [placed.index(name) for name in sent if name in placed]
        if any(first > second for first, second in pairwise(places)):
            return False
    return True


def _parts(small: Sequence[Operation], whole: Sequence[Operation]) -> dict[str, list[str]]:
    """Map each transaction that may have been committed, and has several messages in `whole`, to those of `small`."""
    found = _messages(small)
    several = {transaction for transaction, messages in _messages(whole).items() if len(messages) > 1}
    committed = {
        op.call.transaction
        for op in small
        if op.call.method == _COMMIT and not (op.answer is not None and op.answer.failed)
    }
    return {transaction: messages for transaction, messages in found.items() if transaction in several & committed}


def _messages(history: Sequence[Operation]) -> dict[str, list[str]]:
    """Map each transaction to the messages it sent or received, in the order of the calls."""
    found: dict[str, list[str]] = {}
    for operation in sorted(history, key=lambda operation: operation.began):
        transaction, message = operation.call.transaction, operation.message
        if transaction is not None and message is not None:
            messages = found.setdefault(transaction, [])
            if message not in messages:
                messages.append(message)
    return found


def _in_pieces(history: Sequence[Operation], parts: dict[str, list[str]]) -> tuple[Operation, ...]:
    """Return the history with several transactions in place of each of those in `parts`, begun and committed with it.

    One has each message, and another the calls without a message: reads that found nothing, and other ends.
    """
    out: list[Operation] = []
    for operation in history:
        call = operation.call
        transaction = str(call.name if call.method == _BEGIN else call.transaction)
        if transaction not in parts:
            out.append(operation)
            continue
        names = [_name(transaction, message) for message in (*parts[transaction], "")]
        if call.method == _BEGIN:
            out += [replace(operation, call=replace(call, name=name)) for name in names]
        elif call.method in _OF_ALL:
            out += [replace(operation, call=replace(call, transaction=name)) for name in names]
        else:
            mine = _name(transaction, operation.message or "")
            out.append(replace(operation, call=replace(call, transaction=mine)))
    return tuple(out)


def _name(transaction: str, message: str) -> str:
    return f"{transaction}/{message}"
