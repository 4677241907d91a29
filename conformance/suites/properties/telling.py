"""Telling a story in a test: skipped, with the reason, where there is no queue to tell it with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.suites.properties.messages import Unopened
from conformance.suites.properties.stories import tell

if TYPE_CHECKING:
    from conformance.suites.guard import GuardedClient
    from conformance.suites.judging import Judge


def told(name: str, mq: GuardedClient, judge: Judge) -> None:
    """See `conformance.suites.properties.stories.tell`."""
    try:
        tell(name, mq, judge)
    except Unopened as nothing:
        pytest.skip(str(nothing))


def restarts(mq: GuardedClient) -> None:
    """Skip where a restart begins from nothing."""
    if not getattr(mq, "keeps_state", True):
        pytest.skip("a restart of this connection does not find the state again")
