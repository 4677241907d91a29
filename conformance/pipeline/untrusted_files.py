"""Bounded reading of a lake that strangers wrote, and the errors: one sentence each, with the exit code."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from conformance.untrusted import UnfitError, depth, parsed
from conformance.verdict import ExitCode

if TYPE_CHECKING:
    import pyarrow

    from conformance.pipeline.store import Store


class PipelineError(Exception):
    """A sentence that says whose fault it is and what to do. code: the exit code of the command."""

    def __init__(self, sentence: str, code: ExitCode = ExitCode.BAD_INPUT) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.code = code


def require(extra: str, *names: str) -> None:
    """Raise PipelineError if packages are missing that an extra of mqconform installs."""
    if missing := [name for name in names if find_spec(name) is None]:
        raise PipelineError(
            f"The pipeline needs {', '.join(missing)}: install the extra with pip install 'mqconform[{extra}]'."
        )


MAX_ENTRIES: Final = 5_000
"""Entries of a log behind its last checkpoint; there is one every 100."""
MAX_LOG: Final = 32 << 20
"""Bytes of these entries, and of a checkpoint."""
MAX_ACTIONS: Final = 500_000
"""Rows of a checkpoint, and lines of the entries behind it."""
MAX_LINE: Final = 100_000
"""Values of one action."""
MAX_FOOTER: Final = 4 << 20
"""Bytes of a footer, each of which takes up to 150 in memory."""
MAX_LISTED: Final = 10_000
"""Columns or groups of rows that it names."""
MAX_DECODED: Final = 256 << 20
"""Bytes of the rows that are in memory at once, as Arrow has them."""
MEMORY: Final = 640 << 20
"""Bytes that reading may take beside what the process has set aside, which is up to a gigabyte with Arrow."""
ROWS: Final = (1_000_000, 200)
"""Rows that a file may have, and those more for each byte."""
UNPACKED: Final = (64 << 20, 500)
"""Bytes that a group of rows may unpack to, and those more for each byte of the file."""
_THREAD: Final = 16 << 20
_ENTRY = re.compile(r"(\d{20})\.json", re.ASCII)
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint\.parquet", re.ASCII)
_HINT: Final = "_last_checkpoint"
_NOTES: Final = rf"{_HINT}|_last_vacuum_info"  # The second by Spark's VACUUM: nobody reads it here.
_OURS = re.compile(rf"\d{{20}}\.(json|crc|checkpoint\.parquet)|{_NOTES}|.*[#~].*|.*\.tmp|\..*", re.ASCII | re.DOTALL)
_ACTIONS: Final = frozenset({"add", "remove", "metaData", "protocol", "txn", "commitInfo"})
_LOCK: Final = Lock()
_USERS: Final[list[tuple[int, int] | None]] = []  # The limit before, and one more for each who is within it.


def check_log(store: Store, table: str) -> int:
    """Check the log of a table before Delta opens it, and return the bytes behind its last checkpoint.

    Raises OSError and UnfitError.
    """
    log = f"{table}/_delta_log"
    sizes = store.sizes(log, 40 * MAX_ENTRIES)
    for name in sizes:
        if _OURS.fullmatch(name) is None:
            raise UnfitError(f"has {name[:80]!a} in its log, which this mqconform does not know")
    found = max((name for name in sizes if _CHECKPOINT.fullmatch(name)), default="")
    if _HINT in sizes:
        with _naming(_HINT):
            hint = parsed(store.read(f"{log}/{_HINT}", 1 << 16))
            number = hint.get("version") if isinstance(hint, dict) else None
            if type(number) is not int or f"{number:020}.checkpoint.parquet" not in sizes or "parts" in hint:
                raise UnfitError("names a checkpoint that is not there")
    if found:
        with _naming(found):
            _check_checkpoint(store.read(f"{log}/{found}", MAX_LOG))
    later = {name: size for name, size in sizes.items() if _ENTRY.fullmatch(name) and name[:20] > found[:20]}
    if len(later) > MAX_ENTRIES:
        raise UnfitError(f"has a log of {len(later):,} entries without a checkpoint, at most {MAX_ENTRIES:,} are read")
    if sum(later.values()) > MAX_LOG:
        raise UnfitError(f"has a log of {sum(later.values()):,} bytes, at most {MAX_LOG:,} are read")
    lines = 0
    for name in later:
        with _naming(name):
            data = store.read(f"{log}/{name}", MAX_LOG)
            if (lines := lines + data.count(b"\n")) > MAX_ACTIONS:
                raise UnfitError(f"ends more than {MAX_ACTIONS:,} lines without a checkpoint")
            for line in data.splitlines():
                _check_action(parsed(line, MAX_LINE) if line.strip() else {})
    return sum(later.values())


@contextmanager
def _naming(name: str) -> Iterator[None]:
    try:
        yield
    except UnfitError as problem:
        raise UnfitError(f"has {name} in its log, which {problem}") from None


def _check_action(found: Any) -> None:
    if not isinstance(found, dict):
        raise UnfitError("has something that is no action")
    for kind, value in found.items():
        if value is not None and (kind not in _ACTIONS or not isinstance(value, dict)):
            raise UnfitError(f"has {kind[:80]!a}, which this mqconform does not know")
        if value is not None and value.get("deletionVector") is not None:
            raise UnfitError("deletes rows of a file, which this mqconform does not know")
        _check_texts(value)


def _check_texts(value: Any) -> None:
    """Check the texts of an action: some are JSON too (statistics, a schema), and what parses it may recurse."""
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        if isinstance(one, str):
            depth(one.encode("utf-8", "replace"))
        else:
            _check_texts(one)


def _check_checkpoint(data: bytes) -> None:
    """Check a checkpoint by reading it whole."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with memory():
            said = footer(pa.BufferReader(data), len(data))
            if said.num_rows > MAX_ACTIONS:
                raise UnfitError(f"has {said.num_rows:,} actions, at most {MAX_ACTIONS:,} are read")

            def checked(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
                for row in batch.to_pylist():
                    _check_action(row)
                return batch

            within_memory(parquet.ParquetFile(pa.BufferReader(data)).iter_batches(1_000, use_threads=False), checked)
    except (OSError, pa.ArrowException) as problem:
        if isinstance(problem, MemoryError):
            raise
        raise UnfitError(f"Arrow cannot read ({str(problem).strip().splitlines()[0]})") from None


def footer(file: Any, size: int) -> Any:
    """Return the footer of a Parquet file that can hold what it says. Raises UnfitError, and Arrow's errors."""
    from pyarrow import parquet

    end = file.read_at(min(size, 8), max(0, size - 8))
    length = int.from_bytes(end[:4], "little")
    if len(end) < 8 or length > min(MAX_FOOTER, size - 12):
        raise UnfitError("has no end of a Parquet file, or one that is too long")
    with memory():
        found = parquet.ParquetFile(file, thrift_container_size_limit=MAX_LISTED).metadata
    groups = [found.row_group(at) for at in range(found.num_row_groups)]
    rows = [one.num_rows for one in groups]
    if min(rows, default=0) < 0 or sum(rows) != found.num_rows or sum(rows) > ROWS[0] + ROWS[1] * size:
        raise UnfitError(f"says that it has {found.num_rows:,} rows in {size:,} bytes")
    flat = [at for at in range(found.num_columns) if not found.schema.column(at).max_repetition_level]
    packed = 0
    for group in groups:
        columns = [group.column(at) for at in range(group.num_columns)]
        if any(columns[at].num_values != group.num_rows for at in flat):
            raise UnfitError(f"has columns of fewer or more than the {group.num_rows:,} rows that it says")
        packed += sum(one.total_compressed_size for one in columns)
        unpacked = max(group.total_byte_size, sum(one.total_uncompressed_size for one in columns))
        values = max((one.num_values for one in columns), default=0)
        if not unpacked <= UNPACKED[0] + UNPACKED[1] * size or values > ROWS[0] + ROWS[1] * size:
            raise UnfitError(f"says that it has {max(unpacked, values):,} values or bytes in {size:,} bytes")
        if any(one.total_compressed_size > size or one.total_compressed_size < 0 for one in columns):
            raise UnfitError("says that a column is larger than the file")
    if packed > size - length - 12:
        raise UnfitError("has the same bytes in several columns")
    return found


def within_memory(
    batches: Iterator[pyarrow.RecordBatch], wanted: Callable[[pyarrow.RecordBatch], Any]
) -> list[pyarrow.RecordBatch]:
    """Return the wanted rows of batches. Raises UnfitError if these, or a batch, are too many for the memory."""
    total, found = 0, list[Any]()
    with memory():
        for batch in batches:
            some = wanted(batch) if batch.nbytes <= MAX_DECODED else batch
            total += some.nbytes
            if total > MAX_DECODED:
                raise UnfitError(f"has rows of more than {MAX_DECODED:,} bytes")
            found.append(some)
    return found


@contextmanager
def memory(most: int = MEMORY) -> Iterator[None]:
    """Limit the memory that this process takes meanwhile, where the system can. Raises UnfitError beyond it."""
    with _LOCK:
        if not _USERS:
            _USERS.append(_limit(most))
        _USERS.append(None)
    try:
        yield
    except MemoryError:
        raise UnfitError(f"needs more than {most:,} bytes of memory, which files of this size do not hold") from None
    except BaseException as problem:
        if "Out of memory" not in str(problem):
            _end()
        raise
    _end()


def _end() -> None:
    """End the limit. Once met, it stays: threads of Arrow may still unpack what is too large."""
    with _LOCK:
        _USERS.pop()
        if len(_USERS) == 1 and (before := _USERS.pop()) is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_DATA, before)


def _limit(most: int) -> tuple[int, int] | None:
    """Set the limit, and return the one before."""
    try:
        import resource
        from pathlib import Path

        pages = int(Path("/proc/self/statm").read_bytes().split()[5])
    except (ImportError, OSError):  # Neither macOS nor Windows limits it.
        return None
    before = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = pages * os.sysconf("SC_PAGE_SIZE") + most + _THREAD * (os.cpu_count() or 1)
    lowest = min(one for one in (wanted, *before) if one != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_DATA, (lowest, before[1]))
    return before
