"""The entries of Iceberg's manifests: a data file as Iceberg describes it, and as the lake does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from conformance.pipeline.inside import UnfitError
from conformance.pipeline.lakes.iceberg_opened import Opened
from conformance.pipeline.lakes.port import damaged
from conformance.pipeline.lakes.store import Store
from conformance.pipeline.lakes.tables import BATCHES, DATA_FILE, Listed
from conformance.pipeline.lakes.target import BATCH
from conformance.report.text import label

if TYPE_CHECKING:
    from pyiceberg.manifest import DataFile

    from conformance.pipeline.lakes.iceberg_files import Files

_FIRST = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


@dataclass(frozen=True, slots=True)
class Adding:
    """A file to add. path: below the table. date: empty in `batches`. stats: as Delta has them."""

    path: str
    date: str
    size: int
    stats: Mapping[str, Any]


def data_file(table: Opened, name: str, one: Adding) -> DataFile:
    """Return a file to add as Iceberg describes it."""
    from pyiceberg.conversions import to_bytes
    from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
    from pyiceberg.typedef import Record
    from pyiceberg.types import PrimitiveType

    columns = table.table.schema()
    kinds = {
        each.name: (each.field_id, each.field_type)
        for each in columns.fields
        if isinstance(each.field_type, PrimitiveType)
    }

    def bounds(values: Mapping[str, Any]) -> dict[int, bytes]:
        found = [(*kinds[column], value) for column, value in values.items() if column in kinds]
        return {number: to_bytes(kind, _stored(str(kind), value)) for number, kind, value in found}

    found = DataFile.from_args(
        _table_format_version=2,
        content=DataFileContent.DATA,
        file_path=f"{table.io().location}/{one.path}",
        file_format=FileFormat.PARQUET,
        partition=Record() if name == BATCHES else Record((date.fromisoformat(one.date) - _FIRST.date()).days),
        record_count=one.stats["numRecords"],
        file_size_in_bytes=one.size,
        null_value_counts={kinds[each][0]: nulls for each, nulls in one.stats["nullCount"].items() if each in kinds},
        lower_bounds=bounds(one.stats["minValues"]),
        upper_bounds=bounds(one.stats["maxValues"]),
        sort_order_id=None,
    )
    found.spec_id = table.table.spec().spec_id
    return found


def listed_file(store: Store, name: str, io: Files, file: DataFile, fields: Mapping[str, int]) -> Listed:
    """Return a file of a table as the lake describes it. fields: the field ids of columns by name.

    Raises PipelineError for a path that leads elsewhere, and UnfitError.
    """
    try:
        below = io.within(file.file_path)
    except UnfitError as problem:
        raise damaged(store.name(name), problem) from None
    match = DATA_FILE.fullmatch(below)
    if match is None or (match[1] is None) != (name == BATCHES):
        raise UnfitError(f"names the file {label(file.file_path, 100)!a}, which is none of its own")
    if file.file_format.value != "PARQUET":
        raise UnfitError(f"has a file {match[0]} that is not Parquet")
    if match[1] is not None and _day(file.partition[0]) != match[1]:
        raise UnfitError(f"has another date for the file {match[0]}")
    if type(file.record_count) is not int or file.record_count < 0:
        raise UnfitError(f"does not tell the rows of the file {match[0]}")
    low, high = file.lower_bounds or {}, file.upper_bounds or {}
    first, last = _text(low.get(fields[BATCH])), _text(high.get(fields[BATCH]))
    most = high.get(fields["number"]) if name == BATCHES else None
    return Listed(
        f"{name}/{match[0]}",
        match[1] or "",
        match[2],
        file.record_count,
        file.file_size_in_bytes or 0,
        first if first == last else None,
        first,
        last,
        int.from_bytes(most, "little", signed=True) if most is not None and len(most) == 8 else None,
    )


def _text(bound: bytes | None) -> str | None:
    return bound.decode("utf-8", "replace") if bound is not None else None


def _day(value: Any) -> str | None:
    """Return a day, which Avro has as a number since 1970."""
    if isinstance(value, date):
        return value.isoformat()
    try:
        return (_FIRST.date() + timedelta(days=value)).isoformat()
    except (TypeError, OverflowError):
        return None


def _stored(kind: str, value: Any) -> Any:
    """Return a value of Delta's statistics as bounds have it: times in microseconds since 1970."""
    if kind.startswith("timestamp"):
        return (datetime.fromisoformat(value) - _FIRST) // timedelta(microseconds=1)
    return value
