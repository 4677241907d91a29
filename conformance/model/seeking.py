"""Seek Available Message Position (MS-MQDMPR 3.1.7.3.2)."""

from __future__ import annotations

from conformance.model.state import Position, Queue, Rank
from conformance.model.tables import PositionEvent, PositionState, position_transition
from conformance.model.values import replace, value

_IN_ORDER = {  # the claim that two messages share -> the requirement shown when they come in their order
    "MQDMPR-3.1.1.12.recoverable-survives": "MQDMPR-3.1.1.12.recoverable-order",
    "MQDMPR-3.1.4.4.sends-appear": "MQDMPR-3.1.4.4.send-order",
    "MQDMPR-3.1.4.5.receives-return": "MQDMPR-3.1.4.5.receives-return-position",
}

_AVAILABLE = PositionState.AVAILABLE


@value
class Sought:
    """One possible result of a seek. position: None for the end of the list. queue: updated by what the result reveals.

    rows: the table rows of the messages passed over because a restart has lost them.
    """

    position: Position | None
    queue: Queue
    rows: tuple[str, ...] = ()


def seek(queue: Queue, start: Rank, *, backward: bool = False, since: int | None = None) -> tuple[Sought, ...]:
    """Return the first available position beyond `start`, or the end; several results if a position is uncertain.

    A restart makes positions uncertain: an express message may have survived it or not, and a result implies that the
    messages it passes over did not. since: pass over messages that became available at this event or before. A message
    sent before that event and made available later, by a commit or an abort, may count as arrived later or not.
    """
    found: list[Sought] = []
    rows: tuple[str, ...] = ()
    for position in reversed(queue.positions) if backward else queue.positions:
        beyond = position.rank < start if backward else position.rank > start
        if not beyond or position.state is not _AVAILABLE or (since is not None and position.since <= since):
            continue
        if position.doubtful:
            sure = replace(position, doubtful=False)
            found.append(Sought(sure, queue.with_position(sure), rows))
        else:
            found.append(Sought(position, queue, rows))
        if position.tie is not None:
            found += _tied(queue, position)
        if since is not None and position.rank[1] <= since:
            continue
        if not position.doubtful:
            return tuple(found)
        row = position_transition(position.state, PositionEvent.LOSE)
        # A message may have been lost; a copy that may or may not have been made can only come too late.
        claim = row.claim if "@" not in position.message else "MQDMPR-3.1.1.2.arrival-order"
        rows += (row.id,)
        queue = queue.with_position(replace(position, state=row.target, claim=claim, doubtful=False))
    return (*found, Sought(None, queue, rows))


def _tied(queue: Queue, first: Position) -> list[Sought]:
    """Return the copies made together with this one: any of them may come first."""
    return [
        Sought(sure, queue.with_position(sure))
        for other in queue.positions
        if other.tie == first.tie and other.available and other.rank[0] == first.rank[0] and other is not first
        for sure in [replace(other, doubtful=False)]
    ]


def passed_over(queue: Queue, limit: Rank | None) -> tuple[str, ...]:
    """Return the requirements shown to hold because no unavailable message before `limit` was given."""
    claims: dict[str, None] = {}
    for position in queue.positions:
        if limit is not None and position.rank >= limit:
            break  # positions are sorted by rank
        if position.state is not _AVAILABLE:
            claims[position.claim] = None
    return tuple(claims)


def order_shown(queue: Queue, position: Position) -> tuple[str, ...]:
    """Return the requirements on order shown to hold because this message came before the others."""
    shown: dict[str, None] = {}
    rank, claim = position.rank, position.claim
    alike = _IN_ORDER.get(claim)
    for other in queue.positions:
        theirs = other.rank
        if other.state is not _AVAILABLE or theirs <= rank:
            continue
        if theirs[0] > rank[0]:  # of a lower priority
            shown["MQMQ-2.2.19.1.higher-priority-nearer-front"] = None
            if theirs[1] < rank[1]:
                shown["MQDMPR-3.1.1.2.priority-before-arrival"] = None
        else:
            shown["MQDMPR-3.1.1.2.arrival-order"] = None
        if alike is not None and other.claim == claim:
            shown[alike] = None
    return tuple(shown)
