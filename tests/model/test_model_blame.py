"""The requirement that the model blames for an answer."""

from __future__ import annotations

import pytest
from blamed_steps import (
    BEGIN,
    CREATED,
    INFORMATION,
    IO_TIMEOUT,
    OK,
    PEEK,
    RECEIVE,
    START,
    broken,
    judged,
    message,
    opened,
)
from blamed_steps import sent as message_sent

from conformance.model import Answer, Call, Model, Observation, Scan, SeenMessage, States
from conformance.spec.catalogue import assignment
from conformance.spec.constants import hresults


@pytest.mark.parametrize("deletes", [True, False])
def test_a_second_phase_answers_mq_ok_and_no_other_success(deletes: bool) -> None:
    ended = Call("messages.receive_end", read="b", acknowledge=deletes)
    found = judged(*START, message_sent("a"), BEGIN, (ended, INFORMATION))
    assert broken(found) == {"MQDMPR-3.1.7.1.12.mq-ok": "messages.receive_end"}
    assert not judged(*START, message_sent("a"), BEGIN, (ended, OK)).failed
    assert not judged(
        *START, message_sent("a"), BEGIN, (ended, Answer(None, False))
    ).failed  # an API without status codes


@pytest.mark.parametrize(("number", "blamed"), [(1, "10.removes"), (2, "9.once"), (None, "10.removes")])
@pytest.mark.parametrize("restarts", [False, True], ids=["", "after a restart"])
def test_a_receive_is_not_blamed_for_what_was_there_twice(number: int | None, blamed: str, restarts: bool) -> None:
    """The lookup identifier tells another copy from a message that was not removed."""
    sends = (Call("messages.send", message="a", handle="s", delivery="recoverable"), OK)
    first, again = (Answer.of_status(0, SeenMessage(b"a", "a", 3, "recoverable", each)) for each in (1, number))
    anew = ((Call("restart"), OK), opened("q", name="r")) if restarts else ()
    found = judged(*START, sends, *anew, (RECEIVE, first), (RECEIVE, again))
    assert set(broken(found)) == {f"MQDMPR-3.1.7.1.{blamed}"}


DELETED_AND_MADE_AGAIN = (
    *START,
    opened("q;one", name="m1", access="move"),
    opened("q;one", name="r1"),
    message_sent("a"),
    (PEEK, message("a", 1)),
    (Call("messages.move", message="a", handle="r", destination="m1"), OK),
    (Call("messages.peek", handle="r1"), message("a", 1)),
    (Call("queues.delete", queue="q"), OK),
    CREATED,
    opened("q;one", name="r2"),
)


@pytest.mark.parametrize("readings", ["windows", "strict", "permissive"])
def test_a_new_queue_has_no_subqueue(readings: str) -> None:
    empty = Call("messages.receive", handle="r2")
    assert not judged(*DELETED_AND_MADE_AGAIN, (empty, IO_TIMEOUT), readings=readings).failed
    found = judged(*DELETED_AND_MADE_AGAIN, (empty, message("a", 1)), readings=readings)
    assert broken(found) == {"MQDMPR-3.1.7.1.3.no-subqueues": "messages.receive"}


def test_a_handle_of_a_subqueue_that_outlived_its_queue_still_reaches_it() -> None:
    """Under the reading that subqueues are left; the new queue's subqueue of that name is another."""
    old = Call("messages.receive", handle="r1")
    empty = Call("messages.receive", handle="r2"), IO_TIMEOUT
    assert not judged(*DELETED_AND_MADE_AGAIN, empty, (old, message("a", 1)), readings="strict").failed
    assert judged(*DELETED_AND_MADE_AGAIN, empty, (old, message("a", 1))).failed


