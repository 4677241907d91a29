"""Two managers take part in one transaction: a message goes from a queue of one to a queue of the other, or stays.

MS-MQDMPR 3.1.4.6 to 3.1.4.10. Each manager is judged by a model of its own. What the other does changes nothing in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pytest

from conformance.harness.recorder import ConformanceFailure, Recorder
from conformance.histories.examples import opened, receive, send
from conformance.histories.history import History
from conformance.model import Call
from conformance.suites.coordinator.acts import (
    DOUBT,
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

_COMMITS, _ABORTS = "MQDMPR-3.1.4.7.commits", "MQDMPR-3.1.4.8.aborts"
_FOUND = (KILL, DOUBT, *opened())
ENDS: Final[Mapping[str, tuple[tuple[str, ...], tuple[tuple[int, tuple[Call, ...]], ...]]]] = {
    "both commit": ((_COMMITS,), ((0, (prepare(),)), (1, (prepare(),)), (0, (commit(),)), (1, (commit(),)))),
    "the second cannot prepare": ((_ABORTS,), ((0, (prepare(),)), (1, (abort(),)), (0, (abort(),)))),
    "the second dies before it prepares": (
        (_ABORTS, "MQDMPR-3.1.3.unfinished-transaction-aborted"),
        ((0, (prepare(),)), (1, (KILL, DOUBT, *opened())), (0, (abort(),))),
    ),
    "the first dies, and the second has committed": (
        (_COMMITS, "MQDMPR-3.1.4.9.commits"),
        ((0, (prepare(),)), (1, (prepare(),)), (0, _FOUND), (1, (commit(),)), (0, (outcome("committed"),))),
    ),
    "both die, and it is aborted": (
        ("MQDMPR-3.1.4.10.aborts",),
        (
            *((1, (prepare(),)), (0, (prepare(),)), (0, _FOUND), (1, _FOUND)),
            *((1, (outcome("aborted"),)), (0, (outcome("aborted"),))),
        ),
    ),
    "the last one alone decides": ((_COMMITS,), ((0, (prepare(),)), (1, (prepare(single=True),)), (0, (commit(),)))),
}
"""By how it ends: the requirements that are shown, and the acts in order, each with its manager (0: the first)."""


def rows() -> list[Any]:
    """Return the ends, and by turns the manager from which the message is received, as parameters of a test."""
    return [
        pytest.param(name, at % 2, id=name, marks=pytest.mark.requirement(*ENDS[name][0]))
        for at, name in enumerate(ENDS)
    ]


@pytest.mark.parametrize(("end", "source"), rows())
def test_one_transaction_of_two(mq: Any, mq_other: Any, judge: Any, mq_need: Any, end: str, source: int) -> None:
    """Both have the same names for queues and messages."""
    second = Recorder(judge.options, lambda verdict, count: None, disabled=judge.disabled)
    histories = recovery(mq, judge, mq_need), recovery(mq_other, second, mq_need)
    _one_is_not_the_other(histories)
    work = ((receive(within="t1"), send("b", within="t1")), (send("a", within="t1"), send("c", within="t1")))
    kinds = work if source == 0 else work[::-1]
    acts = [
        *((at, (*filled("y", "z"), enlist(), *kinds[at])) for at in (0, 1)),
        *ENDS[end][1],
        *((at, looked(5)) for at in (1, 0)),
    ]
    for at, calls in acts:
        try:
            histories[at].run(*calls)
        except ConformanceFailure as failure:
            if at == 0:
                raise
            judge.step("the other manager, whose own history this is:")
            for line in second.story:
                judge.step_told(line)
            judge.record(failure.verdict)


def _one_is_not_the_other(histories: tuple[History, History]) -> None:
    """Skip the test if two drivers speak for one manager: the queue that the second has made is then the first's."""
    first, second = (each.client for each in histories)
    path = f"{second.hello.computer}\\private$\\other{second.unique()}"
    name = second.call("queues.create", path_name=path).values.get("format_name")
    if name is None or first.call("queues.open", format_name=name, access="receive").ok:
        pytest.skip("both drivers speak for one manager")
