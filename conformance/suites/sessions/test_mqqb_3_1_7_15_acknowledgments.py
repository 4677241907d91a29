"""MS-MQQB 3.1.5.8.8 to 3.1.5.8.10, 3.1.7.2, 3.1.7.15: messages that are taken, and the word that is sent of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.judge.dialogues.cases_fates import TAKEN
from conformance.suites.sessions.playing import cases, check

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder
    from conformance.judge.dialogues.steps import Case


@pytest.mark.parametrize("case", cases(TAKEN))
def test_word_is_sent_as_asked(case: Case, mq: Port, judge: Recorder) -> None:
    check(case, mq, judge)
