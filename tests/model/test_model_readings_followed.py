"""What an implementer may do who follows the letter, or the other alternative of a reading, and must not be accused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.model import Answer, Call, Judged, Model, Observation, SeenMessage, States
from conformance.model.journals import DEAD_LETTER, journal_of
from conformance.spec.catalogue import assignment
from conformance.spec.constants import hresults

Step = tuple[Call, Answer]
OK = Answer()
NOTHING = Answer.of_status(hresults.MQ_ERROR_IO_TIMEOUT)
MISSING = Answer.of_status(hresults.MQ_ERROR_QUEUE_NOT_FOUND)
DENIED = Answer.of_status(hresults.MQ_ERROR_SHARING_VIOLATION)
IDENTIFIER = "{00000000-0000-0000-0000-000000000001}\\7"


def judged(*steps: Step, chosen: str = "", readings: str = "windows") -> Judged | None:
    """The judgement of the last step; None if an earlier one fails. chosen: `READING=ALTERNATIVE`, the only one."""
    reading, _, alternative = chosen.partition("=")
    accepted = {**assignment(readings), **({reading: (alternative,)} if reading else {})}
    model, states, found = Model(accepted), States(), None
    for call, answer in steps:
        found = model.step(states, call, Observation(answer))
        if found.failed and call is not steps[-1][0]:
            return None
        states = found.states
    return found


def accepted(*steps: Step, chosen: str = "", readings: str = "windows") -> bool:
    found = judged(*steps, chosen=chosen, readings=readings)
    return found is not None and not found.failed


def made(queue: str, *, transactional: bool = False, journaling: bool = False) -> Step:
    return Call("queues.create", queue=queue, transactional=transactional, journaling=journaling), OK


def opened(queue: str, name: str, access: str = "receive", share: str | None = None, answer: Answer = OK) -> Step:
    return Call("queues.open", name=name, queue=queue, access=access, share=share), answer


def read(handle: str, name: str | None, method: str = "receive", *, priority: int = 3, **how: str) -> Step:
    seen = name and SeenMessage(name.encode(), name, priority, "express" if priority else "recoverable")
    return Call(f"messages.{method}", handle=handle, **how), Answer.of_status(0, seen) if seen else NOTHING


def transaction(method: str, name: str) -> Step:
    named = {"name": name} if method == "begin" else {"transaction": name}
    return Call(f"transactions.{method}", **named), OK


NOW = (Call("clock.now"), OK)


@pytest.mark.parametrize("receiver", [None, "deny_receive"], ids=["shared", "exclusive"])
@pytest.mark.parametrize(("answer", "strictly"), [(DENIED, True), (OK, False)], ids=["refused", "opened"])
def test_opening_for_move_denying_receive_beside_a_receiver(
    receiver: str | None, answer: Answer, strictly: bool
) -> None:
    """The table of 3.1.7.1.5 refuses by the share mode alone; a handle for move reads nothing."""
    steps = (made("q"), opened("q", "r", share=receiver), opened("q", "m", "move", "deny_receive", answer))
    assert accepted(*steps)
    assert accepted(*steps, readings="strict") == strictly
    shared = (made("q"), opened("q", "r", share=receiver), opened("q", "m", "move", None, answer))
    assert accepted(*shared) == (answer is OK)


@pytest.mark.parametrize("receiver", [True, False], ids=["beside a receiver", "alone"])
def test_opening_for_send_denying_receive(receiver: bool) -> None:
    """MS-MQMP refuses it; by the letter of 3.1.7.1.5 it conflicts with receivers only, and then excludes nobody."""
    before = (made("q"), *((opened("q", "r"),) if receiver else ()))
    refused = opened("q", "s", "send", "deny_receive", Answer.of_status(hresults.MQ_ERROR_UNSUPPORTED_ACCESS_MODE))
    succeeds = opened("q", "s", "send", "deny_receive")
    assert accepted(*before, refused)
    assert not accepted(*before, succeeds)
    assert accepted(*before, succeeds, opened("q", "r2"), readings="strict") == (not receiver)


AFTER = {
    "deleted": (Call("queues.delete", queue="q1"), Call("queues.delete", queue="q2")),
    "deleted from the last": (Call("queues.delete", queue="q2"), Call("queues.delete", queue="q1")),
    "deleted, then expired": (Call("queues.delete", queue="q2"), Call("clock.advance", by_ms=3000)),
    "purged, then expired": (Call("queues.purge", handle="r2"), Call("clock.advance", by_ms=3000)),
}


@pytest.mark.parametrize("copies", [0, 1, 2])
@pytest.mark.parametrize("after", AFTER)
def test_a_message_to_two_queues_may_leave_two_dead_letters(after: str, copies: int) -> None:
    """Both are copies of one message, and nothing tells them apart. Only the one of an expiry has to be there."""
    steps = (NOW, made("q1"), made("q2"), opened("q1,q2", "s", "send"), opened("q2", "r2"), opened(DEAD_LETTER, "d"))
    sent = (Call("messages.send", message="a", handle="s", dead_letter=True, live_s=1), OK)
    lost = [(call, OK) for call in AFTER[after]]
    reads = (*(read("d", "a") for _ in range(copies)), read("d", None))
    assert accepted(*steps, sent, *lost, *reads) == (copies > 0 or "expired" not in after)
    assert not accepted(*steps, sent, *lost, *(read("d", "a") for _ in range(3)))


@pytest.mark.parametrize(
    ("reading", "ends"),
    [
        (
            "R-MQDMPR-acknowledge-purged",
            (
                (Call("messages.receive_begin", name="b", handle="r"), read("r", "a")[1]),
                (Call("queues.purge", handle="r"), OK),
                (Call("messages.receive_end", read="b", acknowledge=True), OK),
            ),
        ),
        (
            "R-MQDMPR-abort-purged-reason",
            (
                transaction("begin", "t"),
                read("r", "a", transaction="t"),
                (Call("queues.purge", handle="r"), OK),
                transaction("abort", "t"),
            ),
        ),
    ],
)
@pytest.mark.parametrize(("alternative", "klass"), [("purged", 0xC001), ("received", 0x4000)])
def test_the_report_on_a_message_that_was_purged_while_it_was_held(
    reading: str, ends: tuple[Step, ...], alternative: str, klass: int
) -> None:
    asks = Call("messages.send", message="a", handle="s", admin="adm", acks="positive_receive+negative_receive")
    steps = (NOW, made("q"), made("adm"), opened("q", "s", "send"), opened("q", "r"), opened("adm", "a"))
    report = SeenMessage(b"", "a", 3, "express", klass=klass, correlation=IDENTIFIER)
    reads = ((Call("messages.receive", handle="a"), Answer.of_status(0, report)), read("a", None))
    history = (*steps, (asks, Answer(values={"identifier": IDENTIFIER})), *ends, *reads)
    for one in ("purged", "received"):
        assert accepted(*history, chosen=f"{reading}={one}") == (one == alternative)


def _received_in_a_transaction(*reads: Step) -> tuple[Step, ...]:
    """A queue that journals: `a` is taken in a transaction, `b` outside of it, then the transaction commits."""
    sends = (
        transaction("begin", "x"),
        *((Call("messages.send", message=name, handle="s", transaction="x"), OK) for name in "ab"),
        transaction("commit", "x"),
    )
    queues = (NOW, made("q", transactional=True, journaling=True), opened("q", "s", "send"), opened("q", "r"))
    taken = (transaction("begin", "t"), read("r", "a", priority=0, transaction="t"), read("r", "b", priority=0))
    ends = (opened(journal_of("q"), "j"), transaction("commit", "t"))
    return (*queues, *sends, *taken, *ends, *reads, read("j", None))


@pytest.mark.parametrize("alternative", ["at-receive", "at-commit"])
@pytest.mark.parametrize("order", ["ab", "ba"])
def test_the_order_of_copies_tells_when_they_were_made(alternative: str, order: str) -> None:
    steps = _received_in_a_transaction(*(read("j", name, priority=0) for name in order))
    assert accepted(*steps)
    fits = order == ("ab" if alternative == "at-receive" else "ba")
    assert accepted(*steps, chosen=f"R-MQDMPR-target-journal-time={alternative}") == fits


@pytest.mark.parametrize(("first", "strictly"), [(MISSING, True), (OK, False)], ids=["refused", "opened"])
def test_a_deleted_queue_may_be_opened_for_send_but_is_not_made_anew(first: Answer, strictly: bool) -> None:
    gone, lost = (Call("queues.delete", queue="q"), OK), (Call("messages.send", handle="s", message="a"), OK)
    steps = (made("q"), gone, opened("q", "s", "send", answer=first))
    assert accepted(*steps)
    assert accepted(*steps, readings="strict") == strictly
    assert accepted(*steps, opened("q", "r", answer=MISSING))
    found = judged(*steps, opened("q", "r"))
    assert found is not None
    assert found.failed
    assert found.verdicts[-1].requirement == f"MQDMPR-3.1.7.1.{'4.removed' if strictly else '5.not-found-send'}"
    if not strictly:
        assert accepted(*steps, lost, made("q"), opened("q", "r"), read("r", None))
        assert not accepted(*steps, lost, made("q"), opened("q", "r"), read("r", "a"))


def _received_from_a_subqueue(end: str, *reads: Step, before: tuple[Step, ...] = ()) -> tuple[Step, ...]:
    moved = Call("messages.move", handle="r", message="a", destination="d"), OK
    queues = (
        NOW,
        made("q", transactional=True, journaling=True),
        opened("q", "s", "send"),
        opened(journal_of("q"), "j"),
    )
    sends = (transaction("begin", "x"), (Call("messages.send", message="a", handle="s", transaction="x"), OK))
    seen = Call("messages.peek", handle="r"), Answer.of_status(0, SeenMessage(b"a", "a", 0, "recoverable", 411))
    subqueue = (opened("q", "r"), seen, opened("q;s", "b"), opened("q;s", "d", "move"), moved)
    taken = (transaction("begin", "t"), read("b", "a", priority=0, transaction="t"))
    return (NOW, *queues, *sends, transaction("commit", "x"), *subqueue, *taken, *before, transaction(end, "t"), *reads)


@pytest.mark.parametrize("end", ["commit", "abort"])
def test_a_receive_from_a_subqueue_is_copied_when_a_reading_says_so(end: str) -> None:
    """The journal of the queue may get the copy, at the receive or at the commit, once."""
    copy, nothing = read("j", "a", priority=0), read("j", None)
    early, late = _received_from_a_subqueue(end, nothing, before=(copy,)), _received_from_a_subqueue(end, copy, nothing)
    assert accepted(*early)
    assert accepted(*late)  # of a receive that was aborted, an early copy may stay
    assert accepted(*_received_from_a_subqueue(end, nothing))
    assert not accepted(*_received_from_a_subqueue(end, copy, copy))
    assert not accepted(*early, chosen="R-MQDMPR-target-journal-time=at-commit")
    assert not accepted(*early, chosen="R-MQDMPR-subqueue-journal=none")
    assert accepted(*late, chosen="R-MQDMPR-target-journal-time=at-commit") == (end == "commit")


@pytest.mark.parametrize("copies", [1, 2])
def test_a_message_received_again_after_an_abort_may_have_its_one_copy_behind_it(copies: int) -> None:
    copy, nothing = read("j", "a", priority=0), read("j", None)
    queues = (NOW, made("q", transactional=True, journaling=True), opened("q", "s", "send"), opened("q", "r"))
    sends = (transaction("begin", "x"), (Call("messages.send", message="a", handle="s", transaction="x"), OK))
    first = (transaction("begin", "t"), read("r", "a", priority=0, transaction="t"), copy, transaction("abort", "t"))
    again = (transaction("begin", "u"), read("r", "a", priority=0, transaction="u"), transaction("commit", "u"))
    journal = (opened(journal_of("q"), "j"), *sends, transaction("commit", "x"))
    assert accepted(*queues, *journal, *first, *again, *(copy,) * (copies - 1), nothing)
    assert not accepted(*queues, *journal, *first, *again, copy, copy)


@pytest.mark.parametrize("others", ["another reads", "another waits"])
def test_a_begun_receive_ends_with_its_handle_or_locks_for_ever(others: str) -> None:
    queues = (made("q"), opened("q", "s", "send"), opened("q", "r"), opened("q", "o"))
    begun = (Call("messages.receive_begin", handle="r", name="b"), read("r", "a")[1])
    steps = (*queues, (Call("messages.send", message="a", handle="s"), OK), begun, read("o", None))
    closed, chosen = (Call("queues.close", handle="r"), OK), "R-MQDMPR-begun-receive-at-close="
    if others == "another reads":
        for alternative, name in (("released", "a"), ("locked", None)):
            assert accepted(*steps, closed, read("o", name))
            for other in ("released", "locked"):
                assert accepted(*steps, closed, read("o", name), chosen=chosen + other) == (other == alternative)
        assert not accepted(*steps, closed, read("o", "a"), read("o", "a"))
        return
    model, states = Model(assignment("windows")), States()
    wait = Call("messages.receive", handle="o", name="w", timeout_ms=60_000)
    for call, answer in (*steps, (wait, None)):
        states = model.step(states, call, Observation(answer)).states
    served = {"w": read("o", "a")[1]}
    assert not model.step(states, closed[0], Observation(OK, served)).failed
    assert not model.step(states, closed[0], Observation(OK)).failed


@pytest.mark.parametrize("removes", ["another", "the cursor"])
@pytest.mark.parametrize("behind", [True, False], ids=["one behind", "none behind"])
def test_what_comes_between_a_removed_message_and_the_one_behind_it(removes: str, behind: bool) -> None:
    """A message of a higher priority is put before the one that was next when the cursor's message was removed."""

    def sent(name: str, priority: int) -> Step:
        return Call("messages.send", message=name, handle="s", priority=priority), OK

    queue = (made("q"), opened("q", "s", "send"), opened("q", "r"), (Call("cursors.open", name="c", handle="r"), OK))
    sends = (sent("h", 5), *((sent("a", 3),) if behind else ()))
    own = {"cursor": "c"} if removes == "the cursor" else {}
    removed = (read("r", "h", "peek", priority=5, cursor="c"), read("r", "h", priority=5, **own), sent("i", 5))
    method = "peek" if own else "peek_next"
    there, then = read("r", "i", method, priority=5, cursor="c"), read("r", "a" if behind else None, method, cursor="c")
    kept, next_one = (f"R-MQDMPR-removed-position={name}" for name in ("keeps-place", "next-at-removal"))
    for last in (there, then):
        assert accepted(*queue, *sends, *removed, last)
    assert accepted(*queue, *sends, *removed, there, chosen=kept)
    assert not accepted(*queue, *sends, *removed, then, chosen=kept)
    assert accepted(*queue, *sends, *removed, then, chosen=next_one)
    assert accepted(*queue, *sends, *removed, there, chosen=next_one) == (not behind)


