"""No rule accuses a conversation that follows the document, made at random."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from nightly import SEED, amount
from session_captures import capture_of
from session_columns_beside import compare
from session_conversations import conversation

from conformance.capture import Frame, Opened
from conformance.judge.packets import judge_packet
from conformance.judge.sessions.judge import judge_sessions
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome
from conformance.wire import dissect

SEEDS = range(int(SEED) * 10_000, int(SEED) * 10_000 + amount("sessions.conversations"))
SOME = SEEDS[:3]
# A sequence goes on in another session, where its first message may have been sent before the capture began.
UNKNOWN = {"MQQB-3.1.1.5.first-number"}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_valid_conversation_passes(seed: int) -> None:
    said = list(judge_sessions(conversation(seed), readings=assignment("windows")))
    wrong = [one for one in said if one.outcome is not Outcome.PASS and one.requirement not in UNKNOWN]
    assert not wrong, wrong[0]
    assert {one.outcome for one in said} <= {Outcome.PASS, Outcome.INCONCLUSIVE}


@pytest.mark.parametrize("seed", SOME)
def test_its_packets_pass(seed: int) -> None:
    for frame in conversation(seed):
        if isinstance(frame, Frame) and frame.transport == "tcp":
            said = judge_packet(frame.data, profile="msmq-4.0", transport="buffer", level="must")
            assert {one.outcome for one in said} <= {Outcome.PASS, Outcome.READING, Outcome.WARN}, said


@pytest.mark.parametrize("seed", SOME)
def test_compiled_code_agrees(seed: int, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    path = tmp_path / "conversation.pcap"
    path.write_bytes(capture_of(conversation(seed)))
    compare(path, assignment("windows"), lambda count: [count // 3, count // 2])


def test_conversations_have_every_kind_of_packet_and_several_sessions() -> None:
    made = [conversation(seed) for seed in SEEDS]
    frames = [one for events in made for one in events if isinstance(one, Frame)]
    kinds = Counter(dissect(one.data, transport=one.transport).kind for one in frames)
    assert {"Ping", "EstablishConnection", "ConnectionParameters", "SessionAck", "OrderAck", "UserMessage"} == set(
        kinds
    )
    sessions = [sum(isinstance(one, Opened) for one in events) for events in made]
    assert {1, 2, 3} == set(sessions)
    classes = {dissect(one.data).fields.get("MessagePropertiesHeader.MessageClass") for one in frames}
    assert {0, 2, 0xFF} <= classes
