"""MS-MQQB 3.1.7.15, MS-MQMQ 2.2.20.1: acknowledgments of messages to lists of queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_sessions import LISTED
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(LISTED))
def test_a_message_to_a_list_is_acknowledged(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