@pytest.mark.parametrize("purges", [False, True], ids=["there", "purged"])
@pytest.mark.parametrize("end", ["aborted", "left open"])
def test_a_commit_that_fails_for_a_deleted_queue_has_received_nothing(end: str, purges: bool) -> None:
    """It aborts the transaction or leaves it open: a message that it had received is in no journal."""

    def of(method: str, name: str, answer: Answer) -> Step:
        return Call(f"transactions.{method}", transaction=name), answer

    queues = (NOW, made("q", transactional=True, journaling=True), opened("q", "s", "send"), opened("q", "r"))
    others = (made("p", transactional=True), opened("p", "o", "send"), opened(journal_of("q"), "j"))
    sends = (transaction("begin", "x"), (Call("messages.send", message="a", handle="s", transaction="x"), OK))
    taken = (transaction("begin", "t"), read("r", "a", priority=0, transaction="t"))
    sent = (Call("messages.send", message="b", handle="o", transaction="t"), OK)
    purge = ((Call("queues.purge", handle="r"), OK),) if purges else ()
    gone = (sent, *purge, (Call("queues.delete", queue="p"), OK))
    over = Answer.of_status(hresults.MQ_ERROR_TRANSACTION_SEQUENCE)
    fails = of("commit", "t", Answer.of_status(hresults.MQ_ERROR_QUEUE_NOT_AVAILABLE))
    steps = (*queues, *others, *sends, transaction("commit", "x"), *taken, *gone, fails)
    again = of("abort", "t", OK if end == "left open" else over)
    chosen = "R-MQDMPR-target-journal-time=at-commit"
    assert accepted(*steps, again, read("j", None), chosen=chosen)
    back = read("r", None if purges else "a", priority=0)
    assert accepted(*steps, again, back, chosen=chosen)
    assert not accepted(*steps, again, read("r", "b"), chosen=chosen)


