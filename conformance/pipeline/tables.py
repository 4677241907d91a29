"""The tables of a lake at one version, for queries: DuckDB over Arrow's view of the files that the logs name.

DuckDB is shut in: it opens no file and no address, loads no extension, sees no variable of this process, and its
settings are locked. What it reads are Arrow datasets, which need no extension.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import duckdb
from pyarrow import dataset as ds
from pyarrow import fs

from conformance.pipeline.lake import Lake, schema_of
from conformance.pipeline.schemas import BATCH, DATE, TABLES
from conformance.spec.catalogue import aliases

_SHARE: Final = 4
"""DuckDB takes at most this part of the machine's memory; Arrow's buffers and long texts come on top of it."""


_OURS: Final = re.compile(r"/part-[0-9a-f]{32}\.parquet$")
"""The names of files that mqconform writes."""


def machine_memory() -> int:
    """Return the bytes of memory of this machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError):
        return 8 << 30


def datasets(lake: Lake) -> tuple[dict[str, Any], frozenset[str]]:
    """Return each table as a `pyarrow.dataset.Dataset` of all its rows, and the batches whose rows count.

    Requirements have the ids under which they were stored. Raises PipelineError.
    """
    live = lake.batches().live  # first: rows of batches that come later do not count
    places = lake.located()
    kind, files = ds.ParquetFileFormat(), lake.store.arrow or fs.LocalFileSystem()
    fragments: dict[str, list[Any]] = {name: [] for name in TABLES}
    for place, path in places.items():
        name, folder, _ = place.split("/")
        day = date.fromisoformat(folder.removeprefix(f"{DATE}="))
        fragments[name].append(kind.make_fragment(str(path), files, partition_expression=ds.field(DATE) == day))
    return {name: ds.FileSystemDataset(found, schema_of(name), kind, files) for name, found in fragments.items()}, live


@contextmanager
def opened(
    lake: Lake, memory: int | None = None, threads: int | None = None, spill: Path | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection with a view for each of `TABLES`: the rows that count, with today's ids of requirements.

    memory: bytes. spill: a folder for temporary files, else one is made and removed. Raises PipelineError.
    """
    found, live = datasets(lake)
    with TemporaryDirectory(prefix="mqconform-sql-", dir=spill) as folder:
        connection = duckdb.connect(":memory:", config=_settings(Path(folder), memory, threads))
        try:
            connection.execute("set TimeZone = 'UTC'")
            connection.execute("set lock_configuration = true")
            _views(connection, found, live)
            yield connection
        finally:
            connection.close()


def _settings(spill: Path, memory: int | None, threads: int | None) -> dict[str, str]:
    return {
        "enable_external_access": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "python_enable_replacements": "false",  # variables of this process as tables
        "python_scan_all_frames": "false",
        "memory_limit": f"{(memory or machine_memory() // _SHARE) >> 20}MiB",
        "temp_directory": str(spill),
        **({} if threads is None else {"threads": str(threads)}),
        # DuckDB does not know how many rows Arrow has, and would hold the largest table in memory for a join. So joins
        # are done as they are written: what stands at the right is held.
        "disabled_optimizers": "join_order,build_side_probe_side",
        "default_null_order": "nulls_first_on_asc_last_on_desc",  # as in Spark
    }


def _views(connection: duckdb.DuckDBPyConnection, found: dict[str, Any], live: frozenset[str]) -> None:
    """Make the views without a join, as conditions of each row: no table is ever held in memory for them."""
    counts = f"t.{BATCH} in ({', '.join(map(_text, sorted(live)))})" if live else "false"
    cases = " ".join(f"when {_text(old)} then {_text(new)}" for old, new in aliases().items())
    for name, dataset in found.items():
        connection.register(f"_stored_{name}", dataset)
        ours = all(_OURS.search(path) for path in dataset.files)
        columns = []
        for column in TABLES[name].columns:
            # delta-rs writes texts as string_view when it deletes rows, which Arrow cannot compare with a string: then
            # DuckDB is kept from giving its conditions to Arrow.
            stored = f't."{column.name}"' if ours or column.type != "string" else _aside(column.name)
            if column.name == "requirement" and cases:
                stored = f"case {stored} {cases} else {stored} end"
            columns.append(f'{stored} as "{column.name}"')
        where = counts if ours else counts.replace(f"t.{BATCH}", _aside(BATCH), 1)
        connection.execute(f'create view "{name}" as select {", ".join(columns)} from _stored_{name} t where {where}')


def _aside(name: str) -> str:
    return f'case when t."{name}" is null then null else t."{name}" end'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
