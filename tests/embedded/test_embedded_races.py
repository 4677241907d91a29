"""Races are real: over a pipe with requests sent together, and between threads that share a driver."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embedded_talk import Talk
from test_embedded_durability import Process

from conformance.adapter.connectors import connect

ROUNDS = 40


def _together(work: Process, *requests: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Requests written in one go; their results, by number of the request."""
    lines = b"".join(work.line(method, **params) for method, params in requests)
    assert work.process.stdin is not None
    work.process.stdin.write(lines)
    work.process.stdin.flush()
    return [work.read() for _ in requests]


@pytest.mark.parametrize("faults", [(), ("two-receivers-one-message",)])
def test_two_receives_in_one_write(tmp_path: Path, faults: tuple[str, ...]) -> None:
    work = Process(tmp_path, faults)
    made = work("queues.create", path_name="HOST\\private$\\q")["format_name"]
    send, take = (work("queues.open", format_name=made, access=access)["queue"] for access in ("send", "receive"))
    for number in range(4):
        work("messages.send", queue=send, message={"label": str(number)})
    receive = ("messages.receive", {"queue": take, "timeout_ms": 0})
    labels = [answer["message"]["label"] for answer in _together(work, receive, receive, receive)]
    assert (len(set(labels)) < 3) is bool(faults)
    work.kill()


@pytest.mark.parametrize("faults", [(), ("two-receivers-one-message",)])
def test_threads_that_receive(talk_with: Callable[..., Talk], faults: tuple[str, ...]) -> None:
    talk = talk_with(*faults)
    send, receive = talk.queue()
    for number in range(ROUNDS):
        talk.send(send, str(number))
    taken: list[str] = []

    def take() -> None:
        for _ in range(ROUNDS // 2):
            answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
            talk.driver.handle("messages.receive", {"queue": receive, "timeout_ms": 0}, answers.put)
            answer = answers.get(timeout=10)
            taken.extend([answer["message"]["label"]] if answer["status"] == 0 else [])

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(taken) > len(set(taken))) is bool(faults)


@pytest.mark.parametrize("in_process", [False, True])
@pytest.mark.parametrize("faults", ["", "+two-receivers-one-message"])
def test_calls_started_together(tmp_path: Path, faults: str, in_process: bool) -> None:
    with connect(f"embedded{faults}", state_dir=tmp_path / "state", in_process=in_process) as client:
        made = client.call("queues.create", path_name="HOST\\private$\\q").values["format_name"]
        send, take = (
            client.call("queues.open", format_name=made, access=access).values["queue"]
            for access in ("send", "receive")
        )
        for number in range(8):
            client.call("messages.send", queue=send, message={"label": str(number)})
        calls = [client.start("messages.receive", queue=take, timeout_ms=0) for _ in range(8)]
        answers = [call.result(10_000) for call in calls]
        labels = [answer.values["message"]["label"] for answer in answers if answer.ok]
        assert (len(set(labels)) < len(labels)) is bool(faults)
