"""A lake: tables in Parquet below one folder, and the log that says which files are part of it.

An entry of the log adds and takes away files, all or nothing; its own creation is the one atomic step. Files wait in
`_staging/` until an entry names them and are moved into their tables then. Whoever is killed in between has either
added nothing, or everything: the next one to open the lake finishes the moves.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from conformance import __version__
from conformance.pipeline.errors import PipelineError
from conformance.pipeline.schemas import FORMAT, TABLES

HEAD = "_mqconform.json"
LOG, STAGING, STATE, LOCK = "_log", "_staging", "_state", "_lock"
_ENTRY = re.compile(r"(\d{20})\.json")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file. table, date: where it belongs. name: its file name. rows: how many it has.

    stream: the stream whose end so far it is about; it is taken away when that stream goes on.
    """

    table: str
    date: str
    name: str
    rows: int
    stream: str | None = None

    @property
    def place(self) -> str:
        """Its path below the lake."""
        return f"{self.table}/date={self.date}/{self.name}"

    def to_json(self) -> dict[str, Any]:
        """As the log has it."""
        out = {"table": self.table, "date": self.date, "name": self.name, "rows": self.rows}
        return out if self.stream is None else {**out, "stream": self.stream}


@dataclass(frozen=True, slots=True)
class Kept:
    """The kept state of a stream. key: what its files have in common. last_ns: its latest record, since 1970.

    file: below `_state/`. position: captures it has so far.
    """

    key: str
    stream: str
    file: str
    last_ns: int
    position: int

    def to_json(self) -> dict[str, Any]:
        """As the log has it."""
        return {"key": self.key, "stream": self.stream, "file": self.file, "last_ns": self.last_ns,
                "position": self.position}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """What one ingest does. captures, runs, rejected: identities that are in the lake from now on."""

    kind: str
    batch: str
    add: Sequence[Part] = ()
    captures: Sequence[str] = ()
    runs: Sequence[str] = ()
    rejected: Sequence[str] = ()
    keep: Sequence[Kept] = ()
    ended: Sequence[str] = ()
    """Streams whose parts about their end are taken away, because they went on."""
    forget: Sequence[str] = ()
    """Keys of streams whose state is given up: they have not gone on for too long."""


@dataclass(slots=True)
class Snapshot:
    """The lake after an entry of its log. parts: by place. kept: by key of the stream."""

    version: int = 0
    parts: dict[str, Part] = field(default_factory=dict)
    captures: set[str] = field(default_factory=set)
    runs: set[str] = field(default_factory=set)
    rejected: set[str] = field(default_factory=set)
    kept: dict[str, Kept] = field(default_factory=dict)
    batch: str = ""
    dropped: tuple[str, ...] = ()
    """Files the last entry took away, below the lake."""


