"""What can be asked next of queues on other computers: see `meanings`."""

from __future__ import annotations

from conformance.model import Call, State
from conformance.model.keeping import is_remote
from conformance.model.tables import OutgoingState
from conformance.suites.stateful.meanings import MAX_MESSAGES, handles, message_name, working_transactions


def transactional_sends(state: State) -> list[Call]:
    """A message more for another computer, in a transaction. Those in none are among the sends to every queue."""
    if sum(len(queue.positions) for queue in state.queues.values()) >= MAX_MESSAGES:
        return []
    name = message_name(state)
    return [
        Call("messages.send", message=name, handle=handle.name, transaction=transaction)
        for handle in handles(state, "send")
        if is_remote(handle.queue)
        for transaction in working_transactions(state)
    ]


def pauses(state: State) -> list[Call]:
    """Those with something to hold first, then those on hold already."""
    return [Call("outgoing.pause", queue=name) for name in _those(state, OutgoingState.ON_HOLD, last=True)]


def resumptions(state: State) -> list[Call]:
    """Those on hold first."""
    return [Call("outgoing.resume", queue=name) for name in _those(state, OutgoingState.ON_HOLD, last=False)]


def takes(state: State) -> list[Call]:
    """From each of them."""
    return [Call("outgoing.take", queue=name) for name in _those(state, OutgoingState.ON_HOLD, last=False)]


def _those(state: State, wanted: OutgoingState, *, last: bool) -> list[str]:
    found = [queue for queue in state.queues.values() if queue.outgoing is not None]
    found.sort(key=lambda queue: (queue.outgoing is None or queue.outgoing.state is not wanted) is not last)
    return [queue.name for queue in found]
