"""Each packet rule holds for valid packets and breaks with its mutation."""

from __future__ import annotations

import base64
import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from nightly import SEED, amount, fewer
from printed_frames import CONNECTION_PARAMETERS, PING_REQUEST, SESSION_ACK, USER_MESSAGE
from valid_packets import valid_packets

from conformance.adapter.connectors import connect
from conformance.judge.packets.field_compare import compare_fields
from conformance.judge.packets.judge import RULES, Result, find, judge_dissected, judge_packet
from conformance.judge.packets.rules_base import WITH_SESSION, S
from conformance.judge.packets.rules_lists import SOAP
from conformance.judge.packets.rules_signatures import ENHANCED, RC4, encrypted, provided
from conformance.judge.packets.signatures import UNSIGNED, Signing, sign
from conformance.judge.packets.user_messages import compare_encoded
from conformance.judge.rules import PLAIN, Rule, Value
from conformance.runlog.events import stored_verdict
from conformance.spec.catalogue import catalogue
from conformance.suites.packets.messages import messages_in_a_session, packet_of, user_messages
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect, encode, patch, rebuild

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
        assert stored_verdict(json.loads(json.dumps(verdict.to_json()))).requirement == verdict.requirement


@given(user_messages() | messages_in_a_session())
@settings(max_examples=fewer(60), deadline=None, database=None)
def test_no_rule_fires_on_packets_of_our_own_layers(message: dict[str, Any]) -> None:
    for readings in ("windows", "strict"):
        verdicts = judged(packet_of(message), readings, level="may")

        assert not_passing(verdicts) == {}


CERT = "SecurityHeader.SecurityData.SenderCert"
PERMITTED: dict[str, dict[str, Value]] = {
    "a provider as MS-MQDMPR 3.1.1.12 spells it": provided(f"{ENHANCED}, v1.0"),
    "a provider as MS-MQQB 3.1.7.1.5 spells it": provided(f"{ENHANCED} v1.0"),
    "the 65536th recoverable message is acknowledged": {**WITH_SESSION, S + "RecoverableMsgAckFlags": 1},
    "a paused queue": {**WITH_SESSION, S + "WindowSize": 1},
    "more room than the encrypted body takes": {
        **encrypted(RC4, 1), "MessagePropertiesHeader.AllocationBodySize": 64,
    },
}  # fmt: skip


def accused(data: bytes) -> set[str]:
    verdicts = judge_packet(data, profile="msmq-4.0", transport="buffer", level="may")
    return {one.requirement for one in verdicts if one.outcome in (Outcome.FAIL, Outcome.WARN)}


@pytest.mark.parametrize("case", PERMITTED)
def test_what_is_permitted_is_not_accused(case: str) -> None:
    assert not accused(encode("UserMessage", {**PLAIN, **PERMITTED[case]}))


def test_a_signature_without_a_certificate_is_a_reading() -> None:
    data = sign(encode("UserMessage", {**PLAIN, **UNSIGNED, CERT: b""}), Signing())
    assert not accused(data)
    strict = judge_packet(data, profile="msmq-4.0", transport="buffer", readings="strict")
    assert "MQDMPR-3.1.1.12.sender-certificate" in {one.requirement for one in strict if one.outcome is Outcome.FAIL}


@pytest.mark.parametrize(("name", "word"), [("Header", "header"), ("Body", "body")])
def test_a_nul_inside_a_soap_text_is_accused(name: str, word: str) -> None:
    data = encode("UserMessage", {**PLAIN, **SOAP, f"SoapHeader.{name}": "te\0xt"})
    assert accused(data) == {f"MQMQ-2.2.20.7.{word}-terminated"}


@pytest.mark.parametrize("readings", ["windows", "strict", "permissive"])
@pytest.mark.parametrize("session", [0, 1])
@pytest.mark.parametrize(("header", "body"), [("ab", "yyy"), ("", "y"), ("abcd", "yyyyy"), ("abc", "yy"), ("ab", "yy")])
def test_texts_without_padding_are_no_deviation_whether_the_header_has_one_at_its_end_or_not(
    header: str, body: str, session: int, readings: str
) -> None:
    texts = {"SoapHeader.Header": header, "SoapHeader.Body": body, "BaseHeader.Flags.SH": session}
    packed = {**PLAIN, **SOAP, **texts, "SoapHeader.HeaderPadding": b""}
    for end in ({}, {"SoapHeader.BodyPadding": b""}):
        data = encode("UserMessage", {**packed, **end})
        assert not [
            one.requirement
            for one in judge_packet(data, profile="msmq-4.0", readings=readings)
            if one.outcome is Outcome.FAIL and "packet-size-session" not in one.requirement
        ]
        assert rebuild(dissect(data)) == data


