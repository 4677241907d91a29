"""MS-MQQB 3.1.6.6: a session that does not open is given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_sessions import UNANSWERED
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(UNANSWERED))
def test_an_opening_that_does_not_go_on_ends(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
