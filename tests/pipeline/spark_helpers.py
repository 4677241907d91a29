"""Spark for tests: a session of this process, and a cluster of a master and two workers on loopback."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from conformance.pipeline.spark_needs import find_java, require_spark
from conformance.pipeline.untrusted_files import PipelineError

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "conformance", "pipeline"]
# Most of what Spark takes for so little is its compilers' time.
SETTINGS = {"spark.sql.shuffle.partitions": "2", "spark.sql.codegen.wholeStage": "false"}
JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1", "JAVA_TOOL_OPTIONS": JAVA}
_PATIENCE_S = 600


def need_spark() -> None:
    """Skip where there is no Java; with CI=true that is a failure."""
    try:
        require_spark()
        find_java()
    except PipelineError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(error.sentence)
        pytest.skip(error.sentence)


@contextmanager
def started(arguments: list[str], until: str, log: Path, **settings: str) -> Iterator[re.Match[str]]:
    """A process that has said something that fits `until`, killed at the end with all it started."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            arguments, stdout=out, stderr=subprocess.STDOUT, env={**ENVIRONMENT, **settings}, start_new_session=True
        )
    try:
        end = time.monotonic() + _PATIENCE_S
        while not (found := re.search(until, log.read_text("utf-8", "replace"))):
            assert process.poll() is None and time.monotonic() < end, log.read_text("utf-8", "replace")
            time.sleep(0.1)
        yield found
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """A standalone master and two workers of one core each; gives the master's URL."""
    import pyspark

    home = Path(pyspark.__file__).parent
    script = str(home / "bin" / "spark-class")
    settings = {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, "SPARK_WORKER_DIR": str(folder / "work")}
    with ExitStack() as stack:
        master = stack.enter_context(
            started(
                [script, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0",
                 "--webui-port", "0"],
                r"Starting Spark master at (spark://127\.0\.0\.1:\d+)", folder / "master.log", **settings,
            )
        )[1]  # fmt: skip
        for number in (1, 2):
            stack.enter_context(
                started(
                    [script, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0",
                     "--cores", "1", "--memory", "1g", master],
                    r"Successfully registered with master", folder / f"worker{number}.log", **settings,
                )
            )  # fmt: skip
        yield master


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """A Spark Connect server with two cores on loopback; gives its address."""
    import pyspark

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = Path(pyspark.__file__).parent
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        **SETTINGS,
    }
    arguments = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--driver-memory", "600m"]
    for name, value in settings.items():
        arguments += ["--conf", f"{name}={value}"]
    service = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    log = folder / "connect.log"
    said = r"Spark Connect server started at"
    environment = {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    with started([*arguments, *service], said, log, **environment):
        yield f"sc://127.0.0.1:{port}"
