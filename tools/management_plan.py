"""Plan the histories of management, and write them: `conformance/histories/management_plan.json`.

A history begins with a stage and takes, in each state, the call that meets most pairs of features not met yet; where
none meets any, the one that leads where histories have been least often. The seed is fixed.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from conformance.histories.examples import ADDRESS, REMOTE, acting, final, in_order, step, stored, transfer
from conformance.histories.features.table import FEATURES
from conformance.histories.operations.state_queries import message_name, names
from conformance.histories.stage_event_pairs import (
    BEGINNING,
    DATA,
    LOCAL,
    PLAYED,
    REMOTE_STAGES,
    Pair,
    all_pairs,
    pair_texts,
    pairs_of,
    why_left,
)
from conformance.model import BadCall, Call, Model, State
from conformance.model.management import MACHINE_ACTIONS, QUEUE_ACTIONS, SESSION
from conformance.model.outgoing import session_of, sure
from conformance.spec.catalogue import assignment

_SEED: Final = 20
_LONGEST: Final = 20  # calls of a history behind its stage
_FRUITLESS: Final = 25  # histories in turn that meet nothing new, after which no more are sought
_STEPS: Final = ("in_process", "established", "closing", "closed", "dns_failure", "connection_refused")
_RECEIVED, _REJECTED = 0x4000, 0x8004  # MS-MQMQ 2.2.18.1.6


def moves(state: State) -> list[tuple[Call, ...]]:
    """Return what can be done next: single calls, and transactions as a whole."""
    return [*_sending(state), *_acting(state), *_connecting(state), *_acknowledging(state), *_others(state)]


def _sending(state: State) -> Iterator[tuple[Call, ...]]:
    handle = next((one.name for one in state.handles.values() if one.queue == REMOTE and one.is_open), None)
    if handle is None:
        yield (Call("queues.open", name=names("s", state.handles), queue=REMOTE, access="send"),)
        return
    message, work = message_name(state), names("t", state.transactions)
    kept: dict[str, bool] = {"journal": True, "dead_letter": True}
    begun = next((one.name for one in state.transactions.values() if not one.ended), None)
    yield (Call("messages.send", message=message, handle=handle),)
    yield (Call("messages.send", message=message, handle=handle, journal=True),)
    yield (Call("queues.close", handle=handle),)
    if begun is not None:
        yield (Call("transactions.commit", transaction=begun),)
        return
    for wishes in ({}, kept):
        sent = (
            Call("transactions.begin", name=work),
            Call("messages.send", message=message, handle=handle, transaction=work, **wishes),  # type: ignore[arg-type]
            Call("messages.send", message=f"{message}x", handle=handle, transaction=work, **wishes),  # type: ignore[arg-type]
        )
        yield sent
        yield (*sent, Call("transactions.commit", transaction=work))


def _acting(state: State) -> Iterator[tuple[Call, ...]]:
    for action in (*MACHINE_ACTIONS, *QUEUE_ACTIONS, "STOP"):
        for written in (action, action.lower(), action.title()):
            yield (acting(written),)
            yield (acting(written, REMOTE),)
            yield (acting(written, LOCAL),)
            yield (acting(written, "q9"),)
            yield (Call("management.act", target=SESSION, action=written),)


def _connecting(state: State) -> Iterator[tuple[Call, ...]]:
    session = session_of(state, REMOTE)
    for name in _STEPS:
        if name != "closed" and (session.torn or len(session.steps) > _LONGEST):
            continue
        addresses = (ADDRESS,) if name in ("in_process", "established") else ()
        yield (step(name, *addresses, error=0xC00E0013 if name == "dns_failure" else 0),)
    if sure(state, REMOTE):
        yield (transfer(),)
        yield (transfer(1),)


def _acknowledging(state: State) -> Iterator[tuple[Call, ...]]:
    session = session_of(state, REMOTE)
    yield (stored(1),)
    yield (stored(9),)
    yield from ((in_order(number),) for number in range(1, session.following))
    for message in session.unread[:1]:
        yield (final(message, _RECEIVED),)
        yield (final(message, _REJECTED),)


def _others(state: State) -> Iterator[tuple[Call, ...]]:
    yield (Call("clock.advance", by_ms=4_000),)
    yield (Call("clock.advance", by_ms=35_000),)


def _after(model: Model, state: State, calls: Sequence[Call]) -> tuple[State, list[Pair]] | None:
    """Return the state after some calls, with the pairs they meet; None if one of them makes no sense."""
    met: list[Pair] = []
    for call in calls:
        try:
            expected = model.allowed(state, call).outcomes[0]
        except (BadCall, KeyError, AssertionError):
            return None
        if call.method in PLAYED:
            met += pairs_of(state, call)
        state = expected.next
    return state, met


def _place(state: State) -> tuple[object, ...]:
    """Return where the session of the outgoing queue is: what its features are."""
    call = transfer()
    return tuple(feature.of(state, call) for feature in FEATURES[call.method])


def _history(
    model: Model, roll: random.Random, met: set[Pair], places: Counter[object], stage: Sequence[Call]
) -> tuple[list[Call], set[Pair]]:
    """Return a history that is cut behind the last call that meets something new, and the pairs that are new.

    Where no call meets anything new, the one is taken that leads where histories have been least often.
    """
    begun = _after(model, State(), BEGINNING)
    assert begun is not None
    state, new, calls = begun[0], set[Pair](), list[Call]()
    for call in stage:
        went = _after(model, state, (call,))
        if went is not None:
            state, calls = went[0], [*calls, call]
            new |= set(went[1]) - met
    kept, first = len(calls), len(calls)
    while len(calls) - first < _LONGEST:
        options = moves(state)
        roll.shuffle(options)
        best: tuple[float, tuple[Call, ...], State, list[Pair]] | None = None
        for option in options:
            went = _after(model, state, option)
            if went is None:
                continue
            gain = len(set(went[1]) - met - new)
            worth = gain + 1 / (1 + places[_place(went[0])])
            if best is None or worth > best[0]:
                best = (worth, option, *went)
        if best is None:
            break
        _, option, state, found = best
        calls += option
        places[_place(state)] += 1
        fresh = set(found) - met - new
        new |= fresh
        kept = len(calls) if fresh else kept
    return calls[:kept], new


def planned() -> tuple[tuple[tuple[Call, ...], ...], frozenset[Pair]]:
    """Return the histories, each without its opening, and all the pairs that they meet."""
    model, roll, met = Model(assignment("windows")), random.Random(_SEED), set[Pair]()
    found: list[tuple[Call, ...]] = []
    stages, places, fruitless, turn = tuple(REMOTE_STAGES.values()), Counter[object](), 0, 0
    while fruitless < _FRUITLESS:
        calls, new = _history(model, roll, met, places, stages[turn % len(stages)])
        turn += 1
        fruitless = 0 if new else fruitless + 1
        if new:
            met |= new
            found.append(tuple(calls))
    found += _beside(model, met)
    return tuple(found), frozenset(met)


def _beside(model: Model, met: set[Pair]) -> Iterator[tuple[Call, ...]]:
    """Yield a history for each pair that two steps behind a stage can meet and no history met; add them to `met`."""
    begun = _after(model, State(), BEGINNING)
    assert begun is not None
    for stage in REMOTE_STAGES.values():
        state, before = begun[0], list[Call]()
        for call in stage:
            went = _after(model, state, (call,))
            if went is not None:
                state, before = went[0], [*before, call]
        for first in moves(state):
            between = _after(model, state, first)
            for second in moves(between[0]) if between is not None else ():
                went = _after(model, between[0], second)  # type: ignore[index]
                if went is not None and not met.issuperset(went[1]):
                    met |= set(went[1])
                    yield (*before, *first, *second)


def main() -> int:
    """Write the histories, and print how many pairs they meet and which are left without a reason."""
    found, met = planned()
    lines = (json.dumps([call.to_json() for call in calls], separators=(",", ":")) for calls in found)
    DATA.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    left = [pair for pair in all_pairs() - met if why_left(pair) is None]
    print(f"{len(found)} histories, {sum(map(len, found))} calls, {len(met)} of {len(all_pairs())} pairs")
    print(*pair_texts(left), sep="\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
