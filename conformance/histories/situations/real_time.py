"""Which planned histories a real clock can play, and how long their waits take there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.histories.operations.operation import Manner
from conformance.histories.operations.table import OPERATIONS
from conformance.histories.situations.pure import after
from conformance.model import Call, Model, State
from conformance.model.expiry import due

_SAFE_MS: Final = 900  # a wait as long as this is not over while a few other calls are made
_CALLS: Final = 6
_MOST_MS: Final = 6_000  # nobody waits longer for one history


def timing(model: Model, calls: Sequence[Call]) -> tuple[bool, int]:
    """Return whether a history needs a virtual clock, and the milliseconds of its waits on a real one.

    A real clock can play a wait that times out only by waiting for it: where time passes right after the read, by as
    much as its time-out. Time that passes otherwise must not come near to the end of a wait or of a message's time.
    """
    state, wait_ms = State(), 0
    ends: dict[str, int] = {}  # waiting read to the place of the last call before which it is surely not over
    for at, call in enumerate(calls):
        following = calls[at + 1] if at + 1 < len(calls) else None
        before, state = state, after(model, state, call)
        manner = OPERATIONS[call.method].manner
        if any(name not in ends or ends[name] < at for name in _limited(before)):
            return True, 0
        if manner is Manner.READ and call.name in _limited(state):
            timed_out = following is not None and OPERATIONS[following.method].manner is Manner.TIME
            if timed_out and following is not None and following.by_ms == call.timeout_ms and not _limited(before):
                ends[call.name or ""] = at + 1
            elif call.timeout_ms >= _SAFE_MS:
                ends[call.name or ""] = at + (_CALLS if call.timeout_ms < 30_000 else 1000)
            else:
                return True, 0
        if manner is Manner.TIME:
            left = _limited(state)
            expired = [name for name in _limited(before) if name not in left]
            alone = len(expired) == 1 and calls[at - 1].name == expired[0]
            if left or (expired and not alone) or _near(state):
                return True, 0
            wait_ms += call.by_ms
    return wait_ms > _MOST_MS, 0 if wait_ms > _MOST_MS else wait_ms


def _limited(state: State) -> list[str]:
    return [waiter.name for waiter in state.waiters if waiter.deadline is not None]


def _near(state: State) -> bool:
    """Tell whether some message's time is about to be over, or may be over."""
    for queue in state.queues.values():
        for position in queue.positions:
            window = due(state, position) if position.wishes is not None and position.available else None
            if window is not None and state.now > window[0] - _SAFE_MS:
                return True
    return False
