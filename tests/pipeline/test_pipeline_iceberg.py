"""A lake on Iceberg: what the tests of one on Delta show, and what other readers of Iceberg find in it."""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from pathlib import Path

import pytest

pytest.importorskip("pyiceberg")

from delta_helpers import SESSION, everything, halves, in_a_folder
from lake_helpers import CAPTURES, put, replayed, rows, said, told
from state_tests import *  # noqa: F403 - the same tests, on Iceberg
from table_lake_tests import *  # noqa: F403 - the same tests, on Iceberg

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import MAX_FILE, UnfitError
from conformance.pipeline.lake import Lake
from conformance.pipeline.lakes import iceberg_files, iceberg_tables
from conformance.pipeline.schemas import TABLES


@pytest.fixture
def tables():
    return iceberg_tables


@pytest.fixture
def in_two(tmp_path):
    return halves(tmp_path)


@pytest.fixture
def commits():
    return r"create batches/metadata/v\d+\.metadata\.json"


@pytest.fixture
def committing():
    return "conformance.pipeline.lakes.iceberg_files.write_version"


def opened(place: Path):
    """A table as pyiceberg finds it by its folder."""
    from pyiceberg.table import StaticTable

    return StaticTable.from_metadata(str(place))


def test_other_readers_find_the_rows_by_the_folder_of_a_table(tmp_path, in_two):
    """pyiceberg reads by field ids and the days of its metadata, where we read by names and the days of folders."""
    for capture in in_two:
        lake, _ = put(tmp_path / "lake", [capture])
    batches = opened(lake.root / "batches").scan().to_arrow().to_pylist()
    assert [row["number"] for row in sorted(batches, key=lambda row: row["number"])] == [1, 2]
    known = {row["batch"] for row in batches}
    for table in TABLES:
        found = opened(lake.root / table)
        theirs = found.scan().to_arrow()
        assert theirs.num_rows == len(rows(lake, table))
        assert set(theirs["batch"].to_pylist()) <= known
        days = {path.parent.name for path in lake.files(table)}
        assert {f"date={day}" for day in theirs["date"].to_pylist()} == days
        for name in set(TABLES[table].names) - {"date"}:
            ours = [repr(row[name]) for row in rows(lake, table)]
            assert sorted(map(repr, theirs[name].to_pylist())) == sorted(ours), (table, name)
        assert found.metadata.format_version == 2
    verdicts = opened(lake.root / "verdicts").scan(row_filter="outcome = 'pass' and date >= '2023-11-14'").to_arrow()
    assert verdicts.num_rows == sum(row["outcome"] == "pass" for row in rows(lake, "verdicts")) > 0


def test_each_snapshot_names_its_batch(tmp_path, in_two):
    for capture in in_two:
        lake, _ = put(tmp_path / "lake", [capture])
    batches = opened(lake.root / "batches").scan().to_arrow()
    wanted = [(str(n), b) for n, b in sorted(zip(*(batches[c].to_pylist() for c in ("number", "batch")), strict=True))]
    for table in ("captures", "verdicts", "batches"):
        found = [one.summary.additional_properties for one in opened(lake.root / table).metadata.snapshots]
        assert [
            (one["mqconform.number"], one["mqconform.batch"]) for one in found if "mqconform.number" in one
        ] == wanted
    pinned = [json.loads(text)["tables"] for text in batches["entry"].to_pylist()]
    ids = {one.snapshot_id for one in opened(lake.root / "captures").metadata.snapshots}
    assert len({one["captures"] for one in pinned} & ids) == 2  # the third has removed what a batch has ended


