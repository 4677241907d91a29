"""How messages are signed and encrypted: MS-MQQB 3.1.7.1.4, 3.1.7.1.5, MS-MQMQ 2.5, 2.4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.security import sends
from conformance.suites.security.arrivals import SENDER_ID
from conformance.suites.security.stories import marked, play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

NEEDS = ("security.certificates", "outgoing.take", "messages.send", "queues.open", "directory")

_MEMBERS = ("MQDMPR-3.1.1.12.label-unchanged", "MQDMPR-3.1.1.12.extension-unchanged")


def _named(words: str) -> list[str]:
    return [name for name in sends.STORIES if name.startswith(words)]


@pytest.mark.requirement(*sends.SIGNED_IDS, sends.STRONGEST, SENDER_ID)
@pytest.mark.parametrize("story", _named("sends-signed-"))
def test_signature_destination_sender_and_hash_are_crossed(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, *NEEDS)


@pytest.mark.requirement(*sends.SIGNED_IDS, *sends.ENCRYPTED_IDS, SENDER_ID, *_MEMBERS)
@pytest.mark.parametrize("story", _named("sends-varied-"))
def test_members_sizes_and_a_kill_change_no_signature(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, *NEEDS)


@pytest.mark.requirement(*sends.ENCRYPTED_IDS, sends.FAILED, sends.KEYLESS)
@pytest.mark.parametrize("story", _named("sends-encrypted-"))
def test_keys_level_signature_and_destination_are_crossed(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, *NEEDS)


@pytest.mark.parametrize("story", [marked(f"refused-{code.partition('error-')[2]}", code) for code in sends.SENT_CODES])
def test_a_message_that_cannot_be_signed_is_refused(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, *NEEDS)


@pytest.mark.requirement(SENDER_ID)
def test_who_sends_is_the_sender(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("sends-here", mq, judge, mq_need, "security.certificates", "messages.send", "messages.receive", "security.set")


@pytest.mark.requirement(sends.UNSIGNED, "MQDMPR-3.1.1.2.authentication")
def test_a_queue_of_this_computer_wants_signatures(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("refused-unsigned", mq, judge, mq_need, "security.certificates", "messages.send", "messages.receive")
