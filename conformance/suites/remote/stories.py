"""The stories of the suite by name, as tests and repro files tell them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.suites.remote import managing, reading
from conformance.suites.remote.calls import Calls, ManagementCalls, QueueAccessCalls, RemoteReadCalls
from conformance.suites.remote.playing import NEEDS, Player
from conformance.suites.remote.steps import Story, demands
from conformance.suites.story_table import StoryTable

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

CALLS: Final[Mapping[str, Calls]] = {
    each.uses: each
    for each in (
        RemoteReadCalls(),
        RemoteReadCalls(bytes(16)),
        QueueAccessCalls(),
        QueueAccessCalls(second=True),
        ManagementCalls(),
    )
}
BY_NAME: Final[Mapping[str, tuple[Calls, Story]]] = {
    f"{uses}-{each.name}": (CALLS[uses], each) for each in (*managing.STORIES, *reading.STORIES) for uses in each.uses
}


def _tell(name: str, mq: Port, judge: Recorder) -> None:
    calls, story = BY_NAME[name]
    Player(mq, judge, calls, story).play()


TABLE: Final = StoryTable("remote", "remote", {name: partial(_tell, name) for name in BY_NAME}, NEEDS)


def claimed(name: str) -> list[str]:
    """Return the requirements that a story judges."""
    calls, story = BY_NAME[name]
    return list(dict.fromkeys(each for step in story.steps for each in demands(step, calls)))


def parameters(uses: str) -> list[Any]:
    """Return the stories of one client, with their claims."""
    return [
        pytest.param(name, id=story.name, marks=pytest.mark.requirement(*claimed(name)))
        for name, (calls, story) in BY_NAME.items()
        if calls.uses == uses
    ]
