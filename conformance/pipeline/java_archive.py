"""An archive of the classes that Spark loads, with which its Java starts in half the time (class-data sharing).

It is made once, on request, for a Java and a Spark, and lies in the user's cache folder. Java itself does without one
that does not fit it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance import cache
from conformance.pipeline.errors import PipelineError
from conformance.verdict import ExitCode

MAKING = "MQCONFORM_JAVA_ARCHIVE"
"""Environment variable with the archive that a process is started to make."""
_BOUND_S = 600
_SILENT = "-Xlog:disable -Xlog:all=error:stderr"
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_WORK = """
import sys
from conformance.pipeline.spark import SparkWorkers, session
with session("local[1]") as spark:
    lake = sys.argv[1] + "/rows"
    assert SparkWorkers(spark).map(str, [1, 2]) == ["1", "2"]
    spark.createDataFrame([(1, "a"), (2, "b")], "number int, word string").write.parquet(lake)
    spark.read.parquet(lake).createOrReplaceTempView("rows")
    assert spark.sql("select word, count(*) from rows where number > 0 group by word order by word").count() == 2
"""


def place(java: str) -> Path:
    """Return where the archive lies for this Java and the installed Spark. Raises OSError."""
    import pyspark

    program = Path(java).resolve()
    jars = Path(pyspark.__file__).parent / "jars"
    facts = [str(program), program.stat().st_mtime_ns, pyspark.__version__, str(jars), jars.stat().st_mtime_ns]
    return cache.folder() / f"java-{hashlib.sha256(repr(facts).encode()).hexdigest()[:16]}.jsa"


def options(java: str) -> str:
    """Return Java's options for the archive, with a blank before them; empty without one that is surely ours."""
    try:
        archive = place(java)
        making = os.environ.get(MAKING)
        if making == str(archive):
            return f" -XX:ArchiveClassesAtExit={archive} {_SILENT}"
        if not (_ours(archive) and _ours(archive.parent)):
            return ""
    except OSError:
        return ""
    return f" -XX:SharedArchiveFile={archive} -Xshare:auto {_SILENT}"


def _ours(path: Path) -> bool:
    found = path.lstat()
    if os.name != "posix":
        return True
    return not stat.S_ISLNK(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & _OTHERS


def prepare() -> tuple[Path, bool]:
    """Return the archive's path, and whether it had to be made, which takes half a minute. Raises PipelineError."""
    from conformance.pipeline.spark import find_java, require_spark

    require_spark()
    java, _ = find_java()
    try:
        archive = place(java)
        if options(java):
            return archive, False
        archive.parent.mkdir(0o700, parents=True, exist_ok=True)
        with TemporaryDirectory(prefix="mqconform-java-") as scratch:
            # Java inherits the output, and writes the archive when it ends: the end of the output is that of both.
            done = subprocess.run(
                [sys.executable, "-P", "-c", _WORK, scratch],
                env={**os.environ, MAKING: str(archive)},
                capture_output=True,
                text=True,
                timeout=_BOUND_S,
                check=False,
            )
        if done.returncode == 0 and _ours(archive):
            return archive, True
        lines = done.stderr.strip().splitlines() or ["Java wrote none"]
    except subprocess.TimeoutExpired:
        lines = [f"Spark did not end within {_BOUND_S} s"]
    except OSError as wrong:
        lines = [wrong.strerror or str(wrong)]
    raise PipelineError(f"The archive could not be made: {lines[-1][:300]}", ExitCode.UNUSABLE)
