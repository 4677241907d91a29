"""Lakes that somebody has made to harm, or that are damaged: one sentence, and nothing outside is touched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import made_bombs as bombs
import pyarrow as pa
import pytest
from delta_helpers import SESSION
from lake_helpers import put
from s3_server import upload

from conformance.pipeline.lake import Lake
from conformance.pipeline.untrusted_files import PipelineError

DAY = "2023-11-14"
Damage = Callable[[Path], object]


def log(place: Path, table: str, *actions: dict[str, Any]) -> None:
    """Add an entry to the log of a table."""
    folder = place / table / "_delta_log"
    number = len(list(folder.glob("*.json")))
    (folder / f"{number:020}.json").write_text("\n".join(map(json.dumps, actions)) + "\n")


def a_file(place: Path, table: str = "verdicts") -> Path:
    return next((place / table).rglob("part-*.parquet"))


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


def written(place: Path, text: str, name: str = f"{2:020}.json") -> None:
    (place / "verdicts" / "_delta_log" / name).write_text(text)


def batch(place: Path, entry: str, **other: Any) -> None:
    """Let the first batch be an open one."""
    columns = {"key": ["k"], "entry": [entry], **other}
    bombs.rewritten(a_file(place, "batches"), {name: pa.array(found) for name, found in columns.items()})


def state(place: Path, name: str) -> None:
    batch(place, json.dumps({"stream": "s", "state": name, "last_ns": 1}))


def configured(place: Path, **settings: str) -> None:
    metadata(place, lambda found: found["configuration"].update(settings))


def of_a_column(place: Path, **settings: str) -> None:
    metadata(place, lambda found: found["schema"]["fields"][0]["metadata"].update(settings))


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
    "actions in gigabytes": lambda root: written(root, '{"commitInfo":{}}\n' * (1 << 21)),
    "an action that is a list": lambda root: written(root, "[1]"),
    "an action of tomorrow": lambda root: log(root, "verdicts", {"teleport": {"path": "x"}}),
    "an action with many values": lambda root: log(root, "verdicts", {"add": {"tags": dict.fromkeys(range(200_000))}}),
    "an action that is nested": lambda root: written(root, '{"add":{"tags":' + "[" * 9_000 + "]" * 9_000 + "}}"),
    "texts that hide what is nested": lambda root: written(
        root, '{"a":"]]\\"]]","b":' + '{"]]":[' * 500 + "]}" * 500 + "}"
    ),
    "statistics that are nested": lambda root: adds(root, f"date={DAY}/x.parquet", stats="[" * 9_000),
    "a schema that is nested": lambda root: log(root, "verdicts", {"metaData": {"schemaString": '{"type":' * 9_000}}),
    "a number without an end": lambda root: written(root, '{"add":{"size":' + "9" * 100_000 + "}}"),
    "many entries": lambda root: [written(root, "", f"{at:020}.json") for at in range(2, 5_100)],
    "many lines": lambda root: written(root, "{}\n" * 600_000),
    "a last batch": lambda root: log(root, "batches", {"txn": {"appId": "mqconform", "version": (1 << 63) - 1}}),
    "rows that are left out": lambda root: bombs.no_rows(a_file(root)),
    "rows of a batch that are left out": lambda root: bombs.no_rows(a_file(root, "batches")),
    "groups of rows that are the same": lambda root: bombs.twice(a_file(root)),
    "a gap in the log": lambda root: written(root, "{}", f"{5:020}.json"),
    "rows that are deleted": lambda root: adds(
        root, f"date={DAY}/{a_file(root).name}", deletionVector={"storageType": "p", "pathOrInlineDv": "/etc/passwd"}
    ),
    "a condition": lambda root: configured(root, **{"delta.constraints.c": "count > sleep(9)"}),
    "columns of other names": lambda root: configured(root, **{"delta.columnMapping.mode": "name"}),
    "a condition on a column": lambda root: of_a_column(root, **{"delta.invariants": "{}"}),
    "a column that is computed": lambda root: of_a_column(root, **{"delta.generationExpression": "rand()"}),
    "a day that is none": lambda root: adds(root, "date=today/x.parquet", partitionValues={"date": "today"}),
    "a day before every year": lambda root: adds(root, f"date={DAY}/x.parquet", partitionValues={"date": "0000-01-01"}),
    "a day of no year": lambda root: adds(root, "date=0000-01-01/x.parquet", partitionValues={"date": "0000-01-01"}),
    "a day without a value": lambda root: adds(root, f"date={DAY}/x.parquet", partitionValues={}),
    "a checkpoint in parts": lambda root: written(root, "", f"{1:020}.checkpoint.{1:010}.{2:010}.parquet"),
    "a checkpoint with sidecars": lambda root: written(root, "", f"{1:020}.checkpoint.{'0' * 8}-x.json"),
    "sidecars": lambda root: (root / "verdicts" / "_delta_log" / "_sidecars").mkdir(),
    "entries in one": lambda root: written(root, "", f"{0:020}.{1:020}.compacted.json"),
    "a checkpoint that is not there": lambda root: written(root, '{"version":1,"size":1}', "_last_checkpoint"),
    "a checkpoint of parts that are not there": lambda root: written(
        root, '{"version":1,"size":1,"parts":9}', "_last_checkpoint"
    ),
    "a last checkpoint that is nested": lambda root: written(root, '{"version":' * 9_000, "_last_checkpoint"),
    "a state outside": lambda root: state(root, "../../outside/x.parquet"),
    "a state far outside": lambda root: state(root, "_state/../../outside/x.parquet"),
    "an absolute state": lambda root: state(root, str(root.parent / "outside" / "x.parquet")),
    "a state of a store": lambda root: state(root, "s3://theirs/x"),
    "a state at no time": lambda root: batch(root, '{"stream":"s","state":"_state/x","last_ns":"now"}'),
    "a state of nothing": lambda root: batch(root, '{"stream":null,"state":null,"last_ns":null}'),
    "an entry that is nested": lambda root: batch(root, "[" * 9_000),
    "an entry with a value of values": lambda root: batch(root, '{"run":{}}'),
    "an entry that is cut": lambda root: batch(root, '{"a":"' + "x" * (1 << 21)),
}
BOTH = ("a text of", "a text in every capture", "a text in every batch", "a list of")
"""Bombs that those who add to the lake meet too."""
UNREPORTED = ("a text of a capture that is hidden", "a text in every capture")
"""Those that a report does not read."""
BOMBS: dict[str, Damage] = {
    "a text": lambda root: bombs.text(a_file(root), "reason"),
    "a text by brotli": lambda root: bombs.text(a_file(root), "reason", compression="brotli"),
    "a text by gzip": lambda root: bombs.text(a_file(root), "reason", compression="gzip"),
    "a text of a batch": lambda root: bombs.text(a_file(root, "batches"), "entry"),
    "a text of a capture": lambda root: bombs.text(a_file(root, "captures"), "object"),
    "a text in every row": lambda root: bombs.repeated(a_file(root), "sender"),
    "a text in every capture": lambda root: bombs.repeated(a_file(root, "captures"), "object"),
    "a text in every batch": lambda root: bombs.repeated(a_file(root, "batches"), "entry"),
    "a map": lambda root: bombs.long_list(a_file(root), "readings"),
    "a list of a batch": lambda root: bombs.long_list(a_file(root, "batches"), "ends"),
    "a text that is hidden": lambda root: bombs.hidden(a_file(root), "sender"),
    "a text of a capture that is hidden": lambda root: bombs.hidden(a_file(root, "captures"), "object"),
    "a text of a batch that is hidden": lambda root: bombs.hidden(a_file(root, "batches"), "entry"),
    "a page that says more": lambda root: bombs.page_says(a_file(root), "sender", 1 << 30),
    "a page that says less": lambda root: bombs.page_says(a_file(root), "sender", 1 << 10),
    "rows that are not there": lambda root: bombs.footer_alone(a_file(root), bombs.ONE_COLUMN, rows=10**12),
    "many columns": lambda root: bombs.wide(a_file(root), 400_000),
    "many groups of rows": lambda root: bombs.footer_alone(a_file(root), bombs.ONE_COLUMN, groups=400_000),
    "deep columns": lambda root: bombs.nested(a_file(root), 300_000),
    "a checkpoint of many adds": lambda root: bombs.checkpoint(root / "verdicts" / "_delta_log", 1, bombs.many),
    "a checkpoint of long texts": lambda root: bombs.checkpoint(root / "verdicts" / "_delta_log", 1, bombs.long_paths),
    "a checkpoint of nested statistics": lambda root: bombs.checkpoint(
        root / "verdicts" / "_delta_log", 1, bombs.nested_statistics
    ),
    "a checkpoint of wide actions": lambda root: bombs.checkpoint_of(root / "verdicts" / "_delta_log", 1, bombs.wide),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "lake"
    put(folder, [SESSION])
    return folder


@pytest.fixture
def place(tmp_path: Path, made: Path) -> Path:
    """A lake, beside a folder in which nothing may change."""
    shutil.copytree(made, tmp_path / "lake")
    (tmp_path / "outside").mkdir()
    shutil.copy(a_file(made), tmp_path / "outside" / "x.parquet")
    return tmp_path / "lake"


def seen(place: Path) -> list[tuple[Path, int]]:
    return sorted((path, path.stat().st_mtime_ns) for path in (place.parent / "outside").iterdir())


def is_one_sentence(text: str) -> bool:
    return "\n" not in text and "Traceback" not in text and text.endswith(".") and len(text) < 700


@pytest.mark.parametrize("damage", DAMAGES)
def test_one_sentence_and_nothing_is_touched(place: Path, damage: str) -> None:
    before = seen(place)
    DAMAGES[damage](place)
    began = time.monotonic()
    with pytest.raises(PipelineError) as told:
        lake = Lake.open(place)
        lake.located()
        lake.batches()
    assert is_one_sentence(told.value.sentence) and "{" not in told.value.sentence
    assert seen(place) == before
    assert time.monotonic() - began < 30


PROGRAM = """
import sys
from pathlib import Path
from conformance.cli import main
from conformance.pipeline.untrusted_files import PipelineError
from conformance.pipeline.lake import Lake
try:
    if sys.argv[1:2] == ["adds"]:
        lake = Lake.open(sys.argv[2])
        lake.column("captures", ["object"], lake.batches().live, ("object", ["x"]))
    else:
        main()
