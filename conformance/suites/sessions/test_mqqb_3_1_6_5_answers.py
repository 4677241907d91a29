"""MS-MQQB 3.1.1.5, 3.1.1.6.2, 3.1.5.6, 3.1.6.5: what the queue manager sends in transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_sequences import SENT
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(SENT))
def test_transactional_messages_are_kept_until_acknowledged(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
