"""A capture that the harness has a defect with stops nothing: its neighbours are in the lake, and it is named once."""

from __future__ import annotations

import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from defect_captures import BAD_PACKET, FAKE, asking, plant
from lake_helpers import at as where
from lake_helpers import put, put_one_by_one, put_sessions_one_by_one, rows, said
from spark_helpers import JAVA, need_spark

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.ingest import Ingested, Options
from conformance.pipeline.lake import Lake
from conformance.verdict import ExitCode

MARK = "divides by zero"

pytestmark = pytest.mark.usefixtures("in_each_place")


def put_packets(place: Path, captures: list[Path], **options):
    return put(place, captures, sessions=False, **options)


def put_ranges(place: Path, captures: list[Path], **options):
    return put(place, captures, sessions=False, split=700, **options)


WAYS = pytest.mark.parametrize(
    "way", [put, put_sessions_one_by_one, put_packets, put_one_by_one, put_ranges], ids=lambda way: way.__name__
)


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch)


def signatures(lake: Lake, capture: Path) -> int:
    return said(lake, capture)[1]["MQMQ-2.2.19.1.signature", ()]


@WAYS
def test_neighbours_are_in_the_lake_and_the_bad_one_is_named_once(planted, tmp_path, way):
    first, bad = asking(tmp_path / "first.pcap"), asking(tmp_path / "bad.pcap", MARK)
    last, none = asking(tmp_path / "last.pcap", port=50_002), tmp_path / "none.pcap"
    lake, done = way(tmp_path / "lake", [first, bad, last, none])
    assert done.code() is ExitCode.HARNESS_ERROR and done.captures == 3
    alone, _ = way(tmp_path / "alone", [last])
    assert said(lake, last) == said(alone) and signatures(lake, last) == 8
    found = {Path(row["path"]).name: row for row in rows(lake, "rejected")}
    assert set(found) == {"bad.pcap", "none.pcap"}
    assert f"judged up to packet {BAD_PACKET}" in found["bad.pcap"]["reason"]
    (defect,) = [one.defect for one in done.rejected if one.defect is not None]
    assert (defect.error, defect.packet) == ("ZeroDivisionError", BAD_PACKET)
    assert defect.record is not None and defect.offset is not None
    cuts = {Path(row["path"]).name: row["cut"] for row in rows(lake, "captures")}
    assert cuts["first.pcap"] is cuts["last.pcap"] is None and "defect of mqconform" in cuts["bad.pcap"]
    # What was judged of it is there.
    assert signatures(lake, bad) >= (BAD_PACKET - 1 if way is not put_ranges else 1)
    _, again = way(tmp_path / "lake", [first, bad, last])
    assert (again.captures, again.known, again.code()) == (0, 3, ExitCode.CONFORMS)


@WAYS
def test_a_stream_ends_with_it_and_another_begins_behind_it(planted, tmp_path, way):
    marks = {1: "nothing", 2: MARK, 3: "nothing", 4: "nothing"}
    files = [
        asking(tmp_path / f"set_{at:05}.pcap", mark, later=100 * at, port=50_000 + at) for at, mark in marks.items()
    ]
    lake, done = way(tmp_path / "lake", files[:3])
    assert done.code() is ExitCode.HARNESS_ERROR and done.captures == 3
    lake, done = way(tmp_path / "lake", files[3:])
    assert done.code() is ExitCode.CONFORMS and done.captures == 1
    found = {Path(row["path"]).name: (row["stream_id"], row["position"]) for row in rows(lake, "captures")}
    assert len(rows(lake, "captures")) == 4
    if way is put_ranges:  # Only the range is lost: what was walked over goes on.
        assert [position for _, position in found.values()].count(1) == 1
        return
    assert found["set_00001.pcap"][0] == found["set_00002.pcap"][0] != found["set_00003.pcap"][0]
    assert found["set_00003.pcap"][0] == found["set_00004.pcap"][0]
    assert [found[f"set_0000{at}.pcap"][1] for at in marks] == [1, 2, 1, 2]
    for good in (0, 2, 3):
        assert signatures(lake, files[good]) == 8


@WAYS
def test_nothing_goes_on_from_what_was_kept_of_a_stream_that_ended_so(planted, tmp_path, way):
    files = [
        asking(tmp_path / f"set_{at:05}.pcap", MARK if at == 2 else "", later=100 * at, port=50_000 + at)
        for at in (1, 2, 3)
    ]
    for one, code in zip(files, (ExitCode.CONFORMS, ExitCode.HARNESS_ERROR, ExitCode.CONFORMS), strict=True):
        lake, done = way(tmp_path / "lake", [one])
        assert done.code() is code
    positions = {Path(row["path"]).name: row["position"] for row in rows(lake, "captures")}
    assert len(rows(lake, "captures")) == 3
    assert [positions[one.name] for one in files] == ([1, 2, 3] if way is put_ranges else [1, 2, 1])
    assert signatures(lake, files[2]) == 8


def test_what_cannot_be_written_is_no_fault_of_a_capture(tmp_path, monkeypatch):
    def full(*arguments: object, **more: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.ParquetWriter", full)
    with pytest.raises(PipelineError, match=r"cannot be written to .*: No space left on device"):
        put(tmp_path / "lake", [asking(tmp_path / "good.pcap")])
    assert rows(Lake.open(where(tmp_path / "lake")), "rejected") == []


def _watched(folder: Path, lake: Path) -> list[Ingested]:
    """What two looks at the folder come to, with a copy of a capture put there between them."""
    from conformance.pipeline.spark import session
    from conformance.pipeline.watch import watch

    done: list[Ingested] = []
    with session("local[1]", settings={"spark.executorEnv.PYTHONPATH": str(FAKE)}) as spark:
        for _ in range(2):
            opened = Lake.open(lake, create=True)
            watch(spark, folder, opened, Options(), settle_s=0, every_s=1, once=True, on_batch=done.append)
            shutil.copy(folder / "zero.pcap", folder / "again.pcap")
    return done


def test_a_watch_takes_no_bad_capture_twice(tmp_path, monkeypatch):
    """On workers of Spark, one of which has no memory left, one too deep a stack, and one a plain defect.

    In a process of its own: the workers of a session that runs already know nothing of the defect.
    """
    need_spark()
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", JAVA)
    folder, lake = tmp_path / "captures", Lake.open(tmp_path / "lake", create=True)
    folder.mkdir()
    marks = {"zero": MARK, "memory": "asks for all memory", "deep": "calls itself", "good": "nothing"}
    for at, (name, mark) in enumerate(marks.items()):
        asking(folder / f"{name}.pcap", mark, port=50_001 + at)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        done = process.submit(_watched, folder, lake.root).result(500)
    first, *others = done
    assert first.code() is ExitCode.HARNESS_ERROR and first.captures == 4
    errors = {Path(one.path).stem: one.defect.error for one in first.rejected if one.defect is not None}
    assert errors == {"zero": "ZeroDivisionError", "memory": "MemoryError", "deep": "RecursionError"}
    assert [(one.captures, one.known, one.code()) for one in others] == [(0, 1, ExitCode.CONFORMS)]
    assert len(rows(lake, "captures")) == 4 and len(rows(lake, "rejected")) == 3
    assert signatures(lake, folder / "good.pcap") == 8
