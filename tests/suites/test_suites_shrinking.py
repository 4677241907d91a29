"""A shrunk history names only what is there and has only the members that matter: the stories of known cases."""

from __future__ import annotations

from pathlib import Path

import pytest
from dangling_names import dangling

from conformance.adapter.connectors import connect
from conformance.harness.recorder import Recorder, RunOptions
from conformance.histories.findings import run, shortened
from conformance.histories.operations.table import stored_call
from conformance.histories.plans import JOURNALS
from conformance.model import Call
from conformance.model.calls import INFINITE
from conformance.model.journals import DEAD_LETTER
from conformance.spec.catalogue import assignment

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 1, 30, first_only=True)


def opened(name: str, queue: str, access: str = "receive") -> Call:
    return Call("queues.open", name=name, queue=queue, access=access)


DEAD = (
    *JOURNALS.opening,
    Call("messages.send", message="a", handle="s1", priority=5, journal=True),
    Call("transactions.begin", name="t1"),
    Call("messages.send", message="b", handle="s2", transaction="t1", acks="positive_receive", admin="adm"),
    Call("transactions.commit", transaction="t1"),
    Call("messages.receive", handle="r2"),
    Call(
        "messages.send",
        message="c",
        handle="s1",
        delivery="recoverable",
        journal=True,
        dead_letter=True,
        acks="positive_receive+negative_receive",
        admin="adm",
        live_s=3,
    ),
    Call("messages.receive", handle="r1"),
    Call("clock.advance", by_ms=6000),
    Call("messages.peek", name="w3", handle="j13", timeout_ms=1000),
)
MOVED = (
    Call("queues.create", queue="q1", quota_kb=40),
    opened("h1", "q1", "send"),
    opened("h2", "q1", "peek"),
    opened("h3", "q1"),
    opened("h4", "q1;two", "move"),
    opened("h5", "q1;one", "move"),
    opened("h6", "q1;one"),
    Call("cursors.open", name="c1", handle="h2"),
    Call("messages.send", message="a", handle="h1", size=4096, priority=5),
    Call("messages.send", message="b", handle="h1", priority=1),
    Call("messages.peek", handle="h2", cursor="c1"),
    Call("messages.receive", handle="h3"),
    Call("messages.peek", name="w1", handle="h3", timeout_ms=INFINITE),
    Call("messages.move", message="b", handle="h3", destination="h5"),
    Call("messages.receive", handle="h6"),
)
BEGUN = (
    Call("queues.create", queue="q1", journaling=True, journal_quota_kb=40),
    opened("h1", "q1", "send"),
    opened("h2", "q1", "peek"),
    opened("h3", "q1"),
    Call("cursors.open", name="c1", handle="h3"),
    Call("messages.send", message="a", handle="h1"),
    Call("messages.send", message="b", handle="h1", delivery="recoverable", live_s=60),
    Call("messages.receive_begin", name="b1", handle="h3"),
    Call("messages.receive_end", read="b1", acknowledge=True),
    Call("messages.receive_begin", name="b2", handle="h3", cursor="c1", timeout_ms=1000),
    Call("messages.receive_end", read="b2"),
    Call("messages.receive", handle="h3"),
)
CASES = {
    "embedded+dead-letter-missing": (
        DEAD,
        [
            "create queue q1 -> ok",
            "open q1 for send as s1 -> ok",
            f"open {DEAD_LETTER} for receive as j1 -> ok",
            "send 'a' to q1 (to be kept if it is lost, time to be received 3 s) -> ok",
            "6000 ms pass",
            f"peek from {DEAD_LETTER} -> fails with MQ_ERROR_IO_TIMEOUT (0xC00E001B)",
            f"a look into {DEAD_LETTER}, by receiving all there is -> it is empty",
        ],
    ),
    "embedded+move-drops-label": (
        MOVED,
        [
            "create queue q1 -> ok",
            "open q1 for send as h1 -> ok",
            "open q1 for receive as h2 -> ok",
            "open q1;one for move as h3 -> ok",
            "open q1;one for receive as h4 -> ok",
            "send 'a' to q1 -> ok",
            "send 'b' to q1 -> ok",
            "receive from q1 -> message 'a' (priority 3)",
            "peek from q1 -> message 'b' (priority 3)",
            "move 'b' from q1 to q1;one -> ok",
            "receive from q1;one -> message 'b' (priority 3)",
        ],
    ),
    "embedded+rejected-read-deletes": (
        BEGUN,
        [
            "create queue q1 -> ok",
            "open q1 for send as h1 -> ok",
            "open q1 for receive as h2 -> ok",
            "send 'a' to q1 -> ok",
            "b1: begin to receive from q1 -> message 'a' (priority 3)",
            "end the receive b1, keeping its message -> ok",
            "receive from q1 -> fails with MQ_ERROR_IO_TIMEOUT (0xC00E001B)",
            "a look into q1, by receiving all there is -> it is empty",
        ],
    ),
}


@pytest.mark.parametrize("connector", CASES)
def test_a_story_tells_what_matters_alone(connector: str, tmp_path: Path) -> None:
    calls, told = CASES[connector]
    judge = Recorder(OPTIONS, lambda verdict, count: None)
    with connect(connector, state_dir=tmp_path, in_process=True) as client:
        _, failure = run(client, judge, calls)
        assert failure is not None, "the long history fails"
        short = shortened(client, OPTIONS, failure, calls)
        _, again = run(client, judge, short)
    assert again is not None and again.verdict.requirement == failure.verdict.requirement
    story = [step.text for step in again.story]
    assert story == told, "\n".join(story)
    assert dangling([stored_call(raw) for raw in again.repro["calls"]]) == []


def test_a_name_is_given_again_only_after_what_had_it_has_ended(tmp_path: Path) -> None:
    """As where shrinking has left out the call that ended the first wait."""
    wait = Call("messages.receive", name="w1", handle="h2", timeout_ms=INFINITE)
    sends = (opened("h1", "q1", "send"), Call("messages.send", message="a", handle="h1"))
    begin = (Call("queues.create", queue="q1"), opened("h2", "q1"), wait)
    judge = Recorder(OPTIONS, lambda verdict, count: None)
    with connect("embedded", state_dir=tmp_path, in_process=True) as client:
        made, failure = run(client, judge, (*begin, wait, opened("h2", "q1", "peek"), *sends))
        assert failure is None
        assert made == (*begin, *sends)
        ended = (*begin, Call("messages.cancel", request="w1"), wait)
        assert run(client, judge, ended) == (ended, None)


def test_what_also_goes_wrong_without_a_restart_is_not_blamed_on_it(tmp_path: Path) -> None:
    calls = (
        Call("queues.create", queue="q1", transactional=True),
        opened("h1", "q1", "send"),
        Call("transactions.begin", name="t1"),
        Call("messages.send", message="a", handle="h1", transaction="t1"),
        Call("transactions.commit", transaction="t1"),
        Call("restart"),
        opened("h2", "q1"),
        Call("messages.receive", handle="h2"),
    )
    judge = Recorder(OPTIONS, lambda verdict, count: None)
    with connect("embedded+commit-loses-last-send", state_dir=tmp_path, in_process=True) as client:
        _, failure = run(client, judge, calls)
        assert failure is not None and failure.verdict.requirement == "MQDMPR-3.1.4.4.durable"
        short = shortened(client, OPTIONS, failure, calls)
        _, again = run(client, judge, short)
    assert again is not None and again.verdict.requirement == "MQDMPR-3.1.4.4.sends-appear"
    assert Call("restart") not in short
