"""Find and start Spark, with clear errors if it or Java is missing, and give it the tasks."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, TypeVar

from conformance.interrupts import work_begins
from conformance.pipeline import java_archive
from conformance.pipeline.errors import PipelineError
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")
R = TypeVar("R")

LOCAL = "local[*]"
JAVA = 17
"""The oldest Java that Spark 4 runs on."""
_MASTER = re.compile(r"local(\[(\*|[0-9]+)\])?|spark://([^:/]+|\[[^\]]+\]):[0-9]+(,.+)?|yarn|k8s://.+")
_NO_ANSWER = "does not exist in the JVM"  # py4j reports this for every class once Java has ended.
_QUIET = Path(__file__).with_name("log4j2.properties")
_PATIENCE_S = 10
_LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of a Java that only hands out tasks: optimising its own code would take more time than it runs."""
_SENTENCE = f"{PipelineError.__module__}.{PipelineError.__qualname__}: "
"""What stands before the sentence of an error in a worker."""
_GONE = (
    "Spark's Java process has ended before its work: it was killed, or had too little memory; run the command again."
)


def require_spark() -> None:
    """Raise PipelineError if pyspark or a package it needs is not installed."""
    missing = [name for name in ("pyspark", "pandas", "pyarrow", "numpy", "numba") if find_spec(name) is None]
    if missing:
        raise PipelineError(
            f"The pipeline needs {', '.join(missing)}: install the extra with pip install 'mqconform[spark]'."
        )


def find_java() -> tuple[str, int]:
    """Return the java that Spark will use and its major version. Raises PipelineError without one of 17 or later."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    advice = f"install Java {JAVA} or later (for example: apt-get install default-jre-headless), or set JAVA_HOME."
    if program is None:
        raise PipelineError(f"The pipeline runs on Spark, and no java was found: {advice}", ExitCode.UNUSABLE)
    try:
        said = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        where = f"JAVA_HOME is {home}, but" if home else f"{program} is there, but"
        raise PipelineError(f"{where} no java runs there: {advice}", ExitCode.UNUSABLE) from None
    found = re.search(r'version "(?:1\.)?(\d+)', said.stderr + said.stdout)
    version = int(found[1]) if found else 0
    if version < JAVA:
        raise PipelineError(f"{program} is Java {version or 'of an unknown version'}: {advice}", ExitCode.UNUSABLE)
    return program, version


@contextmanager
def session(
    master: str | None = None, *, settings: dict[str, str] | None = None, queries: bool = False
) -> Iterator[SparkSession]:
    """Yield a Spark session and stop it at the end; an existing one (spark-submit, a notebook) is used and not stopped.

    master: as Spark writes it; None: the one that spark-submit chose, or all cores of this machine. queries: Java
    itself computes, instead of only handing out tasks. Raises PipelineError.
    """
    work_begins()
    require_spark()
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    check_master(master)
    _reach(master)
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    java, _ = find_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", _LIGHT)  # of the Java that starts Spark's
    options = f"-Dlog4j2.configurationFile={_QUIET}{'' if queries else f' {_LIGHT}'}{java_archive.options(java)}"
    builder = SparkSession.builder.appName("mqconform")
    if master is not None or "PYSPARK_GATEWAY_PORT" not in os.environ:
        builder = builder.master(master or LOCAL)
        if master is None or master.startswith("local"):
            builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.task.maxFailures": "4",
        "spark.python.daemon.module": "conformance.pipeline.worker_daemon",
        "spark.driver.extraJavaOptions": options,
        **(settings or {}),
    }.items():
        builder = builder.config(key, value)
    with _stderr_aside() as told, _interrupts_later():
        try:
            spark = builder.getOrCreate()
        except (PySparkException, Py4JError, OSError) as problem:
            text = first_line(problem)
            raise PipelineError(f"Spark could not be started: {text}{told()}", ExitCode.UNUSABLE) from None
    spark.sparkContext.setLogLevel("ERROR")
    logging.getLogger().addFilter(_no_gateway)  # The gateway logs each Ctrl-C with a traceback.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # A failed batch ends its query, whose error tells why.
    try:
        yield spark
    except (PySparkException, Py4JError, ConnectionError) as problem:
        try:
            text = first_line(problem)
        except (Py4JError, ConnectionError):  # The text of a Java error must be fetched from Java.
            text = ""
        if not text or _NO_ANSWER in text or isinstance(problem, (ConnectionError, Py4JNetworkError)):
            raise PipelineError(_GONE, ExitCode.UNUSABLE) from None
        if "No space left on device" in text:
            raise PipelineError("No space is left where the lake or Spark's temporary files are.") from None
        raise PipelineError(f"Spark could not finish the job: {text}", ExitCode.UNUSABLE) from None
    finally:
        with suppress(Py4JError, ConnectionError):
            spark.stop()


@dataclass(frozen=True, slots=True)
class SparkWorkers:
    """The workers of a Spark session: paths and ranges are sent, lists of written files return."""

    spark: Any

    @property
    def cores(self) -> int:
        """The number of tasks that run at once."""
        return max(1, int(self.spark.sparkContext.defaultParallelism))

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Return the results in the order of the tasks; each task is a partition."""
        if not tasks:
            return []
        try:
            found: list[R] = self.spark.sparkContext.parallelize(list(tasks), len(tasks)).map(function).collect()
        except ConnectionError:
            raise PipelineError(_GONE, ExitCode.UNUSABLE) from None
        return found


