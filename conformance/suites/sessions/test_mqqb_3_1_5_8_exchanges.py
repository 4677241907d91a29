"""MS-MQQB 3.1.5.8: a message of each kind meets each event, beside what else is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.exchanges import planned
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(planned()))
def test_a_message_has_one_fate_whatever_happens(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
