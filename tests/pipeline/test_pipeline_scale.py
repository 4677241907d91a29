"""The page about scale: computed from figures, and made of those that are stored."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tools.scale_connections import seconds, section, with_section
from tools.scale_goals import GAIN, RATE, goals, plan
from tools.scale_page import END, SPARE, Fit, figures_page, need, page

ROOT = Path(__file__).parents[2]


def figures(a_gigabyte: float = 2.0, fixed: float = 3.0) -> dict:
    """One core takes twice as long as two."""
    results = [
        {"kind": kind, "gigabytes": size, "cores": cores, "seconds": fixed + a_gigabyte * size * 2 / cores,
         "least": 1.0, "most": 9.0, "stages": {"run_ranges": a_gigabyte * size * 2 / cores, "driver": fixed},
         "files": 3, "packets": int(size * 1_000_000), "bytes": int(size * 1e9), "ranges": 4,
         "lake": int(size * 1e7), "peak": 300 << 20}
        for kind in ("rules", "packets") for size in (0.2, 2, 8) for cores in (1, 2)
    ]  # fmt: skip
    return {
        "mqconform": "1.0", "measured": "2026-03-01", "rounds": 3, "file_gigabytes": 1, "results": results,
        "machine": {"processor": "X", "cores": 2, "memory": 1 << 34, "python": "3.11"},
        "start": [{"kind": "rules", "cores": 2, "session": 6.0, "cold": 9.0, "warm": 0.5}],
    }  # fmt: skip


def test_a_line_is_found_and_how_far_off_it_is():
    fit = Fit.of([(0.2, 3.4), (2, 7.0), (8, 19.0)])
    assert (round(fit.fixed, 6), round(fit.a_gigabyte, 6), round(fit.worst, 6)) == (3.0, 2.0, 0.0)
    assert Fit.of([(1, 2), (2, 4), (3, 12)]).worst > 0.15
    assert Fit.of([(4, 8)]).seconds(1000) == 2000
    with pytest.raises(ValueError):
        Fit.of([])


def test_cores_follow_from_core_seconds():
    found = need(figures(), "rules")
    assert found is not None and found.cores == 2
    assert (round(found.core_seconds, 6), round(found.gained or 0, 6)) == (4.0, 2.0)
    # 1,000 GB x 4 core-seconds, twice, within an hour.
    assert found.cores_for(1) == -(-SPARE * 4000 // 3600) == 3 and found.cores_for(24) == 1
    assert (found.lake, found.packets) == (0.01, 1_000_000)
    assert need(figures(), "sessions") is None


def test_twice_the_time_is_twice_the_cores():
    slow, fast = need(figures(40.0), "rules"), need(figures(20.0), "rules")
    assert slow is not None and fast is not None
    assert abs(slow.cores_for(1) - 2 * fast.cores_for(1)) <= 1


def test_the_page_is_made_between_its_marks():
    made = page(f"before\n{page_marks()}\nafter\n", figures())
    assert made.startswith("before\n") and made.endswith("\nafter\n") and made.count(END) == 1
    assert page(made, figures()) == made
    assert re.search(r"\| packet rules \| 1\.00 x 10⁹ \| 0\.6 \| 1 \| 1 \| 3 \| 10\.0 GB \| 3\.65 TB \|", made)
    assert "2 cores are 2.00 times as fast as one" in made and "`run_ranges`" in made
    with pytest.raises(ValueError):
        page("no marks", figures())


def test_the_page_in_the_checkout_is_made_of_the_stored_figures():
    stored = ROOT / "benchmarks" / "pipeline.json"
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    found = json.loads(stored.read_text(encoding="utf-8")) if stored.exists() else None
    assert figures_page(found) in text, "run python -m tools.scale_page"
    assert page(text, found) == text


def page_marks() -> str:
    from tools.scale_page import BEGIN

    return f"{BEGIN}\n{END}"


def connections(walk: float) -> dict:
    """A core judges a million packets in order in 4 s, and in parts in as long as the walk takes more."""
    parts = {"walk": [walk], "facts": [0.5], "judge": [1.5, 2.0]}
    one = {"packets": 1_000_000, "bytes": 10**9, "memory": 300 << 20, "in_order": []}
    ways = {
        f"{name}, {way}": {**one, "spent": spent}
        for name in ("even", "skewed") for way, spent in (("in order", {"in order": [4.0]}), ("in parts", parts))
    }  # fmt: skip
    ways["skewed, in parts"] |= {"in_order": ["most of it belongs together"]}
    return {"measured": "2026-03-01", "pairs": 200, **ways}


def test_the_walk_bounds_what_cores_do_for_one_stream():
    slow, fast = connections(1.0)["even, in parts"], connections(0.25)["even, in parts"]
    assert [seconds(slow, cores) for cores in (2, 8)] == [3.0, 1.5]
    assert seconds(fast, 512) < 0.26 < seconds(slow, 512)
    made = section(connections(1.0))
    assert "| 2 | 3.00 | 333,333 | 1.33 |" in made and "most of it belongs together" in made


def test_servers_are_told_where_they_were_measured():
    figures = connections(1.0)
    assert "one server" not in section(figures)
    for name, why in (("served", []), ("sending", ["a table of the rules is full"])):
        figures |= {f"{name}, {way}": figures[f"even, {way}"] for way in ("in order", "in parts")}
        figures[f"{name}, in parts"] = {**figures["even, in parts"], "in_order": why}
    made = section(figures)
    assert "| all of them with one server | 4.00 | 1.00 | 4.00 | 1.33 | 2.67 |" in made
    assert "| 4.00 | one core judges it: a table of the rules is full | | | |" in made


def test_the_section_is_made_between_its_marks():
    text = "before\n<!-- connections: made by `python -m tools.scale_page` -->\n<!-- end of connections -->\nafter\n"
    made = with_section(text, connections(1.0))
    assert made.startswith("before\n") and made.endswith("\nafter\n") and with_section(made, connections(1.0)) == made
    with pytest.raises(ValueError):
        with_section("no marks", connections(1.0))


def by_the_clock(two: float, *, peak: int = 500 << 20, ranges: int = 80, why: str = "") -> dict:
    """A rotated set of 12,000,000 packets takes 40 s on one core; on two, `two` s, of which 30 are spread."""
    one = {
        "kind": "pairs", "gigabytes": 8, "packets": 12_000_000, "bytes": 8 * 10**9, "peak": peak, "own": 300 << 20,
        "least": 1.0, "most": 9.0, "spent": 70.0, "files": 80, "lake": 10**7, "digests": ["a"], "in_order": [],
    }  # fmt: skip
    stages = {"stages": {"run_streams": 39.0, "driver": 1.0}, "stages_spent": {"run_streams": 39.0, "driver": 1.0}}
    spread = {"part_stream": two - 32.0, "grouped": 30.0, "driver": 2.0}
    parts = {"stages": spread, "stages_spent": {**spread, "grouped": 58.0}}
    results = [
        {**one, **stages, "cores": 1, "seconds": 40.0, "ranges": 0},
        {**one, **parts, "cores": 2, "seconds": two, "ranges": ranges, "in_order": [why] if why else []},
    ]
    return {**figures(), "results": results, "deviating": 0.01, "rotated_megabytes": 100, "differing": []}


def test_a_goal_that_is_missed_is_told_with_both_figures():
    slow = "\n".join(goals(by_the_clock(36.0, peak=800_000_000)))
    assert f"1.11 times: 40.0 s on one, 36.0 s on two | not reached: 1.11 of {GAIN:.2f} |" in slow
    assert f"333,333 packets/s | not reached: 333,333 of {RATE:,} |" in slow
    assert "not reached: 800 of 700 MB" in slow and "1 of 1 captures | reached |" in slow
    found = by_the_clock(16.0, peak=600_000_000)
    fast = "\n".join(goals({**found, "differing": ["pairs, 8 GB, R-1 fail: 1 on 1 core, 2 on 2 cores"]}))
    assert "2.50 times: 40.0 s on one, 16.0 s on two | reached |" in fast and "750,000 packets/s | reached |" in fast
    assert "0 of 1 captures | not reached: pairs, 8 GB, R-1 fail: 1 on 1 core, 2 on 2 cores |" in fast
    assert "None of them was measured" in "\n".join(goals(figures()))


def test_what_one_core_does_alone_bounds_the_plan():
    made = "\n".join(plan(by_the_clock(34.0)))
    assert "| 1 | 62.0 | 40.0 (in order) | 300,000 |" in made and "| 2 | 33.0 | 34.0 | 352,941 |" in made
    assert "| 64 | 4.9 |  | 2,445,860 |" in made and "3,000,000 packets/s at most" in made
    assert "nothing can be computed" in "\n".join(plan(by_the_clock(34.0, ranges=0, why="it belongs together")))


def test_how_a_set_was_judged_and_what_was_before_stand_beside_its_figures():
    found = by_the_clock(34.0, ranges=0, why="most of it belongs together")
    made = figures_page(found)
    assert "| in order: most of it belongs together |" in made and "before, packets/s" not in made
    old = {**found["results"][1], "code": "before", "seconds": 340.0}
    made = figures_page({**found, "results": [*found["results"], old]})
    assert "| 352,941 | 235 | 35,294 | 10.00 |" in made
    assert made.count("340.0") == 0
