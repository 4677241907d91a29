"""Plans histories of objects that meet every pair of features of each member, on the model alone.

For each member: of many calls that a client may make next, the one is made that meets most of what is not met yet; if
none meets enough, the client does something else that changes the situation. The draw is seeded, so the same tables
give the same histories.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import comb
from random import Random
from typing import Final

from conformance.activex.plans import Act, Plan
from conformance.activex.walk import Walk
from conformance.histories.features.objects import FEATURES, MEMBERS, vector
from conformance.histories.situations.object_book import Planned
from conformance.histories.situations.object_clients import Client, replayed
from conformance.histories.situations.service_clients import Served
from conformance.histories.situations.situation import Space
from tools.planner.object_draws import client_of, drawn, followed, needed, prepared, stages

DRAWS: Final = 120
STEPS: Final = 90
ACTS: Final = 110
"""Acts of a history, the beginning included: longer ones lose more to their first failure."""
GIVES_UP: Final = 400
"""Histories in a row that meet nothing new."""
SOON: Final = 5
"""The same where another scene meets what is left."""


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
    left, made = set(space.of_method(name)) - without, list[Planned]()
    *others, last = stages(MEMBERS[name])
    for stage in (*others, last):
        dry, enough = 0, GIVES_UP if stage == last else SOON
        while left and dry < enough:
            acts, met, ways = _history(space, name, stage, left, Random(f"{name} {len(made) + dry}"))
            if any(met):
                made.append(checked(needed(sparse(Planned(stage, name, acts, met), ways))))
            dry = 0 if any(met) else dry + 1
    return made, left


def sparse(history: Planned, ways: Sequence[range]) -> Planned:
    """Return a history without the ways to other situations that what it meets does not need. ways: by their acts."""
    for way in reversed(ways):
        acts = (*history.acts[: way.start], *history.acts[way.stop :])
        fewer = replace(history, acts=acts, met=(*history.met[: way.start], *history.met[way.stop :]))
        try:
            history = checked(fewer)
        except (ValueError, KeyError):  # it leads where nothing is known, or names what is not there
            continue
    return history


def checked(history: Planned) -> Planned:
    """Return the history. Raises ValueError if it does not meet what it says."""
    for told, met in zip(history.met, replayed(history), strict=True):
        if not met.issuperset(told):
            raise ValueError(f"a history of {history.member} does not meet what it says")
    return history


def _history(
    space: Space, name: str, stage: str, left: set[int], random: Random
) -> tuple[Plan, tuple[tuple[int, ...], ...], list[range]]:
    """Return the acts of a history, what each meets first, and the ways between. Takes what is met out of `left`."""
    member = MEMBERS[name]
    client = client_of(member, stage, random.randrange(2**32))
    count = len(FEATURES[name])
    enough, last = max(1, comb(count, 2)), 0
    met: dict[int, tuple[int, ...]] = {}
    ways: list[range] = []
    for _ in range(STEPS):
        if not left or len(client.plan) >= ACTS:
            break
        best = None if isinstance(client, Walk) and client.world.waiting else _best(space, name, client, left, random)
        if best is None or len(best[1]) < enough:
            enough = max(1, enough - 2)
        elif client.attempt((best[0],)):
            met[len(client.plan) - 1] = best[1]
            left -= set(best[1])
            client.attempt(followed(member, best[0], client))
            last = len(client.plan)
            continue
        start = len(client.plan)
        if prepared(member, client, random):
            ways.append(range(start, len(client.plan)))
    acts = tuple(client.plan[:last])
    return acts, tuple(met.get(at, ()) for at in range(len(acts))), [one for one in ways if one.stop <= last]


def _best(
    space: Space, name: str, client: Client | Served, left: set[int], random: Random
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
