"""The tables of a lake at one version, for queries: DuckDB over Arrow's view of the files that the logs name.

DuckDB is shut in: it opens no file and no address, loads no extension, sees no variable of this process, and its
settings are locked. What it reads are Arrow datasets, which need no extension.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from tempfile import TemporaryDirectory
from typing import Any, Final

import duckdb
import pyarrow as pa
from pyarrow import dataset as ds
from pyarrow import fs

from conformance.pipeline.lake import ROWS, Lake, schema_of
from conformance.pipeline.schemas import BATCH, DATE, TABLES
from conformance.pipeline.store import Store
from conformance.pipeline.untrusted_files import PipelineError
from conformance.report.text import label
from conformance.spec.catalogue import aliases

_SHARE: Final = 4
"""DuckDB takes at most this part of the machine's memory; Arrow's buffers and long texts come on top of it."""


_FEW: Final = 1_000
"""Batches that are conditions of a query, and so of Arrow; beyond, a table in memory has their names."""
_OURS: Final = re.compile(r"/part-[0-9a-f]{32}\.parquet$")
"""The names of files that mqconform writes."""


def machine_memory() -> int:
    """Return the bytes of memory of this machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError):
        return 8 << 30


def listed(lake: Lake) -> tuple[list[str], list[str]]:
    """Return the places of all files, and the batches whose rows count. Raises PipelineError."""
    live = lake.batches().live  # first: rows of batches that come later do not count
    return list(lake.located()), sorted(live)


class _Pieces(ds.FileSystemDataset):  # type: ignore[misc]
    """Files of which few rows are in memory at once. DuckDB asks `scanner` of the class."""

    def scanner(self, **asked: Any) -> Any:
        return super().scanner(batch_size=ROWS, batch_readahead=4, fragment_readahead=2, **asked)


@contextmanager
def opened(lake: Lake, memory: int | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection with a view for each of `TABLES`: the rows that count, with today's ids of requirements.

    memory: bytes. Raises PipelineError.
    """
    with TemporaryDirectory(prefix="mqconform-sql-") as spill, over(lake.store, *listed(lake), memory, spill) as found:
        yield found


@contextmanager
def over(
    store: Store, places: Iterable[str], live: list[str], memory: int | None, spill: str
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield the connection over these files. spill: a folder for temporary files. Raises PipelineError."""
    kind, files = ds.ParquetFileFormat(), store.arrow or fs.LocalFileSystem()
    fragments: dict[str, list[Any]] = {name: [] for name in TABLES}
    for place in places:
        name, folder, _ = place.split("/")
        on = ds.field(DATE) == date.fromisoformat(folder.removeprefix(f"{DATE}="))
        fragments[name].append(kind.make_fragment(str(store.path(place)), files, partition_expression=on))
    connection = duckdb.connect(":memory:", config=_settings(spill, memory))
    try:
        try:
            connection.execute("set TimeZone = 'UTC'")
            connection.execute("set lock_configuration = true")
            counted = ", ".join(map(_text, live)) or "null"
            if len(live) > _FEW:
                counted = f"select {BATCH} from memory.main.live"
                connection.from_arrow(pa.table({BATCH: list(live)})).create_view("live")
            for name, some in fragments.items():
                _view(connection, name, _Pieces(some, schema_of(name), kind, files), counted)
        except duckdb.Error as problem:
            text = label(str(problem).strip().partition("\n")[0].rstrip("."), 300)
            raise PipelineError(f"The tables of the lake {store.place} cannot be read: {text}.") from None
        yield connection
    finally:
        connection.close()


def _settings(spill: str, memory: int | None) -> dict[str, str]:
    return {
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "python_enable_replacements": "false",  # variables of this process as tables
        "python_scan_all_frames": "false",
        "memory_limit": f"{(memory or machine_memory() // _SHARE) >> 20}MiB",
        "temp_directory": spill,
        # DuckDB does not know how many rows Arrow has, and would hold the largest table in memory for a join. So joins
        # are done as they are written: what stands at the right is held.
        "disabled_optimizers": "join_order,build_side_probe_side",
        "default_null_order": "nulls_first_on_asc_last_on_desc",  # as in Spark
    }


def _view(connection: duckdb.DuckDBPyConnection, name: str, stored: _Pieces, live: str) -> None:
    """Make a view, which has what is stored in itself: no name leads to rows that do not count. live: the batches."""
    ours = all(_OURS.search(path) for path in stored.files)

    def text(column: str) -> str:
        # delta-rs writes texts as string_view when it deletes rows, which Arrow cannot compare with a string: then
        # DuckDB is kept from giving its conditions to Arrow.
        return f't."{column}"' if ours else f'case when t."{column}" is null then null else t."{column}" end'

    cases = " ".join(f"when {_text(old)} then {_text(new)}" for old, new in aliases().items())
    columns = []
    for column in TABLES[name].columns:
        value = text(column.name) if column.type == "string" else f't."{column.name}"'
        if column.name == "requirement" and cases:
            value = f"case {value} {cases} else {value} end"
        columns.append(f'{value} as "{column.name}"')
    query = f"select {', '.join(columns)} from t where {text(BATCH)} in ({live})"
    connection.from_arrow(stored).query("t", query).create_view(name)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
