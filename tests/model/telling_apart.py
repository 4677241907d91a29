"""Two states of the model, and whether the probe made for the one tells that the implementation is in the other."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

import exploring

from conformance.histories.situations.probe import probe
from conformance.model import BadCall, Call, Model, State
from conformance.model.expected import Fails, Result, Succeeds, Transfers
from conformance.model.expiry import held_too_long
from conformance.model.journals import ELSEWHERE, is_kept
from conformance.model.tables import CursorState, PositionState

MOST = 40  # calls of a probe
NUMBERS = (0, 1, 2, 7, 11, 15)
"""Numbers of histories: they differ in how waits and transactions end; 7 and 15 begin with a kill and a stop."""
_PURGED = (PositionState.DELETED, PositionState.PURGE_PENDING, PositionState.BEGUN_PURGED)
_CERTAIN = (PositionState.AVAILABLE, PositionState.DELETED)


def answer(model: Model, state: State, call: Call) -> tuple[Hashable, State]:
    """What an implementation in this state answers, as far as a black box shows it, and the state after it."""
    try:
        first = model.allowed(state, call).outcomes[0]
    except BadCall:  # it names something that is not there
        return "nothing there", state
    ended = tuple((each.waiter, _shown(each.result)) for each in first.completions)
    told = _number(state, call.queue or "") if call.method == "queues.counts" else _shown(first.result)
    return (told, ended), exploring.followed(first)


UNSEEN: Mapping[str, str] = {
    "a message that is gone": "no call can name it; the place it leaves a cursor at is compared",
    "the number in a rank": "only the order of messages shows, and that is compared",
    "what the model keeps to find whom to blame": "claims, times of events and ties are no state of a queue manager",
    "a thing that the harness was never given": "no call can name it; a handle shows by the share modes it denies",
    "what only a transaction without a name holds": "none can end it that was never given, or from before a restart",
    "how a transaction ended": "its messages show it; an ended one refuses every call alike",
    "a transaction is prepared": "it commits and aborts as before, and a restart may forget it",
    "a purged message that a read or a transaction still holds": "whoever ends either, no reader gets it",
    "a purged message that a transaction holds, and one whose time is over": "both end as the same dead letter",
    "a cursor after a wait that found nothing": "readings differ on its place until it is used again",
    "a deleted queue's messages": "no name reaches them any more",
    "messages for a computer that cannot be reached": "nobody receives them",
    "a subqueue without messages": "opening it makes it, so it is always there",
    "a journal or dead-letter queue without messages": "it is always there; the model makes it when it is first named",
    "which of several handles denies": "the share mode of one hides behind that of another",
    "a handle for send whose queue was deleted": "no section says what a send by it answers",
    "why a handle is of no use": "a closed one and one whose queue was deleted refuse the same calls",
    "a closed cursor and one that finds nothing": "both reads fail, and the text demands no code of a closed one",
    "a cursor of such a handle, or of one that is not for reading": "every call with it is refused",
    "quotas and times": "they show when a queue is filled or time passes, which histories do and a probe does not",
    "lookup identifiers that the harness has seen": "what the harness knows is no state of the implementation",
}
"""Kinds of difference that the probe need not tell, each with the reason."""


def outside(state: State, known: State) -> Hashable:
    """What is to be seen of a state by one who knows what `known` knows: the state without what UNSEEN lists."""
    return (
        tuple((name, _queue(state, name, known)) for name, queue in sorted(known.queues.items())),
        tuple((name, _handle(state, name)) for name in sorted(known.handles) if not _gone_sender(known, name)),
        tuple((name, _cursor(state, name)) for name in sorted(known.cursors)),
        tuple((name, _open_transaction(state, name)) for name in _reachable(known)),
        tuple(sorted(each.name for each in state.waiters if each.name in known.waited)),
    )


def _queue(state: State, name: str, known: State) -> Hashable:
    queue = state.queues.get(name)
    made_by_use = is_kept(name) or ";" in name
    if queue is None or not queue.exists:
        return (False, False, ()) if made_by_use else None
    if name == ELSEWHERE:
        return name
    holders = {None, *_reachable(known)}
    seen = [each for each in queue.positions if each.state not in _PURGED if each.holder in holders]
    there = [each for each in seen if each.holder is None or not held_too_long(state, each)]
    kind = queue.transactional and not (made_by_use and not there)
    readers = (each for each in state.handles.values() if each.queue == name and each.is_open and not each.lost)
    denied = any(each.share == "deny_receive" for each in readers)
    return kind, denied, tuple((each.message, each.state, each.holder) for each in there)


def _handle(state: State, name: str) -> Hashable:
    handle = state.handles.get(name)
    if handle is None or not handle.is_open or handle.lost:
        return None
    return handle.queue, handle.access


def _gone_sender(known: State, name: str) -> bool:
    return known.handles[name].lost and known.handles[name].access in ("send", "move")


def _cursor(state: State, name: str) -> Hashable:
    cursor = state.cursors.get(name)
    if cursor is None or cursor.state is CursorState.CLOSED or _handle(state, cursor.handle) is None:
        return None
    if state.handles[cursor.handle].access not in ("receive", "peek"):
        return None
    if cursor.ended is not None or cursor.state not in (CursorState.READ, CursorState.UNREAD):
        return None
    queue = state.queues[state.handles[cursor.handle].queue]
    behind = tuple(each.message for each in queue.positions if each.available and each.rank > cursor.at)
    at = cursor.message if cursor.state is CursorState.READ else None
    return (cursor.state, behind, at) if behind or at is not None else None


def _reachable(known: State) -> list[str]:
    return sorted(name for name, found in known.transactions.items() if found.ended != "restart")


def _open_transaction(state: State, name: str) -> bool:
    found = state.transactions.get(name)
    return found is not None and found.ended is None


def _shown(result: Result) -> Hashable:
    if isinstance(result, Succeeds):
        return "succeeds", result.message
    if isinstance(result, Fails):
        return "fails", tuple(code for _, code in result.by_reading[:1]) or result.codes
    return result.messages if isinstance(result, Transfers) else type(result).__name__


def _number(state: State, queue: str) -> Hashable:
    found = state.queues[queue]
    if any(each.state not in _CERTAIN or each.doubtful for each in found.positions):
        return "uncertain"
    return sum(each.available for each in found.positions)


def asked(model: Model, state: State, number: int, most: int = MOST) -> Iterator[tuple[Call, Hashable]]:
    """The calls of the probe with the answers that this state gives."""
    calls = probe(number, state, exploring.OFFER, most=most, restart=number % 8 == 7)
    call = next(calls, None)
    while call is not None:
        told, state = answer(model, state, call)
        if told != "nothing there":
            yield call, told
        try:
            call = calls.send(state)
        except StopIteration:
            return


def alike(model: Model, one: State, others: Sequence[State]) -> list[State]:
    """Those of the others that no probe of `one` tells from it."""
    left = list(others)
    for number in NUMBERS:
        now = [(other, other) for other in left]
        for call, told in asked(model, one, number):
            if not now:
                break
            following = []
            for began, state in now:
                seen, after = answer(model, state, call)
                uncertain = "uncertain" in (seen[0] if isinstance(seen, tuple) else seen, told[0])  # type: ignore[index]
                if seen == told or uncertain:
                    following.append((began, after))
            now = following
        left = [began for began, _ in now]
    return left
