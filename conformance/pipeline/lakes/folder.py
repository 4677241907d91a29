"""A lake: Parquet tables below one folder, and a log of the files that are part of it.

An entry of the log adds and removes files, all or nothing; creating the entry is the one atomic step. Files wait in
`_staging/` until an entry names them, and are then moved into their tables. A writer that is killed in between has
added either nothing or everything: a reader finds a file where it waits, and the next writer finishes the moves.

A lake may come from anybody. Reading it writes nothing; the content of its files is checked before it is used, and
nothing is read, moved or removed through a link.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import cast

from conformance import __version__
from conformance.aside import make_folder
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.inside import MAX_FILE, UnfitError, content, folder, own, parsed, regular
from conformance.pipeline.lakes.port import HEAD, LOCK, STAGING, WATCH, Lake, damaged, written
from conformance.pipeline.lakes.store import LocalStore, Store
from conformance.pipeline.lakes.target import Target
from conformance.pipeline.log import STATE, Entry, Snapshot, checked
from conformance.pipeline.schemas import FORMAT, TABLES

LOG = "_log"
MOVING_S = 0.05
"""A living writer moves at least one file within these seconds."""
_ENTRY = re.compile(r"(\d{20})\.json", re.ASCII)


class FolderLake(Lake):
    """A lake in a folder of this machine, or one that every worker has under the same path."""

    format = "folder"

    def __init__(self, store: LocalStore) -> None:
        self.store = store
        self._snapshot = Snapshot()

    @property
    def root(self) -> Path:
        """The folder."""
        return cast("LocalStore", self.store).root

    def check(self) -> None:
        """Check that no folder of the lake is a link. Raises PipelineError."""
        try:
            own_folders(self.root)
        except UnfitError as problem:
            raise damaged(self.root, problem) from None
        except OSError as problem:
            raise PipelineError(f"The lake {self.place} cannot be used: {problem.strerror}.") from None

    def snapshot(self) -> Snapshot:
        """Return the present state of the lake. Raises PipelineError if its log is damaged."""
        now = self._snapshot
        while (entry := self._read(now.version + 1)) is not None:
            now = self._snapshot = now.after(entry)
        return now

    def staged(self) -> list[str]:
        """Return the batches that are being written, or were when their writer was killed."""
        return self.store.names(STAGING)

    def located(self) -> dict[str, PurePath]:
        """Return the present files of the lake by their places in it, each with its path: the staging folder for a file
        that a writer has not moved yet. Raises PipelineError if one is missing."""
        waiting: int | None = None
        while True:
            now = self.snapshot()
            found = self._where(now)
            missing = [place for place, path in found.items() if path is None]
            staged = sum(path is not None and path.parent.parent.name == STAGING for path in found.values())
            left = staged + len(missing)
            if left and (waiting is None or left < waiting):  # A writer may be moving them at this moment.
                waiting = left
                time.sleep(MOVING_S)
                continue
            if missing:
                raise PipelineError(
                    f"{len(missing):,} of the {len(found):,} files that the log of the lake {self.root} names are "
                    f"missing (the first is {missing[0]})."
                )
            return {place: path for place, path in found.items() if path is not None}

    def present(self, place: str, path: PurePath) -> PurePath:
        """Return where a located file is by now: its writer may have moved it."""
        return path if Path(path).exists() else self.root / place

    @contextmanager
    def writing(self, batch: str) -> Iterator[Target]:
        """Lock the lake for writing, finish or remove what others left staged, and yield this batch's staging folder.

        Raises PipelineError if another command is writing, or if a path would lead out of the lake.
        """
        with written(self.root, batch), flocked(self.root):
            self.settle()
            staging = self.root / STAGING / batch
            staging.mkdir(parents=True)
            try:
                yield Target(str(self.root), batch, staged=True)
            finally:  # Files that are committed but not moved yet exist only in the staging folder.
                if self.snapshot().batch != batch or not self._unmoved(staging):
                    self._clear()

    def commit(self, entry: Entry) -> int:
        """Make the staged files part of the lake and return its new version. Only within `writing`.

        Raises PipelineError if the entry is larger than a reader accepts.
        """
        version = self.snapshot().version + 1
        text = json.dumps(entry.to_json(version), ensure_ascii=False)
        try:
            if len(data := text.encode()) > MAX_FILE:
                raise UnfitError(f"has {len(data):,} bytes, at most {MAX_FILE:,} are read")
            checked(parsed(data), version)
        except UnfitError as problem:
            raise PipelineError(
                f"This is too much for one entry of the log of the lake, which {problem}; ingest less at once."
            ) from None
        try:
            self.store.create(f"{LOG}/{version:020}.json", data)
        except FileExistsError:
            raise PipelineError(f"Another command has written to {self.root} meanwhile; run it again.") from None
        self._finish()
        return version

    def settle(self) -> None:
        """Finish what a killed writer has left, with the lock held. Raises PipelineError, UnfitError and OSError."""
        self._finish()
        self._clear()

    def _finish(self) -> None:
        """Move and remove files as the last entry says; those of earlier entries were done before it was written."""
        now = self.snapshot()
        for place in now.dropped:
            if self._inside(place):
                (self.root / place).unlink(missing_ok=True)
        staged = self.root / STAGING / now.batch
        if now.batch and folder(staged.parent) and folder(staged):
            for place, name in self._named():
                if regular(staged / name):
                    target = self.root / place
                    self._inside(place)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    (staged / name).replace(target)

    def _clear(self) -> None:
        staging = self.root / STAGING
        if folder(staging):
            shutil.rmtree(staging, ignore_errors=True)

    def _named(self) -> Iterator[tuple[str, str]]:
        """Yield the place and name of each file that is part of the lake."""
        now = self.snapshot()
        yield from ((place, part.name) for place, part in now.parts.items())
        yield from ((kept.place, kept.file) for kept in now.kept.values())

    def _unmoved(self, staging: Path) -> bool:
        """Tell whether a file that is part of the lake still waits here."""
        return any(regular(staging / name) for _, name in self._named())

    def _inside(self, place: str) -> bool:
        """Tell whether a file is in this place. Raises UnfitError if something else is, or a link leads there."""
        return self._folders(place.rpartition("/")[0]) and regular(self.root / place)

    def _folders(self, below: str) -> bool:
        names = below.split("/")
        return all(folder(self.root.joinpath(*names[:count])) for count in range(1, len(names) + 1))

    def _where(self, now: Snapshot) -> dict[str, Path | None]:
        """Return the path of each file by its place: there, or in the last batch's staging folder, or None."""
        staging = f"{STAGING}/{now.batch}" if now.batch else None
        checked_folders: dict[str, bool] = {}

        def there(below: str, name: str) -> Path | None:
            if below not in checked_folders:
                checked_folders[below] = self._folders(below)
            path = self.root / below / name
            return path if checked_folders[below] and regular(path) else None

        found: dict[str, Path | None] = {}
        place = ""
        try:
            for place, part in now.parts.items():
                path = there(place.rpartition("/")[0], part.name)
                found[place] = path or (there(staging, part.name) if staging is not None else None)
        except UnfitError as problem:
            raise damaged(self.root / place, problem) from None
        except OSError as problem:
            raise PipelineError(f"The lake {self.root} cannot be read: {problem.strerror}.") from None
        return found

    def _read(self, version: int) -> Entry | None:
        name = f"{version:020}.json"
        path = self.root / LOG / name
        try:
            if not folder(path.parent):
                raise UnfitError("is missing")
            for _ in range(2):
                with suppress(FileNotFoundError):
                    return checked(parsed(content(path)), version)
                # If a later entry exists, this one was lost, or was created after the attempt to open it.
                if not any(_ENTRY.fullmatch(one) and one > name for one in _names(path.parent)):
                    return None
            raise UnfitError("is missing, and later entries of the log are there")
        except OSError as problem:
            raise PipelineError(f"The lake {self.root} cannot be read: {problem.strerror}.") from None
        except UnfitError as problem:
            raise damaged(path, problem) from None


