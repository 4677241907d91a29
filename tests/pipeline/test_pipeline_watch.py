"""A watch of a folder on Spark: batches, a checkpoint that moves, and kills at any moment."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lake_helpers import CAPTURES, put, records_of, rows, write_pcap
from nightly import SEED, nightly_only
from spark_helpers import COMMAND, ENVIRONMENT, need_spark

from conformance.captures.defects import Defect
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.identity import Probe
from conformance.pipeline.ingest import Ingested, Options
from conformance.pipeline.kept_streams import Dropped
from conformance.pipeline.lake import Lake
from conformance.pipeline.progress import Lined
from conformance.pipeline.watch_batch import results, to_json

VOLATILE = ("batch", "ingested_at", "ranges", "path")
SETS = ("consistent-session.pcapng", "resending-session.pcapng", "vlan.pcap")
_PATIENCE_S = 600


def pieces(folder: Path, number: int) -> list[Path]:
    """At least so many files of rotated sets, in the order in which they arrive: that of their age."""
    folder.mkdir()
    out: list[Path] = []
    each = -(-number // len(SETS))
    for at, name in enumerate(SETS):
        records = records_of(CAPTURES / name)
        for part in range(each):
            mine = records[len(records) * part // each : len(records) * (part + 1) // each]
            out.append(write_pcap(folder / f"set{'abc'[at]}_{part:03}.pcap", mine))
    out.sort(key=lambda path: path.stem[-3:])
    for at, path in enumerate(out):
        os.utime(path, (1_700_000_000 + at,) * 2)
    return out


def told(lake: Lake) -> dict[str, Counter[str]]:
    """The rows of a lake, without what differs from one ingest to the next."""
    return {
        table: Counter(
            repr(sorted((name, repr(value)) for name, value in row.items() if name not in VOLATILE))
            for row in rows(lake, table)
        )
        for table in ("captures", "packets", "sessions", "verdicts", "rejected")
    }


def arrive(path: Path, folder: Path) -> None:
    """Put a file there at once, as a rotation does."""
    shutil.copy2(path, folder / ".coming")
    (folder / ".coming").rename(folder / path.name)


def changes(place: Path, seen: set[str]) -> int:
    """How many files of a lake have come since the last look."""
    now = {str(path) for path in place.rglob("*")}
    new = len(now - seen)
    seen |= now
    return new


@contextmanager
def living(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is killed at the end, with those it started."""
    with log.open("ab") as out:
        process = subprocess.Popen(command, env=ENVIRONMENT, start_new_session=True, stdout=out, stderr=out)
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@nightly_only("pipeline.watch-killed-anywhere")
def test_a_watch_killed_anywhere_has_each_row_once(tmp_path: Path) -> None:
    """The moments are drawn: after some of the files that a life writes. The lake moves between two lives."""
    need_spark()
    kills = 20
    draw = random.Random(f"kills {SEED}")
    files = pieces(tmp_path / "made", 2 * kills)
    folder, place, log = tmp_path / "captures", tmp_path / "lake 0", tmp_path / "log"
    folder.mkdir()
    waiting = list(files)
    for life in range(kills):
        moment, seen, count = draw.randrange(1, 90), set[str](), 0
        changes(place, seen)
        arrive(waiting.pop(0), folder)
        command = [*COMMAND, "watch", str(folder), "--out", str(place), "--settle", "0", "--every", "0.1"]
        with living([*command, "--max-files", "1", "--master", "local[1]"], log) as process:
            end, quiet = time.monotonic() + _PATIENCE_S, 0
            while count < moment and quiet < 40:
                assert process.poll() is None and time.monotonic() < end, log.read_text("utf-8", "replace")
                new = changes(place, seen)
                count += new
                quiet = 0 if new or not count else quiet + 1
                if count > 5 and len(waiting) > 2 * (kills - life) - 2:
                    arrive(waiting.pop(0), folder)
                time.sleep(0.05)
        if draw.random() < 0.5:
            place = place.rename(tmp_path / f"lake {life + 1}")
    for path in waiting:
        arrive(path, folder)
    command = [*COMMAND, "watch", str(folder), "--out", str(place), "--settle", "0", "--once", "--master", "local[1]"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=_PATIENCE_S)
    assert done.returncode in (0, 1), done.stderr
    whole, _ = put(tmp_path / "whole", files, keep=True)
    assert told(Lake.open(place)) == told(whole)
    assert sorted(Path(row["path"]).name for row in rows(Lake.open(place), "captures")) == sorted(
        path.name for path in files
    )
    again = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=_PATIENCE_S)
    assert (again.returncode, again.stdout) == (0, ""), again.stderr


