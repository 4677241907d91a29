"""Small managers with subqueues, receives in two phases, and prepared transactions."""

from __future__ import annotations

from collections.abc import Iterator

from exploring import Scope

from conformance.model import Call, State
from conformance.model.calls import INFINITE

MOVE_TO_SUB = Call("queues.open", name="m1", queue="q;one", access="move")
READ_SUB = Call("queues.open", name="r1", queue="q;one", access="receive")
MOVE_BACK = Call("queues.open", name="m", queue="q", access="move")


def opening(*more: Call, transactional: bool = False) -> tuple[Call, ...]:
    """A queue, open for send and for receive."""
    return (
        Call("queues.create", queue="q", transactional=transactional),
        Call("queues.open", name="s", queue="q", access="send"),
        Call("queues.open", name="r", queue="q", access="receive"),
        *more,
    )


def sent(state: State, most: int, transaction: str | None = None) -> Iterator[Call]:
    """The next message."""
    number = len({position.message for queue in state.queues.values() for position in queue.positions})
    if number < most:
        yield Call("messages.send", message="abcd"[number], handle="s", transaction=transaction)


def two_phase_calls(state: State) -> Iterator[Call]:
    """Receives that are begun, their ends, and a purge between."""
    yield from sent(state, 2)
    if len(state.begun) < 2 and len(state.waited) < 2:
        name = f"b{len(state.begun) + len(state.waited) + 1}"
        for timeout in (0, 1000):
            yield Call("messages.receive_begin", name=name, handle="r", timeout_ms=timeout)
    for name in state.begun:
        for acknowledge in (True, False):
            yield Call("messages.receive_end", read=name, acknowledge=acknowledge)
    yield Call("messages.receive", handle="r")
    yield Call("queues.purge", handle="r")
    if state.waiters:
        yield Call("clock.advance", by_ms=1000)


def two_phase_ends(state: State) -> Iterator[Call]:
    """The calls after which these histories end."""
    yield Call("restart", kill=True)
    yield Call("queues.open", name="x", queue="q", access="move", share="deny_receive")


def deleted_calls(state: State) -> Iterator[Call]:
    """A receive that was begun on a queue that is deleted."""
    yield from sent(state, 1)
    if not state.begun:
        yield Call("messages.receive_begin", name="b1", handle="r")
    else:
        yield Call("messages.receive_end", read="b1", acknowledge=False)
    yield Call("queues.purge", handle="r")
    yield Call("queues.delete", queue="q")


def moves(state: State, *within: str | None) -> Iterator[Call]:
    """Every move of a message whose identifier is known."""
    for source, target in (("r", "m1"), ("r1", "m")):
        for message in state.lookups:
            for name in within:
                yield Call("messages.move", message=message, handle=source, destination=target, transaction=name)


def move_calls(state: State) -> Iterator[Call]:
    """Moves there and back, and who reads in between."""
    yield from sent(state, 2)
    yield Call("messages.peek", handle="r")
    yield Call("messages.peek", handle="r1")
    yield Call("messages.receive", handle="r1")
    yield from moves(state, None)
    if not state.waited:
        yield Call("messages.receive", name="w", handle="r1", timeout_ms=INFINITE)


def refused_move_calls(state: State) -> Iterator[Call]:
    """Moves that are refused, and subqueues that are opened in every way, and deleted with their queue."""
    yield from sent(state, 1)
    yield Call("messages.peek", handle="r")
    for source, target in (("r", "m1"), ("r", "r1"), ("r", "m9")):
        for name in (None, "t", "u"):
            yield Call("messages.move", message="a", handle=source, destination=target, transaction=name)
    for method in ("messages.receive", "messages.peek", "queues.purge", "cursors.open"):
        yield Call(method, name="c", handle="m1")
    yield Call("messages.send", message="z", handle="m1")
    yield Call("messages.receive", handle="r")
    yield Call("queues.close", handle="m1")
    for access in ("send", "receive"):
        yield Call("queues.open", name="x", queue="q;two", access=access)
    yield Call("queues.delete", queue="q")


