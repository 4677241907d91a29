"""Tells whether Spark can start here: its packages, a Java, and an address that it knows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from conformance.pipeline.untrusted_files import PipelineError, require
from conformance.verdict import ExitCode

JAVA = 17
"""The oldest Java that Spark 4 runs on."""
_MASTER = re.compile(
    r"local(\[(\*|0*[1-9][0-9]*)(, ?0*[1-9][0-9]*)?\])?|spark://([^:/]+|\[[^\]]+\]):[0-9]+(,.+)?|yarn|k8s://.+|sc://[^/].*"
)


def require_spark() -> None:
    """Raise PipelineError if pyspark or a package it needs is not installed."""
    require("spark", "pyspark", "pandas", "pyarrow", "numpy", "numba")


def spark_runs() -> bool:
    """Tell whether Spark can start here: its packages and Java are there."""
    try:
        require_spark()
        find_java()
    except PipelineError:
        return False
    return True


def find_java() -> None:
    """Raise PipelineError without a java of version 17 or later."""
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


def check_master(master: str | None) -> None:
    """Raise PipelineError for a URL that Spark does not know. None: the default."""
    if master is not None and not _MASTER.fullmatch(master):
        raise PipelineError(
            f"--master {master} is not a Spark master: use local[N], spark://HOST:PORT, sc://HOST:PORT, yarn or"
            " k8s://..."
        )