def watched(spark: Any, folder: Path, place: Path, **how: Any) -> list[Ingested]:
    """The batches of one look at a folder."""
    from conformance.pipeline.watch import watch

    done: list[Ingested] = []
    lake = Lake.open(place, create=True)
    watch(spark, folder, lake, Options(), settle_s=0, every_s=1, once=True, on_batch=done.append, **how)
    return done


def test_a_backlog_is_taken_in_batches_and_a_moved_checkpoint_means_the_same_files(spark: Any, tmp_path: Path) -> None:
    files = pieces(tmp_path / "made", 9)
    folder = tmp_path / "captures"
    folder.mkdir()
    for path in files[:7]:
        arrive(path, folder)
    done = watched(spark, folder, tmp_path / "lake", max_files=3, checkpoint=str(tmp_path / "progress"))
    assert [one.captures for one in done] == [3, 3, 1]
    assert watched(spark, folder, tmp_path / "lake", checkpoint=str(tmp_path / "progress")) == []
    there = tmp_path / "there"
    shutil.copytree(folder, there / "captures")
    shutil.copytree(tmp_path / "progress", there / "progress")
    (tmp_path / "lake").rename(there / "lake")
    for path in files[7:]:
        arrive(path, there / "captures")
    done = watched(spark, there / "captures", there / "lake", checkpoint=str(there / "progress"))
    assert [(one.captures, one.known) for one in done] == [(2, 0)]
    found = [Path(row["path"]).name for row in rows(Lake.open(there / "lake"), "captures")]
    assert sorted(found) == sorted(path.name for path in files)


@pytest.mark.parametrize("place", ["file", "file/below", "foo://bar/progress", ""])
def test_a_checkpoint_that_cannot_be_used_is_one_sentence(spark: Any, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "captures").mkdir()
    named = str(tmp_path / place) if place.startswith("file") else place
    sentence = r"^(the checkpoint .* cannot be used|--checkpoint names no folder)"
    with pytest.raises(PipelineError, match=sentence) as said:
        watched(spark, tmp_path / "captures", tmp_path / "lake", checkpoint=named)
    assert "\n" not in str(said.value)


def test_files_that_change_under_a_watch(spark: Any, tmp_path: Path) -> None:
    """Renamed, packed, grown, gone, and one that comes late and is older than all."""
    folder, place = tmp_path / "captures", tmp_path / "lake"
    files = pieces(tmp_path / "made", 6)
    folder.mkdir()
    for path in files[1:5]:
        arrive(path, folder)
    assert [one.captures for one in watched(spark, folder, place)] == [4]
    (folder / files[1].name).rename(folder / "moved.pcap")
    assert watched(spark, folder, place) == []
    arrive(files[0], folder)
    grown = folder / files[2].name
    grown.write_bytes(grown.read_bytes() + files[5].read_bytes()[24:])
    os.utime(grown, (1_700_001_000,) * 2)
    (folder / files[3].name).unlink()
    (one,) = watched(spark, folder, place)
    assert (one.captures, one.known) == (1, 0)
    assert [found.error for found in one.rejected] == [f"{grown} changed after it was ingested; raise --settle."]
    assert watched(spark, folder, place) == []


