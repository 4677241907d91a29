"""Find several faults that explain a story only together: each takes it further than those before it.

An implementation with many deviations shows more than one of them in nearly every story, so that no single fault of the
dictionary explains a story to its end.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from conformance.explaining.playing import Played, Player, Tolerated
from conformance.explaining.stories import Implementation, Told

MOST: Final = 5
"""Faults that are looked for in one story; more explain anything."""


def together(
    told: Told,
    known: tuple[str, ...],
    candidates: Sequence[str],
    implementation: Implementation,
    tolerated: Tolerated,
    *,
    until: float,
) -> tuple[str, ...]:
    """Return the faults that explain a story beside the known ones, none of them needless; () if none are found.

    Each is the one that takes the story furthest, or leaves the fewest differences where it ends. until: see
    `time.monotonic()`.
    """

    def reached(faults: tuple[str, ...]) -> tuple[int, int]:
        with Player((*known, *faults), implementation) as player:
            return _reached(player.play(told, tolerated), len(told.ops))

    found: tuple[str, ...] = ()
    furthest = reached(())
    while furthest[0] < len(told.ops) and len(found) < MOST:
        best = furthest, ""
        for name in candidates:
            if time.monotonic() > until:
                return ()
            if name not in known and name not in found and (at := reached((*found, name))) > best[0]:
                best = at, name
        if not best[1]:
            return ()
        furthest, found = best[0], (*found, best[1])
    if furthest[0] < len(told.ops):
        return ()
    for name in found[:-1]:
        fewer = tuple(each for each in found if each != name)
        found = fewer if reached(fewer) == furthest else found
    return found


def _reached(played: Played, every: int) -> tuple[int, int]:
    """Return how far a story went: the more operations and the fewer differences at its end, the greater."""
    return (every, 0) if played.at is None else (played.at, -len(played.paths))
