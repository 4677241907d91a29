"""Sessions in compiled code are judged as in Python."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from cases import all_of
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from nightly import fewer
from numba import njit
from session_columns_beside import compare
from session_corpus import ROUND, write_sessions
from session_edits import edit

from conformance.capture import Event, Frame, read_capture
from conformance.judge.sessions.columns import judge as column_sessions
from conformance.judge.sessions.columns import kernel
from conformance.judge.sessions.columns import layout as at
from conformance.judge.sessions.columns.judge import ACCOUNTED, DisagreementError, settle
from conformance.judge.sessions.columns.packet_row import ASKED
from conformance.judge.sessions.context import Notes, Seen
from conformance.judge.sessions.flow import Flow
from conformance.judge.sessions.keys import guid_words, queue_words
from conformance.judge.sessions.message_memory import Memory, known_in
from conformance.judge.sessions.messages import Head, Known
from conformance.judge.sessions.mutations import MUTATIONS, captured
from conformance.judge.sessions.sequences import Views
from conformance.judge.sessions.tables import Recent, Table
from conformance.judge.sessions.transactions import GroupTable
from conformance.spec.catalogue import assignment
from conformance.wire import dissect

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
    for place in range(12):
        compare(path, assignment("windows"), lambda count, place=place: (place,) if place < count else ())


def test_tables_forget_in_the_same_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for few, both sides forget the same."""
    for room in ("context", "transactions", "sequences"):
        monkeypatch.setattr(f"conformance.judge.sessions.{room}.MAX_REMEMBERED", 20)
    for room in ("messages", "transactions", "sequences"):
        monkeypatch.setattr(f"conformance.judge.sessions.{room}.MAX_HOSTS", 5)
    for table, most in ((Recent, 20), (GroupTable, 40), (Table, 5), (Views, 2)):
        monkeypatch.setattr(table, "most", most)
    monkeypatch.setattr("conformance.judge.sessions.sequences.MAX_CURRENT", 2)
    path = tmp_path / "many.pcap"
    write_sessions(path, 1200, pairs=4)
    compare(path, assignment("windows"), cutting(3, 4))


