"""Packets arrive signed, encrypted or with a sender: MS-MQQB 3.1.5.8.3, MS-MQDMPR 3.1.7.1.31."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from conformance.suites.security import arrivals
from conformance.suites.security.sends import READ_CODES
from conformance.suites.security.stories import marked, play

if TYPE_CHECKING:
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

NEEDS = ("security.certificates", "packets.deliver", "directory", "security.set", "messages.receive")
_ACCESS = (arrivals.ACCESS, *arrivals.CLASS_IDS[arrivals.ACCESS_DENIED])
_REFUSED = tuple(f"MQQB-3.1.5.8.3.{word}" for word in ("bad-signature", "sender", "bad-encryption"))
_SIGNED = (arrivals.SIGNATURE, arrivals.SENDER_ID, *arrivals.AUTHENTICATED)


def _named(words: str) -> list[str]:
    return [name for name in arrivals.STORIES if name.startswith(f"arrives-{words}")]


@pytest.mark.requirement(*_SIGNED, *_ACCESS, _REFUSED[1])
@pytest.mark.parametrize("story", _named("signed-"))
def test_signature_sender_right_and_queue_are_crossed(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, *NEEDS)


@pytest.mark.requirement(*_SIGNED, *_REFUSED, arrivals.DECRYPTED, arrivals.RECEIVED)
@pytest.mark.parametrize("story", [*_named("varied-"), "arrives-grouped", "arrives-keyed", "arrives-outliving"])
def test_what_the_checks_do_not_look_at_changes_nothing(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, *NEEDS)


@pytest.mark.requirement(_REFUSED[0], *_SIGNED)
@pytest.mark.parametrize("story", _named("spoilt-"))
def test_each_field_of_a_signed_packet_is_changed(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, *NEEDS)


@pytest.mark.requirement(arrivals.SIGNATURE)
def test_each_hash_is_taken(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("arrives-hashed", mq, judge, mq_need, *NEEDS)


@pytest.mark.requirement(arrivals.DECRYPTED, *_ACCESS, "MQDMPR-3.1.1.2.privacy-level-none", arrivals.SENDER_ID)
@pytest.mark.parametrize("story", _named("encrypted-"))
def test_cipher_queue_right_and_sender_are_crossed(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, *NEEDS)


@pytest.mark.requirement("MQDMPR-3.1.1.2.authentication", "MQDMPR-3.1.1.2.privacy-level-body")
def test_packets_in_the_clear_come_to_queues_that_want_more(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("arrives-clear", mq, judge, mq_need, *NEEDS)


@pytest.mark.requirement(*_REFUSED[:2], *_ACCESS)
def test_the_first_check_that_refuses_is_told(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("arrives-refused-twice", mq, judge, mq_need, *NEEDS)


@pytest.mark.requirement(*_REFUSED)
def test_the_first_check_that_refuses_an_encrypted_packet_is_told(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("arrives-refused-thrice", mq, judge, mq_need, *NEEDS)


@pytest.mark.requirement(arrivals.INSECURE)
def test_acknowledgments_tell_of_queues_and_rights_or_of_neither(mq: Port, judge: Recorder, mq_need: Any) -> None:
    play("arrives-told", mq, judge, mq_need, *NEEDS)


@pytest.mark.parametrize("story", [marked(f"unread-{code.partition('error-')[2]}", code) for code in READ_CODES])
def test_a_packet_that_cannot_be_read_is_reported(mq: Port, judge: Recorder, mq_need: Any, story: str) -> None:
    play(story, mq, judge, mq_need, *NEEDS)
