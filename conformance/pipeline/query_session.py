"""A session of Spark for queries alone: they neither see nor change the settings and views of a user's session."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from conformance.pipeline.queries import SETTINGS
from conformance.pipeline.schemas import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def apart(spark: SparkSession) -> Iterator[SparkSession]:
    """Yield another session of the same Spark, which begins with the settings of the server, or of Spark's start.

    A client of Spark Connect before 4.3 can begin none: then it is the same session, whose settings are as before at
    the end, and the views of the lake are gone.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException, PySparkNotImplementedError

    try:
        own = spark.newSession()
    except (PySparkNotImplementedError, AttributeError):
        with _put_back(spark):
            yield spark
        return
    remote = type(own).__module__.startswith("pyspark.sql.connect.")
    active = type(spark).getActiveSession()
    try:
        yield own
    finally:
        with suppress(PySparkException, Py4JError, ConnectionError):
            if remote:  # To stop a classic one would end Spark.
                own.stop()
            elif active is not None and type(spark).getActiveSession() is not active:
                active.createDataFrame([], "x int")  # What makes a frame of values is the active session from then on.


@contextmanager
def _put_back(spark: SparkSession) -> Iterator[None]:
    before = {name: spark.conf.get(name, None) for name in SETTINGS}
    try:
        yield
    finally:
        for name, old in before.items():
            spark.conf.unset(name) if old is None else spark.conf.set(name, old)
        for table in TABLES:
            spark.catalog.dropTempView(table)
