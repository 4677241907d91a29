"""Packets that look wrong and that an implementer can defend by the text: nothing accuses them."""

import pytest

from conformance.judge.packets.judge import judge_packet
from conformance.judge.packets.rules_base import WITH_SESSION, S
from conformance.judge.packets.rules_lists import SOAP
from conformance.judge.packets.rules_signatures import ENHANCED, RC4, encrypted, provided
from conformance.judge.packets.signing import UNSIGNED, Signing, sign
from conformance.judge.rules import PLAIN, Value
from conformance.verdict import Outcome
from conformance.wire import dissect, encode, rebuild

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
