"""Start or find a session of Spark, with clear errors, and answer queries over a lake in it."""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread, current_thread, main_thread
from time import monotonic
from typing import Any, Final

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from conformance.children import safe_path
from conformance.interrupts import work_begins
from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import BATCH, TABLES
from conformance.pipeline.spark_needs import check_master, find_java
from conformance.pipeline.untrusted_files import PipelineError
from conformance.report.text import label
from conformance.spec.catalogue import aliases
from conformance.verdict import ExitCode

_CONNECT = "sc://"
_CONNECT_PORT = 15_002
_QUIET = Path(__file__).with_name("log4j2.properties")
_LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of a Java that only hands out tasks: optimising its own code would take more time than it runs."""
_MODES = ("SPARK_CONNECT_MODE_ENABLED", "SPARK_REMOTE", "SPARK_LOCAL_REMOTE")
"""Variables that pyspark sets for a remote session."""
_OF_SESSIONS = {"spark.sql.session.timeZone": "UTC", "spark.sql.execution.arrow.pyspark.enabled": "true"}
_SENTENCE = f"{PipelineError.__module__}.{PipelineError.__qualname__}: "
"""The mark before the sentence of an error in a worker."""
_OF_JAVA = r"(?:: |Caused by: )(?:[\w$]+\.)+(\w+(?:Error|Exception): .+)"
_GONE = "Spark's Java process has ended: it was killed, or had too little memory; run the command again."


@contextmanager
def session(
    master: str | None = None, *, settings: dict[str, str] | None = None, queries: bool = False
) -> Iterator[SparkSession]:
    """Yield a Spark session and stop it at the end; an existing one (spark-submit, a notebook) is used and not stopped.

    master: as Spark writes it, or the address of a Spark Connect server (sc://HOST:PORT); None: the one that
    spark-submit chose, or all cores of this machine. queries: Java itself computes, instead of only handing out tasks.
    Raises PipelineError.
    """
    work_begins()
    check_master(master)
    _reach(master)
    running = _running()
    if running is not None:
        yield running
        return
    before = {name: os.environ.get(name) for name in _MODES}
    spark = _connected(master, settings or {}) if _remote(master) else _started(master, settings or {}, queries)
    try:
        with _sentences():
            yield spark
    finally:
        with suppress(Py4JError, ConnectionError):
            spark.stop()
        for name, value in before.items():  # A process whose sessions were remote would take the next one for such.
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _running() -> SparkSession | None:
    """Return the active session of this thread, classic or Connect."""
    connect = sys.modules.get("pyspark.sql.connect.session")  # No session is one of Connect unless it is imported.
    found: SparkSession | None = connect.SparkSession.getActiveSession() if connect is not None else None
    return found or SparkSession.getActiveSession()


def _remote(master: str | None) -> bool:
    return (master or os.environ.get("SPARK_REMOTE", "")).startswith(_CONNECT)


def _connected(master: str | None, settings: Mapping[str, str]) -> SparkSession:
    """Return a session of a Spark Connect server. Raises PipelineError."""
    url = master or os.environ["SPARK_REMOTE"]
    builder: Any = SparkSession.builder.remote(url)
    try:
        spark: Any = builder.getOrCreate()
        if ";session_id=" in url:  # A session that is there stays as it is, and stays there.
            spark.release_session_on_close = False
            return spark
        for key, value in {**_OF_SESSIONS, **settings}.items():
            spark.conf.set(key, value)
        return spark
    except ImportError as problem:
        raise PipelineError(
            f"Spark Connect needs more packages ({first_line(problem)}): install the extra with pip install"
            " 'mqconform[connect]'."
        ) from None
    except (PySparkException, ConnectionError) as problem:
        raise PipelineError(f"Spark could not be reached: {first_line(problem)}", ExitCode.UNUSABLE) from None


def _started(master: str | None, settings: Mapping[str, str], queries: bool) -> SparkSession:
    """Start Java and return its session. Raises PipelineError."""
    find_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", _LIGHT)  # of the Java that starts Spark's
    options = f"-Dlog4j2.configurationFile={_QUIET}{'' if queries else f' {_LIGHT}'}"
    builder = SparkSession.builder.appName("mqconform")
    if master is not None or "PYSPARK_GATEWAY_PORT" not in os.environ:
        builder = builder.master(master or "local[*]")
        if master is None or master.startswith("local"):
            builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    for key, value in {
        **_OF_SESSIONS,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.executorEnv.PYTHONSAFEPATH": "1",
        "spark.driver.extraJavaOptions": options,
        **settings,
    }.items():
        builder = builder.config(key, value)
    with _stderr_aside() as told, _interrupts_later(), safe_path():
        try:
            spark = builder.getOrCreate()
        except (PySparkException, Py4JError, OSError) as problem:
            text = first_line(problem)
            raise PipelineError(f"Spark could not be started: {text}{told()}", ExitCode.UNUSABLE) from None
    logging.getLogger().addFilter(_no_gateway)  # The gateway logs each Ctrl-C with a traceback.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # A failed batch ends its query, whose error tells why.
    return spark


@contextmanager
def _sentences() -> Iterator[None]:
    """Raise Spark's errors as PipelineError."""
    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as problem:
        try:
            text = first_line(problem)
        except (Py4JError, ConnectionError):  # The text of a Java error must be fetched from Java.
            text = ""
        silent = isinstance(problem, Py4JError) and not isinstance(problem, Py4JJavaError)  # The error is py4j's own.
        if not text or silent or isinstance(problem, ConnectionError):
            raise PipelineError(_GONE, ExitCode.UNUSABLE) from None
        if "No space left on device" in str(problem):
            raise PipelineError("No space is left where the lake or Spark's temporary files are.") from None
        raise PipelineError(f"Spark could not finish the job: {text}", ExitCode.UNUSABLE) from None


def first_line(problem: BaseException) -> str:
    """Return an error in one line: of a worker its own last line, of Java what brought it about."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    own = [line for line in lines if re.match(r"(conformance\.[\w.]+|\w+Error|\w+Exception): ", line)]
    java = [found[1] for line in lines if (found := re.match(_OF_JAVA, line))]
    return (own[:1] or java[-1:] or lines[:1] or [type(problem).__name__])[0].removeprefix(_SENTENCE)[:500]


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


def _reach(master: str | None) -> None:
    """Raise PipelineError if nobody answers at the addresses of a master."""
    if master is None or not master.startswith(("spark://", _CONNECT)):
        return
    what, found = ("Spark Connect server", _server(master)) if _remote(master) else ("Spark master", master[8:])
    unreachable = []
    for one in found.split(","):
        host, _, port = one.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
            return
        except (OSError, ValueError, OverflowError) as problem:
            unreachable.append(f"{one} ({getattr(problem, 'strerror', None) or problem})")
    raise PipelineError(f"No {what} answers at {', '.join(unreachable)}.", ExitCode.UNUSABLE)


def _server(address: str) -> str:
    """Return HOST:PORT of a Spark Connect server, whose address may end in parameters (`/;token=...`)."""
    place = address.removeprefix(_CONNECT).partition("/")[0]
    return place if re.fullmatch(r".*:[0-9]+", place) else f"{place}:{_CONNECT_PORT}"


_NO_CLASSES = ("ClassNotFoundException", "No FileSystem for scheme", "NoClassDefFoundError", "UnsupportedFileSystem")
"""Spark's words where it has no classes for a store."""
_GRACE_S: Final = 5.0
_LOOKS: Final = re.compile(r"\s*(describe|desc|explain)\s", re.IGNORECASE)
"""Statements beside queries that are answered. Spark takes one statement at a time, and none of these does anything."""


def asked(spark: SparkSession, lake: Lake, text: str, timeout_s: float, limit: int | None = None) -> pa.Table:
    """Answer a query over the lake as it is now, with at most `limit` rows. Raises PipelineError, one sentence."""
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # it prints errors that are raised anyway
    text = text.strip(" \t\r\n;")
    # Within brackets, only a query can be parsed: `drop` is an error of the parser.
    query = text if _LOOKS.match(text) else f"select * from (\n{text}\n)"

    def answer(own: SparkSession) -> pa.Table:
        frame = own.sql(query)
        return (frame if limit is None or query is text else frame.limit(limit)).toArrow()

    try:
        with apart(spark) as own:
            open_views(own, lake)
            return _bounded(own, timeout_s, answer)
    except (PySparkException, Py4JError) as problem:
        if any(words in str(problem) for words in _NO_CLASSES):
            raise PipelineError(
                f"Spark cannot reach {lake.place}: it lacks the classes for that store, which come in packages of"
                " Spark's own (for S3: org.apache.hadoop:hadoop-aws); --engine duckdb answers without them."
            ) from None
        raise PipelineError(_spark_sentence(problem)) from None


def _bounded(spark: SparkSession, timeout_s: float, work: Callable[[SparkSession], Any]) -> Any:
    """Do work in a thread, and cancel the session's jobs when its time is over, or somebody interrupts."""
    found, failed = list[Any](), list[BaseException]()

    def run() -> None:
        try:
            found.append(work(spark))
        except BaseException as problem:
            failed.append(problem)

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        thread.join(timeout_s)
    finally:
        late, until = thread.is_alive(), monotonic() + _GRACE_S
        while thread.is_alive() and monotonic() < until:  # Between two jobs, there is none to cancel.
            with suppress(Exception):
                spark.interruptAll()
            thread.join(0.2)
    if late:
        raise PipelineError(f"The query took more than {timeout_s:g} s; ask for less, or give it more with --timeout.")
    if failed:
        raise failed[0]
    return found[0]


@contextmanager
def apart(spark: SparkSession) -> Iterator[SparkSession]:
    """Yield another session of the same Spark, in UTC. Raises PipelineError if none can begin."""
    own = spark.newSession()
    remote = type(own).__module__.startswith("pyspark.sql.connect.")
    active = type(spark).getActiveSession()
    try:
        own.conf.set("spark.sql.session.timeZone", "UTC")
        yield own
    finally:
        with suppress(PySparkException, Py4JError, ConnectionError):
            if remote:  # To stop a classic one would end Spark.
                own.stop()
            elif active is not None and type(spark).getActiveSession() is not active:
                active.createDataFrame([], "x int")  # What makes a frame of values is the active session from then on.


def open_views(spark: SparkSession, lake: Lake) -> None:
    """Make the rows that count of every table a temporary view of its name, with today's ids. Raises PipelineError."""
    live = lake.batches().live  # first: rows of batches that come later do not count
    places = lake.located()
    base = str(lake.root) if lake.store.arrow is None else re.sub(r"^s3n?://", "s3a://", lake.place)
    counted = sql.broadcast(spark.createDataFrame([(one,) for one in sorted(live)], f"{BATCH} string"))
    today = sql.create_map(*map(sql.lit, chain(*aliases().items()))) if aliases() else None
    for table in TABLES.values():
        mine = [f"{base}/{place}" for place in places if place.startswith(f"{table.name}/")]
        read = spark.read.schema(table.ddl()).option("basePath", f"{base}/{table.name}")
        frame: DataFrame = read.parquet(*mine) if mine else spark.createDataFrame([], table.ddl())
        frame = frame.join(counted, BATCH, "left_semi")
        if today is not None and "requirement" in table.names:
            stored = sql.col("requirement")
            frame = frame.withColumn("requirement", sql.coalesce(today[stored], stored))
        frame.select(*table.names).createOrReplaceTempView(table.name)


def _spark_sentence(problem: Any) -> str:
    """Return Spark's error as one sentence: its own first line, without the plan after it."""
    if "FileNotFoundException" in str(problem) or "FILE_NOT_EXIST" in str(problem):
        return "The lake was changed while it was read; ask again."
    return f"The query cannot be answered (Spark): {label(first_line(problem).rstrip('.'))}."
