"""The same corpus on two cores of this process, a standalone cluster and a Spark Connect server: the same rows."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lake_helpers import CAPTURES, FILES, put, same
from spark_helpers import COMMAND, ENVIRONMENT, cluster, need_spark

from conformance.pipeline.lake import Lake
from conformance.pipeline.spark import session
from conformance.pipeline.spark_needs import check_master
from conformance.pipeline.untrusted_files import PipelineError

QUERY = "select outcome, sum(count) from verdicts group by 1 order by 1"
SERVERS = ("standalone", "connect")
SOME = FILES[::3]


@pytest.fixture(params=SERVERS)
def master(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a server that is not of this process."""
    need_spark()
    if request.param == "connect":
        yield request.getfixturevalue("connect")
    else:
        with cluster(tmp_path) as address:
            yield address


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Of a user in the folder of the captures, which is the working directory of no server and no worker."""
    how: dict[str, Any] = {"capture_output": True, "text": True, "env": ENVIRONMENT, "timeout": 900}
    return subprocess.run([*COMMAND, *arguments], cwd=CAPTURES, **how)


def test_every_master_says_what_one_process_says(tmp_path: Path, master: str):
    """Captures of the house, with the rules of connections, by relative names; a query is answered."""
    here, _ = put(tmp_path / "here", SOME)
    place = os.path.relpath(tmp_path / "there", CAPTURES)
    done = command("ingest", *(Path(one).name for one in SOME), "--out", place, "--master", master, "--json")
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["captures"] == len(SOME)
    if master.startswith("sc://"):  # Elsewhere the session is as on this machine alone.
        asked = command("sql", place, QUERY, "--master", master, "--json")
        assert asked.returncode == 0, asked.stderr
        counted = {row[0]: row[1] for row in json.loads(asked.stdout)["rows"]}
        assert counted == json.loads(done.stdout)["outcomes"]
    there = Lake.open(tmp_path / "there")
    same(here, there)
    told = [line for line in done.stderr.splitlines() if "packets/s" in line]
    assert told and all(line.startswith("mqconform: pipeline ingest: ") for line in told)


@pytest.mark.parametrize(
    "master",
    ["local", "local[2]", "local[*]", "local[2,4]", "local[*, 3]", "sc://host", "sc://127.0.0.1:15002",
     "sc://host:443/;token=abc;use_ssl=true", "spark://a:7077,b:7077", "yarn", "k8s://https://host:6443"],
)  # fmt: skip
def test_masters_that_spark_knows_are_taken(master: str):
    check_master(master)


@pytest.mark.parametrize(
    "master",
    ["", "local[]", "local[0]", "local[2,0]", "local[2,]", "local[a]", "sc://", "sc:///x", "spark://a", "mesos://x"],
)
def test_others_are_refused(master: str):
    with pytest.raises(PipelineError, match="is not a Spark master: use local"):
        check_master(master)


def test_a_server_that_does_not_answer_is_one_sentence():
    need_spark()
    words = r"No Spark Connect server answers at 127\.0\.0\.1:1 "
    with pytest.raises(PipelineError, match=words), session("sc://127.0.0.1:1"):
        pass


def test_a_session_that_runs_is_used_and_not_stopped(spark):
    with session("local[1]") as found:
        assert found is spark
    assert spark.range(3).count() == 3
