"""Verdicts are counted the same one by one and many at once."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow")
pytest.importorskip("numba")

import numpy as np

from conformance.captures.batch_judge import Counted
from conformance.captures.sender_readings import VerdictKind
from conformance.pipeline import tables_sink
from conformance.pipeline.counted import Counts
from conformance.verdict import Outcome

KINDS = [(f"R-{at}", outcome, ()) for at in range(70) for outcome in (Outcome.PASS, Outcome.FAIL)]
SAME = {"capture_id": "c", "stream_id": "s", "at_end": False}


@dataclass(frozen=True)
class Meant:
    """The part of a `Meaning` that is counted."""

    keys: tuple[VerdictKind, ...]


MEANINGS = [Meant(tuple(KINDS[2 * at : 2 * at + 5 + at])) for at in range(4)]
SESSIONS = [(), tuple(KINDS[60:64:2]), (KINDS[130], KINDS[130], KINDS[138])]


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcdefg"), st.integers(0, 3), st.integers(0, 2), st.integers(1, 9), st.integers(1, 99),
            st.integers(1, 1 << 60), st.integers(1, 1 << 60),
        ),
        max_size=30,
    ),
    st.booleans(),
)  # fmt: skip
def test_many_at_once(rows: list[tuple[str, int, int, int, int, int, int]], whole: bool) -> None:
    counted = [
        Counted(sender, MEANINGS[means], SESSIONS[said], count, first, first + 1, min(begin, end), max(begin, end))
        for sender, means, said, count, first, begin, end in rows
    ]
    many, single = Counts(), Counts()
    for some in (counted[: len(counted) // 2], counted[len(counted) // 2 :]):
        many.many(some, passes=not whole)
    for one in counted:
        span = (one.count, one.first, one.first_ns, one.last_ns)
        for keys in (tuple(key for key in one.meaning.keys if whole or key[1] is Outcome.PASS), one.session):
            if keys:
                single.more(one.sender, keys, *span)
    assert many.outcomes() == single.outcomes()
    wanted: dict[tuple[str, str, Outcome], list[int]] = {}
    for one in counted:
        for key in (*(key for key in one.meaning.keys if whole or key[1] is Outcome.PASS), *one.session):
            known = wanted.setdefault((one.sender, *key[:2]), [0, 1 << 62, 1 << 62, 0])
            known[:] = (
                known[0] + one.count, min(known[1], one.first), min(known[2], one.first_ns),
                max(known[3], one.last_ns),
            )  # fmt: skip
    tables = [one.table(SAME) for one in (many, single)]
    if not wanted:
        assert tables == [None, None]
        return
    assert tables[0].equals(tables[1])
    found = {
        (row["sender"], row["requirement"], Outcome(row["outcome"])): [
            row["count"], int(row["subject"].rpartition(" ")[2]), row["first_ns"], row["last_ns"]
        ]
        for row in tables[0].to_pylist()
    }  # fmt: skip
    assert found == wanted


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(
    ends=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2000)), min_size=1, max_size=40),
    far=st.sampled_from([1, 1 << 20]),
)
def test_packets_by_end(ends: list[tuple[int, int]], far: int) -> None:
    numbers, sizes = (np.array(one) for one in zip(*ends, strict=True))
    found = list(zip(*tables_sink._by_end(far * numbers, sizes), strict=True))
    wanted = {}
    for one, size in ends:
        count, total = wanted.get(far * one, (0, 0))
        wanted[far * one] = count + 1, total + size
    assert found == [(end, *wanted[end]) for end in sorted(wanted)]
