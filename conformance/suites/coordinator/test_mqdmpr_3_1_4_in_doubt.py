"""Restarts find each transaction of the coordinator as it was, after each act and in each: MS-MQDMPR 3.1.3, 3.1.1.1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from conformance.histories.examples import REMOTE, opened, post, receive, send
from conformance.model import Call
from conformance.suites.coordinator.acts import (
    DOUBT,
    DOUBTS,
    ENDS,
    FILLS,
    KILL,
    abort,
    commit,
    enlist,
    filled,
    looked,
    outcome,
    prepare,
    recovery,
)
from conformance.suites.restart.acts import need_kills
from conformance.suites.restart.rejudge import StoryStep, pauses, tell_and_judge

ABORTED = "MQDMPR-3.1.3.unfinished-transaction-aborted"
HELD = "MQDMPR-3.1.1.1.transaction-collection"
DURABLE = "MQDMPR-3.1.4.4.durable"
WORK = (enlist(), receive(within="t1"), send("c", within="t1"), receive(within="t1"), send("d", within="t1"))
IN_DOUBT = (*WORK, prepare(), KILL, DOUBT)
ACTS: dict[str, tuple[Sequence[Call], str]] = {
    "enlist": (WORK[:1], "MQDMPR-3.1.3.unfinished-transaction-aborted"),
    "receive": (WORK[:2], "MQDMPR-3.1.1.11.uncommitted-receive-not-lost"),
    "send": (WORK[:3], "MQDMPR-3.1.3.uncommitted-send-lost"),
    "second receive": (WORK[:4], "MQDMPR-3.1.1.11.uncommitted-receive-not-lost"),
    "second send": (WORK, "MQDMPR-3.1.3.uncommitted-send-lost"),
    "prepare": ((*WORK, prepare()), HELD),
    "second prepare": ((*WORK, prepare(), prepare()), HELD),
    "commit": ((*WORK, prepare(), commit()), DURABLE),
    "abort": ((*WORK, abort()), "MQDMPR-3.1.4.8.aborts"),
    "abort of what is prepared": ((*WORK, prepare(), abort()), "MQDMPR-3.1.4.8.aborts"),
    "single phase": ((*WORK, prepare(single=True)), DURABLE),
    "outcome committed": ((*IN_DOUBT, outcome("committed")), DURABLE),
    "outcome aborted": ((*IN_DOUBT, outcome("aborted")), "MQDMPR-3.1.4.10.aborts"),
}
"""The acts up to one, and what a kill directly after it shows."""
MADE = (Call("queues.create", queue="q1", transactional=True), *opened(), *filled("a", "b", "z"))


def rows() -> list[Any]:
    """Return the acts as parameters of a test."""
    return [pytest.param(name, id=name, marks=pytest.mark.requirement(shows)) for name, (_, shows) in ACTS.items()]


@pytest.mark.parametrize("word", ["committed", "aborted"])
@pytest.mark.parametrize("kills", [1, 2], ids=["a kill", "two kills"])
@pytest.mark.parametrize("act", rows())
def test_a_kill_directly_after(mq: Any, judge: Any, mq_need: Any, act: str, kills: int, word: str) -> None:
    """A transaction in doubt waits, and all others have ended. Nothing comes between the act and the kill."""
    history = recovery(mq, judge, mq_need)
    history.run(*filled("a", "b", "z"), *ACTS[act][0], *[KILL] * kills, *opened(), *looked(1), DOUBT)
    history.run(outcome(word), *looked(4))


@pytest.mark.parametrize("act", rows())
def test_a_kill_during(mq: Any, judge: Any, run_options: Any, mq_need: Any, act: str) -> None:
    """An act in flight has happened as a whole or not at all: what is in doubt tells whether a prepare has."""
    need_kills(mq, mq_need, *ENDS, *DOUBTS, *FILLS)
    *before, last = ACTS[act][0]
    after = (KILL, DOUBT, *opened(), receive(), outcome("committed"), DOUBT)
    for pause in pauses(run_options, list(ACTS).index(act)):
        steps = [*(StoryStep(call) for call in (*MADE, *before)), StoryStep(last, True, pause)]
        tell_and_judge(mq, judge, [*steps, *map(StoryStep, after)])


@pytest.mark.requirement(ABORTED, "MQDMPR-3.1.3.resource-manager", "MQDMPR-3.1.4.6.prepares")
def test_only_what_is_prepared_is_in_doubt(mq: Any, judge: Any, mq_need: Any) -> None:
    """Beside it are one that was not prepared, one committed, one aborted and one without coordinator."""
    history = recovery(mq, judge, mq_need, "transactions.prepare")
    history.run(*filled("a", "b", "c", "d"), *(enlist(f"t{number}", f"x{number}") for number in range(1, 5)))
    history.run(*(receive(within=f"t{number}") for number in range(1, 5)), Call("transactions.begin", name="t5"))
    history.run(*(send(f"e{number}", within=f"t{number}") for number in range(1, 6)), prepare("x1"), prepare("x3"))
    history.run(Call("transactions.prepare", transaction="t5"), commit("x3"), abort("x4"), KILL, DOUBT, *opened())
    history.run(
        *looked(4), commit("x3"), abort("x2"), prepare("x4"), DOUBT, outcome("aborted", "x1"), DOUBT, *looked(2)
    )


@pytest.mark.requirement(HELD, "MQDMPR-3.1.4.9.commits")
def test_work_goes_on_beside_what_is_in_doubt(mq: Any, judge: Any, mq_need: Any) -> None:
    history = recovery(mq, judge, mq_need)
    history.run(*filled("a", "b"), *WORK[:3], prepare(), KILL, DOUBT, *opened(), enlist("t2", "x2"))
    history.run(receive(within="t2"), send("e", within="t2"), prepare("x2"), commit("x2"), *looked(1), KILL, DOUBT)
    history.run(*opened(), outcome("committed"), DOUBT, *looked(2))


@pytest.mark.requirement("MQMP-3.1.4.13.known", "MQDMPR-3.1.4.6.prepares", "MQDMPR-3.1.4.9.commits")
@pytest.mark.parametrize("word", ["committed", "aborted"])
@pytest.mark.parametrize(
    "again", [(enlist("t2"),), (prepare(),), (enlist("t2"), prepare())], ids=["enlist", "prepare", "both"]
)
def test_what_is_in_doubt_stays_so(mq: Any, judge: Any, mq_need: Any, again: tuple[Call, ...], word: str) -> None:
    """It is in the collection: enlisting finds it, and to prepare it once more changes nothing."""
    history = recovery(mq, judge, mq_need)
    history.run(*filled("a", "b"), *IN_DOUBT, *again, DOUBT, *opened(), *looked(1), outcome(word), DOUBT, *looked(4))


@pytest.mark.requirement(HELD, "MQDMPR-3.1.4.9.commits", "MQDMPR-3.1.4.10.aborts")
@pytest.mark.parametrize("word", ["committed", "aborted"])
def test_a_send_to_another_computer_is_in_doubt(mq: Any, judge: Any, mq_need: Any, word: str) -> None:
    """It leaves when the outcome is known, beside a send that a commit before the kill has decided."""
    history = recovery(mq, judge, mq_need, "outgoing.take")
    mq.need("format_names", "remote")
    far = Call("queues.open", name="s1", queue=REMOTE, access="send")
    take = Call("outgoing.take", queue=REMOTE)
    history.run(far, enlist(), post("f", within="t1", to="s1"), post("n", within="t1"), prepare(), KILL, DOUBT, far)
    history.run(enlist("t2", "x2"), post("g", within="t2", to="s1"), prepare("x2"), commit("x2"), take, KILL, DOUBT)
    history.run(outcome(word), far, take, *opened(), *looked(2))
