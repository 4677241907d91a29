"""Which parts of a descriptor are read and set, and that they last: MS-MQMQ 2.2.3, MS-MQDMPR 3.1.1.1, 3.1.1.2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.security.scene import PART_IDS
from conformance.suites.security.stories import marked, play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

_QUEUE, _MACHINE = "MQDMPR-3.1.1.2.security", "MQDMPR-3.1.1.1.security"


@pytest.mark.requirement(*PART_IDS.values())
@pytest.mark.parametrize(
    "story",
    [
        marked("set-queue", _QUEUE, "MQMP-3.1.4.6.updates"),
        marked("set-machine", _MACHINE, "MQMP-3.1.4.6.updates"),
        marked("read-queue", _QUEUE),
        marked("read-machine", _MACHINE),
    ],
)
def test_each_combination_of_parts(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)


@pytest.mark.requirement(PART_IDS[8], "MQMQ-2.4.mq-error-privilege-not-held")
def test_the_system_list_needs_a_privilege(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("system-list", mq, judge, mq_need)


@pytest.mark.requirement(_QUEUE, _MACHINE)
@pytest.mark.parametrize("story", ["stopped", "killed"])
def test_descriptors_outlive_the_manager(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)
