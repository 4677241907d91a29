"""Reading and advancing the clock, and restarting the queue manager."""

from __future__ import annotations

from conformance.histories.operations.operation import NEEDED, Manner, Operation, action, value
from conformance.histories.operations.state_queries import listed
from conformance.model import Call, State
from conformance.model.expiry import due
from conformance.model.tables import PositionState

_HELD = (PositionState.SENDING, PositionState.LOCKED)


def passing_time(state: State) -> list[Call]:
    """Let time pass until a wait ends, or until just before."""
    deadlines = sorted({waiter.deadline for waiter in state.waiters if waiter.deadline is not None})
    return [
        listed("clock.advance", by_ms=by)
        for deadline in deadlines[:1]
        for by in (deadline - state.now, deadline - state.now - 1)
        if by > 0
    ]


def passing_seconds(state: State) -> list[Call]:
    """Let time pass to just before a message expires, to when it must have expired, or by a second.

    Never past the expiry of a message that a transaction still sends.
    """
    windows = [
        (position.state, window)
        for queue in state.queues.values()
        for position in queue.positions
        if position.state in (PositionState.AVAILABLE, *_HELD) and (window := due(state, position)) is not None
    ]
    moments = {state.now + 1000}
    for _, (earliest, latest) in windows:
        moments |= {earliest - 1, latest}
    last = min((window[0] for held, window in windows if held is PositionState.SENDING), default=None)
    return [
        listed("clock.advance", by_ms=moment - state.now)
        for moment in sorted(moments)
        if moment > state.now and (last is None or moment < last)
    ]


def _restarted(call: Call, state: State) -> str:
    return f"{'kill' if call.kill else 'stop'} the queue manager and start it again"


OPERATIONS = (
    Operation("clock.now", {}, lambda call, state: "read the clock"),
    Operation(
        "clock.advance",
        {"by_ms": value(NEEDED, parameter="by_ms")},
        lambda call, state: f"{call.by_ms} ms pass",
        (action("pass_time", passing_time, virtual=True), action("pass_seconds", passing_seconds, virtual=True)),
        Manner.TIME,
        timed=True,
    ),
    Operation("restart", {"kill": value(False, parameter="kill")}, _restarted, manner=Manner.RESTART, restores=True),
)
