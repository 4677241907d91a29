"""The rules of connections over what compiled code decoded say what they say over packets decoded one by one."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

import pytest
from cases import all_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from session_captures import capture_of
from session_corpus import write_sessions
from session_edits import edit

from conformance.capture import Event, Frame, read_capture
from conformance.captures import replay
from conformance.captures.columns import judge_range
from conformance.judge.sessions.judge import SessionJudge
from conformance.judge.sessions.mutations import MUTATIONS, captured
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect

PROFILE = "msmq-6.0"
FIELDS = (
    "UserHeader.MessageID", "UserHeader.SentTime", "UserHeader.Flags", "UserHeader.SourceQueueManager",
    "BaseHeader.TimeToReachQueue", "SessionHeader.AckSequenceNumber", "SessionHeader.RecoverableMsgAckSeqNumber",
    "SessionHeader.RecoverableMsgAckFlags", "SessionHeader.UserMsgSequenceNumber", "SessionHeader.WindowSize",
    "TransactionHeader.TxSequenceID", "TransactionHeader.TxSequenceNumber", "TransactionHeader.Flags",
    "TransactionHeader.PreviousTxSequenceNumber", "OrderAckBody.TxSequenceID", "OrderAckBody.TxSequenceNumber",
    "FinalAckBody.MessageID", "MessagePropertiesHeader.MessageClass", "MessagePropertiesHeader.ApplicationTag",
    "InternalHeader.Flags", "EstablishConnectionHeader.ServerGuid", "ConnectionParametersHeader.WindowSize",
)  # fmt: skip


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[list[Event]]:
    path = tmp_path_factory.mktemp("sessions") / "sessions.pcap"
    write_sessions(path, 160, pairs=2)
    return [captured("consistent-session"), captured("resending-session"), list(read_capture(path))]


def compare(path: Path, readings: str = "windows", level: str = "must") -> None:
    """Both ways say the same; and so they do when little is kept by itself."""
    accepted = assignment(readings)
    found = judge_range(path, profile=PROFILE, readings=accepted, level=level).replay
    wanted = replay([path], profile=PROFILE, readings=accepted, level=level)
    assert found.counted == wanted.counted
    assert found.tally == wanted.tally
    assert found.captures == wanted.captures
    few = judge_range(path, profile=PROFILE, readings=accepted, level=level, keep=3).replay
    assert few.outcomes == wanted.outcomes
    assert few.tally == wanted.tally


@all_of("requirement", MUTATIONS)
def test_spoiled_sessions(requirement: str, tmp_path: Path) -> None:
    path = tmp_path / "spoiled.pcap"
    path.write_bytes(capture_of(MUTATIONS[requirement].broken()))
    compare(path)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    which=st.integers(0, 2),
    changes=st.lists(
        st.tuples(
            st.sampled_from(["field", "field", "field", "drop", "again", "swap", "later", "lost"]),
            st.integers(0, 500), st.integers(0, 500), st.integers(0, 1 << 64),
        ),
        max_size=10,
    ),
    readings=st.sampled_from(["windows", "strict", "permissive"]),
    level=st.sampled_from(["must", "should", "may"]),
)  # fmt: skip
def test_edited_sessions(
    sessions: list[list[Event]],
    tmp_path: Path,
    which: int,
    changes: list[tuple[str, int, int, int]],
    readings: str,
    level: str,
) -> None:
    events = list(sessions[which])
    for change in changes:
        edit(events, *change, fields=FIELDS)
    path = tmp_path / "edited.pcap"
    path.write_bytes(capture_of(events))
    compare(path, readings, level)


def test_a_session_without_a_fault_needs_no_packet_decoded_one_by_one(
    sessions: list[list[Event]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every key the rules ask for has a column: a packet of an open session is never decoded again."""
    path = tmp_path / "clean.pcap"
    path.write_bytes(capture_of(sessions[2]))
    decoded: Counter[str] = Counter()

    def counted(data: bytes, *, transport: str | None = None) -> object:
        packet = dissect(data, transport=transport)
        decoded[packet.kind] += 1
        return packet

    for module in (
        "judge.sessions.columns.packet_row",
        "captures.judge",
        "judge.sessions.judge",
        "judge.sessions.context",
    ):
        monkeypatch.setattr(f"conformance.{module}.dissect", counted)
    found = judge_range(path, profile=PROFILE, readings=assignment("windows"))
    assert set(found.replay.outcomes) == {Outcome.PASS}
    assert found.summary.packets > 100
    assert set(decoded) == {"Ping", "EstablishConnection", "ConnectionParameters"}


def test_sequences_beyond_63_bits(tmp_path: Path) -> None:
    """They are numbers without a sign."""
    path = tmp_path / "high.pcap"
    write_sessions(path, 60, pairs=1)
    data = path.read_bytes()
    before, after = struct.pack("<Q", 0x65535000_00000001), struct.pack("<Q", 0xF5535000_00000001)
    assert before in data
    path.write_bytes(data.replace(before, after))
    compare(path)
    found = judge_range(path, profile=PROFILE, readings=assignment("windows"))
    assert set(found.replay.outcomes) == {Outcome.PASS}


@pytest.mark.parametrize("name", ["consistent-session", "resending-session"])
def test_what_is_told_by_number(name: str) -> None:
    """The numbers stand for the very verdicts that are told otherwise, in their order, about the packet itself."""
    readings = assignment("windows")
    whole, counting = SessionJudge(readings), SessionJudge(readings, counting=True)
    numbers = 0
    for event in captured(name):
        verdicts, said = whole.feed(event), counting.said(event)
        wanted = [(one.requirement, one.outcome, one.readings) for one in verdicts]
        found = [
            (one.requirement, one.outcome, one.readings) if isinstance(one, Verdict) else counting.kinds[one]
            for one in said
        ]
        assert found == wanted
        for one, verdict in zip(said, verdicts, strict=True):
            if isinstance(one, int):
                assert isinstance(event, Frame) and verdict.subject == f"frame {event.number}", verdict
        numbers += sum(isinstance(one, int) for one in said)
        assert counting.single == any(isinstance(one, Verdict) for one in said)
    assert numbers > 20
