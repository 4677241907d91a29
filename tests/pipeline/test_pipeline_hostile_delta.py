"""Lakes on Delta that somebody has made to harm, or that are damaged: one sentence, and nothing outside is touched."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("deltalake")
from delta_helpers import SESSION
from hostile_table_tests import *  # noqa: F403 - the same tests as on Iceberg
from hostile_table_tests import ANYWHERE, Damage, a_file, batch, link, refuses
from lake_helpers import put

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Lake
from conformance.pipeline.lakes import delta, delta_tables

"""What harms a lake on tables of any format."""


@pytest.fixture(scope="module")
def format() -> str:
    """The format of the lake; the tests of Iceberg have another."""
    return "delta"


def log(place: Path, table: str, *actions: dict[str, Any]) -> None:
    """Add an entry to the log of a table."""
    folder = place / table / "_delta_log"
    number = len(list(folder.glob("*.json")))
    (folder / f"{number:020}.json").write_text("\n".join(map(json.dumps, actions)) + "\n")


def adds(place: Path, path: str, table: str = "verdicts", **more: Any) -> None:
    stats = {"numRecords": 1, "minValues": {"batch": batch(place)}, "maxValues": {"batch": batch(place)}}
    action = {"path": path, "partitionValues": {"date": "2023-11-14"}, "size": 9, "modificationTime": 0,
              "dataChange": True, "stats": json.dumps(stats)}  # fmt: skip
    log(place, table, {"add": action | more})


def metadata(place: Path, table: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Replace the metadata of a table."""
    lines = (place / table / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    (found,) = (json.loads(line)["metaData"] for line in lines if "metaData" in line)
    schema = json.loads(found["schemaString"])
    whole = {**found, "schema": schema}
    change(whole)
    whole["schemaString"] = json.dumps(whole.pop("schema"))
    log(place, table, {"metaData": whole})


def protocol(place: Path, reader: int, writer: int, *features: str) -> None:
    said: dict[str, Any] = {"minReaderVersion": reader, "minWriterVersion": writer}
    if reader >= 3:
        said["readerFeatures"] = list(features)
    if writer >= 7:
        said["writerFeatures"] = list(features)
    log(place, "verdicts", {"protocol": said})


def _type(schema: dict[str, Any], name: str, kind: str) -> None:
    next(one for one in schema["fields"] if one["name"] == name)["type"] = kind


def _lacks(found: dict[str, Any], name: str) -> None:
    found["schema"]["fields"] = [one for one in found["schema"]["fields"] if one["name"] != name]


ON_DELTA: dict[str, Damage] = {
    "a file above": lambda root: adds(root, "../outside/x.parquet"),
    "a file far above": lambda root: adds(root, "date=2023-11-14/../../../outside/x.parquet"),
    "a file above, escaped": lambda root: adds(root, "%2e%2e/outside/x.parquet"),
    "an absolute file": lambda root: adds(root, str(root.parent / "outside" / "x.parquet")),
    "a file by its address": lambda root: adds(root, f"file://{root.parent}/outside/x.parquet"),
    "a file of a store": lambda root: adds(root, "s3://theirs/x.parquet"),
    "a file of another folder": lambda root: adds(root, "../captures/date=2023-11-14/x.parquet"),
    "no Parquet file": lambda root: adds(root, "date=2023-11-14/x.sh"),
    "a file without a day": lambda root: adds(root, "x.parquet"),
    "a file of another day": lambda root: adds(root, "date=2023-11-15/x.parquet"),
    "a file without its rows": lambda root: adds(root, "date=2023-11-14/x.parquet", stats=None),
    "a file that is not there": lambda root: adds(root, "date=2023-11-14/x.parquet"),
    "rows in another number": lambda root: adds(
        root, f"date=2023-11-14/{a_file(root).name}",
        stats=json.dumps({"numRecords": 1 << 40, "minValues": {}, "maxValues": {}}),
    ),
    "a deletion vector": lambda root: protocol(root, 3, 7, "deletionVectors"),
    "a mapping of columns": lambda root: protocol(root, 2, 5),
    "a feature of tomorrow": lambda root: protocol(root, 3, 7, "telepathy"),
    "a protocol of tomorrow": lambda root: protocol(root, 9, 9),
    "a writer of tomorrow": lambda root: protocol(root, 1, 7, "rowTracking"),
    "a column of another type": lambda root: metadata(
        root, "verdicts", lambda found: _type(found["schema"], "count", "string")
    ),
    "no column": lambda root: metadata(root, "verdicts", lambda found: _lacks(found, "requirement")),
    "no batch": lambda root: metadata(root, "captures", lambda found: _lacks(found, "batch")),
    "no days": lambda root: metadata(root, "verdicts", lambda found: found.update(partitionColumns=[])),
    "closed to removals": lambda root: metadata(
        root, "verdicts", lambda found: found.update(configuration={"delta.appendOnly": "true"})
    ),
    "a log that is none": lambda root: (root / "verdicts" / "_delta_log" / f"{1:020}.json").write_text("{"),
    "a log that is binary": lambda root: (root / "batches" / "_delta_log" / f"{0:020}.json").write_bytes(b"\xff\x00"),
    "a log with a hole": lambda root: (root / "verdicts" / "_delta_log" / f"{0:020}.json").unlink(),
    "no log": lambda root: shutil.rmtree(root / "verdicts" / "_delta_log"),
    "a checkpoint that is none": lambda root: [
        (root / "verdicts" / "_delta_log" / "_last_checkpoint").write_text('{"version":1,"size":1}'),
        (root / "verdicts" / "_delta_log" / f"{1:020}.checkpoint.parquet").write_bytes(b"PAR1"),
    ],
    "a log that is a link": lambda root: link(root / "verdicts" / "_delta_log", root.parent / "outside"),
    "an entry that is a link": lambda root: link(
        root / "verdicts" / "_delta_log" / f"{1:020}.json", root.parent / "outside" / "x.parquet"
    ),
}  # fmt: skip


DAMAGES = ON_DELTA | ANYWHERE


@pytest.mark.parametrize("damage", DAMAGES)
def test_one_sentence_and_nothing_is_touched(place: Path, damage: str) -> None:
    refuses(place, DAMAGES[damage])


def test_the_features_that_are_not_known_are_named(place: Path) -> None:
    protocol(place, 3, 7, "deletionVectors", "columnMapping")
    with pytest.raises(PipelineError, match=r"The table verdicts .* \(columnMapping, deletionVectors\)"):
        Lake.open(place)


def test_a_log_that_is_too_long_is_not_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delta_tables, "MAX_LOG", 1_000)
    with pytest.raises(PipelineError, match=r"has a log of [\d,]+ bytes, at most 1,000 are read"):
        Lake.open(place)


def test_rows_of_a_batch_that_nobody_finished_do_not_count(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever wrote them: a writer removes them, when it looks at all tables as it does now and then."""
    monkeypatch.setattr(delta, "EACH", 1)
    source = a_file(place)
    target = source.with_name("theirs.parquet")
    shutil.copy(source, target)
    stats = {"numRecords": 1, "minValues": {"batch": "theirs"}, "maxValues": {"batch": "theirs"}}
    adds(place, f"date=2023-11-14/{target.name}", stats=json.dumps(stats))
    lake = Lake.open(place)
    assert target not in set(lake.files("verdicts")) and source in set(lake.files("verdicts"))
    put(place, [SESSION])
    assert not target.exists() and source in set(Lake.open(place).files("verdicts"))
