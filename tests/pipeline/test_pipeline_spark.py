"""The pipeline on Spark: the rows of one process; the data source; a watch that is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from broken_streams import broken_stream, written
from lake_helpers import CAPTURES, FILES, put, records_of, replayed, rows, said, same, write_pcap
from nightly import sample
from spark_helpers import COMMAND, ENVIRONMENT, need_spark

from conformance.capture import Frame, read_capture
from conformance.pipeline.ingest import Options, files_of, ingest
from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import TABLES

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]


@pytest.mark.parametrize("sessions", sample("pipeline.rows-of-spark", [True, False], [False]))
def test_rows_are_those_of_one_process(spark, tmp_path, sessions):
    from conformance.pipeline.spark import SparkWorkers

    options = {"packets": True, "split": 4096, "sessions": sessions}
    here, _ = put(tmp_path / "here", FILES, **options)
    there = Lake.open(tmp_path / "there", create=True)
    done = ingest(there, files_of([*FILES, "/nothing"]), Options(**options), SparkWorkers(spark))
    assert len(done.rejected) == 1 and (sessions or done.ranges >= 10)
    assert said(there) == said(here)
    if sessions:  # What is counted in ranges has its rows by task.
        same(here, there)
    again = ingest(there, files_of(FILES), Options(), SparkWorkers(spark))
    assert (again.captures, again.known, again.version) == (0, len(FILES), done.version)
    for name in ("captures", "verdicts"):
        files = [str(path) for path in there.files(name)]
        reader = spark.read.schema(TABLES[name].ddl()).option("basePath", str(there.root / name))
        assert reader.parquet(*files).where("date is not null").count() == len(rows(there, name))


def test_broken_streams_are_those_of_one_process(spark, tmp_path):
    from conformance.pipeline.spark import SparkWorkers

    files = []
    for at in range(4):
        files.append(tmp_path / f"{at}.pcap")
        files[-1].write_bytes(written(broken_stream(seed) for seed in range(10 * at, 10 * at + 10)))
    for sessions in (True, False):
        here, _ = put(tmp_path / f"here {sessions}", files, packets=True, sessions=sessions)
        there, done = put(tmp_path / f"there {sessions}", files, SparkWorkers(spark), packets=True, sessions=sessions)
        assert not done.rejected
        same(here, there)


def test_the_data_source_finds_every_packet_in_whatever_ranges(spark, tmp_path):
    from conformance.pipeline.source import MsmqPcap

    capture = write_pcap(tmp_path / "one.pcap", records_of(CAPTURES / "resending-session.pcapng"))
    frames = [event for event in read_capture(capture) if isinstance(event, Frame)]
    spark.dataSource.register(MsmqPcap)
    found = spark.read.format("msmq_pcap").option("splitBytes", 2500).load(str(capture)).collect()
    assert len({row.start for row in found}) > 5
    assert Counter(row.length for row in found) == Counter(len(frame.data) for frame in frames)
    kinds = Counter(row.kind for row in found if row.kind == "UserMessage")
    whole = spark.read.format("msmq_pcap").option("splitBytes", 0).load(str(capture)).groupBy("kind").count()
    assert kinds["UserMessage"] == {row["kind"]: row["count"] for row in whole.collect()}["UserMessage"]


def test_a_watch_that_is_killed_has_each_capture_once(tmp_path):
    """Killed between the commit to the lake and that of the checkpoint, the next watch is offered the same files."""
    need_spark()
    folder, place = tmp_path / "captures", tmp_path / "lake"
    folder.mkdir()
    records = records_of(CAPTURES / "consistent-session.pcapng")
    pieces = [records[:10], records[10:25], records[25:]]
    files = [write_pcap(tmp_path / f"set_{at}.pcap", piece) for at, piece in enumerate(pieces)]
    whole = write_pcap(tmp_path / "whole.pcap", records)
    shutil.copy(files[0], folder)
    shutil.copy(files[1], folder)
    watch = [*COMMAND, "watch", str(folder), "--out", str(place), "--settle", "0", "--every", "0.2"]
    process = subprocess.Popen(
        [*watch, "--master", "local[1]"], env=ENVIRONMENT, start_new_session=True, stdout=subprocess.DEVNULL
    )
    end = time.monotonic() + 900
    try:
        while not (place / "batches" / "_delta_log" / f"{1:020}.json").exists():
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.01)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    checkpoint = next((place / "_watch").glob("*/checkpoint"))
    committed = list((checkpoint / "commits").glob("[0-9]*")) if (checkpoint / "commits").exists() else []
    shutil.copy(files[2], folder)
    done = subprocess.run(
        [*watch, "--once", "--master", "local[1]"], capture_output=True, text=True, env=ENVIRONMENT, timeout=900
    )
    assert done.returncode == 0, done.stderr
    lake = Lake.open(place)
    assert sorted(Path(row["path"]).name for row in rows(lake, "captures")) == [path.name for path in files]
    assert {row["position"] for row in rows(lake, "captures")} == {1, 2, 3}
    assert said(lake)[1] == replayed(whole)[1]
    assert committed == [] or "were already in the lake" not in done.stdout


def test_a_watch_stopped_with_all_its_processes_has_stopped_well(tmp_path):
    """As a service is: Java is told to end, too."""
    need_spark()
    shutil.copy(CAPTURES / "vlan.pcap", tmp_path / "vlan.pcap")
    watch = [*COMMAND, "watch", str(tmp_path), "--out", str(tmp_path / "lake"), "--settle", "0", "--every", "0.2"]
    with (tmp_path / "log").open("w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            [*watch, "--master", "local[1]"], env=ENVIRONMENT, start_new_session=True, stdout=log, stderr=log
        )
        end = time.monotonic() + 300
        while "1 captures" not in (tmp_path / "log").read_text(encoding="utf-8"):
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGTERM)
        assert process.wait(300) == 0, (tmp_path / "log").read_text(encoding="utf-8")
    told = (tmp_path / "log").read_text(encoding="utf-8")
    first, *between, last = [line for line in told.splitlines() if line.startswith("mqconform: ")]
    assert first == "mqconform: pipeline watch: starting Spark"
    assert last == "mqconform: stopped watching; what was finished is in the lake."
    assert all(line.startswith("mqconform: pipeline watch: ") for line in between)  # How far a long batch has come.


def children(process: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def ends(process: int) -> bool:
    """Whether a process that is no child of this one comes to its end."""
    end = time.monotonic() + 60
    while (stat := Path(f"/proc/{process}/stat")).exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z":
        if time.monotonic() > end:
            os.kill(process, signal.SIGKILL)
            return False
        time.sleep(0.1)
    return True


@pytest.mark.parametrize("number", sample("pipeline.signals-at-the-start", SIGNALS, [signal.SIGTERM]))
def test_whoever_is_stopped_while_java_starts_leaves_none_running(tmp_path, number):
    need_spark()
    process = subprocess.Popen(
        [*COMMAND, "ingest", str(CAPTURES / "vlan.pcap"), "--out", str(tmp_path / "lake"), "--master", "local[1]"],
        env=ENVIRONMENT, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    end = time.monotonic() + 300
    java: list[int] = []
    while not java:
        assert process.poll() is None and time.monotonic() < end
        for one in children(process.pid):  # `java -version` comes first, and is soon gone.
            with suppress(OSError):
                if b"pyspark-shell" in Path(f"/proc/{one}/cmdline").read_bytes():
                    java.append(one)
    process.send_signal(number)
    code = process.wait(300)
    assert ends(java[0])
    assert process.stdout is not None
    said = process.stdout.read()
    assert code == (-number if number == signal.SIGKILL else 130), said
    assert "Traceback" not in said
    assert number == signal.SIGKILL or "Interrupted; what was not finished is not in the lake" in said


KILLED = """
import os, signal
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.spark import SparkWorkers, session
try:
    with session("local[1]") as spark:
        os.kill(spark.sparkContext._gateway.proc.pid, signal.SIGKILL)  # a test may: nothing public tells it
        SparkWorkers(spark).map(len, ["one"])
