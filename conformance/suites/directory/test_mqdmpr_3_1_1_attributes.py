"""Attributes of directory objects: MS-MQDMPR 3.1.1, 3.1.1.1, 3.1.1.6 to 3.1.1.9, 3.1.1.15."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.directory.attributes import STORIES, claims
from conformance.suites.directory.stories import marked, play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("story", marked(STORIES, claims))
def test_an_object_has_its_attributes(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "directory.create", "directory.read")
