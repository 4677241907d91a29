"""Several clients at once: MS-MQDMPR 3.1.7, whose events each happen as a whole.

No section speaks of concurrency by name. The state and the events of 3.1.7 are those of one queue manager, which takes
the events one at a time; so whatever many clients see, some order of their calls must explain it.
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance.suites.concurrency import claims
from conformance.suites.concurrency.running import NEEDS, concurrently
from conformance.suites.concurrency.workload import Workload

PLAIN = Workload((("q1", False),), 8, 160, (("send", 5), ("receive", 4), ("peek", 1)))
SEVERAL = Workload((("q1", False), ("q2", False)), 6, 160, (("send", 5), ("receive", 4), ("peek", 1)), burst=3)
WAITS = Workload((("q1", False),), 4, 120, (("send", 5), ("receive", 1), ("wait", 4), ("wait_peek", 1), ("peek", 1)))
TRANSACTIONS = Workload((("q1", True),), 6, 120, (("send", 5), ("receive", 4), ("peek", 1)))
BOTH = Workload((("q1", True), ("q2", True), ("q3", False)), 6, 140, (("send", 5), ("receive", 4), ("peek", 1)))
CURSORS = Workload((("q1", False),), 4, 120, (("send", 5), ("receive", 2), ("cursor", 5), ("purge", 0)))
PURGES = Workload((("q1", False),), 5, 100, (("send", 8), ("receive", 3), ("peek", 1), ("purge", 1)))
ENDS = ("transactions.begin", "transactions.commit", "transactions.abort")


@pytest.mark.requirement(*claims.PLAIN)
def test_many_clients_send_and_receive(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS)
    concurrently(mq, judge, run_options, PLAIN, share=0.07)
    concurrently(mq, judge, run_options, SEVERAL, share=0.03)


@pytest.mark.requirement(*claims.WAITS)
def test_many_clients_wait(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "messages.cancel")
    concurrently(mq, judge, run_options, WAITS, share=0.1)


@pytest.mark.requirement(*claims.TRANSACTIONS)
def test_many_transactions(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *ENDS)
    concurrently(mq, judge, run_options, TRANSACTIONS, share=0.07)
    concurrently(mq, judge, run_options, BOTH, share=0.03)


@pytest.mark.requirement(*claims.CURSORS)
def test_many_cursors(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "cursors.open", "messages.peek_next")
    concurrently(mq, judge, run_options, CURSORS, share=0.07)


@pytest.mark.requirement("MQDMPR-3.1.7.1.7.available-deleted")
def test_a_purge_among_many_clients(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "queues.purge")
    concurrently(mq, judge, run_options, PURGES, share=0.07)
