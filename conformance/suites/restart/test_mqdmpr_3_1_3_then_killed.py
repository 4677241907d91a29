"""The queue manager is killed directly after it answered an act, or during it: MS-MQDMPR 3.1.1.2, 3.1.1.12, 3.1.3.

No call comes between the answer and the kill: a store that writes with the next call has not written yet.
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance.harness.guarded_client import NOT_OFFERED
from conformance.histories.examples import PLAYED, REMOTE, begin_managed, connected, of_queue, stored, transfer
from conformance.histories.history import History, probed
from conformance.model import Call
from conformance.suites.restart.acts import ACTS, ATTRIBUTES, FORMER, KILL, LATER, OTHER, Act, drain, need_kills
from conformance.suites.restart.rejudge import FORMAT, StoryStep, pauses, tell_and_judge
from conformance.verdict import Outcome, Verdict

ELSEWHERE = ("set", "send", "receive", "receive with a copy", "commit of sends", "commit of receives")
"""Acts that other tests have in flight, and one whose copies the search for an order does not know."""


def rows(*left_out: str) -> list[Any]:
    """Return the acts as parameters of a test."""
    chosen = (act for act in ACTS if act.name not in left_out)
    return [pytest.param(act, id=act.name, marks=pytest.mark.requirement(*act.shows)) for act in chosen]


def possible(act: Act, mq: Any, judge: Any, mq_need: Any) -> None:
    """Skip an act that this implementation cannot be asked for."""
    need_kills(mq, mq_need, *act.needs)
    if "queues.set" in act.needs and not any(mq.hello.takes("properties", name) for name in LATER):
        judge.lacks(*(f"{name} (of a queue)" for name in LATER))
        pytest.skip(f"{NOT_OFFERED}{', '.join(judge.lacking)}")


@pytest.mark.parametrize("act", rows())
def test_what_was_answered_is_done(act: Act, mq: Any, judge: Any, mq_need: Any) -> None:
    """It is done after two kills in a row, and after a kill of a manager that has written nothing else."""
    possible(act, mq, judge, mq_need)
    twin, history = act.twin(), History(mq, judge)
    look: tuple[Call, ...] = ()
    if "queues.set" in act.needs:
        shown = probed(history)
        look = tuple(Call("queues.get", queue=name, names=shown) for name in ("q1", "q3"))
        history.run(Call("watch", names=shown))
    history.run(*act.start(), *twin.start(), *OTHER, *look)
    history.run(*act.ready, act.call, KILL, KILL)
    history.run(*twin.opens(), *twin.ready, twin.call, KILL)
    history.run(*look, *act.end(), *twin.end(), *drain("q2"))


@pytest.mark.requirement("MQMQ-2.3.12.7.propid-mgmt-queue-message-count")
def test_what_the_other_side_has_stored_is_gone(mq: Any, judge: Any, mq_need: Any) -> None:
    """A session acknowledgment lasts (MS-MQQB 3.1.5.5.3), and what it does not reach is there to be sent again."""
    need_kills(mq, mq_need, *PLAYED)
    history = begin_managed(mq, judge, mq_need, PLAYED[0])
    sends = (Call("messages.send", message=one, handle="s1", delivery="recoverable") for one in "abc")
    opens, count = Call("queues.open", name="s1", queue=REMOTE, access="send"), of_queue(judge, REMOTE, "MESSAGE_COUNT")
    history.run(*sends, *connected(), transfer(), stored(1), KILL, KILL, opens, count)


@pytest.mark.parametrize("act", rows(*ELSEWHERE))
def test_what_was_not_answered_is_done_or_not(act: Act, mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    """An act in flight happens as a whole or not at all, and nothing else changes."""
    possible(act, mq, judge, mq_need)
    before = [StoryStep(call) for call in (*act.start(), *OTHER, *act.ready)]
    ends = [StoryStep(drain(place)[0]) for place in (*act.left, "q2")]
    for pause in pauses(run_options, ACTS.index(act)):
        tell_and_judge(mq, judge, [*before, StoryStep(act.call, True, pause), StoryStep(KILL), *ends])


@pytest.mark.requirement(ATTRIBUTES)
def test_a_set_without_an_answer_is_done_or_not(mq: Any, judge: Any, mq_need: Any) -> None:
    """A queue has all its former properties or all of the later ones."""
    possible(next(act for act in ACTS if act.name == "set"), mq, judge, mq_need)
    names = [name for name in LATER if mq.hello.takes("properties", name)]
    former, later = ({name: values[name] for name in names} for values in (FORMER, LATER))
    judge.begin_example("properties", {"format": FORMAT})  # no calls: `rejudge` refuses to repeat it
    if mq.offers("reset"):
        mq.call("reset")
    path = f"{mq.hello.computer}\\private$\\mqconform-kept"
    made = mq.call("queues.create", path_name=path, properties=former)
    name = made.values.get("format_name", f"DIRECT=OS:{path}")
    judge.step(f"create a queue with {former}", {"path_name": path}, made.to_json())
    mq.start("queues.set", format_name=name, properties=later)
    judge.step(f"set {later}, without waiting for the answer")
    mq.restart(kill=True)
    judge.step("kill the queue manager and start it again")
    seen = mq.call("queues.get", format_name=name, properties=names)
    judge.step("get these properties", None, seen.to_json())
    there = seen.values.get("properties")
    outcome = Outcome.PASS if there in (former, later) else Outcome.FAIL
    judge.record(Verdict(ATTRIBUTES, outcome, "queues.get", {"either": [former, later]}, there))
