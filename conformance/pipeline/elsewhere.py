"""Names for workers that may run elsewhere, with another working directory, and a look at whether they see them.

A cluster and a Spark Connect server are elsewhere, also on this machine; `local[N]` is here.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from conformance.capture.addresses import is_stored
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.lake import HEAD, Lake
from conformance.pipeline.lakes.store import LocalStore
from conformance.pipeline.workers import Workers
from conformance.report.text import label

_FOLDERS: Final = 100
"""Folders that workers are asked for."""
_ASKED: Final = 8
"""Workers that are asked."""


def are_elsewhere(workers: Workers) -> bool:
    """Tell whether the workers may have another working directory than this process."""
    return bool(getattr(workers, "elsewhere", False))


def whole(name: str) -> str:
    """Return an absolute path, and an address as it is."""
    return name if is_stored(name) else str(Path(name).absolute())


def named(names: Iterable[str], lake: Lake, workers: Workers) -> list[str]:
    """Return the names of files as these workers understand them.

    Raises PipelineError if a worker elsewhere does not see the lake, or a folder of the files that is here.
    """
    if not are_elsewhere(workers):
        return list(names)
    found = [whole(name) for name in names]
    folders = dict.fromkeys(os.path.dirname(name) for name in found if not is_stored(name))  # noqa: PTH120 - many
    places = [one for one in list(folders)[:_FOLDERS] if os.path.lexists(one)]
    if isinstance(lake.store, LocalStore):
        places.insert(0, lake.store.name(HEAD))
    if found and places:
        for host, place in filter(None, workers.map(unseen, [places] * min(_ASKED, workers.cores))):
            there = str(lake.store.root) if place == lake.store.name(HEAD) else place
            raise PipelineError(
                f"A worker of Spark on {label(host, 80)} does not see {label(there, 200)}, which is here: captures and"
                " lake must have the same paths on all machines, or lie in a store."
            )
    return found


def unseen(places: Sequence[str]) -> tuple[str, str] | None:
    """Look for files and folders. Return the name of this machine and the first that is not there, if one is not."""
    missing = next((place for place in places if not os.path.lexists(place)), None)
    return None if missing is None else (socket.gethostname(), missing)
