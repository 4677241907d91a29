"""What a history says of readings: nothing any more, once the implementation has answered wrongly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from distorting import OPTIONS

from conformance.adapter.connectors import connect
from conformance.adapter.session import Result
from conformance.harness.recorder import ConformanceFailure, Recorder
from conformance.histories.examples import begin, receive, send
from conformance.model import Call
from conformance.verdict import Verdict

DENIED, MISSING = 0xC00E0025, 0xC00E0088


class WrongCode:
    """A manager whose answer to a receive by a closed handle has another code than it must have."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def start(self, method: str, **params: Any) -> Any:
        return self._client.start(method, **params)

    def call(self, method: str, **params: Any) -> Any:
        result = self._client.call(method, **params)
        wrong = method == "queues.open" and not result.ok
        return Result.from_json({"status": DENIED}) if wrong else result


MISTAKE = Call("queues.open", name="x", queue="none", access="receive")


def read(client: Any, *calls: Call) -> dict[str, tuple[tuple[str, str], ...]]:
    """The readings that the verdicts of these calls assumed, by requirement."""
    verdicts: list[Verdict] = []
    judge = Recorder(OPTIONS, lambda verdict, count: verdicts.append(verdict))
    history = begin(client, judge, lambda *needs: None)
    for call in calls:
        try:
            history.do(call)
        except ConformanceFailure as failure:
            assert failure.verdict.requirement.endswith("-code")
            assert history.go_on()
    judge.flush()
    return {verdict.requirement: verdict.readings for verdict in verdicts if verdict.readings}


@pytest.fixture
def client(tmp_path: Path) -> Any:
    with connect("embedded", state_dir=tmp_path, in_process=True) as found:
        yield found


def test_a_reading_is_concluded_from_what_comes_before_the_first_failure(client: Any) -> None:
    plain = read(client, send("a"), receive(), receive())
    assert plain  # which code a read in vain has is a reading
    assert read(WrongCode(client), send("a"), receive(), receive(), MISTAKE) == plain


def test_no_reading_is_concluded_after_it(client: Any) -> None:
    assert read(client, MISTAKE, send("a"), receive(), receive())
    assert not read(WrongCode(client), MISTAKE, send("a"), receive(), receive())