@nightly_only("pipeline.watch-over-connect")
def test_a_watch_over_spark_connect_tells_what_the_server_has_done(tmp_path: Path, connect: str) -> None:
    files = pieces(tmp_path / "made", 6)
    folder, place = tmp_path / "captures", tmp_path / "lake"
    folder.mkdir()
    for path in files:
        arrive(path, folder)
    (folder / "none.pcap").write_bytes(b"no capture")
    done = subprocess.run(
        [*COMMAND, "watch", str(folder), "--out", str(place), "--settle", "0", "--once", "--max-files", "4",
         "--json", "--master", connect],
        capture_output=True, text=True, env=ENVIRONMENT, timeout=_PATIENCE_S,
    )  # fmt: skip
    assert done.returncode in (1, 2), done.stderr
    told_of = [json.loads(one) for one in re.findall(r"^\{.*?^\}|^\{.*\}$", done.stdout, re.MULTILINE | re.DOTALL)]
    assert [(one["captures"], len(one["rejected"])) for one in told_of] == [(4, 0), (2, 1)]
    whole, _ = put(tmp_path / "whole", [*files, folder / "none.pcap"], keep=True)
    assert told(Lake.open(place))["verdicts"] == told(whole)["verdicts"]


def test_what_a_server_tells_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "none.pcap").write_bytes(b"no capture")
    lake, done = put(tmp_path / "lake", [CAPTURES / "vlan.pcap", CAPTURES / "cut-record.pcap", tmp_path / "none.pcap"])
    whole = replace(
        done,
        rejected=[Probe(one.path, one.size, error=one.error) for one in done.rejected]
        + [Probe("x", None).broken(Defect("x", "ZeroDivisionError", "by 0", ("a", "b"), 3, None, 7))],
        dropped=[Dropped("k", "s", "bytes")],
    )
    lake.store.write("_watch/x/told/000000000002.json", json.dumps(to_json(whole)).encode())
    lake.store.write("_watch/x/told/000000000001.json", b"null")
    assert list(results(lake, "_watch/x/told")) == [None, whole]
    assert list(results(lake, "_watch/x/told")) == [] == list(results(lake, "_watch/y/told"))
    for text in (b"{", b"[]", b'{"outcomes": {"fine": 1}}', b"5"):
        lake.store.write("_watch/x/told/000000000003.json", text)
        with pytest.raises(PipelineError, match="cannot be read"):
            list(results(lake, "_watch/x/told"))


class Remote:
    """A session that is taken for one of Spark Connect: what it is given runs where the frames of a batch are."""


Remote.__module__ = "pyspark.sql.connect.session"


def batch_of(spark: Any, path: Path) -> Any:
    """What a watch is given with a batch of one file."""
    row = (os.fsencode(path), str(path), path.stat().st_size, False)
    return spark.createDataFrame([row], "name binary, path string, bytes bigint, grown boolean")


def test_watches_of_one_folder_are_told_each_of_its_own_batches(spark: Any, tmp_path: Path) -> None:
    """Two commands, whose batches have the same numbers."""
    from conformance.pipeline.watch import _Batches

    lake = Lake.open(tmp_path / "lake", create=True)
    heard: list[list[Ingested]] = [[], []]
    with ExitStack() as stack:
        both = [stack.enter_context(_Batches(lake, Options(), Remote(), "one folder", one.append)) for one in heard]
        for batches, name in zip(both, ("vlan.pcap", "mqqb-4.1.pcapng"), strict=True):
            batches.function()(batch_of(spark, CAPTURES / name), 0)
        for batches in reversed(both):
            batches.tell()
            batches.tell()
    assert [[one.captures for one in found] for found in heard] == [[1], [1]]
    assert heard[0][0].packets != heard[1][0].packets
    assert not list((tmp_path / "lake").glob("_watch/*/told/*"))


