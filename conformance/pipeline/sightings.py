"""Which files of a folder are finished, and in which order they were seen: what a stream of captures is made of.

Each time something new is seen it is written down, under the next number, before it is used; so after a crash the same
numbers mean the same files.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from conformance.capture.inputs import is_capture
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.identity import natural, stream_key

SETTLE_S = 60.0
"""How long the newest file of a set must be left alone to be taken for finished."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A finished file. grown: it was seen before, and was larger since: something wrote on after the time to settle."""

    path: str
    size: int
    grown: bool = False


@dataclass(slots=True)
class Sightings:
    """The finished captures below `folder`; `ledger` is the folder of what was seen."""

    folder: Path
    ledger: Path
    settle_s: float = SETTLE_S

    def latest(self) -> int:
        """The number of the last sighting, a new one if there is something new. Raises PipelineError."""
        last, seen = 0, dict[str, int]()
        for last, files in self._all():  # noqa: B007 - its last value is wanted
            seen |= {one.path: one.size for one in files}
        new = [Sighting(path, size, path in seen) for path, size in self._finished() if seen.get(path, -1) != size]
        if not new:
            return last
        value = [[one.path, one.size, one.grown] for one in new]
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

    def _finished(self) -> list[tuple[str, int]]:
        """Every file but the newest of its set is finished; that one when it was left alone for long enough."""
        now = time.time()
        found: dict[str, list[tuple[float, tuple[tuple[int, str], ...], str, int]]] = {}
        try:
            for path in self.folder.rglob("*"):
                with suppress(FileNotFoundError):  # Rotated away while it was looked at.
                    if is_capture(path.name) and path.is_file():
                        about, name = path.stat(), str(path)
                        one = (about.st_mtime, natural(name), name, about.st_size)
                        found.setdefault(stream_key(name)[0], []).append(one)
        except OSError as problem:
            raise PipelineError(f"{self.folder} cannot be read: {problem.strerror}.") from None
        out: list[tuple[str, int]] = []
        for files in found.values():
            files.sort()
            out += [(name, size) for *_, name, size in files[:-1]]
            changed, _, name, size = files[-1]
            if now - changed >= self.settle_s:
                out.append((name, size))
        return sorted(out)