def test_a_lake_that_was_moved_is_read_and_written(tmp_path, in_two):
    put(tmp_path / "made", in_two[:1])
    (tmp_path / "made").rename(tmp_path / "lake")
    assert everything(Lake.open(tmp_path / "lake")) == everything(in_a_folder(tmp_path / "folder", in_two[:1]))
    lake, _ = put(tmp_path / "lake", in_two[1:])
    assert everything(lake) == everything(in_a_folder(tmp_path / "folder", in_two[1:]))
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("hint", [b"1", b"99", b"0", b"-1", b"../x", b"", None])
def test_the_newest_version_is_found_whatever_the_hint_says(tmp_path, in_two, hint):
    lake, _ = put(tmp_path / "lake", in_two[:1])
    for table in (*TABLES, "batches"):
        path = lake.root / table / "metadata" / "version-hint.text"
        path.unlink() if hint is None else path.write_bytes(hint)
    assert everything(Lake.open(tmp_path / "lake")) == everything(lake)
    assert everything(put(tmp_path / "lake", in_two[1:])[0]) == everything(
        in_a_folder(tmp_path / "folder", *([one] for one in in_two))
    )


def test_old_versions_of_the_metadata_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(iceberg_tables, "VERSIONS_KEPT", 2)
    for name in ("vlan.pcap", "raw-ip.pcap", "cut-record.pcap", "lost-segment.pcapng"):
        lake, _ = put(tmp_path / "lake", [CAPTURES / name])
    names = sorted(path.name for path in (lake.root / "captures" / "metadata").glob("v*.json"))
    assert names == ["v3.metadata.json", "v4.metadata.json", "v5.metadata.json"]
    assert len(rows(Lake.open(tmp_path / "lake"), "captures")) == 4


