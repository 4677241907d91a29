"""Reads by RemoteQMStartReceive2 and by lookup identifiers: MS-MQQP 3.1.4.10 and 3.1.4.11."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.suites.remote.stories import TABLE, parameters


@pytest.mark.parametrize("name", parameters("MQQP-9"))
def test_older_reads_by_lookup_are_answered(mq: Any, judge: Any, mq_need: Any, name: str) -> None:
    TABLE.play(name, mq, judge, mq_need)
