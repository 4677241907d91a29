"""Sessions in compiled code are judged as in Python."""

from __future__ import annotations

import pickle
import random
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

from conformance.capture import Event, read_capture
from conformance.judge.sessions.columns import kernel
from conformance.judge.sessions.columns import layout as at
from conformance.judge.sessions.columns import views as message_views
from conformance.judge.sessions.columns.judge import ACCOUNTED, DisagreementError
from conformance.judge.sessions.columns.tables import Rows
from conformance.judge.sessions.columns.views import GroupsView, KnownView, SentView, known_in
from conformance.judge.sessions.context import Notes, Seen
from conformance.judge.sessions.flow import Flow
from conformance.judge.sessions.keys import ASKED, guid_words, queue_words
from conformance.judge.sessions.message_memory import Unopened, together
from conformance.judge.sessions.messages import Head, Known
from conformance.judge.sessions.mutations import MUTATIONS, captured
from conformance.judge.sessions.sequences import Sent
from conformance.judge.sessions.transactions import Group
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
    for place in range(12):
        compare(path, assignment("windows"), lambda count, place=place: (place,) if place < count else ())


def test_tables_forget_in_the_same_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for few, both sides forget the same."""
    for room in ("context", "messages", "transactions", "sequences"):
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


def entered(view: KnownView, rows: Rows, buffer: bytes, frame: int, begin: int, parts: tuple[int, int, int]) -> Known:
    """Enter a message as compiled code does; return what is remembered of it."""
    head, body, tail = parts
    row = rows.add((*guid_words(SOURCES[frame % 2]), frame))
    rows.rows[row, at.FRAME : at.FRAME + 5] = frame, begin, head + body + tail, head, body
    return known_in(buffer, frame, begin, head + body + tail, begin + head if body else begin, body)


@FEW_REMEMBERED
@given(captures=st.lists(MESSAGES, min_size=1, max_size=5), room=st.integers(1, 12))
def test_messages_outlive_their_captures(captures: list[list[tuple[int, int, int, str]]], room: int) -> None:
    rows = Rows(room, at.KNOWN_WIDTH)
    view, wanted, frame = KnownView(rows), {}, 0
    before, message_views.COPIED = message_views.COPIED, 6
    try:
        for number, messages in enumerate(captures):
            buffer = bytes((7 * one + number) % 251 for one in range(400))
            view.settle()
            place = 0
            for *parts, how in messages:
                frame += 1
                if frame == 1 or place == 0:
                    view.read_from(np.frombuffer(buffer, np.uint8), frame, owner=buffer)
                key = SOURCES[frame % 2], frame
                if how == "usual":
                    wanted[key] = entered(view, rows, buffer, frame, place, tuple(parts))
                else:
                    kept = (
                        (number, "text")
                        if how == "rule"
                        else Head(buffer[: parts[0]], parts[0] * bool(parts[1]), parts[1])
                    )
                    wanted[key] = view.setdefault(key, Known(frame, kept, bytes(16)))
                place += sum(parts) + 1
                while len(wanted) > room:
                    del wanted[next(iter(wanted))]
                assert len(rows) == len(wanted)
            for key, known in wanted.items():
                found = view.get(key)
                assert found is not None and shown(found) == shown(known)
        asked = Unopened((view.packed(),))
        moved = pickle.loads(pickle.dumps(asked))
        assert [(key, shown(one)) for key, one in asked.items()] == [(key, shown(one)) for key, one in wanted.items()]
        again, forgotten = KnownView(Rows(room, at.KNOWN_WIDTH)), frame - room // 2
        moved.forget(forgotten)
        again.take(moved.parts, moved.forgotten)
        left = [(key, shown(one)) for key, one in wanted.items() if one.frame > forgotten]
        assert [(key, shown(one)) for key, one in again.items()] == left
        twice = Unopened((again.packed(),))
        assert [(key, shown(one)) for key, one in twice.items()] == left
        assert all(again.get(key) is None for key in wanted if wanted[key].frame <= forgotten)
    finally:
        message_views.COPIED = before


@FEW_REMEMBERED
@given(
    sent=st.lists(st.tuples(st.booleans(), st.integers(0, (1 << 64) - 1), st.integers(0, 1 << 32), st.booleans()),
                  max_size=12),
    parts=st.integers(1, 3),
)  # fmt: skip
def test_transactional_messages_and_transactions(sent: list[tuple[bool, int, int, bool]], parts: int) -> None:
    views = [(SentView(Rows(20, at.SENT_WIDTH)), GroupsView(Rows(40, at.GROUP_WIDTH))) for _ in range(parts)]
    wanted, groups = {}, {}
    for frame, (usual, sequence, number, final) in enumerate(sent, 1):
        view, group = views[frame % parts]
        key = SOURCES[frame % 2], frame
        given_ = frozenset((number,)) if usual else frozenset((number, 5))
        one = wanted[key] = Sent(sequence, number + 1, number, frame % 3, frame, given_, final, not usual)
        view[key] = one
        if usual:  # As compiled code enters it.
            row = view._rows.find((*guid_words(key[0]), frame))
            signed = sequence - (1 << 64) if sequence >> 63 else sequence
            view._rows.rows[row, at.DATA : at.DATA + 7] = signed, number + 1, number, frame % 3, frame, final, 1
        for part in (0, 1):
            group[frame, part, -frame] = groups[frame, part, -frame] = Group(frame, final, sequence, frame % 3)
    for at_, table in enumerate((wanted, groups)):
        tables = [Unopened((both[at_].packed(),)) for both in views]
        joined = together(pickle.loads(pickle.dumps(tables)))
        assert joined is not None and joined.parts is not None
        made = SentView(Rows(20, at.SENT_WIDTH)) if not at_ else GroupsView(Rows(40, at.GROUP_WIDTH))
        made.take(joined.parts, joined.forgotten)
        assert list(made.items()) == list(table.items()) == list(joined.items())
        assert together([tables[0], joined]) is None, "an opened table is no bytes"


@njit
def words_of(columns, places, base, out):
    return kernel.queue_words(columns, places, 0, base, out)


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
