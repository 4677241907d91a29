"""Find the finished capture files of a folder, and record the order in which they were seen, which makes up a stream.

New files are written to a ledger, under the next number, before they are used. So after a crash the same number still
means the same files.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any
from uuid import uuid4

from conformance.aside import make_folder
from conformance.capture import packed
from conformance.capture.inputs import is_capture
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.identity import natural, stream_key
from conformance.pipeline.inside import UnfitError, content, parsed

SETTLE_S = 60.0
"""Seconds for which the newest file of a set must not change before it counts as finished."""


_HEAD = 4096


@dataclass(frozen=True, slots=True)
class Sighting:
    """A finished file. grown: it was seen before and has grown since: it was written to after the time to settle.

    head: digest of its first `_HEAD` bytes, or of all if there are fewer; it tells a reused name of a ring buffer
    apart.
    """

    path: str
    size: int
    grown: bool = False
    head: str = ""
    changed_ns: int = 0


@dataclass(slots=True)
class Sightings:
    """The finished captures below `folder`; `ledger` is the folder of the recorded sightings."""

    folder: Path
    ledger: Path
    settle_s: float = SETTLE_S

    def latest(self) -> int:
        """Record a sighting if there are new files, and return the number of the last one. Raises PipelineError."""
        last, seen = 0, dict[str, Sighting]()
        for last, files in self._all():  # noqa: B007 - its last value is wanted
            seen |= {one.path: one for one in files}
        new = []
        for path, size, changed_ns in self._finished():
            with suppress(OSError):  # The file was rotated away in the meantime.
                new += _news(path, size, changed_ns, seen)
        if not new:
            return last
        value = [list(astuple(one)) for one in new]
        draft = self.ledger / f".{uuid4().hex}.draft"
        with draft.open("x", encoding="utf-8") as file:
            file.write(json.dumps(value))
        with suppress(FileExistsError):  # Another process watches this folder for this lake: its sighting counts.
            os.link(draft, self._file(last + 1))
        draft.unlink()
        return last + 1

    def between(self, after: int, through: int) -> list[Sighting]:
        """Return the files of the sightings after `after` to `through`. Raises PipelineError for a damaged ledger."""
        return [one for number in range(after + 1, through + 1) for one in self._read(number)]

    def _all(self) -> Iterator[tuple[int, Sequence[Sighting]]]:
        make_folder(self.ledger)
        number = 1
        while self._file(number).exists():
            yield number, self._read(number)
            number += 1

    def _file(self, number: int) -> Path:
        return self.ledger / f"{number:012}.json"

    def _read(self, number: int) -> list[Sighting]:
        try:
            return [_sighting(one) for one in parsed(content(self._file(number)))]
        except (OSError, UnfitError, TypeError) as problem:
            raise PipelineError(f"{self._file(number)} cannot be read ({problem}); watch with a new lake.") from None

    def _finished(self) -> list[tuple[str, int, int]]:
        """Return the finished files: all but the newest of each set, and that one if it has settled."""
        now = time.time()
        found: dict[str, list[tuple[int, tuple[tuple[int, str], ...], str, int]]] = {}
        try:
            for path in self.folder.rglob("*"):
                with suppress(FileNotFoundError):  # The file was rotated away during the look.
                    if is_capture(path.name) and path.is_file():
                        about, name = path.stat(), str(path)
                        one = (about.st_mtime_ns, natural(name), name, about.st_size)
                        found.setdefault(stream_key(name)[0], []).append(one)
        except OSError as problem:
            raise PipelineError(f"{self.folder} cannot be read: {problem.strerror}.") from None
        out: list[tuple[str, int, int]] = []
        for files in found.values():
            files.sort()
            if now - files[-1][0] / 1e9 < self.settle_s:
                files.pop()
            out += [(name, size, changed_ns) for changed_ns, _, name, size in files]
        return sorted(out)


def _sighting(value: Any) -> Sighting:
    """Parse a recorded sighting. Raises UnfitError and TypeError for anything else."""
    if not isinstance(value, list) or [type(one) for one in value] != [str, int, bool, str, int]:
        raise UnfitError("is not a list of files that were seen")
    return Sighting(*value)


def _news(path: str, size: int, changed_ns: int, seen: Mapping[str, Sighting]) -> list[Sighting]:
    """Return a sighting of a finished file if it is new or has changed, else nothing."""
    before = seen.get(path)
    unpacked = seen.get(path.rpartition(".")[0]) if path.endswith(packed.SUFFIXES) else None
    if before is not None and (before.size, before.changed_ns) == (size, changed_ns):
        return []
    if before is not None:
        goes_on = _head(path, before.size) == before.head
        if goes_on and before.size == size:
            return []
        return [Sighting(path, size, goes_on, _head(path, size), changed_ns)]
    if unpacked is not None and _head(path, unpacked.size) == unpacked.head:
        return []  # Compressed after it was seen, as `tcpdump -z gzip` does.
    return [Sighting(path, size, False, _head(path, size), changed_ns)]


def _head(path: str, size: int) -> str:
    """Return the digest of the beginning of a file that had `size` bytes; a compressed one is unpacked first."""
    most = min(size, _HEAD)
    with Path(path).open("rb") as file:
        data = file.read(2 * _HEAD)
    if path.endswith(packed.SUFFIXES):
        data = packed.beginning(data, _HEAD) or data
    return blake2b(data[:most], digest_size=16).hexdigest()
