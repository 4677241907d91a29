"""Plans histories of objects that meet every pair of features of each member, on the model alone.

For each member: of many calls that a client may make next, the one is made that meets most of what is not met yet; if
none meets enough, the client does something else that changes the situation. The draw is seeded, so the same tables
give the same histories.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import comb
from random import Random
from typing import Final

from conformance.activex.plans import Act, Plan
from conformance.histories.features.objects import FEATURES, MEMBERS, vector
from conformance.histories.situations.object_book import Planned
from conformance.histories.situations.object_clients import (
    Client,
    client_of,
    drawn,
    followed,
    needed,
    prepared,
    replayed,
    stage,
)
from conformance.histories.situations.situation import Space

DRAWS: Final = 120
STEPS: Final = 90
ACTS: Final = 110
"""Acts of a history, the beginning included: longer ones lose more to their first failure."""
GIVES_UP: Final = 400
"""Histories in a row that meet nothing new."""


def plan(space: Space, tell: Callable[[str], None], kept: Sequence[Planned] = ()) -> tuple[list[Planned], set[int]]:
    """Return the histories of all members, and the numbers that none of them meets though nothing excludes them.

    kept: histories of members that are not planned again.
    """
    without = frozenset(space.excluded())
    histories, left = list[Planned](), set[int]()
    for name in space.features:
        there = [one for one in kept if one.member == name]
        if there:
            histories += there
            left |= set(space.of_method(name)) - without - {at for one in there for met in one.met for at in met}
            continue
        made, missed = planned(space, name, without)
        histories += made
        left |= missed
        tell(f"{name}: {len(made)} histories, {len(missed)} situations not met")
    return histories, left


def planned(space: Space, name: str, without: frozenset[int] | set[int]) -> tuple[list[Planned], set[int]]:
    """Return histories of a member, and the numbers that none of them meets. without: what does not count."""
    left, made, dry = set(space.of_method(name)) - without, list[Planned](), 0
    while left and dry < GIVES_UP:
        found = _history(space, name, left, Random(f"{name} {len(made) + dry}"))
        if any(found[1]):
            made.append(checked(needed(Planned(stage(MEMBERS[name]), name, *found))))
        dry = 0 if any(found[1]) else dry + 1
    return made, left


def checked(history: Planned) -> Planned:
    """Return the history. Raises ValueError if it does not meet what it says."""
    for told, met in zip(history.met, replayed(history), strict=True):
        if not met.issuperset(told):
            raise ValueError(f"a history of {history.member} does not meet what it says")
    return history


def _history(space: Space, name: str, left: set[int], random: Random) -> tuple[Plan, tuple[tuple[int, ...], ...]]:
    """Return the acts of a history and what each meets first. Takes that out of `left`."""
    member = MEMBERS[name]
    client = client_of(member, random.randrange(2**32))
    count = len(FEATURES[name])
    enough, last = max(1, comb(count, 2)), 0
    met: dict[int, tuple[int, ...]] = {}
    for _ in range(STEPS):
        if not left or len(client.plan) >= ACTS:
            break
        best = None if client.world.waiting else _best(space, name, client, left, random)
        if best is None or len(best[1]) < enough:
            enough = max(1, enough - 2)
        elif client.attempt((best[0],)):
            met[len(client.plan) - 1] = best[1]
            left -= set(best[1])
            client.attempt(followed(member, best[0], client))
            last = len(client.plan)
            continue
        prepared(member, client, random)
    acts = tuple(client.plan[:last])
    return acts, tuple(met.get(at, ()) for at in range(len(acts)))


def _best(
    space: Space, name: str, client: Client, left: set[int], random: Random
) -> tuple[Act, tuple[int, ...]] | None:
    """Return the call that meets most of what is left, with what it meets."""
    best: tuple[Act, tuple[int, ...]] | None = None
    for _ in range(DRAWS):
        act = drawn(MEMBERS[name], client, random)
        if act is None:
            continue
        found = tuple(one for one in space.numbers(name, vector(name, client.world, act)) if one in left)
        if found and (best is None or len(found) > len(best[1])):
            best = act, found
    return best
