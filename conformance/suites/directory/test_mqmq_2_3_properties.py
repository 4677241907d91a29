"""Properties of directory objects by their numbers: MS-MQMQ 2.3.1 to 2.3.10."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.directory import crossings, limits
from conformance.suites.directory.properties import STORIES, claims, rows
from conformance.suites.directory.stories import marked, play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


def _claims(name: str) -> tuple[str, ...]:
    kind = name.removeprefix("all-")
    found = [each for each, row in rows().items() if row.kind == kind] if kind != name else []
    return tuple(next(claims(each)) for each in found) or tuple(claims(f"PROPID_{name.partition('-')[0]}"))


@pytest.mark.parametrize("story", marked(STORIES, _claims))
def test_a_property_of_an_object(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "directory.get", "directory.set")


@pytest.mark.parametrize("story", marked(limits.STORIES, limits.claims_of))
def test_what_a_property_takes(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "directory.get", "directory.set")


@pytest.mark.parametrize("story", marked(crossings.STORIES, crossings.claims_of))
def test_attributes_of_an_object_together(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "directory.get")
