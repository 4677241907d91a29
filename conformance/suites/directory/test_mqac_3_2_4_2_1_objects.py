"""Client objects over the directory: MC-MQAC 3.2.4.1.1, 3.2.4.2.1, 3.2.4.2.2, 3.10.4.1.26, 3.10.4.1.29, 3.10.4.1.30."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.directory.client_objects import STORIES, claims_of
from conformance.suites.directory.stories import marked, play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder


@pytest.mark.parametrize("story", marked(STORIES, claims_of))
def test_an_object_uses_the_directory(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "objects.create", "objects.invoke")
