"""`pipeline watch`: the same ingest again and again over a folder of rotating captures, each file when it is finished.

A file is finished when a later one of its set is there, or when it has not changed for a while. What is in the lake is
known by its content, so nothing else is kept: a watch that is killed goes on where it was.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from conformance.capture import CaptureError
from conformance.capture.inputs import expand, natural, stream_key
from conformance.pipeline.engine import Engine
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.identity import Probe
from conformance.pipeline.ingest import Ingested, Options, ingest
from conformance.pipeline.lake import Lake, local
from conformance.pipeline.progress import Lined, Progress

_HEAD: Final = 4096


class _Seen(NamedTuple):
    """Bytes of a file, the time of its last change, and its first bytes, which tell it from one of a reused name."""

    size: int
    changed_ns: int
    head: bytes


def watched(place: Path) -> Path:
    """Return the folder to watch. Raises PipelineError if it does not exist, or is not a folder."""
    folder = local(place, "watch looks at one; ingest a store again and again, which reads no object twice")
    if not os.path.lexists(folder):
        raise PipelineError(f"There is no folder {folder}; watch one that captures are written to.")
    if not folder.is_dir():
        raise PipelineError(f"{folder} is not a folder; watch one that captures are written to.")
    return folder


def watch(
    folder: Path, lake: Lake, options: Options, engine: Engine, *, settle_s: float, every_s: float, once: bool,
    max_files: int, on_batch: Callable[[Ingested], None],
    showing: Callable[[Lined], AbstractContextManager[object]] = nullcontext, ended: Callable[[], bool] = lambda: False,
) -> None:  # fmt: skip
    """Ingest the finished files of a folder, now (once) or until `ended`. Raises PipelineError.

    settle_s: seconds for which the newest file of a set must not change. every_s: seconds between looks at the folder.
    max_files: of a batch. on_batch: called with the result of each batch. showing: shows the progress of one.
    """
    options = replace(options, keep=True)
    taken: dict[str, _Seen] = {}
    while not ended():
        found = finished(folder, settle_s)
        new = {name: seen for name, seen in found.items() if taken.get(name) != seen}
        some = dict(list(new.items())[:max_files])
        grown = [name for name, seen in some.items() if name in taken and _goes_on(taken[name], seen)]
        if some:
            refused = [
                Probe(name, some[name].size, error=f"{name} changed after it was ingested; raise --settle.")
                for name in grown
            ]
            progress = Progress()
            with showing(progress):
                done = ingest(lake, [one for one in some if one not in grown], options, engine, refused=refused,
                              progress=progress)  # fmt: skip
            taken |= some
            if done.captures or done.rejected:
                on_batch(done)
        if len(some) < len(new):
            continue
        if once:
            return
        until = time.monotonic() + every_s
        while time.monotonic() < until and not ended():
            time.sleep(min(0.2, every_s))


def finished(folder: Path, settle_s: float) -> dict[str, _Seen]:
    """Return the finished files of a folder by name, the oldest first. Raises PipelineError."""
    now = time.time_ns()
    try:
        names = expand([str(folder)])
    except CaptureError:
        return {}  # There is none yet.
    found: dict[str, _Seen] = {}
    sets: dict[str, list[str]] = {}
    for name in names:
        try:
            status = Path(name).stat()
            with Path(name).open("rb") as file:
                head = file.read(_HEAD)
        except OSError:  # It was rotated away during the look.
            continue
        found[name] = _Seen(status.st_size, min(status.st_mtime_ns, now), head)
        sets.setdefault(stream_key(name)[0], []).append(name)
    out = dict(found)
    for members in sets.values():
        newest = max(members, key=lambda name: (found[name].changed_ns, natural(name)))
        if now - found[newest].changed_ns < settle_s * 1e9:
            del out[newest]
    return dict(sorted(out.items(), key=lambda one: (one[1].changed_ns, natural(one[0]))))


def _goes_on(before: _Seen, now: _Seen) -> bool:
    """Tell whether a file that was ingested has more by now; a file of another beginning is another one."""
    return now.size > before.size and now.head.startswith(before.head)
