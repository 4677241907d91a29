"""Reads by lookup identifier: MS-MQDMPR 3.1.7.1.13 and 3.1.7.3.3."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.model import Call
from conformance.suites.stateful import claims, plans
from conformance.suites.stateful.examples import begin, cursor, peek, peek_next, send
from conformance.suites.stateful.machine import NEEDS, walk


@pytest.mark.requirement(*claims.LOOKUPS)
def test_a_walk_with_lookup_identifiers(mq: Any, judge: Any, run_options: Any, mq_need: Any) -> None:
    mq_need(*NEEDS, "messages.peek", "messages.peek_by_lookup_id", "messages.receive_by_lookup_id")
    walk(mq, judge, run_options, plans.LOOKUPS, share=0.8)


LOOKUP = ("messages.peek_by_lookup_id", "messages.receive_by_lookup_id")


@pytest.mark.requirement(
    "MQDMPR-3.1.7.1.13.queue-not-available",
    "MQDMPR-3.1.7.1.13.queue-not-available-code",
    "MQDMPR-3.1.7.1.14.queue-not-available",
    "MQDMPR-3.1.7.1.14.queue-not-available-code",
)
def test_reads_on_a_handle_whose_queue_was_deleted(mq: Any, judge: Any, mq_need: Any) -> None:
    needs = ("messages.peek", "messages.peek_next", "cursors.open", "queues.delete")
    history = begin(mq, judge, mq_need, *LOOKUP, *needs)
    history.run(send("a"), send("b"), cursor("c1"), peek("c1"), Call("queues.delete", queue="q1"), peek_next("c1"))
    for method in LOOKUP:
        history.run(Call(method, handle="r", message="a", action="current"))