@pytest.mark.parametrize("moved", [False, True], ids=["", "moved"])
def test_a_message_that_is_there_twice(moved: bool) -> None:
    """It was put there twice, or a move has left it behind and brought it back."""
    there = (opened("q;one", name="m1", access="move"), opened("q;one", name="r1"), opened(name="m", access="move"))
    move = Call("messages.move", message="a", handle="r", destination="m1")
    back = Call("messages.move", message="a", handle="r1", destination="m")
    steps = (
        (PEEK, message("a", 1)),
        (move, OK),
        (Call("messages.peek", handle="r1"), message("a", 1)),
        (back, OK),
        (RECEIVE, message("a", 1)),
    )
    before = (
        *START,
        *there,
        message_sent("a"),
        *(steps if moved else ((RECEIVE, message("a", 1)),)),
        message_sent("b"),
    )
    twice = Scan(("a", "a", "b"))
    found = judged(*before, message_sent("c"), (Call("messages.peek", handle="r"), message("c", 9)), scan=twice)
    assert broken(found) == {f"MQDMPR-3.1.7.1.{'16.moved' if moved else '9.once'}": "messages.peek"}


def test_a_journal_copy_made_twice_is_blamed_on_journaling() -> None:
    journal = "q;JOURNAL"
    start = (Call("queues.create", queue="q", journaling=True), OK), *START[1:], opened(journal, name="j")
    took = (RECEIVE, message("a", 1)), message_sent("b"), (RECEIVE, message("b", 2))
    seen = SeenMessage(b"a", "a", 3, "express", 1)
    twice = Scan(("a", "a"), journal, (seen, seen))
    found = judged(*start, message_sent("a"), *took, (Call("messages.peek", handle="j"), message("b", 3)), scan=twice)
    assert broken(found) == {"MQMQ-2.3.1.4.journal-copy": "messages.peek"}


@pytest.mark.parametrize("access", ["peek", "send"])
def test_a_refused_purge_that_purges(access: str) -> None:
    """What two peeks have shown to be there was not taken by the first of them."""
    denied = Call("queues.purge", handle="p"), Answer.of_status(hresults.MQ_ERROR_ACCESS_DENIED)
    seen = (PEEK, message("a", 1)), (PEEK, message("a", 1))
    opening = (*START, opened(name="p", access=access), message_sent("a"), *seen, denied)
    found = judged(*opening, (PEEK, IO_TIMEOUT), scan=Scan(()))
    assert broken(found) == {f"MQDMPR-3.1.1.17.{access}-access-no-purge": "messages.peek"}
    assert not judged(*opening, (PEEK, message("a", 1))).failed


def counted(messages: int, size: int = 0, **journal: int) -> tuple[Call, Answer]:
    return Call("queues.counts", queue="q"), Answer(values={"messages": messages, "bytes": size, **journal})


def looked(queue: str, *names: str) -> Scan:
    return Scan(names, queue, tuple(SeenMessage(name.encode(), name) for name in names))


AVAILABLE, BYTES = "MQDMPR-3.1.7.1.9.available", "MQDMPR-3.1.7.2.1.total-bytes"


@pytest.mark.parametrize(
    ("there", "number", "requirement"),
    [
        ((), 0, AVAILABLE),
        ((), 1, AVAILABLE),  # the number is right and the bytes are not
        (("b", "b"), 2, "MQDMPR-3.1.7.1.9.once"),
        (("b", "a"), 2, "MQDMPR-3.1.7.1.10.removes"),
        (("b", "z"), 2, "MQDMPR-3.1.1.12.body-unchanged"),
        (("b",), 2, BYTES),
    ],
    ids=["lost", "lost, counted", "twice", "taken and there", "nobody's", "as it must be"],
)
def test_a_count_is_blamed_only_where_the_messages_are_right(
    there: tuple[str, ...], number: int, requirement: str
) -> None:
    before = (
        CREATED,
        counted(0),
        *START[1:],
        message_sent("a"),
        counted(1, 100),
        (RECEIVE, message("a", 1)),
        message_sent("b"),
    )
    wrong = counted(number, 30 if number == 1 else 100)
    assert judged(*before, wrong).ask == "q"
    assert broken(judged(*before, wrong, scan=looked("q", *there))) == {requirement: "queues.counts"}


def test_a_wrong_count_of_a_journal_looks_into_the_journal() -> None:
    start = (Call("queues.create", queue="q", journaling=True), OK), counted(0), *START[1:]
    steps = (
        *start,
        message_sent("a"),
        (RECEIVE, message("a", 1)),
        counted(0, journal_messages=0, journal_bytes=0),
    )
    assert judged(*steps).ask == "q;JOURNAL"
    assert broken(judged(*steps, scan=looked("q;JOURNAL"))) == {"MQMQ-2.3.1.4.journal-copy": "queues.counts"}


