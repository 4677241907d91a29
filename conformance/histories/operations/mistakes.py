"""Calls that must fail: on something closed, ended or deleted, or with the wrong access."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.histories.operations.operation import Action, Offer
from conformance.histories.operations.state_queries import handles, listed, message_name
from conformance.model import Call, State
from conformance.model.tables import CursorState


def mistakes(state: State, offer: Offer) -> list[Call]:
    """List the mistakes whose methods the driver offers."""
    return [call for call in _mistakes(state) if offer.has(call.method)]


def _mistakes(state: State) -> Iterator[Call]:
    for handle in state.handles.values():
        if not handle.is_open:
            yield listed("messages.receive", handle=handle.name)
            yield listed("messages.peek", handle=handle.name)
            yield listed("queues.close", handle=handle.name)
        elif handle.lost or handle.access == "send":
            yield listed("messages.receive", handle=handle.name)
            yield listed("messages.peek", handle=handle.name)
        elif handle.access != "move":  # `moves` has the mistakes with access to move
            yield listed("messages.send", message=message_name(state), handle=handle.name)
            if handle.access == "peek":
                yield listed("messages.receive", handle=handle.name)
    for cursor in state.cursors.values():
        handle = state.handles[cursor.handle]
        if cursor.state is CursorState.CLOSED and not handle.lost:
            others = [other for other in handles(state, "receive", "peek") if other.queue == handle.queue]
            for other in [handle] if handle.is_open else others[:1]:
                yield listed("messages.peek", handle=other.name, cursor=cursor.name)
            yield listed("cursors.close", cursor=cursor.name)
    for transaction in state.transactions.values():
        if transaction.ended not in (None, "restart"):  # a restart ends the handle too
            yield listed("transactions.commit", transaction=transaction.name)
            yield listed("transactions.abort", transaction=transaction.name)
            yield listed("transactions.prepare", transaction=transaction.name)
            for handle in handles(state, "receive"):
                if state.queues[handle.queue].transactional:
                    yield listed("messages.receive", handle=handle.name, transaction=transaction.name)


ACTION = Action("mistake", mistakes)
