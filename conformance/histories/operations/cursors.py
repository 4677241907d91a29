"""Opening and closing cursors."""

from __future__ import annotations

from conformance.histories.operations.operation import Kind, Operation, action, gives, queue_of, refers
from conformance.histories.operations.state_queries import cursors, handles, listed, names
from conformance.model import Call, State

MAX_CURSORS = 3


def cursor_openings(state: State) -> list[Call]:
    """Open a cursor, up to MAX_CURSORS."""
    if len(cursors(state)) >= MAX_CURSORS:
        return []
    return [
        listed("cursors.open", name=names("c", state.cursors), handle=handle.name)
        for handle in handles(state, "receive", "peek")
    ]


def cursor_closings(state: State) -> list[Call]:
    """Close a cursor that no waiting read uses."""
    return [listed("cursors.close", cursor=cursor.name) for cursor in cursors(state)]


OPERATIONS = (
    Operation(
        "cursors.open",
        {"name": gives(Kind.CURSOR, result="cursor"), "handle": refers(Kind.HANDLE, "queue")},
        lambda call, state: f"open cursor {call.name} on {queue_of(call, state)}",
        (action("open_cursor", cursor_openings, "cursors.open"),),
        verb="cursor",
    ),
    Operation(
        "cursors.close",
        {"cursor": refers(Kind.CURSOR, "cursor")},
        lambda call, state: f"close cursor {call.cursor}",
        (action("close_cursor", cursor_closings, "cursors.close"),),
        verb="close cursor",
        ends=Kind.CURSOR,
    ),
)
