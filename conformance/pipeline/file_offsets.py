"""Where a stream of files stands: which files of the folder were taken. Spark keeps it in its checkpoint, as an offset.

An offset has all that is needed, so that nothing lies outside the checkpoint: the files of its batch, the last ones
before it, and eight bytes for each older file that is still in the folder. Names are below the folder, which may be
moved with the checkpoint.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from conformance.capture import packed
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.file_discovery import HEAD, File, Look, by_age, head_of
from conformance.pipeline.inside import UnfitError

MAX_FILES: Final = 1_000
"""Files of a batch, if nobody tells another number."""
RECENT: Final = 10_000
"""Files before the batch whose beginning is kept: they are known again if they grow, or are renamed or packed."""
KNOWN: Final = 100_000
"""Older files that are known by name, size and time; a file older than these is left alone."""
_WIDTH: Final = 8
_NEVER: Final = -(1 << 63)


@dataclass(frozen=True, slots=True)
class Taken:
    """A file that was taken. head: the digest of its beginning. grown: it was taken before, and written to since."""

    name: str
    size: int
    changed_ns: int
    head: str
    grown: bool = False

    @property
    def mark(self) -> bytes:
        """The mark of the file."""
        return File(self.name, self.size, self.changed_ns).mark


@dataclass(frozen=True)
class Position:
    """The offset after a batch. files: those of the batch. recent: those before it. known: marks of older ones.

    before_ns: a file that is not known and has not changed since this time is left alone.
    """

    batch: int = 0
    files: Sequence[Taken] = ()
    recent: Sequence[Taken] = ()
    known: Collection[bytes] = frozenset()
    before_ns: int = _NEVER

    def to_json(self) -> dict[str, Any]:
        """Return the offset for Spark: numbers, texts and lists."""
        return {
            "batch": self.batch,
            "files": [list(astuple(one)) for one in self.files],
            "recent": [list(astuple(one)) for one in self.recent],
            "known": b64encode(b"".join(sorted(self.known))).decode("ascii"),
            "before": self.before_ns,
        }

    @cached_property
    def marks(self) -> frozenset[bytes]:
        """The marks of all files that were taken and are remembered."""
        return frozenset(self.known).union(one.mark for one in (*self.recent, *self.files))

    def takes(self, file: File) -> bool:
        """Tell whether a file is still to be looked into."""
        return file.changed_ns > self.before_ns and file.mark not in self.marks


def position(value: Any) -> Position:
    """Return the position of an offset. Raises PipelineError for one that this version did not write."""
    try:
        return _position(value)
    except (UnfitError, TypeError, ValueError, KeyError, Base64Error) as problem:
        raise PipelineError(
            f"The checkpoint has an offset that cannot be read ({problem!s:.80}): watch with another checkpoint."
        ) from None


def _position(value: Any) -> Position:
    if not isinstance(value, dict):
        raise UnfitError("no object")
    known = b64decode(value["known"], validate=True)
    if type(value["batch"]) is not int or type(value["before"]) is not int or len(known) % _WIDTH:
        raise UnfitError("no number, or no marks")
    return Position(
        value["batch"],
        [taken(one) for one in value["files"]],
        [taken(one) for one in value["recent"]],
        frozenset(known[at : at + _WIDTH] for at in range(0, len(known), _WIDTH)),
        value["before"],
    )


def taken(value: Any) -> Taken:
    """Return a file of an offset. Raises UnfitError and TypeError for anything else."""
    if not isinstance(value, list) or [type(one) for one in value] != [str, int, int, str, bool]:
        raise UnfitError("no file")
    return Taken(*value)


def after(start: Position, folder: Path, look: Look, at_most: int | None, only: Collection[bytes] | None) -> Position:
    """Return the position after the next batch: `start` itself if there are no new files.

    at_most: the number of files to look into, the oldest first. only: marks of the files that may be taken.
    """
    new = by_age(one for one in look.finished if start.takes(one))
    memory = _Memory(folder, [*start.recent, *start.files], {one.name: one for one in (*look.finished, *look.open)})
    files: dict[str, Taken] = {}
    done: set[bytes] = set()
    waiting_ns = [one.changed_ns for one in look.open]
    for one in new:
        if (only is not None and one.mark not in only) or (at_most is not None and len(done) >= at_most):
            waiting_ns.append(one.changed_ns)
            continue
        with suppress(OSError):  # It was rotated away, or cannot be read yet.
            found = memory.news(one)
            done.add(one.mark)
            if found is not None:
                files[found.name] = found
                memory.add(found)
    if not done:
        return start
    recent = [one for one in memory.all() if one.name not in files][-RECENT:]
    marks = start.marks | done
    return _bounded(
        Position(start.batch + 1, list(files.values()), recent, frozenset(), start.before_ns),
        [one for one in look.finished if one.mark in marks],
        min(waiting_ns, default=1 << 63),
    )


def _bounded(found: Position, there: Sequence[File], waiting_ns: int) -> Position:
    """Return the position with the marks of the files that are there, and no more than KNOWN of them."""
    named = {one.mark for one in (*found.recent, *found.files)}
    older = sorted((one for one in there if one.mark not in named), key=lambda one: one.changed_ns)
    before = found.before_ns
    surplus = len(older) - KNOWN
    # What is not looked into yet must not become too old.
    while surplus > 0 and older[surplus - 1].changed_ns >= waiting_ns:
        surplus -= 1
    if surplus > 0:
        before = max(before, older[surplus - 1].changed_ns)
        older = older[surplus:]
    return replace(found, known=frozenset(one.mark for one in older), before_ns=before)


class _Memory:
    """The files that were taken last, by name, and by what stays when a file is renamed or packed."""

    def __init__(self, folder: Path, files: Sequence[Taken], there: Mapping[str, File]) -> None:
        self._folder, self._there = folder, there
        self._named: dict[str, Taken] = {}
        self._begun: dict[str, list[Taken]] = {}
        for one in files:
            self.add(one)

    def all(self) -> list[Taken]:
        """Return them in the order in which they were taken."""
        return list(self._named.values())

    def add(self, one: Taken) -> None:
        """Remember a file as the newest."""
        self._named.pop(one.name, None)
        self._named[one.name] = replace(one, grown=False) if one.grown else one
        self._begun.setdefault(one.head, []).append(one)

    def news(self, file: File) -> Taken | None:
        """Return the file if it is to be taken; None for one that was taken before in another shape. Raises OSError."""
        path = str(self._folder / file.name)
        now = Taken(file.name, file.size, file.changed_ns, head_of(path, file.size))
        before = self._named.get(file.name)
        goes_on = before is not None and head_of(path, before.size) == before.head
        if any(one.size == file.size for one in self._gone(now.head)) or self._is_packed(path, file.name):
            self.add(now)  # renamed, touched, or compressed as `tcpdump -z gzip` does
            return None
        return replace(now, grown=goes_on)

    def _is_packed(self, path: str, name: str) -> bool:
        """Tell whether a file has been taken before it was compressed."""
        if not name.endswith(packed.SUFFIXES):
            return False
        plain = self._named.get(name.rpartition(".")[0])
        if plain is not None and head_of(path, plain.size) == plain.head:
            return True
        return any(not one.name.endswith(packed.SUFFIXES) for one in self._gone(head_of(path, HEAD)))

    def _gone(self, head: str) -> Iterator[Taken]:
        """Yield the files with this beginning that are no longer where they were."""
        for one in self._begun.get(head, ()):
            now = self._there.get(one.name)
            if now is None or (now.size, now.changed_ns) != (one.size, one.changed_ns):
                yield one


__all__ = ["KNOWN", "MAX_FILES", "RECENT", "Position", "Taken", "after", "position", "taken"]
