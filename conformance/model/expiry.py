"""Expire messages as time passes (MS-MQDMPR 3.1.2.4, time to be received), beside waiting reads (3.1.2.3).

A time to be received is in whole seconds, and so is the time a message was sent (3.1.1.12). An implementation may
count from the start of the second in which the message was sent, and may notice the end up to one second late.
Between these two times the message may be in the queue or not.
"""

from __future__ import annotations

from collections.abc import Iterator

from conformance.model import sends_and_commits
from conformance.model.arrivals import PEEKED, after_event
from conformance.model.calls import BadCall, Call
from conformance.model.expected import Either, Expected
from conformance.model.journals import Keeping, is_kept
from conformance.model.rules import Rules
from conformance.model.state import Position, State
from conformance.model.tables import PositionEvent, PositionState
from conformance.model.values import replace

_SECOND = 1000
_Times = list[tuple[int, int]]


def advance(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Let time pass: end waiting reads and expire messages that nobody received."""
    for expected in sends_and_commits.advance(rules, state, call):
        if expected.next.keeping is None:
            yield expected
            continue
        yield from _expired(expected)


def _expired(expected: Expected) -> Iterator[Expected]:
    """Expire messages whose time is surely over. Those whose time may be over go or stay, one window at a time."""
    state = expected.next
    surely: list[tuple[str, Position]] = []
    perhaps: dict[tuple[int, int], list[tuple[str, Position]]] = {}
    times = _times(state)
    for name, position in [(queue.name, position) for queue in state.queues.values() for position in queue.positions]:
        if position.wishes is None or not position.available:
            continue
        window = due(state, position)
        stays = _stays(state, position, window, times)
        if stays is not None:  # if the message goes missing from now on, its expiry is to blame
            state = state.with_position(name, replace(position, claim=stays))
        elif window is not None and state.now >= window[1]:
            _still_here(state, name, position)
            surely.append((name, position))
        elif window is not None and state.now >= window[0]:
            _still_here(state, name, position)
            perhaps.setdefault(window, []).append((name, position))
    ways = [_gone(replace(expected, next=state), surely)]
    for together in perhaps.values():
        ways = [each for way in ways for each in (_gone(way, together), way)]
    yield from ways


def _still_here(state: State, queue: str, position: Position) -> None:
    """Raise BadCall for a message that was transferred to another computer before its time was over."""
    session = state.management.sessions.get(queue) if state.management is not None else None
    if session is not None and (position.message in session.sent or position.message in dict(session.numbers)):
        raise BadCall(f"no section says what becomes of {position.message}, which was transferred already")


def due(state: State, position: Position) -> tuple[int, int] | None:
    """Return the times from which this message may be gone and must be gone, in model milliseconds; None for never."""
    wishes = position.wishes
    if wishes is None or wishes.live_ms is None or is_kept(position.message):
        return None
    phase = state.keeping.phase if state.keeping is not None else None
    behind = _SECOND - 1 if phase is None else (wishes.sent + phase) % _SECOND
    return wishes.sent - behind + wishes.live_ms, wishes.sent + wishes.live_ms + _SECOND


def _times(state: State) -> _Times:
    """Return the time to be received of each message that has one, with the time it was sent."""
    every = (position.wishes for queue in state.queues.values() for position in queue.positions)
    return [(wishes.sent, wishes.live_ms) for wishes in every if wishes is not None and wishes.live_ms is not None]


def _stays(state: State, position: Position, window: tuple[int, int] | None, others: _Times) -> str | None:
    """Return the requirement that keeps this message there; None if there is none or its time is over.

    A message without a time to be received can go missing as if it had that of a message sent before it.
    """
    wishes = position.wishes
    if wishes is None:
        return None
    if wishes.live_ms is None and not wishes.lasting:
        over = any(sent <= wishes.sent and state.now >= wishes.sent + live for sent, live in others)
        taken = over and not is_kept(position.message)
        return "MQDMPR-3.1.1.12.default-time-to-be-received" if taken else None
    if window is not None:
        return "MQDMPR-3.1.2.4.not-early" if state.now < window[0] else None
    if not is_kept(position.message):
        return "MQDMPR-3.1.2.4.infinite" if wishes.lasting else None
    over = wishes.live_ms is not None and state.now >= wishes.sent + wishes.live_ms
    seen = position.claim in PEEKED  # a copy that nobody has seen may never have been made
    return "MQDMPR-3.1.2.4.system-queues-kept" if over and seen else None


def _gone(way: Expected, positions: list[tuple[str, Position]]) -> Expected:
    state, rows = way.next, list(way.transitions)
    for queue, position in positions:
        new, row = after_event(position, PositionEvent.EXPIRE)
        rows.append(row)
        state = state.with_position(queue, new)
    return replace(way, next=state, transitions=tuple(rows))


def now(rules: Rules, state: State, call: Call) -> Iterator[Expected]:
    """Read the implementation's clock. The time is noted, not judged."""
    yield Expected(Either(), "", replace(state, keeping=state.keeping or Keeping()))


def held_too_long(state: State, position: Position) -> bool:
    """Tell whether the time of a message that is not available is over, or may be."""
    window = due(state, position)
    return window is not None and state.now >= window[0] and position.state is not PositionState.DELETED
