"""A queue tells of transactional messages from other computers: MS-MQDMPR 3.1.1.5, MS-MQMQ 2.3.12.24."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.management.incoming_story import COLLECTION, INFO, NEEDS, OTHER_CLAIMS, STORIES, TABLE

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.requirement(*INFO.values(), COLLECTION, "MQMQ-2.3.12.24.propid-mgmt-queue-eod-source-info")
@pytest.mark.parametrize("story", STORIES)
def test_what_came_in_a_sequence_is_told(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    TABLE.play(story, mq, judge, mq_need, *NEEDS, *OTHER_CLAIMS.get(story, ()))
