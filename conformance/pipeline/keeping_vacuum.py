"""Remove the files that no longer belong to a lake, when they are old enough.

A table keeps the files that a compaction or `forget` put aside, for readers of earlier versions. A file that no version
names may be of a writer that lives: it is left alone for a day at least, and as long as its writer has a lease.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.pipeline.lakes.tables import Tables, told

if TYPE_CHECKING:
    from conformance.pipeline.lakes.store import Store

KEEP_DAYS: Final = 7
LEAST_S: Final = 86_400
"""Age in seconds under which no file is removed, whatever is asked: its writer may live."""


@dataclass(frozen=True, slots=True)
class Vacuumed:
    """The files of one table that were removed, or would be, by place below the lake, each with its bytes."""

    table: str
    files: tuple[tuple[str, int], ...] = ()

    @property
    def bytes(self) -> int:
        """Bytes of these files."""
        return sum(size for _, size in self.files)

    def to_json(self) -> dict[str, Any]:
        """Return the number of files, their bytes and their places."""
        return {
            "table": self.table,
            "files": len(self.files),
            "bytes": self.bytes,
            "places": [place for place, _ in self.files],
        }


def vacuum_table(
    tables: Tables,
    store: Store,
    name: str,
    table: Any,
    *,
    keep_days: float = KEEP_DAYS,
    dry_run: bool = False,
    leased: Callable[[str], bool] = lambda name: False,
    now: float | None = None,
) -> Vacuumed:
    """Remove the files of a table that no version of the last `keep_days` names, and that are old enough.

    leased: tells whether a living writer has made a file of this name. now: seconds since 1970.
    Raises PipelineError if the lake cannot be written.
    """
    found = tables.unneeded(store, name, table, keep_days)
    limit = (time.time() if now is None else now) - max(LEAST_S, keep_days * 86_400)
    gone: list[tuple[str, int]] = []
    with told(store, name):
        for place in sorted(f"{name}/{one}" for one in found):
            if leased(place.rpartition("/")[2]) or not store.check(place) or store.changed(place) > limit:
                continue
            gone.append((place, store.size(place)))
    if gone and not dry_run:
        tables.end(store, name, table, keep_days)
        with told(store, name):
            for place, _ in gone:
                store.remove(place)
    return Vacuumed(name, tuple(gone))
