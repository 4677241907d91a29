"""Words of a story that leave nothing to be guessed: which handle, which number, which reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, Recorder, RunOptions
from conformance.histories.history import History
from conformance.histories.operations.table import stored_call
from conformance.model.calls import Call
from conformance.model.linearizability.history import Operation
from conformance.model.linearizability.judge import _reader
from conformance.spec.catalogue import assignment

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows", {}), "windows", 0, 1, 1)
ONE = (
    {"method": "queues.create", "queue": "q1"},
    {"method": "queues.open", "name": "h1", "queue": "q1", "access": "send"},
    {"method": "queues.open", "name": "h2", "queue": "q1", "access": "receive"},
    {"method": "messages.send", "handle": "h1", "message": "a"},
)
READ = {"method": "messages.receive", "handle": "h2"}


def told(connector: str, folder: Path, *calls: dict[str, object]) -> tuple[list[str], ConformanceFailure | None]:
    """The story of these calls, and how they fail."""
    judge = Recorder(OPTIONS, lambda verdict, count: None)
    with connect(connector, state_dir=folder, in_process=True) as client:
        history = History(client, judge)
        try:
            for call in calls:
                history.do(stored_call(call))
        except ConformanceFailure as failure:
            return [step.text for step in failure.story], failure
    return [step.text for step in judge.story], None


@pytest.mark.parametrize(
    ("calls", "line"),
    [
        ((READ,), "receive from q1 -> message 'a' (priority 3)"),
        (({"method": "queues.open", "name": "h3", "queue": "q1", "access": "peek"}, READ), "receive from q1 by h2 -> "),
        (({"method": "messages.receive", "handle": "h1"},), "receive from q1 by h1 -> fails with "),
        (({"method": "queues.delete", "queue": "q1"}, READ), "receive from q1, by h2 -> fails with "),
        (({"method": "queues.purge", "handle": "h1"},), "purge q1 by h1 -> fails with "),
        ((READ, READ), "receive from q1 -> fails with MQ_ERROR_IO_TIMEOUT"),
        (({"method": "queues.close", "handle": "h2"}, READ), "receive from q1 by the closed h2 -> "),
    ],
)
def test_a_handle_that_could_be_another_is_named(
    calls: tuple[dict[str, object], ...], line: str, tmp_path: Path
) -> None:
    story, failure = told("embedded", tmp_path, *ONE, *calls)
    assert failure is None and story[-1].startswith(line), story[-1]
    assert story[3] == "send 'a' to q1 -> ok"


def test_a_number_says_what_it_is(tmp_path: Path) -> None:
    calls = (
        {"method": "queues.create", "queue": "q1"},
        {"method": "queues.open", "name": "h1", "queue": "q1", "access": "send"},
        {"method": "queues.open", "name": "h2", "queue": "q1", "access": "receive"},
        {"method": "messages.send", "handle": "h1", "message": "a", "delivery": "recoverable"},
        {"method": "messages.peek", "handle": "h2"},
        {"method": "restart", "kill": True},
        {"method": "queues.open", "name": "h3", "queue": "q1", "access": "receive"},
        {"method": "messages.peek", "handle": "h3"},
    )
    _, failure = told("embedded+recovery-changes-lookup-ids", tmp_path, *calls)
    assert failure is not None
    for value in (failure.verdict.expected, failure.verdict.actual):
        assert isinstance(value, dict) and list(value) == ["lookup identifier of a"]


def test_a_reader_without_a_name_is_named() -> None:
    read = Call("messages.receive", handle="h2")
    assert _reader(Operation(read, "A", 0)) == "messages.receive by h2"
