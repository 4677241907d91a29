"""MS-MQQB 3.1.6.2: a session on which nothing goes on is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_sessions import IDLE
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(IDLE))
def test_an_idle_session_ends(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
