"""Hints name the public malformation that a packet looks like, and stay silent about valid packets."""

from __future__ import annotations

import pytest

from conformance.files import resource
from conformance.judge.hints import condition, hints, known_hints
from conformance.judge.packets.judge import RULES, judge_packet
from conformance.judge.rules import PLAIN, keys_in
from conformance.report.wireshark import declared
from conformance.verdict import Outcome, Verdict
from conformance.wire import Packet, dissect, encode, patch

PROFILE = "msmq-4.0"
HTTP = {**PLAIN, "SRMPEnvelopeHeader.Data": "<e/>", "CompoundMessageHeader.Data": b"POST"}


def found(data: bytes, *, complete: bool = True) -> tuple[str, ...]:
    """The hints on one packet."""
    transport = "buffer" if complete else "tcp"
    verdicts = judge_packet(data, profile=PROFILE, transport=transport)
    return hints(dissect(data, transport=transport), verdicts, complete=complete)


def altered(data: bytes, **values: int) -> bytes:
    """A packet with fields overwritten, named with `__` for the dot."""
    return patch(dissect(data), {key.replace("__", "."): value for key, value in values.items()})


@pytest.mark.parametrize("length", [1 << 31, (1 << 32) - 1, 100])
def test_a_data_length_beyond_the_packet_is_named(length: int) -> None:
    data = altered(encode("UserMessage", HTTP), SRMPEnvelopeHeader__DataLength=length)
    assert found(data) == ("srmp-data-length",)


@pytest.mark.parametrize(("length", "named"), [(1 << 31, True), (100, False)])
def test_a_record_that_was_cut_shows_lengths_alone_that_no_packet_has(length: int, named: bool) -> None:
    data = altered(encode("UserMessage", HTTP), SRMPEnvelopeHeader__DataLength=length)
    assert found(data[:-8], complete=False) == (("srmp-data-length",) if named else ())


def test_lengths_of_other_headers_have_the_general_name() -> None:
    data = altered(encode("UserMessage", PLAIN), MessagePropertiesHeader__MessageSize=1 << 30)
    assert found(data) == ("length-beyond-packet",)
    data = altered(encode("UserMessage", HTTP), CompoundMessageHeader__HTTPBodySize=1 << 30)
    assert found(data) == ("length-beyond-packet",)


def test_an_acknowledgment_of_an_unknown_sequence_is_named_by_its_verdict() -> None:
    verdict = Verdict("MQQB-2.2.4.1.sequence", Outcome.FAIL, "an OrderAck")
    packet = dissect(encode("OrderAck"))
    assert hints(packet, [verdict], complete=True) == ("unknown-sequence",)
    assert hints(packet, [], complete=True) == ()


def test_the_identifiers_of_the_documents_example_are_those_of_scanners() -> None:
    import json

    vectors = resource("fixtures/vectors")
    named = {}
    for path in sorted(vectors.glob("mqqb_*.json")):
        data = bytes.fromhex(json.loads(path.read_text(encoding="utf-8"))["hex"])
        packet = dissect(data, transport="udp" if "ping" in path.name else "tcp")
        named[path.stem] = hints(packet, [], complete=False)
    assert {name for name, each in named.items() if each} == {"mqqb_frame3_establish_request"}


def test_no_valid_packet_has_a_hint() -> None:
    for rule in RULES:
        data = rule.breaks.valid()
        assert found(data) == (), rule.id


def test_a_hint_is_data_that_can_be_read_and_traced() -> None:
    for name, hint in known_hints().items():
        assert hint.id == name and hint.names and hint.sources and hint.says.endswith(".")
        assert hint.when is not None or hint.verdicts
        assert hint.unless <= set(list(known_hints())[: list(known_hints()).index(name)])
        if hint.when is not None:
            assert set(keys_in(hint.when)) <= declared(), name


@pytest.mark.parametrize("text", ["", "a = 1", "Packet.Kind", "Packet.Kind = UserMessage", "Packet.Length > -1"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no condition"):
        condition(text)


def test_a_packet_that_cannot_be_decoded_at_all_has_no_hint() -> None:
    packet: Packet = dissect(b"\x10" * 40, transport="buffer")
    assert hints(packet, [], complete=True) == ()
