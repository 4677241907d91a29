"""MS-MQQB 3.1.1.5, 3.1.1.6.2, 3.1.5.8.6: sequences beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_sequences import ANOTHERS, SIDE_BY_SIDE
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases((*SIDE_BY_SIDE, *ANOTHERS)))
def test_sequences_stand_side_by_side(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
