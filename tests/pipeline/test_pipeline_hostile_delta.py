"""Lakes on Delta that somebody has made to harm, or that are damaged: one sentence, and nothing outside is touched."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("deltalake")

from delta_helpers import SESSION, halves
from lake_helpers import CAPTURES, contents, put

from conformance.pipeline import footers
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.ingest import Options, ingest
from conformance.pipeline.lake import Format, Lake
from conformance.pipeline.lakes import delta, delta_tables
from conformance.pipeline.work import Here

Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def format() -> Format:
    """The format of the lake; the tests of Iceberg have another."""
    return "delta"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, format: Format) -> Path:
    """A lake with a kept state, which nothing is wrong with."""
    folder = tmp_path_factory.mktemp("sound")
    Lake.open(folder / "lake", create=True, format=format)
    put(folder / "lake", [halves(folder)[0], CAPTURES / "vlan.pcap"])
    return folder / "lake"


@pytest.fixture
def place(sound: Path, tmp_path: Path) -> Path:
    shutil.copytree(sound, tmp_path / "lake")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.parquet").write_bytes(b"not yours")
    return tmp_path / "lake"


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


def batch(place: Path) -> str:
    (path,) = (place / "batches").glob("*.parquet")
    return path.stem.removeprefix("batches-")


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


def link(path: Path, to: Path) -> None:
    """Put a link in the place of a file or folder, whose content is where it leads."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    path.symlink_to(to)


def a_file(place: Path, table: str = "verdicts") -> Path:
    return min((place / table).glob("date=*/*.parquet"))


def entry(place: Path, change: Callable[[dict[str, Any]], object], **row: Any) -> None:
    """Replace the row of the only batch."""
    import pyarrow as pa
    from pyarrow import parquet

    (path,) = (place / "batches").glob("*.parquet")
    (found,) = parquet.read_table(path).to_pylist()
    value = json.loads(found["entry"])
    text = change(value)
    found["entry"] = text if isinstance(text, str) else json.dumps(value)
    parquet.write_table(pa.Table.from_pylist([found | row], schema=delta_tables.schema("batches")), path)


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


ANYWHERE: dict[str, Damage] = {
    "no table": lambda root: shutil.rmtree(root / "sessions"),
    "no batches": lambda root: shutil.rmtree(root / "batches"),
    "a table that is a link": lambda root: link(root / "verdicts", root.parent / "outside"),
    "a day that is a link": lambda root: link(a_file(root).parent, root.parent / "outside"),
    "a file that is a link": lambda root: link(a_file(root), root.parent / "outside" / "x.parquet"),
    "a batch that is a link": lambda root: link(
        min((root / "batches").glob("*.parquet")), root.parent / "outside" / "x.parquet"
    ),
    "a file that is not Parquet": lambda root: a_file(root).write_bytes(b"PAR1"),
    "a file of another table": lambda root: shutil.copy(a_file(root, "captures"), a_file(root)),
    "a batch that is not Parquet": lambda root: min((root / "batches").glob("*.parquet")).write_bytes(b"PAR1"),
    "an entry that is not JSON": lambda root: entry(root, lambda value: "{"),
    "an entry that is a list": lambda root: entry(root, lambda value: "[]"),
    "an entry nested deeply": lambda root: entry(root, lambda value: "[" * 100_000 + "]" * 100_000),
    "an entry with a key twice": lambda root: entry(root, lambda value: '{"batch": 1, "batch": 2}'),
    "an entry with another member": lambda root: entry(root, lambda value: value.update(run="rm -rf")),
    "an entry without ends": lambda root: entry(root, lambda value: value.pop("provisional") and None),
    "an entry of another batch": lambda root: entry(root, lambda value: value.update(batch="another")),
    "an entry of another number": lambda root: entry(root, lambda value: value.update(version=7)),
    "a number that is missing": lambda root: entry(root, lambda value: value.update(version=3), number=3),
    "a state elsewhere": lambda root: entry(
        root, lambda value: value["keep"][0].update(file="../../outside/x.parquet")
    ),
    "rows of an end elsewhere": lambda root: entry(
        root, lambda value: value["provisional"][0].update(name="../../outside/x.parquet")
    ),
}  # fmt: skip
"""What harms a lake on tables of any format."""
DAMAGES = ON_DELTA | ANYWHERE


@pytest.mark.parametrize("damage", DAMAGES)
def test_one_sentence_and_nothing_is_touched(place: Path, damage: str) -> None:
    refuses(place, DAMAGES[damage])


def refuses(place: Path, damage: Damage) -> None:
    """Do the damage: a reader and a writer end with one sentence, and touch nothing."""
    damage(place)
    before, outside = contents(place), contents(place.parent / "outside")
    with pytest.raises(PipelineError) as read:
        footers.located(Lake.open(place))
    with pytest.raises(PipelineError) as written:
        lake = Lake.open(place, create=True)
        footers.located(lake)
        ingest(lake, [str(SESSION)], Options(), Here())
    for raised in (read, written):
        sentence = raised.value.sentence
        assert raised.value.code == 2 and sentence.endswith(".") and "\n" not in sentence and len(sentence) < 700
    assert contents(place.parent / "outside") == outside
    assert contents(place) == before


def test_nothing_is_wrong_without_a_damage(place: Path) -> None:
    """And reading writes nothing."""
    before = contents(place)
    assert len(footers.located(Lake.open(place))) > 5
    assert contents(place) == before


def test_the_features_that_are_not_known_are_named(place: Path) -> None:
    protocol(place, 3, 7, "deletionVectors", "columnMapping")
    with pytest.raises(PipelineError, match=r"The table verdicts .* \(columnMapping, deletionVectors\)"):
        Lake.open(place)


def test_a_kept_state_that_is_a_link_is_not_read(sound: Path, place: Path) -> None:
    (state,) = (place / "_state").iterdir()
    link(state, place.parent / "outside" / "x.parquet")
    with pytest.raises(PipelineError, match="is a link: it is damaged"):
        put(place, [sound.parent / "set_2.pcap"])


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
