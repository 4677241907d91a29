"""How much work a call does: lines of ours executed, and the memory it takes at most. No clock is asked."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import conformance

ROOT = str(Path(conformance.__file__).parent)


class TooManySteps(AssertionError):
    """The call was stopped: it has done more than it was allowed to."""


def steps(act: Callable[[], Any], limit: int) -> int:
    """Lines of the project the call executes. Raises TooManySteps beyond `limit`."""
    count = 0

    def line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        if event == "line":
            count += 1
            if count > limit:
                raise TooManySteps(f"more than {limit} lines, in {frame.f_code.co_name}")
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Any:
        return line if frame.f_code.co_filename.startswith(ROOT) else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def peak(act: Callable[[], Any]) -> int:
    """The most bytes of memory the call holds at once."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
