"""Workers of Spark that die, lack the package or have another one; captures that kill whoever judges them; names."""

from __future__ import annotations

import json
import os
import socket
import time
import urllib.request
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from defect_captures import FAKE, asking
from lake_helpers import put, records_of, rows, said, write_pcap
from session_corpus import write_sessions
from spark_helpers import JAVA, need_spark
from worker_deeds import MARK, always, most_memory, once, twice

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.identity import Probe
from conformance.pipeline.ingest import Ingested, Options, ingest
from conformance.pipeline.isolation import DIED, one_by_one
from conformance.pipeline.lake import Lake
from conformance.pipeline.workers import Here, Lost, LostWorkError, found
from conformance.verdict import ExitCode

OTHERS = Path(__file__).parent / "fakes" / "other_package"
MOST = 700 << 20
"""Bytes of a worker's memory."""


def _names_of_stages(port: int) -> tuple[list[str], set[str], set[str]]:
    """The tags of jobs, the names of stages, and the steps of queries, as Spark's pages have them."""

    def asked(path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=60) as answer:
            return json.load(answer)

    (application,) = asked("applications")
    at = f"applications/{application['id']}"
    for _ in range(600):
        tags = [tag for job in asked(f"{at}/jobs") for tag in job["jobTags"]]
        stages = {stage["name"] for stage in asked(f"{at}/stages")}
        steps = {node["desc"] for query in asked(f"{at}/sql?details=true") for node in query["nodes"]}
        if any("double_a_number" in step for step in steps):
            break
        time.sleep(0.1)  # The pages follow the work.
    return tags, stages, steps


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _all_sessions(folder: Path, lake: Path) -> dict[str, Any]:
    """What several sessions come to, one after the other in one Java."""
    from conformance.pipeline.spark import SparkWorkers, session

    told: dict[str, Any] = {}
    port = _free_port()
    shown = {"spark.ui.enabled": "true", "spark.ui.port": str(port), "spark.driver.maxResultSize": "1m"}
    with session("local[2]", settings={"spark.executorEnv.PYTHONPATH": str(FAKE), **shown}) as spark:
        workers = SparkWorkers(spark)
        told["cores"] = workers.cores
        told["many"] = workers.map(twice, list(range(100)))
        told["names"] = _names_of_stages(port)
        told["once"] = workers.attempt(once, [str(lake) + f".{number}" for number in range(2)])
        told["always"] = workers.attempt(always, ["a", MARK, "b"])
        try:
            workers.map(len, [b"x" * (65 << 20)])
        except PipelineError as error:
            told["large"] = error.sentence
        for name, options in (("sessions", Options()), ("packets", Options(sessions=False, split=700))):
            opened = Lake.open(lake / name, create=True)
            told[name] = ingest(opened, sorted(map(str, folder.glob("*.pcap"))), options, workers)
        many = sorted(map(str, (folder / "several").iterdir()))
        told["parts"] = ingest(Lake.open(lake / "parts", create=True), many, Options(split=600_000, parts=2), workers)
        told["memory"] = max(workers.map(most_memory, list(range(4))))
    for kind in ("other", "none"):
        environment = {"spark.executorEnv.PYTHONPATH": str(OTHERS), "spark.executorEnv.FAKE_MQCONFORM": kind}
        try:
            with session("local[1]", settings=environment) as spark:
                SparkWorkers(spark).map(len, ["one"])
        except PipelineError as error:
            told[kind] = (int(error.code), error.sentence)
    return told


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("captures")
    asking(folder / "bad.pcap", MARK)
    asking(folder / "good.pcap", port=50_002)
    for at, mark in ((1, "nothing"), (2, MARK), (3, "nothing")):
        asking(folder / f"set_{at:05}.pcap", mark, later=100 * at, port=50_010 + at)
    _several(folder / "several")
    return folder


def _several(folder: Path) -> None:
    """Streams of several groups of connections: a large one, a small one, and one with a message that kills."""
    folder.mkdir()
    for name, packets in (("large_00001", 8_000), ("small", 300), ("bad", 300)):
        write_sessions(folder / f"{name}.pcap", packets, pairs=4)
    kills = records_of(asking(folder / "bad.part", MARK))
    every = sorted([*records_of(folder / "bad.pcap"), *kills], key=lambda one: one.time_ns)
    write_pcap(folder / "bad.pcap", every)
    (folder / "bad.part").unlink()