except PipelineError as told:
    print(told.sentence, file=sys.stderr)
    sys.exit(int(told.code))
finally:
    print(Path("/proc/self/status").read_text())
"""


@pytest.mark.parametrize("damage", BOMBS)
def test_a_bomb_is_one_sentence_in_bounded_memory_and_time(place: Path, damage: str) -> None:
    before = seen(place)
    BOMBS[damage](place)
    began = time.monotonic()
    for words in [["pipeline", "report"]] * (damage not in UNREPORTED) + [["adds"]] * damage.startswith(BOTH):
        command = [sys.executable, "-c", PROGRAM, *words, str(place)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        (used,) = (int(line.split()[1]) >> 10 for line in ran.stdout.splitlines() if line.startswith("VmHWM"))
        print(damage, used, "MB", round(time.monotonic() - began, 1), "s", ran.stderr)
        assert ran.returncode == 2, ran.stderr
        assert is_one_sentence(ran.stderr.removeprefix("mqconform: pipeline report: reading the lake\n").strip())
        assert used < 2_200
    assert seen(place) == before


IN_A_STORE = (
    "an action that is nested", "statistics that are nested", "actions in gigabytes", "entries in one",
    "a state outside", "a checkpoint that is not there", "a footer that is too long",
    "an action with many values", "a file above",
)  # fmt: skip


def test_a_lake_in_a_store_is_bounded_too(place: Path, s3: str) -> None:
    for at, damage in enumerate(IN_A_STORE):
        copy = place.parent / str(at)
        shutil.copytree(place, copy)
        DAMAGES[damage](copy)
        files = [path for path in copy.rglob("*") if path.is_file()]
        upload("lakes", {f"strange/{at}/{path.relative_to(copy)}": path for path in files})
        with pytest.raises(PipelineError) as told:
            lake = Lake.open(f"{s3}/strange/{at}")
            lake.located()
        assert is_one_sentence(told.value.sentence), damage


def test_what_ends_itself_or_in_a_circle_ends(place: Path) -> None:
    """Batches that end one another do not count."""
    name = Lake.open(place).batches().live
    batch(place, "{}", ends=[[*name, "other"]])
    lake = Lake.open(place)
    assert not lake.batches().live and not lake.located()


def test_what_is_a_link_is_named(place: Path) -> None:
    link(a_file(place).parent, place.parent / "outside")
    with pytest.raises(PipelineError, match=rf"verdicts/date={DAY} is a link: it is damaged"):
        Lake.open(place).located()


def test_many_entries_of_a_log_and_many_batches_are_read(place: Path) -> None:
    """Delta reads each entry in a thread, and a year of watching makes a million batches."""
    for at in range(2, 900):
        written(place, '{"commitInfo":{}}', f"{at:020}.json")
    names = pa.array([f"b{at}" for at in range(1_000_000)])
    bombs.rewritten(a_file(place, "batches"), {"batch": names}, 1_000_000, limit=1 << 24)
    for words in (["report"], ["sql"]):
        asked = [*words, str(place), *["select count(*) from verdicts"] * (words == ["sql"])]
        done = subprocess.run([sys.executable, "-m", "conformance", "pipeline", *asked], capture_output=True, text=True)
        assert done.returncode == (0 if words == ["sql"] else 5), done.stderr  # No batch of the verdicts is left.


def test_the_lake_as_it_was_made_is_read(made: Path) -> None:
    assert Lake.open(made).located()