class Lake:
    """A lake at a folder. `snapshot()` reads its log; `writing()` is for the one that adds to it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._snapshot = Snapshot()

    @classmethod
    def open(cls, place: str | Path, *, create: bool = False) -> Lake:
        """The lake at `place`. Raises PipelineError where there is none, or one of a newer format."""
        if _SCHEME.match(str(place)):
            raise PipelineError(f"{place} is no folder; a lake is a folder that every worker sees under the same path.")
        root = Path(place).absolute()
        head = root / HEAD
        try:
            if create and not head.exists():
                _create(root)
            known = json.loads(head.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise PipelineError(
                f"{place} is no lake; make one with mqconform pipeline ingest ... --out {place}."
            ) from None
        except OSError as problem:
            raise PipelineError(f"The lake {place} cannot be used: {problem.strerror}.") from None
        except ValueError:
            raise PipelineError(f"{head} is damaged; the lake cannot be used.") from None
        found = known.get("format") if isinstance(known, dict) else None
        if not isinstance(found, int):
            raise PipelineError(f"{head} is damaged; the lake cannot be used.")
        if found > FORMAT:
            raise PipelineError(
                f"The lake {place} has format {found}, written by mqconform {known.get('version')}; this one "
                f"({__version__}) knows {FORMAT}: use the newer mqconform."
            )
        return cls(root)

    def snapshot(self) -> Snapshot:
        """The lake as it is now."""
        now = self._snapshot
        while (entry := self._read(now.version + 1)) is not None:
            now = self._snapshot = _after(now, entry)
        return now

    def files(self, table: str) -> list[Path]:
        """The files of a table, each where it is now."""
        now = self.snapshot()
        return [self._where(part, now.batch) for part in now.parts.values() if part.table == table]

    def state_file(self, kept: Kept) -> Path:
        """Where the kept state of a stream is."""
        return self.root / STATE / kept.file

    @contextmanager
    def writing(self, batch: str) -> Iterator[Path]:
        """The only one to write; gives the staging folder of this batch. What others left there is finished or removed.

        Raises PipelineError when somebody else is writing.
        """
        try:
            with (self.root / LOCK).open("w") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    raise PipelineError(
                        f"Another command is writing to the lake {self.root}; wait for its end."
                    ) from None
                self._finish()
                shutil.rmtree(self.root / STAGING, ignore_errors=True)
                staging = self.root / STAGING / batch
                staging.mkdir(parents=True)
                try:
                    yield staging
                finally:  # What was committed but not moved yet is in the staging folder alone.
                    if self.snapshot().batch != batch or not self._unmoved(staging):
                        shutil.rmtree(self.root / STAGING, ignore_errors=True)
        except OSError as problem:
            raise PipelineError(f"The lake {self.root} cannot be written: {problem.strerror}.") from None

    def commit(self, entry: Entry) -> int:
        """Make what is staged part of the lake; returns its new version. Only within `writing`."""
        version = self.snapshot().version + 1
        value = {
            "version": version,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "by": __version__,
            "kind": entry.kind,
            "batch": entry.batch,
            "add": [part.to_json() for part in entry.add],
            "captures": list(entry.captures),
            "runs": list(entry.runs),
            "rejected": list(entry.rejected),
            "keep": [kept.to_json() for kept in entry.keep],
            "ended": list(entry.ended),
            "forget": list(entry.forget),
        }
        text = json.dumps(value, ensure_ascii=False)
        _write(self.root / LOG / f"{version:020}.json", text)
        self._finish()
        return version

    def _finish(self) -> None:
        """Move and remove what the last entry says; what it says of earlier ones was done before it was written."""
        now = self.snapshot()
        for place in now.dropped:
            with suppress(FileNotFoundError):
                (self.root / place).unlink()
        staged = self.root / STAGING / now.batch
        if now.batch and staged.is_dir():
            for part in now.parts.values():
                source = staged / part.name
                if source.exists():
                    target = self.root / part.place
                    target.parent.mkdir(parents=True, exist_ok=True)
                    source.replace(target)
            for kept in now.kept.values():
                source = staged / kept.file
                if source.exists():
                    source.replace(self.state_file(kept))

    def _unmoved(self, staging: Path) -> bool:
        """Whether something that is part of the lake still waits here."""
        now = self.snapshot()
        names = [*(part.name for part in now.parts.values()), *(kept.file for kept in now.kept.values())]
        return any((staging / name).exists() for name in names)

    def _where(self, part: Part, batch: str) -> Path:
        place = self.root / part.place
        staged = self.root / STAGING / batch / part.name
        return staged if not place.exists() and staged.exists() else place

    def _read(self, version: int) -> dict[str, Any] | None:
        path = self.root / LOG / f"{version:020}.json"
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise PipelineError(f"The lake {self.root} cannot be read: {problem.strerror}.") from None
        except ValueError:
            raise PipelineError(f"{path} is damaged; the lake cannot be used.") from None
        return value if isinstance(value, dict) else None


def _create(root: Path) -> None:
    if root.is_dir() and any(one.name not in (LOG, STATE, STAGING, LOCK, "_watch") for one in root.iterdir()):
        raise PipelineError(f"{root} is a folder with other things in it; name a new one for the lake.")
    for name in (LOG, STATE):
        (root / name).mkdir(parents=True, exist_ok=True)
    _write(root / HEAD, json.dumps({"format": FORMAT, "version": __version__}), exist_ok=True)


def _write(path: Path, text: str, *, exist_ok: bool = False) -> None:
    """All of it or nothing, and never over a file that is there. Raises PipelineError when there is one."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)
    except FileExistsError:
        if not exist_ok:
            raise PipelineError(
                f"Another command has written to {path.parent.parent} meanwhile; run it again."
            ) from None
    finally:
        draft.unlink(missing_ok=True)


def _after(now: Snapshot, entry: Mapping[str, Any]) -> Snapshot:
    ended = set(entry["ended"])
    gone = [place for place, part in now.parts.items() if part.stream is not None and part.stream in ended]
    for place in gone:
        del now.parts[place]
    old: list[str] = []
    for one in entry["keep"]:
        before = now.kept.get(one["key"])
        if before is not None:
            old.append(f"{STATE}/{before.file}")
        now.kept[one["key"]] = Kept(**one)
    for key in entry["forget"]:
        if (given_up := now.kept.pop(key, None)) is not None:
            old.append(f"{STATE}/{given_up.file}")
    for one in entry["add"]:
        if one["table"] in TABLES:
            part = Part(**one)
            now.parts[part.place] = part
    now.captures.update(entry["captures"])
    now.runs.update(entry["runs"])
    now.rejected.update(entry["rejected"])
    now.version, now.batch, now.dropped = int(entry["version"]), str(entry["batch"]), (*gone, *old)
    return now
