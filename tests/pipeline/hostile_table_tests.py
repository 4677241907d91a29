"""Tests of hostile lakes on tables, of whatever format."""

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
from conformance.pipeline.lake import Lake
from conformance.pipeline.lakes import delta_tables
from conformance.pipeline.work import Here

"""What harms a lake on tables of any format."""


Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with a kept state, which nothing is wrong with."""
    folder = tmp_path_factory.mktemp("sound")
    Lake.open(folder / "lake", create=True)
    put(folder / "lake", [halves(folder)[0], CAPTURES / "vlan.pcap"])
    return folder / "lake"


@pytest.fixture
def place(sound: Path, tmp_path: Path) -> Path:
    shutil.copytree(sound, tmp_path / "lake")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.parquet").write_bytes(b"not yours")
    return tmp_path / "lake"


def batch(place: Path) -> str:
    (path,) = (place / "batches").glob("*.parquet")
    return path.stem.removeprefix("batches-")


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


def test_a_kept_state_that_is_a_link_is_not_read(sound: Path, place: Path) -> None:
    (state,) = (place / "_state").iterdir()
    link(state, place.parent / "outside" / "x.parquet")
    with pytest.raises(PipelineError, match="is a link: it is damaged"):
        put(place, [sound.parent / "set_2.pcap"])
