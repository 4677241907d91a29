"""Stories of the directory. Each is told by its name alone; `STORIES` has them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import pytest

from conformance.suites.directory import (
    attributes,
    client_objects,
    codes,
    crossings,
    elements,
    event_results,
    events,
    filters,
    flawed,
    holdings,
    initialization,
    lasting,
    limits,
    properties,
    public_queues,
    queues,
    updates,
)
from conformance.suites.directory.scene import Scene
from conformance.suites.story_table import StoryTable, on

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

KIND: Final = "story"
NEEDS: Final = ("directory.use", "directory.own")
STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **initialization.STORIES,
        **attributes.STORIES,
        **events.STORIES,
        **elements.STORIES,
        **event_results.STORIES,
        **filters.STORIES,
        **queues.STORIES,
        **properties.STORIES,
        **crossings.STORIES,
        **limits.STORIES,
        **public_queues.STORIES,
        **lasting.STORIES,
        **updates.STORIES,
        **flawed.STORIES,
        **client_objects.STORIES,
        **codes.STORIES,
        **holdings.STORIES,
    }
)
TABLE: Final = StoryTable("directory", KIND, on(Scene, STORIES))


def play(name: str, mq: Port, judge: Recorder, mq_need: Any, *needs: str) -> None:
    """Tell a story on a fresh manager. needs: further methods without which it makes no sense."""
    TABLE.play(name, mq, judge, mq_need, *NEEDS, *needs)


def marked(stories: Iterable[str], claims: Callable[[str], tuple[str, ...]]) -> list[Any]:
    """Return stories as parameters of a test, with the requirements that each claims."""
    return [pytest.param(name, marks=pytest.mark.requirement(*claims(name)), id=name) for name in stories]
