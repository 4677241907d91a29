"""No difference between `replay`, its columns and an ingest over many captures of every making: 500 at night."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from nightly import amount
from three_paths import ALONE, captures, differences, on_three_paths

COUNT = amount("pipeline.captures-like-replay")


def test_every_capture_has_the_same_verdicts_on_three_paths(tmp_path: Path) -> None:
    """What the verdicts say and their places, by processes as the command has them."""
    each = on_three_paths(captures(COUNT, tmp_path), tmp_path)
    assert len(each) == COUNT
    assert {path.name: lines for path, said in each.items() if (lines := list(differences(said)))} == {}
    verdicts = sum(counts.total() for said in each.values() for counts in said[ALONE])
    failing = sum(any("fail" in key for key in said[ALONE][0]) for said in each.values())
    print(f"{COUNT:,} captures, {verdicts:,} verdicts; {failing:,} captures deviate")
    assert failing > COUNT // 10 and verdicts > COUNT * 10


def test_a_verdict_that_one_path_lacks_is_a_difference() -> None:
    whole = Counter({("id", "fail", "packet 7"): 1}), Counter({("id", ()): 2})
    said = {ALONE: whole, "columns": (Counter(), whole[1]), "pipeline": (whole[0], Counter({("id", ()): 3}))}
    lines = list(differences(said))
    assert [line.split()[:2] for line in lines] == [["columns:", "-1"], ["pipeline:", "+1"]] and "packet 7" in lines[0]
