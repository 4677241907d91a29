"""Runs a story in a test; skips the test, with the reason, if the story cannot make its queue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.suites.properties.messages import Unopened
from conformance.suites.properties.stories import tell

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


def told(name: str, mq: Port, judge: Recorder) -> None:
    """Run a story (`conformance.suites.properties.stories.tell`), or skip."""
    try:
        tell(name, mq, judge)
    except Unopened as nothing:
        pytest.skip(str(nothing))


def restarts(mq: Port) -> None:
    """Skip if the connection does not keep the state over a restart."""
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
