"""The sum of the log of a lake on Delta up to a batch, so that opening a lake does not read every entry again.

A fold is one Parquet file, `_fold/NUMBER.parquet`, which a writer makes now and then; without it the entries in
`batches` say the same. It has a row for each batch, identity, kept state and file about a provisional end.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from conformance.pipeline.inside import MAX_FILE, NAME, UnfitError, parsed
from conformance.pipeline.lakes.store import Store
from conformance.pipeline.log import MAX_TEXT, Entry, Snapshot, checked

if TYPE_CHECKING:
    import pyarrow

FOLD: Final = "_fold"
EVERY: Final = 1_000
SHARE: Final = 50
"""A new fold is made after so many batches, or after one in so many of all."""
_NAME = re.compile(r"(\d{20})\.parquet", re.ASCII)
_KINDS: Final = ("lake", "batch", "forgotten", "capture", "run", "rejected", "provisional", "kept", "part")
_MOST: Final = 4 * MAX_FILE
_LEFT: Final = 2  # Folds that stay: a reader may be at the last but one.


@dataclass(slots=True)
class Fold:
    """The knowledge of a reader after the entries up to one. known: the batches, with their numbers.

    provisional: files about provisional ends that the tables may still name.
    """

    log: Snapshot = field(default_factory=Snapshot)
    known: dict[str, int] = field(default_factory=dict)
    provisional: set[str] = field(default_factory=set)


def due(version: int, folded: int) -> bool:
    """Tell whether a lake of this version, last folded at another, is to be folded again."""
    return version - folded >= max(EVERY, version // SHARE)


def write(store: Store, fold: Fold) -> None:
    """Write a fold, and remove all but the last ones. Raises OSError and UnfitError."""
    import pyarrow as pa
    from pyarrow import parquet

    log = fold.log
    sink = io.BytesIO()
    groups: list[tuple[str, Iterable[str], Iterable[int] | None]] = [
        ("lake", [log.batch], [log.version]),
        ("batch", fold.known.keys(), fold.known.values()),
        ("forgotten", [before for _, before in log.forgotten], [version for version, _ in log.forgotten]),
        ("capture", sorted(log.captures), None),
        ("run", sorted(log.runs), None),
        ("rejected", sorted(log.rejected), None),
        ("provisional", sorted(fold.provisional), None),
        ("kept", [json.dumps(one.to_json()) for one in log.kept.values()], None),
        ("part", [json.dumps(one.to_json()) for one in log.parts.values()], None),
    ]
    with parquet.ParquetWriter(sink, _schema(), compression="zstd", use_dictionary=["kind"]) as writer:
        for kind, texts, numbers in groups:
            found = pa.array(list(texts), pa.string())
            values = pa.array([None] * len(found) if numbers is None else list(numbers), pa.int64())
            kinds = pa.repeat(pa.scalar(kind), len(found))
            writer.write_table(pa.table([kinds, found, values], schema=_schema()))
    with suppress(FileExistsError):
        store.create(f"{FOLD}/{log.version:020}.parquet", sink.getvalue())
    for name in _names(store)[:-_LEFT]:
        store.remove(f"{FOLD}/{name}")


def read(store: Store) -> Fold | None:
    """Return the last fold of a lake, None if there is none. Raises OSError and UnfitError."""
    for name in reversed(_names(store)):
        with suppress(FileNotFoundError):  # A writer may have removed it.
            return _fold(store.read(f"{FOLD}/{name}", _MOST), int(name.partition(".")[0]))
    return None


def _names(store: Store) -> list[str]:
    return [name for name in store.names(FOLD) if _NAME.fullmatch(name)]


def _schema() -> pyarrow.Schema:
    import pyarrow as pa

    return pa.schema([pa.field("kind", pa.string()), pa.field("text", pa.string()), pa.field("number", pa.int64())])


def _fold(data: bytes, number: int) -> Fold:
    """Return a checked fold. Raises UnfitError."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import compute as pc
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(io.BytesIO(data)) as file:
            footer = file.metadata
            if sum(footer.row_group(at).total_byte_size for at in range(footer.num_row_groups)) > _MOST:
                raise UnfitError(f"has a fold of the batch {number:,} that is too large")
            rows = file.read()
    except (OSError, pa.ArrowException) as problem:
        raise UnfitError(f"has a fold of the batch {number:,} that cannot be read: {str(problem)[:200]}") from None
    if rows.schema != _schema() or rows["text"].null_count or rows["kind"].null_count:
        raise UnfitError(f"has a fold of the batch {number:,} with other columns")
    if (pc.max(pc.utf8_length(rows["text"])).as_py() or 0) > MAX_TEXT * 4:
        raise UnfitError(f"has a fold of the batch {number:,} with a text that is too long")
    groups = {kind: rows.filter(pc.equal(rows["kind"], kind)) for kind in _KINDS}
    batches = groups["batch"]
    if batches["number"].null_count or not np.array_equal(batches["number"].to_numpy(), np.arange(1, number + 1)):
        raise UnfitError(f"has a fold of the batch {number:,} with other batches")
    if not pc.all(pc.match_substring_regex(batches["text"], rf"\A{NAME}\z")).as_py():
        raise UnfitError(f"has a fold of the batch {number:,} with a name that is not plain")
    by = {kind: found["text"].to_pylist() for kind, found in groups.items()}
    numbers = {kind: groups[kind]["number"].to_pylist() for kind in ("lake", "forgotten")}
    return _checked(by, numbers, number)


def _checked(by: dict[str, list[str]], numbers: dict[str, list[Any]], number: int) -> Fold:
    known = dict(zip(by["batch"], range(1, number + 1), strict=True))
    if numbers["lake"] != [number] or len(known) != number or known.get(by["lake"][0]) != number:
        raise UnfitError(f"has a fold of the batch {number:,} with other batches")
    entries = [_entry(parts=by["part"], kept=by["kept"])]
    forgotten = list(zip(numbers["forgotten"], by["forgotten"], strict=True))
    entries += [_entry(before=before) for _, before in forgotten]
    if any(type(version) is not int or not 0 < version <= number for version, _ in forgotten):
        raise UnfitError(f"has a fold of the batch {number:,} that forgets at another")
    log = Snapshot(
        version=number,
        parts={part.place: part for part in entries[0].add},
        captures=set(by["capture"]),
        runs=set(by["run"]),
        rejected=set(by["rejected"]),
        kept={one.key: one for one in entries[0].keep},
        batch=by["lake"][0],
        forgotten=forgotten,
    )
    return Fold(log, known, set(by["provisional"]))


def _entry(parts: Iterable[str] = (), kept: Iterable[str] = (), before: str | None = None) -> Entry:
    """Return what the texts of a fold mean, checked like an entry of the log. Raises UnfitError."""
    value: dict[str, Any] = {
        **Entry("fold", "fold").to_json(0),
        "add": [parsed(one.encode()) for one in parts],
        "keep": [parsed(one.encode()) for one in kept],
    }
    return checked(value if before is None else {**value, "before": before}, 0)
