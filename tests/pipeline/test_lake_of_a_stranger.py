"""Lakes that somebody has made to harm, or that are damaged: one sentence, and nothing outside is touched."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from delta_helpers import SESSION
from lake_helpers import put

from conformance.pipeline import footers
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Lake

DAY = "2023-11-14"
Damage = Callable[[Path], object]


def log(place: Path, table: str, *actions: dict[str, Any]) -> None:
    """Add an entry to the log of a table."""
    folder = place / table / "_delta_log"
    number = len(list(folder.glob("*.json")))
    (folder / f"{number:020}.json").write_text("\n".join(map(json.dumps, actions)) + "\n")


def a_file(place: Path) -> Path:
    return next((place / "verdicts").rglob("*.parquet"))


def adds(place: Path, path: str, **other: Any) -> None:
    action = {"path": path, "partitionValues": {"date": DAY}, "size": 9, "modificationTime": 0, "dataChange": True}
    log(place, "verdicts", {"add": {**action, "stats": json.dumps({"numRecords": 1}), **other}})


def metadata(place: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Replace the metadata of a table."""
    lines = (place / "verdicts" / "_delta_log" / f"{0:020}.json").read_text().splitlines()
    (found,) = (json.loads(line)["metaData"] for line in lines if "metaData" in line)
    whole = {**found, "schema": json.loads(found["schemaString"])}
    change(whole)
    whole["schemaString"] = json.dumps(whole.pop("schema"))
    log(place, "verdicts", {"metaData": whole})


def protocol(place: Path, reader: int, writer: int, *features: str) -> None:
    said: dict[str, Any] = {"minReaderVersion": reader, "minWriterVersion": writer}
    log(place, "verdicts", {"protocol": said | ({"readerFeatures": features} if reader >= 3 else {})
                            | ({"writerFeatures": features} if writer >= 7 else {})})  # fmt: skip


def count_is_text(found: dict[str, Any]) -> None:
    next(one for one in found["schema"]["fields"] if one["name"] == "count")["type"] = "string"


def no_requirement(found: dict[str, Any]) -> None:
    found["schema"]["fields"] = [one for one in found["schema"]["fields"] if one["name"] != "requirement"]


def entry(place: Path, number: int = 1, table: str = "verdicts") -> Path:
    return place / table / "_delta_log" / f"{number:020}.json"


def link(place: Path, to: Path) -> None:
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    place.symlink_to(to)


DAMAGES: dict[str, Damage] = {
    "a file above": lambda root: adds(root, "../outside/x.parquet"),
    "a file far above": lambda root: adds(root, f"date={DAY}/../../../outside/x.parquet"),
    "a file above, escaped": lambda root: adds(root, "%2e%2e/outside/x.parquet"),
    "an absolute file": lambda root: adds(root, str(root.parent / "outside" / "x.parquet")),
    "a file by its address": lambda root: adds(root, f"file://{root.parent}/outside/x.parquet"),
    "a file of a store": lambda root: adds(root, "s3://theirs/x.parquet"),
    "a file of another table": lambda root: adds(root, f"../captures/date={DAY}/x.parquet"),
    "no Parquet file": lambda root: adds(root, f"date={DAY}/x.sh"),
    "a file without a day": lambda root: adds(root, "x.parquet"),
    "a file of another day": lambda root: adds(root, "date=2023-11-15/x.parquet"),
    "a file that is not there": lambda root: adds(root, f"date={DAY}/x.parquet"),
    "a file that is a link": lambda root: link(a_file(root), root.parent / "outside" / "x.parquet"),
    "a file that is none": lambda root: a_file(root).write_bytes(b"PAR1"),
    "a footer that is too long": lambda root: a_file(root).write_bytes(b"PAR1" + b"\xff\xff\xff\x7fPAR1"),
    "a deletion vector": lambda root: protocol(root, 3, 7, "deletionVectors"),
    "a mapping of columns": lambda root: protocol(root, 2, 5),
    "a feature of tomorrow": lambda root: protocol(root, 3, 7, "telepathy"),
    "a protocol of tomorrow": lambda root: protocol(root, 9, 9),
    "a writer of tomorrow": lambda root: protocol(root, 1, 7, "rowTracking"),
    "a column of another type": lambda root: metadata(root, count_is_text),
    "no column": lambda root: metadata(root, no_requirement),
    "no days": lambda root: metadata(root, lambda found: found.update(partitionColumns=[])),
    "a log that is none": lambda root: entry(root).write_text("{"),
    "a log that is binary": lambda root: entry(root, 0, "batches").write_bytes(b"\xff\x00"),
    "no log": lambda root: shutil.rmtree(root / "verdicts" / "_delta_log"),
    "a log that is a link": lambda root: link(root / "verdicts" / "_delta_log", root.parent / "outside"),
    "an entry that is a link": lambda root: link(entry(root), root.parent / "outside" / "x.parquet"),
    "an entry that is a folder": lambda root: entry(root, 2).mkdir(),
    "an entry that is a pipe": lambda root: os.mkfifo(entry(root, 2)),
    "an entry that lies elsewhere": lambda root: (
        shutil.move(entry(root), root.parent / "entry"),
        entry(root).symlink_to(root.parent / "entry"),
    ),
    "a checkpoint that is none": lambda root: (
        (root / "verdicts" / "_delta_log" / "_last_checkpoint").write_text('{"version":1,"size":1}'),
        (root / "verdicts" / "_delta_log" / f"{1:020}.checkpoint.parquet").write_bytes(b"PAR1"),
    ),
    "a batch that is no JSON": lambda root: (root / "_mqconform.json").write_text("[" * 100_000),
    "a head of a gigabyte": lambda root: (root / "_mqconform.json").open("wb").truncate(1 << 30),
    "an entry of a gigabyte": lambda root: entry(root).open("wb").truncate((1 << 30) + 1),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "lake"
    put(folder, [SESSION])
    return folder


@pytest.mark.parametrize("damage", DAMAGES)
def test_one_sentence_and_nothing_is_touched(tmp_path: Path, made: Path, damage: str) -> None:
    place, outside = tmp_path / "lake", tmp_path / "outside"
    shutil.copytree(made, place)
    outside.mkdir()
    shutil.copy(a_file(place), outside / "x.parquet")
    before = sorted((path, path.stat().st_mtime_ns) for path in outside.iterdir())
    DAMAGES[damage](place)
    with pytest.raises(PipelineError) as told:
        footers.located(Lake.open(place))
    assert "\n" not in told.value.sentence and "Traceback" not in told.value.sentence
    assert sorted((path, path.stat().st_mtime_ns) for path in outside.iterdir()) == before


def test_the_lake_as_it_was_made_is_read(made: Path) -> None:
    assert footers.located(Lake.open(made))
