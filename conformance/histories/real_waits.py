"""Histories with waits, made to fit a clock that cannot be moved.

There a wait must end by its time-out at once, or last long enough for another call to end it: a clock that goes on by
itself must not decide which of two happens first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from conformance.histories.operations.operation import Manner
from conformance.histories.operations.reads import LONG_MS
from conformance.histories.operations.table import OPERATIONS
from conformance.model import Call
from conformance.model.calls import INFINITE
from conformance.model.values import replace

MAX_PASS_MS = 2_500
"""The longest time that a history lets pass on a real clock, at one go."""


def expiring(calls: Iterable[Call]) -> Iterator[tuple[Call, Call | None]]:
    """Yield each call, and with a read that the next call lets time out, that call: both are one wait."""
    before: Call | None = None
    for call in calls:
        if before is not None and _passes(call) and call.by_ms == before.timeout_ms:
            yield before, call
            before = None
            continue
        if before is not None:
            yield before, None
        before = call if _waits(call) else None
        if before is None:
            yield call, None
    if before is not None:
        yield before, None


def fitted(calls: Sequence[Call]) -> tuple[Call, ...] | None:
    """Return the calls with waits that a real clock can do; None if there is no such history.

    A wait that no later call ends by its time-out lasts LONG_MS. Time that passes while a read waits for something
    else cannot be had.
    """
    made: list[Call] = []
    waiting = False
    for call, end in expiring(calls):
        if end is not None:
            if waiting:
                return None
            made += (call, end)
        elif _passes(call):
            if waiting or call.by_ms > MAX_PASS_MS:
                return None
            made.append(call)
        elif _waits(call):
            waiting = True
            made.append(call if call.timeout_ms >= LONG_MS else replace(call, timeout_ms=LONG_MS))
        else:
            made.append(call)
    return tuple(made)


def _waits(call: Call) -> bool:
    operation = OPERATIONS.get(call.method)
    return operation is not None and operation.manner is Manner.READ and 0 < call.timeout_ms < INFINITE


def _passes(call: Call) -> bool:
    """Tell whether the call lets time pass."""
    return OPERATIONS[call.method].manner is Manner.TIME
