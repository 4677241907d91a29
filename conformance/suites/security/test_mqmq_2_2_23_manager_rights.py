"""Rights of the queue manager, one by one and all but one: MS-MQMQ 2.2.23."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.model.rights import MACHINE_RIGHTS
from conformance.suites.security.scene import MACHINE_ACTS, MACHINE_OF, rights_judged
from conformance.suites.security.stories import STORIES, marked, play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

_MASK = "MQDMPR-3.1.1.1.security-access-mask"


def _marked(begin: str) -> list[Any]:
    """Return the stories of all rights but the one that no call of a client needs."""
    words = [word for word in MACHINE_RIGHTS if word != "delete-machine"]
    return [marked(f"{begin}{word}", f"{MACHINE_OF}{word}") for word in words]


@pytest.mark.requirement("MQMQ-2.2.23.declaration", _MASK)
@pytest.mark.parametrize("story", _marked("manager-"))
def test_a_user_has_one_right_of_the_manager(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)


@pytest.mark.requirement("MQMQ-2.2.23.declaration", _MASK)
@pytest.mark.parametrize("story", _marked("manager-but-"))
def test_a_user_has_all_rights_of_the_manager_but_one(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)


@pytest.mark.requirement(*rights_judged(MACHINE_OF, MACHINE_ACTS))
@pytest.mark.parametrize("story", [name for name in STORIES if name.startswith("crossed-manager")])
def test_rights_and_owner_are_crossed(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)
