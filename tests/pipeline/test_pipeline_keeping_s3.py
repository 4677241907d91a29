"""Keeping a lake in S3 in order, as a server on loopback speaks it."""

from __future__ import annotations

from pathlib import PurePath

import pytest

pytest.importorskip("deltalake")

from made_lake import capture, day, fill, verdict
from nightly import sample

from conformance.pipeline import keeping, keeping_compact, keeping_vacuum
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Format, Lake
from conformance.pipeline.lakes import fold, lease


def requirements(lake: Lake) -> list[str]:
    import pyarrow.parquet as pq

    found = [
        pq.read_table(str(path), partitioning=None, filesystem=lake.store.arrow) for path in lake.files("verdicts")
    ]
    return sorted(name for table in found for name in table["requirement"].to_pylist())


@pytest.mark.parametrize("format", sample("pipeline.kept-formats", ["delta", "iceberg"], ["delta"]))
def test_a_lake_in_s3_is_compacted_forgotten_and_read_as_it_was(
    s3: str, monkeypatch: pytest.MonkeyPatch, format: Format
) -> None:
    monkeypatch.setattr(lease, "BEAT_S", 0.2)
    monkeypatch.setattr(fold, "EVERY", 1)
    if format == "iceberg":
        pytest.importorskip("pyiceberg")
    place = f"{s3}/kept/{format}"
    lake = Lake.open(place, create=True, format=format)
    for at in range(3):
        fill(lake, [verdict(f"r-{at}", "fail", "a", day(at % 2)), capture(day(at % 2))])
    commit, meanwhile = keeping_compact.replace, []

    def late(*given) -> None:
        if not meanwhile:
            meanwhile.append(True)
            keeping.compact(Lake.open(place))
        commit(*given)

    with monkeypatch.context() as patch:
        patch.setattr(keeping_compact, "replace", late)
        keeping.compact(lake)
    assert requirements(Lake.open(place)) == ["r-0", "r-1", "r-2"] and len(lake.files("verdicts")) == 2
    assert keeping.forget(lake, day(1)).rows["verdicts"] == 2
    again = Lake.open(place)
    assert requirements(again) == ["r-1"] and requirements(again.as_of("2")) == ["r-0", "r-1"]
    assert not any(one.files for one in keeping.vacuum(again, 0))
    monkeypatch.setattr(keeping_vacuum, "LEAST_S", 0)
    done = {one.table: one for one in keeping.vacuum(again, 0)}
    gone = {PurePath(name).parent.name for name, _ in done["verdicts"].files if name.endswith(".parquet")}
    assert gone == {"date=2026-03-01"}
    assert requirements(Lake.open(place)) == ["r-1"]
    with pytest.raises(PipelineError, match="as of batch 2 can no longer be read"):
        again.as_of("2")
