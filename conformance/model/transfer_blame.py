"""Find the requirement that a wrong transfer to another computer breaks: MS-MQDMPR 3.1.1.3, 3.1.1.4, MQQB 3.1.7.1."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.model.calls import Call
from conformance.model.expected import Expected, Transfers
from conformance.model.outgoing import CONNECTED, STATES, session_of
from conformance.model.state import Outgoing, Position, Queue, State
from conformance.model.tables import OutgoingState, PositionState

_ON_HOLD, _AVAILABLE = OutgoingState.ON_HOLD, PositionState.AVAILABLE


def misdirected(state: State, call: Call, demanded: Expected, names: Sequence[str] | None) -> str | None:
    """Return the requirement broken by a transfer; None when it has a message that nobody sent.

    names: the transferred messages, None when the call failed.
    """
    queue = state.queues[call.queue or ""]
    found = queue.outgoing or Outgoing()
    expected = demanded.result.messages if isinstance(demanded.result, Transfers) else ()
    if names is None:
        return demanded.requirement or "MQDMPR-3.1.7.1.5.remote-send"
    if any(all(queue.find(name) is None for queue in state.queues.values()) for name in names):
        return None
    stranger = astray(queue, found, names)
    if stranger is not None:
        return stranger
    if found.state is _ON_HOLD:
        return _in_spite_of_the_hold(state, queue, found, names)
    missing = [position for position in map(queue.find, expected) if position and position.message not in names]
    sure = [position for position in missing if not position.doubtful]
    if sure and not names:
        return _nothing(state, queue, demanded, sure)
    for position in sure:
        return _lost(found, position)
    for wanted, given in zip([name for name in expected if name in names], names, strict=False):
        if wanted != given:
            return disordered(queue.find(wanted), queue.find(given))
    return demanded.requirement


def refused(queue: Queue | None, demanded: Expected) -> str:
    """Return the requirement broken by the refusal of a send, which the state of an outgoing queue does not excuse."""
    remote = queue is not None and queue.outgoing is not None and demanded.requirement.endswith("3.1.7.1.9.success")
    return "MQDMPR-3.1.1.17.send-access" if remote else demanded.requirement  # 3.1.7.1.9 speaks of local queues there


def astray(queue: Queue, found: Outgoing, names: Sequence[str]) -> str | None:
    """Return the requirement broken by a message that this queue must not transfer, or not twice; None for none."""
    for name in names:
        position = queue.find(name)
        if position is None:
            return "MQDMPR-3.1.7.1.9.only-destination"
        if position.state is not _AVAILABLE:
            return position.claim
        if list(names).count(name) > 1:
            waited = found.paused is not None and position.since <= found.paused and found.by != "queues.open"
            return "MQDMPR-3.1.7.1.34.removed" if waited else "MQDMPR-3.1.7.1.29.atomically-removed"
    return None


def _in_spite_of_the_hold(state: State, queue: Queue, found: Outgoing, names: Sequence[str]) -> str:
    """Return the requirement broken by a transfer from a queue that is on hold."""
    others = [other.outgoing for other in state.queues.values() if other.outgoing is not None and other is not queue]
    if found.held and any(other.by == "outgoing.resume" and other.since > found.since for other in others):
        return "MQDMPR-3.1.4.15.resumed-queue"  # it stayed on hold until another queue was resumed
    before = [item for item in queue.positions if item.available and item.since <= (found.paused or 0)]
    if before and not any(position.message in names for position in before):
        return before[0].claim if state.restarts else "MQDMPR-3.1.1.3.state-on-hold"
    if found.held:
        return "MQDMPR-3.1.7.2.3.on-hold" if before else "MQDMPR-3.1.1.3.state-on-hold"
    everything = len(names) == sum(position.available for position in queue.positions)
    return "MQDMPR-3.1.4.14.pauses" if everything else "MQDMPR-3.1.7.2.3.on-hold"


def _nothing(state: State, queue: Queue, demanded: Expected, missing: Sequence[Position]) -> str:
    """Return the requirement broken when no message came: the queue is wrongly on hold, or all messages are lost."""
    found = queue.outgoing or Outgoing()
    others = [other.outgoing for other in state.queues.values() if other.outgoing is not None and other is not queue]
    if found.by not in ("outgoing.resume", "restart") and any(other.state is _ON_HOLD for other in others):
        return "MQDMPR-3.1.4.14.paused-queue"
    if found.by == "restart" and found.paused is None:
        return missing[0].claim
    return demanded.requirement


def _lost(found: Outgoing, position: Position) -> str:
    """Return the requirement broken when other messages came and this one did not."""
    if found.paused is None or found.by == "restart":
        return position.claim
    if position.since <= found.paused:
        return "MQDMPR-3.1.7.2.3.on-hold"  # a pause sets a state and removes no message
    # A queue on hold holds its messages back; it takes and keeps new ones as ever.
    return "MQDMPR-3.1.1.17.send-access" if position.since <= found.since else position.claim


def disordered(wanted: Position | None, given: Position | None) -> str:
    """Return the requirement broken by a message that came in place of another."""
    if wanted is not None and given is not None and wanted.priority != given.priority:
        return "MQDMPR-3.1.7.3.9.highest-priority"
    return "MQDMPR-3.1.1.2.arrival-order"


_ONCE = "MQDMPR-3.1.7.1.29.atomically-removed"
_TOO_SOON = "MQDMPR-3.1.1.4.eod-resend-interval"


def mistransferred(state: State, call: Call, demanded: Expected, names: Sequence[str] | None) -> str | None:
    """Return the requirement broken by a transfer; None when it has a message that nobody sent.

    names: the transferred messages, None when the call failed.
    """
    queue, session = state.queues[call.queue or ""], session_of(state, call.queue or "")
    expected = demanded.result.messages if isinstance(demanded.result, Transfers) else ()
    if names is None:
        return demanded.requirement or STATES[CONNECTED]
    if any(all(each.find(name) is None for each in state.queues.values()) for name in names):
        return None
    stranger = astray(queue, queue.outgoing or Outgoing(), names)
    if stranger is not None:
        return stranger
    for name in names:
        if name not in expected:
            if name not in session.sent or (not expected and demanded.requirement):
                return demanded.requirement or STATES[CONNECTED]
            if session.why == "EOD_RESEND":
                return "MQMR-3.1.4.2.eod-resend"
            return _TOO_SOON if name in session.awaiting else _ONCE
    missing = [name for name in expected if name not in names]
    for name in missing:
        position = queue.find(name)
        if names and name not in session.sent and position is not None:
            return position.claim
        return demanded.requirement
    for wanted, given in zip(expected, names, strict=False):
        if wanted != given:
            return disordered(queue.find(wanted), queue.find(given))
    return demanded.requirement
