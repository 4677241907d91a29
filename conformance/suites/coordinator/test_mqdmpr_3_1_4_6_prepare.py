"""The coordinator asks to prepare, in two phases or in one: MS-MQDMPR 3.1.4.6."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.histories.examples import peek, receive, send
from conformance.suites.coordinator.acts import (
    FOREIGN,
    abort,
    commit,
    enlist,
    filled,
    looked,
    other_ends,
    other_work,
    prepare,
    recovery,
    restarted,
    story,
)

PEEK = "messages.peek"
SINGLE = pytest.mark.parametrize("single", [False, True], ids=["two phases", "single phase"])
FAILED = ("MQDMPR-3.1.4.6.failed-prepare-aborts", "MQDMPR-3.1.4.6.failed-prepare-raises-abort")


@pytest.mark.requirement(
    "MQDMPR-3.1.4.6.prepares",
    "MQDMPR-3.1.4.6.prepared-reported",
    "MQDMPR-3.1.4.6.prepare-done-sent",
    "MQDMPR-3.1.4.3.changes-nothing-visible",
    "MQDMPR-3.1.4.3.first-in-transaction",
    "MQDMPR-3.1.4.3.last-in-transaction",
)
def test_what_is_prepared_waits(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need, PEEK)
    history.run(*filled("a", "b"), enlist(), receive(within="t1"), *(send(name, within="t1") for name in "cde"))
    history.run(peek(), prepare(), peek(), prepare(), receive(), receive(), commit(), *looked())


@pytest.mark.requirement("MQDMPR-3.1.4.6.prepared-reported", "MQDMPR-3.1.4.8.aborts")
def test_what_is_prepared_can_be_aborted(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need, PEEK)
    history.run(*filled("a", "b"), enlist(), receive(within="t1"), send("c", within="t1"), peek(), prepare())
    history.run(peek(), abort(), *looked())


@pytest.mark.requirement(
    "MQDMPR-3.1.4.6.single-phase-commits",
    "MQDMPR-3.1.4.6.two-phase-only",
    "MQDMPR-3.1.4.7.commit-reported",
    "MQDMPR-3.1.4.3.first-in-transaction",
    "MQDMPR-3.1.4.3.last-in-transaction",
)
def test_a_single_phase_commits_at_once(mq: Any, judge: Any, mq_need: Any) -> None:
    history = story(mq, judge, mq_need, PEEK)
    history.run(*filled("a"), enlist(), receive(within="t1"), send("b", within="t1"), send("c", within="t1"), peek())
    history.run(prepare(single=True), *looked(1), commit(), abort(), *looked(3))


@SINGLE
@pytest.mark.requirement(*FAILED, "MQDMPR-3.1.4.8.abort-reported")
def test_what_is_unknown_cannot_be_prepared(mq: Any, judge: Any, mq_need: Any, single: bool) -> None:
    history = story(mq, judge, mq_need, "transactions.abort")
    history.run(*filled("a", "b"), *other_work(), enlist(), receive(within="t1"), send("c", within="t1"))
    history.run(prepare(FOREIGN, single=single), receive(), prepare(), commit(), *looked(2), other_ends(), *looked(1))


@SINGLE
@pytest.mark.requirement(*FAILED, "MQDMPR-3.1.4.8.abort-reported")
def test_what_is_over_cannot_be_prepared(mq: Any, judge: Any, mq_need: Any, single: bool) -> None:
    """A commit stays one, although the answer is that of an abort."""
    history = story(mq, judge, mq_need)
    history.run(*filled("a"), enlist("t1", "x1"), receive(within="t1"), send("b", within="t1"), send("c", within="t1"))
    history.run(prepare("x1"), commit("x1"), receive(), prepare("x1", single=single), *looked(2))
    history.run(*filled("d", "e"), enlist("t2", "x2"), receive(within="t2"), send("f", within="t2"), abort("x2"))
    history.run(receive(), prepare("x2", single=single), *looked(2))


@SINGLE
@pytest.mark.requirement("MQDMPR-3.1.4.6.prepared-reported", "MQDMPR-3.1.4.7.commit-reported")
def test_what_has_done_nothing_is_prepared_too(mq: Any, judge: Any, mq_need: Any, single: bool) -> None:
    history = story(mq, judge, mq_need, PEEK)
    history.run(*filled("a"), enlist("t1", "x1"), peek(), prepare("x1", single=single))
    history.run(commit("x1"), enlist("t2", "x2"), prepare("x2", single=single), abort("x2"), *looked(2))


@pytest.mark.requirement("MQDMPR-3.1.3.resource-manager")
def test_what_has_done_nothing_may_be_in_doubt(mq: Any, judge: Any, mq_need: Any) -> None:
    """A manager that was prepared waits for its outcome, and one that answered read-only does not."""
    history = recovery(mq, judge, mq_need)
    history.run(enlist("t1", "x1"), enlist("t2", "x2"), send("a", within="t2"), prepare("x1"), prepare("x2"))
    history.run(*restarted())
