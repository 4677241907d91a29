"""Times to be received: MS-MQDMPR 3.1.2.4 and 3.1.7.2.7, and the dead-letter queues of 3.1.1.12."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import (
    REAL_MS,
    abort,
    begin_keeping,
    begin_transaction,
    commit,
    opened,
    passes,
    peek,
    post,
    receive,
    receives,
)
from conformance.model import Call
from conformance.model.journals import DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL, SYSTEM_JOURNAL, UNLIMITED

ENDS = ("transactions.begin", "transactions.commit", "transactions.abort")
DEAD = (DEAD_LETTER, DEAD_LETTER_TRANSACTIONAL)


@pytest.mark.requirement(
    "MQDMPR-3.1.2.4.expires",
    "MQDMPR-3.1.2.4.infinite",
)
def test_a_message_whose_time_is_over_is_gone(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need)
    history.run(post("a", live_s=1), post("b", live_s=60), post("c"), post("d", live_s=UNLIMITED))
    history.run(passes(REAL_MS), *(receive() for _ in range(4)))


@pytest.mark.requirement("MQDMPR-3.1.2.4.not-early", "MQDMPR-3.1.2.4.expires")
def test_a_message_is_there_until_its_time_is_over(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, "clock.advance", "clock.now", "messages.peek")
    if mq.hello.clock != "virtual":
        pytest.skip("needs a virtual clock")
    history.run(post("a", live_s=5), passes(4_999), peek(), passes(1_001), *receives("r"))
    history.run(post("b", live_s=3), passes(2_000), post("c", live_s=60), passes(999), peek(), passes(1_001), receive())
    history.run(post("d", live_s=4), passes(4_000), passes(10**9), *receives("r"))


@pytest.mark.requirement("MQDMPR-3.1.2.4.expires", "MQDMPR-3.1.2.4.not-early")
def test_a_time_goes_on_over_a_restart(mq: Any, judge: Any, mq_need: Any) -> None:
    """A restart neither ends a time nor begins it again."""
    history = begin_keeping(mq, judge, mq_need, "messages.peek")
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    lasts = {"a": 3, "b": 60, "c": UNLIMITED}
    history.run(*(post(name, live_s=each, delivery="recoverable") for name, each in lasts.items()), passes(1_400))
    history.run(Call("restart", kill=True), *opened(), passes(2_700), *receives("r", 3))


@pytest.mark.requirement("MQDMPR-3.1.2.4.zero")
def test_a_time_of_zero(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need)
    history.run(post("a", live_s=0), receive(), post("b"), receive())


@pytest.mark.requirement(
    "MQDMPR-3.1.7.2.7.dead-letter",
    "MQDMPR-3.1.1.12.negative-journaling",
    "MQDMPR-3.1.1.12.negative-journaling-off",
)
def test_what_expires_is_a_dead_letter_if_it_asked_for_that(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, reads=DEAD)
    history.run(post("a", live_s=1, dead_letter=True), post("b", live_s=1), post("c", dead_letter=True), receive())
    history.run(post("d", live_s=1, dead_letter=True), passes(REAL_MS))
    history.run(*receives("j1", 2), *receives("j2"), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.1.2.4.system-queues-kept")
def test_a_copy_in_a_journal_does_not_expire(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, "messages.peek", reads=(SYSTEM_JOURNAL, DEAD_LETTER))
    history.run(post("a", live_s=1, dead_letter=True, journal=True), Call("messages.peek", handle="j1"))
    history.run(
        passes(REAL_MS), Call("messages.peek", handle="j2"), passes(REAL_MS), *receives("j1", 2), *receives("j2", 2)
    )


@pytest.mark.requirement(
    "MQDMPR-3.1.1.12.negative-journaling-transactional",
)
def test_a_transactional_message_that_expires(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, *ENDS, reads=DEAD, transactional=True)
    history.run(
        begin_transaction("t1"),
        post("a", within="t1", live_s=1, dead_letter=True),
        post("b", within="t1"),
        commit("t1"),
    )
    history.run(passes(REAL_MS), *receives("j2", 2), *receives("j1"), receive(), receive())


@pytest.mark.requirement("MQDMPR-3.1.2.4.expires")
def test_a_time_begins_with_the_send_and_not_with_its_commit(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, *ENDS, "clock.advance", "clock.now", transactional=True)
    if mq.hello.clock != "virtual":
        pytest.skip("needs a virtual clock")
    history.run(
        begin_transaction("t1"), post("a", within="t1", live_s=5), passes(3_000), commit("t1"), passes(3_000), receive()
    )
    history.run(
        begin_transaction("t2"),
        post("b", within="t2", live_s=5),
        commit("t2"),
        begin_transaction("t3"),
        receive(within="t3"),
    )
    history.run(passes(3_000), abort("t3"), passes(3_000), receive())


@pytest.mark.requirement("MQDMPR-3.1.2.4.infinite", "MQDMPR-3.1.2.4.not-early")
def test_a_time_to_reach_a_queue_is_over_with_the_arrival(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, reads=(DEAD_LETTER,))
    history.run(post("a", reach_s=1, live_s=UNLIMITED, dead_letter=True), post("b", reach_s=1, live_s=60))
    history.run(passes(REAL_MS), receive(), receive(), *receives("j1"))


@pytest.mark.requirement("MQDMPR-3.1.7.2.7.locked")
def test_a_time_that_is_over_while_a_transaction_has_the_message(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, *ENDS, reads=DEAD, transactional=True)
    history.run(
        begin_transaction("t0"), post("x", within="t0", dead_letter=True), commit("t0"), receive(), *receives("j1")
    )
    history.run(*receives("j2"))  # received in time, so no dead letter; a later one in j2 has another cause
    history.run(
        begin_transaction("t1"),
        post("a", within="t1", live_s=1, dead_letter=True),
        commit("t1"),
        begin_transaction("t2"),
    )
    history.run(receive(within="t2"), passes(REAL_MS), commit("t2"), *receives("j2"), receive())
    history.run(
        begin_transaction("t3"),
        post("b", within="t3", live_s=1, dead_letter=True),
        commit("t3"),
        begin_transaction("t4"),
    )
    history.run(receive(within="t4"), passes(REAL_MS), abort("t4"), *receives("r"), *receives("j2"))


@pytest.mark.requirement("MQDMPR-3.1.4.5.sends-vanish")
def test_an_aborted_send_does_not_expire(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, *ENDS, reads=DEAD, transactional=True)
    history.run(
        begin_transaction("t1"), post("a", within="t1", live_s=1, dead_letter=True), abort("t1"), passes(REAL_MS)
    )
    history.run(*receives("j2"), *receives("j1"), receive())
