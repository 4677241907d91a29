"""What the walk over everything found: calls that no narrower walk puts side by side."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.histories.operations.operation import Offer
from conformance.histories.operations.transactions import mistakes
from conformance.model import Call, Model, State
from conformance.model.expected import Expected, Fails

MODEL = Model()
OPEN = (
    Call("queues.create", queue="q"),
    Call("queues.open", name="s", queue="q", access="send"),
    Call("queues.open", name="r", queue="q", access="receive"),
)


def after(calls: Iterable[Call]) -> State:
    state = State()
    for call in calls:
        state = MODEL.allowed(state, call).outcomes[0].next
    return state


def only(state: State, call: Call) -> Expected:
    (expected,) = MODEL.allowed(state, call).outcomes
    return expected


def test_a_read_ended_twice_whose_queue_is_gone_fails_with_any_code() -> None:
    begin = Call("messages.receive_begin", name="b", handle="r")
    end = Call("messages.receive_end", read="b", acknowledge=True)
    gone = Call("queues.delete", queue="q")
    state = after((*OPEN, Call("messages.send", message="a", handle="s"), begin, gone))
    first = only(state, end)
    assert isinstance(first.result, Fails) and first.result.by_reading
    for again in (first.next, after((*OPEN, Call("messages.send", message="a", handle="s"), begin, end, gone))):
        result = only(again, end).result
        assert isinstance(result, Fails) and not result.code and not result.codes and not result.by_reading


def test_nobody_asks_what_sending_by_a_handle_for_move_is() -> None:
    state = after((*OPEN, Call("queues.open", name="m", queue="q", access="move")))
    asked = mistakes(state, Offer(frozenset({"messages.send", "messages.receive", "messages.peek"}), True))
    assert all(call.handle != "m" for call in asked if call.method == "messages.send")
