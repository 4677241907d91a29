"""Runs against drivers that mean harm: bounded in memory, disk and time, with a verdict, and nothing left behind.

Those in `fakes/blind` were written from the documents of the protocol by somebody who had not read the harness; their
README says what a run concludes of each. All run nightly; every day those that cost most before they were bounded.
"""

from __future__ import annotations

import sys
from pathlib import Path

import hostile
import pytest
from nightly import NIGHTLY, amount, sample

EVERY_DAY = {
    "blind/answers_with_a_json_bomb": "more than 200000 values",
    "blind/floods_with_json_bombs_as_events": "more than 200000 values",
    "blind/forks_a_storm": "processes that the driver started live on outside its process group",
}
PATIENCE = 4  # machines are busy
FEW = () if NIGHTLY else ("--suite", "cursors", "--max-failures=1")

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what a run costs is read from /proc")


def test_there_are_enough_of_them() -> None:
    found = hostile.drivers()
    assert set(EVERY_DAY) <= set(found)
    assert len(found) >= 140
    assert sum(name.startswith("blind/") for name in found) >= 110


@pytest.mark.parametrize("name", sample("adapter.hostile-drivers", list(hostile.drivers()), list(EVERY_DAY)))
def test_a_run_against_a_hostile_driver_stays_within_its_bounds(name: str, tmp_path: Path) -> None:
    with hostile.emptied() as folder:
        driver = hostile.drivers()[name]
        ending = hostile.run(
            driver,
            folder,
            budget_s=amount("adapter.seconds-against-a-hostile-driver"),
            arguments=FEW,
            patience=PATIENCE,
        )
        record = "".join(path.read_text("utf-8", "replace") for path in (folder / "out").glob("run-*.ndjson"))
    assert not ending.broken(), ending.said
    assert EVERY_DAY.get(name, "") in ending.said + record
    assert not {"error"} & set(ending.outcomes), "what the driver did is not blamed on the harness"
