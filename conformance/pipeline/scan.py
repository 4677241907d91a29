"""Read a lake one day at a time: Arrow sums its tables in this process, however large the files of a day are.

This needs neither Spark nor Java. Memory holds the groups of one day.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any, Final

from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import Lake
from conformance.pipeline.schemas import TABLES
from conformance.spec.renaming import current, former

Row = Mapping[str, Any]
"""One row, by the names of its columns."""
UNKNOWN_DAY: Final = date(1970, 1, 1)
"""The day of rows without a time."""


def require_arrow() -> None:
    """Raise PipelineError if the package that reads and writes the tables is not installed."""
    if find_spec("pyarrow") is None:
        raise PipelineError("A lake needs pyarrow: install the extra with pip install 'mqconform[lake]'.")


class Days:
    """The tables of a lake at one version of its log, by day."""

    def __init__(self, lake: Lake) -> None:
        require_arrow()
        places = lake.located()
        self.lake, self.version = lake, lake.batches().number
        self._parts: dict[tuple[str, str], list[PurePath]] = {}
        for place, path in places.items():
            table, day, _ = place.split("/")
            self._parts.setdefault((table, day.removeprefix("date=")), []).append(path)

    def of(self, *tables: str) -> list[date]:
        """Return the days on which these tables have rows, in order."""
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
        """Return the rows of a day, grouped by `keys` as they are stored.

        sums: name to (column, sum, min, max or count). where, made: a condition, and computed columns, as Arrow
        expressions.
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
            return [_today(row) for row in acero.Declaration.from_sequence(steps).to_table().to_pylist()]
        except (OSError, pa.ArrowException) as problem:
            raise unreadable(self.lake.place, table, problem) from None

    def batches(self, table: str, day: date, columns: Sequence[str], where: Any = None) -> Iterator[Any]:
        """Yield these columns of a day as Arrow record batches, their rows as they are stored."""
        found = self._dataset(table, day)
        if found is None:
            return
        import pyarrow as pa

        try:
            yield from found.to_batches(columns=list(columns), filter=where)
        except (OSError, pa.ArrowException) as problem:
            raise unreadable(self.lake.place, table, problem) from None

    def rows(
        self, table: str, day: date, columns: Sequence[str], where: Any = None, limit: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of a day, at most `limit` of them, with one batch in memory at a time."""
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
                    yield _today(row)
        except (OSError, pa.ArrowException) as problem:
            raise unreadable(self.lake.place, table, problem) from None

    def _dataset(self, table: str, day: date) -> Any:
        parts = self._parts.get((table, day.isoformat()))
        if not parts:
            return None
        from pyarrow import dataset as ds

        files = [str(path) for path in parts]
        schema = TABLES[table].arrow()
        return ds.dataset(files, schema=schema, format="parquet", filesystem=self.lake.store.arrow)


def unreadable(root: str, table: str, problem: Exception) -> PipelineError:
    """Return the error for a file of a table that Arrow cannot read."""
    if isinstance(problem, FileNotFoundError):
        return PipelineError("The lake was changed while it was read; run the command again.")
    first = str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
    return PipelineError(f"The table {table} of the lake {root} cannot be read: {first.rstrip('.')}.")


def field(name: str) -> Any:
    """Return a column, for use in an expression."""
    return _compute().field(name)


def stored_under(names: Iterable[str]) -> Any:
    """Return an expression that is true for rows on one of these requirements, under any id it has had."""
    return field("requirement").isin(sorted({old for name in names for old in former(name)}))


def _today(row: dict[str, Any]) -> dict[str, Any]:
    """Replace a row's requirement id by today's."""
    if "requirement" in row:
        row["requirement"] = current(row["requirement"])
    return row


def first_of(*names: str) -> Any:
    """Return an expression for the first of these columns that is not null."""
    return _compute().coalesce(*(field(name) for name in names))


def _compute() -> Any:
    from pyarrow import compute

    return compute
