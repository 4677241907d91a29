"""What a manager keeps, and names it must refuse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cases import all_of
from distorting import (
    OPTIONS,
    Case,
    Distorting,
    Params,
    PurgesFirst,
    always,
    any_access,
    changed,
    drifting,
    first_element,
    journaled_in_queue,
    judged,
    one_dead_letter_queue,
    same,
    shared,
    silent,
    swapped_classes,
    told,
    without,
    without_share,
)

from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, ConformanceFailures, Recorder, RunOptions
from conformance.histories import plans
from conformance.histories.walk import walk
from conformance.model.journals import (
    ACK_REACH,
    ACK_RECEIVE,
    NACK_DELETED,
    NACK_PURGED,
    NACK_REACH,
    NACK_TIMEOUT,
    NUMBERS,
)
from conformance.spec.catalogue import assignment
from conformance.suites.cursors import test_mqdmpr_3_1_7_1_5_names as names
from conformance.suites.journals import test_mqdmpr_3_1_1_12_source_journal as journals
from conformance.suites.journals import test_mqdmpr_3_1_2_4_time_to_be_received as times
from conformance.suites.journals import test_mqdmpr_3_1_7_2_1_acknowledgments as reports
from conformance.suites.quotas import test_mqdmpr_3_1_1_2_counts as counts
from conformance.suites.quotas import test_mqdmpr_3_1_7_1_9_quotas as quotas
from conformance.suites.quotas import test_mqdmpr_3_1_7_1_9_sent_to_several_queues as several
from conformance.verdict import Outcome

_1_12 = "MQDMPR-3.1.1.12."
CASES: tuple[Case, ...] = (
    (
        "source journal forgotten",
        journals.test_what_asks_for_it_is_in_the_journal_of_the_manager,
        without("positive_journaling"),
        silent,
        {f"{_1_12}positive-journaling"},
    ),
    (
        "everything in the source journal",
        journals.test_what_asks_for_it_is_in_the_journal_of_the_manager,
        always(positive_journaling=True),
        silent,
        {f"{_1_12}positive-journaling-off"},
    ),
    (
        "the wrong journal",
        journals.test_what_asks_for_it_is_in_the_journal_of_the_manager,
        journaled_in_queue,
        silent,
        {f"{_1_12}positive-journaling"},
    ),
    (
        "target journal forgotten",
        journals.test_what_is_received_is_in_the_journal_of_its_queue_once,
        without("PROPID_Q_JOURNAL"),
        silent,
        {"MQMQ-2.3.1.4.journal-copy"},
    ),
    (
        "target journal of a transaction forgotten",
        journals.test_what_is_received_in_a_transaction_is_journaled_once,
        without("PROPID_Q_JOURNAL"),
        silent,
        {"MQMQ-2.3.1.4.journal-copy"},
    ),
    (
        "never expires",
        times.test_a_message_whose_time_is_over_is_gone,
        without("time_to_be_received"),
        silent,
        {"MQDMPR-3.1.2.4.expires"},
    ),
    (
        "expires late",
        times.test_a_message_is_there_until_its_time_is_over,
        changed("time_to_be_received", lambda seconds: seconds + 2),
        silent,
        {"MQDMPR-3.1.2.4.expires"},
    ),
    (
        "expires early",
        times.test_a_message_is_there_until_its_time_is_over,
        changed("time_to_be_received", lambda seconds: seconds - 1),
        silent,
        {"MQDMPR-3.1.2.4.not-early"},
    ),
    (
        "the longest time is a time like others",
        times.test_a_message_whose_time_is_over_is_gone,
        changed("time_to_be_received", lambda seconds: min(seconds, 2) if seconds > 100 else seconds),
        silent,
        {"MQDMPR-3.1.2.4.infinite"},
    ),
    (
        "a time of zero lasts",
        times.test_a_time_of_zero,
        without("time_to_be_received"),
        silent,
        {"MQDMPR-3.1.2.4.zero"},
    ),
    (
        "no dead letters",
        times.test_what_expires_is_a_dead_letter_if_it_asked_for_that,
        without("negative_journaling"),
        silent,
        {"MQDMPR-3.1.7.2.7.dead-letter"},
    ),
    (
        "everything a dead letter",
        times.test_what_expires_is_a_dead_letter_if_it_asked_for_that,
        always(negative_journaling=True),
        silent,
        {f"{_1_12}negative-journaling-off"},
    ),
    (
        "the wrong dead-letter queue",
        times.test_a_transactional_message_that_expires,
        one_dead_letter_queue,
        silent,
        {f"{_1_12}negative-journaling-transactional"},
    ),
    (
        "no acknowledgments",
        reports.test_arrivals_and_receives_are_reported_as_asked,
        without("acknowledgements"),
        silent,
        {f"{_1_12}ack-pos-arrival", f"{_1_12}ack-pos-receive"},
    ),
    (
        "unasked acknowledgments",
        reports.test_arrivals_and_receives_are_reported_as_asked,
        always(acknowledgements=["positive_arrival", "positive_receive"]),
        silent,
        {f"{_1_12}ack-none", "MQQB-3.1.7.15.requested"},
    ),
    (
        "acknowledgments of nothing",
        reports.test_arrivals_and_receives_are_reported_as_asked,
        same,
        told("correlation_identifier", lambda raw: "A" * 27 + "="),
        {"MQQB-3.1.7.15.correlation"},
    ),
    (
        "acknowledgments without delivery guarantee",
        reports.test_arrivals_and_receives_are_reported_as_asked,
        same,
        told("delivery", lambda name: "express"),
        {"MQQB-3.1.7.15.delivery", f"{_1_12}delivery-guarantee-unchanged"},
    ),
    (
        "one class for all",
        reports.test_a_transaction_reports_when_it_commits,
        same,
        swapped_classes,
        {f"{_1_12}class-ack-receive"},
    ),
    *(
        (
            f"{number:#06x} in place of its class",
            test,
            same,
            told("class", lambda klass, number=number: klass ^ 0x10 if klass == number else klass),  # type: ignore[misc]
            {NUMBERS[number]},
        )
        for number, test in (
            (ACK_REACH, reports.test_arrivals_and_receives_are_reported_as_asked),
            (ACK_RECEIVE, reports.test_a_transaction_reports_when_it_commits),
            (NACK_REACH, reports.test_a_message_that_reaches_nobody_in_its_time),
            (NACK_DELETED, reports.test_each_message_of_a_deleted_queue_is_reported),
            (NACK_PURGED, reports.test_each_purged_message_is_reported),
            (NACK_TIMEOUT, reports.test_an_expired_message_is_reported),
        )
    ),
    (
        "what is taken by lookup identifier is not reported",
        reports.test_a_message_taken_by_its_lookup_identifier_is_reported,
        without("acknowledgements"),
        silent,
        {"MQDMPR-3.1.7.1.13.deleted-reason"},
    ),
    *(
        (
            f"no report of a receive: {requirement}",
            lambda *given, purged=purged: reports.test_a_commit_reports_what_it_took_as_received(purged, *given),
            changed("acknowledgements", lambda names: [name for name in names if name != "positive_receive"]),
            silent,
            {requirement},
        )
        for purged, requirement in (
            (False, "MQDMPR-3.1.7.1.13.operation-reason"),
            (True, "MQDMPR-3.1.4.4.receive-reason"),
        )
    ),
    (
        "expiry not reported",
        reports.test_an_expired_message_is_reported,
        without("acknowledgements"),
        silent,
        {"MQDMPR-3.1.7.2.7.nack-receive-timeout"},
    ),
    (
        "purge not reported",
        reports.test_each_purged_message_is_reported,
        without("acknowledgements"),
        silent,
        {"MQDMPR-3.1.7.1.7.nack-queue-purged"},
    ),
    (
        "deletion not reported",
        reports.test_each_message_of_a_deleted_queue_is_reported,
        without("acknowledgements"),
        silent,
        {"MQDMPR-3.1.7.1.4.nack-queue-deleted"},
    ),
    (
        "no quota",
        quotas.test_a_full_queue_refuses_more_until_something_is_received,
        without("PROPID_Q_QUOTA"),
        silent,
        {"MQDMPR-3.1.7.1.9.queue-quota"},
    ),
    (
        "a quota too small",
        quotas.test_a_full_queue_refuses_more_until_something_is_received,
        changed("PROPID_Q_QUOTA", lambda kilobytes: kilobytes - 10),
        silent,
        {"MQDMPR-3.1.7.1.9.success"},
    ),
    (
        "a quota in other units",
        quotas.test_the_quota_is_exact,
        changed("PROPID_Q_QUOTA", lambda kilobytes: kilobytes + 1),
        silent,
        {"MQDMPR-3.1.7.1.9.queue-quota"},
    ),
    (
        "no quota of the manager",
        quotas.test_all_queues_together_have_a_quota,
        changed("message_quota_kb", lambda kilobytes: 0xFFFFFFFF),
        silent,
        {"MQDMPR-3.1.7.1.9.manager-quota"},
    ),
    (
        "no quota of the journal",
        quotas.test_a_full_journal_takes_no_more_copies,
        without("PROPID_Q_JOURNAL_QUOTA"),
        silent,
        {"MQDMPR-3.1.1.2.journal-quota"},
    ),
    (
        "no quota of the journals",
        quotas.test_journals_together_have_a_quota,
        changed("journal_quota_kb", lambda kilobytes: 0xFFFFFFFF),
        silent,
        {f"{_1_12}positive-journaling-over-quota"},
    ),
    (
        "counts too many",
        counts.test_sends_and_receives_are_counted,
        same,
        told("messages", lambda number: number + 1),
        {"MQDMPR-3.1.7.2.1.total-bytes"},
    ),
    (
        "counts too few",
        counts.test_sends_and_receives_are_counted,
        same,
        told("messages", lambda number: min(number, 1)),
        {"MQDMPR-3.1.7.2.2.total-bytes"},
    ),
    (
        "an empty queue with bytes",
        counts.test_sends_and_receives_are_counted,
        same,
        told("bytes", lambda number: number + 1),
        {"MQDMPR-3.1.7.1.3.total-bytes-zero"},
    ),
    (
        "one queue of several",
        several.test_each_queue_gets_a_copy,
        first_element,
        silent,
        {"MQDMPR-3.1.7.1.27.multiple-destinations"},
    ),
    (
        "copies of several differ",
        several.test_each_queue_gets_a_copy,
        same,
        told("priority", lambda number: 3),
        {"MQDMPR-3.1.7.1.27.message-copy"},
    ),
    (
        "several queues without quota",
        lambda mq, judge, need: several.test_one_of_several_queues_is_full(mq, judge, need, "q2"),
        without("PROPID_Q_QUOTA"),
        silent,
        {"MQDMPR-3.1.7.1.27.failing-element"},
    ),
    (
        "purges the wrong queue",
        names.test_a_purge_leaves_other_queues_alone,
        PurgesFirst(),
        silent,
        {"MQDMPR-3.1.7.1.7.other-queues-kept"},
    ),
    (
        "opens for itself by a peek in vain",
        names.test_a_peek_for_oneself_keeps_receivers_away,
        without_share,
        silent,
        {"MQDMPR-3.1.7.1.5.exclusive-peek-then-receive"},
    ),
    (
        "several queues for reading",
        several.test_how_several_queues_cannot_be_opened,
        any_access,
        silent,
        {"MQDMPR-3.1.7.1.5.multiple-element-access"},
    ),
    (
        "several queues for oneself",
        several.test_how_several_queues_cannot_be_opened,
        shared,
        silent,
        {"MQDMPR-3.1.7.1.5.multiple-element-share"},
    ),
)


@all_of("case", CASES, ids=[case[0] for case in CASES])
def test_each_defect_is_caught_and_blamed(case: Case, tmp_path: Path) -> None:
    last = judged(case, tmp_path)[-1]
    assert last.outcome is Outcome.FAIL
    assert last.requirement in case[4], (last.requirement, last.expected, last.actual)


@pytest.mark.parametrize("test", sorted({case[1] for case in CASES}, key=repr), ids=lambda test: test.__qualname__)
def test_the_shipped_implementation_passes(test: Callable[..., None], tmp_path: Path) -> None:
    verdicts = judged(("none", test, same, silent, set()), tmp_path)
    assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}
    assert len(verdicts) > 3


WALKS: tuple[tuple[str, Any, Callable[[str, Params], Params], Callable[[str, Params], None], set[str], int], ...] = (
    (
        "journals",
        plans.JOURNALS,
        changed("time_to_be_received", lambda seconds: seconds + 2),
        silent,
        {"MQDMPR-3.1.2.4.expires", "MQDMPR-3.1.7.2.7.dead-letter", "MQDMPR-3.1.7.2.7.nack-receive-timeout"},
        14,
    ),
    ("no journal", plans.JOURNALS, without("PROPID_Q_JOURNAL"), silent, {"MQMQ-2.3.1.4.journal-copy"}, 12),
    ("quotas", plans.QUOTAS, without("PROPID_Q_QUOTA"), silent, {"MQDMPR-3.1.7.1.9.queue-quota"}, 10),
    (
        "bytes drift",
        plans.QUOTAS,
        same,
        drifting(),
        {"MQDMPR-3.1.1.2.total-bytes", "MQDMPR-3.1.7.2.1.total-bytes", "MQDMPR-3.1.7.2.2.total-bytes"},
        12,
    ),
)


@pytest.mark.parametrize("case", WALKS, ids=[case[0] for case in WALKS])
def test_a_walk_finds_the_defect_and_tells_it_shortly(case: Any, tmp_path: Path) -> None:
    _, plan, asks, tells, requirements, longest = case
    judge = Recorder(OPTIONS, lambda verdict, count: None)
    options = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 40, 30, first_only=True)
    with (
        connect("embedded", state_dir=tmp_path, in_process=True) as client,
        pytest.raises((ConformanceFailure, ConformanceFailures)) as caught,
    ):
        walk(Distorting(client, asks, tells), judge, options, plan)
    found = caught.value.exceptions if isinstance(caught.value, ConformanceFailures) else (caught.value,)
    told = {each.verdict.requirement: each.story for each in found}
    assert requirements & set(told), told
    assert min(len(story) for requirement, story in told.items() if requirement in requirements) <= longest


def renaming(name: str | None, access: str | None) -> Callable[[str, Params], Params]:
    """A manager that takes every name for this one, or every access for this one."""

    def asks(method: str, params: Params) -> Params:
        if method == "queues.open":
            params["format_name"] = name or params["format_name"]
            params["access"] = access or params["access"]
        return params

    return asks


DEAD_LETTERS = "DIRECT=OS:HOST\\SYSTEM$;DEADLETTER"


@pytest.mark.parametrize("case", names.REFUSED, ids=repr)
@pytest.mark.parametrize("defect", ["opens it", "other code"])
def test_a_manager_that_opens_what_it_must_refuse(case: names.Refused, defect: str, tmp_path: Path) -> None:
    other = "DIRECT=OS:HOST\\private$\\none" if case.code != names._MISSING else "MULTICAST=234.1.1.1:8001"
    asks = renaming(DEAD_LETTERS, "peek") if defect == "opens it" else renaming(other, "receive")
    run = (defect, lambda *given: names.test_a_name_that_cannot_be_opened_so(*given, case), asks, silent, set())
    last = judged(run, tmp_path)[-1]  # type: ignore[arg-type]
    assert last.outcome is Outcome.FAIL
    assert last.requirement == f"MQDMPR-3.1.7.1.5.{case.word}{'-code' if defect == 'other code' else ''}"


@pytest.mark.parametrize("makes", [False, True], ids=["makes none", "makes it"])
def test_an_unknown_queue_may_be_opened_for_send_but_not_made(makes: bool, tmp_path: Path) -> None:
    case = next(case for case in names.REFUSED if case.word == "not-found-send")

    def asks(method: str, params: Params) -> Params:
        if method == "queues.open" and (makes or params["access"] == "send"):
            params |= {"format_name": DEAD_LETTERS, "access": "peek"}
        return params

    run = ("", lambda *given: names.test_a_name_that_cannot_be_opened_so(*given, case), asks, silent, set())
    last = judged(run, tmp_path)[-1]  # type: ignore[arg-type]
    assert last.requirement == "MQDMPR-3.1.7.1.5.not-found-send"
    assert last.outcome is (Outcome.FAIL if makes else Outcome.READING)
    assert last.readings == (("R-MQDMPR-open-unknown-for-send", "accepted"),)


def test_a_manager_that_does_not_know_its_own_queues_or_asks_others(tmp_path: Path) -> None:
    run = (
        "",
        names.test_a_queue_of_another_computer_is_opened_without_asking,
        renaming("DIRECT=OS:HOST\\private$\\none", None),
    )
    last = judged((*run, silent, set()), tmp_path)[-1]  # type: ignore[arg-type]
    assert (last.outcome, last.requirement) == (Outcome.FAIL, "MQDMPR-3.1.7.1.5.remote-send")