PACKETS = amount("judge.packets-of-the-embedded-codec")
MANY = settings(
    max_examples=PACKETS,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_no_rule_fires_on_packets_of_the_embedded_codec(tmp_path: Path) -> None:
    seen: set[str] = set()
    packets: set[bytes] = set()
    with connect("embedded", state_dir=tmp_path, in_process=True) as client:

        @MANY
        @given(user_messages() | messages_in_a_session())
        def run(message: dict[str, Any]) -> None:
            result = client.call("packets.encode", message=message)
            assert result.ok, result
            data = base64.b64decode(result.values["packet"])
            packet = dissect(data, transport="buffer")
            for readings in ("windows", "permissive"):
                verdicts = judge_dissected(
                    packet, profile="msmq-4.0", readings=readings, transport="buffer", level="may"
                )
                assert [one for one in verdicts if one.outcome not in (Outcome.PASS, Outcome.READING)] == []
            compared = [
                *compare_encoded(message, packet),
                *compare_fields(message, dissect(packet_of(message)), packet),
            ]
            assert [one for one in compared if one.outcome is not Outcome.PASS] == []
            seen.update(one.requirement for one in (*verdicts, *compared))
            packets.add(data)

        run()
    assert len(packets) >= PACKETS * 3 // 4
    assert len(seen) > 250


VECTORS = sorted((Path(__file__).parents[2] / "fixtures" / "vectors").glob("*.json"))


def expected_of(vector: Path) -> dict[str, Any]:
    return tomllib.loads(vector.with_name(f"{vector.stem}.expect.toml").read_text(encoding="utf-8"))


def bytes_of(vector: Path) -> bytes:
    return bytes.fromhex(json.loads(vector.read_text(encoding="utf-8"))["hex"])


def test_every_vector_has_its_expectation_and_the_other_way_round() -> None:
    assert len(VECTORS) >= 13
    folder = VECTORS[0].parent
    assert {path.name for path in folder.glob("*.toml")} == {f"{path.stem}.expect.toml" for path in VECTORS}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda path: path.stem)
def test_verdicts_are_the_expected_ones(vector: Path) -> None:
    expected, data = expected_of(vector), bytes_of(vector)
    transport = expected["transport"]
    verdicts = judge_packet(data, profile="msmq-4.0", readings="windows", transport=transport)
    others = [(one.requirement, one.outcome.value) for one in verdicts if one.outcome is not Outcome.PASS]
    passes = Counter(one.requirement for one in verdicts if one.outcome is Outcome.PASS)
    assert sorted(others) == sorted((one["requirement"], one["outcome"]) for one in expected.get("verdict", []))
    assert dict(passes) == expected.get("passes", {})
    assert dissect(data, transport=transport).kind == expected["kind"]
    assert all(one["why"] for one in expected.get("verdict", []))


SECTIONS = ("TransactionHeader", "SecurityHeader", "DebugHeader", "SoapHeader", "MultiQueueFormatHeader")


def test_valid_messages_are_accused_of_nothing() -> None:
    for data in valid_packets(amount("packets.valid"), int(SEED)):
        verdicts = judge_packet(data, profile="msmq-6.0", transport="buffer", level="may")
        accused = {one.requirement for one in verdicts if one.outcome in (Outcome.FAIL, Outcome.WARN)}
        assert not accused, data.hex()


def test_the_messages_have_everything_that_one_may_have() -> None:
    seen: Counter[str] = Counter()
    for data in valid_packets(200):
        packet = dissect(data)
        assert packet.whole
        seen.update(name for name in (*SECTIONS, "SessionHeader") if packet.has(name))
        seen.update(f"{flag} {int(packet.fields[f'UserHeader.Flags.{flag}'])}" for flag in ("DQ", "AQ", "RQ"))
        seen["encrypted"] += packet.fields.get("SecurityHeader.Flags.EB") == 1
        seen["signed"] += bool(packet.fields.get("SecurityHeader.SignatureSize"))
        seen["signed list"] += bool(packet.fields.get("MultiQueueFormatHeader.Signature.Size"))
    kinds = [
        f"{flag} {number}"
        for flag, numbers in (("DQ", "357"), ("AQ", "023567"), ("RQ", "0123567"))
        for number in numbers
    ]
    assert not [
        word for word in (*SECTIONS, "SessionHeader", *kinds, "encrypted", "signed", "signed list") if not seen[word]
    ]
