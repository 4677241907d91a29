"""qmmgmt, in calls of its own: MS-MQMR 3.1.4."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.suites.remote.stories import TABLE, parameters


@pytest.mark.parametrize("name", parameters("MQMR"))
def test_management_is_told_and_acts(mq: Any, judge: Any, mq_need: Any, name: str) -> None:
    TABLE.play(name, mq, judge, mq_need)
