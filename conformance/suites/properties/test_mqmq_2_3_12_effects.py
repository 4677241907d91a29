"""Effects of properties on messages: MS-MQMQ 2.3.1.4, 2.3.1.13 and 2.3.12.7 to .10, MS-MQDMPR 3.1.1.2, 3.1.7.1.3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.spec.versions import applies
from conformance.suites.properties.mailbox import NEEDS
from conformance.suites.properties.stories import (
    CLEAR,
    COUNTS,
    EMPTY,
    NO_SUBQUEUES,
    NOT_TRANSACTIONAL,
    TRANSACTIONAL,
    UNAUTHENTICATED,
    run_story,
)

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.requirement(*COUNTS.values())
def test_counts(mq: Port, judge: Recorder, mq_need: Any) -> None:
    mq_need(*NEEDS, "queues.counts")
    run_story("counts", mq, judge)


@pytest.mark.requirement(TRANSACTIONAL, NOT_TRANSACTIONAL)
def test_transactional_or_not(mq: Port, judge: Recorder, mq_need: Any) -> None:
    mq_need(*NEEDS, "transactions.begin", "transactions.commit")
    run_story("transactional-or-not", mq, judge)


@pytest.mark.requirement(UNAUTHENTICATED, CLEAR)
def test_messages_that_are_neither_signed_nor_encrypted(mq: Port, judge: Recorder, mq_need: Any) -> None:
    mq_need(*NEEDS)
    run_story("neither-signed-nor-encrypted", mq, judge)


@pytest.mark.requirement(EMPTY)
def test_created_again(mq: Port, judge: Recorder, mq_need: Any) -> None:
    mq_need(*NEEDS, "queues.delete")
    run_story("created-again", mq, judge)


@pytest.mark.requirement(NO_SUBQUEUES)
def test_created_again_without_subqueues(mq: Port, judge: Recorder, mq_need: Any) -> None:
    if not applies(judge.profile, "msmq-4.0", None):
        judge.not_demanded(f"there are no subqueues in {judge.profile}")
    mq_need(*NEEDS, "queues.delete", "messages.move", "messages.peek")
    run_story("created-again-without-subqueues", mq, judge)