def create(store: Store) -> None:
    """Make an empty lake. Raises PipelineError, OSError and UnfitError."""
    if not isinstance(store, LocalStore):
        raise PipelineError(
            f"{store.place} is not a folder; a lake of this format is a folder with the same path on every worker, and"
            " one with --format delta or iceberg may be in a store."
        )
    root = store.root
    if root.is_dir() and any(one.name not in (LOG, STATE, STAGING, LOCK, WATCH) for one in root.iterdir()):
        raise PipelineError(f"{root} is a folder with other files in it; name a new one for the lake.")
    for name in (LOG, STATE):
        make_folder(root / name)
    with suppress(FileExistsError):
        store.create(HEAD, json.dumps({"format": FORMAT, "version": __version__}).encode())


def own_folders(root: Path, more: Sequence[str] = ()) -> None:
    """Check that no folder of a lake, nor of a watch, is a link. Raises UnfitError."""
    own(root, (LOG, STATE, STAGING, LOCK, WATCH, *more, *TABLES))
    if folder(root / WATCH):
        watched = list(_names(root / WATCH))
        own(root / WATCH, (f"{one}{below}" for one in watched for below in ("", "/seen", "/checkpoint", "/told")))


def _names(place: Path) -> Iterator[str]:
    return (one.name for one in place.iterdir())


@contextmanager
def flocked(root: Path) -> Iterator[None]:
    """Hold the lock of a lake in a folder, which ends with the process. Raises PipelineError if another has it."""
    own_folders(root)
    number = os.open(root / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise UnfitError(f"has a {LOCK} that is not a file")
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PipelineError(f"Another command is writing to the lake {root}; wait for its end.") from None
        yield
    finally:
        os.close(number)
