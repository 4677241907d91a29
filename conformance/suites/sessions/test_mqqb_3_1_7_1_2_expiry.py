"""MS-MQQB 3.1.7.1.2, 3.1.7.2.1: messages whose time is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_fates import EXPIRED
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(EXPIRED))
def test_times_are_kept(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
