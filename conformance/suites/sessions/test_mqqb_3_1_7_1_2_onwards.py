"""MS-MQQB 3.1.5.8.2, 3.1.7.1.2: messages of each kind on their way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_fates import ONWARDS
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(ONWARDS))
def test_a_message_of_each_kind_is_passed_on(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
