"""The baseline: deviations a team knows of, each with a reason, a link and a day on which it is over."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import unified_diff
from pathlib import Path
from typing import Any

from conformance.report.standing import Standing
from conformance.spec.catalogue import catalogue, did_you_mean
from conformance.verdict import Json

TABLE = "known"
MAX_FILE = 4 << 20
LASTS = timedelta(days=90)
"""How long a new entry lasts when nobody says otherwise."""

HEAD = """\
# Known deviations: `mqconform gate --baseline` lets these pass and nothing else.
# An entry that is over, or that no longer fails, fails the gate; `mqconform baseline update` keeps this file in order.
"""
_MEMBERS = frozenset({"requirement", "subject", "reason", "link", "expires"})


class BaselineError(ValueError):
    """A baseline that cannot be used. The message is one sentence."""


@dataclass(frozen=True, slots=True)
class Known:
    """One entry. subject: None for whatever of the requirement deviates. expires: the last day on which it holds."""

    requirement: str
    reason: str
    link: str
    expires: date
    subject: str | None = None

    @property
    def name(self) -> str:
        """How it is told: the requirement, and the subject where there is one."""
        return self.requirement if self.subject is None else f"{self.requirement} ({self.subject})"

    def covers(self, requirement: str, subject: str) -> bool:
        """Whether this deviation is the one that is known."""
        return requirement == self.requirement and self.subject in (None, subject)

    def to_json(self) -> dict[str, Json]:
        """The members, the day as text."""
        return {
            "requirement": self.requirement,
            "subject": self.subject,
            "reason": self.reason,
            "link": self.link,
            "expires": self.expires.isoformat(),
        }


def read_baseline(path: Path) -> tuple[Known, ...]:
    """The entries of a baseline file. Raises BaselineError."""
    return parse(_text(path), str(path))


def parse(text: str, path: str) -> tuple[Known, ...]:
    """The entries in this text; `path` is for the errors. Raises BaselineError."""
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BaselineError(f"{path} is no TOML: {error}.") from None
    strange = sorted(set(content) - {TABLE})
    if strange:
        raise BaselineError(f"{path} has {strange[0]!r} beside [[{TABLE}]]{did_you_mean(strange[0], [TABLE]) or '.'}")
    tables = content.get(TABLE, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BaselineError(f"{path}: write each entry as [[{TABLE}]].")
    entries = tuple(_entry(table, f"{path}, entry {number}") for number, table in enumerate(tables, 1))
    seen: set[tuple[str, str | None]] = set()
    for entry in entries:
        key = (entry.requirement, entry.subject)
        if key in seen:
            raise BaselineError(f"{path} has {entry.name} twice; keep one.")
        seen.add(key)
    return entries


def _entry(table: Mapping[str, Any], where: str) -> Known:
    for name in table:
        if name not in _MEMBERS:
            raise BaselineError(f"{where} has {name!r}, which no entry has{did_you_mean(name, _MEMBERS) or '.'}")
    texts: dict[str, str] = {}
    for name in ("requirement", "reason", "link"):
        value = table.get(name)
        if not isinstance(value, str) or not value.strip():
            raise BaselineError(f"{where} has no {name}: a text is needed.")
        texts[name] = value
    known = catalogue().requirements
    if texts["requirement"] not in known:
        name = texts["requirement"]
        raise BaselineError(f"{where}: there is no requirement {name!r}{did_you_mean(name, known) or '.'}")
    subject = table.get("subject")
    if subject is not None and not isinstance(subject, str):
        raise BaselineError(f"{where}: the subject is no text.")
    expires = table.get("expires")
    if type(expires) is not date:
        raise BaselineError(f"{where}: expires is no day; write it as 2027-01-31, without quotes.")
    return Known(texts["requirement"], texts["reason"], texts["link"], expires, subject)


@dataclass(frozen=True, slots=True)
class Update:
    """What a baseline becomes. text: the new file. diff: the lines that change, as `diff -u` writes them."""

    text: str
    diff: str
    added: tuple[Known, ...]
    removed: tuple[Known, ...]
    renewed: tuple[Known, ...]


def update(
    path: Path, now: Standing, *, today: date, reason: str, link: str, expires: date | None = None, renew: bool = False
) -> Update:
    """The baseline at `path` brought to how a run stands; nothing is written. A file that is absent is made.

    Entries that no longer fail go, what fails and is in none comes, under `reason` and `link` and until `expires`
    (default: LASTS from today). What the run did not judge stays. renew: entries that are over and still fail hold
    until `expires`. Everything else in the file, comments too, stays as it is. Raises BaselineError.
    """
    import tomlkit
    from tomlkit.items import AoT

    old = _text(path) if path.exists() else ""
    entries = parse(old, str(path))
    until = expires or today + LASTS
    removed = [entry for entry in entries if entry.requirement in now.judged and not failing(entry, now)]
    overdue = [entry for entry in entries if entry not in removed and entry.expires < today and failing(entry, now)]
    renewed = overdue if renew else []
    fresh = unknown(entries, now)
    added = [Known(requirement, reason, link, until) for requirement in sorted(fresh)]
    if added and not (reason.strip() and link.strip()):
        raise BaselineError(
            f"{len(added)} deviations are new ({added[0].requirement} first): give --reason and --link for them."
        )
    document = tomlkit.parse(old or HEAD)
    tables = document.get(TABLE)
    if tables is None:
        tables = AoT([])
        document[TABLE] = tables
    for number in range(len(entries) - 1, -1, -1):
        if entries[number] in removed:
            del tables[number]
        elif entries[number] in renewed:
            tables[number]["expires"] = until
    for entry in added:
        table = tomlkit.table()
        table.update({"requirement": entry.requirement, "reason": entry.reason, "link": entry.link})
        table["expires"] = entry.expires
        tables.append(table)
    if not tables:
        del document[TABLE]
    text = tomlkit.dumps(document)
    lines = unified_diff(old.splitlines(), text.splitlines(), str(path), f"{path} (updated)", lineterm="")
    return Update(text, "\n".join(lines), tuple(added), tuple(removed), tuple(renewed))


def failing(entry: Known, now: Standing) -> bool:
    """Whether what this entry knows of still deviates."""
    return any(entry.covers(entry.requirement, subject) for subject in now.deviating.get(entry.requirement, {}))


def unknown(entries: Iterable[Known], now: Standing) -> dict[str, Sequence[str]]:
    """What deviates and no entry covers: requirement to its subjects."""
    known = list(entries)
    out: dict[str, Sequence[str]] = {}
    for requirement, subjects in now.deviating.items():
        left = [subject for subject in subjects if not any(entry.covers(requirement, subject) for entry in known)]
        if left:
            out[requirement] = left
    return out


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_FILE:
            raise BaselineError(f"{path} is larger than any baseline.")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BaselineError(f"{path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise BaselineError(f"{path} is no UTF-8 text.") from None
