"""Outgoing queues: pausing them, resuming them, and taking the packets they would transfer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.histories.operations.handles import Handles
from conformance.histories.operations.operation import Kind, Operation, action, refers
from conformance.histories.operations.state_queries import listed
from conformance.model import Answer, Call, State
from conformance.model.tables import OutgoingState
from conformance.model.values import replace


def pauses(state: State) -> list[Call]:
    """Pause an outgoing queue; those not on hold first."""
    return _each("outgoing.pause", state, on_hold_first=False)


def resumptions(state: State) -> list[Call]:
    """Resume an outgoing queue; those on hold first."""
    return _each("outgoing.resume", state, on_hold_first=True)


def takes(state: State) -> list[Call]:
    """Take the packets of an outgoing queue; those on hold first."""
    return _each("outgoing.take", state, on_hold_first=True)


def _each(method: str, state: State, *, on_hold_first: bool) -> list[Call]:
    found = [queue for queue in state.queues.values() if queue.outgoing is not None]
    found.sort(
        key=lambda queue: (queue.outgoing is None or queue.outgoing.state is not OutgoingState.ON_HOLD) is on_hold_first
    )
    return [listed(method, queue=queue.name) for queue in found]


def _with_messages(answer: Answer, call: Call, values: Mapping[str, Any], handles: Handles) -> Answer:
    """Return the answer with the messages that its packets hold."""
    if answer.failed or "packets" not in values:
        return answer
    from conformance.histories.packets_taken import seen  # imports the packet reader, which few calls need

    return replace(answer, messages=tuple(seen(raw, handles.remote_named) for raw in values["packets"]))


_ONE = {"queue": refers(Kind.QUEUE, "format_name")}

OPERATIONS = (
    Operation(
        "outgoing.pause",
        _ONE,
        lambda call, state: f"pause {call.queue}",
        (action("pause", pauses, "outgoing.pause", "outgoing.resume"),),
    ),
    Operation(
        "outgoing.resume",
        _ONE,
        lambda call, state: f"resume {call.queue}",
        (action("resume", resumptions, "outgoing.resume"),),
    ),
    Operation(
        "outgoing.take",
        _ONE,
        lambda call, state: f"let {call.queue} transfer what it has",
        (action("take", takes, "outgoing.take"),),
        answer=_with_messages,
    ),
)
