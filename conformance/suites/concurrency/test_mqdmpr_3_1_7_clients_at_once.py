"""Several clients at once: MS-MQDMPR 3.1.7, whose events each happen as a whole.

No section names concurrency. Section 3.1.7 describes the state of one queue manager and events that it processes one at
a time; so some order of the calls must explain the answers of all clients.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from conformance.suites.concurrency import workload
from conformance.suites.concurrency.running import NEEDS, concurrently, sends_at_once
from conformance.suites.concurrency.workload import Workload

PLAIN = Workload((("q1", False),), 8, 160, (("send", 5), ("receive", 4), ("peek", 1)))
SEVERAL = Workload((("q1", False), ("q2", False)), 6, 160, (("send", 5), ("receive", 4), ("peek", 1)), burst=3)
WAITS = Workload((("q1", False),), 4, 120, (("send", 5), ("receive", 1), ("wait", 4), ("wait_peek", 1), ("peek", 1)))
TRANSACTIONS = Workload((("q1", True),), 6, 120, (("send", 5), ("receive", 4), ("peek", 1)))
BOTH = Workload((("q1", True), ("q2", True), ("q3", False)), 6, 140, (("send", 5), ("receive", 4), ("peek", 1)))
CURSORS = Workload((("q1", False),), 4, 120, (("send", 5), ("receive", 2), ("cursor", 5), ("purge", 0)))
PURGES = Workload((("q1", False),), 5, 100, (("send", 8), ("receive", 3), ("peek", 1), ("purge", 1)))
SHARED = replace(WAITS, shared=True, operations=60)
RIVALS = replace(TRANSACTIONS, rivals=60, operations=60)
ABORTS = Workload((("q1", True),), 4, 120, (("send", 4), ("receive", 6), ("peek", 1)), rivals=60, aborts=60)
OPENS = Workload((("q1", False),), 6, 60, (("send", 0), ("receive", 1), ("open", 15)))
CREATES = Workload((("q1", False),), 5, 40, (("send", 1), ("receive", 1), ("create", 6)))
PHASES = Workload((("q1", False),), 5, 100, (("send", 5), ("receive", 2), ("peek", 1), ("begin_read", 5)))
MOVES = Workload(
    (("q1", False),), 5, 100, (("send", 6), ("receive", 4), ("peek", 3), ("move", 5), ("fetch", 2)), rivals=60
)
ENDS = ("transactions.begin", "transactions.commit", "transactions.abort")


@pytest.mark.requirement(*workload.PLAIN)
def test_many_clients_send_and_receive(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS)
    concurrently(mq, judge, run_options, PLAIN, share=0.07)
    concurrently(mq, judge, run_options, SEVERAL, share=0.03)


@pytest.mark.requirement(*workload.WAITS)
def test_many_clients_wait(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "messages.cancel")
    concurrently(mq, judge, run_options, WAITS, share=0.1)
    concurrently(mq, judge, run_options, SHARED, share=0.07)


@pytest.mark.requirement(*workload.TRANSACTIONS)
def test_many_transactions(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, *ENDS)
    concurrently(mq, judge, run_options, TRANSACTIONS, share=0.07)
    concurrently(mq, judge, run_options, BOTH, share=0.03)
    concurrently(mq, judge, run_options, RIVALS, share=0.07)
    concurrently(mq, judge, run_options, ABORTS, share=0.07)


@pytest.mark.requirement(*workload.CURSORS)
def test_many_cursors(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "cursors.open", "messages.peek_next")
    concurrently(mq, judge, run_options, CURSORS, share=0.07)


@pytest.mark.requirement("MQDMPR-3.1.7.1.7.available-deleted")
def test_a_purge_among_many_clients(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "queues.purge")
    concurrently(mq, judge, run_options, PURGES, share=0.07)


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.5.receive-then-exclusive",
    "MQDMPR-3.1.7.1.5.exclusive-then-exclusive",
    "MQDMPR-3.1.7.1.5.exclusive-peek-then-receive",
    "MQDMPR-3.1.7.1.5.exclusive-then-peek",
    "MQDMPR-3.1.7.1.6.share-released",
)
def test_many_clients_open_for_themselves_alone(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "queues.close")
    concurrently(mq, judge, run_options, OPENS, share=0.07)


@pytest.mark.requirement("MQMP-3.1.4.5.queue-exists", "MQMP-3.1.4.5.queue-exists-code", "MQDMPR-3.1.7.1.3.success")
def test_many_clients_create_one_queue(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "queues.delete")
    concurrently(mq, judge, run_options, CREATES, share=0.07)


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.11.first-available",
    "MQDMPR-3.1.7.1.11.locks",
    "MQDMPR-3.1.7.1.12.deletes",
    "MQDMPR-3.1.7.1.12.mq-ok",
    "MQDMPR-3.1.7.1.12.restores",
)
def test_many_clients_receive_in_two_phases(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "messages.receive_begin", "messages.receive_end")
    concurrently(mq, judge, run_options, PHASES, share=0.07)


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.10.first-available",
    "MQDMPR-3.1.7.1.16.moved",
    "MQDMPR-3.1.7.1.16.outside-transaction",
    "MQRR-3.1.4.10.message-not-found",
)
def test_many_clients_move_messages(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "messages.move")
    concurrently(mq, judge, run_options, MOVES, share=0.07)


@pytest.mark.requirement("MQDMPR-3.1.1.2.total-bytes")
def test_messages_sent_at_once_are_all_counted(mq: Any, judge: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "queues.counts")
    for clients in (2, 4, 8):
        sends_at_once(mq, judge, clients)
