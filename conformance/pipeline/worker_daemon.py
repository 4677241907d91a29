"""The process from which Spark forks its Python workers: it loads what they need once, for all of them.

Spark starts it by its name, see `spark.session`.
"""

from __future__ import annotations

import pyarrow.parquet
from pyspark.daemon import manager

import conformance.pipeline.work  # noqa: F401
from conformance.process_tuning import hurry

if __name__ == "__main__":
    pyarrow.array([0])  # The first array imports pandas.
    hurry()
    manager()
