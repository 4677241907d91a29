"""Rights of a queue, one by one and all but one, and entries that add up or exclude: MS-MQMQ 2.2.24."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.model.rights import QUEUE_RIGHTS
from conformance.suites.security.scene import QUEUE_ACTS, QUEUE_OF, rights_judged
from conformance.suites.security.stories import STORIES, marked, play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

_CROSSED = [name for name in STORIES if name.startswith("crossed-queue")]
_PAIRS = [name for name in STORIES if name.startswith("pairs-")]
_LISTS = [name for name in STORIES if name.startswith("list-")]
_PEEK, _WRITE, _DELETE = (f"{QUEUE_OF}{word}" for word in ("peek-message", "write-message", "delete-message"))


@pytest.mark.requirement("MQMQ-2.2.24.declaration")
@pytest.mark.parametrize("story", [marked(f"queue-{word}", f"{QUEUE_OF}{word}") for word in QUEUE_RIGHTS])
def test_a_user_has_one_right(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)


@pytest.mark.requirement("MQMQ-2.2.24.declaration")
@pytest.mark.parametrize("story", [marked(f"queue-but-{word}", f"{QUEUE_OF}{word}") for word in QUEUE_RIGHTS])
def test_a_user_has_all_rights_but_one(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)


@pytest.mark.requirement(_PEEK, _WRITE, f"{QUEUE_OF}receive-message")
@pytest.mark.parametrize("story", _PAIRS)
def test_the_order_of_two_entries_decides(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, "security.set", "queues.create", "queues.open")


@pytest.mark.requirement(_PEEK, _WRITE, f"{QUEUE_OF}get-queue-permissions")
@pytest.mark.parametrize("story", [*_LISTS, "owner", "owner-denied"])
def test_a_list_says_nothing_of_the_user(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)


@pytest.mark.requirement("MQDMPR-3.1.1.2.security")
def test_each_queue_has_its_own_descriptor(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("two-queues", mq, judge, mq_need)


@pytest.mark.requirement("MQDMPR-3.1.1.2.security-access-mask")
def test_masks_of_a_queue_are_made_of_its_rights(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("masks", mq, judge, mq_need)


@pytest.mark.requirement(_PEEK, _WRITE)
def test_a_right_is_taken_away_while_the_queue_is_open(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("right-taken-away", mq, judge, mq_need, "security.set", "messages.send", "messages.peek")


@pytest.mark.requirement(*rights_judged(QUEUE_OF, QUEUE_ACTS), "MQMP-3.1.4.6.updates")
@pytest.mark.parametrize("story", _CROSSED)
def test_rights_owner_name_and_setting_are_crossed(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need)


@pytest.mark.requirement("MQMP-3.1.4.5.queue-exists", "MQMP-3.1.4.5.existing-queue-unaltered")
def test_a_queue_that_exists_keeps_its_descriptor(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("existing", mq, judge, mq_need)