@pytest.mark.parametrize(
    ("there", "requirement"),
    [((), "MQDMPR-3.1.4.4.sends-appear"), (("b",), "MQDMPR-3.1.4.3.last-in-transaction")],
    ids=["lost", "there"],
)
def test_a_mark_is_blamed_only_where_no_message_is_missing(there: tuple[str, ...], requirement: str) -> None:
    steps = (
        (Call("queues.create", queue="q", transactional=True), OK),
        *START[1:],
        (Call("transactions.begin", name="t"), OK),
        (Call("messages.send", message="a", handle="s", transaction="t"), OK),
        (Call("messages.send", message="b", handle="s", transaction="t"), OK),
        (Call("transactions.commit", transaction="t"), OK),
    )
    alone = SeenMessage(b"a", "a", 0, "recoverable", 1, first_in_transaction=True, last_in_transaction=True)
    found = judged(*steps, (RECEIVE, Answer.of_status(0, alone)), scan=looked("q", *there))
    assert broken(found) == {requirement: "messages.receive"}


@pytest.mark.parametrize(
    ("there", "requirement"),
    [(("a",), "MQDMPR-3.1.7.1.11.locks"), ((), "MQDMPR-3.2.7.3.skips-unavailable")],
    ids=["everybody sees it", "peek-next alone"],
)
def test_a_message_that_is_held_is_told_from_one_that_peek_next_does_not_skip(
    there: tuple[str, ...], requirement: str
) -> None:
    cursor = Call("cursors.open", name="c", handle="r"), OK
    begin = Call("messages.receive_begin", name="b", handle="r"), message("b", 2)
    peek = Call("messages.peek", handle="r", cursor="c"), message("a", 1)
    onward = Call("messages.peek_next", handle="r", cursor="c"), message("b", 2)
    taken = Call("messages.receive", handle="r"), message("a", 1)
    steps = (*START, cursor, message_sent("a"), message_sent("b"), peek, taken, begin, onward)
    held = looked("q", *("b" for _ in there))
    assert broken(judged(*steps, scan=held)) == {requirement: "messages.peek_next"}


def test_a_read_that_takes_a_held_message_is_told_from_reads_that_all_see_them() -> None:
    """The scan after it can only show the others that are held."""
    number = Call("messages.receive_by_lookup_id", handle="r", message="a", action="next"), message("b", 2)
    begins = (
        (Call("messages.receive", handle="r", transaction="t"), message("a", 1)),
        (Call("messages.receive", handle="r", transaction="t"), message("b", 2)),
    )
    start = (Call("queues.create", queue="q", transactional=True), OK), *START[1:]
    sends = (
        (Call("transactions.begin", name="t0"), OK),
        *((Call("messages.send", message=name, handle="s", transaction="t0"), OK) for name in "ab"),
        (Call("transactions.commit", transaction="t0"), OK),
        (Call("transactions.begin", name="t"), OK),
    )
    plain = [(call, Answer.of_status(0, SeenMessage(name, name.decode(), 0, "recoverable", at)))
             for (call, _), name, at in zip((*begins, number), (b"a", b"b", b"b"), (1, 2, 2), strict=True)]  # fmt: skip
    for there, requirement in ((("a",), "10.transaction-locks"), ((), "13.transaction-locks")):
        found = judged(*start, *sends, *plain, scan=looked("q", *there))
        assert broken(found) == {f"MQDMPR-3.1.7.1.{requirement}": "messages.receive_by_lookup_id"}


@pytest.mark.parametrize(
    ("ends", "requirement"),
    [("commit", BYTES), ("abort", "MQDMPR-3.1.1.2.total-bytes")],
)
def test_bytes_left_after_an_abort_are_no_bytes_of_a_deleted_message(ends: str, requirement: str) -> None:
    received = Answer.of_status(0, SeenMessage(b"a", "a", 0, "recoverable", 1))
    steps = (
        (Call("queues.create", queue="q", transactional=True), OK),
        counted(0),
        *START[1:],
        (Call("transactions.begin", name="t"), OK),
        (Call("messages.send", message="a", handle="s", transaction="t"), OK),
        (Call("transactions.commit", transaction="t"), OK),
        (Call("transactions.begin", name="t2"), OK),
        (Call("messages.receive", handle="r", transaction="t2"), received),
        (Call(f"transactions.{ends}", transaction="t2"), OK),
        *(() if ends == "commit" else ((RECEIVE, received),)),
    )
    assert broken(judged(*steps, counted(0, 100), scan=looked("q"))) == {requirement: "queues.counts"}


