"""MS-MQQB 3.1.5.8.2, 3.1.5.8.3: messages that are rejected, and the word that is sent of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_fates import REJECTED
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(REJECTED))
def test_a_message_is_rejected(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
