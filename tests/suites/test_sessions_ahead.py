"""Examples are played beside one another, each on a client of its own, and none changes what another one shows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.adapter.connectors import connect
from conformance.adapter.errors import DriverUnusable
from conformance.harness.ahead import Ahead, Part, play
from conformance.harness.recorder import Recorder, RunOptions
from conformance.suites.sessions.playing import ALONE
from conformance.suites.sessions.rejudge import CASES
from conformance.verdict import Outcome, Verdict

NAME = "MQQB-2.1.1.acceptor-port"
OPTIONS = RunOptions("msmq-4.0", "must", {}, "windows")
Work = Callable[[Any], object]


def part(work: Work, lasts_ms: int = 0) -> Part:
    def played(mq: Any, options: RunOptions, data: Mapping[str, Any], tell: Any) -> Iterator[Verdict]:
        tell("a step", None)
        yield Verdict(NAME, Outcome.PASS, str(data["case"]))
        work(mq)

    return Part("dialogue", lambda: {"case": threading.current_thread().name}, played, lasts_ms)


class Clients:
    """Opens clients of a peer in this process, at most so many."""

    def __init__(self, most: int) -> None:
        self.most, self.made = most, 0

    def __call__(self, folder: Path) -> Any:
        if self.made == self.most:
            raise DriverUnusable("there is no room for another one")
        self.made += 1
        return connect("python:session_peer:Peer", state_dir=folder, in_process=True)


def ahead(works: dict[str, Work], most: int, **lasts_ms: int) -> Ahead:
    parts = {node: part(work, lasts_ms.get(node, 0)) for node, work in works.items()}
    return Ahead(Clients(most), parts, OPTIONS, until=time.monotonic() + 60)


def recorder(made: Ahead | None, node: str) -> Recorder:
    judge = Recorder(OPTIONS, lambda verdict, count: None)
    if made is not None:
        judge.ahead = lambda: made.taken(node)
    return judge


def test_examples_go_on_at_the_same_time_and_the_longest_begins_first() -> None:
    together, begun = threading.Barrier(2, timeout=30), []

    def meet(node: str) -> Work:
        def work(mq: Any) -> None:
            begun.append(node)
            if node in "cd":
                together.wait()

        return work

    made = ahead({node: meet(node) for node in "abcd"}, 2, c=3, d=2)
    try:
        found = {node: made.taken(node) for node in "dcba"}
    finally:
        made.close()
    assert set(begun[:2]) == {"c", "d"}
    played = [one for one in found.values() if one is not None]
    assert {"c", "d"} <= {node for node, one in found.items() if one is not None}
    assert all(one.error is None and one.verdicts[0].subject.startswith("ahead") for one in played)


def test_who_has_not_begun_is_left_to_its_test() -> None:
    made = ahead({"a": lambda mq: None, "b": lambda mq: None}, 0)
    judge = recorder(made, "a")
    play(part(lambda mq: None), None, judge)  # type: ignore[arg-type]
    made.close()
    assert judge.judged == {NAME}
    assert [step.text for step in judge.story] == ["a step"]


def test_an_exception_stays_in_its_example() -> None:
    def breaks(mq: Any) -> None:
        raise KeyError("broken")

    made = ahead({"a": breaks, "b": lambda mq: mq.call("sessions.about"), "c": lambda mq: None}, 2, a=3, b=2)
    broken, other = recorder(made, "a"), recorder(made, "b")
    try:
        with pytest.raises(KeyError):
            play(part(breaks), None, broken)  # type: ignore[arg-type]
        play(part(lambda mq: None), None, other)  # type: ignore[arg-type]
    finally:
        made.close()
    assert broken.judged == other.judged == {NAME}


def test_the_end_of_a_run_ends_what_is_being_played() -> None:
    under_way = threading.Event()

    def goes_on(mq: Any) -> None:
        while True:
            mq.call("sessions.about")
            under_way.set()

    made = ahead({"a": goes_on, "b": goes_on}, 1)
    assert under_way.wait(30)
    began = time.monotonic()
    made.close()
    assert time.monotonic() - began < 20


def test_what_is_alone_is_a_case() -> None:
    assert set(ALONE) <= set(CASES)
