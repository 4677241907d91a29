"""What a lake says of streams that were judged in parts, so that it can be compared with that of one core."""

from __future__ import annotations

from collections import Counter

from lake_helpers import rows, told


def verdicts(lake) -> tuple[Counter, dict]:
    """Verdicts with rows of their own, and those that are counted, by what they have in common."""
    single, counted = Counter(), {}
    for row in rows(lake, "verdicts"):
        left = {name: value for name, value in row.items() if name not in ("batch", "ingested_at")}
        if row["packet"] is not None:
            single[repr(sorted(left.items()))] += 1
            continue
        key = (
            row["capture_id"], row["requirement"], row["outcome"], str(row["readings"]), row["sender"], row["queue"],
            row["at_end"], row["date"], row["expected"], row["actual"], row["reason"],
        )  # fmt: skip
        count, first, last = counted.get(key, (0, row["first_ns"], row["last_ns"]))
        counted[key] = (count + row["count"], min(first, row["first_ns"]), max(last, row["last_ns"]))
    return single, counted


def same(one, other) -> None:
    for table in ("captures", "sessions", "packets", "rejected"):
        assert told(one, table) == told(other, table), table
    for found, expected in zip(verdicts(one), verdicts(other), strict=True):
        assert found == expected
