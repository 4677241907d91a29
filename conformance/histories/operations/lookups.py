"""Reads by the lookup identifier of a message."""

from __future__ import annotations

from collections.abc import Callable

from conformance.histories.operations.operation import (
    NEEDED,
    Action,
    Kind,
    Member,
    Offer,
    Operation,
    in_brackets,
    queue_of,
    refers,
    value,
)
from conformance.histories.operations.state_queries import handles, listed
from conformance.model import Call, State


def lookups(state: State, offer: Offer) -> list[Call]:
    """Read by a lookup identifier seen so far, whether its message is available, locked or gone."""
    calls: list[Call] = []
    for handle in handles(state, "receive"):
        queue = state.queues[handle.queue]
        known = [
            position.message
            for position in queue.positions
            if position.message in state.lookups and not position.doubtful
        ]
        for method in ("messages.peek_by_lookup_id", "messages.receive_by_lookup_id"):
            if not offer.has(method):
                continue
            calls += [
                listed(method, handle=handle.name, message=message, action=action)
                for message in known
                for action in ("current", "next", "previous")
            ]
            calls += [listed(method, handle=handle.name, action=action) for action in ("first", "last")]
    return calls


def _told(verb: str) -> Callable[[Call, State], str]:
    def story(call: Call, state: State) -> str:
        start = f" from '{call.message}'" if call.message else ""
        how = f"{verb}, {call.action}{start}," if call.action is not None else verb
        within = [f"transaction {call.transaction}"] if call.transaction else []
        return f"{how} from {queue_of(call, state)}{in_brackets(within)}"

    return story


_MEMBERS: dict[str, Member] = {
    "handle": refers(Kind.HANDLE, "queue"),
    "message": refers(Kind.MESSAGE, "lookup_identifier", default=""),
    "action": value(NEEDED, parameter="action", default="current"),
}
OPERATIONS = (
    Operation(
        "messages.peek_by_lookup_id",
        _MEMBERS,
        _told("peek by lookup identifier"),
        (Action("lookup", lookups, ("messages.peek_by_lookup_id",)),),
    ),
    Operation(
        "messages.receive_by_lookup_id",
        _MEMBERS | {"transaction": refers(Kind.TRANSACTION, "transaction", None)},
        _told("receive by lookup identifier"),
    ),
)
