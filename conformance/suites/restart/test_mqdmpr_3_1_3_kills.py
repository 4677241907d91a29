"""The queue manager is killed in the middle of a call: MS-MQDMPR 3.1.1.11, 3.1.1.12, 3.1.3 and 3.1.4.4.

A call that was answered has happened, and its effect is kept where it must be. A call in flight has happened as a whole
or not at all. The kill comes at once or a little later, so that it meets the call at different points.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conformance.model import Call
from conformance.suites.concurrency.running import storm
from conformance.suites.concurrency.workload import Workload
from conformance.suites.restart.acts import TRANSACTIONS as ENDS
from conformance.suites.restart.acts import need_kills
from conformance.suites.restart.rejudge import StoryStep, pauses, tell_and_judge

KILL = StoryStep(Call("restart", kill=True))
BOTH = Workload((("q1", True), ("q2", True), ("q3", False)), 4, 90, (("send", 5), ("receive", 3), ("peek", 1)))


def opened(*queues: str, epoch: int = 0) -> list[StoryStep]:
    """Open queues for send and for receive, as s1, r1 and so on."""
    return [
        StoryStep(Call("queues.open", name=f"{access[0]}{queue[1:]}{'x' * epoch}", queue=queue, access=access))
        for queue in queues
        for access in ("send", "receive")
    ]


def created(*queues: str, transactional: bool = False) -> list[StoryStep]:
    """Create queues and open them."""
    return [StoryStep(Call("queues.create", queue=queue, transactional=transactional)) for queue in queues] + opened(
        *queues
    )


def send(message: str, queue: str = "q1", *, within: str | None = None, flies: bool = False) -> StoryStep:
    """Send a recoverable message."""
    delivery = None if within else "recoverable"
    call = Call("messages.send", message=message, handle=f"s{queue[1:]}", transaction=within, delivery=delivery)
    return StoryStep(call, flies)


def receive(queue: str = "q1", *, within: str | None = None, flies: bool = False) -> StoryStep:
    """Receive the first message."""
    return StoryStep(Call("messages.receive", handle=f"r{queue[1:]}", transaction=within), flies)


def transaction(method: str, name: str, *, flies: bool = False) -> StoryStep:
    """Begin, prepare, commit or abort."""
    if method == "begin":
        return StoryStep(Call("transactions.begin", name=name))
    return StoryStep(Call(f"transactions.{method}", transaction=name), flies)


def killed(options: Any, steps: list[StoryStep], *queues: str) -> Iterator[list[StoryStep]]:
    """Yield the story with a kill after it, at once or after a pause, and the queues opened again."""
    for pause in pauses(options):
        *before, last = steps
        yield [*before, StoryStep(last.call, last.flies, pause), KILL, *opened(*queues, epoch=1)]


@pytest.mark.requirement(
    "MQDMPR-3.1.1.12.recoverable-survives",
    "MQDMPR-3.1.1.2.private-attributes-persistent",
    "MQDMPR-3.1.3.uncommitted-send-lost",
)
def test_a_kill_during_sends(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    need_kills(mq, mq_need, *ENDS)
    steps = [*created("q1"), *created("q2", transactional=True), send("a"), send("b"), transaction("begin", "t1")]
    steps += [send("c", "q2", within="t1"), send("d", "q2", within="t1", flies=True)]
    steps += [send(name, flies=True) for name in "efg"]
    for story in killed(run_options, steps, "q1", "q2"):
        tell_and_judge(mq, judge, story)


@pytest.mark.requirement("MQDMPR-3.1.4.4.all-together", "MQDMPR-3.1.4.4.durable")
def test_a_kill_during_a_commit(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    need_kills(mq, mq_need, *ENDS)
    steps = [*created("q1", "q2", transactional=True), transaction("begin", "t1")]
    steps += [*(send(name, within="t1") for name in "abc"), transaction("commit", "t1"), transaction("begin", "t2")]
    steps += [receive(within="t2"), send("d", within="t2"), send("e", "q2", within="t2"), send("f", "q2", within="t2")]
    for story in killed(run_options, [*steps, transaction("commit", "t2", flies=True)], "q1", "q2"):
        tell_and_judge(mq, judge, story)


@pytest.mark.requirement("MQDMPR-3.1.3.uncommitted-send-lost", "MQDMPR-3.1.1.11.uncommitted-receive-not-lost")
def test_a_kill_between_prepare_and_commit(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    need_kills(mq, mq_need, *ENDS, "transactions.prepare")
    steps = [*created("q1", "q2", transactional=True), transaction("begin", "t1"), send("a", within="t1")]
    steps += [transaction("prepare", "t1"), transaction("commit", "t1"), transaction("begin", "t2")]
    steps += [receive(within="t2"), send("b", within="t2"), send("c", "q2", within="t2")]
    for story in killed(run_options, [*steps, transaction("prepare", "t2")], "q1", "q2"):
        tell_and_judge(mq, judge, story)
    for story in killed(run_options, [*steps, transaction("prepare", "t2", flies=True)], "q1", "q2"):
        tell_and_judge(mq, judge, story)


@pytest.mark.requirement("MQDMPR-3.1.1.12.received-not-redelivered", "MQDMPR-3.1.1.11.uncommitted-receive-not-lost")
def test_a_kill_during_receives(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    need_kills(mq, mq_need, *ENDS)
    steps = [*created("q1"), *created("q2", transactional=True), *(send(name) for name in "abcd")]
    steps += [transaction("begin", "t1"), *(send(name, "q2", within="t1") for name in "ef")]
    steps += [transaction("commit", "t1"), transaction("begin", "t2"), receive("q2", within="t2"), receive()]
    steps += [receive("q2", within="t2", flies=True), receive(flies=True), receive(flies=True)]
    for story in killed(run_options, steps, "q1", "q2"):
        tell_and_judge(mq, judge, story)


@pytest.mark.requirement("MQDMPR-3.1.1.12.recoverable-survives", "MQDMPR-3.1.7.1.11.locks")
def test_a_kill_between_the_phases_of_a_receive(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    need_kills(mq, mq_need, "messages.receive_begin", "messages.receive_end")
    begun = StoryStep(Call("messages.receive_begin", name="b1", handle="r1"))
    for story in killed(run_options, [*created("q1"), send("a"), send("b"), begun], "q1"):
        tell_and_judge(mq, judge, story)


@pytest.mark.requirement("MQDMPR-3.1.4.4.all-together", "MQDMPR-3.1.1.12.express-may-survive")
def test_kills_again_and_again(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    need_kills(mq, mq_need, *ENDS, "transactions.abort")
    for number in range(max(1, run_options.max_examples // 30)):
        storm(mq, judge, BOTH, run_options.seed * 1_000 + number, kills=2)
