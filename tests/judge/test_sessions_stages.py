"""Connections judged by themselves, and what crosses them by facts: together what one judge says, in its order."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from nightly import fewer
from session_conversations import conversation
from session_corpus import ROUND, write_sessions
from session_edits import edit

from conformance.capture import CaptureError, Event, Frame, read_capture
from conformance.judge.sessions.context import Said
from conformance.judge.sessions.judge import SessionJudge
from conformance.judge.sessions.mutations import MUTATIONS
from conformance.judge.sessions.stages import ConnectionStage, Fact, SharedStage, in_order
from conformance.spec.catalogue import assignment
from conformance.verdict import Outcome, Verdict

CAPTURES = Path(__file__).parents[2] / "fixtures" / "captures"
FILES = sorted(one for one in CAPTURES.iterdir() if ".pcap" in one.name)
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["field", "field", "field", "drop", "again", "swap", "later", "lost", "late"]),
        st.integers(0, 2000), st.integers(0, 500), st.integers(0, 1 << 64),
    ),
    min_size=1, max_size=12,
)  # fmt: skip
FEW = settings(
    max_examples=fewer(25), deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck), phases=(Phase.explicit, Phase.generate),
)  # fmt: skip


class Stages:
    """Both stages over some events. asked: the frames that the second one wanted. own: what connections said."""

    def __init__(self, events: Sequence[Event], readings: str, parts: int = 1 << 30) -> None:
        accepted = assignment(readings)
        stages: dict[int, ConnectionStage] = {}
        self.facts: list[Fact] = []
        self.own: dict[int, list[Said]] = {}
        self.asked: list[int] = []
        for part in range(min(parts, 1 + max((getattr(one, "connection", 0) or 0 for one in events), default=0))):
            stages[part] = ConnectionStage(accepted)
            for turn, event in enumerate(events):
                if (getattr(event, "connection", 0) or 0) % parts == part:
                    fact, self.own[turn] = stages[part].take(turn, event)
                    self.facts.append(fact)
        self.events, self.second = events, SharedStage(accepted, self.frame)

    def frame(self, fact: Fact) -> Frame:
        self.asked.append(fact.turn)
        found = self.events[fact.turn]
        assert isinstance(found, Frame)
        return found

    def said(self) -> list[list[Said]]:
        return list(in_order(pickle.loads(pickle.dumps(self.facts)), self.own, self.second))


def whole(events: Sequence[Event], readings: str) -> list[list[Said]]:
    judge = SessionJudge(assignment(readings))
    return [judge.said(one) for one in events]


def same(events: Sequence[Event], readings: str = "windows", parts: int = 1 << 30) -> Stages:
    """Compare both ways; return the stages."""
    stages = Stages(events, readings, parts)
    for found, expected in zip(stages.said(), whole(events, readings), strict=True):
        assert found == expected
    return stages


def events_of(path: Path) -> list[Event]:
    out: list[Event] = []
    try:
        out.extend(read_capture(path))
    except CaptureError:
        pytest.skip("not to be read")
    return out


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    """Three pairs of hosts, whose packets alternate."""
    path = tmp_path_factory.mktemp("sessions") / "sessions.pcap"
    write_sessions(path, 30 * ROUND, pairs=3)
    return list(read_capture(path))


@pytest.mark.parametrize("readings", ["windows", "strict", "permissive"])
@pytest.mark.parametrize("path", FILES, ids=lambda one: one.name)
def test_fixtures(path: Path, readings: str) -> None:
    same(events_of(path), readings)


@pytest.mark.parametrize("requirement", MUTATIONS)
def test_spoiled_sessions(requirement: str) -> None:
    mutation = MUTATIONS[requirement]
    same(mutation.broken(), mutation.readings)


@pytest.mark.parametrize("seed", range(fewer(12)))
def test_conversations(seed: int) -> None:
    """Valid ones need no bytes of usual packets in the second stage."""
    assert not same(conversation(seed)).asked


@FEW
@given(changes=EDITS, readings=st.sampled_from(["windows", "strict", "permissive"]), parts=st.integers(1, 4))
def test_edited_sessions(
    long: list[Event], changes: list[tuple[str, int, int, int]], readings: str, parts: int
) -> None:
    events = list(long)
    for change in changes:
        edit(events, *change)
    same(events, readings, parts)


@FEW
@given(seed=st.integers(0, 500), changes=EDITS, parts=st.integers(1, 4))
def test_edited_conversations(seed: int, changes: list[tuple[str, int, int, int]], parts: int) -> None:
    events = list(conversation(seed))
    for change in changes:
        edit(events, *change)
    same(events, "windows", parts)


def test_few_packets_are_facts_with_their_bytes(long: list[Event]) -> None:
    stages = same(long)
    packets = sum(isinstance(one, Frame) for one in long)
    assert sum(isinstance(one.event, Frame) for one in stages.facts) + len(stages.asked) < 0.1 * packets
    assert len(pickle.dumps(stages.facts)) < 0.5 * sum(len(one.data) for one in long if isinstance(one, Frame))


def undecided(said: Sequence[Said]) -> set[str]:
    return {one.requirement for one in said if isinstance(one, Verdict) and one.outcome is Outcome.INCONCLUSIVE}


def test_no_requirement_is_undecided_in_both_stages(long: list[Event]) -> None:
    """What is told once of a connection is told once, though each stage knows only what itself has told."""
    own: set[str] = set()
    others: set[str] = set()
    broken = [(MUTATIONS[one].broken(), MUTATIONS[one].readings) for one in MUTATIONS]
    for events, readings in (*broken, *((events_of(one), "windows") for one in FILES if "cut" not in one.name)):
        stages = Stages(events, readings)
        own |= undecided([one for said in stages.own.values() for one in said])
        for fact in sorted(stages.facts, key=lambda one: one.turn):
            for said in stages.second.take(fact):
                others |= undecided(said)
    assert len(own) > 5 and len(others) > 10 and not own & others


@pytest.mark.parametrize(
    ("mark", "requirement"),
    [("idle", "MQQB-3.1.6.5.resend-interval"), ("miscounted", "MQQB-3.1.5.5.5.counts-closes")],
)
def test_the_second_stage_needs_both_marks(mark: str, requirement: str) -> None:
    mutation = MUTATIONS[requirement]
    stages = Stages(mutation.broken(), mutation.readings)
    assert any(getattr(one.counted, mark) for one in stages.facts)
    without = {"idle": {"idle": False}, "miscounted": {"miscounted": False}}[mark]
    stages.facts = [replace(one, counted=replace(one.counted, **without)) for one in stages.facts]
    assert stages.said() != whole(mutation.broken(), mutation.readings)