@pytest.mark.parametrize("locked", [True, False])
def test_a_neighbour_of_a_message_that_an_abort_put_back_tells_where_that_one_stands(locked: bool) -> None:
    def received(name: str, lookup: int) -> Answer:
        return Answer.of_status(0, SeenMessage(name.encode(), name, 0, "recoverable", lookup))

    steps = (
        (Call("queues.create", queue="q", transactional=True), OK),
        *START[1:],
        (Call("transactions.begin", name="t"), OK),
        *((Call("messages.send", message=name, handle="s", transaction="t"), OK) for name in "abc"),
        (Call("transactions.commit", transaction="t"), OK),
        (Call("cursors.open", name="c", handle="r"), OK),
        (Call("messages.peek", handle="r", cursor="c"), received("a", 1)),
        (Call("messages.peek_next", handle="r", cursor="c"), received("b", 2)),
        (Call("transactions.begin", name="t2"), OK),
        *([(Call("messages.receive", handle="r", cursor="c", transaction="t2"), received("b", 2))] if locked else []),
        (Call("transactions.abort", transaction="t2"), OK),
        (Call("messages.peek", handle="r"), received("a", 1)),
    )
    after = Call("messages.receive_by_lookup_id", handle="r", message="b", action="next")
    found = judged(*steps, (after, received("a", 1)), scan=looked("q", "b", "c"))
    requirement = "MQDMPR-3.1.4.5.receives-return-position" if locked else "MQDMPR-3.1.7.3.3.seek-next"
    assert broken(found) == {requirement: "messages.receive_by_lookup_id"}
    none = Answer.of_status(hresults.MQ_ERROR_MESSAGE_NOT_FOUND)
    found = judged(*steps, (after, none), scan=looked("q", "c", "a", "b"))
    requirement = "MQDMPR-3.1.4.5.receives-return-position" if locked else "MQDMPR-3.1.1.2.arrival-order"
    assert broken(found) == {requirement: "messages.receive_by_lookup_id"}


def test_a_look_does_not_speak_against_the_reading_that_a_wrong_answer_left() -> None:
    """Whether a purge reaches what is not committed is open; messages in the wrong order look as if it had."""
    steps = (
        (Call("queues.create", queue="q", transactional=True), OK),
        *START[1:],
        (Call("transactions.begin", name="t"), OK),
        (Call("messages.send", message="a", handle="s", transaction="t"), OK),
        (Call("queues.purge", handle="r"), OK),
        (Call("messages.send", message="b", handle="s", transaction="t"), OK),
        (Call("transactions.commit", transaction="t"), OK),
    )
    last = SeenMessage(b"b", "b", 0, "recoverable", 1, first_in_transaction=True, last_in_transaction=True)
    found = judged(*steps, (PEEK, Answer.of_status(0, last)), scan=looked("q", "b", "a"))
    assert broken(found) == {"MQDMPR-3.1.4.3.first-in-transaction": "messages.peek"}


def test_a_later_read_of_a_handle_that_is_served_first_breaks_the_order_of_waiting_reads() -> None:
    model, states = Model(assignment("windows")), States()
    waits = [Call("messages.receive", name=name, handle="r", timeout_ms=60_000) for name in ("w1", "w2", "w3")]
    for call, given in (*START, *((call, None) for call in waits)):
        found = model.step(states, call, Observation(given))
        assert not found.failed, found.verdicts
        states = found.states
    for served, wanted in (("w1", None), ("w2", "16.waiting-reads-in-order"), ("w3", "16.waiting-reads-in-order")):
        found = model.step(states, message_sent("a")[0], Observation(OK, completed={served: message("a", 1)}))
        assert list(broken(found)) == ([f"MQDMPR-3.1.1.{wanted}"] if wanted else []), served


