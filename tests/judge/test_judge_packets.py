"""Packet rules: each is broken by its mutation, and by nothing that is right."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import fewer
from printed_frames import CONNECTION_PARAMETERS, PING_REQUEST, SESSION_ACK, USER_MESSAGE

from conformance.judge.packets.judge import RULES, Result, find, judge_packet
from conformance.judge.rules import Rule
from conformance.spec.catalogue import catalogue
from conformance.suites.packets.messages import messages_in_a_session, packet_of, user_messages
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect, encode, patch

ALL = [pytest.param(rule, id=rule.id) for rule in RULES]


def judged(data: bytes, readings: str = "windows", transport: str = "buffer", **options: Any) -> list[Verdict]:
    return judge_packet(data, profile="msmq-4.0", transport=transport, readings=readings, **options)


def failing(verdicts: list[Verdict]) -> set[str]:
    return {verdict.requirement for verdict in verdicts if verdict.outcome is Outcome.FAIL}


def not_passing(verdicts: list[Verdict]) -> dict[str, str]:
    return {v.requirement: v.outcome.value for v in verdicts if v.outcome is not Outcome.PASS}


@pytest.mark.parametrize("rule", ALL)
def test_the_mutation_breaks_the_rule_and_what_it_declares(rule: Rule) -> None:
    # A rule that a reading decides is broken for certain under the strict set.
    readings = "strict" if rule.reading else "windows"
    valid, broken = dissect(rule.breaks.valid()), dissect(rule.breaks.broken())
    assert find(rule, valid, readings=readings, transport="buffer").result is Result.HOLDS
    assert not_passing(judged(valid.data, readings, level="may")) == {}
    assert find(rule, broken, readings=readings, transport="buffer").result is Result.BROKEN
    failed = failing(judged(broken.data, readings, level="may"))
    assert failed == {rule.requirement, *rule.breaks.also_breaks}
    assert len(rule.breaks.also_breaks) <= 2
    assert set(rule.breaks.also_breaks) <= set(catalogue().requirements)


def test_at_least_sixty_requirements_are_judged() -> None:
    assert len({rule.requirement for rule in RULES}) >= 60
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_each_packet_requirement_of_a_sender_has_a_rule() -> None:
    sections = ("MQMQ-2.2.18.1.", "MQMQ-2.2.19.", "MQMQ-2.2.20.")
    wanted = {
        entry.id
        for entry in catalogue()
        if entry.id.startswith(sections) and entry.checked == "packet" and entry.role == "sender"
    }
    assert wanted - {rule.requirement for rule in RULES} == set()


@pytest.mark.parametrize("data", [CONNECTION_PARAMETERS, SESSION_ACK])
def test_session_packets_of_the_documents_break_nothing(data: bytes) -> None:
    verdicts = judged(data, transport="tcp")
    assert not_passing(verdicts) == {}
    assert "MQMQ-2.2.19.1.packet-size" in {verdict.requirement for verdict in verdicts}


def test_user_message_of_the_documents_follows_two_readings() -> None:
    verdicts = judged(USER_MESSAGE, transport="tcp")
    assert not_passing(verdicts) == {
        "MQMQ-2.2.19.2.admin-queue-required": "reading",
        "MQMQ-2.2.19.3.body-type": "reading",
    }
    followed = {reading for verdict in verdicts for reading in verdict.readings}
    assert ("R-MQMQ-body-type", "any") in followed
    assert ("R-MQMQ-administration-queue", "free") in followed


def test_user_message_of_the_documents_under_the_strict_readings() -> None:
    assert failing(judged(USER_MESSAGE, "strict", "tcp")) == {
        "MQMQ-2.2.19.2.admin-queue-required",
        "MQMQ-2.2.19.3.body-type",
        "MQMQ-2.2.20.6.security-data",
    }
    assert failing(judged(SESSION_ACK, "strict", "tcp")) == {"MQMQ-2.2.19.1.packet-size-session-header"}


def test_a_packet_cut_by_its_recorder_is_no_deviation() -> None:
    verdicts = judged(USER_MESSAGE[:1650], transport="tcp")
    assert failing(verdicts) == set()
    assert not_passing(verdicts)["MQMQ-2.2.19.1.packet-size"] == "inconclusive"
    reasons = {verdict.reason for verdict in verdicts if verdict.outcome is Outcome.INCONCLUSIVE}
    assert reasons == {"PacketSize is 2224, there are 1650 bytes"}


def test_the_same_packet_from_an_encoder_is_one() -> None:
    assert "MQMQ-2.2.19.1.packet-size" in failing(judged(USER_MESSAGE[:1650]))


def test_a_ping_has_no_packet_rules() -> None:
    assert judged(PING_REQUEST, transport="udp") == []


def test_weaker_demands_warn() -> None:
    data = patch(dissect(encode("SessionAck")), {"BaseHeader.Flags.X3": 1})
    assert not_passing(judged(data)) == {"MQMQ-2.2.19.1.flags-x3": "warn"}
    assert not_passing(judged(data, level="should")) == {"MQMQ-2.2.19.1.flags-x3": "fail"}


def test_a_verdict_says_what_was_wanted_and_found() -> None:
    data = patch(dissect(encode("SessionAck")), {"SessionHeader.WindowSize": 0})
    verdict = next(v for v in judged(data) if v.outcome is Outcome.FAIL)
    assert verdict.expected == {"holds": "SessionHeader.WindowSize ≥ 1"}
    assert verdict.actual == {"SessionHeader.WindowSize": 0}
    assert verdict.subject == "SessionAck"


def test_an_unknown_transport_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="Unknown transport 'spx'"):
        judged(SESSION_ACK, transport="spx")


@given(st.data(), st.sampled_from([rule.breaks.valid() for rule in RULES]), st.sampled_from(["tcp", "buffer"]))
@settings(max_examples=fewer(200), deadline=None, database=None)
def test_any_bytes_are_judged(data: st.DataObject, packet: bytes, transport: str) -> None:
    mutated = bytearray(packet[: data.draw(st.integers(0, len(packet)))])
    for _ in range(data.draw(st.integers(0, 4)) if mutated else 0):
        mutated[data.draw(st.integers(0, min(len(mutated) - 1, 300)))] = data.draw(st.integers(0, 255))
    for verdict in judged(bytes(mutated), transport=transport):
        assert Verdict.from_json(json.loads(json.dumps(verdict.to_json()))).requirement == verdict.requirement


@given(user_messages() | messages_in_a_session())
@settings(max_examples=fewer(60), deadline=None, database=None)
def test_no_rule_fires_on_packets_of_our_own_layers(message: dict[str, Any]) -> None:
    for readings in ("windows", "strict"):
        verdicts = judged(packet_of(message), readings, level="may")

        assert not_passing(verdicts) == {}
