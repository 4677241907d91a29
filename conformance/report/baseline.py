"""The baseline: a file of known deviations, each with a reason, a link and the last day on which it is excused."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import unified_diff
from pathlib import Path
from typing import Any

from conformance.bounded import UnfitError, text_of, toml_table
from conformance.report import floor
from conformance.report.comparison_key import Standing
from conformance.report.floor import Floor
from conformance.spec.catalogue import catalogue, did_you_mean
from conformance.spec.renaming import current
from conformance.verdict import Json

TABLE = "known"
QUIRKS = "quirk"
"""Table of the quirks of the implementation: `conformance.explaining.known_quirks` says what is in them."""
MAX_FILE = 4 << 20
LASTS = timedelta(days=90)
"""How long a new entry lasts by default."""

HEAD = """\
# Known deviations: `mqconform gate --baseline` lets these pass and nothing else.
# An entry that is over, or that no longer fails, fails the gate; `mqconform baseline update` keeps this file in order.
# So does a run that judges far fewer requirements than `judged` says. A [[quirk]] is what runs go on behind.
"""
_MEMBERS = frozenset({"requirement", "subject", "reason", "link", "expires"})


class BaselineError(ValueError):
    """A baseline that cannot be used. The message is one sentence."""


@dataclass(frozen=True, slots=True)
class Known:
    """One entry. subject: the deviating subject, None for all of the requirement. expires: the last day it holds.

    written: the id in the file if the requirement has another id now, else None.
    """

    requirement: str
    reason: str
    link: str
    expires: date
    subject: str | None = None
    written: str | None = None

    @property
    def name(self) -> str:
        """The entry's name in messages: the requirement, and the subject if it has one."""
        return self.requirement if self.subject is None else f"{self.requirement} ({self.subject})"

    def covers(self, requirement: str, subject: str) -> bool:
        """Tell whether this entry excuses a deviation from the requirement at this subject."""
        return requirement == self.requirement and self.subject in (None, subject)

    def to_json(self) -> dict[str, Json]:
        """Return the entry as JSON, the day as ISO 8601."""
        return {
            "requirement": self.requirement,
            "subject": self.subject,
            "reason": self.reason,
            "link": self.link,
            "expires": self.expires.isoformat(),
        }


def read_baseline(path: Path) -> tuple[Known, ...]:
    """Return the entries of a baseline file. Raises BaselineError."""
    return parse(_text(path), str(path))


def read_floor(path: Path) -> Floor | None:
    """Return the floor that a baseline file sets, None if it sets none. Raises BaselineError."""
    judged = _judged(_content(_text(path), str(path)), str(path))
    return None if judged is None else floor.below(judged, str(path))