def test_a_send_that_is_refused_for_its_copy_is_blamed_on_the_copy() -> None:
    limited = (Call("limits", quota_kb=100, journal_quota_kb=0), OK)
    full = Answer.of_status(hresults.MQ_ERROR_INSUFFICIENT_RESOURCES)
    kept = Call("messages.send", message="a", handle="s", journal=True)
    found = judged(limited, *START, (kept, full))
    assert list(broken(found)) == ["MQDMPR-3.1.1.12.positive-journaling-over-quota"]
    found = judged(limited, *START, (Call("messages.send", message="a", handle="s"), full))
    assert "MQDMPR-3.1.1.12.positive-journaling-over-quota" not in broken(found)


NOW = (Call("clock.now"), OK)
LATER = (Call("clock.advance", by_ms=3000), OK)
ILLEGAL = Answer.of_status(hresults.MQ_ERROR_ILLEGAL_CURSOR_ACTION)
DEFAULT = "MQDMPR-3.1.1.12.default-time-to-be-received"


def sent(name: str, seconds: int | None = None) -> tuple[Call, Answer]:
    return Call("messages.send", message=name, handle="s", live_s=seconds), OK


@pytest.mark.parametrize("peeked", [True, False])
def test_a_message_that_has_the_time_of_the_one_before_it(peeked: bool) -> None:
    seen = ((RECEIVE, message("a")), (PEEK, message("b"))) if peeked else ()
    found = judged(NOW, *START, sent("a", 1), sent("b"), *seen, LATER, (RECEIVE, IO_TIMEOUT), scan=Scan((), queue="q"))
    assert broken(found) == {DEFAULT: "messages.receive"}


def test_a_message_without_a_time_that_goes_missing_where_no_other_has_one() -> None:
    before = (NOW, *START, sent("a"), (PEEK, message("a")), LATER)
    found = judged(*before, (RECEIVE, IO_TIMEOUT), scan=Scan((), queue="q"))
    assert broken(found) == {"MQDMPR-3.1.7.1.15.keeps": "messages.receive"}


@pytest.mark.parametrize("later", [(), (LATER,)], ids=["at once", "before its time"])
def test_a_message_that_expires_before_its_time(later: tuple[tuple[Call, Answer], ...]) -> None:
    """Nobody has seen it since it was sent; a message without a time that was lost as well would say otherwise."""
    before = (NOW, *START, sent("a", 5), sent("b"), *later)
    found = judged(*before, (RECEIVE, message("b")), scan=Scan((), queue="q"))
    assert broken(found) == {"MQDMPR-3.1.2.4.not-early": "messages.receive"}
    found = judged(*before, (RECEIVE, IO_TIMEOUT), scan=Scan((), queue="q"))
    assert broken(found) == {"MQDMPR-3.1.7.1.9.available": "messages.receive"}


CURSOR = (Call("cursors.open", name="c", handle="r"), OK)
REFUSED = (Call("messages.peek_next", handle="r", cursor="c"), ILLEGAL)


@pytest.mark.parametrize("method", ["peek", "receive"])
@pytest.mark.parametrize("given", ["b", None])
def test_an_action_that_is_refused_and_moves_the_cursor_all_the_same(method: str, given: str | None) -> None:
    read = Call(f"messages.{method}", handle="r", cursor="c")
    before = (*START, CURSOR, sent("a"), *((sent("b"),) if given else ()))
    answer = message(given) if given else IO_TIMEOUT
    there = Scan(("a",) if method == "receive" or not given else ("a", "b"), queue="q")
    moved = "MQDMPR-3.2.7.3.illegal-cursor-action-stays"
    assert broken(judged(*before, REFUSED, (read, answer), scan=there)) == {moved: read.method}
    assert moved not in broken(judged(*before, (read, answer), scan=there))  # nothing was refused
    seen = (REFUSED, (Call("messages.peek", handle="r", cursor="c"), message("a")))
    assert moved not in broken(judged(*before, *seen, (read, answer), scan=there))  # and it did not move
    gone = Scan(("b",) if given and method == "peek" else (), queue="q")
    assert moved not in broken(judged(*before, REFUSED, (read, answer), scan=gone))  # the message was lost
