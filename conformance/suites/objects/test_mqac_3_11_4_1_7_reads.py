"""MC-MQAC 3.11.4.1.7 to .33: reads of MSMQQueue."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.activex import plans_reads
from conformance.activex.plans_reads import READS
from conformance.suites.objects.playing import Need, check, rows

if TYPE_CHECKING:
    from conformance.activex.plans import Plan
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

WAITING = [member for member in READS if not plans_reads.by_lookup(member)]
AT_CURSOR = [member for member in READS if plans_reads.at_cursor(member)]
IDENTIFIED = [member for member in READS if any(one.name == "LookupId" for one in member.slots[0].arguments)]
RECEIVES = [member for member in READS if plans_reads.receives(member)]
TIMED = [member for member in READS if member.name in ("Receive", "Peek")]
ALLOWING = [member for member in READS if member.name.endswith("AllowPeek")]


@pytest.mark.parametrize("plans", rows(READS, plans_reads.gives_at_once))
def test_a_read_gives_the_message(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(READS, plans_reads.finds_nothing))
def test_a_read_without_a_message(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(WAITING, plans_reads.waits))
def test_a_read_waits(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    """A message, the end of the time, or Close ends the wait."""
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(READS, plans_reads.refused))
def test_a_read_is_refused(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    """The first precondition of the text that is not met decides, and the queue keeps its messages."""
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(AT_CURSOR, plans_reads.cursor))
def test_reads_at_the_cursor(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(RECEIVES, plans_reads.transactions))
def test_receives_in_transactions(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(READS, plans_reads.beside_held))
def test_reads_pass_over_what_a_transaction_holds(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(IDENTIFIED, plans_reads.identifier_as_text))
def test_an_identifier_is_given_as_text(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(READS, plans_reads.wants))
def test_what_a_read_asks_for(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(RECEIVES, plans_reads.journals))
def test_the_journal_keeps_what_is_received(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(RECEIVES, plans_reads.wants_in_transactions))
def test_what_a_receive_asks_for_in_a_transaction(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(RECEIVES, plans_reads.wants_in_single_messages))
def test_what_a_receive_asks_for_in_a_transaction_of_its_own(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(READS, plans_reads.wants_one_after_another))
def test_what_reads_ask_for_one_after_another(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(RECEIVES, plans_reads.single_message_stays_gone))
def test_a_message_received_alone_stays_gone(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(RECEIVES, plans_reads.two_in_a_transaction))
def test_two_operations_of_a_transaction_end_together(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(ALLOWING, plans_reads.allowed_peeks))
def test_a_locked_message_is_peeked_at(plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need) -> None:
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(READS, plans_reads.what_is_left))
def test_a_read_leaves_what_it_is_not_asked_about(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    """The other properties of the message do not depend on what a read asks for."""
    check(plans, mq, judge, mq_need)


@pytest.mark.parametrize("plans", rows(TIMED, plans_reads.times_that_pass))
def test_a_message_shows_the_times_that_were_sent(
    plans: tuple[Plan, ...], mq: Port, judge: Recorder, mq_need: Need
) -> None:
    check(plans, mq, judge, mq_need)