def first_line(problem: BaseException) -> str:
    """Return an error in one line; for an error in a worker, its own last line."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    own = [line for line in lines if re.match(r"(conformance\.[\w.]+|\w+Error|\w+Exception): ", line)]
    return (own or lines or [type(problem).__name__])[0].removeprefix(_SENTENCE)[:500]


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Delay Ctrl-C while Java starts: an interrupt there would leave Java running with nobody to end it."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or current_thread() is not main_thread():
        yield
        return
    asked: list[int] = []

    def on_interrupt(number: int, frame: object) -> None:
        asked.append(number)

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is on_interrupt:  # Once started, Spark handles Ctrl-C itself.
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if asked:
        raise KeyboardInterrupt


@contextmanager
def _stderr_aside() -> Iterator[Callable[[], str]]:
    """Redirect stderr of processes started within to an anonymous file, because the JVM greets and keeps stderr open.

    Yields a function that returns the errors written there, as part of a sentence.
    """
    with TemporaryFile() as aside:
        sys.stderr.flush()
        ours = os.dup(2)

        def told() -> str:
            aside.seek(0)
            lines = [line.strip() for line in aside.read(1 << 16).decode("utf-8", "replace").splitlines()]
            wrong = [line for line in lines if re.search("error|exception|cannot|unable", line, re.IGNORECASE)]
            return f" ({wrong[0][:300]})" if wrong else ""

        try:
            os.dup2(aside.fileno(), 2)
            yield told
        finally:
            os.dup2(ours, 2)
            os.close(ours)


def _no_gateway(record: logging.LogRecord) -> bool:
    return record.module != "java_gateway"


def check_master(master: str | None) -> None:
    """Raise PipelineError for a URL that Spark does not know. None: the default."""
    if master is not None and not _MASTER.fullmatch(master):
        raise PipelineError(
            f"--master {master} is not a Spark master: use local[N], spark://HOST:PORT, yarn or k8s://..."
        )


def _reach(master: str | None) -> None:
    if master is not None and master.startswith("spark://"):
        unreachable = []
        for one in master.removeprefix("spark://").split(","):
            host, _, port = one.rpartition(":")
            try:
                socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE_S).close()
                return
            except (OSError, ValueError, OverflowError) as problem:
                unreachable.append(f"{one} ({getattr(problem, 'strerror', None) or problem})")
        raise PipelineError(f"No Spark master answers at {', '.join(unreachable)}.", ExitCode.UNUSABLE)
