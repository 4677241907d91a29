"""Times in full, and the day of each packet."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from lake_helpers import (  # fmt: skip
    put,
    put_one_by_one,
    put_sessions_one_by_one,
    replayed,
    rows,
    said,
    same,
    write_pcap,
)
from made_captures import MIDNIGHT, over_midnight

from conformance.pipeline.report_queries import gather
from conformance.pipeline.rows import EPOCH, Days

DAY_NS = 86_400_000_000_000


@pytest.mark.parametrize("way", [put, put_one_by_one, put_sessions_one_by_one])
def test_times_are_kept_to_the_nanosecond(tmp_path, way):
    found = over_midnight()
    lake, _ = way(tmp_path / "lake", [write_pcap(tmp_path / "one.pcap", found)], packets=True)
    packets = rows(lake, "packets")
    assert len(packets) > 10 and any(row["time_ns"] % 1_000 for row in packets)
    assert all(row["time_ns"] == found[row["record"] - 1].time_ns for row in packets)
    by_number = {row["number"]: row["time_ns"] for row in packets}
    own = [row for row in rows(lake, "verdicts") if row["packet"] and row["evidence"]]
    assert own and all(row["first_ns"] == by_number[row["packet"]] == row["last_ns"] for row in own)
    pairs = {"captures": ("first", "last"), "verdicts": ("first", "last"), "sessions": ("opened", "closed")}
    for table, names in pairs.items():
        for row, name in product(rows(lake, table), names):
            since = row.get(f"{name}_time", row.get(name)) - datetime(1970, 1, 1, tzinfo=UTC)
            assert row[f"{name}_ns"] // 1_000 == since // timedelta(microseconds=1)
    (one,) = rows(lake, "captures")
    assert (one["first_ns"], one["last_ns"]) == (found[0].time_ns, found[-1].time_ns)


@pytest.mark.parametrize("sessions", [True, False])
@pytest.mark.parametrize("packets", [True, False])
def test_a_capture_over_midnight_lies_under_two_days(tmp_path, sessions, packets):
    capture = write_pcap(tmp_path / "night.pcap", over_midnight(at=20))
    slow_way = put_sessions_one_by_one if sessions else put_one_by_one
    slow, _ = slow_way(tmp_path / "slow", [capture], packets=packets)
    fast, _ = put(tmp_path / "fast", [capture], packets=packets, sessions=sessions)
    same(fast, slow, "packets", "sessions", "verdicts")
    if sessions:
        assert said(fast) == replayed(capture)
    for name, table in (("time_ns", "packets"), ("first_ns", "verdicts"), ("opened_ns", "sessions")):
        days = {(row["date"], row[name] >= MIDNIGHT) for row in rows(fast, table)}
        expected = {("2026-03-01", False), ("2026-03-02", True)}
        assert days == expected or (table == "sessions" and not sessions)
    assert {row["date"] for row in rows(fast, "captures")} == {"2026-03-01"}
    corpus = gather(fast)
    assert {one.place for seen in corpus.examples.values() for one in seen} == {str(capture)}
    assert {one.when.isoformat() for seen in corpus.examples.values() for one in seen} == {"2026-03-01", "2026-03-02"}


def test_a_packet_without_a_time_or_far_away_lies_under_the_day_of_its_capture(tmp_path):
    import numpy as np

    here, days = "2026-03-02", Days("2026-03-02")
    times = [0, -5, MIDNIGHT, MIDNIGHT - 1, MIDNIGHT + 366 * DAY_NS, MIDNIGHT + 367 * DAY_NS, 1, (1 << 63) - 1]
    expected = [here, here, here, "2026-03-01", "2027-03-03", here, here, here]
    assert [days.of(one) for one in times] == expected and days.of(None) == "2026-03-02"
    apart = dict(days.apart(np.array(times)))
    assert {at: day for day, found in apart.items() for at in found.tolist()} == dict(enumerate(expected))
    assert list(days.apart(np.array(times[:1]))) == [("2026-03-02", None)]
    assert Days(EPOCH).of(7) == EPOCH and list(days.apart(np.array([], np.int64))) == []
    # A clock that jumps with every packet makes no folder of each.
    found = [replace(one, time_ns=MIDNIGHT + 400 * number * DAY_NS) for number, one in enumerate(over_midnight()[:20])]
    for sessions in (True, False):
        lake, _ = put(tmp_path / f"{sessions}", [write_pcap(tmp_path / "jumps.pcap", found)], sessions=sessions)
        assert {row["date"] for row in rows(lake, "verdicts")} == {"2026-03-02"}