def test_without_pyiceberg_a_sentence_names_the_extra(tmp_path, monkeypatch):
    put(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    monkeypatch.setattr(
        "conformance.pipeline.lakes.tables.find_spec", lambda name: None if name == "pyiceberg" else object()
    )
    for place in ("lake", "new"):
        with pytest.raises(PipelineError, match=r"needs pyiceberg: .*mqconform\[iceberg\].*--format folder"):
            Lake.open(tmp_path / place, create=True, format="iceberg")


def test_rows_that_others_have_deleted_are_one_sentence(tmp_path):
    """Spark may write which rows are gone into a file of its own; they are not shown as if they were there."""
    from pyiceberg.manifest import ManifestContent, write_manifest_list

    lake, _ = put(tmp_path / "lake", [SESSION])
    table = iceberg_tables.load(lake.store, "verdicts").table
    snapshot = table.current_snapshot()
    (manifest,) = snapshot.manifests(table.io)
    manifest._data[3] = ManifestContent.DELETES
    output = table.io.new_output(f"{table.location()}/metadata/snap-1-0-deletes.avro")
    with write_manifest_list(2, output, snapshot.snapshot_id, None, 1, "deflate") as writer:
        writer.add_manifests([manifest])
    path = lake.root / "verdicts" / "metadata" / "v2.metadata.json"
    path.write_text(re.sub(r"snap-\d+-0-[0-9a-f-]+\.avro", "snap-1-0-deletes.avro", path.read_text()))
    with pytest.raises(
        PipelineError, match=r"verdicts of the lake .* files that delete rows of other files"
    ) as problem:
        Lake.open(tmp_path / "lake")
    assert "\n" not in problem.value.sentence


def _text(old: str, new: str):
    def change(path: Path) -> None:
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return change


def _link(path: Path) -> None:
    path.rename(path.with_name("aside"))
    path.symlink_to(path.with_name("aside"))


def _names_another(path: Path) -> None:
    """Its snapshot lies where another one's files are."""
    found = json.loads(path.read_text())
    found["snapshots"][0]["manifest-list"] = "/etc/passwd"
    path.write_text(json.dumps(found))


HOSTILE = {
    "nothing": (lambda path: path.write_bytes(b""), "cannot be used"),
    "no JSON": (lambda path: path.write_bytes(b"{"), "cannot be used"),
    "no UTF-8": (lambda path: path.write_bytes(b"\xff"), "cannot be used"),
    "a list": (lambda path: path.write_bytes(b"[]"), "cannot be used"),
    "deep": (lambda path: path.write_bytes(b"[" * 100_000), "cannot be used"),
    "an older format": (_text('"format-version":2', '"format-version":1'), "Iceberg's format|cannot be used"),
    "a newer format": (_text('"format-version":2', '"format-version":9'), "Iceberg's format|cannot be used"),
    "a link": (_link, "is a link"),
    "a pipe": (lambda path: (path.unlink(), os.mkfifo(path)), "is not a file"),
    "a file elsewhere": (_names_another, "none of its own"),
    "no column batch": (_text('"name":"batch"', '"name":"other"'), "lacks the column batch"),
    "another type": (_text('"name":"requirement","type":"string"', '"name":"requirement","type":"long"'), "type"),
    "divided otherwise": (_text('"transform":"identity"', '"transform":"bucket[4]"'), "is not divided by date"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_metadata_that_was_tampered_with_is_one_sentence(tmp_path, name):
    lake, _ = put(tmp_path / "lake", [SESSION])
    change, says = HOSTILE[name]
    change(lake.root / "verdicts" / "metadata" / "v2.metadata.json")
    with pytest.raises(PipelineError, match=says) as problem:
        Lake.open(tmp_path / "lake")
    assert "\n" not in problem.value.sentence and len(problem.value.sentence) < 600


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/etc/passwd", "none of its own"),
        ("{location}/../captures/date=2023-11-14/x.parquet", "none of its own"),
        ("{location}/date=2023-11-14/../x.parquet", "none of its own"),
        ("{location}/date=2023-11-15/x.parquet", "another date"),
        ("{location}/metadata/x.parquet", "none of its own"),
        ("s3://elsewhere/date=2023-11-14/x.parquet", "none of its own"),
    ],
)
def test_a_manifest_that_names_a_file_elsewhere_is_damage(tmp_path, monkeypatch, path, says):
    data_file = iceberg_tables.data_file

    def elsewhere(table, name, one):
        found = data_file(table, name, one)
        if name == "captures":
            found._data[1] = path.format(location=table.table.location())
        return found

    with monkeypatch.context() as patch:
        patch.setattr(iceberg_tables, "data_file", elsewhere)
        put(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    with pytest.raises(PipelineError, match=says) as problem:
        Lake.open(tmp_path / "lake")
    assert "\n" not in problem.value.sentence


def avro(blocks: list[tuple[int, bytes]], codec: bytes = b"null") -> bytes:
    def long(value: int) -> bytes:
        value, out = value * 2, b""
        while value > 127:
            out, value = out + bytes([value & 127 | 128]), value >> 7
        return out + bytes([value])

    def text(value: bytes) -> bytes:
        return long(len(value)) + value

    head = b"Obj\x01" + long(1) + text(b"avro.codec") + text(codec) + long(0) + b"m" * 16
    return head + b"".join(long(count) + text(data) + b"m" * 16 for count, data in blocks)


def _deflated(data: bytes) -> bytes:
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    return squeeze.compress(data) + squeeze.flush()


def test_manifests_are_bounded_before_they_are_read(tmp_path, monkeypatch):
    iceberg_files.check_avro(avro([(1, b"x"), (2, b"yy")]))
    iceberg_files.check_avro(avro([(1, _deflated(b"x" * 1000))], b"deflate"))
    monkeypatch.setattr(iceberg_files, "MAX_FILE", 1 << 16)
    whole = avro([(1, b"xy")])
    wrong = {
        "more than": [avro([(1, _deflated(bytes(1 << 24)))], b"deflate"), avro([(1, bytes(1 << 15))] * 3)],
        "compressed with": [avro([(1, b"x")], b"zstandard")],
        "not Avro": [b"", b"PAR1"],
        "is cut": [whole[:-1], whole[:20], whole[:5], whole[:30], avro([(1, b"no deflate")], b"deflate")],
        "64 bits": [whole + b"\xff" * 20],
    }
    for says, files in wrong.items():
        for data in files:
            with pytest.raises(UnfitError, match=says):
                iceberg_files.check_avro(data)
    assert MAX_FILE > 1 << 16


@pytest.mark.parametrize("cut", [0, 10, -1])
def test_a_manifest_that_was_cut_is_one_sentence(tmp_path, cut):
    lake, _ = put(tmp_path / "lake", [SESSION])
    (manifest,) = (lake.root / "sessions" / "metadata").glob("*-m0.avro")
    manifest.write_bytes(manifest.read_bytes()[:cut])
    with pytest.raises(PipelineError, match="manifest that is") as problem:
        Lake.open(tmp_path / "lake")
    assert "\n" not in problem.value.sentence


def test_what_others_have_written_beside_it_stays(tmp_path):
    """A manifest of another make, which may be about to be committed, is not taken for one of a dead command."""
    lake, _ = put(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    folder = lake.root / "captures" / "metadata"
    theirs = folder / "0badcafe-0000-4000-8000-000000000000-m0.avro"
    ours = folder / "6d71636f-0000-4000-8000-000000000000-m0.avro"
    for one in (theirs, ours):
        shutil.copy(next(folder.glob("*-m0.avro")), one)
    lake, _ = put(tmp_path / "lake", [SESSION])
    assert theirs.exists() and not ours.exists()
    assert said(lake, SESSION) == replayed(SESSION) and sum(told(lake, "captures").values()) == 2


@pytest.mark.parametrize(("most", "days"), [(2, 8), (1_000, 0)])
def test_old_snapshots_end_and_the_lake_stays(tmp_path, monkeypatch, most, days):
    """The first of too many, and those of long ago; the rows stay, and tell how the lake was."""
    for name, value in (("MOST_SNAPSHOTS", most), ("KEEP_DAYS", days), ("_ENDED", 1)):
        monkeypatch.setattr(iceberg_tables, name, value)
    seen = []
    for name in ("vlan.pcap", "raw-ip.pcap", "cut-record.pcap", "lost-segment.pcapng"):
        lake, _ = put(tmp_path / "lake", [CAPTURES / name])
        seen.append(everything(lake))
    kept = 2 if days else 1
    assert len(iceberg_tables.load(lake.store, "captures").table.metadata.snapshots) == kept
    assert everything(Lake.open(tmp_path / "lake")) == everything(lake.as_of("4")) == seen[3]
    assert [everything(lake.as_of(str(at))) for at in (1, 2, 3)] == seen[:3]  # from the rows of today, by their batch


def test_a_batch_goes_on_after_files_were_swapped_and_not_after_another_batch(tmp_path, in_two):
    """A compaction beside an ingest changes no row, so that the ingest need not begin again."""
    from conformance.pipeline import keeping

    for capture in ("vlan.pcap", "raw-ip.pcap"):
        lake, _ = put(tmp_path / "lake", [CAPTURES / capture])
    store = lake.store
    late, early = (iceberg_tables.load(store, "captures") for _ in range(2))
    files = iceberg_tables.listed(store, "captures", early)
    keeping.compact(Lake.open(tmp_path / "lake"))
    assert late.version() != iceberg_tables.load(store, "captures").version()
    iceberg_tables.change(store, "captures", late, [], 7)
    with pytest.raises(PipelineError, match="meanwhile"):
        iceberg_tables.change(store, "captures", early, iceberg_tables.removing(files, "captures"))
    assert len(rows(Lake.open(tmp_path / "lake"), "captures")) == 2


def test_a_writer_that_slept_while_versions_came_and_went_is_late(tmp_path, monkeypatch):
    """The next version by its knowledge is free again, since old versions are removed."""
    monkeypatch.setattr(iceberg_tables, "VERSIONS_KEPT", 1)
    lake, _ = put(tmp_path / "lake", [CAPTURES / "vlan.pcap"])
    asleep = iceberg_tables.load(lake.store, "captures")
    for name in ("raw-ip.pcap", "cut-record.pcap", "lost-segment.pcapng"):
        lake, _ = put(tmp_path / "lake", [CAPTURES / name])
    assert not lake.store.check(f"captures/metadata/v{asleep.number + 1}.metadata.json")
    before = iceberg_tables.load(lake.store, "captures").number
    with pytest.raises(PipelineError, match="meanwhile"):
        iceberg_tables.change(lake.store, "captures", asleep, [], 9)
    assert iceberg_tables.load(lake.store, "captures").number == before
    assert len(rows(Lake.open(tmp_path / "lake"), "captures")) == 4
