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
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

from conformance.children import safe_path
from conformance.interrupts import work_begins
from conformance.pipeline.untrusted_files import PipelineError
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
JAVA = 17
"""The oldest Java that Spark 4 runs on."""
_MASTER = re.compile(
    r"local(\[(\*|0*[1-9][0-9]*)(, ?0*[1-9][0-9]*)?\])?|spark://([^:/]+|\[[^\]]+\]):[0-9]+(,.+)?|yarn|k8s://.+|sc://[^/].*"
)
_CONNECT = "sc://"
_CONNECT_PORT = 15_002
_NAMED = ";session_id="
_CONNECT_NEEDS = {
    "grpc": "grpcio",
    "grpc_status": "grpcio-status",
    "google.rpc": "googleapis-common-protos",
    "zstandard": "zstandard",
}
"""Modules that a client of Spark Connect imports, and the packages that have them."""
_QUIET = Path(__file__).with_name("log4j2.properties")
_PATIENCE_S = 10
_LIGHT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of a Java that only hands out tasks: optimising its own code would take more time than it runs."""
_MODES = ("SPARK_CONNECT_MODE_ENABLED", "SPARK_REMOTE", "SPARK_LOCAL_REMOTE")
"""Variables that pyspark sets for a remote session."""
_OF_SESSIONS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
_SENTENCE = f"{PipelineError.__module__}.{PipelineError.__qualname__}: "
"""What stands before the sentence of an error in a worker."""
_OF_JAVA = r"(?:: |Caused by: )(?:[\w$]+\.)+(\w+(?:Error|Exception): .+)"
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


def runs() -> bool:
    """Tell whether Spark can start here: its packages and Java are there."""
    try:
        require_spark()
        find_java()
    except PipelineError:
        return False
    return True


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

    master: as Spark writes it, or the address of a Spark Connect server (sc://HOST:PORT); None: the one that
    spark-submit chose, or all cores of this machine. queries: Java itself computes, instead of only handing out tasks.
    Raises PipelineError.
    """
    work_begins()
    require_spark()
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
        from py4j.protocol import Py4JError

        with suppress(Py4JError, ConnectionError):
            spark.stop()
        for name, value in before.items():  # A process whose sessions were remote would take the next one for such.
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _running() -> SparkSession | None:
    """Return the active session of this thread, classic or Connect."""
    from pyspark.sql import SparkSession

    connect = sys.modules.get("pyspark.sql.connect.session")  # No session is one of Connect unless it is imported.
    found: SparkSession | None = connect.SparkSession.getActiveSession() if connect is not None else None
    return found or SparkSession.getActiveSession()


def _remote(master: str | None) -> bool:
    return (master or os.environ.get("SPARK_REMOTE", "")).startswith(_CONNECT)


def _connected(master: str | None, settings: Mapping[str, str]) -> SparkSession:
    """Return a session of a Spark Connect server. Raises PipelineError."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    missing = [package for module, package in _CONNECT_NEEDS.items() if not _is_there(module)]
    if missing:
        raise PipelineError(
            f"Spark Connect needs {', '.join(missing)}: install the extra with pip install 'mqconform[connect]'."
        )
    url = master or os.environ["SPARK_REMOTE"]
    builder: Any = SparkSession.builder.remote(url)
    try:
        spark: Any = builder.getOrCreate()
        if _NAMED in url:  # A session that is there stays as it is, and stays there.
            spark.release_session_on_close = False
            return spark
        for key, value in {**_OF_SESSIONS, **settings}.items():
            spark.conf.set(key, value)
        return spark
    except (PySparkException, ConnectionError) as problem:
        raise PipelineError(f"Spark could not be reached: {first_line(problem)}", ExitCode.UNUSABLE) from None


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # Its package is missing.
        return False


def _started(master: str | None, settings: Mapping[str, str], queries: bool) -> SparkSession:
    """Start Java and return its session. Raises PipelineError."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    find_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", _LIGHT)  # of the Java that starts Spark's
    options = f"-Dlog4j2.configurationFile={_QUIET}{'' if queries else f' {_LIGHT}'}"
    builder = SparkSession.builder.appName("mqconform")
    if master is not None or "PYSPARK_GATEWAY_PORT" not in os.environ:
        builder = builder.master(master or LOCAL)
        if master is None or master.startswith("local"):
            builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    for key, value in {
        **_OF_SESSIONS,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.task.maxFailures": "4",
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
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

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


def check_master(master: str | None) -> None:
    """Raise PipelineError for a URL that Spark does not know. None: the default."""
    if master is not None and not _MASTER.fullmatch(master):
        raise PipelineError(
            f"--master {master} is not a Spark master: use local[N], spark://HOST:PORT, sc://HOST:PORT, yarn or"
            " k8s://..."
        )


def _reach(master: str | None) -> None:
    """Raise PipelineError if nobody answers at the addresses of a master."""
    if master is None or not master.startswith(("spark://", _CONNECT)):
        return
    what, found = ("Spark Connect server", _server(master)) if _remote(master) else ("Spark master", master[8:])
    unreachable = []
    for one in found.split(","):
        host, _, port = one.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE_S).close()
            return
        except (OSError, ValueError, OverflowError) as problem:
            unreachable.append(f"{one} ({getattr(problem, 'strerror', None) or problem})")
    raise PipelineError(f"No {what} answers at {', '.join(unreachable)}.", ExitCode.UNUSABLE)


def _server(address: str) -> str:
    """Return HOST:PORT of a Spark Connect server, whose address may end in parameters (`/;token=...`)."""
    place = address.removeprefix(_CONNECT).partition("/")[0]
    return place if re.fullmatch(r".*:[0-9]+", place) else f"{place}:{_CONNECT_PORT}"