def test_a_batch_at_a_server_tells_how_far_it_has_come(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from conformance.pipeline import watch_batch
    from conformance.pipeline.watch import _Batches

    place = tmp_path / "lake"
    shown: list[str] = []
    done: list[Ingested] = []

    @contextmanager
    def showing(progress: Lined) -> Iterator[None]:
        yield
        shown.append(progress.line())

    def lines() -> list[Path]:
        return list(place.glob("_watch/*/told/*/*.line"))

    def slowly(*arguments: Any) -> Ingested | None:
        end = time.monotonic() + _PATIENCE_S
        while not lines():
            assert time.monotonic() < end
            time.sleep(0.001)
        return ingested(*arguments)

    ingested = watch_batch.ingested
    monkeypatch.setattr(watch_batch, "ingested", slowly)
    monkeypatch.setattr(watch_batch, "FIRST_S", 0.001)
    with _Batches(Lake.open(place, create=True), Options(), Remote(), "w", done.append, showing) as batches:
        batches.function()(batch_of(spark, CAPTURES / "vlan.pcap"), 7)
        assert len(lines()) >= 1
        batches.tell()
        assert len(shown) == 1 and shown[0] and [one.captures for one in done] == [1] and not lines()


def test_a_watch_shows_the_progress_of_each_batch(spark: Any, tmp_path: Path) -> None:
    shown: list[str] = []

    @contextmanager
    def showing(progress: Lined) -> Iterator[None]:
        assert progress.line() == "starting"
        yield
        shown.append(progress.line())

    files = pieces(tmp_path / "captures", 6)
    done = watched(spark, files[0].parent, tmp_path / "lake", max_files=4, showing=showing)
    assert [line.partition(", ")[0] for line in shown if "packets/s" in line] == ["4 of 4 files", "2 of 2 files"]
    assert [one.captures for one in done] == [4, 2]


@pytest.mark.parametrize("rows_of", ["files", "packets"])
def test_a_stream_of_the_source_is_its_batch(spark: Any, tmp_path: Path, rows_of: str) -> None:
    from conformance.pipeline.source import MsmqPcap

    files = pieces(tmp_path / "made", 4)
    spark.dataSource.register(MsmqPcap)
    found: list[list[Any]] = []
    stream = spark.readStream.format("msmq_pcap").option("settle", 0).option("maxFilesPerTrigger", 4)
    query = (
        stream.option("rows", rows_of).load(str(tmp_path / "made")).writeStream
        .foreachBatch(lambda frame, number: found.append(frame.collect()))
        .option("checkpointLocation", str(tmp_path / "progress")).trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()
    assert len(found) == 2 and [len({row.path for row in batch}) for batch in found] == [4, 2]
    assert {row.path for batch in found for row in batch} == {str(path) for path in files}
    if rows_of == "packets":
        one = spark.read.format("msmq_pcap").load(str(tmp_path / "made")).collect()
        assert Counter(map(str, one)) == Counter(str(row) for batch in found for row in batch)


def test_a_checkpoint_of_an_earlier_version_goes_on(spark: Any, tmp_path: Path) -> None:
    """Its offsets are numbers of sightings, whose files lie in a folder beside it."""
    files = pieces(tmp_path / "made", 3)
    folder, place = tmp_path / "captures", tmp_path / "lake"
    folder.mkdir()
    for path in files:
        arrive(path, folder)
    assert [one.captures for one in watched(spark, folder, place)] == [3]
    (progress,) = (place / "_watch").iterdir()
    for name in ("offsets", "commits"):
        shutil.copy(progress / "checkpoint" / name / "0", progress / "checkpoint" / name / "1")
    offset = progress / "checkpoint" / "offsets" / "1"
    *head, last = offset.read_text().splitlines()
    for number, one in enumerate(json.loads(last)["files"], 1):
        name, size, changed_ns, digest, grown = one
        (progress / "seen").mkdir(exist_ok=True)
        (progress / "seen" / f"{number:012}.json").write_text(
            json.dumps([[str(folder / name), size, grown, digest, changed_ns]])
        )
    for number, text in enumerate(('{"sighting": 2}', '{"sighting": 3}')):
        one = progress / "checkpoint" / "offsets" / str(number)
        one.write_text("\n".join([*head, text]))
        one.with_name(f".{number}.crc").unlink(missing_ok=True)
    (progress / "checkpoint" / "commits" / "1").unlink()
    done = watched(spark, folder, place)
    assert [(one.captures, one.known) for one in done] == [(0, 1)]
    shutil.rmtree(progress / "seen")
    assert watched(spark, folder, place) == []
