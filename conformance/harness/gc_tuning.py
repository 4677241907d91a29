"""Tune the garbage collector for a run: it makes millions of values, and few of them form cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG, MIDDLE, OLD = 100_000, 20, 100


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