except PipelineError as error:
    print(int(error.code), error)
"""


def test_a_java_that_is_killed_is_said_to_be():
    need_spark()
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, env=ENVIRONMENT, timeout=300)
    assert "3 Spark's Java process has ended before its work" in done.stdout, done.stdout + done.stderr


def test_unusable_masters_and_a_missing_java_are_one_sentence(tmp_path):
    from conformance.pipeline.errors import PipelineError
    from conformance.pipeline.spark import find_java, session

    for master, words in (("mesos://x", "is not a Spark master"), ("spark://127.0.0.1:1", "No Spark master answers")):
        with pytest.raises(PipelineError, match=words), session(master):
            pass
    before = dict(os.environ)
    try:
        os.environ["JAVA_HOME"] = str(tmp_path)
        with pytest.raises(PipelineError, match="no java runs there: install Java 17"):
            find_java()
        fake = tmp_path / "bin" / "java"
        fake.parent.mkdir()
        fake.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
        fake.chmod(0o755)
        with pytest.raises(PipelineError, match="is Java 11: install Java 17"):
            find_java()
        del os.environ["JAVA_HOME"]
        os.environ["PATH"] = str(tmp_path)
        with pytest.raises(PipelineError, match="no java was found"):
            find_java()
    finally:
        os.environ.clear()
        os.environ.update(before)
