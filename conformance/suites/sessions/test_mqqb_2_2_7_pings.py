"""MS-MQQB 2.2.7, 3.1.7.7: pings, which may be answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_sessions import PING_BITS, PINGS
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases((*PINGS, *PING_BITS)))
def test_pings_are_answered(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
