"""Compiled code says of packets of connections what the rules say, and remembers what they remember."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from cases import all_of
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from nightly import fewer
from session_columns_beside import compare
from session_corpus import ROUND, write_sessions
from session_edits import edit

from conformance.capture import Event, read_capture
from conformance.judge.sessions.columns.judge import ACCOUNTED, DisagreementError
from conformance.judge.sessions.context import Notes, Seen
from conformance.judge.sessions.flow import Flow
from conformance.judge.sessions.keys import ASKED
from conformance.judge.sessions.mutations import MUTATIONS, captured
from conformance.spec.catalogue import assignment

pytest.importorskip("numba")
session_captures = pytest.importorskip("session_captures")
FEW = settings(
    max_examples=fewer(25), deadline=None, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture], phases=(Phase.explicit, Phase.generate),
)  # fmt: skip


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> list[Event]:
    """Two pairs of hosts, long enough that most of it is usual."""
    path = tmp_path_factory.mktemp("sessions") / "sessions.pcap"
    write_sessions(path, 30 * ROUND, pairs=2)
    return list(read_capture(path))


def cutting(seed: int, pieces: int):
    return lambda count: sorted(random.Random(seed).choices(range(max(count, 1)), k=pieces)) if count else ()


@all_of("requirement", MUTATIONS)
def test_spoiled_sessions(requirement: str, tmp_path: Path) -> None:
    path = tmp_path / "spoiled.pcap"
    path.write_bytes(session_captures.capture_of(MUTATIONS[requirement].broken()))
    compare(path, assignment("windows"), cutting(1, 3))


def test_most_packets_of_a_faultless_session_are_judged_by_compiled_code(tmp_path: Path) -> None:
    path = tmp_path / "clean.pcap"
    write_sessions(path, 4000, pairs=2)
    ours = compare(path, assignment("windows"), cutting(2, 2))
    assert ours.usual > 0.8 * len(ours.senders)


@FEW
@given(
    changes=st.lists(
        st.tuples(
            st.sampled_from(["field", "field", "field", "drop", "again", "swap", "later", "lost", "late"]),
            st.integers(0, 2000), st.integers(0, 500), st.integers(0, 1 << 64),
        ),
        min_size=1, max_size=12,
    ),
    readings=st.sampled_from(["windows", "strict", "permissive"]),
    cuts=st.tuples(st.integers(0, 1 << 20), st.integers(0, 12)),
)  # fmt: skip
def test_edited_sessions(
    long: list[Event], tmp_path: Path, changes: list[tuple[str, int, int, int]], readings: str, cuts: tuple[int, int]
) -> None:
    events = list(long)
    for change in changes:
        edit(events, *change)
    path = tmp_path / "edited.pcap"
    path.write_bytes(session_captures.capture_of(events))
    compare(path, assignment(readings), cutting(*cuts), lasting=cuts[0] % 2 == 0)


@pytest.mark.parametrize("name", ["consistent-session", "resending-session"])
def test_every_cut(name: str, tmp_path: Path) -> None:
    path = tmp_path / "whole.pcap"
    path.write_bytes(session_captures.capture_of(captured(name)))
    for at in range(12):
        compare(path, assignment("windows"), lambda count, at=at: (at,) if at < count else ())


def test_tables_forget_in_the_same_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for few, both sides forget the same."""
    for room in ("context", "messages", "transactions", "groups", "sequences"):
        monkeypatch.setattr(f"conformance.judge.sessions.{room}.MAX_REMEMBERED", 20)
    for room in ("messages", "transactions", "sequences"):
        monkeypatch.setattr(f"conformance.judge.sessions.{room}.MAX_HOSTS", 5)
    path = tmp_path / "many.pcap"
    write_sessions(path, 1200, pairs=4)
    compare(path, assignment("windows"), cutting(3, 4))


def test_compiled_code_knows_every_key_that_the_rules_read() -> None:
    """A rule that reads another key switches compiled code off: say in `judge` what it does with the key."""
    assert frozenset(ASKED) <= ACCOUNTED


def test_a_rule_that_reads_another_key_switches_compiled_code_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.judge.sessions.columns.judge.ACCOUNTED", ACCOUNTED - {"UserHeader.SentTime"})
    path = tmp_path / "clean.pcap"
    write_sessions(path, 400, pairs=1)
    assert not compare(path, assignment("windows"), cutting(4, 1)).usual


def test_a_class_of_which_the_rules_say_different_things_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule on something that compiled code takes no notice of: the priority of an express message."""
    judged = Flow.see

    def more(self: Flow, seen: Seen, notes: Notes) -> None:
        judged(self, seen, notes)
        if seen.kind == "UserMessage" and (seen.number("UserHeader.MessageID") or 0) > 100:
            notes.judge("MQQB-3.1.7.1.window", True, seen, None, None)

    monkeypatch.setattr(Flow, "see", more)
    path = tmp_path / "clean.pcap"
    write_sessions(path, 4000, pairs=1)
    with pytest.raises(DisagreementError):
        compare(path, assignment("windows"), cutting(4, 1))


@pytest.mark.parametrize("name", [bytes(16), bytes(range(16))])
def test_a_queue_manager_that_its_request_misnames_is_known_by_its_right_name(tmp_path: Path, name: bytes) -> None:
    """Its ping and the response outvote the request; compiled code goes by what the rules go by."""
    path = tmp_path / "misnamed.pcap"
    write_sessions(path, 300, pairs=1)
    data = bytearray(path.read_bytes())
    at = next(at for at in range(len(data)) if data.startswith(b"LIOR", at)) + 16
    data[at : at + 16] = name
    path.write_bytes(data)
    compare(path, assignment("windows"), cutting(4, 1))
