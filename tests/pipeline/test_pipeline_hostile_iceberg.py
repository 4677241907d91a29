"""Lakes on Iceberg that somebody has made to harm, or that are damaged: one sentence, and nothing is touched."""
# ruff: noqa: F811 - tests take fixtures of another module by their names

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyiceberg")

from delta_helpers import SESSION
from hostile_table_tests import (  # noqa: F401 - the same tests, on Iceberg
    ANYWHERE,
    Damage,
    a_file,
    batch,
    link,
    place,
    refuses,
    sound,
    test_a_kept_state_that_is_a_link_is_not_read,
    test_nothing_is_wrong_without_a_damage,
)
from lake_helpers import put

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Format, Lake
from conformance.pipeline.lakes import delta, iceberg_tables
from conformance.pipeline.lakes.iceberg_entries import Adding, data_file
from conformance.pipeline.lakes.store import LocalStore


@pytest.fixture(scope="module")
def format() -> Format:
    """The format of the lake."""
    return "iceberg"


def adds(root: Path, path: str, *, day: str = "2023-11-14", rows: int = 1, of: str | None = None) -> None:
    """Let the table of verdicts name one more file. path: below the table, or from elsewhere. of: its batch."""
    table = iceberg_tables.load(LocalStore(root), "verdicts")
    name = of or batch(root)
    stats = {"numRecords": rows, "minValues": {"batch": name}, "maxValues": {"batch": name}, "nullCount": {}}
    found = data_file(table, "verdicts", Adding("date=2023-11-14/x.parquet", day, 9, stats))
    found._data[1] = path if path.startswith("/") or "://" in path else f"{table.io().location}/{path}"
    with table.table.transaction() as changing, changing.update_snapshot().fast_append() as appending:
        appending.append_data_file(found)


def newest(root: Path) -> Path:
    """The metadata of the verdicts."""
    return max((root / "verdicts" / "metadata").glob("v*.json"), key=lambda path: int(path.name[1:].partition(".")[0]))


def metadata(root: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change these metadata."""
    found = json.loads(newest(root).read_text())
    change(found)
    newest(root).write_text(json.dumps(found))


def manifests(root: Path) -> Path:
    """The list of their manifests."""
    return newest(root).with_name(Path(json.loads(newest(root).read_text())["snapshots"][-1]["manifest-list"]).name)


def elsewhere(root: Path, path: Path) -> None:
    """Let the list of manifests be another file."""
    metadata(root, lambda found: found["snapshots"][-1].update({"manifest-list": str(path)}))


def again(root: Path) -> None:
    """Let the list of manifests name each of them many times."""
    from pyiceberg.manifest import write_manifest_list

    table = iceberg_tables.load(LocalStore(root), "verdicts")
    found = table.snapshot()
    place = Path(table.io().location) / "metadata" / "again.avro"
    output = table.io().new_output(str(place))
    with write_manifest_list(2, output, found.snapshot_id, None, found.sequence_number, "deflate") as writer:
        writer.add_manifests(found.manifests(table.io()) * 50)
    elsewhere(root, place)


ON_ICEBERG: dict[str, Damage] = {
    "a file above": lambda root: adds(root, "../outside/x.parquet"),
    "a file far above": lambda root: adds(root, "date=2023-11-14/../../../outside/x.parquet"),
    "an absolute file": lambda root: adds(root, str(root.parent / "outside" / "x.parquet")),
    "a file by its address": lambda root: adds(root, f"file://{root.parent}/outside/x.parquet"),
    "a file of a store": lambda root: adds(root, "s3://theirs/x.parquet"),
    "a file of another table": lambda root: adds(root, str(a_file(root, "captures"))),
    "no Parquet file": lambda root: adds(root, "date=2023-11-14/x.sh"),
    "a file without a day": lambda root: adds(root, "x.parquet"),
    "a file of another day": lambda root: adds(root, "date=2023-11-15/x.parquet"),
    "a file of a day that is not its own": lambda root: adds(root, "date=2023-11-14/x.parquet", day="9999-12-31"),
    "a file that is not there": lambda root: adds(root, "date=2023-11-14/x.parquet"),
    "rows in another number": lambda root: adds(root, f"date=2023-11-14/{a_file(root).name}", rows=1 << 40),
    "a number of rows below 0": lambda root: adds(root, f"date=2023-11-14/{a_file(root).name}", rows=-1),
    "a format of tomorrow": lambda root: metadata(root, lambda found: found.update({"format-version": 3})),
    "a snapshot that is not there": lambda root: metadata(root, lambda found: found.update({"current-snapshot-id": 7})),
    "a place that is none": lambda root: metadata(root, lambda found: found.update(location="/")),
    "another place": lambda root: metadata(root, lambda found: found.update(location=str(root.parent / "outside"))),
    "two ways to divide": lambda root: metadata(
        root, lambda found: found["partition-specs"].append({"spec-id": 1, "fields": []})
    ),
    "manifests elsewhere": lambda root: elsewhere(root, root.parent / "outside" / "x.parquet"),
    "manifests of another table": lambda root: elsewhere(root, root / "captures" / "metadata" / "x.avro"),
    "manifests that are gone": lambda root: manifests(root).unlink(),
    "manifests that are a link": lambda root: link(manifests(root), root.parent / "outside" / "x.parquet"),
    "manifests that are text": lambda root: manifests(root).write_text("{}"),
    "no metadata": lambda root: shutil.rmtree(root / "verdicts" / "metadata"),
    "metadata that are a link": lambda root: link(root / "verdicts" / "metadata", root.parent / "outside"),
    "a hint that is a link": lambda root: link(
        root / "verdicts" / "metadata" / "version-hint.text", root.parent / "outside" / "x.parquet"
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", ON_ICEBERG)
def test_tables_that_were_tampered_with(place: Path, damage: str) -> None:
    refuses(place, ON_ICEBERG[damage])


@pytest.mark.parametrize("damage", ANYWHERE)
def test_one_sentence_and_nothing_is_touched(place: Path, damage: str) -> None:
    refuses(place, ANYWHERE[damage])


def test_manifests_that_are_named_again_are_not_read_again(place: Path) -> None:
    """A short list would otherwise fill the memory before its files are compared."""
    again(place)
    with pytest.raises(PipelineError, match="verdicts names a manifest twice"):
        Lake.open(place)


def test_metadata_that_are_too_large_are_not_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.pipeline.lakes.iceberg_files.MAX_FILE", 1_000)
    with pytest.raises(PipelineError, match="at most 1,000 are read"):
        Lake.open(place)


def test_rows_of_a_batch_that_nobody_finished_do_not_count(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever wrote them: a writer that looks at all tables, as each does now and then, removes them and no other."""
    monkeypatch.setattr(delta, "EACH", 1)
    source = a_file(place)
    target = source.with_name("theirs.parquet")
    shutil.copy(source, target)
    adds(place, f"date=2023-11-14/{target.name}", of="theirs")
    lake = Lake.open(place)
    assert target not in set(lake.files("verdicts")) and source in set(lake.files("verdicts"))
    put(place, [SESSION])
    assert not target.exists() and source in set(Lake.open(place).files("verdicts"))