@pytest.mark.parametrize(("then", "place"), [("j", "of its own"), ("k", "the end"), (None, "the end")])
def test_where_a_cursor_goes_on_from_a_removed_message_that_was_the_last(then: str | None, place: str) -> None:
    """With nothing next to it when it was removed, the cursor stands at its own place still, or at the end."""
    priorities = {"h": 5, "j": 1, "k": 6}

    def sent(name: str) -> Step:
        return Call("messages.send", message=name, handle="s", priority=priorities[name]), OK

    queue = (made("q"), opened("q", "s", "send"), opened("q", "r"), (Call("cursors.open", name="c", handle="r"), OK))
    removed = (sent("h"), read("r", "h", "peek", priority=5, cursor="c"), read("r", "h", priority=5))
    last = read("r", then, "peek_next", priority=priorities.get(then or "", 3), cursor="c")
    steps = (*queue, *removed, sent("j"), sent("k"), last)
    assert accepted(*steps, chosen="R-MQDMPR-removed-position=next-at-removal")
    assert accepted(*steps, chosen="R-MQDMPR-removed-position=keeps-place") == (place == "of its own")


@pytest.mark.parametrize(("answers", "alternative"), [("a", "peeks"), (None, "refused")])
def test_a_peek_next_without_a_cursor_fails_or_is_a_peek(answers: str | None, alternative: str) -> None:
    last = read("r", answers, "peek_next")[0], read("r", answers)[1] if answers else DENIED
    steps = (
        made("q"),
        opened("q", "s", "send"),
        opened("q", "r"),
        (Call("messages.send", message="a", handle="s"), OK),
    )
    assert accepted(*steps, last, readings="permissive")
    assert accepted(*steps, last) == (alternative == "refused")
    for other in ("peeks", "refused"):
        chosen = f"R-MQDMPR-peek-next-without-cursor={other}"
        assert accepted(*steps, last, chosen=chosen, readings="permissive") == (other == alternative)


