"""The coordinator answers how transactions in doubt ended, or does not: MS-MQDMPR 3.1.4.9 to 3.1.4.11."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import TARGET_JOURNAL, begin_keeping, opened, passes, receive, receives, send
from conformance.model import Call
from conformance.suites.coordinator.acts import (
    DOUBT,
    DOUBTS,
    ENDS,
    FILLS,
    FOREIGN,
    KILL,
    STOP,
    enlist,
    filled,
    looked,
    outcome,
    prepare,
    recovery,
    restarted,
)

COMMITTED = ("MQDMPR-3.1.4.9.commits", "MQDMPR-3.1.3.reenlist-commit")
ABORTED = ("MQDMPR-3.1.4.10.aborts", "MQDMPR-3.1.3.reenlist-abort")
LATE = ("MQDMPR-3.1.4.11.error-reported", "MQDMPR-3.1.4.11.initialization-stopped", "MQDMPR-3.1.3.reenlist-timeout")
HELD = ("MQDMPR-3.1.1.1.transaction-collection", "MQDMPR-3.1.3.resource-manager")
WAYS = pytest.mark.parametrize("how", [KILL, STOP], ids=["killed", "stopped"])
WORDS = pytest.mark.parametrize("word", ["committed", "aborted"])
PREPARED = (
    *filled("a", "b", "c"),
    *(enlist(), receive(within="t1"), receive(within="t1"), send("d", within="t1"), send("e", within="t1"), prepare()),
)
DAY_MS = 86_400_000


@WAYS
@pytest.mark.requirement(*COMMITTED, *HELD, "MQDMPR-3.1.4.4.send-order")
def test_what_was_committed_is_done(mq: Any, judge: Any, mq_need: Any, how: Call) -> None:
    history = recovery(mq, judge, mq_need)
    history.run(*PREPARED, *restarted(*looked(2), how=how))
    history.run(outcome("committed"), DOUBT, *looked(3))


@WAYS
@pytest.mark.requirement(*ABORTED, *HELD, "MQDMPR-3.1.4.5.receives-return-position")
def test_what_was_aborted_is_undone(mq: Any, judge: Any, mq_need: Any, how: Call) -> None:
    history = recovery(mq, judge, mq_need)
    history.run(*PREPARED, how, DOUBT, *opened(), outcome("aborted"), DOUBT, *looked(4))


@WORDS
@pytest.mark.requirement(*HELD)
def test_each_transaction_has_its_own_outcome(mq: Any, judge: Any, mq_need: Any, word: str) -> None:
    other = "aborted" if word == "committed" else "committed"
    history = recovery(mq, judge, mq_need)
    history.run(*filled("a", "b", "c"), enlist("t1", "x1"), enlist("t2", "x2"), receive(within="t1"))
    history.run(receive(within="t2"), send("d", within="t1"), send("e", within="t2"), prepare("x1"), prepare("x2"))
    history.run(*restarted(outcome(word, "x1"), DOUBT, *looked(2), outcome(other, "x2"), DOUBT, *looked(3)))


@WORDS
@pytest.mark.requirement("MQDMPR-3.1.3.reenlist-commit", "MQDMPR-3.1.3.reenlist-abort")
def test_told_twice_nothing_happens_twice(mq: Any, judge: Any, mq_need: Any, word: str) -> None:
    other = "aborted" if word == "committed" else "committed"
    history = recovery(mq, judge, mq_need)
    history.run(*PREPARED, *restarted(outcome(word), outcome(word), *looked(1), outcome(other), outcome(word), DOUBT))
    history.run(*looked(4))


@WORDS
@pytest.mark.requirement(*HELD)
def test_a_foreign_outcome_changes_nothing(mq: Any, judge: Any, mq_need: Any, word: str) -> None:
    history = recovery(mq, judge, mq_need)
    history.run(*PREPARED, *restarted(outcome(word, FOREIGN), DOUBT, *looked(2), outcome("committed"), *looked(3)))


@WORDS
@pytest.mark.requirement(*COMMITTED, *ABORTED)
def test_what_was_told_is_told_for_good(mq: Any, judge: Any, mq_need: Any, word: str) -> None:
    """Two kills directly after the answer: nothing is in doubt again."""
    history = recovery(mq, judge, mq_need)
    history.run(*PREPARED, KILL, DOUBT, outcome(word), KILL, KILL, DOUBT, *opened(), *looked(4))


@WORDS
@pytest.mark.requirement(*HELD)
def test_an_outcome_that_does_not_come_is_waited_for(mq: Any, judge: Any, mq_need: Any, word: str) -> None:
    """Neither time nor a second restart ends the wait, and it can be told after that."""
    history = recovery(mq, judge, mq_need)
    virtual = mq.hello.clock == "virtual" and mq.offers("clock.advance")
    waits = (passes(DAY_MS),) if virtual else ()
    count = (Call("queues.counts", queue="q1"),) if mq.offers("queues.counts") else ()
    history.run(*PREPARED, *restarted(*waits, DOUBT, receive(), *count))
    history.run(*restarted(*waits, receive(), DOUBT, *looked(1), how=STOP))
    history.run(outcome(word), *count, *looked(3), *count)


@WORDS
@pytest.mark.requirement("MQDMPR-3.1.4.4.wakes-readers", "MQDMPR-3.1.4.5.wakes-readers")
def test_an_outcome_ends_a_wait(mq: Any, judge: Any, mq_need: Any, word: str) -> None:
    history = recovery(mq, judge, mq_need)
    history.run(*filled("a"), enlist(), receive(within="t1"), send("b", within="t1"), prepare())
    history.run(*restarted(receive(wait_ms=60_000, name="w1"), outcome(word), *looked(1)))


@WORDS
@pytest.mark.requirement("MQDMPR-3.1.3.reenlist-commit", "MQDMPR-3.1.3.reenlist-abort", "MQDMPR-3.1.4.5.purged-receive")
def test_a_purge_while_in_doubt(mq: Any, judge: Any, mq_need: Any, word: str) -> None:
    history = recovery(mq, judge, mq_need, "queues.purge")
    history.run(*filled("a", "b"), enlist(), receive(within="t1"), prepare(), *restarted())
    history.run(Call("queues.purge", handle="r"), *looked(1), *restarted(outcome(word), DOUBT, *looked(2)))


@WORDS
@pytest.mark.requirement("MQMQ-2.3.1.4.journal-copy", *COMMITTED)
def test_only_a_commit_journals(mq: Any, judge: Any, mq_need: Any, word: str) -> None:
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    needs = (*ENDS, *FILLS, *DOUBTS)
    history = begin_keeping(mq, judge, mq_need, *needs, journaling=True, transactional=True)
    history.run(*filled("a", "b"), enlist(), receive(within="t1"), prepare(), *restarted())
    history.run(Call("queues.open", name="j1", queue=TARGET_JOURNAL, access="receive"), outcome(word))
    history.run(*receives("j1", 2), *looked(3))


@WORDS
@pytest.mark.requirement("MQDMPR-3.1.4.4.move", "MQDMPR-3.1.4.5.move", *HELD)
def test_a_move_waits_too(mq: Any, judge: Any, mq_need: Any, word: str) -> None:
    history = recovery(mq, judge, mq_need, "messages.move", "messages.peek")
    history.run(Call("queues.open", name="m1", queue="q1;one", access="move"), *filled("a", "b"))
    history.run(Call("messages.peek", handle="r"), enlist())
    history.run(Call("messages.move", message="a", handle="r", destination="m1", transaction="t1"), prepare())
    history.run(*restarted(Call("queues.open", name="e1", queue="q1;one", access="receive"), *receives("e1")))
    history.run(outcome(word), *receives("e1", 2), *looked(3))


@WORDS
@pytest.mark.requirement(*LATE)
def test_a_coordinator_that_does_not_answer_in_time(mq: Any, judge: Any, mq_need: Any, word: str) -> None:
    """An error is told, the start does not go on, and after another one the outcome counts."""
    history = recovery(mq, judge, mq_need)
    history.run(*PREPARED, KILL, DOUBT, outcome("timeout"), DOUBT)
    history.run(*restarted(*looked(2), outcome(word), DOUBT, *looked(4)))
