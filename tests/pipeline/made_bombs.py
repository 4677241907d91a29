"""Small files of a lake that unpack to gigabytes, or say that they do, or do not say so."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

HUGE = 1 << 28


def rewritten(path: Path, columns: dict[str, Any], rows: int = 1, limit: int = 1 << 19, **options: Any) -> None:
    """Replace a file of a table by one of so many rows like its first, with other values in some columns.

    options: of the writer of Parquet, which compresses with Zstandard.
    """
    old = pq.read_table(path, partitioning=None).slice(0, 1)
    first = pa.array([0] * rows, pa.int32())
    table = old.take(first)
    for name, values in columns.items():
        at = table.schema.get_field_index(name)
        table = table.set_column(at, table.schema.field(at), values)
    pq.write_table(table, path, **{"compression": "zstd", "write_statistics": False, **options})
    assert path.stat().st_size < limit


def text(path: Path, column: str, size: int = HUGE, compression: str = "zstd") -> None:
    """One cell of so many bytes."""
    rewritten(path, {column: pa.array(["a" * size])}, compression=compression)


def repeated(path: Path, column: str, rows: int = 300_000) -> None:
    """A long text that stands in every row, once in the dictionary."""
    codes = pa.array([0] * rows, pa.int32())
    values = pa.DictionaryArray.from_arrays(codes, pa.array(["b" * 900_000]))
    old = pq.read_table(path, partitioning=None).slice(0, 1)
    table = old.take(codes)
    at = table.schema.get_field_index(column)
    table = table.set_column(at, column, values)
    pq.write_table(table, path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 1 << 19


def long_list(path: Path, column: str, count: int = 100_000_000) -> None:
    """One cell with so many empty texts: a list, or both sides of a map."""
    child = pa.StringArray.from_buffers(count, pa.py_buffer(bytes(4 * count + 4)), pa.py_buffer(b""))
    kind = pq.read_schema(path).field(column).type
    make = pa.ListArray.from_arrays if pa.types.is_list(kind) else lambda at, one: pa.MapArray.from_arrays(at, one, one)
    rewritten(path, {column: make(pa.array([0, count], pa.int32()), child)})


def _numbers(value: int) -> bytes:
    """A number as Thrift's compact protocol has it."""
    value, out = value << 1, bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _padded(value: int, size: int) -> bytes:
    """The same in so many bytes."""
    out = bytearray(_numbers(value))
    while len(out) < size:
        out[-1] |= 128
        out.append(0)
    return bytes(out)


def footer_says(path: Path, actual: int, said: int) -> None:
    """Replace a number in the footer, wherever it stands."""
    data = path.read_bytes()
    (length,) = struct.unpack("<I", data[-8:-4])
    old = _numbers(actual)
    head, foot = data[: -8 - length], data[-8 - length : -8]
    assert old in foot
    new = _padded(said, len(old))
    foot = foot.replace(old, new)
    path.write_bytes(head + foot + struct.pack("<I", len(foot)) + b"PAR1")


def no_rows(path: Path) -> None:
    """The file and its only group say that they have no rows, but its columns have some."""
    old = b"\x16" + _numbers(pq.read_metadata(path).num_rows)
    first, *rest, last = path.read_bytes().split(old)
    path.write_bytes((b"\x16" + _padded(0, len(old) - 1)).join([first, old.join(rest), last]))
    assert pq.read_metadata(path).num_rows == 0


def twice(path: Path) -> None:
    """A file that names its groups of rows twice."""
    data, found = path.read_bytes(), pq.read_metadata(path)
    found.append_row_groups(pq.read_metadata(path))
    with pa.BufferOutputStream() as foot:
        found.write_metadata_file(foot)
        path.write_bytes(data[: -8 - int.from_bytes(data[-8:-4], "little")] + foot.getvalue().to_pybytes()[4:])


def hidden(path: Path, column: str, size: int = HUGE) -> None:
    """A cell of so many bytes in a file whose footer says that it is small."""
    text(path, column, size)
    group = pq.read_metadata(path).row_group(0)
    at = next(n for n in range(group.num_columns) if group.column(n).path_in_schema == column)
    footer_says(path, group.column(at).total_uncompressed_size, 100_000)
    footer_says(path, group.total_byte_size, 100_000)