def test_compiled_code_is_told_which_sides_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code goes on with a side only as long as the rules remember what it has sent."""
    monkeypatch.setattr("conformance.judge.sessions.sequences.MAX_HOSTS", 5)
    path = tmp_path / "many.pcap"
    write_sessions(path, 6000, pairs=12)
    compare(path, assignment("windows"), cutting(3, 4))


def test_a_clock_that_is_right_at_last_makes_the_first_message_wrong(long: list[Event], tmp_path: Path) -> None:
    """Compiled code cannot tell that of the first one, when the one that shows it is usual by itself."""
    frames = [place for place, event in enumerate(long) if isinstance(event, Frame)]
    key, events = "UserHeader.SentTime", list(long)
    sent = [place for place in frames if key in dissect(events[place].data, transport="tcp").spans]  # type: ignore[union-attr]
    for place in sent[: len(sent) // 2]:
        one = events[place]
        assert isinstance(one, Frame)
        start, length = dissect(one.data, transport="tcp").spans[key]
        events[place] = replace(one, data=one.data[:start] + bytes(length) + one.data[start + length :])
    path = tmp_path / "clock.pcap"
    path.write_bytes(session_captures.capture_of(events))
    ours = compare(path, assignment("windows"), cutting(5, 2))
    assert ours.usual > 0.3 * len(ours.senders)


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


pytest.importorskip("numba")

FEW_REMEMBERED = settings(max_examples=60, deadline=None, derandomize=True, database=None)
SOURCES = ["11111111-2222-3333-4444-555555555555", "ffffffff-ffff-ffff-ffff-fffffffffffe"]
# A message: its length before, in and behind the body; whether the rules judged it, and whether it is forgotten first.
MESSAGES = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 12), st.integers(0, 5), st.sampled_from(["usual", "rule", "bytes"])),
    max_size=14,
)


def shown(known: Known) -> tuple[object, ...]:
    return known.frame, known.kept, known.body


def entered(memory: Memory, buffer: bytes, frame: int, begin: int, parts: tuple[int, int, int]) -> Known:
    """Enter a message as compiled code does; return what is remembered of it."""
    head, body, tail = parts
    row = memory.row((*guid_words(SOURCES[frame % 2]), frame))
    memory.fill(row, (frame, begin, head + body + tail, head, body))
    return known_in(buffer, frame, begin, head + body + tail, begin + head if body else begin, body)


@FEW_REMEMBERED
@given(captures=st.lists(MESSAGES, min_size=1, max_size=5), room=st.integers(1, 12))
def test_messages_outlive_their_captures(captures: list[list[tuple[int, int, int, str]]], room: int) -> None:
    before, column_sessions.COPIED, Memory.most = column_sessions.COPIED, 6, room  # type: ignore[misc]
    memory, wanted, frame = Memory(), {}, 0
    try:
        for number, messages in enumerate(captures):
            buffer = bytes((7 * one + number) % 251 for one in range(400))
            settle(memory)
            memory.leave()
            place = 0
            for *parts, how in messages:
                frame += 1
                if frame == 1 or place == 0:
                    memory.read_from(np.frombuffer(buffer, np.uint8), frame, owner=buffer)
                key = SOURCES[frame % 2], frame
                if how == "usual":
                    wanted[key] = entered(memory, buffer, frame, place, tuple(parts))
                else:
                    kept = (
                        (number, "text")
                        if how == "rule"
                        else Head(buffer[: parts[0]], parts[0] * bool(parts[1]), parts[1])
                    )
                    wanted[key] = memory.setdefault(key, Known(frame, kept, bytes(16)))
                place += sum(parts) + 1
                while len(wanted) > room:
                    del wanted[next(iter(wanted))]
                assert len(memory) == len(wanted)
            for key, known in wanted.items():
                found = memory.get(key)
                assert found is not None and shown(found) == shown(known)
        memory.pack()
        assert [(key, shown(one)) for key, one in memory.items()] == [(key, shown(one)) for key, one in wanted.items()]
        moved, forgotten = pickle.loads(pickle.dumps(memory)), frame - room // 2
        moved.renew()
        moved.forget(forgotten)
        left = [(key, shown(one)) for key, one in wanted.items() if one.frame > forgotten]
        assert [(key, shown(one)) for key, one in moved.items()] == left
        moved.pack()
        assert [(key, shown(one)) for key, one in moved.items()] == left
        assert all(moved.get(key) is None for key in wanted if wanted[key].frame <= forgotten)
    finally:
        column_sessions.COPIED = before
        del Memory.most


@njit
def words_of(columns, places, base, out):
    return kernel.queue_words(columns, places, 0, base, out)


@njit
def class_word(out):
    return kernel.class_word(out, 0, 0)


def test_every_rule_that_holds_tells_in_the_class_of_a_packet() -> None:
    """The first rule and its outcome are 0, and so is the kind of a message: it must not be as if nothing was said."""
    words = [
        class_word(np.array([1 + 4 * len(rules) - 1, *(n for one in rules for n in (one, 0, 0, 0))]))
        for rules in ((), (0,), (1,), (0, 1))
    ]
    assert len(set(words)) == len(words)


GUID = st.none() | st.integers(0, (1 << 128) - 1).map(lambda one: UUID(int=one))
NAME = st.none() | st.text(st.sampled_from("AZaz@[`{09\\$\x00\x7f"), max_size=13) | st.text(max_size=6)


@FEW_REMEMBERED
@given(manager=GUID, public=GUID, private=st.none() | st.integers(0, (1 << 32) - 1), name=NAME)
def test_queues_have_the_same_words_in_compiled_code(
    manager: UUID | None, public: UUID | None, private: int | None, name: str | None
) -> None:
    places, columns = np.zeros((len(at.KEYS), 3), np.int64), np.zeros((13, 1), np.int64)
    values = ((at.F_MANAGER, manager), (at.F_PUBLIC, public), (at.F_PRIVATE, private), (at.F_DIRECT, name))
    raw = (name or "").encode("utf-16-le", "surrogatepass")
    for bit, (key, value) in enumerate(values):
        places[key] = 0, bit, 1 + 3 * bit
        columns[0] |= (value is not None) << bit
        if isinstance(value, UUID):
            columns[1 + 3 * bit : 3 + 3 * bit, 0] = np.frombuffer(value.bytes_le, "<i8")
        elif value is not None:
            columns[1 + 3 * bit : 3 + 3 * bit, 0] = (value, 0) if isinstance(value, int) else (0, len(raw))
    buffer, out = np.frombuffer(raw + b"\xff" * 8, np.uint8), np.zeros(2, np.int64)
    unread = words_of(columns, places, buffer.ctypes.data, out)
    assert unread == (name is not None and not name.isascii())
    if not unread:
        queue = "|".join("" if one is None else str(one).lower() for one in (manager, private, public, name))
        assert tuple(out.tolist()) == queue_words(queue)
