"""The metadata of Iceberg tables as files of a lake's store, without a catalog service.

`metadata/vN.metadata.json` is the table after N changes, and only one command can create it. `version-hint.text` has
an N that was there; a reader starts from it and goes on as long as the next file exists. Readers of other makes (Spark
and DuckDB by path, pyiceberg's `StaticTable`) know this layout.

A table may come from anybody: a place that its metadata names is used only if it is plain and below the table's own
location, wherever the lake lies by now, and what a file expands to is bounded.
"""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from io import BytesIO
from typing import Any, Final

from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.io import FileIO, InputFile, OutputFile
from pyiceberg.table import CommitTableResponse, Table, Transaction
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil
from pyiceberg.table.update import TableRequirement, TableUpdate, update_table_metadata

from conformance.pipeline.inside import MAX_FILE, UnfitError
from conformance.pipeline.lakes.store import Store
from conformance.report.text import label

HINT: Final = "metadata/version-hint.text"
VERSION: Final = re.compile(r"v([1-9][0-9]{0,8})\.metadata\.json", re.ASCII)
_INSIDE = re.compile(r"(?:metadata|data|date=\d{4}-\d{2}-\d{2})/[A-Za-z0-9][A-Za-z0-9._=-]{0,250}", re.ASCII)
_BATCH_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=-]{0,250}\.parquet", re.ASCII)
_MAGIC = b"Obj\x01"


class Files(FileIO):
    """The files of one table by their full names. location: the table's own, with which all of these begin."""

    def __init__(self, store: Store, name: str, location: str) -> None:
        super().__init__()
        self.store, self.name, self.location = store, name, location.rstrip("/")

    def within(self, location: str) -> str:
        """Return the place of a file below the table's folder. Raises UnfitError if it is none of the table's own."""
        base, found = _plain(self.location), _plain(location)
        below = found[len(base) + 1 :] if found.startswith(f"{base}/") else ""
        if _INSIDE.fullmatch(below) is None and _BATCH_FILE.fullmatch(below) is None:
            raise UnfitError(f"names the file {label(location, 100)!a}, which is none of its own")
        return below

    def new_input(self, location: str) -> InputFile:
        """Return a file to read."""
        return _Input(location, self.store, f"{self.name}/{self.within(location)}")

    def new_output(self, location: str) -> OutputFile:
        """Return a file to write."""
        return _Output(location, self.store, f"{self.name}/{self.within(location)}")

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Remove a file, if it is there."""
        name = location if isinstance(location, str) else location.location
        self.store.remove(f"{self.name}/{self.within(name)}")


class _Placed:
    """A file of a store, for pyiceberg's own classes."""

    def __init__(self, location: str, store: Store, place: str) -> None:
        super().__init__(location)  # type: ignore[call-arg]
        self.store, self.place = store, place

    def __len__(self) -> int:
        return self.store.size(self.place)

    def exists(self) -> bool:
        """Tell whether it is there."""
        return self.store.check(self.place)


class _Input(_Placed, InputFile):
    def open(self, seekable: bool = True) -> Any:
        data = self.store.read(self.place, MAX_FILE)
        if self.place.endswith(".avro"):
            check_avro(data)
        return BytesIO(data)


class _Output(_Placed, OutputFile):
    def to_input_file(self) -> InputFile:
        return _Input(self.location, self.store, self.place)

    def create(self, overwrite: bool = False) -> Any:
        return _Stream(self.store, self.place)


class _Stream(BytesIO):
    """What is written becomes a file when it is closed."""

    def __init__(self, store: Store, place: str) -> None:
        super().__init__()
        self.store, self.place = store, place

    def close(self) -> None:
        if not self.closed:
            data = self.getvalue()
            super().close()
            self.store.create(self.place, data)


class Versions(NoopCatalog):
    """A catalog of one table: a change creates the next version, and fails if another one has."""

    def __init__(self, store: Store, name: str) -> None:
        super().__init__(name)
        self.store, self.table = store, name

    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """Write the next version. Raises CommitFailedException if it is there already, and OSError."""
        for one in requirements:
            one.validate(table.metadata)
        changed = update_table_metadata(table.metadata, updates, metadata_location=table.metadata_location)
        number = number_of(table.metadata_location) + 1
        try:
            if newest(self.store, self.table, number - 1) >= number:  # This one may have been removed since.
                raise FileExistsError
            write_version(self.store, self.table, number, changed)
        except FileExistsError:
            raise CommitFailedException(f"version {number} is there") from None
        location = f"{changed.location.rstrip('/')}/{version_file(number)}"
        return CommitTableResponse.model_validate({"metadata": changed, "metadata-location": location})


