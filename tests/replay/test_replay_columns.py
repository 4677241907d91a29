"""Judging by columns says exactly what the one-by-one replay says, in the same order."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")
sys.path.insert(0, str(Path(__file__).parents[1] / "capture"))

from fixture_builders import FIXTURES, build_captures
from generated_corpus import Captures, write_corpus
from record_edits import edit, edits, records_of

from conformance.capture import Frame, read_capture
from conformance.judge.session_context import Seen
from conformance.judge.sessions import SessionJudge
from conformance.replay import Replay, replay
from conformance.replay.columns import judge_range
from conformance.replay.engine import CaptureSummary, alone
from conformance.spec.catalogue import assignment
from conformance.wire import dissect

Readings = Mapping[str, tuple[str, ...]]
PROFILE = "msmq-4.0"
CAPTURES = sorted(path.name for path in (FIXTURES / "captures").iterdir() if ".pcap" in path.name)


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Captures:
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder / "whole.pcap", 120, connections=4, kinds=80)
    write_corpus(folder / "spread.pcap", 120, connections=4, kinds=80, seed=2, spread=True, disorder=0.1)
    made = [getattr(build_captures, name)().pcap() for name in ("consistent_session", "resending_session")]
    return Captures([*made, (folder / "whole.pcap").read_bytes(), (folder / "spread.pcap").read_bytes()])


def packet_rules(path: str, readings: Readings, level: str, profile: str) -> Replay:
    """The packet rules of a capture and what they say of its senders, one by one."""
    result, sessions = Replay(), SessionJudge(readings)
    result.captures.append(CaptureSummary(path))
    for event in read_capture(path):
        packet = dissect(event.data, transport=event.transport) if isinstance(event, Frame) else None
        sessions.feed(event, packet)
        if not isinstance(event, Frame) or packet is None:
            continue
        verdicts = alone(Seen(event, packet), profile, readings, level)
        result.follow(path, sessions.sender(event, packet), verdicts)
        for verdict in verdicts:
            result.add(path, verdict)
    result.conclude(path, readings, level)
    return result


@pytest.mark.parametrize("name", CAPTURES)
def test_fixtures(name: str) -> None:
    path, readings = str(FIXTURES / "captures" / name), assignment("windows")
    found = judge_range(path, profile=PROFILE, readings=readings).replay
    wanted = replay([path], profile=PROFILE, readings=readings)
    assert found.counted == wanted.counted
    assert found.captures == wanted.captures


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    which=st.integers(0, 3),
    changes=edits(6),
    reading_set=st.sampled_from(["windows", "strict", "permissive"]),
    level=st.sampled_from(["must", "should", "may"]),
    profile=st.sampled_from(["msmq-1.0", "msmq-3.0", "msmq-6.0"]),
)
def test_edited_captures(
    captures: Captures,
    tmp_path: Path,
    which: int,
    changes: list[tuple[str, int, int]],
    reading_set: str,
    level: str,
    profile: str,
) -> None:
    head, records = records_of(captures[which])
    for change in changes:
        edit(records, *change)
    path, readings = str(tmp_path / "edited.pcap"), assignment(reading_set)
    Path(path).write_bytes(head + b"".join(records))
    for sessions in (True, False):
        found = judge_range(path, profile=profile, readings=readings, level=level, sessions=sessions).replay
        wanted = (
            replay([path], profile=profile, readings=readings, level=level)
            if sessions
            else packet_rules(path, readings, level, profile)
        )
        assert found.counted == wanted.counted


def test_hardly_a_packet_is_left_to_the_other_code(captures: Captures, tmp_path: Path) -> None:
    path = tmp_path / "whole.pcap"
    path.write_bytes(captures[2])
    found = judge_range(path, profile=PROFILE, readings=assignment("windows"), sessions=False)
    assert found.summary.packets == 120
    assert found.slow.total() <= 3, found.slow


def test_what_is_not_kept_is_counted(captures: Captures, tmp_path: Path) -> None:
    """With fewer verdicts kept one by one the sums stay the same."""
    path, readings = str(tmp_path / "broken.pcap"), assignment("windows")
    head, records = records_of(captures[2])
    for at in range(40, 80):
        edit(records, "change-head", at, 3 + (0x77 << 8))  # BaseHeader.Flags
    Path(path).write_bytes(head + b"".join(records))
    few = judge_range(path, profile=PROFILE, readings=readings, sessions=False, keep=3).replay
    all_ = judge_range(path, profile=PROFILE, readings=readings, sessions=False).replay
    assert few.outcomes == all_.outcomes
    assert sum(one.count == 1 and one.verdict.evidence is not None for one in few.counted) < len(all_.counted)
    assert len(all_.counted) > len(few.counted)


def test_a_part_of_a_file_is_judged_by_itself(captures: Captures, tmp_path: Path) -> None:
    head, records = records_of(captures[0])
    whole, part = tmp_path / "whole.pcap", tmp_path / "part.pcap"
    whole.write_bytes(head + b"".join(records))
    part.write_bytes(head + b"".join(records[5:20]))
    start = 24 + sum(map(len, records[:5]))
    stop = start + sum(map(len, records[5:20]))
    readings = assignment("windows")
    one = judge_range(whole, start, stop, profile=PROFILE, readings=readings)
    other = judge_range(part, profile=PROFILE, readings=readings)
    assert [(each.verdict, each.count) for each in one.replay.counted] == [
        (each.verdict, each.count) for each in other.replay.counted
    ]
    assert one.summary.records == 15
