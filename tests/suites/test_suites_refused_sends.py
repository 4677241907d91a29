"""Messages that no queue may take: a manager that takes them, or says something else of them, is found."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from distorting import OPTIONS, Distorting, same, silent

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, Recorder
from conformance.suites.properties import stories
from conformance.suites.properties.stories import SIZE, SIZES
from conformance.verdict import Outcome, Verdict


@pytest.fixture
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with connect("embedded", state_dir=tmp_path_factory.mktemp("state"), in_process=True) as found:
        yield found


def judged(client: Any) -> list[Verdict]:
    seen: list[Verdict] = []
    judge = Recorder(OPTIONS, lambda verdict, count: seen.append(verdict))
    try:
        stories.tell("wrong-sizes", client, judge)
    except ConformanceFailure as failure:
        return [*seen, failure.verdict]
    judge.flush()
    return seen


def cut(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Send the first 20 bytes of a correlation identifier, filled up with nulls."""
    given = params.get("message", {}).get("correlation_identifier")
    if given is not None:
        raw = base64.b64decode(given)[:20].ljust(20, b"\0")
        params["message"]["correlation_identifier"] = base64.b64encode(raw).decode()
    return params


def test_the_shipped_manager_refuses_each_size(client: Client) -> None:
    found = {verdict.outcome for verdict in judged(client) if verdict.requirement == SIZE}
    assert found == {Outcome.PASS} and 20 not in SIZES


def test_a_manager_that_takes_another_size_is_found(client: Client) -> None:
    [*_, last] = judged(Distorting(client, cut, silent))
    assert (last.requirement, last.outcome) == (SIZE, Outcome.FAIL)


@pytest.mark.parametrize("status", [0xC00E0018, 0xC00E0006])
def test_another_code_is_found(client: Client, status: int) -> None:
    wrong = Distorting(client, same, silent)
    right = wrong.call

    def call(method: str, **params: Any) -> Any:
        result = right(method, **params)
        if method == "messages.send" and not result.ok:
            object.__setattr__(result, "status", status)
        return result

    wrong.call = call  # type: ignore[method-assign]
    [*_, last] = judged(wrong)
    assert (last.requirement, last.outcome) == (SIZE, Outcome.FAIL)
