"""The quotas of a queue, of its journal and of the manager: MS-MQDMPR 3.1.1.1, 3.1.1.2 and 3.1.7.1.9."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from conformance.histories.examples import (
    REAL_MS,
    TARGET_JOURNAL,
    abort,
    begin_keeping,
    begin_transaction,
    commit,
    counted,
    passes,
    post,
    receive,
    receives,
    unlimited,
)
from conformance.model import Call
from conformance.model.journals import DEAD_LETTER, SYSTEM_JOURNAL

ENDS = ("transactions.begin", "transactions.commit", "transactions.abort")
QUOTA_KB = 40
WIDE_KB = 400  # a quota too large to be reached here
BIG = 11 * 1024  # three messages of this size and their headers fit into the quota, four do not


@contextmanager
def restored(mq: Any) -> Iterator[None]:
    """Restore the quotas of the manager, which a reset does not."""
    try:
        yield
    finally:
        mq.call("limits", **unlimited())


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.9.queue-quota",
    "MQDMPR-3.1.7.1.9.queue-quota-ends",
)
def test_a_full_queue_refuses_more_until_something_is_received(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, quota_kb=QUOTA_KB)
    history.run(*(post(name, size=BIG) for name in "abcd"), receive(), post("e", size=BIG), post("f", size=BIG))
    history.run(*(receive() for _ in range(4)), post("g", size=BIG), receive())


@pytest.mark.requirement("MQDMPR-3.1.7.1.9.queue-quota")
def test_a_purge_and_other_queues_leave_room(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, "queues.purge", quota_kb=QUOTA_KB)
    history.run(Call("queues.create", queue="q2"), Call("queues.open", name="s2", queue="q2", access="send"))
    history.run(*(post(name, size=BIG) for name in "abc"), *(post(name, size=BIG, to="s2") for name in "defg"))
    history.run(Call("queues.purge", handle="r"), *(post(name, size=BIG) for name in "hijk"))


@pytest.mark.requirement("MQDMPR-3.1.7.1.9.queue-quota")
def test_the_quota_is_exact(mq: Any, judge: Any, mq_need: Any) -> None:
    """Two messages fill a queue to the last byte, by the sizes that the implementation counts."""
    history = begin_keeping(mq, judge, mq_need, "queues.counts", quota_kb=8)
    history.run(Call("queues.create", queue="q2"), Call("queues.open", name="s2", queue="q2", access="send"))
    size = _filling(history, 4096)
    for letter, more in (("d", 0), ("h", 1)):
        history.run(Call("queues.open", name=f"r{letter}", queue="q2", access="receive"), *receives(f"r{letter}"))
        history.run(post(letter, size=size + more, to="s2"), counted("q2"))
        names = [chr(ord(letter) + place) for place in (1, 2)]
        history.run(*(post(name, size=size + more) for name in names), receive(), receive())


def _filling(history: Any, room: int) -> int:
    """Return the size of a body whose message takes this many bytes."""
    history.attempt(post("a", size=1024, to="s2"))
    observation = history.attempt(counted("q2"))
    taken_bytes = observation.answer.values.get("bytes") if observation is not None else None
    if not isinstance(taken_bytes, int) or not 1024 <= taken_bytes < room:
        pytest.skip("the driver does not tell how many bytes a message takes")
    return room - (taken_bytes - 1024)


@pytest.mark.requirement("MQDMPR-3.1.7.1.9.queue-quota")
def test_a_quota_and_open_transactions(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, *ENDS, quota_kb=QUOTA_KB, transactional=True)
    history.run(begin_transaction("t1"), *(post(name, size=BIG, within="t1") for name in "abcd"), commit("t1"))
    history.run(
        begin_transaction("t2"),
        post("e", size=BIG, within="t2"),
        abort("t2"),
        begin_transaction("t3"),
        receive(within="t3"),
    )
    history.run(abort("t3"), begin_transaction("t4"), post("f", size=BIG, within="t4"), commit("t4"))
    history.run(
        *(receive() for _ in range(4)),
        begin_transaction("t5"),
        post("g", size=BIG, within="t5"),
        commit("t5"),
        receive(),
    )


@pytest.mark.requirement("MQDMPR-3.1.7.1.9.manager-quota", "MQDMPR-3.1.7.1.9.manager-quota-ends")
def test_all_queues_together_have_a_quota(mq: Any, judge: Any, mq_need: Any) -> None:
    mq_need("limits")
    with restored(mq):
        history = begin_keeping(mq, judge, mq_need)
        history.run(Call("queues.create", queue="q2"), Call("queues.open", name="s2", queue="q2", access="send"))
        history.run(Call("limits", quota_kb=QUOTA_KB), Call("queues.open", name="r2", queue="q2", access="receive"))
        history.run(post("a", size=BIG), post("b", size=BIG, to="s2"), post("c", size=BIG))
        history.run(post("d", size=BIG), post("e", size=BIG, to="s2"), *receives("r2"), post("f", size=BIG))
        history.run(post("g", size=BIG, to="s2"), *receives("r", 4), *receives("r2"))


@pytest.mark.requirement("MQDMPR-3.1.1.2.journal-quota", "MQMQ-2.3.1.4.journal-copy")
def test_a_full_journal_takes_no_more_copies(mq: Any, judge: Any, mq_need: Any) -> None:
    how = {"journaling": True, "quota_kb": WIDE_KB, "journal_quota_kb": QUOTA_KB}
    history = begin_keeping(mq, judge, mq_need, reads=(TARGET_JOURNAL,), admin=False, **how)
    history.run(*(post(name, size=BIG) for name in "abcdef"), *(receive() for _ in range(5)), *receives("j1", 4))
    if mq.offers("queues.counts"):  # a queue that still counts received bytes has refused a copy that is missing now
        history.attempt(counted())
    history.run(receive(), *receives("j1", 2))


@pytest.mark.requirement("MQDMPR-3.1.7.1.9.success", "MQDMPR-3.1.7.1.9.queue-quota")
def test_what_is_in_its_journal_takes_no_room_in_a_queue(mq: Any, judge: Any, mq_need: Any) -> None:
    history = begin_keeping(mq, judge, mq_need, reads=(TARGET_JOURNAL,), journaling=True, quota_kb=QUOTA_KB)
    history.run(*(post(name, size=BIG) for name in "abc"), *(receive() for _ in range(3)))
    history.run(*(post(name, size=BIG) for name in "defg"), *receives("j1", 4), *receives("r", 4))


@pytest.mark.requirement("MQDMPR-3.1.1.12.positive-journaling-over-quota", "MQDMPR-3.1.1.12.positive-journaling")
def test_journals_together_have_a_quota(mq: Any, judge: Any, mq_need: Any) -> None:
    mq_need("limits")
    with restored(mq):
        history = begin_keeping(mq, judge, mq_need, reads=(SYSTEM_JOURNAL,))
        history.attempt(Call("limits", quota_kb=WIDE_KB, journal_quota_kb=QUOTA_KB))
        history.run(*(post(name, size=BIG, journal=True) for name in "abcde"))
        history.run(*receives("r", 5), *receives("j1", 4))
        if mq.offers("queues.counts"):
            history.attempt(counted())
        history.run(post("f", size=BIG, journal=True), *receives("j1", 2))


@pytest.mark.requirement("MQDMPR-3.1.1.1.journal-quota")
@pytest.mark.parametrize("last", [SYSTEM_JOURNAL, TARGET_JOURNAL, DEAD_LETTER])
def test_copies_in_several_journals_count_together(mq: Any, judge: Any, mq_need: Any, last: str) -> None:
    """Three copies that are not in the last journal fill the quota; it would have room for the fourth alone."""
    mq_need("limits")
    places = [place for place in (SYSTEM_JOURNAL, TARGET_JOURNAL, DEAD_LETTER) if place != last]
    with restored(mq):
        history = begin_keeping(mq, judge, mq_need, reads=(last, *places), journaling=True, admin=False)
        history.attempt(Call("limits", quota_kb=WIDE_KB, journal_quota_kb=QUOTA_KB))
        filling = (*_copied("a", places[0]), *_copied("b", places[1]), *_copied("c", places[1]))
        history.run(*filling, *_copied("d", last), *receives("j1"), *receives("j2", 2), *receives("j3", 3))
        history.run(*_copied("e", last), *receives("j1", 2))


def _copied(message: str, place: str) -> tuple[Call, ...]:
    """Send a message, and let a copy go into this journal if it has room."""
    if place == DEAD_LETTER:
        return post(message, size=BIG, live_s=1, dead_letter=True), passes(REAL_MS)
    if place == SYSTEM_JOURNAL:
        return (post(message, size=BIG, journal=True),)
    return post(message, size=BIG), receive()


@pytest.mark.requirement("MQDMPR-3.1.1.12.negative-journaling-over-quota")
def test_dead_letters_have_the_quota_of_the_journals(mq: Any, judge: Any, mq_need: Any) -> None:
    """The last of the messages that expire has no room in the dead-letter queue."""
    mq_need("limits")
    with restored(mq):
        history = begin_keeping(mq, judge, mq_need, reads=(DEAD_LETTER,))
        history.attempt(Call("limits", quota_kb=WIDE_KB, journal_quota_kb=QUOTA_KB))
        for name in "abcd":
            history.run(post(name, size=BIG, live_s=1, dead_letter=True), passes(REAL_MS))
        history.run(*receives("j1", 3))
        history.attempt(receives("j1")[0], shows="MQDMPR-3.1.1.12.negative-journaling-over-quota")
        history.run(post("e", size=BIG, live_s=1, dead_letter=True), passes(REAL_MS), *receives("j1", 2))
