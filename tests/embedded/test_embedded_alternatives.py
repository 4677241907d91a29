"""Alternatives of readings: known to the register, declared by hello, and not what is followed by default."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embedded_reading_stories import PARTINGS
from embedded_stories import faultless
from embedded_talk import NAME, Talk

from conformance.adapter.connectors import connect
from conformance.embedded.alternatives import ALTERNATIVES
from conformance.embedded.readings import READINGS
from conformance.spec.catalogue import catalogue
from conformance.spec.constants.hresults import (
    MQ_ERROR_INVALID_HANDLE,
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_IO_TIMEOUT,
)

TalkWith = Callable[..., Talk]


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_it_is_in_the_register_and_declared(talk_with: Callable[..., Talk], name: str) -> None:
    reading, _, alternative = name.partition("=")
    assert alternative in catalogue().readings[reading].alternatives
    assert READINGS[reading] != alternative
    talk = talk_with(name)
    assert talk.ok("hello", versions=["1.0"], harness="t", state_dir="")["readings"][reading] == alternative


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_it_shows_in_some_story(talk_with: Callable[..., Talk], name: str) -> None:
    assert any(faultless(story) != story(talk_with(name)) for story in PARTINGS)


@pytest.mark.parametrize(("alternative", "seen"), [("keeps-place", "put"), ("next-at-removal", "low")])
def test_a_message_put_before_the_next_one_is_passed_over(talk_with: TalkWith, alternative: str, seen: str) -> None:
    talk = _following(talk_with, f"R-MQDMPR-removed-position={alternative}")
    send, receive = talk.queue()
    talk.send(send, "high", priority=5)
    talk.send(send, "gone", priority=2)
    talk.send(send, "low", priority=1)
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    talk.ok("messages.peek", queue=receive, cursor=cursor, timeout_ms=0)
    assert talk.receive(receive, cursor=cursor) == "high"
    assert talk.receive(receive) == "gone"
    talk.send(send, "put", priority=4)
    assert talk.receive(receive, cursor=cursor) == seen


@pytest.mark.parametrize(("alternative", "copies"), [("at-commit", ["b", "a"]), ("at-receive", ["a", "b"])])
def test_copies_come_in_the_order_of_receives(talk_with: TalkWith, alternative: str, copies: list[str]) -> None:
    talk = _following(talk_with, f"R-MQDMPR-target-journal-time={alternative}")
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1, PROPID_Q_JOURNAL=1)
    filling = talk.begin()
    for label in "ab":
        talk.send(send, label, filling)
    talk.ok("transactions.commit", transaction=filling)
    first, second = talk.begin(), talk.begin()
    assert talk.receive(receive, transaction=first) == "a"
    assert talk.receive(receive, transaction=second) == "b"
    for transaction in (second, first):
        talk.ok("transactions.commit", transaction=transaction)
    assert talk.drain(talk.open(f"{NAME};journal")) == copies


@pytest.mark.parametrize("alternative", ["at-commit", "at-receive"])
def test_a_message_leaves_one_copy_though_its_first_receive_was_aborted(talk_with: TalkWith, alternative: str) -> None:
    talk = _following(talk_with, f"R-MQDMPR-target-journal-time={alternative}")
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1, PROPID_Q_JOURNAL=1)
    filling, taking = talk.begin(), talk.begin()
    talk.send(send, "a", filling)
    talk.ok("transactions.commit", transaction=filling)
    talk.receive(receive, transaction=taking)
    talk.ok("transactions.abort", transaction=taking)
    assert talk.receive(receive) == "a"
    assert talk.drain(talk.open(f"{NAME};journal")) == ["a"]


@pytest.mark.parametrize(
    ("alternative", "again", "copies"),
    [("at-commit", True, ["a"]), ("at-receive", True, ["a"]), ("at-commit", False, ["a"]), ("at-receive", False, [])],
)
def test_journaling_begins_after_a_receive(
    talk_with: TalkWith, *, alternative: str, again: bool, copies: list[str]
) -> None:
    talk = _following(talk_with, f"R-MQDMPR-target-journal-time={alternative}")
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    filling, taking = talk.begin(), talk.begin()
    talk.send(send, "a", filling)
    talk.ok("transactions.commit", transaction=filling)
    talk.receive(receive, transaction=taking)
    talk.ok("queues.set", format_name=NAME, properties={"PROPID_Q_JOURNAL": 1})
    talk.ok(f"transactions.{'abort' if again else 'commit'}", transaction=taking)
    assert talk.drain(receive) == ["a"] * again
    assert talk.drain(talk.open(f"{NAME};journal")) == copies


def test_a_copy_for_which_there_was_no_room_is_made_by_a_later_receive(talk_with: TalkWith) -> None:
    talk = _following(talk_with, "R-MQDMPR-target-journal-time=at-receive")
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1, PROPID_Q_JOURNAL=1, PROPID_Q_JOURNAL_QUOTA=0)
    filling, taking = talk.begin(), talk.begin()
    talk.send(send, "a", filling)
    talk.ok("transactions.commit", transaction=filling)
    talk.receive(receive, transaction=taking)
    talk.ok("transactions.abort", transaction=taking)
    talk.ok("queues.set", format_name=NAME, properties={"PROPID_Q_JOURNAL_QUOTA": 100})
    assert talk.receive(receive) == "a"
    assert talk.drain(talk.open(f"{NAME};journal")) == ["a"]


@pytest.mark.parametrize(("alternative", "shown"), [("none", 0), ("default", 3), ("own", 6)])
def test_a_transactional_message_shows_a_priority(talk_with: TalkWith, alternative: str, shown: int) -> None:
    talk = _following(talk_with, f"R-MQDMPR-transactional-priority={alternative}")
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    transaction = talk.begin()
    talk.send(send, "a", transaction, priority=1)
    talk.send(send, "b", transaction, priority=6)
    talk.ok("transactions.commit", transaction=transaction)
    assert talk.receive(receive) == "a"
    assert talk.ok("messages.receive", queue=receive, timeout_ms=0)["message"]["priority"] == shown


@pytest.mark.parametrize(("ended", "reading"), [(True, "acknowledge-purged"), (False, "abort-purged-reason")])
@pytest.mark.parametrize(("alternative", "told"), [("purged", 0xC001), ("received", 0x4000)])
def test_a_message_purged_while_it_is_read(
    talk_with: TalkWith, *, ended: bool, reading: str, alternative: str, told: int
) -> None:
    talk = _following(talk_with, f"R-MQDMPR-{reading}={alternative}")
    _, reports = talk.queue("private$\\reports")
    send, receive = talk.queue(PROPID_Q_TRANSACTION=int(not ended))
    wishes: dict[str, Any] = {
        "acknowledgements": ["positive_receive", "negative_receive"],
        "administration_queue": "DIRECT=OS:HOST\\private$\\reports",
    }
    if ended:
        talk.send(send, "a", **wishes)
        read = talk.ok("messages.receive_begin", queue=receive, timeout_ms=0)["read"]
        talk.ok("queues.purge", queue=receive)
        talk.ok("messages.receive_end", read=read, acknowledge=True)
    else:
        filling, taking = talk.begin(), talk.begin()
        talk.send(send, "a", filling, **wishes)
        talk.ok("transactions.commit", transaction=filling)
        talk.receive(receive, transaction=taking)
        talk.ok("queues.purge", queue=receive)
        talk.ok("transactions.abort", transaction=taking)
    assert talk.ok("messages.receive", queue=reports, timeout_ms=0)["message"]["class"] == told


@pytest.mark.parametrize(("alternative", "copies"), [("same", 1), ("distinct", 2)])
def test_copies_have_identifiers(talk_with: TalkWith, alternative: str, copies: int) -> None:
    talk = _following(talk_with, f"R-MQDMPR-multiple-send-identifier={alternative}")
    queues = [talk.queue(f"private$\\{name}")[1] for name in ("one", "two")]
    both = talk.open("DIRECT=OS:HOST\\private$\\one,DIRECT=OS:HOST\\private$\\two", "send")
    talk.send(both, "a")
    taken = [talk.ok("messages.receive", queue=queue, timeout_ms=0)["message"] for queue in queues]
    assert len({message["identifier"]["ordinal"] for message in taken}) == copies


@pytest.mark.parametrize(("alternative", "seen"), [("waits", []), ("sees-arrivals", ["b"])])
def test_a_cursor_behind_the_last_message(talk_with: TalkWith, alternative: str, seen: list[str]) -> None:
    talk = _following(talk_with, f"R-MQDMPR-parked-cursor-after-timeout={alternative}")
    send, receive = talk.queue()
    talk.send(send, "a")
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    talk.ok("messages.peek", queue=receive, cursor=cursor, timeout_ms=0)
    assert talk("messages.peek_next", queue=receive, cursor=cursor, timeout_ms=0)["status"] == MQ_ERROR_IO_TIMEOUT
    talk.send(send, "b")
    waiting = talk.start("messages.peek", queue=receive, cursor=cursor, timeout_ms=1000)
    assert [answer["message"]["label"] for answer in waiting] == seen


@pytest.mark.parametrize(("alternative", "seen"), [("end", []), ("as-before", ["a"])])
def test_a_cursor_whose_peek_timed_out(talk_with: TalkWith, alternative: str, seen: list[str]) -> None:
    talk = _following(talk_with, f"R-MQDMPR-peek-timeout-position={alternative}")
    send, receive = talk.queue()
    cursor = talk.ok("cursors.open", queue=receive)["cursor"]
    assert talk("messages.peek", queue=receive, cursor=cursor, timeout_ms=0)["status"] == MQ_ERROR_IO_TIMEOUT
    talk.send(send, "a")
    waiting = talk.start("messages.peek", queue=receive, cursor=cursor, timeout_ms=1000)
    assert [answer["message"]["label"] for answer in waiting] == seen


@pytest.mark.parametrize(("alternative", "left"), [("released", ["a"]), ("locked", [])])
def test_a_handle_is_closed_before_its_receive_ends(talk_with: TalkWith, alternative: str, left: list[str]) -> None:
    talk = _following(talk_with, f"R-MQDMPR-begun-receive-at-close={alternative}")
    send, receive = talk.queue()
    talk.send(send, "a")
    read = talk.ok("messages.receive_begin", queue=receive, timeout_ms=0)["read"]
    talk.ok("queues.close", queue=receive)
    ended = talk("messages.receive_end", read=read, acknowledge=False)["status"]
    assert ended == MQ_ERROR_INVALID_HANDLE
    assert talk.ok("queues.counts", format_name=NAME)["messages"] == 1
    assert talk.drain(talk.open()) == left


@pytest.mark.parametrize(("alternative", "status"), [("refused", MQ_ERROR_INVALID_PARAMETER), ("peeks", 0)])
def test_a_peek_next_has_no_cursor(talk_with: TalkWith, alternative: str, status: int) -> None:
    talk = _following(talk_with, f"R-MQDMPR-peek-next-without-cursor={alternative}")
    send, receive = talk.queue()
    talk.send(send, "a")
    assert talk("messages.peek_next", queue=receive, timeout_ms=0)["status"] == status
    assert talk.drain(receive) == ["a"]


@pytest.mark.parametrize(("alternative", "lives"), [("from-send", [True, False, False]), ("from-arrival", [True] * 3)])
def test_a_message_waits_for_its_commit(talk_with: TalkWith, alternative: str, lives: list[bool]) -> None:
    talk = _following(talk_with, f"R-MQDMPR-expiry-start={alternative}")
    send, receive = talk.queue(PROPID_Q_TRANSACTION=1)
    seen = []
    for before, after in ((3000, 1000), (3000, 3000), (6000, 4000)):
        transaction = talk.begin()
        talk.send(send, "a", transaction, time_to_be_received=5)
        talk.ok("clock.advance", by_ms=before)
        talk.ok("transactions.commit", transaction=transaction)
        talk.ok("clock.advance", by_ms=after)
        seen.append(talk.drain(receive) == ["a"])
    assert seen == lives
    transaction = talk.begin()
    talk.send(send, "a", transaction, time_to_be_received=5)
    talk.ok("transactions.commit", transaction=transaction)
    talk.ok("clock.advance", by_ms=6000)
    assert talk.drain(receive) == []


def _following(talk_with: TalkWith, choice: str) -> Talk:
    """A manager that follows an alternative: the default one, or one that has to be asked for."""
    reading, _, alternative = choice.partition("=")
    return talk_with() if READINGS[reading] == alternative else talk_with(choice)


def test_a_wrong_alternative_gets_one_sentence() -> None:
    command = [sys.executable, "-m", "conformance.embedded", "--stdio", "--reading", "R-MQDMPR-cancel-peek=never"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "did you mean R-MQDMPR-cancel-peek=not-found?" in done.stderr


@pytest.mark.parametrize("in_process", [False, True])
def test_a_connector_switches_it_on(tmp_path: Path, in_process: bool) -> None:
    client = connect("embedded+R-MQDMPR-cancel-peek=not-found", in_process=in_process, state_dir=tmp_path)
    try:
        assert client.hello.readings["R-MQDMPR-cancel-peek"] == "not-found"
    finally:
        client.close()