@pytest.mark.parametrize(("passes", "fits"), [(1_500, {"from-arrival"}), (4_500, {"from-send"})])
def test_a_time_to_be_received_counts_from_the_send_or_from_the_commit(passes: int, fits: set[str]) -> None:
    def later(by_ms: int) -> Step:
        return Call("clock.advance", by_ms=by_ms), OK

    queue = (NOW, made("q", transactional=True), opened("q", "s", "send"), opened("q", "r"), transaction("begin", "t"))
    sent = (Call("messages.send", message="a", handle="s", transaction="t", live_s=5), OK)
    before = (*queue, sent, later(3_500), transaction("commit", "t"), later(passes + 2_000))
    there = "a" if passes == 1_500 else None
    for alternative in ("from-arrival", "from-send"):
        chosen = f"R-MQDMPR-expiry-start={alternative}"
        steps = (*before, read("r", there, priority=0))
        assert accepted(*steps, chosen=chosen, readings="strict") == (alternative in fits or there is None)
    assert accepted(*before, read("r", there, priority=0), readings="strict")


@pytest.mark.parametrize(("second", "alternative"), [(OK, "no-effect"), (DENIED, "refused")])
def test_ending_a_receive_again_names_the_reading_it_follows(second: Answer, alternative: str) -> None:
    begun = (Call("messages.receive_begin", handle="r", name="b"), read("r", "a")[1])
    end = Call("messages.receive_end", read="b", acknowledge=True)
    steps = (
        made("q"),
        opened("q", "s", "send"),
        opened("q", "r"),
        (Call("messages.send", message="a", handle="s"), OK),
    )
    for other in ("no-effect", "refused"):
        chosen = f"R-MQDMPR-receive-end-twice={other}"
        assert accepted(*steps, begun, (end, OK), (replace(end), second), chosen=chosen) == (other == alternative)
    assert accepted(*steps, begun, (end, OK), (replace(end), second), read("r", None))


