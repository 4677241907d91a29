"""The book: planned histories with the situations that each step meets, as data in the wheel.

`tools/situations.py` makes it; a test tells a stale one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.model import Call


@dataclass(frozen=True, slots=True)
class Planned:
    """One history. number: its place in the book, the most valuable first. calls: all calls, the scene included.

    met: for each call the numbers of the situations that it is the first of this history to meet. virtual: it needs a
    virtual clock. methods: those a driver must offer. wait_ms: how long its waits take on a real clock.
    """

    number: int
    calls: tuple[Call, ...]
    met: tuple[tuple[int, ...], ...]
    virtual: bool
    methods: frozenset[str]
    wait_ms: int


@dataclass(frozen=True, slots=True)
class Book:
    """All planned histories, in the order in which they are played, and what became of the situations no history meets.

    digest: of the feature tables and the model that it was made from. unreachable: situation to the scope in which it
    was proven, or the reason of the constraint. Situations in neither are not met.
    """

    digest: str
    histories: tuple[Planned, ...]
    unreachable: Mapping[int, str]
