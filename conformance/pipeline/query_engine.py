"""Which engine answers queries: DuckDB in this process for a small lake or without Java, otherwise Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from conformance.pipeline.errors import UnreachableError
from conformance.pipeline.lake import Lake

Engine = Literal["auto", "duckdb", "spark"]
ENGINES: Final[tuple[Engine, ...]] = ("auto", "duckdb", "spark")


class Answer(Protocol):
    """The answer to a query."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""

    @property
    def numbers(self) -> Sequence[bool]:
        """Which columns hold numbers."""

    def rows(self, limit: int | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield the rows, at most `limit`, with one batch in memory at a time. Raises PipelineError."""

    def write_parquet(self, path: Path) -> int:
        """Write the rows as one Parquet file and return their number. Raises PipelineError and OSError."""


Ask = Callable[[str], Answer]
"""Checks one query and begins to answer it. Raises PipelineError, one sentence."""


def chosen(engine: Engine, lake: Lake, master: str | None = None) -> Literal["duckdb", "spark"]:
    """Return the engine for queries over this lake. master: Spark's, if one is asked for.

    Raises PipelineError if there is none.
    """
    from conformance.pipeline import small, spark

    if engine == "duckdb":
        small.require_duckdb()
        return "duckdb"
    if engine == "spark" or master is not None:
        return "spark"
    there = find_spec("duckdb") is not None
    if there and small.size(lake) <= small.SMALL:
        return "duckdb"
    if spark.runs():
        return "spark"
    small.require_duckdb()
    return "duckdb"


@contextmanager
def asking(
    lake: Lake,
    engine: Literal["duckdb", "spark"],
    master: str | None,
    timeout_s: float,
    instead: Callable[[], None] | None = None,
) -> Iterator[Ask]:
    """Yield what answers queries over the lake as it is now. Raises PipelineError.

    timeout_s: seconds for one query in DuckDB. instead: called if Spark cannot reach the lake, before DuckDB answers;
    None: that is an error.
    """
    with ExitStack() as stack:
        if engine == "spark":
            try:
                ask = stack.enter_context(_spark(lake, master))
            except UnreachableError:
                if instead is None or find_spec("duckdb") is None:
                    raise
                instead()
            else:
                yield ask
                return
        from conformance.pipeline import small

        yield stack.enter_context(small.opened(lake, timeout_s)).ask


@contextmanager
def _spark(lake: Lake, master: str | None) -> Iterator[Ask]:
    from conformance.pipeline import views
    from conformance.pipeline.query_session import apart
    from conformance.pipeline.spark import session

    with session(master, queries=True) as spark, apart(spark) as own:
        views.open_views(own, lake)
        yield lambda text: views.Answer(views.ask(own, text))
