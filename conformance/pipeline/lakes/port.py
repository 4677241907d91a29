"""The port of a lake: what ingest, queries and reports need of it, whatever the format of its tables is.

A lake holds the tables of `schemas.TABLES`, each a Delta table. An entry adds and removes files of several tables, all
or nothing.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePath
from typing import Any, Final

from conformance import __version__
from conformance.capture import CaptureError
from conformance.capture.addresses import STORES, is_stored, meant
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import UnfitError, is_plain, parsed
from conformance.pipeline.lakes.store import LocalStore, ObjectStore, Store
from conformance.pipeline.lakes.target import Target
from conformance.pipeline.log import Entry, Kept, Part, Snapshot
from conformance.report.text import label

FORMAT: Final = 2
"""The number in the head of a lake."""
HEAD: Final = "_mqconform.json"
STAGING, LOCK, WATCH = "_staging", "_lock", "_watch"
MAX_HEAD: Final = 1 << 16
"""Bytes of the file that marks a folder as a lake."""
_SCHEME = re.compile(r"(?!file:|dbfs:)([a-z][a-z0-9+.-]+):/(/)?", re.IGNORECASE)  # `Path` makes one slash of two


def local(place: str | Path, needed: str) -> Path:
    """Return the folder that a name means; `file:/` is understood. needed: why it has to be a folder, a clause.

    Raises PipelineError for an address in a store.
    """
    name = str(place)
    found = _SCHEME.match(name)
    if found is not None and (found[2] or found[1].lower() in STORES):
        raise PipelineError(f"{place} is not a folder; {needed}.")
    try:
        return Path(meant(name))
    except CaptureError as problem:
        raise PipelineError(str(problem)) from None


class Lake(ABC):
    """A lake. `snapshot()` reads its log; `writing()` is for the one command that adds to it.

    store: where its files are. root: the same as a path; in a store the path without the scheme. place: its name.
    """

    store: Store

    @staticmethod
    def open(place: str | Path, *, create: bool = False, files: bool = True) -> Lake:
        """Open the lake at `place` and read its log. create: make one if there is none.

        files: look at its files too, which a command that only adds does not need. Raises PipelineError if there is no
        lake, or a damaged one, or one of another layout, or if a package is missing.
        """
        from conformance.pipeline.lakes import delta, new_tables

        store = store_at(place)
        try:
            known = head_of(store)
            if known is None and create:
                new_tables.create(store)
                known = head_of(store)
        except OSError as problem:
            reason = problem.strerror or problem
            raise PipelineError(f"The lake {place} cannot be {'made' if create else 'used'}: {reason}.") from None
        except UnfitError as problem:
            raise damaged(store.name(HEAD), problem) from None
        if known is None:
            raise PipelineError(f"{place} is not a lake; make one with mqconform pipeline ingest ... --out {place}.")
        number = known.get("format") if isinstance(known, dict) else None
        if type(number) is not int or number < 1:
            raise damaged(store.name(HEAD), "names no format")
        if number != FORMAT:
            writer = label(str(known.get("version")), 40)
            raise PipelineError(
                f"The lake {place} has the layout {number} of mqconform {writer}, which this one ({__version__})"
                " does not read: ingest the captures and runs again, into a new folder."
            )
        lake = delta.DeltaLake(store)
        lake.check()
        if files:
            lake.snapshot()
        else:
            lake.known()
        return lake

    @property
    def root(self) -> Any:
        """The folder of a lake on this machine, or the path within the store."""
        return self.store.root

    @property
    def place(self) -> str:
        """Its name: a path, or an address in a store."""
        return self.store.place

    @abstractmethod
    def check(self) -> None:
        """Check that nothing of the lake leads out of it. Raises PipelineError."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """Return the present state of the lake. Raises PipelineError if its log is damaged."""

    def known(self) -> Snapshot:
        """Return the present state of the lake without its files: version, identities and kept states.

        A command that only adds needs no more, and no look at the files. The value changes with the lake. Raises
        PipelineError if the log is damaged.
        """
        return self.snapshot()

    @abstractmethod
    def staged(self) -> list[str]:
        """Return the batches that are being written, or were when their writer was killed."""

    @abstractmethod
    def located(self) -> dict[str, PurePath]:
        """Return the present files of the lake by their places in it, each with its path.

        A path in a store has no scheme; `store.arrow` reads it. Raises PipelineError if one is missing.
        """

    @abstractmethod
    def writing(self, batch: str) -> AbstractContextManager[Target]:
        """Lock the lake for writing, remove what others left, and yield where this batch's files are written.

        Raises PipelineError if another command is writing, or if a path would lead out of the lake.
        """

    @abstractmethod
    def commit(self, entry: Entry) -> int:
        """Make the written files part of the lake and return its new version. Only within `writing`.

        Raises PipelineError if the entry is larger than a reader accepts, or if another command has written meanwhile.
        """

    def present(self, place: str, path: PurePath) -> PurePath:
        """Return where a located file is by now: its writer may have moved it."""
        return path

    def files(self, table: str) -> list[PurePath]:
        """Return the present paths of the files of a table."""
        prefix = f"{table}/"
        return [path for place, path in self.located().items() if place.startswith(prefix)]

    def state_file(self, kept: Kept) -> str:
        """Return the name of a stream's kept state. Raises PipelineError if that is no file of the lake."""
        try:
            self.store.check(kept.place)
        except UnfitError as problem:
            raise damaged(self.store.name(kept.place), problem) from None
        return self.store.name(kept.place)


def damaged(name: object, problem: object) -> PipelineError:
    """Return the error for a lake in which something is not as it must be."""
    return PipelineError(f"{name} {problem}: it is damaged, and the lake cannot be used.")


@contextmanager
def written(place: object, batch: str) -> Iterator[None]:
    """Check the name of a batch, and make one sentence of what the system raises while a lake is written."""
    if not is_plain(batch):
        raise ValueError(f"the name of a batch is plain, not {batch!r}")
    try:
        yield
    except UnfitError as problem:
        raise damaged(place, problem) from None
    except OSError as problem:
        reason = problem.strerror or problem
        raise PipelineError(f"The lake {place} cannot be written: {reason}.") from None


def head_of(store: Store) -> Any:
    """Return the head of a lake, None if there is none. Raises OSError and UnfitError."""
    try:
        return parsed(store.read(HEAD, MAX_HEAD))
    except (FileNotFoundError, NotADirectoryError):
        return None


def store_at(place: str | Path) -> Store:
    """Return the store of a lake. Raises PipelineError for a name that cannot mean one."""
    name = str(place)
    found = _SCHEME.match(name)
    if found is not None and found[2] and is_stored(name):
        try:
            return ObjectStore(meant(name).rstrip("/"))
        except CaptureError as problem:
            raise PipelineError(str(problem)) from None
    root = local(place, "an address of a store has two slashes").absolute()
    if root.is_file():
        raise PipelineError(f"{place} is a file: name a folder.")
    return LocalStore(root)


__all__ = ["HEAD", "Entry", "Kept", "Lake", "Part", "Snapshot", "Target"]
