"""Tune the garbage collector for a run: it makes millions of values, and few of them form cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG, MIDDLE, OLD = 100_000, 20, 100


def settle() -> None:
    """Collect garbage now, and never scan again what is left, while `rarely_collecting` lasts.

    The kill of an implementation in this process collects garbage each time: in a large process that takes longer
    than all that happens between two kills.
    """
    gc.collect()
    gc.freeze()


@contextmanager
def rarely_collecting() -> Iterator[None]:
    """Collect garbage rarely while the context lasts, and never scan the objects that exist already."""
    before = gc.get_threshold()
    gc.freeze()  # without a collection first, which takes longer than a short run in a large process
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
