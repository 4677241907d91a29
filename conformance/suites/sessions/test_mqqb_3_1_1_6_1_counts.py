"""MS-MQQB 3.1.1.4, 3.1.1.6.1, 3.1.5.8.1, 3.1.5.8.7: counts and acknowledgments of a session, duplicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_counts import COUNTED
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(COUNTED))
def test_messages_are_counted(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
