"""How descriptors are set and read: MS-MQMP 3.1.4.6 and 3.1.4.7."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.security.stories import play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.requirement(
    "MQMP-3.1.4.7.too-small",
    "MQMP-3.1.4.7.length-needed",
    "MQMP-3.1.4.7.room",
    "MQMP-3.1.4.7.get",
    "MQMP-3.1.4.7.self-relative",
)
def test_a_caller_has_room_for_some_bytes(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("room", mq, judge, mq_need)


@pytest.mark.requirement("MQMP-3.1.4.6.unknown-queue", "MQMP-3.1.4.7.unknown-queue")
def test_a_queue_that_is_not_there_has_no_descriptor(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("unknown-queue", mq, judge, mq_need)


@pytest.mark.requirement(
    "MQMP-3.1.4.6.ill-formed", "MQMP-3.1.4.6.refused-unchanged", "MQMQ-2.4.mq-error-illegal-security-descriptor"
)
def test_bytes_that_are_no_descriptor_are_refused(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("ill-formed", mq, judge, mq_need)


@pytest.mark.requirement("MQMP-3.1.4.6.updates")
def test_the_longest_descriptors_are_taken(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("longest", mq, judge, mq_need)
