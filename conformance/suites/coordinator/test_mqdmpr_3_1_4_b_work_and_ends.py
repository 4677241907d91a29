"""Each two kinds of work in one transaction of the coordinator, and each way it ends: MS-MQDMPR 3.1.4.6 to 3.1.4.10."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from conformance.histories.examples import (
    ADMIN,
    begin_keeping,
    counted,
    opened,
    passes,
    peek_next,
    post,
    receive,
    receives,
)
from conformance.histories.examples import cursor as opens_cursor
from conformance.histories.examples import peek as first
from conformance.model import Call
from conformance.model.journals import journal_of
from conformance.suites.coordinator.acts import (
    DOUBT,
    DOUBTS,
    ENDS,
    FILLS,
    KILL,
    STOP,
    abort,
    commit,
    enlist,
    outcome,
    prepare,
)

LOOKUP = "messages.receive_by_lookup_id"
NEEDED: Final = (*ENDS, *FILLS, *DOUBTS, "messages.move", "messages.peek", "messages.peek_next", "cursors.open", LOOKUP)
LIFE_S: Final = 5
MOVABLE: Final = ("d", "e")
MOVED: Final = ("m", "n")


def _open(name: str, queue: str, access: str) -> Call:
    return Call("queues.open", name=name, queue=queue, access=access)


def _moved(message: str, source: str, target: str) -> Call:
    return Call("messages.move", message=message, handle=source, destination=target, transaction="t1")


HANDLES: Final = (
    _open("s2", "q2", "send"),
    _open("r2", "q2", "receive"),
    _open("m0", "q1", "move"),
    _open("m1", "q1;one", "move"),
    _open("e1", "q1;one", "receive"),
)
WORKS: Final[Mapping[str, Callable[[int], tuple[Call, ...]]]] = {
    "a send": lambda at: (post(f"v{at}", within="t1"),),
    "a send to another queue": lambda at: (post(f"w{at}", within="t1", to="s2"),),
    "a send that can expire": lambda at: (post(f"x{at}", within="t1", live_s=LIFE_S),),
    "a receive": lambda at: (receive(within="t1"),),
    "a receive from another queue": lambda at: (Call("messages.receive", handle="r2", transaction="t1"),),
    "a receive by lookup": lambda at: (Call(LOOKUP, handle="r", message="bc"[at], action="current", transaction="t1"),),
    "a receive by cursor": lambda at: (
        *(opens_cursor(f"k{at}"), first(f"k{at}"), peek_next(f"k{at}")),
        receive(f"k{at}", within="t1"),
    ),
    "a move to a subqueue": lambda at: (_moved(MOVABLE[at], "r", "m1"),),
    "a move from a subqueue": lambda at: (_moved(MOVED[at], "e1", "m0"),),
}
"""The work in the transaction: calls by number, 0 for the first time and 1 for the second."""
_ORDERS: Final = (0, "first to last"), (1, "last to first")
_COMMITS: Final = ("MQDMPR-3.1.4.7.commits", "MQDMPR-3.1.4.7.commit-reported")
_ABORTS: Final = ("MQDMPR-3.1.4.8.aborts", "MQDMPR-3.1.4.8.abort-reported")
_RECOVERED: Final = ("MQDMPR-3.1.1.1.transaction-collection", "MQDMPR-3.1.3.resource-manager")
WAYS: Final[tuple[tuple[str, tuple[Call, ...], tuple[str, ...]], ...]] = (
    ("commit", (prepare("X1"), commit()), _COMMITS),
    ("abort", (abort("X1"),), _ABORTS),
    ("committed after a kill", (prepare(), KILL, DOUBT, outcome("committed")), ("MQDMPR-3.1.4.9.commits", *_RECOVERED)),
    ("single phase", (prepare(single=True),), ("MQDMPR-3.1.4.6.single-phase-commits",)),
    ("aborted after a kill", (prepare(), KILL, DOUBT, outcome("aborted")), ("MQDMPR-3.1.4.10.aborts", *_RECOVERED)),
    ("abort of what is prepared", (prepare(), abort()), _ABORTS),
    ("kill of what is not prepared", (KILL, DOUBT), ("MQDMPR-3.1.3.unfinished-transaction-aborted",)),
    ("kill after the commit", (prepare(), commit(), KILL, DOUBT), (*_COMMITS, "MQDMPR-3.1.4.4.durable")),
    ("aborted after a stop", (prepare(), STOP, DOUBT, outcome("aborted", "X1")), ("MQDMPR-3.1.4.10.aborts",)),
)
"""How it ends: the last acts, and what they show. A transaction is `X1` where its identifier is spelled in capitals."""


def rows() -> list[Any]:
    """Return each way with all works in both orders, and an orthogonal array of each two works and the ways."""
    names = list(WORKS)
    found = [
        *(
            (f"all, {order}", tuple((name, at) for name in names[:: 1 - 2 * at]), way)
            for at, order in _ORDERS
            for way in WAYS
        ),
        *(
            (f"{one} - {other}", ((one, 0), (other, 1)), WAYS[(at + second) % len(WAYS)])
            for at, one in enumerate(names)
            for second, other in enumerate(names)
        ),
    ]
    return [
        pytest.param(works, way[1], id=f"{name} - {way[0]}", marks=pytest.mark.requirement(*way[2]))
        for name, works, way in found
    ]


@pytest.mark.parametrize(("works", "end"), rows())
def test_all_that_was_done_ends_as_one(
    mq: Any, judge: Any, mq_need: Any, works: tuple[tuple[str, int], ...], end: tuple[Call, ...]
) -> None:
    """Everything is read out afterwards: counts, queues, subqueue, journal, acknowledgments."""
    if not mq.keeps_state:
        pytest.skip("a restart of this connection does not find the state again")
    history = begin_keeping(mq, judge, mq_need, *NEEDED, transactional=True, admin=True)
    history.run(Call("queues.create", queue="q2", transactional=True, journaling=True), *HANDLES)
    brief = dict.fromkeys((MOVABLE[0], MOVED[0]), LIFE_S)
    history.run(Call("transactions.begin", name="t0"))
    asks: dict[str, dict[str, str]] = {name: {"acks": "positive_receive", "admin": ADMIN} for name in ("a", "b")}
    every = ("a", "b", "c", *MOVABLE, *MOVED)
    history.run(*(post(name, within="t0", live_s=brief.get(name), **asks.get(name, {})) for name in every))
    history.run(Call("transactions.commit", transaction="t0"))
    history.run(opens_cursor("k"), first("k"), *[peek_next("k")] * 6)
    history.run(Call("transactions.begin", name="t2"), *(post(name, within="t2", to="s2") for name in "fgh"))
    history.run(
        *(Call("messages.move", message=name, handle="r", destination="m1", transaction="t2") for name in MOVED)
    )
    history.run(Call("transactions.commit", transaction="t2"))
    history.run(Call("cursors.open", name="e", handle="e1"), Call("messages.peek", handle="e1", cursor="e"))
    history.run(Call("messages.peek_next", handle="e1", cursor="e"))
    history.run(enlist(), *(call for name, at in works for call in WORKS[name](at)), *end)
    virtual = mq.hello.clock == "virtual" and mq.offers("clock.advance")
    again = (*opened(), *HANDLES, _open("ra", ADMIN, "receive")) if KILL in end or STOP in end else ()
    counts = tuple(counted(queue) for queue in ("q1", "q2", "q1;one")) if mq.offers("queues.counts") else ()
    history.run(*again, *counts, *((passes(LIFE_S * 2_000),) if virtual else ()))
    history.run(_open("j2", journal_of("q2"), "receive"), *receives("r", 9), *receives("e1", 4), *receives("r2", 5))
    history.run(*receives("j2", 5), *receives("ra", 3))