@pytest.mark.parametrize("asked", [5, None], ids=["asked for", "not asked for"])
@pytest.mark.parametrize("shown", [0, 3, 5])
def test_the_priority_of_a_transactional_message_follows_a_reading_that_is_named(asked: int | None, shown: int) -> None:
    def received(name: str, priority: int) -> Step:
        return Call("messages.receive", handle="r"), Answer.of_status(
            0, SeenMessage(name.encode(), name, priority, "recoverable")
        )

    queues = (made("q", transactional=True), opened("q", "s", "send"), opened("q", "r"), transaction("begin", "t"))
    sends = [Call("messages.send", message=name, handle="s", transaction="t", priority=asked) for name in "ab"]
    before = (*queues, *((call, OK) for call in sends), transaction("commit", "t"))
    found = judged(*before, received("a", shown))
    assert found is not None
    allowed = shown in {0, 3, asked}
    assert found.failed != allowed
    named = {reading: set(word.split("|")) for verdict in found.verdicts for reading, word in verdict.readings}
    fits = {"none": 0, "default": 3, "own": asked or 3}
    if allowed:
        assert named["R-MQDMPR-transactional-priority"] == {name for name, value in fits.items() if value == shown}
    for other in {0, 3, 5} - {shown} if allowed else ():
        assert not accepted(*before, received("a", shown), received("b", other))