def page_says(path: Path, column: str, said: int) -> None:
    """The first page of a column says that it unpacks to so many bytes."""
    text(path, column, 20_000_000)
    data = path.read_bytes()
    group = pq.read_metadata(path).row_group(0)
    one = next(group.column(n) for n in range(group.num_columns) if group.column(n).path_in_schema == column)
    at = one.dictionary_page_offset or one.data_page_offset
    old = _numbers(20_000_004)
    place = data.index(old, at, at + 16)
    path.write_bytes(data[:place] + _padded(said, len(old)) + data[place + len(old) :])


def _element(name: bytes, children: int | None) -> bytes:
    """An element of a schema: a group, or a column of numbers."""
    kind = b"\x15\x02\x25\x02" if children is None else b"\x35\x02"
    return kind + b"\x18" + bytes([len(name)]) + name + (b"\x15" + _numbers(children) if children else b"") + b"\0"


def _counted(count: int) -> bytes:
    out = bytearray()
    while count > 127:
        out.append(count & 127 | 128)
        count >>= 7
    return b"\xfc" + bytes([*out, count])


def footer_alone(path: Path, elements: Sequence[bytes], groups: int = 0, rows: int = 0) -> None:
    """A file that is nothing but a footer."""
    foot = b"\x15\x02\x19" + _counted(len(elements)) + b"".join(elements) + b"\x16" + _numbers(rows)
    foot += b"\x19" + _counted(groups) + b"\x19\x0c\x16\0\x16\0\0" * groups + b"\0"
    path.write_bytes(b"PAR1" + foot + struct.pack("<I", len(foot)) + b"PAR1")


def wide(path: Path, count: int) -> None:
    """A footer of so many columns."""
    footer_alone(path, [_element(b"a", count)] + [_element(b"x", None)] * count)


def nested(path: Path, count: int) -> None:
    """A footer whose column lies so deep."""
    footer_alone(path, [_element(b"a", 1)] * count + [_element(b"x", None)])


ONE_COLUMN = [_element(b"a", 1), _element(b"x", None)]


def _changed(table: pa.Table, name: str, value: str, rows: int) -> pa.Table:
    """So many rows like the first add, with a text in the place of another."""
    at = next(at for at, one in enumerate(table["add"].to_pylist()) if one is not None)
    add = table["add"].slice(at, 1).combine_chunks()
    struct_of = add.chunk(0) if isinstance(add, pa.ChunkedArray) else add
    fields = [struct_of.type.field(number) for number in range(struct_of.type.num_fields)]
    texts = [pa.array([value]) if one.name == name else struct_of.field(one.name) for one in fields]
    return pa.table({"add": pa.StructArray.from_arrays(texts, fields=fields)}).take(pa.array([0] * rows, pa.int32()))


def many(table: pa.Table) -> pa.Table:
    """Adds of one file, again and again."""
    return _changed(table, "path", "date=2023-11-14/x.parquet", 600_000)


def long_paths(table: pa.Table) -> pa.Table:
    """Adds with long names."""
    return _changed(table, "path", "a" * 500_000, 1_000)


def nested_statistics(table: pa.Table) -> pa.Table:
    """An add whose statistics are nested."""
    return _changed(table, "stats", "[" * 100_000, 1)


def checkpoint_of(log: Path, number: int, made: Callable[[Path, int], None]) -> None:
    """A checkpoint that is a footer alone."""
    made(log / f"{number:020}.checkpoint.parquet", 900_000)


def checkpoint(log: Path, number: int, adds: Callable[[pa.Table], pa.Table]) -> None:
    """A checkpoint with changed adds, which the log names as its last."""
    from deltalake import DeltaTable

    DeltaTable(str(log.parent)).create_checkpoint()
    (made,) = log.glob("*.checkpoint.parquet")
    table = adds(pq.read_table(made))
    made.unlink()
    pq.write_table(table, log / f"{number:020}.checkpoint.parquet", compression="zstd", store_schema=False)
    (log / "_last_checkpoint").write_text(json.dumps({"version": number, "size": len(table)}))
    assert (log / f"{number:020}.checkpoint.parquet").stat().st_size < 1 << 22
