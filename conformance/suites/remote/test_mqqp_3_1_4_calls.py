"""qm2qm, with reads by RemoteQMStartReceive: MS-MQQP 3.1.4."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.suites.remote.stories import TABLE, parameters


@pytest.mark.parametrize("name", parameters("MQQP"))
def test_older_reads_are_answered(mq: Any, judge: Any, mq_need: Any, name: str) -> None:
    TABLE.play(name, mq, judge, mq_need)
