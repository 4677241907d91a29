"""Reads by R_StartTransactionalReceive without a transaction: MS-MQRR 3.1.4.13."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.suites.remote.stories import TABLE, parameters


@pytest.mark.parametrize("name", parameters("MQRR-13"))
def test_reads_without_a_transaction_are_answered(mq: Any, judge: Any, mq_need: Any, name: str) -> None:
    TABLE.play(name, mq, judge, mq_need)