@pytest.fixture(scope="module")
def told(captures: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """In a process of its own: the workers of a session that runs already know nothing of the defects."""
    need_spark()
    lake = tmp_path_factory.mktemp("lakes")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", JAVA)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        here = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, here)))
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            found = process.submit(_all_sessions, captures, lake).result(900)
    return {**found, "lake": lake}


def test_tasks_come_back_in_order_however_many(told):
    assert told["many"] == [2 * number for number in range(100)]
    assert told["cores"] == 2


@pytest.mark.parametrize("deed", ["greet the workers", "double a number"])
def test_sparks_pages_name_each_stage_by_what_it_does(told, deed):
    tags, stages, steps = told["names"]
    assert any(tag.endswith(f"-{deed}") for tag in tags)
    assert any(stage.startswith(f"toArrow at {deed}:") for stage in stages)
    assert any(step.startswith(f"MapInArrow {deed.replace(' ', '_')}(") for step in steps)


def test_a_worker_that_is_killed_costs_nothing_but_time(told):
    assert told["once"] == ["there", "there"]


def test_a_task_that_kills_each_worker_is_lost_alone(told):
    first, lost, last = told["always"]
    assert (first, last) == ("a", "b") and isinstance(lost, Lost) and "died" in lost.reason


def test_a_task_that_is_too_large_is_one_sentence(told):
    assert "A task has 65 MB, and at most 64 MB are sent" in told["large"]


@pytest.mark.parametrize("way", ["sessions", "packets"])
def test_a_capture_that_kills_its_workers_is_rejected_by_name(told, captures, tmp_path, way):
    done: Ingested = told[way]
    lake = Lake.open(told["lake"] / way)
    assert done.code() is ExitCode.HARNESS_ERROR and done.captures == 3
    assert sorted(Path(one.path).name for one in done.rejected) == ["bad.pcap", "set_00002.pcap"]
    assert all(one.defect is not None and one.defect.error == DIED for one in done.rejected)
    reasons = {Path(row["path"]).name: row["reason"] for row in rows(lake, "rejected")}
    assert set(reasons) == {"bad.pcap", "set_00002.pcap"}
    assert all("was not judged: its worker died" in reason for reason in reasons.values())
    good = [captures / name for name in ("good.pcap", "set_00001.pcap", "set_00003.pcap")]
    alone, _ = put(tmp_path / "alone", good, sessions=way == "sessions", split=None if way == "sessions" else 700)
    assert said(lake) == said(alone)


def test_parts_whose_worker_dies_are_judged_in_order_and_the_others_in_parts(told, captures, tmp_path):
    """Also when the results of the parts are larger than what Spark returns at once."""
    done: Ingested = told["parts"]
    assert {Path(key).name for key in done.in_order} == {"bad.pcap"}
    assert all("a worker that judged a part of it died: it crashed" in why for why in done.in_order.values())
    assert [Path(one.path).name for one in done.rejected] == ["bad.pcap"] and done.captures == 2
    good = [captures / "several" / f"{name}.pcap" for name in ("large_00001", "small")]
    alone, _ = put(tmp_path / "alone", good)
    assert said(Lake.open(told["lake"] / "parts")) == said(alone)


def test_workers_with_another_package_or_none_are_one_sentence_before_work(told):
    code, sentence = told["other"]
    assert code == ExitCode.UNUSABLE and "has mqconform 0.0.0+other, and here it is" in sentence
    code, sentence = told["none"]
    assert code == ExitCode.UNUSABLE and "A worker of Spark has no mqconform: install mqconform" in sentence


def test_a_worker_has_less_memory_than_is_promised(told):
    assert 0 < told["memory"] < MOST


def test_files_that_kill_whoever_looks_at_them_are_known_by_name():
    class Dying(Here):
        """Loses each task that has a bad file."""

        def attempt(self, function, tasks, each=None):
            return [Lost("died") if "bad" in task else function(task) for task in tasks]

    def look(names):
        return [Probe(name) for name in names]

    found = one_by_one(Dying(), look, [["a", "bad", "b"], ["c"]], lambda name, reason: Probe(name, error=reason))
    assert [(one.path, one.error) for one in found] == [("a", None), ("bad", "died"), ("b", None), ("c", None)]


def test_what_is_lost_and_needed_ends_the_command():
    assert found([1, 2]) == [1, 2]
    with pytest.raises(LostWorkError, match="A worker died, each time; run the command again") as problem:
        found([1, Lost("died")])
    assert problem.value.code is ExitCode.UNUSABLE
