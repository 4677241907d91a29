"""The same ingest on Spark, in one session; Connect and a cluster are in `test_pipeline_masters`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from defect_captures import asking
from delta_helpers import HANGER, dated
from lake_helpers import CAPTURES, FILES, put, replayed, rows, said, same
from spark_helpers import COMMAND, ENVIRONMENT, need_spark

from conformance.pipeline.engine import Spark, _greeting, _unfit

ROOT = Path(__file__).parents[2]


def test_spark_says_what_this_process_says(tmp_path, spark):
    lake, done = put(tmp_path / "lake", FILES, Spark(spark))
    assert done.captures == len(FILES)
    same(lake, put(tmp_path / "here", FILES)[0])
    assert put(tmp_path / "lake", FILES, Spark(spark))[1].known == len(FILES)


def test_a_capture_that_cannot_be_read_is_named(tmp_path, spark):
    """Nor does one stop anything whose first packet has a time beyond any year."""
    (tmp_path / "no.pcap").write_text("no capture")
    late = dated(tmp_path / "late.pcapng", 1 << 62)
    lake, done = put(tmp_path / "lake", [tmp_path / "no.pcap", late, CAPTURES / "vlan.pcap"], Spark(spark))
    assert [one.path for one in done.rejected] == [str(tmp_path / "no.pcap")] and len(rows(lake, "rejected")) == 1
    assert str(late) in {row["path"] for row in rows(lake, "captures")}
    assert said(lake, CAPTURES / "vlan.pcap") == replayed(CAPTURES / "vlan.pcap")


def test_a_capture_that_ends_its_worker_is_named_and_the_others_stay(tmp_path):
    """In a process of its own: the workers of a session that runs already know nothing of the defect.

    Modules in the working folder are not imported.
    """
    need_spark()
    for name in ("bisect.py", "queue.py", "pyarrow.py"):
        (tmp_path / name).write_text("raise SystemExit('a module of a stranger')")
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake" / "sitecustomize.py").write_text(HANGER)
    kills = asking(tmp_path / "kills.pcap", "kills its worker")
    hangs = asking(tmp_path / "hangs_bad.pcap", "hangs its worker", port=50_003)
    good = asking(tmp_path / "good.pcap", port=50_002)
    path = os.pathsep.join((str(tmp_path / "fake"), str(ROOT)))
    ran = subprocess.run(
        [*COMMAND, "ingest", str(kills), str(hangs), str(good), "--out", str(tmp_path / "lake"), "--master", "local[2]",
         "--json"],
        env={**ENVIRONMENT, "PYTHONPATH": path}, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    found = json.loads(ran.stdout)
    assert ran.returncode == 4 and found["captures"] == 1 and found["engine"] == "spark", ran.stderr
    reasons = {one["path"]: one["reason"] for one in found["rejected"]}
    assert len(reasons) == 2 and "did not end within 2 seconds" in reasons[str(hangs)]
    assert "died each time" in reasons[str(kills)]


def test_a_worker_without_this_mqconform_is_one_sentence(tmp_path):
    need_spark()
    fake = Path(__file__).parent / "fakes" / "other_package"
    program = (
        "import sys; from conformance.pipeline.spark import session; from conformance.pipeline.engine import Spark\n"
        "from conformance.pipeline.untrusted_files import PipelineError\n"
        "with session('local[1]', settings={'spark.executorEnv.PYTHONPATH': sys.argv[1]}) as spark:\n"
        "    try: Spark(spark).cores\n"
        "    except PipelineError as error: print(int(error.code), error.sentence)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, str(fake)], env=ENVIRONMENT, capture_output=True, text=True,
                         timeout=300, check=False)  # fmt: skip
    assert ran.stdout.startswith("3 A worker of Spark") and "has no mqconform" in ran.stdout, ran.stderr
    with pytest.raises(RuntimeError) as other:  # one of another version
        list(_greeting("0.0.0+other")(iter(())))
    assert "and here it is 0.0.0+other: install" in _unfit(f"RuntimeError: {other.value}").sentence


@pytest.fixture
def source(spark):
    """Gives a reader of captures."""
    from conformance.pipeline.source import MsmqPcap

    spark.dataSource.register(MsmqPcap)
    return lambda: spark.read.format("msmq_pcap")


def test_the_source_has_the_packets_of_the_lake(tmp_path, source):
    files = [CAPTURES / name for name in ("consistent-session.pcapng", "vlan.pcap")]
    for file in files:
        (tmp_path / file.name).write_bytes(file.read_bytes())
    lake, _ = put(tmp_path / "lake", [tmp_path / file.name for file in files], packets=True)
    names = ["number", "kind", "queue", "sender", "worst", "deviating", "time_ns", "capture_id"]
    found = source().load(str(tmp_path)).select(names).collect()
    wanted = [tuple(row[name] for name in names) for row in rows(lake, "packets")]
    assert sorted(map(repr, map(tuple, found))) == sorted(map(repr, wanted)) and len(found) > 20
    paths = source().option("columns", "path,kind").load(str(tmp_path)).select("path").distinct().collect()
    assert sorted(row.path for row in paths) == sorted(str(tmp_path / file.name) for file in files)


def test_what_the_source_cannot_do_is_one_sentence(tmp_path, source):
    (tmp_path / "no.pcap").write_text("no capture")
    for options, words in (
        ({"columns": "kind,colour"}, "'colour', which is none of"),
        ({"onError": "ignore"}, "The option onError is 'ignore'; give fail or skip"),
        ({}, "no.pcap"),
    ):
        with pytest.raises(Exception, match=words):
            source().options(**options).load(str(tmp_path / "no.pcap")).count()
    assert source().option("onError", "skip").load(str(tmp_path / "no.pcap")).count() == 0
