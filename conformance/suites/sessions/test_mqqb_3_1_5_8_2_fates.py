"""MS-MQQB 3.1.5.8.1, 3.1.5.8.2, 3.1.7.15, 3.1.7.2: conditions of a message's fate that meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_fates import FATES
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(FATES))
def test_conditions_of_a_fate_meet(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
