"""What is remembered stays the same when the bytes of a capture go, as bytes, and when it is opened again."""

from __future__ import annotations

import pickle
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

import numpy as np
from numba import njit

from conformance.judge.sessions.columns import kernel
from conformance.judge.sessions.columns import layout as at
from conformance.judge.sessions.columns import views as message_views
from conformance.judge.sessions.columns.tables import Rows
from conformance.judge.sessions.columns.views import GroupsView, KnownView, SentView, known_in
from conformance.judge.sessions.groups import Group
from conformance.judge.sessions.keys import guid_words, queue_words
from conformance.judge.sessions.message_memory import Unopened, together
from conformance.judge.sessions.messages import Head, Known
from conformance.judge.sessions.sequences import Sent

FEW = settings(max_examples=60, deadline=None, derandomize=True, database=None)
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


@FEW
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


@FEW
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


@FEW
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
