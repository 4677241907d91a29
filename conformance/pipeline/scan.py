"""A lake read a day at a time: sums of its tables by Arrow, in this process, whatever the size of a day's files.

Nothing here needs Spark or Java. What is in memory at once is the groups of one day.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from importlib.util import find_spec
from typing import Any, Final

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Lake, Part
from conformance.pipeline.schemas import TABLES
from conformance.verdict import ExitCode

Row = Mapping[str, Any]
"""One row, by the names of its columns."""
UNKNOWN_DAY: Final = date(1970, 1, 1)
"""The day of what has no time."""
PATIENCE: Final = 50
"""How often a reader looks whether another command has moved its files into place, a fifth of a second apart."""


def require_arrow() -> None:
    """Raises PipelineError where pyarrow is not installed."""
    if find_spec("pyarrow") is None:
        raise PipelineError(
            "A lake needs pyarrow, which is not installed: pip install 'mqconform[spark]'.", ExitCode.UNUSABLE
        )


def settle(lake: Lake) -> None:
    """Every file that the log names is in its place: another command may be moving them, or was killed before it had.

    Raises PipelineError when they stay away.
    """
    problem = ""
    for _ in range(PATIENCE):
        if all((lake.root / part.place).exists() for part in lake.snapshot().parts.values()):
            return
        try:
            with lake.writing("settle"):
                continue
        except PipelineError as error:
            problem = f" {error.sentence}"
        time.sleep(0.2)
    raise PipelineError(f"Files of the lake {lake.root} are missing.{problem}")


class Days:
    """The tables of a lake at one version of its log, by day."""

    def __init__(self, lake: Lake) -> None:
        require_arrow()
        settle(lake)
        snapshot = lake.snapshot()
        self.root, self.version = lake.root, snapshot.version
        self._parts: dict[tuple[str, str], list[Part]] = {}
        for part in snapshot.parts.values():
            self._parts.setdefault((part.table, part.date), []).append(part)

    def of(self, *tables: str) -> list[date]:
        """The days these tables have rows of, in order."""
        return sorted({date.fromisoformat(day) for table, day in self._parts if table in tables})

    def sums(
        self,
        table: str,
        day: date,
        keys: Sequence[str],
        sums: Mapping[str, tuple[str, str]],
        where: Any = None,
        made: Mapping[str, Any] | None = None,
    ) -> list[dict[str, Any]]:
        """Rows of a day, grouped by `keys`. sums: name to (column, sum, min, max or count).

        where, made: a condition, and columns made of others, as Arrow expressions.
        """
        found = self._dataset(table, day)
        if found is None:
            return []
        import pyarrow as pa
        from pyarrow import acero

        pc = _compute()
        made = made or {}
        names = [*keys, *dict.fromkeys(column for column, _ in sums.values())]
        steps = [
            acero.Declaration("scan", acero.ScanNodeOptions(found)),
            *([acero.Declaration("filter", acero.FilterNodeOptions(where))] if where is not None else []),
            acero.Declaration(
                "project", acero.ProjectNodeOptions([made.get(name, pc.field(name)) for name in names], names)
            ),
            acero.Declaration(
                "aggregate",
                acero.AggregateNodeOptions(
                    [([column], f"hash_{how}", None, name) for name, (column, how) in sums.items()], keys=list(keys)
                ),
            ),
        ]
        try:
            return list(acero.Declaration.from_sequence(steps).to_table().to_pylist())
        except (OSError, pa.ArrowException) as problem:
            raise self._unreadable(table, problem) from None

    def rows(
        self, table: str, day: date, columns: Sequence[str], where: Any = None, limit: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """Rows of a day, at most `limit` of them, a batch in memory at a time."""
        found = self._dataset(table, day)
        if found is None:
            return
        import pyarrow as pa

        count = 0
        try:
            for batch in found.to_batches(columns=list(columns), filter=where, batch_size=8_192):
                for row in batch.to_pylist():
                    if limit is not None and count >= limit:
                        return
                    count += 1
                    yield row
        except (OSError, pa.ArrowException) as problem:
            raise self._unreadable(table, problem) from None

    def _dataset(self, table: str, day: date) -> Any:
        parts = self._parts.get((table, day.isoformat()))
        if not parts:
            return None
        from pyarrow import dataset as ds

        files = [str(self.root / part.place) for part in parts]
        return ds.dataset(files, schema=TABLES[table].arrow(), format="parquet")

    def _unreadable(self, table: str, problem: Exception) -> PipelineError:
        if isinstance(problem, FileNotFoundError):
            return PipelineError("The lake was changed while it was read; run the command again.")
        first = str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
        return PipelineError(f"The table {table} of the lake {self.root} cannot be read: {first.rstrip('.')}.")


def field(name: str) -> Any:
    """A column, for an expression."""
    return _compute().field(name)


def first_of(*names: str) -> Any:
    """The first of these columns that is not null, as an expression."""
    return _compute().coalesce(*(field(name) for name in names))


def _compute() -> Any:
    from pyarrow import compute

    return compute
