"""When garbage is collected: values come and go by the million in a run, and few of them make cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

YOUNG, MIDDLE, OLD = 100_000, 20, 100


@contextmanager
def rarely_collecting() -> Iterator[None]:
    """Garbage is collected, but not after every few hundred values, and what is here already is not looked at again."""
    before = gc.get_threshold()
    gc.freeze()  # without a look at it first, which in a large process takes longer than a short run
    gc.set_threshold(YOUNG, MIDDLE, OLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
