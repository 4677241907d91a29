"""Tells a story in a test, or skips it where the driver lacks what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.security.scene import Untold
from conformance.suites.security.stories import tell

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

NEEDS = ("security.get", "security.set", "queues.create")


def play(name: str, mq: Port, judge: Recorder, mq_need: Any, *needs: str) -> None:
    """Tell a story on a fresh manager. needs: the methods without which it makes no sense."""
    mq_need(*(needs or NEEDS))
    if mq.offers("reset"):
        mq.call("reset")
    try:
        tell(name, mq, judge)
    except Untold as nothing:
        pytest.skip(str(nothing))


def marked(name: str, *demands: str) -> Any:
    """Return the story as a parameter of a test, with the requirements that it claims."""
    return pytest.param(name, marks=pytest.mark.requirement(*demands), id=name)
