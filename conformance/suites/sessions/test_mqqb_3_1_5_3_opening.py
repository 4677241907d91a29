"""MS-MQQB 2.2.1 to 2.2.3, 3.1.5.3, 3.1.5.4: how a session is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_sessions import FORMS, OPENINGS
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases((*OPENINGS, *FORMS)))
def test_a_session_is_opened(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