class Changing(Transaction):
    """A transaction that makes its metadata once for each change, and not again whenever it is asked for them.

    Making them copies every snapshot of the table.
    """

    _made: tuple[int, TableMetadata] | None = None

    @property
    def table_metadata(self) -> TableMetadata:
        """The metadata with the changes so far."""
        count = len(self._updates)
        if not count:
            return self._table.metadata
        if self._made is None or self._made[0] != count:
            self._made = (count, super().table_metadata)
        return self._made[1]


def write_version(store: Store, name: str, number: int, metadata: TableMetadata) -> None:
    """Create a version of a table. Raises FileExistsError if there is one, and OSError."""
    store.create(f"{name}/{version_file(number)}", metadata.model_dump_json(exclude_none=True).encode())
    with suppress(OSError):  # A reader goes on from an older one.
        store.write(f"{name}/{HINT}", b"%d" % number)


def read_version(store: Store, name: str, number: int) -> TableMetadata:
    """Return a version of a table. Raises OSError, UnfitError, and pydantic's ValidationError (a ValueError)."""
    return TableMetadataUtil.parse_raw(store.read(f"{name}/{version_file(number)}", MAX_FILE).decode())


def newest(store: Store, name: str, known: int = 0) -> int:
    """Return the number of the newest version, 0 without any. known: one that was there. Raises OSError, UnfitError."""

    def there(number: int) -> bool:
        return store.check(f"{name}/{version_file(number)}")

    at = max(known, hinted(store, name))
    if not at or (at > known and not there(at)):
        found = (VERSION.fullmatch(one) for one in store.names(f"{name}/metadata"))
        at = max((int(one[1]) for one in found if one is not None), default=known)
    while at and there(at + 1):
        at += 1
    return at


def hinted(store: Store, name: str) -> int:
    """Return the number in the version hint, 0 without one."""
    try:
        found = store.read(f"{name}/{HINT}", 64).strip()
    except OSError:
        return 0
    return int(found) if re.fullmatch(rb"[1-9][0-9]{0,8}", found) else 0


def version_file(number: int) -> str:
    """Return the place of a version below the table's folder."""
    return f"metadata/v{number}.metadata.json"


def number_of(location: str) -> int:
    """Return the number of a version by its name."""
    found = VERSION.fullmatch(location.rpartition("/")[2])
    if found is None:
        raise UnfitError("has a version of another name")
    return int(found[1])


def check_avro(data: bytes) -> None:
    """Check that an Avro file is whole and does not expand to more than MAX_FILE bytes. Raises UnfitError.

    Its form: a magic number, a map of its settings, a mark of 16 bytes, then blocks: count, bytes, data, mark.
    """
    if data[:4] != _MAGIC:
        raise UnfitError("has a manifest that is not Avro")
    try:
        settings, at = _settings(data, 4)
        codec = settings.get(b"avro.codec", b"null")
        if codec not in (b"null", b"deflate"):
            raise UnfitError(f"has a manifest that is compressed with {codec[:20]!a}; deflate is known")
        mark, at, left = data[at : at + 16], at + 16, MAX_FILE
        if len(mark) != 16:
            raise UnfitError("has a manifest that is cut")
        while at < len(data):
            count, at = _long(data, at)
            size, at = _long(data, at)
            if count < 0 or size < 0 or data[at + size : at + size + 16] != mark:
                raise UnfitError("has a manifest that is cut")
            left -= size if codec == b"null" else _expanded(data[at : at + size], left)
            if left < 0 or count > MAX_FILE:
                raise UnfitError(f"has a manifest of more than {MAX_FILE:,} bytes")
            at += size + 16
    except (IndexError, zlib.error):
        raise UnfitError("has a manifest that is cut") from None


def _expanded(data: bytes, most: int) -> int:
    stream = zlib.decompressobj(-15)
    total = 0
    while data and total <= most:
        total += len(stream.decompress(data, 1 << 20))
        data = stream.unconsumed_tail
    return total


def _settings(data: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    found: dict[bytes, bytes] = {}
    while True:
        count, at = _long(data, at)
        if not count:
            return found, at
        if count < 0:  # then the bytes of this part of the map come next
            count, (_, at) = -count, _long(data, at)
        for _ in range(count):
            name, at = _bytes(data, at)
            found[name], at = _bytes(data, at)


def _bytes(data: bytes, at: int) -> tuple[bytes, int]:
    size, at = _long(data, at)
    if not 0 <= size <= len(data) - at:
        raise UnfitError("has a manifest that is cut")
    return data[at : at + size], at + size


def _long(data: bytes, at: int) -> tuple[int, int]:
    """Read a number: seven bits a byte, the lowest first; even ones are positive."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return (value >> 1) ^ -(value & 1), at
        if shift > 63:
            raise UnfitError("has a manifest with a number of more than 64 bits")


def _plain(location: str) -> str:
    """Return a name in one of its several forms: `file:` and the names of S3's clients mean the same."""
    return re.sub(r"^s3[an]://", "s3://", re.sub(r"^file:(?://(?=/))?", "", location))
