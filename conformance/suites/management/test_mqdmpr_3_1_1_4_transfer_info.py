"""Sequences of transactional messages and their acknowledgments: MS-MQDMPR 3.1.1.4, MS-MQMQ 2.3.12.13 to 2.3.12.23.

The harness plays the destination: it takes the packets and acknowledges them (MS-MQQB 3.1.1.5, 3.1.5.5 to 3.1.5.7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.histories.examples import (
    ACT,
    PLAYED,
    REMOTE,
    acting,
    begin_managed,
    connected,
    final,
    in_order,
    of_machine,
    of_queue,
    step,
    stored,
    transfer,
    within,
)
from conformance.model import Call
from conformance.model.journals import DEAD_LETTER_TRANSACTIONAL, SYSTEM_JOURNAL

if TYPE_CHECKING:
    from conformance.histories.history import History

ENDS = ("transactions.begin", "transactions.commit")
EOD = (
    *("EOD_LAST_ACK", "EOD_LAST_ACK_TIME", "EOD_LAST_ACK_COUNT", "EOD_FIRST_NON_ACK", "EOD_LAST_NON_ACK"),
    *("EOD_NEXT_SEQ", "EOD_NO_READ_COUNT", "EOD_NO_ACK_COUNT", "EOD_RESEND_INTERVAL", "EOD_RESEND_TIME"),
    *("EOD_RESEND_COUNT", "MESSAGE_COUNT"),
)
INFO = "MQDMPR-3.1.1.4.eod-"
RECEIVED, REJECTED = 0x4000, 0x8004  # MS-MQMQ 2.2.18.1.6
NUMBERS = ("MQQB-3.1.1.5.first-number", "MQQB-3.1.7.1.3.next-number", "MQQB-3.1.7.1.3.previous-number")


@pytest.fixture
def history(mq: Any, judge: Any, mq_need: Any) -> History:
    found = begin_managed(mq, judge, mq_need, *PLAYED, *ENDS)
    found.run(*connected())
    return found


@pytest.fixture
def look(judge: Any) -> Call:
    return of_queue(judge, REMOTE, *EOD)


def time_passes(history: History) -> tuple[Call, ...]:
    """Return some seconds on a virtual clock, fewer than a resend interval; nothing on a real one."""
    mq = history.client
    virtual = mq.hello.clock == "virtual" and mq.offers("clock.advance")
    return (Call("clock.advance", by_ms=5000),) if virtual else ()


@pytest.mark.requirement(
    *(f"{INFO}{word}" for word in ("first-non-ack", "last-non-ack", "next-seq", "no-ack-count", "last-ack-count")),
    *("MQMQ-2.3.12.16.propid-mgmt-queue-eod-first-non-ack", "MQMQ-2.3.12.17.propid-mgmt-queue-eod-last-non-ack"),
    *("MQMQ-2.3.12.18.propid-mgmt-queue-eod-next-seq", "MQMQ-2.3.12.20.propid-mgmt-queue-eod-no-ack-count"),
    *NUMBERS,
)
def test_transferred_messages_are_numbered(history: History, look: Call) -> None:
    history.run(look, *within("t1", "a", "b"), look, transfer(), look, *within("t2", "c"), look, transfer(), look)


@pytest.mark.requirement(
    *(f"{INFO}{word}" for word in ("last-ack", "last-ack-count", "last-ack-time", "no-ack-count", "first-non-ack")),
    "MQMQ-2.3.12.13.propid-mgmt-queue-eod-last-ack",
    "MQMQ-2.3.12.14.propid-mgmt-queue-eod-last-ack-time",
    "MQMQ-2.3.12.15.propid-mgmt-queue-eod-last-ack-count",
)
def test_order_acknowledgments_move_the_numbers_on(history: History, look: Call) -> None:
    later = time_passes(history)
    history.run(*within("t1", "a", "b", "c", "d"), transfer(), look, stored(3), look, in_order(1), look)
    history.run(*later, in_order(3), look, stored(1), look, *later, in_order(4), look)


@pytest.mark.requirement(f"{INFO}last-ack-count", f"{INFO}last-ack")
def test_an_acknowledgment_that_comes_twice_is_counted(history: History, look: Call) -> None:
    later = time_passes(history)
    history.run(*within("t1", "a", "b"), transfer(), stored(2), in_order(1), look, *later, in_order(1), look)
    history.run(*later, in_order(1), look, in_order(2), look)


@pytest.mark.requirement(f"{INFO}last-ack", f"{INFO}last-ack-time", f"{INFO}first-non-ack", f"{INFO}no-ack-count")
@pytest.mark.parametrize("late", [1, 2])
def test_an_acknowledgment_that_comes_late_takes_nothing_back(history: History, look: Call, late: int) -> None:
    later = time_passes(history)
    history.run(*within("t1", "a", "b", "c", "d", "e"), transfer(), stored(5), in_order(late), look, in_order(3), look)
    history.run(*later, in_order(late), look, *later, in_order(1), look, *within("t2", "f"), transfer(), look)
    history.run(in_order(4), look, in_order(late), look, stored(1), in_order(6), look)


@pytest.mark.requirement(f"{INFO}resend-interval", f"{INFO}resend-time", f"{INFO}resend-count")
def test_each_acknowledgment_takes_the_next_interval(history: History, look: Call) -> None:
    """The tenth and last of the table stays; when all is acknowledged, the table is begun again."""
    messages = [f"m{number}" for number in range(1, 15)]
    history.run(*within("t1", *messages[:12]), look, transfer(), look, stored(50))
    for number in range(1, 12):
        history.run(in_order(number), look)
        if number == 4:
            history.run(*time_passes(history), *within("t2", messages[12]), transfer(), look, stored(1))
    history.run(in_order(13), look, *within("t3", messages[13]), transfer(), look, stored(1), in_order(1), look)


@pytest.mark.requirement(
    f"{INFO}next-seq", "MQQB-3.1.1.5.next-sequence", "MQQB-3.1.1.5.first-number", "MQQB-3.1.1.5.all-acknowledged"
)
def test_a_sequence_ends_when_all_of_it_is_acknowledged(history: History, look: Call) -> None:
    history.run(*within("t1", "a", "b"), transfer(), stored(2), in_order(1), *within("t2", "c"), transfer(), look)
    history.run(stored(1), in_order(3), look, *within("t3", "d", "e"), transfer(), look, stored(2), in_order(2), look)
    history.run(*within("t4", "f"), transfer(), look)


@pytest.mark.requirement(f"{INFO}no-ack-count", f"{INFO}next-seq")
def test_only_transactional_messages_are_numbered(history: History, look: Call) -> None:
    history.run(Call("messages.send", message="x", handle="s1"), transfer(), look, *within("t1", "a"), transfer(), look)
    history.run(stored(2), look, in_order(1), look)


@pytest.mark.requirement(
    f"{INFO}resend-interval",
    f"{INFO}resend-time",
    f"{INFO}resend-count",
    "MQMQ-2.3.12.21.propid-mgmt-queue-eod-resend-time",
    "MQMQ-2.3.12.22.propid-mgmt-queue-eod-resend-interval",
    "MQMQ-2.3.12.23.propid-mgmt-queue-eod-resend-count",
)
def test_messages_are_sent_again_after_the_interval(history: History, look: Call) -> None:
    mq = history.client
    if mq.hello.clock != "virtual" or not mq.offers("clock.advance"):
        pytest.skip("nobody waits for the interval on a real clock")
    history.run(look, *within("t1", "a", "b"), transfer(), look)
    interval = (history.state.management and history.state.management.sessions[REMOTE].interval) or 30
    for _ in range(2):
        history.run(Call("clock.advance", by_ms=interval * 1000 - 3000), transfer(), look)
        history.run(Call("clock.advance", by_ms=6000), transfer(), look)


@pytest.mark.requirement("MQMR-3.1.4.2.eod-resend", f"{INFO}resend-count", "MQQB-3.1.7.1.3.resent-number")
def test_a_pending_sequence_is_sent_again_on_demand(history: History, look: Call, mq_need: Any) -> None:
    mq_need(ACT)
    history.run(acting("EOD_RESEND", REMOTE), transfer(), *within("t1", "a", "b"), transfer(), transfer(), look)
    history.run(acting("EOD_RESEND", REMOTE), transfer(), look, transfer(), stored(2), in_order(1))
    history.run(acting("EOD_RESEND", REMOTE), transfer(), look, stored(1), in_order(2), acting("EOD_RESEND", REMOTE))
    history.run(transfer(), look)


@pytest.mark.requirement(f"{INFO}resend-count", f"{INFO}last-non-ack", f"{INFO}resend-time")
def test_a_new_message_behind_one_sent_again_was_sent_once(history: History, look: Call, mq_need: Any) -> None:
    """How often the last message was sent is told of the last one, however often others were."""
    mq_need(ACT)
    history.run(*within("t1", "a", "b"), transfer(), look)
    for _ in range(2):
        history.run(*time_passes(history), acting("EOD_RESEND", REMOTE), transfer(), look)
    history.run(*within("t2", "c"), look, *time_passes(history), transfer(), look)
    history.run(acting("EOD_RESEND", REMOTE), transfer(1), look, transfer(), look, *within("t3", "d"), transfer(), look)


@pytest.mark.requirement("MQQB-3.1.7.1.3.resent-number", f"{INFO}first-non-ack")
def test_numbers_are_kept_through_a_new_connection(history: History, look: Call) -> None:
    history.run(*within("t1", "a", "b", "c"), transfer(), stored(1), in_order(1), step("closed"), look)
    history.run(*connected(), transfer(), look, *within("t2", "d"), transfer(), look, stored(3), in_order(4), look)


@pytest.mark.requirement(
    f"{INFO}no-read-count",
    "MQMQ-2.3.12.19.propid-mgmt-queue-eod-no-read-count",
    "MQDMPR-3.1.1.12.positive-journaling",
    "MQDMPR-3.1.1.12.negative-journaling",
)
def test_final_acknowledgments_decide_what_is_kept(history: History, look: Call, mq: Any, mq_need: Any) -> None:
    mq_need("messages.receive", "reset")
    mq.need("format_names", "dead_letter")
    history.run(*within("t1", "a", "b", journal=True, dead_letter=True), *within("t2", "c", dead_letter=True))
    history.run(*within("t3", "d"), transfer(), look, stored(4), look, in_order(3), look, in_order(4), look)
    history.run(final("a", RECEIVED), look, final("b", REJECTED), look, final("c", RECEIVED), look)
    for handle, place in (("j1", SYSTEM_JOURNAL), ("j2", DEAD_LETTER_TRANSACTIONAL)):
        history.run(Call("queues.open", name=handle, queue=place, access="receive"))
        history.run(Call("messages.receive", handle=handle), Call("messages.receive", handle=handle))


@pytest.mark.requirement("MQDMPR-3.1.1.12.positive-journaling")
def test_what_is_stored_at_the_other_side_is_journaled(history: History, look: Call, mq: Any, mq_need: Any) -> None:
    mq_need("messages.receive", "reset")
    mq.need("format_names", "dead_letter")
    history.run(Call("messages.send", message="a", handle="s1", journal=True))
    history.run(Call("messages.send", message="b", handle="s1"), transfer(), stored(2), look)
    history.run(Call("queues.open", name="j1", queue=SYSTEM_JOURNAL, access="receive"))
    history.run(Call("messages.receive", handle="j1"), Call("messages.receive", handle="j1"))


@pytest.mark.requirement("MQMQ-2.3.11.6.propid-mgmt-msmq-bytes-in-all-queues")
def test_bytes_leave_the_machine_with_the_acknowledgment(history: History, judge: Any) -> None:
    both = (of_queue(judge, REMOTE, "BYTES_IN_QUEUE", "MESSAGE_COUNT"), of_machine(judge, "BYTES_IN_ALL_QUEUES"))
    history.run(*both, *within("t1", "a"), *both, transfer(), *both, stored(1), *both, in_order(1), *both)
