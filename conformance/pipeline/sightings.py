"""Which files of a folder are finished, and in which order they were seen: what a stream of captures is made of.

Each time something new is seen it is written down, under the next number, before it is used; so after a crash the same
numbers mean the same files.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from hashlib import blake2b
from pathlib import Path

from conformance.capture.inputs import is_capture
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.identity import natural, stream_key

SETTLE_S = 60.0
"""How long the newest file of a set must be left alone to be taken for finished."""


_HEAD = 4096
_GZIP = ".gz"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A finished file. grown: it was seen before, and was larger since: something wrote on after the time to settle.

    head: digest of its first `_HEAD` bytes, or of all when it has fewer: a ring buffer takes the same names again.
    """

    path: str
    size: int
    grown: bool = False
    head: str = ""
    changed_ns: int = 0


@dataclass(slots=True)
class Sightings:
    """The finished captures below `folder`; `ledger` is the folder of what was seen."""

    folder: Path
    ledger: Path
    settle_s: float = SETTLE_S

    def latest(self) -> int:
        """The number of the last sighting, a new one if there is something new. Raises PipelineError."""
        last, seen = 0, dict[str, Sighting]()
        for last, files in self._all():  # noqa: B007 - its last value is wanted
            seen |= {one.path: one for one in files}
        new = []
        for path, size, changed_ns in self._finished():
            with suppress(OSError):  # Rotated away since.
                new += _news(path, size, changed_ns, seen)
        if not new:
            return last
        value = [list(astuple(one)) for one in new]
        draft = self.ledger / f".{os.getpid()}.draft"
        draft.write_text(json.dumps(value), encoding="utf-8")
        with suppress(FileExistsError):  # Somebody else watches this folder for this lake: what they saw counts.
            os.link(draft, self._file(last + 1))
        draft.unlink()
        return last + 1

    def between(self, after: int, through: int) -> list[Sighting]:
        """What was seen behind sighting `after`, up to `through`. Raises PipelineError for a ledger that is damaged."""
        return [one for number in range(after + 1, through + 1) for one in self._read(number)]

    def _all(self) -> Iterator[tuple[int, Sequence[Sighting]]]:
        self.ledger.mkdir(parents=True, exist_ok=True)
        number = 1
        while self._file(number).exists():
            yield number, self._read(number)
            number += 1

    def _file(self, number: int) -> Path:
        return self.ledger / f"{number:012}.json"

    def _read(self, number: int) -> list[Sighting]:
        try:
            return [Sighting(*one) for one in json.loads(self._file(number).read_text(encoding="utf-8"))]
        except (OSError, ValueError, TypeError) as problem:
            raise PipelineError(f"{self._file(number)} cannot be read ({problem}); watch with a new lake.") from None

    def _finished(self) -> list[tuple[str, int, int]]:
        """Every file but the newest of its set is finished; that one when it was left alone for long enough."""
        now = time.time()
        found: dict[str, list[tuple[int, tuple[tuple[int, str], ...], str, int]]] = {}
        try:
            for path in self.folder.rglob("*"):
                with suppress(FileNotFoundError):  # Rotated away while it was looked at.
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


def _news(path: str, size: int, changed_ns: int, seen: Mapping[str, Sighting]) -> list[Sighting]:
    """What a finished file is, if it is anything new."""
    before, unpacked = seen.get(path), seen.get(path.removesuffix(_GZIP)) if path.endswith(_GZIP) else None
    if before is not None and (before.size, before.changed_ns) == (size, changed_ns):
        return []
    if before is not None:
        goes_on = _head(path, before.size) == before.head
        if goes_on and before.size == size:
            return []
        return [Sighting(path, size, goes_on, _head(path, size), changed_ns)]
    if unpacked is not None and _head(path, unpacked.size) == unpacked.head:
        return []  # Packed after it was seen, as `tcpdump -z gzip` does.
    return [Sighting(path, size, False, _head(path, size), changed_ns)]


def _head(path: str, size: int) -> str:
    """Digest of the beginning of what was a file of `size` bytes, of a packed one of what is in it."""
    most = min(size, _HEAD)
    with Path(path).open("rb") as file:
        data = file.read(2 * _HEAD)
    if path.endswith(_GZIP):
        with suppress(zlib.error):
            data = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, _HEAD)
    return blake2b(data[:most], digest_size=16).hexdigest()
