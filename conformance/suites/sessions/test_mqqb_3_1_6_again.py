"""MS-MQQB 3.1.6.1, 3.1.6.3, 3.1.7.1: what is sent is kept until it is acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_counts import AGAIN
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(AGAIN))
def test_what_is_not_acknowledged_is_kept(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
