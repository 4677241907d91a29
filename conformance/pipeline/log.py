"""The log of a lake: what an entry adds and removes, and the check of entries that are read.

A lake may have been made, or damaged, by anybody. A checked entry has the keys and types that `Entry.to_json` writes;
every name in it is plain, so that it cannot lead out of the lake.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Final

from conformance import __version__
from conformance.pipeline.inside import UnfitError, is_plain
from conformance.pipeline.schemas import TABLES

STATE: Final = "_state"
MAX_TEXT: Final = 1 << 16
"""Characters of an identity or of a stream's key."""
_MOST: Final = (1 << 63) - 1
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file. table, date: where it belongs. name: its file name. rows: how many it has.

    stream: the stream about whose provisional end its rows are; it is removed when that stream continues.
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
        """Return the part as the log stores it."""
        out = {"table": self.table, "date": self.date, "name": self.name, "rows": self.rows}
        return out if self.stream is None else {**out, "stream": self.stream}


@dataclass(frozen=True, slots=True)
class Kept:
    """The kept state of a stream. key: common to its files. last_ns: time of its latest record, since 1970.

    file: below `_state/`. position: number of its captures so far. bytes: of the file; 0 in entries of old.
    """

    key: str
    stream: str
    file: str
    last_ns: int
    position: int
    bytes: int = 0

    @property
    def place(self) -> str:
        """Its path below the lake."""
        return f"{STATE}/{self.file}"

    def to_json(self) -> dict[str, Any]:
        """Return the state's entry as the log stores it."""
        return {"key": self.key, "stream": self.stream, "file": self.file, "last_ns": self.last_ns,
                "position": self.position, "bytes": self.bytes}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """The changes of one ingest. captures, runs, rejected: identities that are in the lake from now on."""

    kind: str
    batch: str
    add: Sequence[Part] = ()
    captures: Sequence[str] = ()
    runs: Sequence[str] = ()
    rejected: Sequence[str] = ()
    keep: Sequence[Kept] = ()
    ended: Sequence[str] = ()
    """Streams that continued, so that the parts about their end are removed."""
    forget: Sequence[str] = ()
    """Keys of streams whose state is dropped, because they have not continued for too long."""

    def to_json(self, version: int) -> dict[str, Any]:
        """Return the entry as the log stores it. version: of the lake, with this entry."""
        return {
            "version": version,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "by": __version__,
            "kind": self.kind,
            "batch": self.batch,
            "add": [part.to_json() for part in self.add],
            "captures": list(self.captures),
            "runs": list(self.runs),
            "rejected": list(self.rejected),
            "keep": [kept.to_json() for kept in self.keep],
            "ended": list(self.ended),
            "forget": list(self.forget),
        }


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
    """Files that the last entry removed, below the lake."""

    def after(self, entry: Entry) -> Snapshot:
        """Apply the next entry of the log to this snapshot, and return it."""
        ended = set(entry.ended)
        gone = [place for place, part in self.parts.items() if part.stream is not None and part.stream in ended]
        for place in gone:
            del self.parts[place]
        old: list[str] = []
        for one in entry.keep:
            if (before := self.kept.get(one.key)) is not None:
                old.append(before.place)
            self.kept[one.key] = one
        for key in entry.forget:
            if (given_up := self.kept.pop(key, None)) is not None:
                old.append(given_up.place)
        self.parts.update({part.place: part for part in entry.add})
        self.captures.update(entry.captures)
        self.runs.update(entry.runs)
        self.rejected.update(entry.rejected)
        named = {*self.parts, *(kept.place for kept in self.kept.values())}
        self.dropped = tuple(place for place in (*gone, *old) if place not in named)
        self.version, self.batch = self.version + 1, entry.batch
        return self


def checked(value: Any, version: int) -> Entry:
    """Return the entry in a JSON value. Raises UnfitError, which tells what is wrong with it."""
    given = _members(value, _ENTRY, "it")
    if given["version"] != version:
        raise UnfitError(f"has the version {given['version']} instead of {version}")
    return Entry(
        given["kind"],
        given["batch"],
        add=[Part(**_members(one, _PART, f"add[{at}]")) for at, one in enumerate(given["add"])],
        captures=given["captures"],
        runs=given["runs"],
        rejected=given["rejected"],
        keep=[Kept(**_members(one, _KEPT, f"keep[{at}]")) for at, one in enumerate(given["keep"])],
        ended=given["ended"],
        forget=given["forget"],
    )


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _MOST


def _text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAX_TEXT


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _date(value: Any) -> bool:
    if not isinstance(value, str) or _DATE.fullmatch(value) is None:
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _parquet(value: Any) -> bool:
    return is_plain(value) and value.endswith(".parquet")


_Check = tuple[Callable[[Any], bool], str]
_COUNT: _Check = (_count, "a number from 0")
_TEXT: _Check = (_text, f"a text of at most {MAX_TEXT:,} characters")
_TEXTS: _Check = (_texts, "a list of texts")
_PLAIN: _Check = (is_plain, "a plain name")
_ENTRY: Mapping[str, _Check] = {
    "version": _COUNT,
    "at": _TEXT,
    "by": _TEXT,
    "kind": _PLAIN,
    "batch": _PLAIN,
    "add": (_objects, "a list of objects"),
    "captures": _TEXTS,
    "runs": _TEXTS,
    "rejected": _TEXTS,
    "keep": (_objects, "a list of objects"),
    "ended": _TEXTS,
    "forget": _TEXTS,
}
_PART: Mapping[str, _Check] = {
    "table": (lambda value: isinstance(value, str) and value in TABLES, "a table that this version knows"),
    "date": (_date, "a date such as 2026-01-31"),
    "name": (_parquet, "a plain name of a Parquet file"),
    "rows": _COUNT,
    "stream": _TEXT,
}
_KEPT: Mapping[str, _Check] = {
    "key": _TEXT,
    "stream": _TEXT,
    "file": _PLAIN,
    "last_ns": (lambda value: type(value) is int and abs(value) <= _MOST, "a number of nanoseconds"),
    "position": _COUNT,
    "bytes": _COUNT,
}
_MAY_LACK = ((_PART, "stream"), (_KEPT, "bytes"))


def _members(value: Any, checks: Mapping[str, _Check], where: str) -> dict[str, Any]:
    """Return an object after checking that it has the known members and no other, each of the right form."""
    if not isinstance(value, dict):
        raise UnfitError("is not a JSON object")
    if unknown := sorted(set(value) - set(checks)):
        raise UnfitError(f"has a member {unknown[0][:40]!a} that this version does not know")
    for name, (holds, must) in checks.items():
        if name not in value:
            if any(name == one and checks is those for those, one in _MAY_LACK):
                continue
            raise UnfitError(f"lacks {name} in {where}" if where != "it" else f"lacks {name}")
        if not holds(value[name]):
            place = name if where == "it" else f"{where}.{name}"
            raise UnfitError(f"needs {must} in {place}")
    return value
