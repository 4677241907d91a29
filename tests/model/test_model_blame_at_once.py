"""Which requirement a concurrent history breaks: moves that meet receives, restarts, readers that waited."""

from __future__ import annotations

from dataclasses import replace

from conformance.model import Call, Model
from conformance.model.calls import INFINITE, Answer, SeenMessage
from conformance.model.linearizability.history import Operation
from conformance.model.linearizability.judge import Judged, judge_history
from conformance.spec.constants import hresults
from conformance.verdict import Outcome

EMPTY = Answer.of_status(hresults.MQ_ERROR_IO_TIMEOUT)
NOT_FOUND = Answer.of_status(hresults.MQ_ERROR_MESSAGE_NOT_FOUND)
OPENINGS = (
    Call("queues.create", queue="q1"),
    Call("queues.open", name="s", queue="q1", access="send"),
    Call("queues.open", name="r", queue="q1", access="receive"),
    Call("queues.open", name="m1", queue="q1;one", access="move"),
    Call("queues.open", name="r1", queue="q1;one", access="receive"),
)
FRAME = tuple(Operation(call, "-", -100 + 2 * n, -99 + 2 * n, Answer()) for n, call in enumerate(OPENINGS))
MOVE = Call("messages.move", message="a", handle="r", destination="m1")


def got(message: str, number: int | None = None) -> Answer:
    return Answer(message=SeenMessage(message.encode(), lookup_identifier=number))


def done(call: Call, began: int, ended: int, answer: Answer | None = None, *, client: str = "A") -> Operation:
    return Operation(call, client, began, ended, answer or Answer())


def send(message: str, began: int, ended: int) -> Operation:
    return done(Call("messages.send", message=message, handle="s", delivery="recoverable"), began, ended)


def receive(began: int, ended: int, answer: Answer, *, handle: str = "r", client: str = "B") -> Operation:
    return done(Call("messages.receive", handle=handle), began, ended, answer, client=client)


def judged(*operations: Operation) -> Judged:
    return judge_history(Model(), [*FRAME, *operations])


def broken(*operations: Operation) -> str | None:
    found = judged(*operations)
    return next((one.requirement for one in found.verdicts if one.outcome is Outcome.FAIL), None)


def test_a_move_and_a_receive_at_once_are_explained_by_either_order() -> None:
    first = (send("a", 1, 2), done(MOVE, 3, 6), receive(4, 5, EMPTY), receive(7, 8, got("a", 77), handle="r1"))
    assert broken(*first) is None
    second = (send("a", 1, 2), done(MOVE, 3, 6, NOT_FOUND), receive(4, 5, got("a", 1)), receive(7, 8, EMPTY))
    assert broken(*second) is None
    twice = (send("a", 1, 2), done(MOVE, 3, 6), done(MOVE, 4, 5, NOT_FOUND, client="B"))
    assert broken(*twice, receive(7, 8, got("a", 77), handle="r1")) is None


def test_a_message_both_moved_and_received_is_blamed_on_the_one_or_the_other() -> None:
    both = (send("a", 1, 2), done(MOVE, 3, 6), receive(4, 5, got("a", 1)))
    assert broken(*both) in ("MQDMPR-3.1.7.1.16.moved", "MQDMPR-3.1.7.1.10.removes")
    found = judged(*both, receive(7, 8, EMPTY), receive(9, 10, EMPTY, handle="r1"))
    assert found.failed
    assert {op.call.destination for op in found.history} >= {"m1"}  # what is told can be played


def test_a_moved_message_that_a_later_receive_finds_in_its_old_queue() -> None:
    history = (send("a", 1, 2), done(MOVE, 3, 4), receive(5, 6, got("a", 1)))
    assert broken(*history) == "MQDMPR-3.1.7.1.16.moved"


def test_two_readers_that_waited_and_got_one_message() -> None:
    waits = [
        Operation(
            Call("messages.receive", name=f"w{n}", handle="r", timeout_ms=INFINITE), f"{n}", n, 9 + n, got("a"), 3 + n
        )
        for n in (1, 2)
    ]
    assert broken(*waits, send("a", 6, 8)) == "MQDMPR-3.1.7.2.2.one-destructive"
    took = replace(waits[1], blocked=None)  # this one may have come later, and found what was gone
    assert broken(waits[0], took, send("a", 6, 8)) == "MQDMPR-3.1.7.1.10.removes"


def test_a_message_that_is_there_twice_after_a_restart() -> None:
    again = [done(replace(call, name=f"{call.name}e"), 7 + 2 * n, 8 + 2 * n) for n, call in enumerate(OPENINGS[2:3])]
    before = (send("a", 1, 2), done(Call("messages.peek", handle="r"), 3, 4, got("a", 1)))
    restart = done(Call("restart", kill=True), 5, 6)
    one, two = (receive(20 + n, 21 + n, got("a", number), handle="re") for n, number in ((0, 1), (2, 9)))
    assert broken(*before, restart, *again, one, two) == "MQDMPR-3.1.7.1.9.once"
    changed = receive(20, 21, got("a", 9), handle="re")
    assert broken(*before, restart, *again, changed) == "MQDMPR-3.1.1.12.recoverable-attributes-survive"


def test_a_reader_that_was_not_woken() -> None:
    """The message is seen and taken by others while it waits on, or it is given a later one."""
    waits = Call("messages.receive", name="w1", handle="r", timeout_ms=INFINITE)
    cancelled = Answer.of_status(hresults.MQ_ERROR_OPERATION_CANCELLED)
    never = Operation(waits, "A", 1, 13, cancelled, 2)
    peeks = done(Call("messages.peek", handle="r"), 5, 7, got("a", 1), client="C")
    others = (send("a", 3, 4), peeks, receive(6, 8, got("a", 1), client="D"))
    assert broken(*others, never, done(Call("messages.cancel", request="w1"), 11, 12)) == "MQDMPR-3.1.7.1.10.wakes"
    late = Operation(waits, "A", 1, 13, got("b", 2), 2)
    assert broken(send("a", 3, 4), peeks, send("b", 9, 10), late) == "MQDMPR-3.1.7.1.10.wakes"
    served = Operation(waits, "A", 1, 13, got("a", 1), 2)
    assert broken(send("a", 3, 4), send("b", 7, 8), served) is None
