"""Which requirement a concurrent history breaks in which commits meet other calls: commits in pieces and others."""

from __future__ import annotations

from dataclasses import replace

from conformance.model import Call, Model
from conformance.model.calls import Answer, SeenMessage
from conformance.model.linearizability.history import Operation
from conformance.model.linearizability.judge import Judged, judge_history, units, without
from conformance.model.linearizability.search import linearize
from conformance.spec.constants import hresults
from conformance.verdict import Outcome

TOGETHER = "MQDMPR-3.1.4.4.all-together"
EMPTY = Answer.of_status(hresults.MQ_ERROR_IO_TIMEOUT)
ENDED = Answer.of_status(hresults.MQ_ERROR_TRANSACTION_SEQUENCE)
OPENINGS = (
    Call("queues.create", queue="q1", transactional=True),
    Call("queues.open", name="s", queue="q1", access="send"),
    Call("queues.open", name="r", queue="q1", access="receive"),
)
FRAME = tuple(Operation(call, "-", -100 + 2 * n, -99 + 2 * n, Answer()) for n, call in enumerate(OPENINGS))


def done(call: Call, began: int, ended: int, answer: Answer | None = None) -> Operation:
    return Operation(call, "A", began, ended, answer or Answer())


def begin(transaction: str, began: int, ended: int) -> Operation:
    return done(Call("transactions.begin", name=transaction), began, ended)


def send(message: str, transaction: str, began: int, ended: int) -> Operation:
    return done(Call("messages.send", message=message, handle="s", transaction=transaction), began, ended)


def end(how: str, transaction: str, began: int, ended: int, answer: Answer | None = None) -> Operation:
    return done(Call(f"transactions.{how}", transaction=transaction), began, ended, answer)


def read(
    message: str | None, began: int, ended: int, *, number: int | None = None, within: str | None = None, by: str = "r"
) -> Operation:
    seen = EMPTY if message is None else Answer(message=SeenMessage(message.encode(), lookup_identifier=number))
    return done(Call("messages.receive", handle=by, transaction=within), began, ended, seen)


def peek(message: str, began: int, ended: int, number: int) -> Operation:
    seen = Answer(message=SeenMessage(message.encode(), lookup_identifier=number))
    return done(Call("messages.peek", handle="r"), began, ended, seen)


def judged(*operations: Operation) -> Judged:
    return judge_history(Model(), [*FRAME, *operations])


def broken(*operations: Operation) -> str | None:
    found = judged(*operations)
    return next((one.requirement for one in found.verdicts if one.outcome is Outcome.FAIL), None)


TWO = (begin("t", 1, 2), send("a", "t", 3, 4), send("b", "t", 5, 6))


def test_a_commit_whose_messages_appear_one_after_the_other() -> None:
    assert broken(*TWO, end("commit", "t", 7, 20), read("a", 8, 9), read(None, 10, 11), read("b", 21, 22)) == TOGETHER
    assert broken(*TWO, end("commit", "t", 7, 20), read("a", 8, 11), read(None, 10, 12), read("b", 21, 22)) is None


def test_a_commit_that_is_over_before_its_last_message_is_there_is_none_in_pieces() -> None:
    found = broken(*TWO, end("commit", "t", 7, 8), read("a", 9, 10), read(None, 11, 12), read("b", 13, 14))
    assert found is not None and found != TOGETHER


def test_a_commit_that_turns_its_messages_round_is_none_in_pieces() -> None:
    assert broken(*TWO, end("commit", "t", 7, 20), read("b", 21, 22), read("a", 23, 24)) not in (None, TOGETHER)


def test_a_message_that_is_received_twice_during_a_commit_is_not_blamed_on_the_commit() -> None:
    twice = (*TWO, end("commit", "t", 7, 20), read("a", 8, 9), read("a", 10, 11), read("b", 21, 22))
    assert broken(*twice) == "MQDMPR-3.1.7.1.10.removes"


def test_a_transaction_that_is_over_while_its_messages_are_not_there() -> None:
    refused = end("abort", "t", 8, 9, ENDED)
    assert broken(*TWO, end("commit", "t", 7, 20), refused, read(None, 10, 11), read("a", 21, 22)) == TOGETHER
    alone = (begin("t", 1, 2), send("a", "t", 3, 4), end("commit", "t", 7, 20), refused, read(None, 10, 11))
    assert broken(*alone, read("a", 21, 22)) not in (None, TOGETHER)


def test_a_kill_that_leaves_half_a_commit() -> None:
    lost = Operation(Call("transactions.commit", transaction="t"), "A", 7)
    restart = done(Call("restart", kill=True), 8, 9)
    again = [done(replace(call, name=f"{call.name}e"), 10 + 2 * n, 11 + 2 * n) for n, call in enumerate(OPENINGS[1:])]
    before = (*TWO, lost, restart, *again)
    assert broken(*before, read("a", 21, 22, by="re"), read(None, 23, 24, by="re")) == TOGETHER
    assert broken(*before, read("a", 21, 22, by="re"), read("b", 23, 24, by="re")) is None
    assert broken(*before, read(None, 21, 22, by="re")) is None


def test_a_half_seen_commit_is_blamed_though_another_order_of_the_sends_moves_the_trouble() -> None:
    """Without identifiers the message of `e` might be before `b`, and only a read after the commit is strange."""
    history = (
        *(begin("t", 134, 142), send("a", "t", 143, 152), send("b", "t", 153, 168)),
        *(begin("e", 157, 159), send("c", "e", 161, 178), end("commit", "t", 169, 226)),
        *(begin("d", 189, 197), read("a", 199, 205, number=36, within="d"), read("c", 208, 213, number=41, within="d")),
        *(end("commit", "e", 209, 214), end("abort", "d", 216, 227), begin("f", 217, 221)),
        *(read("a", 223, 234, number=36, within="f"), read("b", 231, 238, number=39)),
        *(peek("c", 233, 241, 41), peek("c", 239, 244, 41)),
    )
    assert broken(*history) == TOGETHER


# One commit in pieces; and beside it a message that a receive takes while another one finds nothing.
HALF_SEEN = (
    *(begin("t", 82, 102), send("a", "t", 105, 118), send("b", "t", 127, 135), end("commit", "t", 141, 168)),
    *(begin("u", 94, 134), send("c", "u", 138, 145), end("commit", "u", 147, 152), begin("d", 143, 146)),
    *(read("a", 142, 150, number=29), read(None, 158, 162), read("c", 159, 163, number=34, within="d")),
    *(end("abort", "d", 164, 178), read("b", 169, 173, number=31), read("c", 174, 186, number=34)),
)


def test_a_receive_in_flight_is_not_left_out_of_what_it_explains() -> None:
    found = judged(*HALF_SEEN)
    assert found.verdicts[-1].requirement == TOGETHER
    assert {op.message for op in found.history if op.call.method == "messages.send"} == {"a", "b"}


def test_a_receive_whose_answer_never_came_may_have_taken_a_message() -> None:
    lost = replace(read("c", 159, 163), ended=None, answer=None)
    history = (*FRAME, *HALF_SEEN[4:7], read(None, 161, 162), lost)
    assert linearize(Model(), history).fits
    for left in units(history):
        assert linearize(Model(), without(history, [left])).fits
