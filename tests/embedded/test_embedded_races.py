"""Races: over a pipe with requests sent together, between threads that share a driver, and as a seed has them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embedded_process import Process
from embedded_talk import Talk

from conformance.adapter.connectors import connect
from conformance.embedded import scheduler

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


def test_threads_that_receive(talk: Talk) -> None:
    send, receive = talk.queue()
    for number in range(ROUNDS):
        talk.send(send, str(number))
    taken: list[str] = []

    def take() -> None:
        for _ in range(ROUNDS // 2):
            answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
            talk.driver.handle("messages.receive", {"queue": receive, "timeout_ms": 0}, answers.put)
            taken.append(answers.get(timeout=10)["message"]["label"])

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken, key=int) == [str(number) for number in range(ROUNDS)]


def _raced(talk: Talk) -> list[str]:
    """The labels that receives get of which three are always begun together, in the order of the answers."""
    send, receive = talk.queue()
    for number in range(ROUNDS):
        talk.driver.handle("messages.send", {"queue": send, "message": {"label": str(number)}}, lambda result: None)
    answers: list[dict[str, Any]] = []
    for _ in range(ROUNDS // 3):
        for _ in range(3):
            talk.driver.handle("messages.receive", {"queue": receive, "timeout_ms": 0}, answers.append)
        talk.driver.while_idle(waits=False)
    while talk.driver.while_idle():
        pass
    return [answer["message"]["label"] for answer in answers]


def test_a_seed_decides_who_meets(talk_with: Callable[..., Talk]) -> None:
    of_seed = [[_raced(talk_with("two-receivers-one-message", seed=seed)) for _ in range(2)] for seed in range(3)]
    assert all(first == second for first, second in of_seed)
    assert len({tuple(first) for first, _ in of_seed}) == 3
    assert all(len(set(first)) < len(first) == ROUNDS // 3 * 3 for first, _ in of_seed)


def test_a_request_goes_on_when_its_caller_never_comes_back(
    talk_with: Callable[..., Talk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "LONGEST_S", 0.001)
    talk = talk_with("two-receivers-one-message")
    send, receive = talk.queue()
    talk.send(send, "left alone")
    answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    talk.driver.handle("messages.receive", {"queue": receive, "timeout_ms": 0}, answers.put)
    assert answers.get(timeout=10)["message"]["label"] == "left alone"
    assert not talk.driver.while_idle()


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
