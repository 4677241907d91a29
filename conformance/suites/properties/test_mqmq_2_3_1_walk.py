"""A walk over creating, setting, reading, using and deleting queues, and restarting: MS-MQMP 3.1.4.5, .9 and .10."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.histories.history import NEEDS, Watched
from conformance.histories.plans import properties
from conformance.histories.walk import walk
from conformance.suites.properties.stories import WALKED

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions


@pytest.mark.requirement(*WALKED)
def test_a_walk_with_properties(mq: Port, judge: Recorder, mq_need: Any, run_options: RunOptions) -> None:
    mq_need(*NEEDS)
    shown = Watched.begun(mq, judge).shown
    walk(mq, judge, run_options, properties(shown, restarts=mq.keeps_state))
