"""Positive source journaling, MS-MQDMPR 3.1.1.12, and the journal of a queue, MS-MQMQ 2.3.1.4."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import (
    REAL_MS,
    TARGET_JOURNAL,
    abort,
    begin_keeping,
    begin_transaction,
    commit,
    passes,
    peek,
    post,
    receive,
    receives,
)
from conformance.model import Call
from conformance.model.journals import SYSTEM_JOURNAL, journal_of

ENDS = ("transactions.begin", "transactions.commit", "transactions.abort")


@pytest.mark.requirement(
    "MQDMPR-3.1.1.12.positive-journaling",
    "MQDMPR-3.1.1.12.positive-journaling-off",
)
def test_what_asks_for_it_is_in_the_journal_of_the_manager(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, reads=(SYSTEM_JOURNAL,))
    history.run(post("a", journal=True), post("b"), post("c", journal=True), *receives("j1", 3), *receives("r", 4))


@pytest.mark.requirement("MQDMPR-3.1.1.12.positive-journaling")
def test_a_send_is_journaled_when_its_transaction_commits(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, *ENDS, reads=(SYSTEM_JOURNAL,), transactional=True)
    history.run(begin_transaction("t1"), post("a", journal=True, within="t1"), commit("t1"), *receives("j1", 2))
    history.run(begin_transaction("t2"), post("b", journal=True, within="t2"), abort("t2"), *receives("j1"))


@pytest.mark.requirement(
    "MQMQ-2.3.1.4.journal-copy",
    "MQMQ-2.3.1.4.journal-peek",
)
def test_what_is_received_is_in_the_journal_of_its_queue_once(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, "messages.peek", reads=(TARGET_JOURNAL,), journaling=True)
    history.run(*receives("j1"), post("a"), post("b", priority=5), post("c"), peek(), *receives("j1"))
    history.run(receive(), receive(), *receives("j1", 3), receive(), *receives("j1", 2))


def test_a_queue_that_does_not_journal(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, reads=(TARGET_JOURNAL,))
    history.run(post("a"), receive(), *receives("j1"))


@pytest.mark.requirement("MQMQ-2.3.1.4.journal-copy")
def test_what_is_received_in_a_transaction_is_journaled_once(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, *ENDS, reads=(TARGET_JOURNAL,), journaling=True, transactional=True)
    history.run(begin_transaction("t1"), post("a", within="t1"), post("b", within="t1"), commit("t1"))
    history.run(begin_transaction("t2"), receive(within="t2"), receive(within="t2"), commit("t2"), *receives("j1", 3))


@pytest.mark.requirement("MQMQ-2.3.1.4.journal-copy")
def test_a_receive_that_is_aborted_is_in_no_journal(mq: Any, judge: Any, mq_need: Any) -> None:
    """An implementation that copies on receive is excepted: a look at the journal before the abort shows it."""
    history = begin_keeping(mq, judge, mq_need, *ENDS, reads=(TARGET_JOURNAL,), journaling=True, transactional=True)
    history.run(begin_transaction("t1"), post("a", within="t1"), post("b", within="t1"), commit("t1"))
    history.run(begin_transaction("t2"), receive(within="t2"), *receives("j1"), abort("t2"), *receives("j1"))
    history.run(begin_transaction("t3"), receive(within="t3"), commit("t3"), *receives("j1", 2))


@pytest.mark.requirement("MQMQ-2.3.1.4.journal-copy")
def test_what_is_purged_or_expires_is_in_no_journal(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, "queues.purge", reads=(TARGET_JOURNAL,), journaling=True)
    history.run(post("a"), Call("queues.purge", handle="r"), *receives("j1"))
    history.run(
        post("b", live_s=1), passes(REAL_MS), *receives("r"), *receives("j1"), post("c"), receive(), *receives("j1", 2)
    )


@pytest.mark.requirement("MQDMPR-3.1.7.1.3.journal-queue")
def test_a_queue_made_again_has_a_new_journal(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, "messages.peek", "queues.delete")
    again, journal = Call("queues.create", queue="q5", journaling=True), journal_of("q5")
    history.run(again, Call("queues.open", name="s5", queue="q5", access="send"))
    history.run(Call("queues.open", name="r5", queue="q5", access="receive"), post("a", to="s5"), *receives("r5"))
    history.run(Call("queues.open", name="j1", queue=journal, access="receive"), Call("messages.peek", handle="j1"))
    history.run(Call("queues.delete", queue="q5"), again)
    history.run(Call("queues.open", name="j2", queue=journal, access="receive"), *receives("j2"))


@pytest.mark.requirement("MQMQ-2.3.1.4.journal-copy")
def test_a_reader_that_waits_causes_a_copy_too(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, reads=(TARGET_JOURNAL,), journaling=True)
    history.run(receive(wait_ms=60_000, name="w1"), post("a"), *receives("j1", 2))


@pytest.mark.requirement("MQMP-3.1.4.17.journal-send-access", "MQMP-3.1.4.17.system-send-access")
def test_nobody_sends_to_a_journal(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need)
    for number, place in enumerate((TARGET_JOURNAL, SYSTEM_JOURNAL), 1):
        history.attempt(Call("queues.open", name=f"x{number}", queue=place, access="send"))
