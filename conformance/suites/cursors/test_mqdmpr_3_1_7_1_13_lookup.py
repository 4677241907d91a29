"""Reads by lookup identifier: MS-MQDMPR 3.1.7.1.13 and 3.1.7.3.3."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.suites.stateful import claims, plans
from conformance.suites.stateful.machine import NEEDS, walk


@pytest.mark.requirement(*claims.LOOKUPS)
def test_a_walk_with_lookup_identifiers(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "messages.peek", "messages.peek_by_lookup_id", "messages.receive_by_lookup_id")
    walk(mq, judge, run_options, plans.LOOKUPS, share=0.8)
