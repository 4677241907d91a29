"""MS-MQDMPR 3.1.1.12: the attributes of a message are received as they were sent, or have their defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from conformance.harness.hypothesis_settings import from_options
from conformance.judge.packets.attribute_compare import (
    ARRIVAL_TIME,
    FIRST,
    LAST,
    SENT_TIME,
    SOURCE,
    SURVIVES,
    UNIQUE,
)
from conformance.model.message_properties import ATTRIBUTES
from conformance.suites.properties.mailbox import NEEDS, Mailbox, Unopened
from conformance.suites.properties.stories import (
    EDGES,
    EVERYTHING,
    KIND,
    messages,
    restarts,
    run_story,
)

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder, RunOptions

DEFAULTS = tuple(dict.fromkeys(each.default[1] for each in ATTRIBUTES if each.default is not None))
UNCHANGED = tuple(dict.fromkeys(each.unchanged for each in ATTRIBUTES if each.unchanged is not None))


def mailbox(mq: Port, judge: Recorder) -> Mailbox:
    """Return a mailbox; skip if its queue cannot be made."""
    judge.begin_example(KIND, {"message": dict(EVERYTHING)})
    try:
        return Mailbox(mq, judge)
    except Unopened as nothing:
        pytest.skip(str(nothing))


@pytest.mark.requirement(*DEFAULTS, UNIQUE, SOURCE, SENT_TIME, ARRIVAL_TIME)
def test_defaults(mq: Port, judge: Recorder, mq_need: Any) -> None:
    """Send a message without attributes, and one with only a body, to a queue with default properties."""
    mq_need(*NEEDS)
    box = mailbox(mq, judge)
    for message in ({}, {"body": "AA=="}, {}):
        judge.begin_example(KIND, {"message": message})
        box.exchange(message)


@pytest.mark.requirement(*UNCHANGED, UNIQUE, SOURCE, SENT_TIME, ARRIVAL_TIME)
def test_received_as_sent(mq: Port, judge: Recorder, mq_need: Any, run_options: RunOptions) -> None:
    """Send every attribute at once, each alone, each at the ends of its range, and generated ones."""
    mq_need(*NEEDS)
    box = mailbox(mq, judge)
    box.exchange(EVERYTHING)
    for message in (*({name: value} for name, value in EVERYTHING.items()), *EDGES):
        judge.begin_example(KIND, {"message": dict(message)})
        box.exchange(message)

    @from_options(run_options)
    @given(messages())
    def run(message: dict[str, Any]) -> None:
        judge.begin_example(KIND, {"message": message})
        box.exchange(message)

    run()


@pytest.mark.parametrize("ending", ["killed", "stopped"])
@pytest.mark.requirement(SURVIVES)
def test_attributes_survive_a_restart(mq: Port, judge: Recorder, mq_need: Any, ending: str) -> None:
    """A recoverable message keeps every attribute over a stop and over a kill."""
    mq_need(*NEEDS)
    restarts(mq)
    run_story(f"attributes-{ending}", mq, judge)


@pytest.mark.requirement(FIRST, LAST)
def test_first_and_last_in_a_transaction(mq: Port, judge: Recorder, mq_need: Any) -> None:
    mq_need(*NEEDS, "transactions.begin", "transactions.commit")
    run_story("first-and-last", mq, judge)