def read_quirks(path: Path) -> tuple[Mapping[str, Any], ...]:
    """Return the tables of quirks of a baseline file, unchecked. Raises BaselineError."""
    tables = _content(_text(path), str(path)).get(QUIRKS, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise BaselineError(f"{path}: write each quirk as [[{QUIRKS}]].")
    return tuple(tables)


def _judged(content: Mapping[str, Any], path: str) -> int | None:
    try:
        return floor.recorded(content)
    except ValueError as error:
        raise BaselineError(f"{path}: {error}.") from None


def parse(text: str, path: str) -> tuple[Known, ...]:
    """Return the entries in this text. path: named in errors. Raises BaselineError."""
    content = _content(text, path)
    _judged(content, path)
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


def _content(text: str, path: str) -> dict[str, Any]:
    try:
        content = toml_table(text)
    except UnfitError as error:
        raise BaselineError(f"{path} {error}.") from None
    strange = sorted(set(content) - {TABLE, floor.TABLE, QUIRKS})
    if strange:
        raise BaselineError(f"{path} has {strange[0]!r} beside [[{TABLE}]]{did_you_mean(strange[0], [TABLE]) or '.'}")
    return content


def _entry(table: Mapping[str, Any], where: str) -> Known:
    for name in table:
        if name not in _MEMBERS:
            raise BaselineError(f"{where} has an unknown member {name!r}{did_you_mean(name, _MEMBERS) or '.'}")
    texts: dict[str, str] = {}
    for name in ("requirement", "reason", "link"):
        value = table.get(name)
        if not isinstance(value, str) or not value.strip():
            raise BaselineError(f"{where} has no {name}; give a text.")
        texts[name] = value
    known = catalogue().requirements
    written = texts["requirement"]
    name = current(written)
    if name not in known:
        raise BaselineError(f"{where}: there is no requirement {name!r}{did_you_mean(name, known) or '.'}")
    subject = table.get("subject")
    if subject is not None and not isinstance(subject, str):
        raise BaselineError(f"{where}: the subject must be a text.")
    expires = table.get("expires")
    if type(expires) is not date:
        raise BaselineError(f"{where}: expires must be a day, such as 2027-01-31, without quotes.")
    return Known(name, texts["reason"], texts["link"], expires, subject, written if written != name else None)


@dataclass(frozen=True, slots=True)
class Update:
    """The result of an update. text: the new file. diff: the lines that change, as `diff -u` writes them."""

    text: str
    diff: str
    added: tuple[Known, ...]
    removed: tuple[Known, ...]
    renewed: tuple[Known, ...]


def update(
    path: Path,
    now: Standing,
    *,
    today: date,
    reason: str,
    link: str,
    expires: date | None = None,
    renew: bool = False,
    quirks: Sequence[Mapping[str, Json]] | None = None,
) -> Update:
    """Update the baseline at `path` to match a run, without writing it; an absent file counts as empty.

    Entries that no longer fail are removed. Deviations that no entry covers are added with `reason` and `link`, until
    `expires` (default: LASTS from today). Entries that the run did not judge stay. renew: entries that are over and
    still fail are extended to `expires`. An older id is replaced by today's. The number of requirements judged is
    stored as the floor, unless the stored number is within the tolerance. The rest of the file stays as it is, comments
    included. quirks: tables that replace those of the file; None leaves them. Raises BaselineError.
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
            continue
        if entries[number] in renewed:
            tables[number]["expires"] = until
        if entries[number].written is not None:
            tables[number]["requirement"] = entries[number].requirement
    for entry in added:
        table = tomlkit.table()
        table.update({"requirement": entry.requirement, "reason": entry.reason, "link": entry.link})
        table["expires"] = entry.expires
        tables.append(table)
    if not tables:
        del document[TABLE]
    if floor.due(floor.recorded(tomllib.loads(old)), len(now.judged)):
        document[floor.TABLE] = {floor.JUDGED: len(now.judged)}
    if quirks is not None and list(quirks) != tomllib.loads(old).get(QUIRKS, []):
        document.pop(QUIRKS, None)
        if quirks:
            document[QUIRKS] = AoT([tomlkit.item(dict(quirk)) for quirk in quirks])
    text = tomlkit.dumps(document)
    lines = unified_diff(old.splitlines(), text.splitlines(), str(path), f"{path} (updated)", lineterm="")
    return Update(text, "\n".join(lines), tuple(added), tuple(removed), tuple(renewed))


def failing(entry: Known, now: Standing) -> bool:
    """Tell whether the deviation that this entry excuses still occurs."""
    return any(entry.covers(entry.requirement, subject) for subject in now.deviating.get(entry.requirement, {}))


def unknown(entries: Iterable[Known], now: Standing) -> dict[str, Sequence[str]]:
    """Return the deviations that no entry covers: requirement to its subjects."""
    known = list(entries)
    out: dict[str, Sequence[str]] = {}
    for requirement, subjects in now.deviating.items():
        left = [subject for subject in subjects if not any(entry.covers(requirement, subject) for entry in known)]
        if left:
            out[requirement] = left
    return out


def _text(path: Path) -> str:
    try:
        return text_of(path, MAX_FILE)
    except OSError as error:
        raise BaselineError(f"{path} cannot be read ({error.strerror}).") from None
    except UnfitError as error:
        raise BaselineError(f"{path} is no baseline: it {error}.") from None
