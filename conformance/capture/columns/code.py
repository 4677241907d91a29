"""The compiled functions of this room."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from conformance.capture.columns import streams, walk
from conformance.wire import extents
from conformance.wire.columns.lowering import lowered, source_of
from conformance.wire.columns.machine_code import Wanted


def wanted(name: str, count: int) -> Wanted:
    """Return the machine code of a function of `walk` or `streams` with so many arguments, which may exist already."""
    return lowered(name, source_of(extents, streams, walk), name, count)


@cache
def walker() -> Callable[..., int]:
    """Return `walk.walk`, compiled."""
    return wanted("walk", 1).function()


@cache
def placer() -> Callable[..., int]:
    """Return `streams.place`, compiled."""
    return wanted("place", 2).function()