def transactional_move_calls(state: State) -> Iterator[Call]:
    """Moves in a transaction that is prepared or not, purged in between, and ended."""
    if state.transactions["t"].ended is None:
        yield from sent(state, 1, "t")
        yield Call("transactions.commit", transaction="t")
        return
    yield Call("messages.peek", handle="r")
    if "u" not in state.transactions:
        yield Call("transactions.begin", name="u")
        return
    yield from moves(state, "u")
    yield Call("messages.peek", handle="r1")
    yield Call("queues.purge", handle="r")
    if not state.waited and state.transactions["u"].ended is None:
        yield Call("messages.receive", name="w", handle="r1", timeout_ms=INFINITE)
    for method in ("transactions.prepare", "transactions.commit", "transactions.abort"):
        yield Call(method, transaction="u")


def refused_transactional_calls(state: State) -> Iterator[Call]:
    """A move of what a transaction holds, and one in a transaction that is over."""
    if state.transactions["t"].ended is None:
        yield from sent(state, 1, "t")
        yield Call("transactions.commit", transaction="t")
        return
    yield Call("messages.peek", handle="r")
    if "u" not in state.transactions:
        yield Call("transactions.begin", name="u")
        return
    yield Call("messages.receive", handle="r", transaction="u")
    for name in (None, "t", "u"):
        yield Call("messages.move", message="a", handle="r", destination="m1", transaction=name)


def last(state: State) -> Iterator[Call]:
    """The calls after which these histories end."""
    yield Call("queues.delete", queue="q")
    yield Call("restart", kill=True)


def bereft_calls(state: State) -> Iterator[Call]:
    """Transactions that worked in a queue which is deleted before they end."""
    yield from sent(state, 1, "t")
    yield Call("queues.delete", queue="q")
    yield Call("transactions.commit", transaction="t")
    yield Call("transactions.abort", transaction="t")


def made_again_calls(state: State) -> Iterator[Call]:
    """A message in a subqueue of a queue that is deleted and made again, and who looks for it."""
    if "r2" in state.handles:
        yield Call("messages.receive", handle="r2")
        if "r1" in state.handles:
            yield Call("messages.receive", handle="r1")
    elif not state.queues["q"].exists:
        yield Call("queues.create", queue="q")
    elif not state.handles["r"].lost:
        if "m1" in state.handles:
            yield Call("messages.move", message="a", handle="r", destination="m1")
        yield Call("queues.delete", queue="q")
    else:
        yield Call("queues.open", name="r2", queue="q;one", access="receive")


SUBQUEUE = (MOVE_TO_SUB, READ_SUB, MOVE_BACK)
SCOPES = (
    Scope("two phases", opening(), two_phase_calls, 5, two_phase_ends),
    Scope("deleted between phases", opening(), deleted_calls, 5),
    Scope("moves", opening(*SUBQUEUE), move_calls, 5),
    Scope(
        "made again",
        opening(*SUBQUEUE, Call("messages.send", message="a", handle="s"), Call("messages.peek", handle="r")),
        made_again_calls,
        6,
    ),
    Scope("bereft", opening(Call("transactions.begin", name="t"), transactional=True), bereft_calls, 4),
    Scope(
        "refused moves",
        opening(
            *SUBQUEUE[:2],
            Call("queues.create", queue="q9"),
            Call("queues.open", name="m9", queue="q9", access="move"),
            Call("transactions.begin", name="t"),
            Call("transactions.begin", name="u"),
            Call("transactions.abort", transaction="u"),
        ),
        refused_move_calls,
        4,
    ),
    Scope(
        "refused moves in transactions",
        opening(*SUBQUEUE[:2], Call("transactions.begin", name="t"), transactional=True),
        refused_transactional_calls,
        7,
    ),
    Scope(
        "transactional moves",
        opening(*SUBQUEUE, Call("transactions.begin", name="t"), transactional=True),
        transactional_move_calls,
        9,
        last,
    ),
)
