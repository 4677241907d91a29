"""A walk over creating, setting, reading, using and deleting queues, and restarting: MS-MQMP 3.1.4.5, .9 and .10."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.model.property_calls import METHODS
from conformance.suites.properties.claims import WALKED
from conformance.suites.properties.history import NEEDS, PropertyHistory
from conformance.suites.properties.meanings import Walker
from conformance.suites.settings import from_options

if TYPE_CHECKING:
    from conformance.suites.guard import GuardedClient
    from conformance.suites.judging import Judge, RunOptions

ROLLS = 1 << 24
SHARE = 0.3  # of the examples asked for: each step reads every property


@pytest.mark.requirement(*WALKED)
def test_a_walk_with_properties(mq: GuardedClient, judge: Judge, mq_need: Any, run_options: RunOptions) -> None:
    mq_need(*NEEDS)
    shown = PropertyHistory(mq, judge).shown
    restarts = getattr(mq, "keeps_state", True)
    walker = Walker(shown, [name for name in METHODS if "." not in name or mq.offers(name)], restarts)
    examples = iter(range(1 << 62))

    rolls_of = st.integers(1, run_options.stateful_steps).flatmap(  # lists of any length are short ones as a rule
        lambda count: st.lists(st.integers(0, ROLLS - 1), min_size=count, max_size=count)
    )

    @from_options(run_options, share=SHARE)
    @given(rolls_of)
    def walk(rolls: list[int]) -> None:
        history = PropertyHistory(mq, judge, own=f"-{next(examples)}", shown=shown)
        for roll in rolls:
            history.do(walker.call(history.state, roll))

    walk()
