"""What a receive that fails leaves as it was: the shipped implementation passes, and one that does not is caught."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from distorting import OPTIONS

from conformance.adapter.connectors import connect
from conformance.harness.recorder import ConformanceFailure, Recorder
from conformance.histories.rejudge import rejudge
from conformance.suites.cursors import test_mqdmpr_3_1_7_1_10_failed_receives as failed
from conformance.verdict import Outcome, Verdict

GONE, MISSING = 0xC00E001D, 0xC00E0088


class Overdoing:
    """A manager that does something more when a receive by a cursor fails with this status."""

    def __init__(self, client: Any, status: int, more: Callable[[Any, dict[str, Any]], None]) -> None:
        self._client, self._status, self._more = client, status, more

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def call(self, method: str, **params: Any) -> Any:
        result = self._client.call(method, **params)
        if method == "messages.receive" and "cursor" in params and result.status == self._status:
            self._more(self._client, params)
        return result

    def start(self, method: str, **params: Any) -> Any:
        return self._client.start(method, **params)


def takes_another(client: Any, params: dict[str, Any]) -> None:
    client.call("messages.receive", queue=params["queue"], timeout_ms=0)


def moves_on(client: Any, params: dict[str, Any]) -> None:
    client.call("messages.peek_next", queue=params["queue"], cursor=params["cursor"], timeout_ms=0)


def closes(client: Any, params: dict[str, Any]) -> None:
    client.call("cursors.close", cursor=params["cursor"])


CASES = (
    (failed.test_a_receive_that_fails_takes_no_other_message, GONE, takes_another, failed.ENDS),
    (failed.test_a_receive_that_fails_leaves_its_cursor_in_its_place, GONE, moves_on, failed.KEEPS_PLACE),
    (failed.test_a_receive_that_finds_nothing_leaves_its_cursor_usable, MISSING, closes, failed.USABLE),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[3])
def test_a_manager_that_does_more_than_fail(case: Any, tmp_path: Path) -> None:
    test, status, more, requirement = case
    verdicts: list[Verdict] = []
    judge = Recorder(OPTIONS, lambda verdict, count: verdicts.append(verdict))
    with connect("embedded", state_dir=tmp_path, in_process=True) as client:
        test(client, judge, lambda *needs: None)
        judge.flush()
        assert {verdict.outcome for verdict in verdicts} == {Outcome.PASS}
        assert requirement in {verdict.requirement for verdict in verdicts}
        with pytest.raises(ConformanceFailure) as caught:
            test(Overdoing(client, status, more), judge, lambda *needs: None)
        assert caught.value.verdict.requirement == requirement
        again = rejudge(caught.value.repro, Overdoing(client, status, more), OPTIONS)
        assert (again[-1].outcome, again[-1].requirement) == (Outcome.FAIL, requirement)
        assert rejudge(caught.value.repro, client, OPTIONS)[-1].outcome is Outcome.PASS
