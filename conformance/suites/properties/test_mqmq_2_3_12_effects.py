"""What properties mean for messages: MS-MQMQ 2.3.1.4, 2.3.1.13 and 2.3.12.7 to .10, MS-MQDMPR 3.1.1.2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.properties.messages import NEEDS
from conformance.suites.properties.stories import CLEAR, COUNTS, NOT_TRANSACTIONAL, TRANSACTIONAL, UNAUTHENTICATED
from conformance.suites.properties.telling import told

if TYPE_CHECKING:
    from conformance.suites.guard import GuardedClient
    from conformance.suites.judging import Judge


@pytest.mark.requirement(*COUNTS.values())
def test_counts(mq: GuardedClient, judge: Judge, mq_need: Any) -> None:
    mq_need(*NEEDS, "queues.counts")
    told("counts", mq, judge)


@pytest.mark.requirement(TRANSACTIONAL, NOT_TRANSACTIONAL)
def test_transactional_or_not(mq: GuardedClient, judge: Judge, mq_need: Any) -> None:
    mq_need(*NEEDS, "transactions.begin", "transactions.commit")
    told("transactional-or-not", mq, judge)


@pytest.mark.requirement(UNAUTHENTICATED, CLEAR)
def test_messages_that_are_neither_signed_nor_encrypted(mq: GuardedClient, judge: Judge, mq_need: Any) -> None:
    mq_need(*NEEDS)
    told("neither-signed-nor-encrypted", mq, judge)
