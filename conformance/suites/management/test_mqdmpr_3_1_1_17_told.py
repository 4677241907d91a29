"""Notices of a packet that no queue takes, and handles of administrators: MS-MQDMPR 3.1.1.12 and 3.1.1.17."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.management.unmodelled_stories import FULL, LOOKUPS, PEEKS, RECEIVES, REPORTS, TABLE

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize(
    "cause", [pytest.param(cause, marks=pytest.mark.requirement(report[0])) for cause, report in REPORTS.items()]
)
@pytest.mark.requirement("MQDMPR-3.1.1.12.ack-neg-arrival")
def test_a_packet_that_no_queue_takes_is_reported(mq: Port, judge: Recorder, mq_need: Any, cause: str) -> None:
    mq_need("queues.create", "queues.open", "messages.receive", "packets.encode", "packets.deliver")
    TABLE.play(cause, mq, judge, mq_need)


@pytest.mark.requirement(PEEKS, RECEIVES)
def test_administrators_reach_what_waits_in_an_outgoing_queue(mq: Port, judge: Recorder, mq_need: Any) -> None:
    mq_need("queues.open", "messages.send", "messages.peek", "messages.receive", "queues.purge", "reset")
    TABLE.play("administrators", mq, judge, mq_need)


@pytest.mark.requirement("MQMR-3.1.4.1.get")
def test_a_queue_is_the_same_however_its_name_is_written(mq: Port, judge: Recorder, mq_need: Any) -> None:
    mq_need("queues.create", "management.get", "reset")
    TABLE.play("spellings", mq, judge, mq_need)


@pytest.mark.requirement("MQMQ-2.3.12.3.mgmt-queue-type-private", "MQMQ-2.3.12.4.mgmt-queue-remote-location")
def test_a_destination_is_private_however_it_is_written(mq: Port, judge: Recorder, mq_need: Any) -> None:
    mq_need("queues.open", "queues.close", "queues.purge", "messages.send", "management.get", "reset")
    TABLE.play("destinations", mq, judge, mq_need)


@pytest.mark.requirement("MQMQ-2.3.12.3.mgmt-queue-type-machine", "MQMQ-2.3.12.11.mgmt-queue-state-local")
def test_queues_of_the_system_are_told_as_such(mq: Port, judge: Recorder, mq_need: Any) -> None:
    mq_need("management.get")
    TABLE.play("system-queues", mq, judge, mq_need)


@pytest.mark.parametrize(
    "word", [pytest.param(word, marks=pytest.mark.requirement(demand)) for word, (demand, _) in FULL.items()]
)
def test_a_copy_that_a_full_journal_cannot_take_is_dropped(mq: Port, judge: Recorder, mq_need: Any, word: str) -> None:
    mq_need("objects.create", "objects.invoke", "limits", "queues.create", "queues.open", "messages.receive", "reset")
    mq.need("format_names", "dead_letter")
    TABLE.play(word, mq, judge, mq_need)


@pytest.mark.requirement(LOOKUPS)
def test_a_lookup_identifier_begins_with_its_priority(mq: Port, judge: Recorder, mq_need: Any) -> None:
    mq_need("queues.create", "queues.open", "messages.send", "messages.receive", "reset")
    TABLE.play("lookups", mq, judge, mq_need)
