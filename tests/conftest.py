"""What all tests need of the process they run in."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator

import pytest

# A job that a shell starts in the background ignores Ctrl-C, and so do its children: what tests interrupt must not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="module")
def what_stays_is_looked_through_once() -> Iterator[None]:
    """A worker keeps much of what its tests made, and drivers within it collect garbage whenever one ends.

    Grammars and explored states would be gone through each time, which takes seconds.
    """
    yield
    gc.collect()
    gc.freeze()
