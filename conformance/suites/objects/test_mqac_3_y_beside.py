"""MC-MQAC 2.2.2, 2.2.4.1, 3.2.4.2.1, 3.17.4.1.48, 3.17.4.1.68: what objects and plain facets show of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.suites.objects.beside import NEEDS, STORIES, tell
from conformance.suites.objects.playing import Need, NotCreated
from conformance.suites.objects.senders import EVERY_STORY

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

BESIDE = [
    pytest.param(name, id=name, marks=pytest.mark.requirement(*demands)) for name, (_, demands) in EVERY_STORY.items()
]


@pytest.mark.parametrize("story", BESIDE)
def test_both_sides_mean_the_same(story: str, mq: Port, judge: Recorder, mq_need: Need) -> None:
    """The plain facets show what an object sends, signs, opens, registers or is told of, and the other way round."""
    mq_need(*NEEDS, *(() if story in STORIES else ("security.certificates",)))
    if mq.offers("reset"):
        mq.call("reset")
    try:
        tell(story, EVERY_STORY, mq, judge)
    except NotCreated as lacking:
        pytest.skip(str(lacking))
