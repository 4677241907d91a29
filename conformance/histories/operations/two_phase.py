"""Receives in two phases: the first begins, the second ends by keeping or deleting the message."""

from __future__ import annotations

from conformance.histories.operations.operation import NEEDED, Kind, Manner, Operation, action, gives, refers, value
from conformance.histories.operations.reads import members, told
from conformance.histories.operations.state_queries import handles, listed, names
from conformance.model import Call, State
from conformance.model.tables import CursorState, PositionState

MAX_BEGUN = 3


def begun_receives(state: State) -> list[Call]:
    """Begin a receive, up to MAX_BEGUN at once."""
    if sum(not read.ended for read in state.begun.values()) >= MAX_BEGUN:
        return []
    name = names("b", {*state.begun, *state.waited})
    return [
        listed("messages.receive_begin", name=name, handle=handle.name, cursor=cursor)
        for handle in handles(state, "receive")
        for cursor in (
            None,
            *(c.name for c in state.cursors.values() if c.handle == handle.name and _usable(state, c.name)),
        )
    ]


def _usable(state: State, cursor: str) -> bool:
    return state.cursors[cursor].state is not CursorState.CLOSED and not state.busy(cursor)


def receive_ends(state: State) -> list[Call]:
    """End a begun receive, or one that has ended already, unless another reader holds its message by now."""
    calls: list[Call] = []
    for read in state.begun.values():
        handle = state.handles.get(read.handle)
        if handle is None or not handle.is_open:
            continue
        now = state.position(read.queue, read.message).state
        if not read.ended:
            calls += [
                listed("messages.receive_end", read=read.name, acknowledge=acknowledge)
                for acknowledge in (True, False, False, True)
            ]
        elif handle.lost or now in (PositionState.AVAILABLE, PositionState.DELETED):
            calls.append(listed("messages.receive_end", read=read.name, acknowledge=False))
    return calls


def _ended(call: Call, state: State) -> str:
    return f"end the receive {call.read}, {'deleting' if call.acknowledge else 'keeping'} its message"


OPERATIONS = (
    Operation(
        "messages.receive_begin",
        members(wait=gives(Kind.READ, result="read")),
        told("begin to receive", named=True),
        (action("begin_receive", begun_receives, "messages.receive_begin"),),
        Manner.READ,
    ),
    Operation(
        "messages.receive_end",
        {"read": refers(Kind.READ, "read"), "acknowledge": value(NEEDED, parameter="acknowledge")},
        _ended,
        (action("end_receive", receive_ends, "messages.receive_end"),),
        ends=Kind.READ,
    ),
)
