"""`pipeline upgrade`: a lake in a folder becomes one on Delta or Iceberg, with the same rows, or stays as it is."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest

pytest.importorskip("deltalake")

from delta_helpers import deaths, everything, full, halves, in_a_folder
from lake_helpers import CAPTURES, contents, put, rows
from nightly import sample

from conformance.pipeline import footers
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.gather import gather
from conformance.pipeline.lake import Lake
from conformance.pipeline.lakes import upgrade as upgrading
from conformance.pipeline.lakes.upgrade import upgrade
from conformance.pipeline.schemas import TABLES
from conformance.resources import resource

FORMATS = ["delta", "iceberg"]


@pytest.fixture(params=FORMATS)
def format(request):
    """The format that a lake in a folder is turned into."""
    if request.param == "iceberg":
        pytest.importorskip("pyiceberg")
    return request.param


@pytest.mark.parametrize("format", sample("pipeline.kept-formats", FORMATS, ["delta"]), indirect=True)
def test_an_upgrade_that_dies_at_any_step_leaves_the_one_or_the_other(tmp_path, format):
    """With the same rows; the next one goes on, and nothing of the folder is left."""
    first, *each = deaths(tmp_path, "upgrade", halves(tmp_path), format)
    assert len(each) > 10 and first["before"] == first["done"]
    head = first["steps"].index("write _mqconform.json")
    for one in each:
        assert one["then"] == one["again"] == first["done"], one["step"]
        assert one["format"] == ("folder" if one["at"] <= head else format), one["step"]
        assert all(name.startswith("batches-") for name in one["left"]) and not one["log"], one["step"]
        assert not one["loose"], one["step"]
        assert one["states"] == one["kept"] and len(one["kept"]) == 1 and not one["staging"], one["step"]


@pytest.mark.parametrize("aside", [False, True], ids=["in place", "as a new lake"])
def test_an_upgraded_lake_goes_on_where_the_folder_was(tmp_path, aside, format):
    """Streams continue, and what is in the lake is known."""
    in_two = halves(tmp_path)
    in_a_folder(tmp_path / "lake", in_two[:1], [CAPTURES / "vlan.pcap"])
    before = contents(tmp_path / "lake")
    place = tmp_path / ("new" if aside else "lake")
    done = upgrade(Lake.open(tmp_path / "lake"), str(place) if aside else None, format)
    assert done.new and done.version == 2 and Lake.open(place).format == done.format == format
    assert not aside or contents(tmp_path / "lake") == before
    folder = in_a_folder(tmp_path / "folder", in_two[:1], [CAPTURES / "vlan.pcap"])
    footers.located(Lake.open(place))
    assert everything(Lake.open(place)) == everything(folder)
    assert put(place, [in_two[0], CAPTURES / "vlan.pcap"])[1].known == 2
    lake, _ = put(place, in_two[1:])
    assert everything(lake) == everything(in_a_folder(tmp_path / "folder", in_two[1:]))
    assert lake.snapshot().version == 3


def test_an_old_lake_is_upgraded(tmp_path, format):
    """One that version 0.1 made, with captures, packets and a run; columns that were added since are null."""
    shutil.copytree(resource("fixtures/old/0.1/lake"), tmp_path / "lake")
    old = Lake.open(tmp_path / "lake")
    before, version, summed = _known(old), old.snapshot().version, gather(old)
    upgrade(old, format=format)
    lake = Lake.open(tmp_path / "lake")
    assert lake.format == format and lake.snapshot().version == version
    assert _known(lake) == before and sum(sum(one.values()) for one in before.values()) > 1_000
    assert gather(lake).totals == summed.totals and gather(lake).verdicts == summed.verdicts
    assert not upgrade(lake).new


def _known(lake: Lake) -> dict[str, Counter]:
    return {
        table: Counter(repr(sorted((name, value) for name, value in row.items() if value is not None)) for row in found)
        for table, found in ((table, rows(lake, table)) for table in TABLES)
    }


def test_an_upgrade_over_something_is_refused(tmp_path):
    in_a_folder(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "letter.txt").write_text("mine")
    for there in ("there", "lake"):
        with pytest.raises(PipelineError, match="is there already; name a new place"):
            upgrade(Lake.open(tmp_path / "lake"), str(tmp_path / there))
    upgrade(Lake.open(tmp_path / "lake"))
    for more in ({"out": str(tmp_path / "new")}, {"format": "iceberg"}):
        with pytest.raises(PipelineError, match="is on Delta already"):
            upgrade(Lake.open(tmp_path / "lake"), **more)


def test_an_upgrade_on_afull_disk_changes_nothing(tmp_path, monkeypatch, format):
    in_a_folder(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    before = sorted(contents(tmp_path / "lake"))
    with monkeypatch.context() as patch:
        patch.setattr(upgrading, "_batches", full)
        with pytest.raises(PipelineError, match="No space left on device"):
            upgrade(Lake.open(tmp_path / "lake"), format=format)
    assert [one for one in sorted(contents(tmp_path / "lake")) if (tmp_path / "lake" / one).is_file()] == [
        one for one in before if (tmp_path / "lake" / one).is_file()
    ]
    assert len(rows(Lake.open(tmp_path / "lake"), "captures")) == 1
