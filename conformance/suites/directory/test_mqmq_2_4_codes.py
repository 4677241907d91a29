"""Codes of failures with a directory, and what the manager has: MS-MQMQ 2.3, 2.4, MS-MQDMPR 3.1.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.directory import codes, holdings
from conformance.suites.directory.stories import marked, play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("story", marked(codes.STORIES, lambda name: (codes.demand(name),)))
def test_a_call_fails_with_its_code(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    objects = ("objects.create", "objects.invoke")
    play(story, mq, judge, mq_need, *(objects if "machine" in story else ("queues.create", "queues.delete")))


@pytest.mark.parametrize("story", marked(holdings.TOLD, lambda name: holdings.TOLD[name].claims))
def test_what_a_manager_has(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, *holdings.TOLD[story].needs)
