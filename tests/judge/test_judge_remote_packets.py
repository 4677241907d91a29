"""Rules for packets as MS-MQRR hands them over: each is broken by its mutation, and holds where it applies."""

import pytest

from conformance.judge.packets.judge import REMOTE_RULES, Result, find, judge_packet
from conformance.judge.packets.rules_appended import HTTP
from conformance.judge.packets.rules_base import AES256, M
from conformance.judge.rules import Rule
from conformance.verdict import Outcome
from conformance.wire import dissect, encode


def judged(data: bytes, readings: str, transport: str = "remote") -> dict[str, str]:
    verdicts = judge_packet(data, profile="msmq-4.0", readings=readings, transport=transport, level="may")
    return {one.requirement: one.outcome.value for one in verdicts if one.outcome is not Outcome.PASS}


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.id) for rule in REMOTE_RULES])
def test_the_mutation_breaks_the_rule_and_what_it_declares(rule: Rule) -> None:
    readings = "strict" if rule.reading else "windows"
    valid, broken = dissect(rule.breaks.valid()), dissect(rule.breaks.broken())
    assert find(rule, valid, readings=readings, transport="remote").result is Result.HOLDS
    assert judged(valid.data, readings) == {}
    assert find(rule, broken, readings=readings, transport="remote").result is Result.BROKEN
    failed = {name for name, outcome in judged(broken.data, readings).items() if outcome == "fail"}
    assert failed == {rule.requirement, *rule.breaks.also_breaks}


def test_the_same_packet_on_the_wire_is_judged_by_the_wire() -> None:
    data = encode("UserMessage", HTTP)
    assert judged(data, "windows") == {}
    assert judged(data, "windows", "buffer") == {"MQMQ-2.2.19.2.http-flag": "fail"}


def test_a_reading_names_the_unit_that_was_followed() -> None:
    rule = next(rule for rule in REMOTE_RULES if rule.reading == "R-MQRR-srmp-data-length")
    verdicts = judge_packet(rule.breaks.broken(), profile="msmq-4.0", transport="remote")
    followed = {reading for verdict in verdicts for reading in verdict.readings}
    assert ("R-MQRR-srmp-data-length", "bytes") in followed


def test_a_message_to_a_direct_name_holds_its_senders_address() -> None:
    address = "00010004-0000-0000-0a00-000100000000"  # length 4, type 1, scope 0, 10.0.0.1
    name = "TCP:10.0.0.1\\q"
    data = encode(
        "UserMessage",
        {
            "UserHeader.SourceQueueManager": "11ea26c6-b6e6-4997-9595-9150557358d1",
            "UserHeader.DestinationQueue.DirectFormatName": name,
            "UserHeader.QueueManagerAddress": address,
        },
    )
    assert judged(data, "windows") == {}
    assert judged(data, "windows", "buffer") == {"MQMQ-2.2.19.2.address-direct": "fail"}


def test_aes_at_a_lower_privacy_level_is_a_reading() -> None:
    data = encode("UserMessage", {f"{M}PrivacyLevel": 1, f"{M}EncryptionAlgorithm": AES256})
    rule = "MQMQ-2.2.19.3.encryption-by-privacy"
    assert judged(data, "strict", "buffer")[rule] == "fail"
    assert judged(data, "windows", "buffer")[rule] == "reading"
