"""The annotated hex dump: every byte once, with its field, and the bytes a broken rule speaks of marked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cases import all_of
from hypothesis import given, settings
from hypothesis import strategies as st
from nightly import fewer

from conformance.judge.packets.judge import RULES, judge_dissected
from conformance.judge.rules import PLAIN, Rule
from conformance.report.hexdump import MAX_LINES, NO_FIELD, annotated, segments
from conformance.verdict import Outcome, Verdict
from conformance.wire import Packet, dissect, encode, patch

VECTORS = Path(__file__).parents[2] / "fixtures" / "vectors"
ROW = re.compile(r"^([> ]) ([0-9a-f]{8})  ((?:[0-9a-f]{2} ?)+?) {2,}(.*)$")


def judged(packet: Packet, readings: str = "windows") -> list[Verdict]:
    return judge_dissected(packet, profile="msmq-4.0", transport="buffer", readings=readings)


def bytes_of(lines: list[str]) -> bytes:
    found = [ROW.match(line) for line in lines]
    return b"".join(bytes.fromhex(match[3]) for match in found if match)


def marked(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith(">")]


def test_a_broken_field_is_marked_with_its_value_and_its_requirement() -> None:
    packet = dissect(patch(dissect(encode("UserMessage", PLAIN)), {"UserHeader.Flags.DM": 2}))
    lines = annotated(packet, judged(packet))
    assert marked(lines) == [
        "> 0000003c  40 1c 20 00                                      @. .              UserHeader.Flags DM = 2"
        "  <- MQMQ-2.2.19.2.delivery-mode"
    ]
    assert lines[-2] == "  expected: " + '{"holds": "UserHeader.Flags.DM one of 0, 1"}'
    assert lines[-1] == '  found: {"UserHeader.Flags.DM": 2}'
    assert lines[-3].startswith("fail MQMQ-2.2.19.2.delivery-mode: ")


def test_each_byte_is_there_once_and_in_order() -> None:
    packet = dissect(encode("UserMessage", PLAIN))
    assert bytes_of(annotated(packet, [])) == packet.data
    keys = [key for _, _, key in segments(packet)]
    assert keys[:3] == ["BaseHeader.VersionNumber", "BaseHeader.Reserved", "BaseHeader.Flags"]
    assert "" not in keys


def test_bytes_of_no_field_are_said_to_be_of_none() -> None:
    packet = dissect(encode("SessionAck") + b"behind")
    lines = annotated(packet, [])
    assert lines[-2].endswith(f"behind            {NO_FIELD}")
    assert lines[-1] == "! 00000024  BaseHeader.PacketSize: 6 bytes follow the packet"


def test_bytes_no_header_explains_are_marked() -> None:
    packet = dissect(encode("UserMessage", {**PLAIN, "MessagePropertiesHeader.Padding": bytes(6)}))
    beside = [line.split("  ")[-2] for line in marked(annotated(packet, judged(packet)))]
    assert beside == [f"{NO_FIELD} Packet.Unexplained = 4"]


def test_a_long_body_is_cut_but_counted() -> None:
    packet = dissect(encode("UserMessage", {**PLAIN, "MessagePropertiesHeader.MessageBody": bytes(2000)}))
    lines = annotated(packet, [])
    assert f"  ...       {2000 - 16 * MAX_LINES} more bytes of MessagePropertiesHeader.MessageBody" in lines


def test_a_doubtful_field_is_marked_when_nothing_failed() -> None:
    packet = dissect(patch(dissect(encode("UserMessage", PLAIN)), {"MessagePropertiesHeader.BodyType": 8}))
    lines = annotated(packet, judged(packet))
    assert [line.split("  <- ")[1] for line in marked(lines)] == ["MQMQ-2.2.19.3.body-type"]
    assert any(line.startswith("reading MQMQ-2.2.19.3.body-type: ") for line in lines)


@all_of("rule", [pytest.param(rule, id=rule.id) for rule in RULES])
def test_every_broken_rule_marks_bytes_or_says_what_is_missing(rule: Rule) -> None:
    packet = dissect(rule.breaks.broken())
    verdicts = judged(packet, "strict" if rule.reading else "windows")
    wrong = [verdict for verdict in verdicts if verdict.requirement == rule.requirement]
    lines = annotated(packet, wrong)
    spoken_of = [packet.span(key) for v in wrong if v.outcome is Outcome.FAIL for key in v.actual]
    assert marked(lines) or not any(span and span[1] for span in spoken_of)
    assert any(rule.requirement in line for line in lines)


@pytest.mark.parametrize("path", sorted(VECTORS.glob("mqqb_frame*.json")), ids=lambda path: path.stem)
def test_vectors_are_shown_whole(path: Path) -> None:
    data = bytes.fromhex(re.sub(r"\s", "", json.loads(path.read_text())["hex"]))
    lines = annotated(dissect(data), [])
    hidden = sum(int(line.split()[1]) for line in lines if line.startswith("  ... "))
    assert len(bytes_of(lines)) + hidden == len(data)


@given(st.binary(max_size=200), st.sampled_from([rule.breaks.broken() for rule in RULES]), st.data())
@settings(max_examples=fewer(100), deadline=None, database=None)
def test_any_bytes_can_be_shown(tail: bytes, packet: bytes, data: st.DataObject) -> None:
    mutated = bytearray(packet[: data.draw(st.integers(0, len(packet)))])
    if mutated:
        mutated[data.draw(st.integers(0, min(len(mutated) - 1, 200)))] = data.draw(st.integers(0, 255))
    shown = dissect(bytes(mutated) + tail)
    lines = annotated(shown, judged(shown))
    assert all(line.isprintable() for line in lines)
    at = 0
    for start, end, _ in segments(shown):
        assert start == at < end
        at = end
    assert at == len(shown.data)
