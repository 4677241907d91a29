"""The data source in Spark: chosen columns, filters that the source checks, and what it says of bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from functools import reduce

import pytest
from lake_helpers import CAPTURES, records_of, write_pcap
from source_peer import rows_of
from spark_helpers import ENVIRONMENT

from conformance.capture.ranges import size_of
from conformance.pipeline.ingest import Options, how

ENABLED = "spark.sql.python.filterPushdown.enabled"
NAMES = "time,kind,queue,worst,deviating,number,length,side,message_id,transactional"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Captures with packets of many kinds, some of which deviate, and some judged one by one."""
    folder = tmp_path_factory.mktemp("source")
    for name in ("served-sequence.pcapng", "appended-headers-wrong.pcapng", "served-pings.pcapng"):
        write_pcap(folder / f"{name.partition('.')[0]}.pcap", records_of(CAPTURES / name))
    return folder


@pytest.fixture
def source(spark):
    """A reader of the source, with its filters."""
    from conformance.pipeline.source import MsmqPcap

    spark.dataSource.register(MsmqPcap)
    spark.conf.set(ENABLED, "true")
    yield lambda: spark.read.format("msmq_pcap").option("pushFilters", "true")
    spark.conf.unset(ENABLED)


def peer(folder):
    asked = how(Options(), "")
    return [row for path in sorted(folder.iterdir()) for row in rows_of(str(path), 24, size_of(path), asked)]


def ordered(rows):
    return sorted(map(repr, rows))


def test_all_columns_are_those_of_the_peer(source, folder):
    found = [row.asDict() for row in source().load(str(folder)).collect()]
    wanted = [{**row, "time": row["time"].astimezone().replace(tzinfo=None)} for row in peer(folder)]
    assert ordered(found) == ordered({name: row[name] for name in found[0]} for row in wanted)


def test_columns_are_chosen_by_an_option_or_a_schema(source, folder):
    one = source().option("columns", "worst, deviating,kind").load(str(folder))
    other = source().schema("worst STRING, deviating ARRAY<STRING>, kind STRING").load(str(folder))
    assert one.columns == other.columns == ["worst", "deviating", "kind"]
    wanted = ordered((row["worst"], row["deviating"], row["kind"]) for row in peer(folder))
    assert ordered(map(tuple, one.collect())) == ordered(map(tuple, other.collect())) == wanted


def test_filters_leave_what_spark_leaves(source, spark, folder):
    from pyspark.sql.functions import col, lit, struct

    found, wanted = [], []
    plain = spark.read.format("msmq_pcap").option("columns", NAMES).load(str(folder))
    times = sorted(row["time"] for row in peer(folder))
    middle = times[len(times) // 2]
    queue = next(row["queue"] for row in peer(folder) if row["queue"])
    conditions = {
        "kind": col("kind") == "UserMessage",
        "not null among": ~col("worst").isin("pass", None),
        "nothing": col("worst").isNull(),
        "queue": col("queue").isNotNull() & (col("queue") >= queue),
        "not same": ~col("queue").eqNullSafe(lit(queue)),
        "span": (col("time") > times[0]) & (col("time") <= middle + timedelta(microseconds=1)),
        "either": (col("kind") == "OrderAck") | (col("worst") == "fail"),
        "mixed": (col("kind") == "UserMessage") & (col("length") < 400) & (col("number") % 2 == 0),
        "never": col("time") > datetime(2100, 1, 1, tzinfo=UTC),
    }
    row = struct(*NAMES.split(",")).cast("string").alias("row")
    # One query for all: planning each takes longer than reading.
    for name, condition in conditions.items():
        found.append(
            source().option("columns", NAMES).load(str(folder)).where(condition).select(lit(name).alias("name"), row)
        )
        wanted.append(plain.where(condition).select(lit(name), row))
    checked, others = (reduce(lambda one, other: one.union(other), some) for some in (found, wanted))
    assert ordered(map(tuple, checked.collect())) == ordered(map(tuple, others.collect()))


def test_the_source_checks_the_filters(source, folder, capsys):
    found = source().option("columns", NAMES).load(str(folder)).where("kind = 'UserMessage' and number % 2 = 0")
    found.explain()
    left = [line for line in capsys.readouterr().out.splitlines() if "Filter (" in line]
    assert len(left) == 1 and "number" in left[0] and "kind" not in left[0]


CONNECTED = """
import json, sys
from conformance.pipeline.source import MsmqPcap
from conformance.pipeline.spark import session

with session(sys.argv[1]) as spark:
    spark.dataSource.register(MsmqPcap)
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    reader = spark.read.format("msmq_pcap").option("pushFilters", "true").option("columns", "number,kind,worst")
    found = reader.load(sys.argv[2]).where("kind = 'UserMessage' and worst <> 'pass'")
    print(json.dumps([type(spark).__module__, sorted(map(list, found.collect()))]))
"""


def test_a_session_of_spark_connect_reads_the_same(folder, connect):
    done = subprocess.run(
        [sys.executable, "-c", CONNECTED, connect, str(folder)],
        capture_output=True, text=True, env=ENVIRONMENT, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    kind, found = json.loads(done.stdout.splitlines()[-1])
    names = ("number", "kind", "worst")
    wanted = [[row[name] for name in names] for row in peer(folder) if row["kind"] == "UserMessage"]
    assert "connect" in kind and found == sorted(row for row in wanted if row[2] not in (None, "pass")) != []
