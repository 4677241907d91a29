"""A watch of a folder: each file when it is finished, exactly once, whoever ends it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lake_helpers import CAPTURES, Here, put, records_of, rows, said, same, write_pcap

from conformance.pipeline.ingest import Ingested, finished, how, watch, watched
from conformance.pipeline.lake import Lake
from conformance.pipeline.untrusted_files import PipelineError

ROOT = Path(__file__).parents[2]
SESSION = CAPTURES / "consistent-session.pcapng"


def pieces(folder: Path, count: int = 4) -> list[Path]:
    """A capture as a rotated set, its files of rising age."""
    folder.mkdir(exist_ok=True)
    records = records_of(SESSION)
    each = -(-len(records) // count)
    files = [write_pcap(folder / f"set_{at:05}.pcap", records[at * each : (at + 1) * each]) for at in range(count)]
    for at, path in enumerate(files):
        os.utime(path, (1_700_000_000 + at, 1_700_000_000 + at))
    return files


def seen(folder: Path, place: Path, **more) -> list[Ingested]:
    """The batches of one look at a folder."""
    done: list[Ingested] = []
    asked = {"settle_s": 0, "every_s": 1, "once": True, "max_files": 1_000, "on_batch": done.append, **more}
    watch(folder, Lake.open(place, create=True), how(), Here(), **asked)
    return done


def test_files_come_in_order_each_once(tmp_path):
    files = pieces(tmp_path / "spool")
    done = seen(tmp_path / "spool", tmp_path / "lake", max_files=3)
    assert [one.captures for one in done] == [3, 1]
    assert seen(tmp_path / "spool", tmp_path / "lake") == []
    lake = Lake.open(tmp_path / "lake")
    same(lake, put(tmp_path / "whole", files, keep=True)[0])
    assert sorted(row["position"] for row in rows(lake, "captures")) == [1, 2, 3, 4]


def test_the_newest_of_a_set_waits_until_it_has_settled(tmp_path):
    files = pieces(tmp_path / "spool")
    for path in files[-2:]:
        os.utime(path)
    assert list(finished(tmp_path / "spool", 60)) == [str(path) for path in files[:-1]]
    assert len(finished(tmp_path / "spool", 0)) == 4
    assert finished(tmp_path / "lake", 0) == {}


def test_a_file_that_grows_is_told_and_one_in_its_place_is_taken(tmp_path, monkeypatch):
    """As of a ring buffer, which uses its names again."""
    spool, records = tmp_path / "spool", records_of(SESSION)
    spool.mkdir()
    write_pcap(spool / "ring.pcap", records[:10])
    done: list[Ingested] = []
    changes = [
        lambda: write_pcap(spool / "ring.pcap", records[:20]),
        lambda: shutil.copy(CAPTURES / "vlan.pcap", spool / "ring.pcap"),
    ]

    def look() -> bool:
        """Asked before each look at the folder."""
        if done and changes:
            changes.pop(0)()
        return len(done) == 3

    monkeypatch.setattr("conformance.pipeline.ingest.time.sleep", lambda seconds: None)
    seen(spool, tmp_path / "lake", once=False, every_s=0, ended=look, on_batch=done.append)
    assert [(one.captures, len(one.rejected)) for one in done] == [(1, 0), (0, 1), (1, 0)]
    assert "changed after it was ingested; raise --settle" in str(done[1].rejected[0].error)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_watch_that_is_ended_goes_on_where_it_was(tmp_path, number):
    spool = tmp_path / "spool"
    files = pieces(tmp_path / "all")
    spool.mkdir()
    shutil.copy2(files[0], spool)
    command = [sys.executable, "-m", "conformance", "pipeline", "watch", str(spool), "--out", str(tmp_path / "lake"),
               "--settle", "0", "--every", "0.1", "--engine", "local"]  # fmt: skip
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and "1 capture of 1 stream" in process.stdout.readline()
    for path in files[1:]:
        shutil.copy2(path, spool)
    if number == signal.SIGKILL:
        time.sleep(0.3)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    if number == signal.SIGTERM:
        assert process.returncode in (0, 1) and "stopped watching" in err
    seen(spool, tmp_path / "lake")
    same(Lake.open(tmp_path / "lake"), put(tmp_path / "whole", sorted(spool.iterdir()), keep=True)[0])
    assert said(Lake.open(tmp_path / "lake"))[1]


def test_what_cannot_be_watched_is_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    for place, words in ((tmp_path / "none", "There is no folder"), (tmp_path / "file", "is not a folder")):
        with pytest.raises(PipelineError, match=words):
            watched(str(place))
    with pytest.raises(PipelineError, match="ingest a store again and again"):
        watched("s3://bucket/folder")
