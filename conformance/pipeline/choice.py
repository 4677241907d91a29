"""Which engine a command uses, and why. Needs no package."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal

from conformance.capture.addresses import is_stored
from conformance.pipeline.errors import PipelineError

if TYPE_CHECKING:
    from conformance.pipeline.engine import Engine

ENGINES: Final = ("auto", "local", "spark")
LARGE: Final = 8 << 30
"""Bytes of captures from which `auto` starts Spark, if it is there."""
_NEEDED: Final = ("deltalake", "pyarrow", "numpy", "numba")


@dataclass(frozen=True, slots=True)
class Used:
    """The engine of a command. why: what is said before it begins."""

    name: Literal["local", "spark"]
    why: str
    master: str | None = None


def check(engine: str, master: str | None) -> None:
    """Raise PipelineError for an unknown engine or master, and if a package is missing."""
    if engine not in ENGINES:
        raise PipelineError(f"Invalid --engine {engine}: give {', '.join(ENGINES)}.")
    if engine == "local" and master is not None:
        raise PipelineError("--master is Spark's: give it with --engine spark.")
    from conformance.pipeline.spark import check_master, require_spark

    check_master(master)
    if engine == "spark" or master is not None:
        require_spark()
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise PipelineError(
            f"The pipeline needs {', '.join(missing)}: install the extras with pip install 'mqconform[columns,lake]'."
        )


def chosen(engine: str, master: str | None, files: Sequence[str]) -> Used:
    """Return the engine for these captures. Raises PipelineError."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    here = f"{cores} process{'' if cores == 1 else 'es'} of this machine"
    if engine == "spark" or master is not None or "SPARK_REMOTE" in os.environ or "PYSPARK_GATEWAY_PORT" in os.environ:
        return Used("spark", f"engine spark ({master or 'the session that is there, or all local cores'})", master)
    if engine == "local":
        return Used("local", f"engine local ({here})")
    size = sum(_size(name) for name in files)
    if size >= LARGE and _spark_runs():
        return Used("spark", f"engine spark, for {size / (1 << 30):.0f} GiB of captures (--engine local: {here})")
    return Used("local", f"engine local, {here} (--master or --engine spark: Spark)")


@contextmanager
def engine_of(used: Used) -> Iterator[Engine]:
    """Yield the engine, and end it. Raises PipelineError."""
    from conformance.pipeline.engine import Local, Spark

    if used.name == "local":
        here = Local.all()
        try:
            yield here
        finally:
            here.end()
        return
    from conformance.pipeline.spark import session

    with session(used.master) as spark:
        yield Spark(spark)


def _size(name: str) -> int:
    try:
        return 0 if is_stored(name) else os.stat(name).st_size  # noqa: PTH116 - many
    except OSError:
        return 0


def _spark_runs() -> bool:
    from conformance.pipeline.spark import find_java, require_spark

    try:
        require_spark()
        find_java()
    except PipelineError:
        return False
    return True
